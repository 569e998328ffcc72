/* SPDX-License-Identifier: BSD-2-Clause */
/* "kind": "prove"; docs/schema/prove.schema.json. */
#include "report/json-parts.h"
#include "report/prove.h"

static void spread(struct json *json, const char *key, const struct prove_spread *spread)
{
	json_key(json, key);
	json_object_begin(json);
	json_member_ns(json, "min", spread->min);
	json_member_ns(json, "median", spread->median);
	json_member_ns(json, "max", spread->max);
	json_object_end(json);
}

static void ratio(struct json *json, const char *key, const struct prove_ratio *ratio)
{
	json_key(json, key);
	json_object_begin(json);
	json_member_double(json, "median", ratio->median);
	json_member_double(json, "low", ratio->low);
	json_member_double(json, "high", ratio->high);
	json_object_end(json);
}

static void measured(struct json *json, const struct prove_result *result)
{
	spread(json, "time_before_ns", &result->times.before);
	spread(json, "time_after_ns", &result->times.after);
	ratio(json, "ratio", &result->times.ratio);
	json_member_uint(json, "outliers", result->times.outliers);
	spread(json, "cpu_before_ns", &result->cpu.before);
	spread(json, "cpu_after_ns", &result->cpu.after);
	ratio(json, "cpu_ratio", &result->cpu.ratio);
}

static void remedies(struct json *json, const struct prove_result *result)
{
	json_key(json, "remedies");
	json_array_begin(json);
	for (unsigned i = 0; i < result->remedy_count; i++) {
		const struct prove_remedy *remedy = &result->remedies[i];

		json_object_begin(json);
		json_member_string(json, "name", remedy->name);
		json_member_string(json, "unsafe", remedy->unsafe);
		json_member_string(json, "changes_output", remedy->output);
		json_member_ns(json, "estimated_ns", remedy->estimated_ns);
		json_member_int(json, "saves_calls", remedy->saves_calls);
		json_member_double(json, "saves_ns", remedy->saves_ns);
		json_member_double(json, "saves_cpu_ns", remedy->saves_cpu_ns);
		json_member_bool(json, "shown", remedy->shown);
		json_member_bool(json, "cpu_shown", remedy->cpu_shown);
		json_object_end(json);
	}
	json_array_end(json);
}

int prove_json_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
		     const struct tty *tty)
{
	struct json json;

	(void)tty;
	json_init_file(&json, out);
	json.lines = 2;
	json_object_begin(&json);
	json_member_uint(&json, "schema", JSON_SCHEMA);
	json_member_string(&json, "kind", "prove");
	json_tool_and_host(&json, host);
	json_command(&json, result->argv);
	json_member_uint(&json, "runs", result->runs);
	json_member_uint(&json, "warmup", result->warmup);
	json_member_int(&json, "status", result->status);
	json_member_bool(&json, "steady", result->steady);
	json_member_bool(&json, "same_output", result->same_output);
	json_member_string(&json, "differs", result->differs);
	json_member_string(&json, "result", result->steady ? prove_word_text(result->times.word) : NULL);
	json_member_string(&json, "cpu_result", result->steady ? prove_word_text(result->cpu.word) : NULL);
	if (result->counted) {
		json_member_uint(&json, "calls_before", result->calls_before);
		json_member_uint(&json, "calls_after", result->calls_after);
	} else {
		json_member_null(&json, "calls_before");
		json_member_null(&json, "calls_after");
	}
	json_member_string(&json, "calls_why", result->counted ? NULL : result->count_why);
	json_key(&json, "calls");
	json_array_begin(&json);
	for (size_t i = 0; i < result->call_count; i++) {
		json_object_begin(&json);
		json_member_string(&json, "name", result->calls[i].name);
		json_member_uint(&json, "before", result->calls[i].before);
		json_member_uint(&json, "after", result->calls[i].after);
		json_object_end(&json);
	}
	json_array_end(&json);
	if (result->steady)
		measured(&json, result);
	remedies(&json, result);
	json_object_end(&json);
	return json_done(&json);
}
