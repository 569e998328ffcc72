/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that was recorded before: an engine that reads its file, and all that
 * is known of it, for the subcommands that work offline.
 */
#ifndef SYSCULL_CMD_REPLAY_H
#define SYSCULL_CMD_REPLAY_H

#include "cmd/input.h"
#include "cmd/watch.h"
#include "stack/stack.h"

struct replay {
	struct engine *engine;
	char *name; /* of the file, for messages */
	int fd; /* of the kept run, of stdin, of a copy of a pipe; -1 */
	bool copied; /* its times are those of the copy */
	struct analysis_facts facts; /* filled by replay_feed */
	struct engine_exit end;
	char abort_reason[WATCH_REASON_BYTES];
	char engine_why[160];
	char host_note[200]; /* it was recorded elsewhere */
	/* Of a log of strace's: */
	const char *cwd; /* where relative names begin; NULL not known */
	char **argv; /* of the first program; NULL not seen */
	char log_unparsed[240], log_note[1024];
};

#define REPLAY_INIT ((struct replay){ .fd = -1 })

/* A trace, or a log of strace's (`cwd`: where its relative names begin, NULL
 * not known).  path "-": stdin; NULL: the last run that was kept.  Negative errno with err. */
int replay_open(struct replay *replay, const char *path, const char *cwd, struct error *err);
/* The same of what is open already; takes over its descriptor. */
int replay_open_input(struct replay *replay, struct input *input, const char *cwd, struct error *err);
bool replay_is_log(const struct replay *replay);
/* The same once more from the beginning. */
int replay_again(struct replay *replay, struct error *err);
/* All records to the function, until it returns something else than 0; then the facts.
 * What is not whole of the file is told in one line. */
int replay_feed(struct replay *replay, int (*take)(void *data, const struct event_head *record), void *data,
		struct error *err);
/* The same into an analysis. */
int replay_analyse(struct replay *replay, struct analysis *analysis, struct error *err);
/* Where frames of its stacks may be looked up: in files of this machine that are older than the trace. */
struct stack_options replay_stack_options(const struct replay *replay);
/* What -v tells of the first word of the command, for %n; NULL attached. */
const char *replay_command(const struct replay *replay);
/* Of too many or too few files: one line, with what to give for a set of strace -ff. */
void replay_complain(const char *what, int count, char *const *names);
void replay_close(struct replay *replay);

#endif
