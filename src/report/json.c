/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for programs, "schema": 1.  Its names are promised: what they
 * mean is in docs/json.md and docs/schema/run.schema.json, and additions are
 * the only changes.  What is not known is null or left out as told there.
 */
#include <math.h>
#include <string.h>

#include "report/json-parts.h"
#include "sys/sys.h"

void json_member_ns(struct json *json, const char *key, double ns)
{
	json_key(json, key);
	if (!(ns >= 0) || ns >= 9.2e18)
		json_none(json);
	else
		json_uint(json, (uint64_t)(ns + 0.5));
}

const char *json_source(const struct analysis_result *result)
{
	/* Every engine so far stops the command at its calls. */
	(void)result;
	return "estimated";
}

void json_tool_and_host(struct json *json, const struct analysis_host *host)
{
	json_key(json, "tool");
	json_object_begin(json);
	json_member_string(json, "name", "syscull");
	json_member_string(json, "version", SYSCULL_VERSION);
	json_object_end(json);
	json_key(json, "host");
	json_object_begin(json);
	json_member_string(json, "kernel", host->kernel);
	json_member_string(json, "arch", host->arch);
	json_member_string(json, "libc", host->libc);
	json_key(json, "cpus");
	if (host->cpus > 0)
		json_uint(json, host->cpus);
	else
		json_none(json);
	json_object_end(json);
}

void json_command(struct json *json, char *const *argv)
{
	json_key(json, "command");
	json_array_begin(json);
	for (; argv && *argv; argv++)
		json_text(json, *argv);
	json_array_end(json);
}

void json_exit(struct json *json, bool known, int status, int signal)
{
	char name[SYS_NAME_MAX];

	json_key(json, "exit");
	json_object_begin(json);
	if (known && signal == 0)
		json_member_int(json, "status", status);
	else
		json_member_null(json, "status");
	if (known && signal != 0) {
		json_member_int(json, "signal", signal);
		json_member_string(json, "signal_name", sys_signal_print(signal, name));
	} else {
		json_member_null(json, "signal");
	}
	json_object_end(json);
}

static void engine_and_time(struct json *json, const struct analysis_result *result)
{
	json_key(json, "engine");
	json_object_begin(json);
	json_member_string(json, "name", result->facts.engine);
	json_member_string(json, "why", result->facts.engine_why);
	json_object_end(json);
	json_member_uint(json, "wall_ns", result->facts.wall_ns);
	json_member_ns(json, "task_ns", result->task_ns);
	json_member_ns(json, "untraced_ns_estimate", result->untraced_ns);
	json_key(json, "time");
	json_object_begin(json);
	json_member_ns(json, "user_ns", result->user_ns);
	json_member_ns(json, "calls_ns", result->calls_ns);
	json_member_ns(json, "calls_low_ns", result->calls_low_ns);
	json_member_ns(json, "calls_high_ns", result->calls_high_ns);
	json_member_ns(json, "waiting_ns", result->waiting_ns);
	json_member_ns(json, "stop_ns", result->stop_ns);
	json_member_ns(json, "task_low_ns", result->task_low_ns);
	json_member_ns(json, "task_high_ns", result->task_high_ns);
	json_member_ns(json, "untraced_low_ns", result->untraced_low_ns);
	json_member_ns(json, "untraced_high_ns", result->untraced_high_ns);
	json_member_bool(json, "rough", result->stop_guessed);
	json_member_string(json, "source", json_source(result));
	json_object_end(json);
}

static void limit(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	if (value == UINT64_MAX)
		json_text(json, "unlimited");
	else
		json_uint(json, value);
}

static void environment(struct json *json, const struct analysis_environment *began)
{
	json_key(json, "environment");
	json_object_begin(json);
	if (began->nofile_known) {
		limit(json, "nofile_soft", began->nofile_soft);
		limit(json, "nofile_hard", began->nofile_hard);
	} else {
		json_member_null(json, "nofile_soft");
		json_member_null(json, "nofile_hard");
	}
	json_member_string(json, "locale", began->env_known && !began->locale ? "C" : began->locale);
	json_member_string(json, "tz", began->tz);
	json_key(json, "path_entries");
	if (began->env_known)
		json_uint(json, began->path_entries);
	else
		json_none(json);
	json_object_end(json);
}

static void scope(struct json *json, const char *const *names)
{
	json_key(json, "scope");
	if (!names) {
		json_none(json);
		return;
	}
	json_array_begin(json);
	for (; *names; names++)
		json_text(json, *names);
	json_array_end(json);
}

static void accounting(struct json *json, const struct analysis_result *result)
{
	const struct analysis_facts *facts = &result->facts;

	json_key(json, "accounting");
	json_object_begin(json);
	json_member_uint(json, "seen", facts->seen);
	json_member_uint(json, "delivered", facts->delivered);
	json_member_uint(json, "lost", facts->lost);
	if (facts->lost > 0) {
		json_member_uint(json, "lost_from_ns", facts->lost_from_ns);
		json_member_uint(json, "lost_to_ns", facts->lost_to_ns);
	}
	json_member_uint(json, "in_flight", facts->in_flight);
	json_member_uint(json, "marks", facts->marks);
	json_member_bool(json, "closed", result->closed);
	json_member_bool(json, "complete", result->complete);
	scope(json, facts->scope);
	json_member_string(json, "why", result->books_why[0] ? result->books_why : NULL);
	json_member_uint(json, "processes", result->processes);
	json_member_uint(json, "tasks", result->tasks);
	json_member_uint(json, "not_followed", facts->not_followed);
	json_member_uint(json, "let_go", facts->let_go);
	json_object_end(json);
}

static void selection(struct json *json, const struct filter *filter)
{
	json_key(json, "selection");
	if (!filter) {
		json_none(json);
		return;
	}
	json_array_begin(json);
	for (size_t i = 0; i < filter->said.used; i++)
		json_text(json, filter->said.at[i]);
	json_array_end(json);
}

/* What would have let it run: of all that it needs and the source lacks. */
static void needs(struct json *json, const struct rule *rule, const struct analysis_facts *facts)
{
	struct buf text = BUF_INIT;

	if (facts->scope)
		(void)buf_puts(&text, "all calls: with call budgets alone only theirs are watched");
	for (unsigned bit = 0; !facts->scope && bit < 32; bit++) {
		const char *hint = facts->lack_hints && (facts->lacks >> bit & 1) ? facts->lack_hints[bit] : NULL;

		if (rule->needs >> bit & 1 && hint)
			(void)buf_printf(&text, "%s%s", text.bytes ? "; " : "", hint);
	}
	json_member_string(json, "needs", buf_text(&text));
	buf_done(&text);
}

/* Rules read sequences: calls without those between them tell them nothing. */
static void rules_not_run(struct json *json, const struct analysis_facts *facts)
{
	json_key(json, "rules_not_run");
	json_array_begin(json);
	for (const struct rule *const *rule = rule_list; *rule; rule++) {
		if (!facts->scope && !((*rule)->needs & facts->lacks))
			continue;
		json_object_begin(json);
		json_member_string(json, "rule", (*rule)->id);
		needs(json, *rule, facts);
		json_object_end(json);
	}
	json_array_end(json);
}

static void losses(struct json *json, const struct analysis_facts *facts)
{
	uint64_t named = 0;

	json_key(json, "lost_by_call");
	json_array_begin(json);
	for (size_t i = 0; i < facts->loss_count; i++) {
		const struct analysis_loss *loss = &facts->losses[i];
		char name[SYS_NAME_MAX], error[SYS_NAME_MAX];

		json_object_begin(json);
		if (loss->nr < 0)
			json_member_null(json, "name");
		else
			json_member_string(json, "name", sys_call_print((enum sys_arch)loss->arch, loss->nr, name));
		json_member_bool(json, "failed", loss->failed);
		if (loss->err)
			json_member_string(json, "errno", sys_errno_print(loss->err, error));
		else
			json_member_null(json, "errno");
		json_member_uint(json, "count", loss->count);
		json_object_end(json);
		named += loss->count;
	}
	if (facts->lost > named) {
		json_object_begin(json);
		json_member_null(json, "name");
		json_member_uint(json, "count", facts->lost - named);
		json_object_end(json);
	}
	json_array_end(json);
}

static int json_write(FILE *out, const struct analysis_result *result, const struct report_options *options)
{
	struct json json;

	(void)options;
	json_init_file(&json, out);
	json.lines = 2;
	json_object_begin(&json);
	json_member_uint(&json, "schema", JSON_SCHEMA);
	json_member_string(&json, "kind", result->check ? "check" : "run");
	json_tool_and_host(&json, &result->facts.host);
	json_command(&json, result->facts.argv);
	json_exit(&json, result->facts.exit_known, result->facts.exit_status, result->facts.exit_signal);
	engine_and_time(&json, result);
	environment(&json, &result->environment);
	accounting(&json, result);
	selection(&json, result->filter);
	json_calls(&json, result);
	json_processes(&json, result);
	json_findings(&json, result);
	json_budgets(&json, result);
	if (result->check)
		json_baseline(&json, result);
	json_verdict(&json, result);
	json_suppressed(&json, result);
	json_regions(&json, result);
	json_programs(&json, result);
	json_sites(&json, result);
	rules_not_run(&json, &result->facts);
	losses(&json, &result->facts);
	json_warnings(&json, result);
	json_object_end(&json);
	return json_done(&json);
}

const struct reporter reporter_json = {
	.name = "json",
	.title = "for programs; docs/json.md says what each name means",
	.machine = true,
	.write = json_write,
};
