/* SPDX-License-Identifier: BSD-2-Clause */
/* "kind": "diff"; docs/schema/diff.schema.json. */
#include "report/diff.h"
#include "report/json-parts.h"

static void side(struct json *json, const char *key, const struct snapshot *snapshot)
{
	json_key(json, key);
	json_object_begin(json);
	json_member_string(json, "name", snapshot->name);
	json_key(json, "command");
	json_array_begin(json);
	for (size_t i = 0; i < snapshot->argv.used; i++)
		json_text(json, snapshot->argv.at[i]);
	json_array_end(json);
	json_member_uint(json, "seen", snapshot->seen);
	json_member_bool(json, "closed", snapshot->closed);
	json_member_bool(json, "complete", snapshot->complete);
	json_member_ns(json, "task_ns", snapshot->task_ns);
	json_member_ns(json, "untraced_ns_estimate", snapshot->untraced_ns);
	json_object_end(json);
}

static void share(struct json *json, const char *key, double ns, double all_ns)
{
	json_key(json, key);
	if (ns >= 0 && all_ns > 0)
		json_double(json, ns / all_ns);
	else
		json_none(json);
}

static void calls(struct json *json, const struct compare *compare, bool all)
{
	json_key(json, "calls");
	json_array_begin(json);
	for (size_t i = 0; i < compare->calls.used; i++) {
		const struct compare_call *row = &compare->calls.at[i];

		if (!all && row->before == row->after && row->failed_before == row->failed_after)
			continue;
		json_object_begin(json);
		json_member_string(json, "name", row->name);
		json_member_uint(json, "before", row->before);
		json_member_uint(json, "after", row->after);
		json_member_uint(json, "failed_before", row->failed_before);
		json_member_uint(json, "failed_after", row->failed_after);
		json_member_ns(json, "time_before_ns", row->ns_before);
		json_member_ns(json, "time_after_ns", row->ns_after);
		share(json, "share_before", row->ns_before, compare->ns_before);
		share(json, "share_after", row->ns_after, compare->ns_after);
		json_object_end(json);
	}
	json_array_end(json);
}

static void findings(struct json *json, const struct compare *compare, bool all)
{
	json_key(json, "findings");
	json_array_begin(json);
	for (size_t i = 0; i < compare->findings.used; i++) {
		const struct compare_finding *row = &compare->findings.at[i];
		const struct snapshot_finding *one = row->after ? row->after : row->before;

		if (!all && row->change == COMPARE_SAME)
			continue;
		json_object_begin(json);
		json_member_string(json, "rule", one->rule);
		json_member_string(json, "change", compare_change_name(row->change));
		json_member_string(json, "fingerprint", one->fingerprint);
		json_member_string(json, "exe", one->exe);
		json_member_string(json, "what", one->what);
		json_member_string(json, "where", one->where);
		json_member_bool(json, "worth", one->worth);
		json_member_uint(json, "calls_before", row->calls_before);
		json_member_uint(json, "calls_after", row->calls_after);
		json_member_ns(json, "cost_before_ns", row->ns_before);
		json_member_ns(json, "cost_after_ns", row->ns_after);
		json_object_end(json);
	}
	json_array_end(json);
}

int diff_json_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty)
{
	struct json json;

	(void)tty;
	json_init_file(&json, out);
	json.lines = 2;
	json_object_begin(&json);
	json_member_uint(&json, "schema", JSON_SCHEMA);
	json_member_string(&json, "kind", "diff");
	side(&json, "before", compare->before);
	side(&json, "after", compare->after);
	json_member_uint(&json, "calls_before", compare->calls_before);
	json_member_uint(&json, "calls_after", compare->calls_after);
	calls(&json, compare, all);
	findings(&json, compare, all);
	json_key(&json, "differences");
	json_array_begin(&json);
	for (size_t i = 0; i < compare->differences.used; i++)
		json_text(&json, compare->differences.at[i]);
	json_array_end(&json);
	json_object_end(&json);
	return json_done(&json);
}
