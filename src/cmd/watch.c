/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/host.h"
#include "cmd/keep.h"
#include "cmd/signals.h"
#include "cmd/user.h"

#define PROGRESS_AFTER_NS UINT64_C(1000000000)

static bool is_automatic(const struct watch *watch)
{
	return !watch->engine || strcmp(watch->engine, "auto") == 0;
}

int watch_check(struct watch *watch, struct error *err)
{
	const struct engine_ops *ops = is_automatic(watch) ? NULL : engine_by_name(watch->engine);

	if (!is_automatic(watch) && (!ops || !ops->live))
		return error_set(err, EINVAL, "--engine: no engine is called '%s'; auto, bpf or ptrace", watch->engine);
	return watch->user ? user_find(watch->user, &watch->who, err) : 0;
}

/* Can `auto` take it for this? */
static bool is_fit(const struct watch *watch, const struct engine_ops *ops)
{
	if (!ops->live || (watch->scope && !ops->scopes))
		return false;
	/* Who says where tasks are to run has the engine in mind that moves them. */
	return watch->pin == ENGINE_PIN_AUTO || ops == &engine_ptrace;
}

/* "cannot load the bpf engine: WHY; see: …": the reason alone. */
static void say_refused(char *why, size_t room, const struct engine_ops *ops, const struct error *err)
{
	const char *reason = strstr(err->text, ": ");

	reason = reason ? reason + 2 : err->text;
	(void)snprintf(why, room, "no %s: %.*s", ops->name, (int)strcspn(reason, ";"), reason);
}

/* By trying: an engine that cannot be used says so before anything is begun. */
static int start_engine(struct watch *watch, const struct engine_spec *spec, struct engine **ret_engine,
			struct error *err)
{
	int r = -ENOTSUP;

	if (!is_automatic(watch)) {
		(void)snprintf(watch->why, sizeof watch->why, "asked for");
		return engine_by_name(watch->engine)->start(spec, ret_engine, err);
	}
	(void)snprintf(watch->why, sizeof watch->why, "%s",
		       watch->scope ? "it stops at the budgeted calls alone" : "the best that works here");
	for (size_t i = 0; engine_list[i] && r == -ENOTSUP; i++) {
		struct error refused = { 0 };

		if (!is_fit(watch, engine_list[i]))
			continue;
		r = engine_list[i]->start(spec, ret_engine, &refused);
		if (r == -ENOTSUP && engine_list[i] != &engine_ptrace)
			say_refused(watch->why, sizeof watch->why, engine_list[i], &refused);
		else
			*err = refused;
	}
	return r;
}

static const struct {
	uint32_t met;
	const char *text;
	bool alters; /* what the command does is not what it does without us */
} blind_spots[] = {
	{ ENGINE_MET_SETUID, "a setuid program ran without its privileges, as under any tracer", true },
	{ ENGINE_MET_NO_NEW_PRIVS, "stopping at some calls alone needs no_new_privs, which a setuid program can tell",
	  true },
	{ ENGINE_MET_STRICT,
	  "a program was refused seccomp's strict mode (EINVAL), which cannot stand beside our filter", true },
	{ ENGINE_MET_IO_URING, "io_uring was used: what it does is not seen as calls", false },
	{ ENGINE_MET_UNTRACED, "a child was made with CLONE_UNTRACED and was not followed", false },
	{ ENGINE_MET_TRACER, "a program tried to trace and was refused: its tree is held by us", false },
	{ ENGINE_MET_HANDED_OVER, "a task was to be traced by its parent: it was let go, and not seen from then on",
	  false },
	{ ENGINE_MET_COMPAT, "32-bit calls are counted by number, without names", false },
	{ ENGINE_MET_NO_READV, "process_vm_readv is refused here: memory was read word by word, slowly", false },
	{ ENGINE_MET_FILTER, "a seccomp filter for all threads at once: what it refuses may not be seen", false },
	{ ENGINE_MET_NO_FILTER, "seccomp is refused here: every call was stopped, slowly, to count some", false },
	{ ENGINE_MET_NO_PROC, "/proc is not mounted here: what the command began with is not known", false },
};

static void add_warnings(uint32_t met, struct analysis_facts *facts)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof blind_spots / sizeof blind_spots[0]; i++) {
		if (!(met & blind_spots[i].met))
			continue;
		facts->warnings[used++] = blind_spots[i].text;
		/* They come first in the table. */
		if (blind_spots[i].alters)
			facts->altered = used;
	}
	facts->warnings[used] = NULL;
}

void watch_books(const struct engine_stats *stats, const struct engine_exit *end,
		 char reason[static WATCH_REASON_BYTES], struct analysis_facts *ret_facts)
{
	struct analysis_facts *facts = ret_facts;

	facts->exit_known = end->known;
	facts->exit_status = end->status;
	facts->exit_signal = end->signal;
	facts->wall_ns = stats->wall_ns;
	facts->seen = stats->seen;
	facts->delivered = stats->delivered;
	facts->lost = stats->lost;
	facts->lost_from_ns = stats->lost_from_ns;
	facts->lost_to_ns = stats->lost_to_ns;
	facts->lost_state = stats->lost_state;
	facts->in_flight = stats->in_flight;
	facts->marks = stats->marks;
	facts->children = stats->children;
	facts->followed = stats->followed;
	facts->not_followed = stats->not_followed;
	facts->let_go = stats->let_go;
	facts->state_errors = stats->state_errors;
	facts->stacks = stats->stacks;
	facts->stacks_left_out = stats->stacks_left_out;
	facts->stacks_unread = stats->stacks_unread;
	facts->callers_unknown = stats->callers_unknown;
	facts->pinned = stats->pinned;
	facts->aborted = stats->aborted;
	facts->file_cut = stats->file_cut;
	if (stats->aborted) {
		(void)snprintf(reason, WATCH_REASON_BYTES, "%s", stats->abort_reason);
		facts->abort_reason = reason;
	}
	facts->io_uring = stats->met & ENGINE_MET_IO_URING;
	facts->foreign_calls = stats->met & ENGINE_MET_COMPAT;
	facts->other_tracer = stats->met & (ENGINE_MET_TRACER | ENGINE_MET_HANDED_OVER);
	facts->refused_unseen = stats->met & ENGINE_MET_FILTER;
	add_warnings(stats->met, facts);
}

static void fill_facts(struct watch *watch, const struct engine_ops *ops, const struct engine_stats *stats)
{
	struct analysis_facts *facts = &watch->facts;

	facts->engine = ops->name;
	facts->engine_why = watch->why;
	facts->argv = watch->argv;
	facts->pids = watch->pids;
	facts->pid_count = watch->pid_count;
	facts->host = host_of_this();
	watch_books(stats, &watch->end, watch->abort_reason, facts);
	if (stats->scoped) {
		(void)engine_scope_names(&stats->scope, watch->scope_names);
		facts->scope = watch->scope_names;
	}
}

/* While attached stderr is ours alone; a command that we launched writes to
 * it as well, and its screen must stay as without us. */
static void show_progress(const struct engine_ops *ops, struct engine *engine, uint64_t begin_ns, bool *shown)
{
	struct engine_stats stats;
	char count[TEXT_NUMBER_MAX];
	uint64_t ran_ns = clock_now_ns() - begin_ns;

	if (ran_ns < PROGRESS_AFTER_NS)
		return;
	ops->stats(engine, &stats);
	(void)fprintf(stderr, "\rwatching for %.0f s: %s calls (INT ends)", (double)ran_ns / 1e9,
		      text_count(stats.seen, count));
	(void)fflush(stderr);
	*shown = true;
}

static void hide_progress(bool shown)
{
	if (shown)
		(void)fputs("\r\033[K", stderr);
}

/* Takes records until the end. */
static int pump(const struct watch *watch, const struct engine_ops *ops, struct engine *engine,
		struct analysis *analysis, struct error *err)
{
	uint64_t begin_ns = clock_now_ns(), drawn_ns = begin_ns;
	bool progress = watch->progress && !watch->argv && isatty(STDERR_FILENO);
	bool shown = false, let_go = false, over;
	int r;

	for (;;) {
		const struct event_head *record;
		int signal;

		while ((signal = signals_next_forward()) != 0)
			ops->forward(engine, signal);
		over = !let_go && watch->duration_ns && clock_now_ns() - begin_ns >= watch->duration_ns;
		let_go = let_go || over;
		if (signals_let_go() || over)
			ops->let_go(engine);
		r = ops->next(engine, &record, err);
		if (progress && r == ENGINE_RECORD && record->time_ns < drawn_ns + PROGRESS_AFTER_NS / 5) {
			/* Drawn a moment ago. */
		} else if (progress && (r == ENGINE_RECORD || r == -EAGAIN)) {
			drawn_ns = clock_now_ns();
			show_progress(ops, engine, begin_ns, &shown);
		}
		if (r == -EAGAIN && watch->keep)
			keep_tick(watch->keep, clock_now_ns());
		if (r == -EAGAIN)
			continue;
		if (r <= 0)
			break;
		if (watch->keep)
			keep_record(watch->keep, record);
		r = watch->only_keep ? 0 : analysis_feed(analysis, record);
		if (r < 0 && r != -ENOMEM) {
			r = error_errno(err, -r, "analysing");
			break;
		}
	}
	hide_progress(shown);
	return r;
}

static void prepare_child(void *data)
{
	const struct watch *watch = data;

	signals_restore_child(NULL);
	if (watch->user && user_become(&watch->who) < 0)
		_exit(EXIT_OURS);
	if (watch->prepare && watch->prepare(watch->prepare_data) < 0)
		_exit(EXIT_OURS);
}

static void begin_keep(const struct watch *watch, const struct engine_ops *ops, const struct engine_spec *spec)
{
	struct analysis_host host = host_of_this();

	keep_begin(watch->keep, &(struct trace_start){ .version = SYSCULL_VERSION,
						       .kernel = host.kernel,
						       .arch = host.arch,
						       .libc = host.libc,
						       .cpus = host.cpus,
						       .engine = ops->name,
						       .engine_why = watch->why,
						       .argv = watch->argv,
						       .pids = watch->pids,
						       .pid_count = watch->pid_count,
						       .items = spec->items,
						       .env_names = spec->env_names });
}

/* Which calls were lost; kept until the process ends, as the facts are. */
static void take_losses(struct watch *watch, const struct engine_ops *ops, const struct engine *engine)
{
	struct engine_loss *losses = calloc(ENGINE_LOSSES_MAX, sizeof *losses);
	struct analysis_loss *facts = calloc(ENGINE_LOSSES_MAX, sizeof *facts);

	if (losses && facts) {
		watch->facts.loss_count = ops->losses(engine, losses, ENGINE_LOSSES_MAX);
		for (size_t i = 0; i < watch->facts.loss_count; i++)
			facts[i] = (struct analysis_loss){ .nr = losses[i].nr,
							   .arch = losses[i].arch,
							   .failed = losses[i].failed,
							   .err = losses[i].err,
							   .count = losses[i].count };
		watch->facts.losses = facts;
	} else {
		free(facts);
	}
	free(losses);
}

int watch_run(struct watch *watch, struct analysis *analysis, struct error *err)
{
	struct engine_spec spec = {
		.argv = watch->argv,
		.program = watch->program,
		.pids = watch->pids,
		.pid_count = watch->pid_count,
		.items = analysis_items(analysis),
		.env_names = analysis_env(analysis),
		.pin = watch->pin,
		.stacks = watch->stacks,
		.scope = watch->scope,
		.task_limit = watch->task_limit,
		.ring_bytes = watch->ring_bytes,
		.drops_rights = watch->user,
		.prepare_child = prepare_child,
		.prepare_data = watch,
	};
	const struct engine_ops *ops;
	struct engine_stats stats;
	struct engine *engine;
	struct error late = { 0 };
	int r;

	signals_take(!watch->argv);
	r = start_engine(watch, &spec, &engine, err);
	if (r < 0) {
		signals_give_back();
		return r;
	}
	watch->started = true;
	/* With a scope the engine works in another process. */
	ops = engine->ops;
	if (watch->keep)
		begin_keep(watch, ops, &spec);
	/* Before anything that the command made is looked at. */
	if (watch->user && (r = user_drop(&watch->who)) < 0)
		(void)error_errno(&late, -r, "--user: privileges could not be given up");
	if (late.code == 0 && pump(watch, ops, engine, analysis, &late) < 0)
		log_error(&late);
	ops->stats(engine, &stats);
	if (stats.lost > 0 && ops->losses)
		take_losses(watch, ops, engine);
	ops->exit_of(engine, &watch->end);
	fill_facts(watch, ops, &stats);
	if (watch->keep)
		keep_end(watch->keep, &stats, &watch->end);
	ops->stop(engine);
	return 0;
}

/* Dies of the signal that the command died of, without a core of ours. */
static int die_of(int number)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t one;

	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(number, SIG_DFL);
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	(void)raise(number);
	return 128 + number; /* signals that cannot end us */
}

int watch_pass_on(const struct watch *watch)
{
	if (watch->end.known)
		return watch->end.signal ? die_of(watch->end.signal) : watch->end.status;
	/* Let go by a second INT: it ends us as it would have ended the wait. */
	if (watch->argv && signals_interrupt() != 0)
		return die_of(signals_interrupt());
	return 0;
}
