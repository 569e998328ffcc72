/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules of reading and writing share: what is behind a descriptor,
 * and whether somebody asked for a program without buffers.
 */
#ifndef SYSCULL_RULES_STREAM_H
#define SYSCULL_RULES_STREAM_H

#include "rules/keyed.h"

enum rule_behind {
	RULE_BEHIND_OTHER, /* devices, terminals, counters, the kernel's files, or unknown */
	RULE_BEHIND_FILE,
	RULE_BEHIND_PIPE,
	RULE_BEHIND_SOCKET,
	RULE_BEHIND_NULL, /* /dev/null */
};

/* By its mode where one was told, else by how and where it was opened. */
enum rule_behind rule_behind(struct model *model, const struct model_view *view);
/* "proc" and other file systems whose files the kernel makes up; NULL for others. */
const char *rule_pseudo_type(const struct model_mount *mount);

/*
 * Pipes that carry tokens between the threads of a process, or to itself.  A
 * rule that follows them feeds these calls to rule_pipes_follow; what it forgets
 * makes a pipe like any other.
 */
#define RULE_PIPES_CALLS CALL_pipe, CALL_pipe2, CALL_mknod, CALL_mknodat, CALL_close, CALL_write
int rule_pipes_init(struct rule_recent *pipes);
void rule_pipes_follow(struct rule_recent *pipes, const struct model_view *view);
/* Is what the call read or wrote a token? */
bool rule_pipes_token(const struct rule_recent *pipes, const struct model_view *view);
/* Was it made in the tree as a pipe with a name?  Such a descriptor has no mode. */
bool rule_pipes_named(const struct rule_recent *pipes, const struct model_file *file);

/* Asking what is ready, and waiting for it. */
#define RULE_POLLS_CALLS \
	CALL_poll, CALL_ppoll, CALL_select, CALL_pselect6, CALL_epoll_wait, CALL_epoll_pwait, CALL_epoll_pwait2

/* Sockets that are streams: their pieces can be joined, those of others are messages. */
#define RULE_STREAMS_CALLS CALL_socket, CALL_socketpair
int rule_streams_init(struct rule_recent *streams);
void rule_streams_follow(struct rule_recent *streams, const struct model_view *view);
bool rule_streams_is(const struct rule_recent *streams, const struct model_file *file);

/* Why a program reads or writes in small pieces. */
struct rule_unbuffered {
	enum {
		UNBUFFERED_NOT, /* nobody asked for it */
		UNBUFFERED_OPTION, /* word: "--line-buffered" */
		UNBUFFERED_PYTHON, /* the variable PYTHONUNBUFFERED */
		UNBUFFERED_STDBUF, /* word: "stdbuf -o0" */
		UNBUFFERED_BLOCKS, /* word: "bs=1", of dd */
	} by;
	const char *word; /* as long as the model */
};

/* The variables that are looked at, for struct rule.env. */
#define RULE_UNBUFFERED_ENV "PYTHONUNBUFFERED", "_STDBUF_I", "_STDBUF_O"

/* Of its standard output, or of its input. */
struct rule_unbuffered rule_unbuffered_of(const struct model_process *process, bool output);
/* The remedy, which the caller lets save something and says what it changes; NULL: there is none. */
struct finding_remedy *rule_unbuffered_remedy(struct rule_run *run, const struct rule_unbuffered *why,
					      uint64_t process_id, struct finding *finding);

#define RULE_BLOCK 4096
/* All calls go, and so many come back as `bytes` take in blocks. */
void rule_saves_but_blocks(struct finding_remedy *remedy, const struct finding *finding, uint64_t bytes);

#endif
