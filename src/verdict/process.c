/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting, for every call; process-list.c makes lists of it in the end. */
#include "verdict/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "verdict/process-key.h"

#define SUMMED_MAX 1024 /* programs; further ones share one entry */

void process_init(struct process_book *book)
{
	*book = (struct process_book){ 0 };
	map_init(&book->by_image, sizeof(uint32_t), PROCESS_RUNS_MAX);
	map_init(&book->by_pid, sizeof(uint32_t), PROCESS_MOST);
	map_init(&book->by_exe, sizeof(uint32_t), SUMMED_MAX);
	map_init(&book->errors, sizeof(uint64_t), PROCESS_ERRORS_MAX);
}

void process_done(struct process_book *book)
{
	for (size_t i = 0; i < book->runs.used; i++)
		vec_done(&book->runs.at[i].counts);
	vec_done(&book->runs);
	vec_done(&book->entries);
	map_done(&book->by_image);
	map_done(&book->by_pid);
	map_done(&book->by_exe);
	map_done(&book->errors);
}

/* A run at the end of the list: its index + 1, or 0 without memory. */
static uint32_t add_run(struct process_book *book, const struct model_process *image, const struct model_exe *exe,
			uint32_t entry)
{
	struct process_run *run = vec_add(&book->runs);

	if (!run)
		return 0;
	run->image = image;
	run->exe = exe;
	run->entry = entry;
	return (uint32_t)book->runs.used;
}

static uint32_t run_summed(struct process_book *book, const struct model_process *process)
{
	uint32_t *place = map_get(&book->by_exe, process->exe->id);
	struct process_entry *entry;

	book->truncated = true;
	/* The last place is for all programs that found none. */
	if (!place && book->by_exe.used < SUMMED_MAX - 1)
		place = map_put(&book->by_exe, process->exe->id, NULL);
	else if (!place)
		place = map_put(&book->by_exe, UINT64_MAX, NULL);
	if (!place)
		return 0;
	if (*place)
		return *place;
	entry = vec_add(&book->entries);
	if (!entry)
		return 0;
	entry->first = entry->last = (uint32_t)book->runs.used;
	*place = add_run(book, NULL, book->by_exe.used == SUMMED_MAX ? NULL : process->exe,
			 (uint32_t)book->entries.used - 1);
	if (!*place)
		book->entries.used--;
	return *place;
}

static uint32_t run_own(struct process_book *book, const struct model_process *process)
{
	uint32_t *known = map_get(&book->by_pid, process->pid), entry, run, *place;
	bool goes_on = known && process->execed;

	if (book->runs.used >= PROCESS_RUNS_MAX || (!goes_on && book->own >= PROCESS_MOST)) {
		if (!goes_on)
			(void)map_remove(&book->by_pid, process->pid);
		return 0;
	}
	if (goes_on) {
		entry = *known - 1;
	} else {
		if (!vec_push(&book->entries, (struct process_entry){ .pid = process->pid, .processes = 1 }))
			return 0;
		entry = (uint32_t)book->entries.used - 1;
		known = map_put(&book->by_pid, process->pid, NULL);
		if (known)
			*known = entry + 1;
		book->own++;
	}
	run = add_run(book, process, NULL, entry);
	place = run ? map_put(&book->by_image, process->id, NULL) : NULL;
	if (!place) {
		if (run)
			book->runs.used--;
		if (!goes_on) {
			(void)map_remove(&book->by_pid, process->pid);
			book->entries.used--;
			book->own--;
		}
		return 0;
	}
	*place = run;
	if (!goes_on)
		book->entries.at[entry].first = run - 1;
	book->entries.at[entry].last = run - 1;
	return run;
}

static uint32_t run_of(struct process_book *book, const struct model_process *process)
{
	uint32_t *place, run;

	if (process->id == book->last_image && book->last_run)
		return book->last_run;
	place = map_get(&book->by_image, process->id);
	run = place ? *place : 0;
	if (!run && !process->folded)
		run = run_own(book, process);
	if (!run)
		run = run_summed(book, process);
	book->last_image = process->id;
	book->last_run = run;
	return run;
}

static bool has_cell(struct process_book *book, struct process_run *run, uint32_t row)
{
	while (run->counts.used <= row) {
		if (book->cells >= PROCESS_CELLS_MAX || !vec_push(&run->counts, 0))
			return false;
		book->cells++;
	}
	return true;
}

int process_add(struct process_book *book, const struct model_process *process, uint32_t row, int err)
{
	bool last = process->id == book->last_image && book->last_run;
	uint32_t number = last ? book->last_run : run_of(book, process);
	struct process_run *run;
	uint64_t *errors;

	if (!number)
		return -ENOMEM;
	run = &book->runs.at[number - 1];
	run->calls++;
	if (!has_cell(book, run, row)) {
		book->unsplit++;
		return 0;
	}
	run->counts.at[row]++;
	if (err == 0)
		return 0;
	errors = map_put(&book->errors, process_error_key(run->entry, row, err), NULL);
	if (errors)
		(*errors)++;
	else
		book->unsplit++;
	return 0;
}

void process_end(struct process_book *book, const struct model_process *process)
{
	if (!process->folded && process->exit_how != EVENT_EXIT_REPLACED)
		(void)map_remove(&book->by_pid, process->pid);
}

int process_see(struct process_book *book, const struct model_process *process)
{
	uint32_t number = run_of(book, process);
	const struct process_run *run;

	if (!number)
		return -ENOMEM;
	run = &book->runs.at[number - 1];
	/* Whoever goes on as another program is counted there. */
	if (!run->image && !(process->ended && process->exit_how == EVENT_EXIT_REPLACED))
		book->entries.at[run->entry].processes++;
	return 0;
}
