/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the tree, of each process and of each region. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/json-parts.h"
#include "sys/sys.h"

static int by_row(const void *a, const void *b)
{
	const struct verdict_process_error *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->err < y->err ? -1 : x->err > y->err;
}

/* So many calls of a kind: at the average of all of them. */
static void put_call(struct json *json, const struct verdict_call *call, uint64_t count,
		     const struct verdict_process_error *errors, size_t error_count)
{
	double part = call->row.count > 0 ? (double)count / (double)call->row.count : 0;
	char text[SYS_NAME_MAX];

	json_object_begin(json);
	json_member_string(json, "name", call->name);
	json_member_uint(json, "count", count);
	json_key(json, "errors");
	json_object_begin(json);
	for (size_t i = 0; i < error_count; i++)
		json_member_uint(json, sys_errno_print(errors[i].err, text), errors[i].count);
	json_object_end(json);
	json_member_ns(json, "time_ns", call->ns * part);
	json_member_ns(json, "low_ns", call->low_ns * part);
	json_member_ns(json, "high_ns", call->high_ns * part);
	json_member_string(json, "source", price_source_name(call->source));
	json_object_end(json);
}

/* All failures of the tree in one walk: a walk for each row would take the
 * square of their number. */
static struct verdict_process_error *list_errors(const struct tally *tally, size_t *ret_count)
{
	struct verdict_process_error *errors = calloc(tally->errors.used ? tally->errors.used : 1, sizeof *errors);
	size_t iter = 0, count = 0;

	while (errors && count < tally->errors.used &&
	       tally_next_error_any(tally, &iter, &errors[count].row, &errors[count].err, &errors[count].count))
		count++;
	if (count > 0)
		qsort(errors, count, sizeof *errors, by_row);
	*ret_count = count;
	return errors;
}

/* Where the errors of a row begin. */
static size_t first_error(const struct verdict_process_error *errors, size_t count, uint32_t row)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (errors[middle].row < row)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static void put_tree(struct json *json, const struct analysis_result *result,
		     const struct verdict_process_error *errors, size_t error_count)
{
	for (size_t i = 0; i < result->by_call_count; i++) {
		const struct verdict_call *call = &result->by_call[i];
		size_t first = first_error(errors, error_count, call->row.index), count = 0;

		while (first + count < error_count && errors[first + count].row == call->row.index)
			count++;
		put_call(json, call, call->row.count, errors + first, count);
	}
}

void json_calls(struct json *json, const struct analysis_result *result)
{
	const struct tally *tally = result->shown ? result->shown : result->tally;
	size_t error_count = 0;
	struct verdict_process_error *errors = tally ? list_errors(tally, &error_count) : NULL;

	if (tally && !errors)
		json->error = json->error ? json->error : -ENOMEM;
	json_key(json, "calls");
	json_array_begin(json);
	put_tree(json, result, errors, error_count);
	json_array_end(json);
	free(errors);
}

/* By tally_row.index. */
static const struct verdict_call **index_rows(const struct analysis_result *result)
{
	const struct verdict_call **rows =
		calloc(result->by_call_count ? result->by_call_count : 1, sizeof(struct verdict_call *));

	for (size_t i = 0; rows && i < result->by_call_count; i++)
		if (result->by_call[i].row.index < result->by_call_count)
			rows[result->by_call[i].row.index] = &result->by_call[i];
	return rows;
}

static void put_argv(struct json *json, const struct verdict_process *process)
{
	const char *at = process->argv, *end = at ? at + process->argv_bytes : NULL;

	json_key(json, "argv");
	if (!at) {
		json_none(json);
		return;
	}
	json_array_begin(json);
	while (at < end) {
		size_t bytes = strnlen(at, (size_t)(end - at));

		json_bytes(json, at, bytes);
		at += bytes + 1;
	}
	json_array_end(json);
}

static void put_exit(struct json *json, const struct verdict_process *process)
{
	json_key(json, "exit");
	if (!process->exit_known) {
		json_none(json);
		return;
	}
	json_object_begin(json);
	if (process->exit_signal == 0)
		json_member_int(json, "status", process->exit_status);
	else
		json_member_null(json, "status");
	if (process->exit_signal != 0)
		json_member_int(json, "signal", process->exit_signal);
	else
		json_member_null(json, "signal");
	json_object_end(json);
}

static void put_process(struct json *json, const struct analysis_result *result, const struct verdict_process *process,
			const struct verdict_call *const *rows)
{
	json_object_begin(json);
	json_key(json, "pid");
	if (process->pid != 0)
		json_uint(json, process->pid);
	else
		json_none(json);
	json_key(json, "parent");
	if (process->parent != 0)
		json_uint(json, process->parent);
	else
		json_none(json);
	if (process->pid == 0)
		json_member_uint(json, "processes", process->processes);
	json_member_string(json, "exe", process->exe);
	put_argv(json, process);
	put_exit(json, process);
	json_member_uint(json, "count", process->calls);
	if (process->program_count > 0) {
		json_key(json, "programs");
		json_array_begin(json);
		for (size_t i = 0; i < process->program_count; i++) {
			json_object_begin(json);
			json_member_string(json, "exe", process->programs[i].exe);
			json_member_uint(json, "count", process->programs[i].calls);
			json_object_end(json);
		}
		json_array_end(json);
	}
	json_key(json, "calls");
	json_array_begin(json);
	for (size_t i = 0; i < process->by_call_count; i++) {
		const struct verdict_process_call *call = &process->by_call[i];

		if (call->row < result->by_call_count && rows[call->row])
			put_call(json, rows[call->row], call->count, result->by_process.errors + call->first_error,
				 call->error_count);
	}
	json_array_end(json);
	json_object_end(json);
}

void json_processes(struct json *json, const struct analysis_result *result)
{
	const struct verdict_call **rows = index_rows(result);

	if (!rows)
		json->error = json->error ? json->error : -ENOMEM;
	json_key(json, "processes");
	json_array_begin(json);
	for (size_t i = 0; rows && i < result->by_process.count; i++)
		put_process(json, result, &result->by_process.items[i], rows);
	json_array_end(json);
	json_member_bool(json, "truncated", result->by_process.truncated);
	free(rows);
}

static void put_part(struct json *json, const char *name, const struct verdict_exe_part *part)
{
	json_key(json, name);
	json_object_begin(json);
	json_member_uint(json, "count", part->calls);
	json_member_uint(json, "failed", part->failed);
	json_member_ns(json, "time_ns", part->ns);
	json_object_end(json);
}

void json_programs(struct json *json, const struct analysis_result *result)
{
	static const char *const names[MODEL_PHASES] = {
		[MODEL_PHASE_EXEC] = "exec",
		[MODEL_PHASE_LOADER] = "loader",
		[MODEL_PHASE_LIBRARY] = "libraries",
		[MODEL_PHASE_LOCALE] = "locale",
		[MODEL_PHASE_INTERPRETER] = "interpreter",
	};

	json_key(json, "programs");
	json_array_begin(json);
	for (size_t i = 0; i < result->by_exe_count; i++) {
		const struct verdict_exe *exe = &result->by_exe[i];

		json_object_begin(json);
		json_member_string(json, "exe", exe->exe);
		json_member_uint(json, "runs", exe->runs);
		json_member_uint(json, "forks", exe->forks);
		json_member_uint(json, "count", exe->calls);
		json_member_ns(json, "time_ns", exe->calls_ns);
		json_member_ns(json, "cpu_ns", exe->work_ns);
		put_part(json, "startup", &exe->startup);
		for (unsigned phase = 0; phase < MODEL_PHASES; phase++)
			if (names[phase])
				put_part(json, names[phase], &exe->parts[phase]);
		json_object_end(json);
	}
	json_array_end(json);
}

void json_regions(struct json *json, const struct analysis_result *result)
{
	json_key(json, "regions");
	json_array_begin(json);
	for (size_t i = 0; i < result->region_count; i++) {
		const struct verdict_region *region = &result->regions[i];

		json_object_begin(json);
		json_member_string(json, "name", region->name);
		json_member_uint(json, "marks", region->marks);
		json_member_uint(json, "count", region->calls);
		json_member_uint(json, "failed", region->failed);
		json_member_ns(json, "time_ns", region->calls_ns);
		json_member_ns(json, "low_ns", region->calls_low_ns);
		json_member_ns(json, "high_ns", region->calls_high_ns);
		json_member_uint(json, "wall_ns", region->wall_ns);
		json_member_ns(json, "work_ns", region->work_ns);
		json_member_ns(json, "waiting_ns", region->waiting_ns);
		json_member_string(json, "source", price_source_name(region->source));
		json_key(json, "top");
		json_array_begin(json);
		for (size_t k = 0; k < VERDICT_REGION_TOP && region->top[k].call; k++) {
			json_object_begin(json);
			json_member_string(json, "name", region->top[k].call->name);
			json_member_uint(json, "count", region->top[k].count);
			json_object_end(json);
		}
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}
