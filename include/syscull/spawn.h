/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/spawn.h - start a program with the descriptors it is to have.
 *
 * The child shares the caller's memory until the exec, so that nothing of a
 * large parent is copied, and gets a table with no more of the parent's
 * descriptors than are wanted; how many there are and could be costs nothing.
 * A failed exec is an error of the call, with the errno it had.
 *
 * ABI: the struct begins with its size, which the caller sets; fields are only
 * ever added at the end, where 0 means the behaviour of before.  As two files
 * to take into a program this part needs those of fds as well.
 */
#ifndef SYSCULL_SPAWN_H
#define SYSCULL_SPAWN_H

#include "syscull/fds.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of struct syscull_spawn_options. */
#define SYSCULL_SPAWN_PIDFD 0x1U /* a pidfd as well: see pidfd */
#define SYSCULL_SPAWN_SETSID 0x2U /* the child begins a session of its own */
#define SYSCULL_SPAWN_KEEP_MASK 0x4U /* the child's signal mask is the caller's */
#define SYSCULL_SPAWN_RESET_IGNORED 0x8U /* also signals that the caller ignores are at their default */

/* What failed: step of struct syscull_spawn_options. */
#define SYSCULL_SPAWN_STEP_ARGUMENTS 1U /* nothing was tried */
#define SYSCULL_SPAWN_STEP_CLONE 2U
#define SYSCULL_SPAWN_STEP_SETSID 3U
#define SYSCULL_SPAWN_STEP_CWD 4U
#define SYSCULL_SPAWN_STEP_MAP 5U
#define SYSCULL_SPAWN_STEP_CLOSE 6U
#define SYSCULL_SPAWN_STEP_EXEC 7U

/* Most entries of a map. */
#define SYSCULL_SPAWN_MAP_MAX 256

/* The child's descriptor `to` is what `from` is in the parent. */
struct syscull_spawn_map {
	int from;
	int to;
};

struct syscull_spawn_options {
	size_t size; /* sizeof(struct syscull_spawn_options) */
	uint32_t flags; /* SYSCULL_SPAWN_PIDFD, … */
	uint32_t step; /* out: SYSCULL_SPAWN_STEP_… after an error, else 0 */
	/*
	 * All at once: exchanges and rings come out right, one `from` may have
	 * several `to`, from == to is allowed and keeps the number.  The child's
	 * are inheritable, whatever the parent's are.
	 */
	const struct syscull_spawn_map *map;
	size_t map_count;
	/*
	 * Other numbers the child is to have as they are: one that is marked
	 * close-on-exec is not there (map it to itself instead).  In any order.
	 */
	const int *keep;
	size_t keep_count;
	const char *cwd; /* NULL: the caller's; a relative program is looked for from there */
	const char *search; /* folders, with ':' between them, where a program without '/' is looked for */
	const sigset_t *mask; /* the child's signal mask; NULL: empty */
	const sigset_t *reset; /* signals at their default though the caller ignores them; NULL: none */
	char *pid_text; /* the child writes its pid here before the exec: 12 bytes, see below */
	int pidfd; /* out, with SYSCULL_SPAWN_PIDFD: the caller's to close, close-on-exec; else -1 */
	uint32_t hints; /* in and out, 0 at first: what was refused before */
	uint64_t calls; /* out: system calls of the parent, and of the child up to the exec */
};

#define SYSCULL_SPAWN_OPTIONS_INIT \
	{ \
		sizeof(struct syscull_spawn_options), 0, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, -1, 0, 0 \
	}

/*
 * syscull_spawn - start a program.
 *
 * path: the program, or its name with options->search.  argv, envp: as for
 * execve(2); a NULL envp is an empty environment.  options: NULL for a child
 * with descriptors 0, 1 and 2 and nothing else, an empty signal mask and no
 * handlers.  Descriptors 0, 1 and 2 are always passed on as they are unless the
 * map says otherwise; where one is closed in the parent, so it is in the child.
 *
 * pid_text: where the environment or the arguments are to hold the child's
 * pid, as LISTEN_PID does: digits and a NUL are written there, in the memory
 * of the caller.  See syscull_spawn(3) for passing sockets with LISTEN_FDS.
 *
 * Returns the child's pid; the caller waits for it.  Otherwise there is no
 * child, and nothing to wait for:
 *   -EINVAL	      the struct; no path or argv; negative numbers in the map,
 *		      or two entries with one `to`
 *   -E2BIG	      the struct, or more than SYSCULL_SPAWN_MAP_MAX entries, or
 *		      execve(2): the step tells
 *   -EAGAIN, -ENOMEM clone(2)
 *   -EBADF	      a `from` is not open, or a `to` is beyond RLIMIT_NOFILE
 *   -EMFILE	      a ring in the map and no number free
 *   -ENOENT, -EACCES, … of execve(2) or chdir(2)
 *   -EOPNOTSUPP, …   as syscull_fds_cloexec(): the descriptors that the child is
 *		      not to have could not be kept from it
 * Under emulators that make a fork(2) of a vfork(2) (valgrind, qemu in user
 * mode) what failed in the child is seen only as its exit status, 127.
 *
 * Signals are blocked meanwhile; none is handled in the child.  errno is left
 * as it was.  Uses about 32 KiB of the caller's stack, where the child runs.
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: rt_sigprocmask(2) twice and clone3(2) in the parent; close_range(2),
 * rt_sigprocmask(2) and execve(2) in the child.  More only for what is asked:
 * one call for each entry of the map, one more for a ring; one close_range(2)
 * more for each gap above descriptor 2 in the kept numbers; one for each of
 * cwd, SETSID, pid_text and signal to reset (62 with RESET_IGNORED).  Where
 * calls are refused: see syscull_spawn(3).
 */
pid_t syscull_spawn(const char *path, char *const argv[], char *const envp[], struct syscull_spawn_options *options);

#ifdef __cplusplus
}
#endif

#endif
