/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exec-startup: what a program calls before it does anything, times the number
 * of its starts.  Counted by program, not by process; what is part of starting
 * is the model's to say (enum model_phase).  The execs themselves are
 * trivial-process's, and of small tools all but the locale too: nobody links
 * them anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/memory.h"
#include "rules/trivial-process.h"

#define PROGRAMS_MAX 1024

enum { LIMIT_EXECS, LIMIT_CALLS };

/* One program; its tally has all phases together but that of the locale. */
struct program {
	struct rule_key key; /* first */
	struct rule_tally locale;
	bool is_tool;
	uint64_t seen; /* process of the last call, to which that belongs */
	struct rule_tally phases[MODEL_PHASES]; /* counts only */
	uint64_t failed[MODEL_PHASES];
};

static void startup_call(struct rule_run *run, const struct model_view *view)
{
	struct rule_keys *programs = run->state;
	struct program *program;

	if (view->phase == MODEL_PHASE_WORK || view->phase == MODEL_PHASE_EXEC || !rule_returned(view))
		return;
	program = (struct program *)rule_keys_get(run, programs, view, view->process->exe->id, NULL);
	if (!program)
		return;
	if (program->seen != view->process->id)
		program->is_tool = trivial_tool(view->process) != NULL;
	program->seen = view->process->id;
	program->locale.claims = run->claims;
	(void)rule_tally_add(view->phase == MODEL_PHASE_LOCALE ? &program->locale : &program->key.tally, run->model,
			     view);
	(void)rule_tally_count(&program->phases[view->phase], view);
	program->failed[view->phase] += view->err != 0;
	rule_keys_value(programs, &program->key, program->key.tally.calls + program->locale.calls);
}

static void free_program(struct rule_run *run, struct rule_key *key)
{
	for (unsigned phase = 0; phase < MODEL_PHASES; phase++)
		rule_tally_done(&((struct program *)key)->phases[phase]);
	rule_tally_done(&((struct program *)key)->locale);
}

/* "locale 13 (13 in vain)", of one start on the average. */
static void put_phase(struct buf *buf, const char *name, const struct program *program, unsigned phase)
{
	uint64_t execs = program->key.exe->execs, calls = program->phases[phase].calls;
	uint64_t failed = (program->failed[phase] + execs / 2) / execs;
	char number[TEXT_NUMBER_MAX];

	if (calls == 0)
		return;
	(void)buf_printf(buf, "%s%s %s", buf->bytes ? ", " : "", name, text_count((calls + execs / 2) / execs, number));
	if (failed > 0)
		(void)buf_printf(buf, " (%s in vain)", text_count(failed, number));
}

static void save(struct finding_remedy *remedy, const struct rule_tally *tally, bool (*goes)(enum sys_call_id id))
{
	for (size_t i = 0; remedy && i < tally->lines.used; i++) {
		const struct rule_line *line = &tally->lines.at[i];

		if (!goes || goes(line->call))
			finding_add_delta(remedy, line->call, line->err, -(int64_t)line->count, line->components);
	}
}

/* A program without a loader still sets up its memory and its thread. */
static bool loads(enum sys_call_id id)
{
	static const uint16_t stays[] = { CALL_brk,  CALL_arch_prctl, CALL_set_tid_address, CALL_set_robust_list,
					  CALL_rseq, CALL_prlimit64,  CALL_getrandom,	    CALL_mprotect };

	for (size_t i = 0; i < sizeof stays / sizeof stays[0]; i++)
		if (stays[i] == id)
			return false;
	return true;
}

static bool any_loads(const struct rule_tally *tally)
{
	for (size_t i = 0; i < tally->lines.used; i++)
		if (loads(tally->lines.at[i].call))
			return true;
	return false;
}

/* What is mapped of a locale is read: a page of each at least. */
static uint64_t locale_pages(const struct program *program)
{
	const struct rule_tally *tally = &program->phases[MODEL_PHASE_LOCALE];
	uint64_t pages = 0;

	for (size_t i = 0; i < tally->lines.used; i++)
		if (tally->lines.at[i].call == CALL_mmap && tally->lines.at[i].err == 0)
			pages += tally->lines.at[i].count;
	return pages;
}

static void add_remedies(struct rule_run *run, const struct program *program, struct finding *finding)
{
	struct finding_remedy *remedy;
	uint64_t execs = program->key.exe->execs;
	char number[TEXT_NUMBER_MAX];

	if (program->phases[MODEL_PHASE_LOCALE].calls > 0) {
		remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
		if (remedy) {
			remedy->id = "locale-c";
			finding_set(&remedy->text, "LC_ALL=C");
			finding_set(&remedy->changes, "text is bytes; messages, order and dates are those of C");
			remedy->command = rule_command(run->model, "LC_ALL=C", "LC_ALL");
			save(remedy, &program->phases[MODEL_PHASE_LOCALE], NULL);
			finding_add_pages(remedy, CALL_mmap, 0, true, locale_pages(program), locale_pages(program));
		}
	}
	if (program->is_tool)
		return;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "one-process";
		finding_set(&remedy->text, "one process for the work of all %s", text_count(execs, number));
		for (size_t i = 0; i < finding->costs.used; i++) {
			const struct finding_cost *cost = &finding->costs.at[i];

			finding_add_delta(remedy, cost->call, cost->err, -(int64_t)(cost->count - cost->count / execs),
					  cost->components - cost->components / execs);
			finding_add_pages(remedy, cost->call, cost->err, true,
					  cost->pages_low - cost->pages_low / execs,
					  cost->pages_high - cost->pages_high / execs);
		}
	}
	remedy = any_loads(&program->phases[MODEL_PHASE_LOADER]) ? finding_add_remedy(finding, REMEDY_SOURCE) : NULL;
	if (remedy) {
		remedy->id = "static";
		finding_set(&remedy->text, "fewer libraries, or none (-static)");
		save(remedy, &program->phases[MODEL_PHASE_LOADER], loads);
	}
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	static const char *const names[MODEL_PHASES] = { [MODEL_PHASE_LOADER] = "ld.so",
							 [MODEL_PHASE_LIBRARY] = "libraries",
							 [MODEL_PHASE_LOCALE] = "locale",
							 [MODEL_PHASE_INTERPRETER] = "interpreter" };
	struct program *program = (struct program *)key;
	char execs[TEXT_NUMBER_MAX];
	struct buf parts = BUF_INIT;
	struct finding *finding;

	if (program->is_tool)
		rule_tally_done(&key->tally);
	rule_tally_merge(&key->tally, &program->locale);
	if (key->exe->execs < run->limits[LIMIT_EXECS] || key->tally.calls < run->limits[LIMIT_CALLS] * key->exe->execs)
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding->pid = 0;
	finding->process_id = 0;
	finding->part_of = key->exe;
	finding->least = run->limits[LIMIT_CALLS] * key->exe->execs;
	finding_set(&finding->what, "%s",
		    program->is_tool ? "loads its locale again and again" : "starts up again and again");
	for (unsigned phase = 0; phase < MODEL_PHASES; phase++)
		if (names[phase] && (!program->is_tool || phase == MODEL_PHASE_LOCALE))
			put_phase(&parts, names[phase], program, phase);
	finding_set(&finding->where, "%s starts; calls of each: %s", text_count(key->exe->execs, execs),
		    buf_text(&parts));
	finding_set(&finding->object, "start-up");
	if (locale_pages(program) > 0)
		memory_tell_faults(finding, CALL_mmap, locale_pages(program), locale_pages(program), "");
	add_remedies(run, program, finding);
	finding_add_note(finding, "the execs themselves are not in it: first see whether so many are needed");
	buf_done(&parts);
}

static void startup_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, run->state, out, tell);
}

static int startup_start(struct rule_run *run)
{
	struct rule_keys *programs = run->state;

	rule_keys_init(programs, sizeof(struct program), PROGRAMS_MAX);
	programs->candidate = 1;
	programs->free = free_program;
	return 0;
}

static void startup_done(struct rule_run *run)
{
	rule_keys_done(run, run->state);
}

static const uint16_t startup_calls[] = {
	CALL_brk,
	CALL_mmap,
	CALL_munmap,
	CALL_mprotect,
	CALL_access,
	CALL_faccessat,
	CALL_faccessat2,
	CALL_open,
	CALL_openat,
	CALL_read,
	CALL_pread64,
	CALL_lseek,
	CALL_ioctl,
	CALL_fcntl,
	CALL_fstat,
	CALL_stat,
	CALL_lstat,
	CALL_newfstatat,
	CALL_statx,
	CALL_statfs,
	CALL_fstatfs,
	CALL_close,
	CALL_readlink,
	CALL_readlinkat,
	CALL_getdents64,
	CALL_getcwd,
	CALL_uname,
	CALL_arch_prctl,
	CALL_set_tid_address,
	CALL_set_robust_list,
	CALL_rseq,
	CALL_prlimit64,
	CALL_getrandom,
	CALL_getuid,
	CALL_geteuid,
	CALL_getgid,
	CALL_getegid,
	CALL_rt_sigaction,
	CALL_rt_sigprocmask,
	CALL_futex,
	0,
};

static const struct rule_limit startup_limits[] = {
	[LIMIT_EXECS] = { "execs", RULE_COUNT, 20, "of one program" },
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 10, "to start up, of each of them on the average" },
	{ 0 },
};

const struct rule rule_exec_startup = {
	.id = "exec-startup",
	.title = "what programs do to start, many times over",
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_FDS,
	.calls = startup_calls,
	.limits = startup_limits,
	.state_bytes = sizeof(struct rule_keys),
	.breadth = 3,
	.start = startup_start,
	.call = startup_call,
	.end = startup_end,
	.done = startup_done,
};
