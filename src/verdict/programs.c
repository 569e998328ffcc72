/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/programs.h"

#define OTHERS UINT64_MAX

void programs_init(struct program_book *book)
{
	*book = (struct program_book){ 0 };
	map_init(&book->by_exe, sizeof(uint32_t), PROGRAMS_MAX);
}

void programs_done(struct program_book *book)
{
	vec_done(&book->programs);
	map_done(&book->by_exe);
}

/* The last place is for all that find none; NULL without memory. */
static struct program *program_of(struct program_book *book, const struct model_exe *exe)
{
	uint64_t key = exe->id;
	uint32_t *place = map_get(&book->by_exe, key);
	struct program *program;
	bool fresh = false;

	if (place)
		return &book->programs.at[*place];
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
