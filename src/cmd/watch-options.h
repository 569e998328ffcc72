/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that say what is watched and how: those of run and record, and in part of check. */
#ifndef SYSCULL_CMD_WATCH_OPTIONS_H
#define SYSCULL_CMD_WATCH_OPTIONS_H

#include "cmd/watch.h"

#define WATCH_PIDS_MAX 64

enum { WATCH_ENGINE = 1280, WATCH_PIN, WATCH_RING, WATCH_STACKS, WATCH_TASK_LIMIT, WATCH_USER, WATCH_DURATION };

/* Rows for tables of options. */
#define WATCH_OPT_ATTACH \
	{ \
		'p', "attach", "PID", "watch a running process until INT (repeatable)" \
	}
#define WATCH_OPT_DURATION \
	{ \
		WATCH_DURATION, "duration", "SECONDS", "-p: end after so long" \
	}
#define WATCH_OPT_ENGINE \
	{ \
		WATCH_ENGINE, "engine", "NAME", "auto, bpf or ptrace" \
	}
#define WATCH_OPT_PIN \
	{ \
		WATCH_PIN, "pin", "WHEN", "share a CPU with the command: auto, always, never" \
	}
#define WATCH_OPT_RING \
	{ \
		WATCH_RING, "ring", "SIZE", "bpf engine: room for records that wait (32M)" \
	}
#define WATCH_OPT_STACKS \
	{ \
		WATCH_STACKS, "stacks", "HOW", "who made the calls: off, sites or deep" \
	}
#define WATCH_OPT_TASK_LIMIT \
	{ \
		WATCH_TASK_LIMIT, "task-limit", "N", "follow at most N tasks at a time (4096)" \
	}
#define WATCH_OPT_USER \
	{ \
		WATCH_USER, "user", "USER", "as root: run the command as this user" \
	}

struct watch_options {
	const char *engine, *user;
	enum engine_pin pin;
	enum engine_stacks stacks;
	uint32_t task_limit;
	uint64_t ring_bytes, duration_ns;
	pid_t pids[WATCH_PIDS_MAX];
	size_t pid_count;
};

#define WATCH_OPTIONS_INIT \
	{ \
		.task_limit = 4096, .stacks = ENGINE_STACKS_SITES \
	}

/* 0, negative with err, or 1 when it is none of these. */
int watch_option(struct watch_options *options, int letter, const char *value, struct error *err);
/* What to watch as they say: argv, or where processes were named those.  Options outlive it. */
struct watch watch_as_said(const struct watch_options *options, char *const *argv);

#endif
