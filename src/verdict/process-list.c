/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of processes as reports read it, made once at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "verdict/process-key.h"
#include "verdict/process.h"

static int by_place(const void *a, const void *b)
{
	const struct verdict_process_error *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->err < y->err ? -1 : x->err > y->err;
}

static int list_errors(const struct process_book *book, struct verdict_processes *ret)
{
	const uint64_t *count;
	size_t iter = 0;
	uint64_t key;

	ret->errors = calloc(book->errors.used ? book->errors.used : 1, sizeof *ret->errors);
	if (!ret->errors)
		return -ENOMEM;
	while ((count = map_next(&book->errors, &iter, &key)))
		ret->errors[ret->error_count++] = (struct verdict_process_error){
			.process = process_key_entry(key),
			.row = process_key_row(key),
			.err = process_key_errno(key),
			.count = *count,
		};
	qsort(ret->errors, ret->error_count, sizeof *ret->errors, by_place);
	return 0;
}

/* Runs of an entry lie among those of others: they are found by walking on. */
static const struct process_run *next_run(const struct process_book *book, uint32_t entry, size_t *at)
{
	while (*at < book->runs.used && *at <= book->entries.at[entry].last) {
		const struct process_run *run = &book->runs.at[(*at)++];

		if (run->entry == entry)
			return run;
	}
	return NULL;
}

static const char *exe_of(const struct process_run *run)
{
	if (run->image)
		return run->image->exe->path;
	return run->exe ? run->exe->path : "(other programs)";
}

static void tell_end(struct verdict_process *process, const struct model_process *image)
{
	process->parent = image->ppid;
	process->argv = image->argv;
	process->argv_bytes = image->argv_bytes;
	if (!image->ended)
		return;
	if (image->exit_how == EVENT_EXIT_STATUS) {
		process->exit_known = true;
		process->exit_status = (int)image->exit_status;
	} else if (image->exit_how == EVENT_EXIT_SIGNAL) {
		process->exit_known = true;
		process->exit_status = -1;
		process->exit_signal = (int)image->exit_status;
	}
}

static int list_programs(const struct process_book *book, uint32_t entry, struct verdict_process *process)
{
	size_t at = book->entries.at[entry].first, count = 0;
	const struct process_run *run;

	while (next_run(book, entry, &at))
		count++;
	at = book->entries.at[entry].first;
	if (count < 2)
		return 0;
	process->programs = calloc(count, sizeof *process->programs);
	if (!process->programs)
		return -ENOMEM;
	while ((run = next_run(book, entry, &at)))
		process->programs[process->program_count++] =
			(struct verdict_program){ .exe = exe_of(run), .calls = run->calls };
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct verdict_process_call *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* The errors of all calls of one process lie together; *at is their beginning. */
static void tell_errors(const struct verdict_processes *all, uint32_t entry, struct verdict_process_call *call,
			size_t at)
{
	while (at < all->error_count && all->errors[at].process == entry && all->errors[at].row < call->row)
		at++;
	call->first_error = at;
	for (; at < all->error_count && all->errors[at].process == entry && all->errors[at].row == call->row; at++) {
		call->error_count++;
		call->failed += all->errors[at].count;
	}
}

static int list_calls(const struct process_book *book, const struct verdict_processes *all, uint32_t entry,
		      const double *row_ns, const uint64_t *row_counts, size_t rows, size_t first_error)
{
	struct verdict_process *process = &all->items[entry];
	size_t at = book->entries.at[entry].first;
	uint64_t *sums = calloc(rows ? rows : 1, sizeof *sums);
	const struct process_run *run;
	size_t count = 0;

	if (!sums)
		return -ENOMEM;
	while ((run = next_run(book, entry, &at))) {
		process->calls += run->calls;
		for (size_t row = 0; row < run->counts.used && row < rows; row++)
			sums[row] += run->counts.at[row];
	}
	for (size_t row = 0; row < rows; row++)
		count += sums[row] > 0;
	process->by_call = calloc(count ? count : 1, sizeof *process->by_call);
	for (size_t row = 0; process->by_call && row < rows; row++) {
		struct verdict_process_call *call = &process->by_call[process->by_call_count];

		if (sums[row] == 0)
			continue;
		process->by_call_count++;
		call->row = (uint32_t)row;
		call->count = sums[row];
		call->ns = row_counts[row] > 0 ? row_ns[row] * (double)sums[row] / (double)row_counts[row] : 0;
		tell_errors(all, entry, call, first_error);
	}
	free(sums);
	if (!process->by_call)
		return -ENOMEM;
	qsort(process->by_call, process->by_call_count, sizeof *process->by_call, by_count);
	return 0;
}

int process_judge(struct process_book *book, const double *row_ns, const uint64_t *row_counts, size_t rows,
		  struct verdict_processes *ret)
{
	size_t first_error = 0;
	int r;

	*ret = (struct verdict_processes){ .truncated = book->truncated, .unsplit = book->unsplit };
	ret->items = calloc(book->entries.used ? book->entries.used : 1, sizeof *ret->items);
	if (!ret->items)
		return -ENOMEM;
	ret->count = book->entries.used;
	r = list_errors(book, ret);
	for (uint32_t entry = 0; entry < ret->count && r == 0; entry++) {
		const struct process_run *last = &book->runs.at[book->entries.at[entry].last];
		struct verdict_process *process = &ret->items[entry];

		process->pid = book->entries.at[entry].pid;
		process->processes = book->entries.at[entry].processes;
		process->exe = exe_of(last);
		if (last->image)
			tell_end(process, last->image);
		while (first_error < ret->error_count && ret->errors[first_error].process < entry)
			first_error++;
		r = list_programs(book, entry, process);
		if (r == 0)
			r = list_calls(book, ret, entry, row_ns, row_counts, rows, first_error);
	}
	if (r < 0)
		processes_done(ret);
	return r;
}

void processes_done(struct verdict_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		free(processes->items[i].by_call);
		free(processes->items[i].programs);
	}
	free(processes->items);
	free(processes->errors);
	*processes = (struct verdict_processes){ 0 };
}
