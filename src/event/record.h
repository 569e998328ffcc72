/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of the stream: what happened, as every engine tells it and as
 * everyone downstream sees it.  Shared with the BPF side and written into
 * trace files: fixed-size integers, no pointers, 8-byte aligned, sizes are
 * multiples of 8.  Times are CLOCK_MONOTONIC in nanoseconds; pids and tids
 * are those of the observer's pid namespace unless a name says "ns".
 */
#ifndef SYSCULL_EVENT_RECORD_H
#define SYSCULL_EVENT_RECORD_H

#include <stdint.h>

#include "sys/item.h"

/* Append only: numbers are written into trace files. */
enum event_type {
	EVENT_CALL = 1, /* a system call, finished or not */
	EVENT_TASK, /* a task that was there when we came */
	EVENT_FD, /* a descriptor that was open when we came or at exec */
	EVENT_MAP, /* a mapping that was there when we came or at exec */
	EVENT_DIRS, /* working directory and root when we came or at start */
	EVENT_MOUNTS, /* mountinfo of a task's mount namespace */
	EVENT_IDS, /* user and group ids */
	EVENT_LIMITS, /* signal mask and resource limits */
	EVENT_FORK, /* a new task; the only source of parenthood */
	EVENT_EXEC, /* a task runs another program */
	EVENT_EXIT, /* a task ended, or we let go of it */
	EVENT_LOST, /* records were lost here */
	EVENT_CLOCK, /* how much of a CPU a task has had so far */
	EVENT_FLOOR, /* times are taken in the kernel: what of them is the engine's own */
	EVENT_QUEUED, /* a task was ready to run, but others ran */
};

/* Every record starts with this. */
struct event_head {
	uint32_t bytes; /* of the whole record, tail included */
	uint16_t type; /* enum event_type */
	uint16_t flags; /* EVENT_F_… */
	uint32_t pid, tid;
	uint64_t time_ns; /* a call's is the time when it was entered */
};

/* Flags of a call. */
#define EVENT_F_COMPAT 0x0001 /* not the native table: arch says which */
#define EVENT_F_UNFINISHED 0x0002 /* never seen to return: ret is 0 and means nothing */
#define EVENT_F_KILLED 0x0004 /* the task died inside the call */
#define EVENT_F_NO_ENTER 0x0008 /* an exit without an enter: args may be stale */
#define EVENT_F_BEFORE_ATTACH 0x0010 /* entered before we came */
#define EVENT_F_RESTARTED 0x0020 /* a restart of an interrupted call */
#define EVENT_F_MARK 0x0040 /* a look-up that names a region */
#define EVENT_F_SLEPT 0x0080 /* it slept in the call; only engines that say EVENT_FLOOR know */

struct event_call {
	struct event_head head;
	uint64_t duration_ns; /* from enter to exit, stops of ours included */
	uint64_t args[6];
	int64_t ret; /* negative errno on failure */
	uint64_t ip; /* user instruction pointer at the call; 0 unknown */
	int32_t nr;
	uint16_t arch; /* enum sys_arch */
	uint16_t items; /* number of items in the tail */
};

/* The tail of any record: items back to back, each padded to 8 bytes. */
struct event_item {
	uint16_t type; /* enum sys_item */
	uint8_t arg; /* index of the argument it belongs to */
	uint8_t flags; /* EVENT_ITEM_… */
	uint32_t bytes; /* of data that follow, without padding */
};

#define EVENT_ITEM_TRUNCATED 0x01 /* there was more */
#define EVENT_ITEM_UNREAD 0x02 /* the memory could not be read: no data */

/* EVENT_TASK: items COMM, EXE, ARGV, ENV where they could be read. */
struct event_task {
	struct event_head head;
	uint32_t ppid; /* the real parent; 0 when outside our view */
	uint32_t ns_tid; /* the tid as the task itself sees it, 0 unknown */
	uint32_t ns_pid;
	uint16_t items;
	uint16_t attached; /* 1: was running before we came */
};

/* EVENT_FD: item PATH as /proc/PID/fd/N shows it. */
struct event_fd {
	struct event_head head;
	int32_t fd;
	uint32_t flags; /* O_… as in fdinfo; O_CLOEXEC included */
	uint64_t dev, ino;
	int64_t offset; /* -1 unknown */
	uint32_t mode; /* st_mode */
	uint16_t items;
	uint16_t pad;
};

/* EVENT_MAP: item PATH. */
struct event_map {
	struct event_head head;
	uint64_t start, end, file_offset;
	uint64_t dev, ino;
	uint32_t prot; /* PROT_… */
	uint16_t items;
	uint16_t pad;
};

/* EVENT_DIRS: item CWD is the working directory, item PATH the root. */
struct event_dirs {
	struct event_head head;
	uint32_t umask; /* UINT32_MAX unknown */
	uint16_t items;
	uint16_t pad;
};

/* EVENT_MOUNTS: item MOUNTINFO. */
struct event_mounts {
	struct event_head head;
	uint64_t ns_ino; /* inode of the mount namespace, 0 unknown */
	uint32_t pad;
	uint16_t items;
	uint16_t pad2;
};

struct event_ids {
	struct event_head head;
	uint32_t ruid, euid, suid, fsuid;
	uint32_t rgid, egid, sgid, fsgid;
};

struct event_limits {
	struct event_head head;
	uint64_t sigmask; /* blocked signals, bit N-1 is signal N */
	uint64_t nofile_soft, nofile_hard; /* UINT64_MAX is no limit */
	uint64_t stack_soft;
};

/* EVENT_FORK: head.tid and head.pid are the parent's. */
struct event_fork {
	struct event_head head;
	uint64_t clone_flags; /* CLONE_…; what fork and vfork imply is filled in */
	uint32_t child_tid, child_pid; /* equal unless a thread was made */
	uint32_t child_ns_tid, child_ns_pid; /* 0 when the same */
	uint32_t followed; /* 0: counted as not followed, see event_head.flags */
	uint32_t pad;
};

/* EVENT_EXEC: items EXE, ARGV (at most 4 KiB), ENV. */
struct event_exec {
	struct event_head head; /* the tid is the leader's from now on */
	uint32_t former_tid; /* the thread that called execve */
	uint32_t secure; /* AT_SECURE */
	uint64_t base, phdr, entry; /* AT_BASE, AT_PHDR, AT_ENTRY */
	uint64_t dev, ino; /* of the executable; 0 unknown */
	uint32_t env_count; /* number of variables in all */
	uint16_t items;
	uint16_t compat; /* 1: not the native architecture */
};

enum event_exit_how {
	EVENT_EXIT_STATUS, /* status is the exit code */
	EVENT_EXIT_SIGNAL, /* status is the signal */
	EVENT_EXIT_LET_GO, /* we stopped following it; it runs on */
	EVENT_EXIT_LOST, /* it vanished: its end was not seen */
	EVENT_EXIT_REPLACED, /* another thread of the process called execve */
};

/* EVENT_EXIT: the end of one task.  Times are the engine's own account. */
struct event_exit {
	struct event_head head;
	uint32_t how; /* enum event_exit_how */
	uint32_t status;
	uint64_t run_ns; /* time on a CPU, stops of ours included; 0 unknown */
	uint64_t user_ns; /* between calls, from release to next stop */
	uint64_t user_gaps; /* number of such stretches in user_ns */
};

enum event_clock_at {
	EVENT_CLOCK_ENTER, /* a call begins; its record is still to come */
	EVENT_CLOCK_RETURN, /* a call has ended; its record comes next */
	EVENT_CLOCK_OTHER, /* in between: a fork, a new image, the end */
};

/*
 * EVENT_CLOCK: a task's account at a moment when it did not run.  All numbers
 * are of its whole life.  Comes now and then, and where a task begins or ends
 * to depend on another; an engine that has no such account makes none.
 */
struct event_clock {
	struct event_head head;
	uint64_t run_ns; /* on a CPU, its side of our stops included */
	uint64_t queue_ns; /* ready to run, but others ran */
	uint64_t turns; /* times that it was given a CPU */
	uint64_t wall_ns; /* from each release to the next stop */
	uint64_t stops; /* of ours, this one included */
	uint32_t at; /* enum event_clock_at */
	uint32_t pad;
	uint64_t late_ns; /* the observer was ready to go on, but others ran; of its whole life */
};

struct event_lost {
	struct event_head head;
	uint64_t count;
};

/*
 * EVENT_FLOOR: comes before the first call of an engine that does not stop
 * tasks.  A duration is the time in the kernel beyond that of a call that does
 * nothing (0 for that): what entering and leaving cost comes on top.  No stop
 * is in it, and none in event_exit.user_ns.  A stretch from the end of one
 * call to the enter of the next has gap_ns that are the engine's.
 */
struct event_floor {
	struct event_head head;
	uint64_t call_ns; /* was taken out of each duration */
	uint64_t gap_ns;
};

/* EVENT_QUEUED: of the time from the end of the task's last call to the enter
 * of the next one that is told, so much was neither its nor waited for. */
struct event_queued {
	struct event_head head;
	uint64_t ns;
};

/* Layouts of items, the same on every architecture. */

struct item_time {
	int64_t sec;
	int64_t nsec; /* utimensat's UTIME_NOW and UTIME_OMIT stay as they are */
};

struct item_stat {
	uint64_t dev, ino; /* dev as makedev(3) has it */
	uint64_t size;
	int64_t mtime_ns, ctime_ns; /* since the epoch */
	uint64_t mnt_id; /* statx only, else 0 */
	uint32_t mode, nlink, uid, gid;
	uint32_t rdev_major, rdev_minor;
	uint32_t mask; /* STATX_…; a plain stat has STATX_BASIC_STATS */
	uint32_t pad;
};

struct item_sigaction {
	uint64_t handler, flags, restorer, mask;
};

struct item_pollfd {
	int32_t fd;
	int16_t events, revents;
};

struct item_epoll_event {
	uint32_t events, pad;
	uint64_t data;
};

struct item_flock {
	int64_t start, len;
	int32_t pid;
	int16_t type, whence;
};

struct item_rlimit {
	uint64_t soft, hard;
};

struct item_iovec {
	uint64_t count; /* number of elements */
	uint64_t total; /* sum of their lengths, bytes */
};

struct item_msg {
	uint64_t count, total; /* of its iovec */
	uint64_t control; /* bytes of control data */
	uint32_t flags; /* msg_flags at exit */
	uint32_t messages; /* recvmmsg, sendmmsg: how many; else 1 */
};

struct item_clone {
	uint64_t flags;
	uint64_t exit_signal;
};

struct item_open_how {
	uint64_t flags, mode, resolve;
};

struct item_xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

/*
 * Calls of one program at one place with the same `code` have the same addresses
 * of code at the same places of the lowest ITEM_CALLER_WORDS words of the stack.
 */
struct item_caller {
	uint64_t word; /* at the stack pointer, or the link register; 0 unknown */
	uint64_t code; /* a hash; 0: not known */
};
#define ITEM_CALLER_WORDS 64

/* So many registers follow, 8 bytes each, numbered as DWARF does for the
 * call's architecture, the program counter last; then the stack's bytes. */
struct item_stack {
	uint64_t sp;
	uint32_t registers;
	uint32_t pad;
};
#define ITEM_STACK_BYTES_MAX 16384 /* of the stack */
#define ITEM_STACK_REGISTERS_MAX 40

#endif
