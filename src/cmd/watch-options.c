/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/watch-options.h"

#include <errno.h>
#include <limits.h>

#include "cmd/call-sites.h"
#include "cmd/cmd.h"

int watch_option(struct watch_options *options, int letter, const char *value, struct error *err)
{
	long number = 0;
	int when = 0, r;

	switch (letter) {
	case 'p':
		if (options->pid_count == WATCH_PIDS_MAX)
			return error_set(err, E2BIG, "-p: at most %d processes", WATCH_PIDS_MAX);
		r = command_number("-p", value, 1, INT_MAX, &number, err);
		for (size_t i = 0; r == 0 && i < options->pid_count; i++)
			if (options->pids[i] == (pid_t)number)
				return 0;
		if (r == 0)
			options->pids[options->pid_count++] = (pid_t)number;
		return r;
	case WATCH_ENGINE:
		options->engine = value;
		return 0;
	case WATCH_PIN:
		r = command_when("--pin", value, &when, err);
		options->pin = (enum engine_pin)when;
		return r;
	case WATCH_RING:
		return command_ring(value, &options->ring_bytes, err);
	case WATCH_STACKS:
		return call_sites_option(value, &options->stacks, err);
	case WATCH_TASK_LIMIT:
		r = command_number("--task-limit", value, 1, 1000000, &number, err);
		options->task_limit = (uint32_t)number;
		return r;
	case WATCH_USER:
		options->user = value;
		return 0;
	case WATCH_DURATION:
		return command_seconds("--duration", value, &options->duration_ns, err);
	default:
		return 1;
	}
}

struct watch watch_as_said(const struct watch_options *options, char *const *argv)
{
	return (struct watch){
		.argv = options->pid_count == 0 && argv && *argv ? argv : NULL,
		.pids = options->pids,
		.pid_count = options->pid_count,
		.engine = options->engine,
		.pin = options->pin,
		.stacks = options->stacks,
		.task_limit = options->task_limit,
		.ring_bytes = options->ring_bytes,
		.user = options->user,
		.duration_ns = options->duration_ns,
	};
}
