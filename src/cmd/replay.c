/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/host.h"
#include "cmd/keep.h"
#include "engine/trace/trace.h"

static int start(struct replay *replay, struct error *err)
{
	struct engine_spec spec = { .file = replay->name, .file_fd = replay->fd >= 0 ? &replay->fd : NULL };

	return engine_trace.start(&spec, &replay->engine, err);
}

int replay_open(struct replay *replay, const char *path, struct error *err)
{
	int r;

	*replay = REPLAY_INIT;
	if (!path) {
		replay->fd = keep_last(err);
		if (replay->fd < 0)
			return replay->fd;
	}
	replay->name = strdup(path ? path : "the kept run");
	r = replay->name ? start(replay, err) : error_errno(err, ENOMEM, "%s", path ? path : "the kept run");
	if (r < 0)
		replay_close(replay);
	return r;
}

int replay_again(struct replay *replay, struct error *err)
{
	engine_trace.stop(replay->engine);
	replay->engine = NULL;
	if (replay->fd >= 0 && lseek(replay->fd, 0, SEEK_SET) < 0)
		return error_errno(err, errno, "%s", replay->name);
	return start(replay, err);
}

static void add_warning(struct analysis_facts *facts, const char *text)
{
	size_t used = 0;

	while (facts->warnings[used])
		used++;
	if (used + 1 < sizeof facts->warnings / sizeof facts->warnings[0])
		facts->warnings[used] = text;
}

static bool same(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
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
	watch_books(&stats, &replay->end, replay->abort_reason, &replay->facts);
	if (!same(begin->kernel, here.kernel) || !same(begin->arch, here.arch) || begin->cpus != here.cpus) {
		(void)snprintf(replay->host_note, sizeof replay->host_note,
			       "recorded elsewhere (%s, %s, %u CPUs): the prices are those of this machine",
			       begin->kernel ? begin->kernel : "?", begin->arch ? begin->arch : "?",
			       replay->facts.host.cpus);
		add_warning(&replay->facts, replay->host_note);
	}
}

int replay_feed(struct replay *replay, int (*take)(void *data, const struct event_head *record), void *data,
		struct error *err)
{
	const struct engine_ops *ops = replay->engine->ops;
	const struct event_head *record;
	const char *damage;
	int r;

	while ((r = ops->next(replay->engine, &record, err)) > 0) {
		r = take(data, record);
		if (r != 0)
			break;
	}
	if (r < 0)
		return r;
	damage = trace_engine_damage(replay->engine);
	if (damage)
		log_line("%s: %s; the rest was read", replay->name, damage);
	fill_facts(replay);
	return 0;
}

const char *replay_command(const struct replay *replay)
{
	char *const *argv = trace_engine_start(replay->engine)->argv;

	return argv ? argv[0] : NULL;
}

void replay_close(struct replay *replay)
{
	if (replay->engine)
		replay->engine->ops->stop(replay->engine);
	if (replay->fd >= 0)
		(void)close(replay->fd);
	free(replay->name);
	*replay = REPLAY_INIT;
}
