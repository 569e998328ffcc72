/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counted calls for programs: "kind": "count".  Its names are promised, see
 * docs/json.md and docs/schema/count.schema.json; those that a run has mean
 * the same here.
 */
#include "report/counted.h"
#include "report/json-parts.h"

static void put_errors(struct json *json, const struct counted_call *call)
{
	char name[SYS_NAME_MAX];

	json_key(json, "errors");
	json_object_begin(json);
	for (size_t i = 0; i < call->errors.used; i++)
		json_member_uint(json, sys_errno_print((int)call->errors.at[i].err, name), call->errors.at[i].count);
	json_object_end(json);
}

static void put_source(struct json *json, bool known, bool estimated)
{
	if (known)
		json_member_string(json, "source", estimated ? "estimated" : "measured");
	else
		json_member_null(json, "source");
}

static void put_calls(struct json *json, const struct counted_table *table)
{
	json_key(json, "calls");
	json_array_begin(json);
	for (size_t i = 0; i < table->calls.used; i++) {
		const struct counted_call *call = &table->calls.at[i];

		json_object_begin(json);
		json_member_string(json, "name", call->name);
		json_member_uint(json, "count", call->count);
		json_member_uint(json, "failed", call->failed);
		put_errors(json, call);
		json_member_ns(json, "time_ns", call->ns);
		put_source(json, call->ns >= 0, call->estimated);
		json_member_uint(json, "timed", call->timed);
		json_member_ns(json, "p50_ns", call->p50_ns);
		json_member_ns(json, "p99_ns", call->p99_ns);
		json_member_ns(json, "max_ns", call->timed ? (double)call->max_ns : -1);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_parts(struct json *json, const char *key, const char *name, const struct counted_parts *parts)
{
	json_key(json, key);
	json_array_begin(json);
	for (size_t i = 0; i < parts->at.used; i++) {
		const struct counted_part *part = &parts->at.at[i];

		json_object_begin(json);
		json_member_string(json, name, part->name);
		json_member_uint(json, "count", part->table.count);
		json_member_uint(json, "failed", part->table.failed);
		json_member_ns(json, "time_ns", part->table.ns);
		put_source(json, part->table.ns >= 0, part->table.estimated);
		put_calls(json, &part->table);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_watched(struct json *json, const struct counted_facts *facts)
{
	static const char *const names[] = { "command", "processes", "cgroup", "system" };

	json_key(json, "watched");
	json_object_begin(json);
	json_member_string(json, "what", names[facts->what]);
	json_key(json, "pids");
	json_array_begin(json);
	for (size_t i = 0; i < facts->pid_count; i++)
		json_int(json, facts->pids[i]);
	json_array_end(json);
	json_member_string(json, "cgroup", facts->cgroup);
	json_object_end(json);
}

static void put_accounting(struct json *json, const struct counted *counted, const struct counted_facts *facts)
{
	json_key(json, "accounting");
	json_object_begin(json);
	json_member_uint(json, "seen", facts->seen);
	json_member_uint(json, "delivered", counted->all.count);
	json_member_uint(json, "lost", 0);
	json_member_uint(json, "in_flight", 0);
	json_member_uint(json, "marks", 0);
	json_member_bool(json, "closed", facts->closed);
	json_member_bool(json, "complete", facts->complete);
	json_member_string(json, "why", facts->why[0] ? facts->why : NULL);
	json_member_null(json, "scope");
	json_member_uint(json, "by_number_only", facts->plain);
	json_member_uint(json, "without_errno", facts->errors_lost);
	json_member_uint(json, "processes", facts->processes);
	json_member_uint(json, "tasks", facts->tasks);
	json_member_uint(json, "not_followed", facts->not_followed + facts->failed_tasks);
	json_member_uint(json, "let_go", facts->running);
	json_object_end(json);
}

static void ns_or_null(struct json *json, const char *key, uint64_t ns)
{
	json_member_ns(json, key, ns ? (double)ns : -1);
}

static void put_times(struct json *json, const struct counted *counted, const struct counted_facts *facts)
{
	json_key(json, "times");
	json_object_begin(json);
	json_member_string(json, "of", counted->all.ns < 0 ? "none" : counted->all.estimated ? "some" : "all");
	json_member_uint(json, "floor_ns", facts->floor_ns);
	ns_or_null(json, "until_ns", facts->untimed_ns);
	ns_or_null(json, "counted_until_ns", facts->let_go_ns);
	json_object_end(json);
}

static void put_intervals(struct json *json, const struct counted_facts *facts)
{
	json_key(json, "intervals");
	json_array_begin(json);
	for (size_t i = 0; i < facts->interval_count; i++) {
		const struct counted_interval *interval = &facts->intervals[i];

		json_object_begin(json);
		json_member_uint(json, "from_ns", interval->from_ns);
		json_member_uint(json, "to_ns", interval->to_ns);
		json_member_uint(json, "count", interval->counted.all.count);
		json_member_uint(json, "failed", interval->counted.all.failed);
		put_calls(json, &interval->counted.all);
		json_object_end(json);
	}
	json_array_end(json);
	json_member_uint(json, "intervals_left_out", facts->intervals_left_out);
}

int counted_json(FILE *out, const struct counted *counted, const struct counted_facts *facts)
{
	struct json json;

	json_init_file(&json, out);
	json.lines = 2;
	json_object_begin(&json);
	json_member_uint(&json, "schema", JSON_SCHEMA);
	json_member_string(&json, "kind", "count");
	json_tool_and_host(&json, &facts->host);
	json_command(&json, facts->argv);
	put_watched(&json, facts);
	json_exit(&json, facts->exit_known, facts->exit_status, facts->exit_signal);
	json_key(&json, "engine");
	json_object_begin(&json);
	json_member_string(&json, "name", "bpf");
	json_member_string(&json, "why", facts->engine_why);
	json_object_end(&json);
	json_member_uint(&json, "wall_ns", facts->wall_ns);
	put_times(&json, counted, facts);
	put_accounting(&json, counted, facts);
	put_calls(&json, &counted->all);
	put_parts(&json, "by_exe", "exe", &counted->exes);
	put_parts(&json, "by_cgroup", "cgroup", &counted->cgroups);
	put_intervals(&json, facts);
	json_key(&json, "warnings");
	json_array_begin(&json);
	for (size_t i = 0; i < facts->note_count; i++)
		json_text(&json, facts->notes[i]);
	json_array_end(&json);
	json_object_end(&json);
	return json_done(&json);
}
