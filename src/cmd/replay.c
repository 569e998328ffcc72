/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/host.h"
#include "cmd/keep.h"
#include "engine/strace/strace.h"
#include "engine/trace/trace.h"

/* Who reads it: by what is in it.  One that is not there may be a set of
 * strace -ff, whose files have numbers behind their name. */
static const struct engine_ops *reader_of(const struct replay *replay)
{
	int fd = replay->fd >= 0 ? replay->fd : open(replay->name, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	/* A line of strace -v -xx has the environment in hexadecimal. */
	static char head[64 << 10];
	ssize_t bytes;

	if (fd < 0)
		return errno == ENOENT ? &engine_strace_log : &engine_trace;
	bytes = pread(fd, head, sizeof head, 0);
	if (fd != replay->fd)
		(void)close(fd);
	return bytes > 0 && strace_log_is(head, (size_t)bytes) ? &engine_strace_log : &engine_trace;
}

static int start(struct replay *replay, struct error *err)
{
	struct engine_spec spec = { .file = replay->name,
				    .file_fd = replay->fd >= 0 ? &replay->fd : NULL,
				    .cwd = replay->cwd,
				    .items = UINT64_MAX };

	return reader_of(replay)->start(&spec, &replay->engine, err);
}

bool replay_is_log(const struct replay *replay)
{
	return replay->engine->ops == &engine_strace_log;
}

static int open_it(struct replay *replay, const char *name, const char *cwd, struct error *err)
{
	int r;

	replay->cwd = cwd;
	replay->name = strdup(name);
	r = replay->name ? start(replay, err) : error_errno(err, ENOMEM, "%s", name);
	if (r < 0)
		replay_close(replay);
	return r;
}

int replay_open_input(struct replay *replay, struct input *input, const char *cwd, struct error *err)
{
	*replay = REPLAY_INIT;
	replay->fd = input->fd;
	replay->copied = input->copied;
	input->fd = -1;
	return open_it(replay, input->name, cwd, err);
}

int replay_open(struct replay *replay, const char *path, const char *cwd, struct error *err)
{
	struct input input = INPUT_INIT;
	int r;

	*replay = REPLAY_INIT;
	if (path) {
		r = input_open(&input, path, err);
		return r < 0 ? r : replay_open_input(replay, &input, cwd, err);
	}
	replay->fd = keep_last(err);
	return replay->fd < 0 ? replay->fd : open_it(replay, "the kept run", cwd, err);
}

int replay_again(struct replay *replay, struct error *err)
{
	replay->engine->ops->stop(replay->engine);
	replay->engine = NULL;
	if (replay->fd >= 0 && lseek(replay->fd, 0, SEEK_SET) < 0)
		return error_errno(err, errno, "%s", replay->name);
	return start(replay, err);
}

static bool same(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

/* The bits of RULE_NEEDS_…, in their order. */
static const char *const log_hints[32] = {
	"the working directory: --cwd DIR",
	"the mounts, which no log has: a run under syscull",
	"the environment: strace -v",
	"times: strace -ttt",
	"descriptors from the program's start: strace, not strace -p",
};

static void tell_log_warnings(struct replay *replay, const struct strace_facts *log)
{
	char *note = replay->log_note;
	size_t room = sizeof replay->log_note;

	if (log->unparsed > 0) {
		(void)snprintf(replay->log_unparsed, sizeof replay->log_unparsed,
			       "%llu of %llu lines could not be read, the first is line %llu: %s",
			       (unsigned long long)log->unparsed, (unsigned long long)log->lines,
			       (unsigned long long)log->first_unparsed, log->first_text);
		analysis_add_warning(&replay->facts, replay->log_unparsed);
	}
	if (log->before > 0)
		analysis_add_warning(&replay->facts, "what the log begins with is no call, and is left out");
	if (!log->times)
		analysis_add_warning(&replay->facts,
				     "the log has no times: where rules look at pauses, the calls in between "
				     "stand in (strace -ttt)");
	if (log->filtered)
		analysis_add_warning(&replay->facts,
				     "programs end without exit_group: calls were left out (strace -e) or cut");
	(void)snprintf(note, room, "not judged: ");
	for (const struct rule *const *rule = rule_list; *rule; rule++) {
		size_t used = strlen(note);

		if ((*rule)->needs & replay->facts.lacks)
			(void)snprintf(note + used, room - used, "%s%s", used > 12 ? ", " : "", (*rule)->id);
	}
	for (unsigned bit = 0, told = 0; bit < 32; bit++) {
		size_t used = strlen(note);

		if (replay->facts.lacks >> bit & 1 && log_hints[bit])
			(void)snprintf(note + used, room - used, "%s%s", told++ ? "; " : "; it lacks ", log_hints[bit]);
	}
	if (replay->facts.lacks)
		analysis_add_warning(&replay->facts, note);
}

static void fill_log_facts(struct replay *replay)
{
	struct engine_stats stats;
	struct strace_facts log;

	replay->engine->ops->stats(replay->engine, &stats);
	replay->engine->ops->exit_of(replay->engine, &replay->end);
	strace_facts_of(replay->engine, &log);
	replay->facts = (struct analysis_facts){
		.engine = "strace-log",
		.engine_why = "read from a log of strace's",
		.argv = replay->argv,
		.calls_only = true,
		.lack_hints = log_hints,
		.lacks = RULE_NEEDS_DEVICES | (log.environment ? 0 : RULE_NEEDS_ENV) |
			 (log.from_start ? 0 : RULE_NEEDS_FDS) | (log.paths ? 0 : RULE_NEEDS_PATHS),
	};
	watch_books(&stats, &replay->end, replay->abort_reason, &replay->facts);
	tell_log_warnings(replay, &log);
}

static void fill_facts(struct replay *replay)
{
	const struct trace_start *begin = trace_engine_start(replay->engine);
	struct analysis_host here = host_of_this();
	struct engine_stats stats;

	replay->engine->ops->stats(replay->engine, &stats);
	replay->engine->ops->exit_of(replay->engine, &replay->end);
	replay->facts = (struct analysis_facts){
		.engine = begin->engine ? begin->engine : "unknown",
		.engine_why = replay->engine_why,
		.argv = begin->argv && begin->argv[0] ? begin->argv : NULL,
		.pids = begin->pids,
		.pid_count = begin->pid_count,
		.host = { .kernel = begin->kernel,
			  .arch = begin->arch,
			  .libc = begin->libc,
			  .cpus = begin->cpus <= UINT32_MAX ? (unsigned)begin->cpus : 0 },
	};
	(void)snprintf(replay->engine_why, sizeof replay->engine_why, "%s; read from a trace",
		       begin->engine_why ? begin->engine_why : "recorded");
	text_tame(replay->engine_why);
	watch_books(&stats, &replay->end, replay->abort_reason, &replay->facts);
	if (!same(begin->kernel, here.kernel) || !same(begin->arch, here.arch) || begin->cpus != here.cpus) {
		(void)snprintf(replay->host_note, sizeof replay->host_note,
			       "recorded elsewhere (%s, %s, %u CPUs): the prices are those of this machine",
			       begin->kernel ? begin->kernel : "?", begin->arch ? begin->arch : "?",
			       replay->facts.host.cpus);
		/* From the file. */
		text_tame(replay->host_note);
		analysis_add_warning(&replay->facts, replay->host_note);
	}
}

/* Of the first program: one block, freed at once. */
static char **copy_argv(const struct event_head *head)
{
	const struct event_item *item = event_item(head, SYS_ITEM_ARGV);
	const char *text = item ? event_item_data(item) : NULL;
	size_t bytes = item ? item->bytes : 0, count = 0;
	char **argv, *copy;

	for (size_t i = 0; i < bytes; i++)
		count += text[i] == '\0';
	argv = calloc(1, (count + 1) * sizeof *argv + bytes);
	if (!argv || count == 0) {
		free(argv);
		return NULL;
	}
	copy = (char *)(argv + count + 1);
	memcpy(copy, text, bytes);
	for (size_t i = 0; i < count; i++) {
		argv[i] = copy;
		copy += strlen(copy) + 1;
	}
	return argv;
}

int replay_feed(struct replay *replay, int (*take)(void *data, const struct event_head *record), void *data,
		struct error *err)
{
	const struct engine_ops *ops = replay->engine->ops;
	const struct event_head *record;
	const char *damage;
	int r;

	while ((r = ops->next(replay->engine, &record, err)) > 0) {
		if (replay_is_log(replay) && record->type == EVENT_EXEC && !replay->argv)
			replay->argv = copy_argv(record);
		r = take(data, record);
		if (r != 0)
			break;
	}
	if (r < 0)
		return r;
	if (replay_is_log(replay)) {
		fill_log_facts(replay);
		damage = replay->log_unparsed[0] ? replay->log_unparsed : replay->facts.abort_reason;
		if (damage)
			log_line("%s: %s; the rest was read", replay->name, damage);
		return 0;
	}
	damage = trace_engine_damage(replay->engine);
	if (damage)
		log_line("%s: %s; the rest was read", replay->name, damage);
	fill_facts(replay);
	return 0;
}

static int analyse(void *data, const struct event_head *record)
{
	int r = analysis_feed(data, record);

	/* What does not fit is known in part and counted. */
	return r == -ENOMEM ? 0 : r;
}

int replay_analyse(struct replay *replay, struct analysis *analysis, struct error *err)
{
	return replay_feed(replay, analyse, analysis, err);
}

struct stack_options replay_stack_options(const struct replay *replay)
{
	struct stack_options options = { 0 };
	struct analysis_host here = host_of_this();
	const struct trace_start *begin;
	struct stat st;

	if (replay_is_log(replay) || replay->copied)
		return options;
	begin = trace_engine_start(replay->engine);
	if (!begin->kernel || !same(begin->kernel, here.kernel) || !same(begin->arch, here.arch) ||
	    begin->cpus != here.cpus)
		return options;
	if ((replay->fd >= 0 ? fstat(replay->fd, &st) : stat(replay->name, &st)) != 0 || !S_ISREG(st.st_mode))
		return options;
	options.here = true;
	options.unchanged_since_ns = (uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec;
	return options;
}

const char *replay_command(const struct replay *replay)
{
	char *const *argv = replay_is_log(replay) ? replay->argv : trace_engine_start(replay->engine)->argv;

	return argv ? argv[0] : NULL;
}

/* How long "log" of "log.123" is; 0: it has no number. */
static size_t stem(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] >= '1' && dot[1] <= '9' && dot[1 + strspn(dot + 1, "0123456789")] == '\0'
		       ? (size_t)(dot - name)
		       : 0;
}

void replay_complain(const char *what, int count, char *const *names)
{
	struct buf shown = BUF_INIT;
	size_t bytes = count > 1 ? stem(names[0]) : 0;
	bool set = bytes > 0;

	for (int i = 1; i < count && set; i++)
		set = stem(names[i]) > 0;
	if (set && text_escape(&shown, names[0], bytes, '\0', true) >= 0)
		log_line("%s; there are %d: of the files of strace -ff give what they begin with, %s", what, count,
			 buf_text(&shown));
	else
		log_line("%s; there %s %d", what, count == 1 ? "is" : "are", count);
	buf_done(&shown);
}

void replay_close(struct replay *replay)
{
	if (replay->engine)
		replay->engine->ops->stop(replay->engine);
	if (replay->fd >= 0)
		(void)close(replay->fd);
	free(replay->name);
	free(replay->argv);
	*replay = REPLAY_INIT;
}
