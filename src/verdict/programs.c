/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS UINT64_MAX

void programs_init(struct program_book *book)
{
	*book = (struct program_book){ 0 };
	map_init(&book->by_exe, sizeof(uint32_t), PROGRAMS_MAX);
}

void programs_done(struct program_book *book)
{
	for (size_t i = 0; i < book->programs.used; i++)
		vec_done(&book->programs.at[i].cells);
	vec_done(&book->programs);
	map_done(&book->by_exe);
}

/* The last place is for all that find none; NULL without memory. */
static struct program *program_of(struct program_book *book, const struct model_exe *exe)
{
	uint64_t key = exe->id;
	struct program *program;
	bool fresh = false;
	uint32_t *place;

	if (book->last == key + 1)
		return &book->programs.at[book->last_place];
	place = map_get(&book->by_exe, key);
	if (place) {
		book->last = key + 1;
		book->last_place = *place;
		return &book->programs.at[*place];
	}
	if (book->by_exe.used >= PROGRAMS_MAX - 1)
		key = OTHERS;
	place = map_put(&book->by_exe, key, &fresh);
	if (!place)
		return NULL;
	if (!fresh)
		return &book->programs.at[*place];
	program = vec_add(&book->programs);
	if (!program) {
		(void)map_remove(&book->by_exe, key);
		return NULL;
	}
	*place = (uint32_t)book->programs.used - 1;
	program->exe = key == OTHERS ? NULL : exe;
	return program;
}

static enum finding_life life_of(const struct model_process *process)
{
	if (process->execed)
		return FINDING_LIFE_RUN;
	return process->ended && process->exit_how == EVENT_EXIT_REPLACED ? FINDING_LIFE_BEFORE : FINDING_LIFE_FORK;
}

void programs_add_work(struct program_book *book, const struct model_process *process, bool over, double work_ns,
		       double calls)
{
	struct program *program = program_of(book, process->exe);
	struct program_life *life = program ? &program->lives[life_of(process)] : NULL;

	if (!life)
		return;
	life->ended += over;
	life->work_ns += work_ns;
	life->calls += calls;
}

static struct program_cell *cell_of(struct program_book *book, struct program *program, uint32_t row)
{
	while (program->cells.used <= row) {
		if (book->cells >= PROGRAM_CELLS_MAX || !vec_add(&program->cells))
			return NULL;
		book->cells++;
	}
	return &program->cells.at[row];
}

void programs_add_call(struct program_book *book, const struct model_process *process, uint32_t row,
		       enum model_phase phase, int err)
{
	bool last = book->last == (uint64_t)process->exe->id + 1;
	struct program *program = last ? &book->programs.at[book->last_place] : program_of(book, process->exe);
	struct program_cell *cell = program ? cell_of(book, program, row) : NULL;

	if (!program)
		return;
	program->calls++;
	program->failed[phase] += err != 0;
	if (cell)
		cell->count[phase]++;
	else
		book->unsplit++;
}

void programs_see(struct program_book *book, const struct model_process *process)
{
	struct program *program = program_of(book, process->exe);

	if (!program)
		return;
	if (process->execed || !process->forked)
		program->runs++;
	else
		program->forks++;
}

double programs_life_ns(const struct program_book *book, const struct model_exe *exe, enum finding_life life,
			double dearer_ns)
{
	const uint32_t *place = map_get(&book->by_exe, exe->id);
	const struct program_life *at = place ? &book->programs.at[*place].lives[life] : NULL;
	double ns;

	if (!at || at->ended == 0)
		return -1;
	ns = at->work_ns + at->calls * dearer_ns;
	return ns > 0 ? ns / (double)at->ended : 0;
}

double programs_work_ns(const struct program_book *book, double dearer_ns)
{
	double ns = 0;

	for (size_t i = 0; i < book->programs.used; i++)
		for (unsigned life = 0; life < FINDING_LIFE_COUNT; life++)
			ns += book->programs.at[i].lives[life].work_ns +
			      book->programs.at[i].lives[life].calls * dearer_ns;
	return ns;
}

static void add_part(struct verdict_exe_part *to, const struct verdict_exe_part *part)
{
	to->calls += part->calls;
	to->failed += part->failed;
	to->ns += part->ns;
}

static void judge_one(const struct program *program, const double *row_ns, const uint64_t *row_counts, size_t rows,
		      struct verdict_exe *ret)
{
	ret->exe = program->exe ? program->exe->path : "(other programs)";
	ret->runs = program->runs;
	ret->forks = program->forks;
	ret->calls = program->calls;
	for (size_t row = 0; row < program->cells.used && row < rows; row++) {
		double each_ns = row_counts[row] > 0 ? row_ns[row] / (double)row_counts[row] : 0;

		for (unsigned phase = 0; phase < MODEL_PHASES; phase++) {
			uint64_t count = program->cells.at[row].count[phase];

			ret->parts[phase].calls += count;
			ret->parts[phase].ns += each_ns * (double)count;
			ret->calls_ns += each_ns * (double)count;
		}
	}
	for (unsigned phase = 0; phase < MODEL_PHASES; phase++) {
		ret->parts[phase].failed = program->failed[phase];
		if (phase != MODEL_PHASE_WORK)
			add_part(&ret->startup, &ret->parts[phase]);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_exe *x = a, *y = b;
	double x_ns = x->work_ns >= 0 ? x->work_ns : x->calls_ns, y_ns = y->work_ns >= 0 ? y->work_ns : y->calls_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->exe, y->exe);
}

int programs_judge(const struct program_book *book, const double *row_ns, const uint64_t *row_counts, size_t rows,
		   double dearer_ns, bool work_known, struct verdict_exe **ret_list, size_t *ret_count)
{
	size_t count = book->programs.used;
	struct verdict_exe *list = calloc(count ? count : 1, sizeof *list);

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct program *program = &book->programs.at[i];

		judge_one(program, row_ns, row_counts, rows, &list[i]);
		for (unsigned life = 0; life < FINDING_LIFE_COUNT; life++)
			list[i].work_ns += program->lives[life].work_ns + program->lives[life].calls * dearer_ns;
		if (!work_known)
			list[i].work_ns = -1;
		else if (list[i].work_ns < 0)
			list[i].work_ns = 0;
	}
	qsort(list, count, sizeof *list, by_time);
	*ret_list = list;
	*ret_count = count;
	return 0;
}
