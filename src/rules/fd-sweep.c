/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fd-sweep: a program that closes, or marks, every number up to a limit
 * since one of them may be open.  Found per task, told per program: it is
 * done in child after child.  Says nothing of closing what is open.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define TASKS_MAX 4096
#define PROGRAMS_MAX 1024
#define LOW_LIMIT 1024 /* what the remedy sets */

enum { LIMIT_CALLS, LIMIT_FAILED, LIMIT_GAP, LIMIT_SMALL };

/* What the highest number was one below of.  NOT_ASKED: a number of the program's own, it
 * seems, which the limit has too, since the program cannot know that. */
enum follows { FOLLOWS_UNKNOWN, FOLLOWS_FIXED, FOLLOWS_NOT_ASKED, FOLLOWS_SOFT, FOLLOWS_HARD, FOLLOWS_BOTH };

/* One task of one image, and the row of numbers that it is in; the tally has
 * those that were not open. */
struct walker {
	struct rule_key key; /* first */
	bool begun;
	int step; /* 1, -1, 0 not known yet */
	int32_t last, lowest, highest;
	uint64_t calls, by_one; /* of the row; of these next to the one before */
	uint64_t above; /* not open, LOW_LIMIT and up */
	uint64_t soft, hard; /* UINT64_MAX none or not known */
	bool asked; /* the program asked how many there can be */
	bool unasked; /* or surely did not */
	uint64_t program; /* 0, or the hash of the program that rows were added to */
};

struct program {
	struct rule_key key; /* first */
	uint64_t rows, above;
	uint64_t images, forked, image_calls; /* that had a row, of these forked and replaced; their calls */
	uint64_t most; /* not open, in the largest row: what follows is of that one */
	int32_t lowest, highest;
	uint64_t limit;
	enum follows follows;
	bool known; /* the limits of that row */
	bool own; /* under other limits it ended there too */
	int step;
	bool asked; /* each time, and is so by a limit that it is told */
	bool cut; /* its program was ended, or the run, before it came to its end */
};

struct sweep_state {
	struct rule_keys walkers, programs;
};

static bool near_limit(uint64_t limit, int32_t highest)
{
	uint64_t numbers = (uint64_t)highest + 1;

	return limit != UINT64_MAX && numbers + 1 >= limit && numbers <= limit + 1;
}

/* Numbers that programs have of their own. */
static enum follows own_limit(int32_t highest, uint64_t *ret_limit)
{
	static const uint64_t fixed[] = { 256, 1024, 4096, 8192, 65536, 1048576 };

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		*ret_limit = fixed[i];
		if (near_limit(fixed[i], highest))
			return FOLLOWS_FIXED;
	}
	*ret_limit = (uint64_t)highest + 1;
	return FOLLOWS_UNKNOWN;
}

static enum follows what_limit(const struct walker *walker, uint64_t *ret_limit)
{
	bool soft = near_limit(walker->soft, walker->highest), hard = near_limit(walker->hard, walker->highest);
	enum follows own = own_limit(walker->highest, ret_limit);

	if (!soft && !hard)
		return own;
	if (own == FOLLOWS_FIXED && walker->unasked)
		return FOLLOWS_NOT_ASKED;
	*ret_limit = soft ? walker->soft : walker->hard;
	return soft && hard ? FOLLOWS_BOTH : soft ? FOLLOWS_SOFT : FOLLOWS_HARD;
}

/* Two rows with one end, of which one alone ended at its limit. */
static bool is_own(const struct program *program, const struct walker *walker, bool cut, enum follows follows)
{
	bool known = walker->soft != UINT64_MAX || walker->hard != UINT64_MAX;

	return program->rows > 0 && !program->cut && !cut && program->known && known &&
	       walker->highest == program->highest && (follows > FOLLOWS_FIXED) != (program->follows > FOLLOWS_FIXED);
}

static void add_row(struct rule_run *run, struct walker *walker, const struct model_process *process, bool cut)
{
	struct sweep_state *state = run->state;
	uint64_t failed = walker->key.tally.calls, limit;
	struct program *program;
	enum follows follows;

	program = (struct program *)rule_keys_get_at(run, &state->programs, process, walker->key.last_ns,
						     walker->key.exe->id + 1, NULL);
	if (!program)
		return;
	walker->program = program->key.hash;
	follows = what_limit(walker, &limit);
	program->own = program->own || is_own(program, walker, cut, follows);
	program->asked = walker->asked && (program->asked || program->rows == 0);
	program->rows++;
	program->above += walker->above;
	if (failed > program->most) {
		program->most = failed;
		program->lowest = walker->lowest;
		program->highest = walker->highest;
		program->step = walker->step;
		program->cut = cut;
		program->limit = limit;
		program->known = walker->soft != UINT64_MAX || walker->hard != UINT64_MAX;
		/* Where it would have gone on to is not known. */
		program->follows = cut && walker->step > 0 ? FOLLOWS_UNKNOWN : follows;
	}
	rule_tally_merge(&program->key.tally, &walker->key.tally);
	rule_keys_value(&state->programs, &program->key, program->key.tally.calls);
}

static void end_row(struct rule_run *run, struct walker *walker, const struct model_process *process, bool cut)
{
	struct sweep_state *state = run->state;
	uint64_t failed = walker->key.tally.calls;

	if (walker->calls >= run->limits[LIMIT_CALLS] && failed * 100 >= walker->calls * run->limits[LIMIT_FAILED] &&
	    walker->by_one * 100 >= walker->calls * run->limits[LIMIT_FAILED])
		add_row(run, walker, process, cut);
	/* Mostly nothing was: a close of what is open is a row of one. */
	if (failed > 0)
		rule_tally_done(&walker->key.tally);
	walker->begun = false;
	rule_keys_value(&state->walkers, &walker->key, 0);
}

static bool goes_on(const struct rule_run *run, struct walker *walker, const struct model_view *view, int32_t fd)
{
	int64_t delta = (int64_t)fd - walker->last, most = (int64_t)run->limits[LIMIT_GAP] + 1;
	int step = delta > 0 ? 1 : -1;

	/* F_GETFD, then F_SETFD where it is open. */
	if (delta == 0)
		return view->id == CALL_fcntl;
	if ((walker->step != 0 && step != walker->step) || delta * step > most)
		return false;
	walker->step = step;
	return true;
}

static void sweep_call(struct rule_run *run, const struct model_view *view)
{
	int32_t fd = (int32_t)view->call->args[0], command = (int32_t)view->call->args[1];
	const struct model_process *process = view->process;
	struct sweep_state *state = run->state;
	struct walker *walker;

	if (fd < 0 || !rule_returned(view) || (view->id == CALL_fcntl && command != F_GETFD && command != F_SETFD))
		return;
	walker = (struct walker *)rule_keys_get(run, &state->walkers, view, map_mix(process->id, view->call->head.tid),
						NULL);
	if (!walker)
		return;
	if (walker->begun && !goes_on(run, walker, view, fd))
		end_row(run, walker, process, false);
	if (!walker->begun) {
		walker->begun = true;
		walker->step = 0;
		walker->lowest = walker->highest = fd;
		walker->calls = walker->above = 0;
		walker->by_one = 1;
	} else if (fd - walker->last <= 1 && fd - walker->last >= -1) {
		walker->by_one++;
	}
	walker->calls++;
	walker->last = fd;
	walker->lowest = fd < walker->lowest ? fd : walker->lowest;
	walker->highest = fd > walker->highest ? fd : walker->highest;
	walker->soft = process->nofile_known ? process->nofile_soft : UINT64_MAX;
	walker->hard = process->nofile_known ? process->nofile_hard : UINT64_MAX;
	walker->asked = process->nofile_asked;
	walker->unasked = process->nofile_watched && !process->nofile_asked;
	if (view->err != EBADF)
		return;
	walker->above += fd >= LOW_LIMIT;
	(void)rule_tally_add(&walker->key.tally, run->model, view);
	rule_keys_value(&state->walkers, &walker->key, walker->key.tally.calls);
}

static void sweep_image_end(struct rule_run *run, struct model_process *process)
{
	struct sweep_state *state = run->state;
	bool cut = !process->ended || process->exit_how == EVENT_EXIT_LET_GO || process->exit_how == EVENT_EXIT_LOST ||
		   process->exit_how == EVENT_EXIT_SIGNAL;
	struct program *counted = NULL;
	struct rule_key *key;

	while ((key = rule_keys_next_of(&state->walkers, process->id, NULL))) {
		struct walker *walker = (struct walker *)key;
		struct program *program;

		end_row(run, walker, process, cut);
		program = walker->program ? (struct program *)rule_keys_find(&state->programs, walker->program) : NULL;
		if (program && program != counted) {
			program->images++;
			program->image_calls += process->calls;
			if (process->ended && !process->execed && process->exit_how == EVENT_EXIT_REPLACED)
				program->forked++;
			counted = program;
		}
		rule_keys_drop(run, &state->walkers, key);
	}
}

static void add_where(const struct program *program, struct finding *finding)
{
	static const char *const names[] = {
		[FOLLOWS_SOFT] = "soft limit",
		[FOLLOWS_HARD] = "hard limit",
		[FOLLOWS_BOTH] = "soft and hard limit",
	};
	char first[TEXT_NUMBER_MAX], last[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
	const char *call = sys_call(program->key.tally.lines.at[0].call)->name;
	const char *down = program->cut && program->step < 0 ? "down " : "",
		   *ended = program->cut ? ", where it was ended" : "";

	(void)text_count((uint64_t)(*down ? program->highest : program->lowest), first);
	(void)text_count((uint64_t)(*down ? program->lowest : program->highest), last);
	(void)text_count(program->limit, limit);
	finding_set(&finding->object, "%s", call);
	if (program->follows >= FOLLOWS_SOFT) {
		finding_set(&finding->where, "numbers %s %sto %s%s: the %s of open files is %s", first, down, last,
			    ended, names[program->follows], limit);
		finding_set(&finding->object, "%s up to the %s", call, names[program->follows]);
	} else if (program->cut) {
		finding_set(&finding->where, "numbers %s %sto %s%s", first, down, last, ended);
	} else if (program->follows == FOLLOWS_NOT_ASKED) {
		finding_set(&finding->where, "numbers %s to %s: the limit of open files, not asked for", first, last);
		finding_set(&finding->object, "%s up to %s", call, limit);
	} else if (program->follows == FOLLOWS_FIXED) {
		finding_set(&finding->where, "numbers %s to %s, whatever the limit of open files is", first, last);
		finding_set(&finding->object, "%s up to %s", call, limit);
	} else {
		finding_set(&finding->where, "numbers %s to %s, which is no limit that was seen", first, last);
	}
}

static void add_close_range(const struct program *program, struct finding *finding)
{
	const struct rule_tally *tally = &program->key.tally;
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	bool closes = false;

	if (!remedy)
		return;
	for (size_t i = 0; i < tally->lines.used; i++)
		closes = closes || tally->lines.at[i].call == CALL_close;
	remedy->id = "close-range";
	/* A row downwards that was cut does not tell where it begins. */
	if (program->cut && program->step < 0)
		finding_set(&remedy->text,
			    closes ? "close_range, or closefrom" : "close_range with CLOSE_RANGE_CLOEXEC");
	else if (closes)
		finding_set(&remedy->text, "close_range(%d, ~0U, 0), or closefrom(%d)", program->lowest,
			    program->lowest);
	else
		finding_set(&remedy->text, "close_range(%d, ~0U, CLOSE_RANGE_CLOEXEC)", program->lowest);
	finding_remedy_saves_all(remedy, finding);
	finding_add_delta(remedy, CALL_close_range, 0, (int64_t)program->rows, 0);
}

static void add_limit(const struct program *program, struct finding *finding)
{
	static const char *const options[] = {
		[FOLLOWS_SOFT] = "-Sn",
		[FOLLOWS_HARD] = "-Hn",
		[FOLLOWS_BOTH] = "-n",
	};
	const struct rule_tally *tally = &program->key.tally;
	struct finding_remedy *remedy;
	uint64_t left = program->above;

	if (program->follows < FOLLOWS_SOFT || left == 0)
		return;
	remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
	if (!remedy)
		return;
	remedy->id = "limit";
	finding_set(&remedy->text, "ulimit %s %d before it starts", options[program->follows], LOW_LIMIT);
	finding_set(&remedy->changes, "no more than 1,024 files can be open at a time%s",
		    program->follows == FOLLOWS_SOFT ? " unless the program raises its limit" : "");
	for (size_t i = 0; i < tally->lines.used && left > 0; i++) {
		uint64_t count = tally->lines.at[i].count < left ? tally->lines.at[i].count : left;

		finding_add_delta(remedy, tally->lines.at[i].call, EBADF, -(int64_t)count, 0);
		left -= count;
	}
}

/* Who asks for the limit is told the highest open number + 1, which takes a
 * look at /proc: openat, fstatfs, fstat, newfstatat, getdents64 twice, close. */
static void add_preload(struct rule_run *run, const struct program *program, struct finding *finding)
{
	static const enum sys_call_id look[] = { CALL_openat,	  CALL_fstatfs,	   CALL_fstat, CALL_newfstatat,
						 CALL_getdents64, CALL_getdents64, CALL_close };
	struct finding_remedy *remedy;

	/* A number that a program has from elsewhere stays what it is. */
	if (program->follows < FOLLOWS_SOFT || !program->asked)
		return;
	remedy = finding_add_remedy(finding, REMEDY_PRELOAD);
	if (!remedy)
		return;
	remedy->id = "preload-nofile";
	finding_set(&remedy->text, "limits told as what is open; unsafe for plans by them");
	remedy->command = rule_command(run->model, "syscull fix --with nofile --", NULL);
	finding_remedy_saves_all(remedy, finding);
	for (size_t i = 0; i < sizeof look / sizeof *look; i++)
		finding_add_delta(remedy, look[i], 0, (int64_t)program->rows, 0);
}

/* What it costs each time, here and where the limit is that of a container
 * or a service. */
static void add_scales(const struct program *program, struct finding *finding)
{
	static const uint64_t limits[] = { 1048576, 1073741816 };
	uint64_t each = program->key.tally.calls / program->rows;
	char number[TEXT_NUMBER_MAX];

	if (program->cut)
		each = program->limit;
	else
		finding_add_scale(finding, 0, each, program->forked > 0 ? "each child" : "each time");
	if (program->follows < FOLLOWS_SOFT)
		return;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i] > program->limit)
			finding_add_scale(finding, 0, each + (limits[i] - program->limit), "with a limit of %s",
					  text_count(limits[i], number));
}

static void add_notes(const struct rule_run *run, const struct program *program, struct finding *finding)
{
	char failed[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX], images[TEXT_NUMBER_MAX];
	uint64_t children = program->images;

	if (children > 0 && program->image_calls > 0) {
		(void)text_count(program->key.tally.calls / children, failed);
		(void)text_count(program->image_calls / children, all);
		(void)text_count(children, images);
		if (program->forked == children)
			finding_add_note(finding, "%s%s: %s of %s calls between fork and exec%s",
					 children == 1 ? "one child" : images, children == 1 ? "" : " children", failed,
					 all, children == 1 ? "" : ", each");
		else
			finding_add_note(finding, "%s%s: %s of %s calls%s", children == 1 ? "one process" : images,
					 children == 1 ? "" : " processes", failed, all, children == 1 ? "" : ", each");
	}
	if (finding->minor)
		finding_add_note(finding, "fewer than %s calls in all: not worth a change",
				 text_count(run->limits[LIMIT_SMALL], failed));
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct program *program = (struct program *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_CERTAIN, "number is not open", out);
	bool closes;

	if (!finding || key->tally.lines.used == 0)
		return;
	if (program->images != 1)
		finding->process_id = finding->pid = 0;
	if (program->own) {
		(void)own_limit(program->highest, &program->limit);
		program->follows = FOLLOWS_FIXED;
	}
	closes = key->tally.lines.at[0].call == CALL_close;
	finding->minor = key->tally.calls < run->limits[LIMIT_SMALL];
	finding_set(&finding->what, "%s one number after the other, and nearly none is open (EBADF)",
		    closes ? "closes" : "marks");
	add_where(program, finding);
	add_close_range(program, finding);
	add_limit(program, finding);
	add_preload(run, program, finding);
	add_scales(program, finding);
	add_notes(run, program, finding);
}

static void sweep_end(struct rule_run *run, struct finding_list *out)
{
	struct sweep_state *state = run->state;

	rule_keys_tell(run, &state->programs, out, tell);
}

static int sweep_start(struct rule_run *run)
{
	struct sweep_state *state = run->state;

	rule_keys_init(&state->walkers, sizeof(struct walker), TASKS_MAX);
	state->walkers.candidate = run->limits[LIMIT_CALLS];
	rule_keys_init(&state->programs, sizeof(struct program), PROGRAMS_MAX);
	state->programs.candidate = 1;
	return 0;
}

static void sweep_done(struct rule_run *run)
{
	struct sweep_state *state = run->state;

	rule_keys_done(run, &state->walkers);
	rule_keys_done(run, &state->programs);
}

static const uint16_t sweep_calls[] = { CALL_close, CALL_fcntl, 0 };

static const struct rule_limit sweep_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 64, "numbers tried in one row" },
	[LIMIT_FAILED] = { "failed", RULE_PERCENT, 90, "of them at least are not open" },
	[LIMIT_GAP] = { "gap", RULE_COUNT, 3, "numbers in between may be left out, because they are kept" },
	[LIMIT_SMALL] = { "small", RULE_COUNT, 4096, "fewer failed calls in all are not worth fixing" },
	{ 0 },
};

const struct rule rule_fd_sweep = {
	.id = "fd-sweep",
	.title = "every number closed up to the limit of open files",
	.calls = sweep_calls,
	.limits = sweep_limits,
	.state_bytes = sizeof(struct sweep_state),
	.start = sweep_start,
	.call = sweep_call,
	.image_end = sweep_image_end,
	.end = sweep_end,
	.done = sweep_done,
};
