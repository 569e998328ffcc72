/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What engines read of /proc, and the state records that they make of it.
 * The engine lends its buffers, and takes each record when it is built.
 */
#ifndef SYSCULL_ENGINE_TELL_H
#define SYSCULL_ENGINE_TELL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "event/event.h"

#define EXEC_ARGV_MAX 4096
#define EXEC_ENV_MAX (1u << 20)

#define PROC_PATH_MAX 80

struct teller {
	struct buf *record; /* the one being built */
	struct buf *files; /* contents of files */
	const char *const *env_names; /* variables to tell of, NULL-ended, may be NULL */
	uint64_t *errors; /* counts what could not be read or stored */
	void (*emit)(void *data); /* the record is complete but for event_end */
	void *data;
};

/* Is it mounted, and that of our pid namespace?  In another one's the numbers
 * that we know are those of other processes. */
bool proc_usable(void);
/* "/proc/TID/NAME"; a path that leads nowhere when /proc is not usable. */
void proc_path(char ret_path[static PROC_PATH_MAX], pid_t tid, const char *name);
int proc_open(pid_t tid, const char *name, int flags);
/* Length of a link's text, or negative errno. */
ssize_t proc_link(pid_t tid, const char *name, char *ret_text, size_t room);
bool proc_pidns_differs(pid_t pid);
uint64_t proc_run_ns(pid_t tid);

/* The text of a file in t->files, NUL-terminated, cut at `most` or a little
 * above; NULL when it cannot be read. */
const char *tell_text(struct teller *t, pid_t tid, const char *name, size_t most);
/* The tid and pid as the task itself sees them. */
void tell_ns_ids(struct teller *t, pid_t tid, uint32_t *ret_tid, uint32_t *ret_pid);
pid_t tell_tgid(struct teller *t, pid_t tid);
/* Adds the ENV item: those of the NUL-separated variables that were asked for. */
void tell_env(struct teller *t, const char *env, size_t bytes);

void tell_task(struct teller *t, pid_t tid, pid_t pid, bool starting, bool attached);
void tell_dirs(struct teller *t, pid_t tid, pid_t pid);
void tell_mounts(struct teller *t, pid_t tid, pid_t pid);
void tell_ids(struct teller *t, pid_t tid, pid_t pid);
void tell_limits(struct teller *t, pid_t tid, pid_t pid);
void tell_fds(struct teller *t, pid_t tid, pid_t pid);
/* Executable mappings alone. */
void tell_maps(struct teller *t, pid_t tid, pid_t pid);

#endif
