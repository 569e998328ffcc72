/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watching some calls alone.  filter.c makes the seccomp filter that stops at
 * them, scope.c does what its stops want, keeper.c is the process that does
 * the tracing and stays as long as anything has the filter: with the filter
 * and without a tracer a program's calls would fail (ENOSYS), so that nothing
 * is ever let go of, only no longer counted.
 */
#ifndef SYSCULL_ENGINE_PTRACE_SCOPE_H
#define SYSCULL_ENGINE_PTRACE_SCOPE_H

#include <linux/filter.h>

#include "engine/ptrace/ptrace.h"

/* With a scope our death must be everybody's. */
#define SCOPE_OPTIONS (TRACE_OPTIONS | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL)

/* What our filter says at a stop; a program's own says something else. */
#define SCOPE_WATCH 0x5c41 /* a call of the scope */
#define SCOPE_FOLLOW 0x5c42 /* not of the scope: following needs to know of it */

/* filter.c */
/* -ENOMEM, -E2BIG. */
int scope_filter_make(const struct engine_scope *scope, struct sock_fprog *ret);
void scope_filter_done(struct sock_fprog *filter);
/* In the child before exec, so async-signal-safe.  0 or negative errno; without
 * privileges it needs no_new_privs, and says that it took it. */
int scope_filter_install(const struct sock_fprog *filter, bool *ret_no_new_privs);

/* scope.c */
/* Does following need the call?  prctl only with some arguments. */
bool scope_follows(enum sys_arch arch, int32_t nr);
/* How a stopped task runs on: PTRACE_CONT where the filter stops it again. */
int scope_request(const struct engine_pt *e, const struct task *task);
/* A stop at enter or exit. */
void scope_call_stop(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info,
		     uint64_t seen_ns);
/* PTRACE_EVENT_SECCOMP. */
void scope_seccomp_stop(struct engine_pt *e, struct task *task, uint64_t seen_ns);
/* After a call that was watched or followed. */
void scope_return(struct engine_pt *e, struct task *task, int64_t ret);
/* A child that is not traced would lose its calls: CLONE_UNTRACED goes. */
void scope_keep_child(struct engine_pt *e, struct task *task);
/* Any stop of a task that is no longer counted, without memory of it. */
void scope_carry_on(pid_t tid, int status);
/* Carries on with all that is left, until it has ended. */
void scope_carry_on_all(void);

/* keeper.c */
int keeper_start(const struct engine_spec *spec, struct engine **ret_engine, struct error *err);

#endif
