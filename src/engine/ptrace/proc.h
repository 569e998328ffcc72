/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading /proc of a stopped task, for state.c and exec.c. */
#ifndef SYSCULL_ENGINE_PTRACE_PROC_H
#define SYSCULL_ENGINE_PTRACE_PROC_H

#include "engine/ptrace/ptrace.h"
#include "engine/tell.h"

/* The text of a file in e->files, NUL-terminated, cut at `most` or a little
 * above; NULL when it cannot be read. */
const char *proc_text(struct engine_pt *e, pid_t tid, const char *name, size_t most);

/* Begins a record of the task; NULL (counted) without memory. */
void *state_begin(struct engine_pt *e, enum event_type type, const struct task *task, uint64_t time_ns);
/* Adds the ENV item: those of the NUL-separated variables that were asked for. */
void state_add_env(struct engine_pt *e, const char *env, size_t bytes);
pid_t state_tgid(struct engine_pt *e, pid_t tid);

#endif
