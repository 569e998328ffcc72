/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One struct of functions per engine: who saw the calls.  An engine knows
 * how to see, never what is waste: it yields records (event/record.h) and
 * keeps the books of what it saw.  engine_list names the engines in order of
 * preference for `--engine auto`.
 */
#ifndef SYSCULL_ENGINE_ENGINE_H
#define SYSCULL_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "event/event.h"

enum engine_pin { ENGINE_PIN_AUTO, ENGINE_PIN_ALWAYS, ENGINE_PIN_NEVER };

/*
 * What is copied to tell who made a call, beside its instruction pointer: with
 * SITES the word at the stack pointer of every call, and now and then the
 * registers and the top of the stack; DEEP takes more of it.  Stacks are
 * copied at the 1st, 2nd, 4th, 8th, ... call of the same task at the same place.
 */
enum engine_stacks { ENGINE_STACKS_OFF, ENGINE_STACKS_SITES, ENGINE_STACKS_DEEP };
#define ENGINE_SITES_BYTES 4096 /* of one stack; DEEP: ITEM_STACK_BYTES_MAX */
/* Of all stacks together: they go into memory or a file. */
#define ENGINE_SITES_BYTES_MAX (UINT64_C(64) << 20)
#define ENGINE_DEEP_BYTES_MAX (UINT64_C(256) << 20)

/*
 * The calls to watch when not all are; everything else then runs at full
 * speed and is not counted: not watched is not 0.  The bit of CALL_unknown
 * stands for all numbers without a name; calls of foreign architectures are
 * always watched.  For launched commands alone, with an engine whose ops say
 * `scopes`; no rule can be judged by such a run, no time estimated.
 */
struct engine_scope {
	uint64_t calls[(CALL_COUNT + 63) / 64]; /* by enum sys_call_id */
	bool regions; /* the look-ups that can be marks too */
};

static inline bool engine_scope_has(const struct engine_scope *scope, enum sys_call_id id)
{
	return scope->calls[id >> 6] >> (id & 63) & 1;
}

static inline void engine_scope_add(struct engine_scope *scope, enum sys_call_id id)
{
	scope->calls[id >> 6] |= UINT64_C(1) << (id & 63);
}

/* Adds calls without a name, and with `regions` the look-ups: what is
 * watched then, and what the books hold.  (What following needs stops too, but
 * is not counted.) */
void engine_scope_complete(struct engine_scope *scope);
/* Can it be the look-up by which a program names a region? */
bool engine_can_mark(enum sys_call_id id);
/* The names in it, by enum sys_call_id, NULL-ended; how many.  CALL_unknown
 * has none. */
size_t engine_scope_names(const struct engine_scope *scope, const char *ret_names[static CALL_COUNT + 1]);

/* What to watch, and what must be known about it. */
struct engine_spec {
	char *const *argv; /* NULL: attach to pids */
	const char *program; /* argv[0] as found (engine_find_program) */
	const pid_t *pids; /* to attach to */
	size_t pid_count;
	uint64_t items; /* SYS_ITEM_BIT(…) to capture; state records always come */
	const struct engine_scope *scope; /* NULL: all calls; else copied and completed */
	const char *const *env_names; /* variables to tell of, NULL-ended */
	enum engine_stacks stacks; /* with a scope none are taken */
	enum engine_pin pin;
	uint32_t task_limit; /* tasks followed at a time; more run untraced and are counted; 0 is no limit */
	/* Called in the forked child right before exec, to restore signals; async-signal-safe; may be NULL. */
	void (*prepare_child)(void *data);
	void *prepare_data;
	const char *script; /* script engine: the file */
	uint64_t ring_bytes; /* bpf engine: of its buffer, a power of two and whole pages; 0 the default */
	bool drops_rights; /* the caller gives them up when it has started: all that needs them is had by then */
	const char *file; /* engines that read one: its name */
	const char *cwd; /* strace-log engine: where relative names begin; NULL not known */
	const int *file_fd; /* … it is open already; NULL: opened by its name */
};

/* The books: everything here is counted apart from delivery. */
struct engine_stats {
	uint64_t seen; /* calls: bumped first thing */
	uint64_t delivered; /* call records that `next` returned */
	uint64_t lost; /* call records dropped, for want of memory say */
	uint64_t lost_from_ns, lost_to_ns; /* since the begin: the first and the last of them */
	uint64_t lost_state; /* records of forks, execs and ends: who is who is then not known */
	uint64_t in_flight; /* calls seen and not delivered: those of tasks that we let go */
	uint64_t marks; /* look-ups of region marks: delivered, but not calls */
	uint64_t children; /* returned by fork, vfork, clone */
	uint64_t followed; /* of those */
	uint64_t not_followed; /* of those: limit, CLONE_UNTRACED, foreign tracer */
	uint64_t let_go; /* tasks still running when we stopped following */
	uint64_t stops; /* ptrace stops handled, of any kind */
	uint64_t state_errors; /* state that could not be read or stored */
	uint64_t unread_items; /* evidence whose memory could not be read */
	uint64_t stacks; /* copied */
	uint64_t stacks_left_out; /* of those that were due: too much had been copied, or no room was left */
	uint64_t stacks_unread; /* of those that were due: the memory could not be read */
	uint64_t callers_unknown; /* programs whose code was not kept in mind, there were too many at a time: their
				     callers are told as sampled */
	bool scoped; /* only the calls in `scope`, as completed, were watched; the books are of these */
	struct engine_scope scope;
	uint64_t wall_ns; /* from release of the command (or attach) to its end */
	bool pinned; /* the tree ran pinned to one CPU all along */
	bool was_pinned; /* … at its start */
	bool aborted; /* we let go early: out of memory, internal error */
	bool file_cut; /* … but it is the file that is read that is not whole */
	char abort_reason[128];
	/* Things met on the way that the user must know of, one bit each. */
	uint32_t met; /* ENGINE_MET_… */
};

#define ENGINE_MET_SETUID 0x01 /* a setuid program ran without its privileges */
#define ENGINE_MET_IO_URING 0x02
#define ENGINE_MET_UNTRACED 0x04 /* CLONE_UNTRACED */
#define ENGINE_MET_TRACER 0x08 /* a program in the tree is a tracer itself */
#define ENGINE_MET_COMPAT 0x10 /* 32-bit calls: counted by number only */
#define ENGINE_MET_NO_READV 0x20 /* process_vm_readv refused, PEEKDATA used */
#define ENGINE_MET_NO_PROC 0x40 /* /proc is not mounted */
#define ENGINE_MET_HANDED_OVER 0x800 /* a task was to be traced by its parent, and was let go for that */
/* With a scope: */
#define ENGINE_MET_NO_NEW_PRIVS 0x80 /* the filter needed no_new_privs, and a setuid program was met */
#define ENGINE_MET_FILTER 0x100 /* a filter of the program's own, for all threads: calls may be refused unseen */
#define ENGINE_MET_NO_FILTER 0x400 /* no filter could be installed: every call was stopped, slowly */
#define ENGINE_MET_STRICT 0x200 /* a program wanted seccomp's strict mode, which cannot stand beside our filter */

/* How the watched thing ended. */
struct engine_exit {
	bool known; /* false: attached, or it never ended while we watched */
	int status; /* exit code, when signal is 0 */
	int signal;
	bool core;
};

/* One thing beside the engine's main means: what is less without it. */
struct engine_part {
	const char *name; /* "attach"; at most 9 characters */
	bool ok;
	char text[480]; /* one line: how it is, and exactly what to change */
};
#define ENGINE_PARTS_MAX 6

struct engine_probe {
	bool usable;
	char why[160]; /* one line: why it can be used or not */
	char fix[640]; /* exactly what to change, a line for each way, "" when usable */
	struct engine_part parts[ENGINE_PARTS_MAX];
	unsigned part_count;
};

/* Calls that were lost: which they were, as far as that is known. */
struct engine_loss {
	int32_t nr;
	uint16_t arch; /* enum sys_arch */
	uint16_t failed; /* 1: they failed */
	int err; /* 0 when they did not, or with what is not known */
	uint64_t count;
	uint64_t ns; /* that they took; 0 not known */
};
#define ENGINE_LOSSES_MAX 4096

struct engine;

#define ENGINE_RECORD 1
#define ENGINE_END 0
/* `next` returns -EAGAIN when nothing came for about 100 ms, so that the
 * caller can draw progress or look at its flags. */

struct engine_ops {
	const char *name;
	const char *title; /* for doctor and the manual */
	bool live;
	bool scopes; /* can watch a scope at full speed for the rest */
	/* Usable here?  Finds out by trying, never by uid. */
	void (*probe)(struct engine_probe *ret);
	/* Does not return before the command is ready to run; *ret_engine
	 * belongs to the caller until stop.  A failed exec is -ENOENT, -EACCES,
	 * … with err filled. */
	int (*start)(const struct engine_spec *spec, struct engine **ret_engine, struct error *err);
	/* 1 and a record that is valid until the next call; 0 at the end;
	 * -EAGAIN; other negative errno with err filled. */
	int (*next)(struct engine *engine, const struct event_head **ret_record, struct error *err);
	/* Begin to let go of all that still runs; `next` then soon says end. */
	void (*let_go)(struct engine *engine);
	/* Hand a signal on to the command. */
	void (*forward)(struct engine *engine, int signal);
	void (*stats)(const struct engine *engine, struct engine_stats *ret);
	void (*exit_of)(const struct engine *engine, struct engine_exit *ret);
	/* Which calls stats.lost are: how many rows, at most so many; NULL: no
	 * engine loses any, or knows. */
	size_t (*losses)(const struct engine *engine, struct engine_loss *ret, size_t most);
	/* Detaches whatever is left, frees.  Takes NULL. */
	void (*stop)(struct engine *engine);
};

/* What every engine's own struct starts with. */
struct engine {
	const struct engine_ops *ops;
};

extern const struct engine_ops engine_bpf, engine_ptrace, engine_script, engine_strace_log, engine_trace;

/* NULL-ended, best first. */
extern const struct engine_ops *const engine_list[];

const struct engine_ops *engine_by_name(const char *name);

/* execvp's search.  0 and a malloc'ed path; -ENOENT or -EACCES with err. */
int engine_find_program(const char *name, char **ret_path, struct error *err);
/* "sh PROGRAM ARGUMENTS…" for engine_become(), malloc'ed; its words are the caller's. */
char **engine_shell_words(const char *program, char *const *argv);
/* Becomes the program; one without a format of its own is a script for sh.
 * Returns only when it fails, a negative errno.  Async-signal-safe. */
int engine_become(const char *program, char *const *argv, char *const *shell_words);
/* Says why execve refused a program that was found: an interpreter or loader may be missing.  Returns -code. */
int engine_exec_error(struct error *err, int code, const char *program);

#endif
