/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading /proc of a task, for state.c and exec.c. */
#ifndef SYSCULL_ENGINE_PTRACE_PROC_H
#define SYSCULL_ENGINE_PTRACE_PROC_H

#include "engine/ptrace/ptrace.h"

#define EXEC_ARGV_MAX 4096
#define EXEC_ENV_MAX (1u << 20)

#define PROC_PATH_MAX 80

/* Is it mounted, and that of our pid namespace?  In another one's the numbers
 * that we know are those of other processes. */
bool proc_usable(void);
/* "/proc/TID/NAME"; a path that leads nowhere when /proc is not usable. */
void proc_path(char ret_path[static PROC_PATH_MAX], pid_t tid, const char *name);
int proc_open(pid_t tid, const char *name, int flags);
/* The text of a file in e->files, NUL-terminated, cut at `most` or a little
 * above; NULL when it cannot be read. */
const char *proc_text(struct engine_pt *e, pid_t tid, const char *name, size_t most);
/* Length of a link's text, or negative errno. */
ssize_t proc_link(pid_t tid, const char *name, char *ret_text, size_t room);

/* Begins a record of the task; NULL (counted) without memory. */
void *state_begin(struct engine_pt *e, enum event_type type, const struct task *task, uint64_t time_ns);
void state_add_link(struct engine_pt *e, pid_t tid, const char *name, enum sys_item item);
/* Adds the ENV item: those of the NUL-separated variables that were asked for. */
void state_add_env(struct engine_pt *e, const char *env, size_t bytes);
pid_t state_tgid(struct engine_pt *e, pid_t tid);

#endif
