/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the ptrace engine share.  The engine is one thread and
 * one loop: a stop of a task comes in, becomes records in `out`, and the
 * task is released.  Each file has one concern: launch.c begins, stops.c
 * tells stops apart, calls.c turns enter and exit into a record, capture.c
 * copies evidence, state.c reads /proc, pin.c keeps the tree on one CPU,
 * memory.c reads a tracee, scope.h is for watching some calls alone, probe.c
 * and refusal.c say what works here and why not, arch-*.c know registers.
 */
#ifndef SYSCULL_ENGINE_PTRACE_PTRACE_H
#define SYSCULL_ENGINE_PTRACE_PTRACE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/map.h"
#include "engine/engine.h"

/* What every task is traced with; a launched command also with EXITKILL. */
#define TRACE_OPTIONS \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | \
	 PTRACE_O_TRACEEXIT)

/* A CPU mask for machines with up to 8,192 CPUs. */
#define PIN_MASK_BYTES 1024

#define CLOCK_CALLS 512

struct __ptrace_syscall_info;
struct code;

struct task {
	pid_t tid, pid;
	/* The call it is in. */
	bool in_call;
	bool followed_call; /* … in one that is outside the scope */
	bool own_filter; /* has a seccomp filter of its own */
	bool wants_tracer; /* asked its parent for one, and was refused */
	bool untraced_child; /* the clone it is in was to make one */
	bool entered_before; /* attached while inside a call: its exit has no enter */
	bool born; /* its first stop is still to come */
	bool held; /* its first stop came before its parent's fork event */
	bool announced; /* its fork event came */
	bool adopted; /* taken in without one: it may still come, late */
	bool refused; /* over the task limit: let go at its first stop */
	bool starting; /* launched, not yet at its execve */
	bool exec_event; /* the execve it is in has succeeded */
	bool fork_event; /* the clone it is in made a child that we follow */
	bool exiting; /* its exit event came */
	bool root; /* the launched command's first task */
	bool own_mounts; /* born in a mount namespace of its own */
	bool foreign_ns; /* its children may live in another pid namespace */
	bool pinned; /* its mask is ours, not its own */
	bool fork_pinned; /* … was when the call began that it is in */
	uint16_t arch;
	int32_t nr;
	enum sys_call_id id;
	uint64_t args[6];
	uint64_t ip;
	uint64_t clone_flags;
	uint64_t enter_ns; /* the enter stop was seen */
	uint64_t released_ns; /* last time it was let run; 0 while it is stopped on purpose */
	uint64_t call_ns; /* time in the present call, stops of ours left out */
	uint64_t user_ns, user_gaps;
	uint64_t run_ns;
	/* Its clock; see clock.c. */
	uint64_t stops, wall_ns;
	uint64_t gap_ns; /* the last stretch between calls */
	int clock_fd; /* its schedstat; -1 not opened, -2 cannot be */
	uint8_t clock_left; /* calls up to the next sample */
	uint8_t clock_turn;
	bool clock_sampling;
	bool made_child; /* its rusage is not its own alone */
	uint64_t pin_run_ns, pin_queue_ns, pin_ran_ns, pin_wait_ns; /* of pin_account */
	uint64_t slow_calls[CLOCK_CALLS / 64]; /* numbers that took long before */
	struct buf entered; /* items captured at enter */
	uint64_t image; /* a number of its own for every program that it runs */
	struct code *code; /* of its process; NULL not known */
	uint64_t stack_end; /* where its program's arguments and environment begin; 0 not known yet */
};

/* A stop that waitpid gave and that was not handled yet. */
struct stop {
	pid_t tid;
	int status;
	uint64_t seen_ns;
	uint64_t run_ns; /* of a process that has ended, children that it waited for included; 0 unknown */
};

#define STOP_QUEUE 64

#define GONE_MAX 64

struct pin {
	bool active;
	bool alone; /* only as long as there is one task */
	enum engine_pin when;
	int cpu;
	uint8_t original[PIN_MASK_BYTES]; /* of the command, before pinning */
	size_t original_bytes;
	/* What it is worth; see pin_account. */
	uint64_t since_ns, since_stops, lost_ns, ran_ns;
	unsigned bad;
};

struct stack_seen;

struct engine_pt {
	struct engine engine;
	struct engine_stats stats;
	struct engine_exit exit;
	uint64_t items; /* what to capture */
	const char *const *env_names;
	uint32_t task_limit;
	struct map tasks; /* tid → struct task * */
	pid_t root; /* 0 when attached */
	bool root_ended;
	bool letting_go;
	uint64_t letting_go_since;
	bool orphan_wait; /* gave up tracing; only the command's end is awaited */
	bool no_readv;
	bool no_filter; /* with a scope: ours could not be installed */
	int no_filter_code; /* why */
	bool no_new_privs; /* ours needed it */
	bool pidns_seen; /* a call that makes or enters pid namespaces was seen */
	bool started; /* the first execve has succeeded */
	uint64_t begin_ns, end_ns;
	struct pin pin;
	struct stop queue[STOP_QUEUE];
	unsigned queue_first, queue_used;
	pid_t gone[GONE_MAX]; /* the last adopted ones that went before their fork event came */
	unsigned gone_next;
	struct buf out; /* records ready to be taken */
	size_t out_taken;
	struct buf record; /* the one being built */
	struct buf scratch; /* raw memory of a tracee */
	struct buf files; /* contents of /proc files */
	unsigned clock_fds, clock_fds_max; /* kept open */
	int clock_own_fd; /* our own account, as a task's clock_fd */
	unsigned exiting; /* tasks whose exit event came and whose end did not */
	enum engine_stacks stacks;
	struct stack_seen *stacks_seen; /* NULL: none are taken */
	uint64_t stack_bytes; /* copied so far */
	uint64_t images; /* the last number that was given */
	struct task *maps_of; /* whose mappings are being told; NULL nobody's */
};

/* tasks.c */
struct task *task_find(struct engine_pt *e, pid_t tid);
struct task *task_add(struct engine_pt *e, pid_t tid);
void task_remove(struct engine_pt *e, struct task *task);
/* The task takes another's place in the table (execve by a thread). */
void task_rename(struct engine_pt *e, struct task *task, pid_t tid);
void task_free_all(struct engine_pt *e);
size_t task_count(const struct engine_pt *e);

/* ptrace.c */
/* The engine in this process, also with a scope. */
int engine_begin(const struct engine_spec *spec, struct engine **ret_engine, struct error *err);
/* Closes the record being built and queues it.  The queued record, valid
 * until the next one, or NULL: a failure is counted. */
struct event_head *engine_emit(struct engine_pt *e);
/* Fills the head of the record being built. */
void engine_head(struct engine_pt *e, struct event_head *head, const struct task *task, uint64_t time_ns);
/* Lets a stopped task run on with a signal (0 none), or lets go of it when
 * we are letting go. */
void engine_release(struct engine_pt *e, struct task *task, int signal);
void engine_let_go_all(struct engine_pt *e);
/* A stopped task that is not in the table runs on without us. */
void engine_disown(struct engine_pt *e, pid_t tid, int status);
void engine_abort(struct engine_pt *e, const char *why);
/* A task is gone for us: closes its call and its account, and forgets it. */
void engine_task_end(struct engine_pt *e, struct task *task, uint32_t how, uint32_t status);

/* ptrace.c: waitpid that also notes when, and what a process had used. */
pid_t engine_wait(struct engine_pt *e, pid_t pid, int options, struct stop *ret);

/* stops.c */
void stop_handle(struct engine_pt *e, const struct stop *stop);
/* Children whose parent's fork event never came are taken in after a while. */
void stop_adopt_held(struct engine_pt *e);

/* calls.c */
void call_stop(struct engine_pt *e, struct task *task, uint64_t seen_ns);
/* Enter and exit of a call.  Not counted: only followed, for what it does to
 * tasks and filters. */
void call_enter(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns,
		bool counted);
void call_leave(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info, uint64_t seen_ns);
/* Which call it is, and the flags of a child to come. */
void call_note_clone(struct engine_pt *e, struct task *task, const struct __ptrace_syscall_info *info);
bool call_is_clone3(const struct task *task);
/* Emits the call that the task is in as never returned. */
void call_unfinished(struct engine_pt *e, struct task *task, bool killed);

/* clock.c: tells how much of a CPU the stopped task has had so far. */
void clock_tell(struct engine_pt *e, struct task *task, enum event_clock_at at, uint64_t seen_ns);
/* Nothing has stopped for a while: those that run account for it. */
void clock_tick(struct engine_pt *e);
/* The same where it is wanted: a sample now and then, and around what waits. */
void clock_enter(struct engine_pt *e, struct task *task, uint64_t seen_ns);
void clock_return(struct engine_pt *e, struct task *task, uint64_t seen_ns);
void clock_close(struct engine_pt *e, struct task *task);
void clock_close_own(struct engine_pt *e);

/* capture.c: appends what the table asks for at this time to buf. */
void capture_items(struct engine_pt *e, struct task *task, enum sys_when when, int64_t ret, struct buf *buf);

/* stack.c: who makes the call that begins, into task->entered. */
int stacks_begin(struct engine_pt *e, enum engine_stacks stacks);
void stacks_done(struct engine_pt *e);
void stack_take(struct engine_pt *e, struct task *task, uint64_t sp);

/* code.c: where a process has code; threads share it. */
void code_unref(struct code *code); /* takes NULL */
void code_exec(struct engine_pt *e, struct task *task);
void code_share(struct task *from, struct task *to);
void code_fork(struct task *parent, struct task *child);
void code_add(struct code *code, uint64_t start, uint64_t bytes);
/* What the call that has ended made executable. */
void code_call(const struct task *task, int64_t ret);
/* Which of the words are addresses of code, and which: 0 not known. */
uint64_t code_hash(const struct code *code, const uint64_t *words, size_t count);

/* memory.c: bytes read (fewer at an unmapped page), 0 when none could be. */
size_t memory_read(struct engine_pt *e, pid_t tid, uint64_t address, void *data, size_t bytes);
bool memory_write(struct engine_pt *e, pid_t tid, uint64_t address, const void *data, size_t bytes);
/* Reads a string of at most `most` bytes into `scratch` (cleared before).
 * Its length; *ret_cut when there was more, *ret_unread when none was readable. */
size_t memory_string(struct engine_pt *e, pid_t tid, uint64_t address, size_t most, bool *ret_cut, bool *ret_unread);

/* state.c: records of what a task has when we come or at exec. */
void state_task(struct engine_pt *e, struct task *task, bool attached);
void state_dirs(struct engine_pt *e, struct task *task);
void state_mounts(struct engine_pt *e, struct task *task);
void state_ids(struct engine_pt *e, struct task *task);
void state_limits(struct engine_pt *e, struct task *task);
void state_fds(struct engine_pt *e, struct task *task);
void state_maps(struct engine_pt *e, struct task *task);
void state_exec(struct engine_pt *e, struct task *task, pid_t former, uint64_t seen_ns);
uint64_t state_run_ns(pid_t tid);
/* The tid and pid as the task itself sees them. */
void state_ns_ids(struct engine_pt *e, pid_t tid, uint32_t *ret_tid, uint32_t *ret_pid);
bool state_pidns_differs(pid_t pid);

/* launch.c */
int launch_command(struct engine_pt *e, const struct engine_spec *spec, struct error *err);
/* attach.c */
int attach_pids(struct engine_pt *e, const struct engine_spec *spec, struct error *err);

/* probe.c: what works here, by trying. */
void probe_ptrace(struct engine_probe *ret);
/* Can a stopped tracee be asked what call it is in?  Linux 5.3. */
bool probe_call_info(pid_t tid);

/* refusal.c: why a request of ptrace(2) was refused, from what /proc tells. */
struct refusal {
	char why[160]; /* one line */
	char fix[640]; /* lines, "" when nothing helps */
	char brief[280]; /* the same within a line */
};
/* `pid` is what was to be attached to, 0: a child of ours. */
void refusal_find(struct refusal *ret, pid_t pid, int code);
/* The value of kernel.yama.ptrace_scope; -1 where there is no Yama. */
int refusal_yama_scope(void);

/* tracer.c: a task that asks to be traced by its parent (PTRACE_TRACEME). */
/* At the enter: true when it was let go; it is no longer in the table. */
bool tracer_hand_over(struct engine_pt *e, struct task *task);
/* At the exit: what the program is told. */
int64_t tracer_answer(struct engine_pt *e, struct task *task, int64_t ret);
/* Has it, refused as it was, stopped itself for a tracer that will not come? */
bool tracer_is_awaited(const struct task *task, int signal);

/* pin.c */
void pin_start(struct engine_pt *e, struct task *task);
/* Undoes the pinning of all tasks and of ourselves, for good. */
void pin_undo(struct engine_pt *e);
/* The same for a task that is not in the table. */
void pin_free(struct engine_pt *e, pid_t tid);
void pin_enter(struct engine_pt *e, struct task *task);
void pin_exit(struct engine_pt *e, struct task *task, const struct event_head *call, int64_t ret);
void pin_fork(struct engine_pt *e, struct task *parent, struct task *child);
/* Before a new task is let run. */
void pin_child(struct engine_pt *e, struct task *child);
/* What a task has had of a CPU so far: is pinning still worth it? */
void pin_account(struct engine_pt *e, struct task *task, uint64_t run_ns, uint64_t queue_ns);

/* arch-*.c: the table that a call number belongs to, by AUDIT_ARCH_…. */
enum sys_arch arch_of(uint32_t audit_arch, uint64_t nr);
/* AUDIT_ARCH_… of the native table. */
uint32_t arch_audit(void);
/* Registers of a stopped task: the first argument, the result; a call that is
 * not to be made, and what it returns instead. */
bool arch_set_first(pid_t tid, enum sys_arch arch, uint64_t value);
bool arch_set_result(pid_t tid, enum sys_arch arch, int64_t ret);
bool arch_skip(pid_t tid, enum sys_arch arch, int64_t ret);
/* The registers of a stopped task by their numbers in DWARF, the program counter
 * last; how many, 0 when they cannot be had.  It is in a call of the native table. */
unsigned arch_registers(pid_t tid, uint64_t ret[static ITEM_STACK_REGISTERS_MAX]);
/* Where the caller of a function is told that has not touched the stack: false
 * when it is in a register, which is then here. */
bool arch_caller_on_stack(pid_t tid, uint64_t *ret_link);
/* Is the first argument still in its register after a call? */
bool arch_keeps_first(void);

#endif
