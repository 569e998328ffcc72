/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/proc.h - typed reading of /proc, relative to a process that is held.
 *
 * A process is held by an O_PATH descriptor of its directory: after the process
 * is gone, opening below it answers ESRCH, whoever has its number by then.  Any
 * directory with such files will do, a task's or a copy, so everything here can
 * be tried on frozen files.
 *
 * All functions take a reader of lines.h, own its buffer while they run, and
 * point into it: texts are valid until the reader is used again, and end with a
 * NUL behind their length.  Foreign bytes come as the kernel gave them.
 *
 * Results: 1 or 0 as told below, or a negative errno (syscull_lines_trouble()):
 * -ESRCH and -ENOENT gone, -EACCES and -EPERM denied, SYSCULL_OVER_LIMIT,
 * SYSCULL_TORN (no record as the kernel writes it), -ERANGE (a number that does
 * not fit), -ENOMEM, and what openat(2) and read(2) say.  errno is left as it was.
 *
 * Safety, of all functions but those of the tree: any thread with a reader of
 * its own; async-signal-safe and fit for a vfork child when the reader has the
 * caller's buffer.
 *
 * ABI: structs keep their size for ever; new fields take the place of spare
 * ones, new numbers the next place in an array.
 */
#ifndef SYSCULL_PROC_H
#define SYSCULL_PROC_H

#include "syscull/lines.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Instead of a descriptor of /proc: the path "/proc". */
#define SYSCULL_PROC_DEFAULT (-1)

/*
 * syscull_proc_hold - hold a process.
 *
 * procfd: a descriptor of a mounted procfs, or SYSCULL_PROC_DEFAULT.
 * pid: in the pid namespace of that procfs; 0 is the caller ("self": whoever
 * held it before a fork holds the parent).
 * Returns a descriptor, which the caller closes; -ENOENT: no such process;
 * -EMFILE, -ENFILE, ...
 * Cost: exactly one openat(2).
 */
int syscull_proc_hold(int procfd, pid_t pid);

/*
 * syscull_proc_hold_task - hold one thread of a process.
 *
 * process: of syscull_proc_hold().  The descriptor takes the place of a
 * process in all functions here; the caller closes it.
 * Returns as syscull_proc_hold(); -ESRCH: the process is gone.
 * Cost: exactly one openat(2).
 */
int syscull_proc_hold_task(int process, pid_t tid);

/*
 * syscull_proc_begin - open a file of a process and begin to read it by lines.
 *
 * name: relative to the process: "maps", "task/12/children".
 * Returns 0; then syscull_lines_next() or one of the _next() below until 0, and
 * syscull_lines_end(), which closes the file.
 * Cost: exactly one openat(2).
 */
int syscull_proc_begin(struct syscull_reader *reader, int process, const char *name, char delimiter);

/* ---- status: a snapshot ---- */

/* Places in numbers[].  Sizes are in bytes, masks and capabilities are the bits themselves. */
enum syscull_status_number {
	SYSCULL_STATUS_UMASK,
	SYSCULL_STATUS_STATE, /* the letter */
	SYSCULL_STATUS_TGID,
	SYSCULL_STATUS_NGID,
	SYSCULL_STATUS_PID,
	SYSCULL_STATUS_PPID,
	SYSCULL_STATUS_TRACER,
	SYSCULL_STATUS_UID, /* real, effective, saved, file system */
	SYSCULL_STATUS_EUID,
	SYSCULL_STATUS_SUID,
	SYSCULL_STATUS_FSUID,
	SYSCULL_STATUS_GID,
	SYSCULL_STATUS_EGID,
	SYSCULL_STATUS_SGID,
	SYSCULL_STATUS_FSGID,
	SYSCULL_STATUS_FDSIZE,
	SYSCULL_STATUS_KTHREAD,
	SYSCULL_STATUS_VM_PEAK,
	SYSCULL_STATUS_VM_SIZE,
	SYSCULL_STATUS_VM_LOCKED,
	SYSCULL_STATUS_VM_PINNED,
	SYSCULL_STATUS_VM_HWM,
	SYSCULL_STATUS_VM_RSS,
	SYSCULL_STATUS_RSS_ANON,
	SYSCULL_STATUS_RSS_FILE,
	SYSCULL_STATUS_RSS_SHMEM,
	SYSCULL_STATUS_VM_DATA,
	SYSCULL_STATUS_VM_STACK,
	SYSCULL_STATUS_VM_EXE,
	SYSCULL_STATUS_VM_LIB,
	SYSCULL_STATUS_VM_PTE,
	SYSCULL_STATUS_VM_SWAP,
	SYSCULL_STATUS_HUGETLB,
	SYSCULL_STATUS_CORE_DUMPING,
	SYSCULL_STATUS_THREADS,
	SYSCULL_STATUS_SIG_PENDING,
	SYSCULL_STATUS_SHARED_PENDING,
	SYSCULL_STATUS_SIG_BLOCKED,
	SYSCULL_STATUS_SIG_IGNORED,
	SYSCULL_STATUS_SIG_CAUGHT,
	SYSCULL_STATUS_CAP_INHERITABLE,
	SYSCULL_STATUS_CAP_PERMITTED,
	SYSCULL_STATUS_CAP_EFFECTIVE,
	SYSCULL_STATUS_CAP_BOUNDING,
	SYSCULL_STATUS_CAP_AMBIENT,
	SYSCULL_STATUS_NO_NEW_PRIVS,
	SYSCULL_STATUS_SECCOMP,
	SYSCULL_STATUS_VOLUNTARY_SWITCHES,
	SYSCULL_STATUS_INVOLUNTARY_SWITCHES,
	SYSCULL_STATUS_NAME = 62, /* a text */
	SYSCULL_STATUS_GROUPS = 63 /* a text */
};

#define SYSCULL_STATUS_BIT(number) ((uint64_t)1 << (number))
#define SYSCULL_STATUS_ALL UINT64_MAX

struct syscull_status {
	uint64_t have; /* SYSCULL_STATUS_BIT() of what the file had */
	uint64_t numbers[62];
	struct syscull_text name; /* newline and backslash are \n and \\ there, by the kernel */
	struct syscull_text groups; /* numbers between spaces; may be 458,761 bytes */
	uint64_t spare[4];
};

/*
 * syscull_proc_status - /proc/PID/status.
 *
 * wanted: bits of what is wanted; parsing stops when it is all there.  What the
 * file does not have (kernel threads: all of Vm) is missing in have and no error.
 * Returns 1.  A buffer of the caller's that is too small for the file will do
 * when it holds what is wanted; otherwise SYSCULL_OVER_LIMIT.
 * Cost: openat(2), one read(2), close(2); one pread64(2) more for each time that
 * the buffer has to grow.
 */
int syscull_proc_status(struct syscull_reader *reader, int process, uint64_t wanted, struct syscull_status *ret_status);

/* ---- stat, statm: snapshots ---- */

/* Places in numbers[]: the numbers of fields in proc_pid_stat(5). */
enum syscull_stat_number {
	SYSCULL_STAT_PID = 1,
	SYSCULL_STAT_STATE = 3, /* the letter */
	SYSCULL_STAT_PPID = 4,
	SYSCULL_STAT_PGRP = 5,
	SYSCULL_STAT_SESSION = 6,
	SYSCULL_STAT_TTY = 7,
	SYSCULL_STAT_TPGID = 8,
	SYSCULL_STAT_FLAGS = 9,
	SYSCULL_STAT_MINFLT = 10,
	SYSCULL_STAT_CMINFLT = 11,
	SYSCULL_STAT_MAJFLT = 12,
	SYSCULL_STAT_CMAJFLT = 13,
	SYSCULL_STAT_UTIME = 14, /* clock ticks */
	SYSCULL_STAT_STIME = 15,
	SYSCULL_STAT_CUTIME = 16,
	SYSCULL_STAT_CSTIME = 17,
	SYSCULL_STAT_PRIORITY = 18,
	SYSCULL_STAT_NICE = 19,
	SYSCULL_STAT_THREADS = 20,
	SYSCULL_STAT_START = 22, /* clock ticks after boot */
	SYSCULL_STAT_VSIZE = 23, /* bytes */
	SYSCULL_STAT_RSS = 24, /* pages */
	SYSCULL_STAT_PROCESSOR = 39,
	SYSCULL_STAT_POLICY = 41,
	SYSCULL_STAT_EXIT_CODE = 52
};

/* comm is the file's, between its first '(' and its last ')'.  Negative numbers: cast to int64_t. */
struct syscull_stat {
	uint32_t count; /* the last field that the file had */
	uint32_t spare;
	uint64_t numbers[64];
	struct syscull_text comm;
};

/*
 * syscull_proc_stat - /proc/PID/stat.
 *
 * Returns 1.
 * Cost: exactly openat(2), read(2), close(2).
 */
int syscull_proc_stat(struct syscull_reader *reader, int process, struct syscull_stat *ret_stat);

/* Bytes, with the page size of run time. */
struct syscull_statm {
	uint64_t size;
	uint64_t resident;
	uint64_t shared;
	uint64_t text;
	uint64_t data;
};

/*
 * syscull_proc_statm - /proc/PID/statm.
 *
 * Returns 1; all is 0 for zombies and kernel threads.  A few pages per processor
 * off, by the kernel's counting; the rollup is exact.
 * Cost: exactly openat(2), read(2), close(2).
 */
int syscull_proc_statm(struct syscull_reader *reader, int process, struct syscull_statm *ret_statm);

/* ---- cmdline, environ ---- */

/*
 * syscull_proc_cmdline, syscull_proc_environ - what a program was started with.
 *
 * Returns 1 and all strings with their NULs, for syscull_text_next(…, '\0', …);
 * 0: a kernel thread, a zombie, or (environ, older kernels) one that has gone.
 * A process may rewrite both while they are read.
 * Cost: exactly openat(2), read(2), close(2) unless the buffer has to grow;
 * where environ answered ESRCH, the same of statm.
 */
int syscull_proc_cmdline(struct syscull_reader *reader, int process, struct syscull_text *ret_cmdline);
int syscull_proc_environ(struct syscull_reader *reader, int process, struct syscull_text *ret_environ);

/* ---- maps, smaps ---- */

#define SYSCULL_MAP_READ 0x1U
#define SYSCULL_MAP_WRITE 0x2U
#define SYSCULL_MAP_EXEC 0x4U
#define SYSCULL_MAP_SHARED 0x8U
#define SYSCULL_MAP_DELETED 0x10U /* the path ends in " (deleted)": removed, or a file of that name */

struct syscull_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t flags; /* SYSCULL_MAP_… */
	uint32_t source; /* SYSCULL_SOURCE_… */
	/* As in the file: a newline is \012 there, a backslash is itself.  With
	 * SYSCULL_SOURCE_IOCTL it is the name itself, newline and all. */
	struct syscull_text path;
	uint64_t spare[2];
};

/*
 * syscull_proc_map_next - the next mapping of a file begun as "maps".
 *
 * The kernel writes maps a page at a time and lets go of its lock between: a
 * mapping that is split or merged meanwhile may come twice.
 * Returns 1; 0 at the end.  reader->bytes is 0 then if there was nothing at all.
 * Cost: read(2) as in syscull_lines_next().
 */
int syscull_proc_map_next(struct syscull_reader *reader, struct syscull_map *ret_map);

enum syscull_smaps_number {
	SYSCULL_SMAPS_SIZE,
	SYSCULL_SMAPS_KERNEL_PAGE,
	SYSCULL_SMAPS_MMU_PAGE,
	SYSCULL_SMAPS_RSS,
	SYSCULL_SMAPS_PSS,
	SYSCULL_SMAPS_PSS_DIRTY,
	SYSCULL_SMAPS_PSS_ANON, /* these three in the rollup only */
	SYSCULL_SMAPS_PSS_FILE,
	SYSCULL_SMAPS_PSS_SHMEM,
	SYSCULL_SMAPS_SHARED_CLEAN,
	SYSCULL_SMAPS_SHARED_DIRTY,
	SYSCULL_SMAPS_PRIVATE_CLEAN,
	SYSCULL_SMAPS_PRIVATE_DIRTY,
	SYSCULL_SMAPS_REFERENCED,
	SYSCULL_SMAPS_ANONYMOUS,
	SYSCULL_SMAPS_KSM,
	SYSCULL_SMAPS_LAZY_FREE,
	SYSCULL_SMAPS_ANON_HUGE,
	SYSCULL_SMAPS_SHMEM_PMD,
	SYSCULL_SMAPS_FILE_PMD,
	SYSCULL_SMAPS_SHARED_HUGETLB,
	SYSCULL_SMAPS_PRIVATE_HUGETLB,
	SYSCULL_SMAPS_SWAP,
	SYSCULL_SMAPS_SWAP_PSS,
	SYSCULL_SMAPS_LOCKED,
	SYSCULL_SMAPS_THP_ELIGIBLE,
	SYSCULL_SMAPS_PROTECTION_KEY
};

#define SYSCULL_SMAPS_BIT(number) ((uint64_t)1 << (number))

/* Bytes, but the last two. */
struct syscull_smaps {
	struct syscull_map map;
	uint64_t have; /* SYSCULL_SMAPS_BIT() of what there was */
	uint64_t numbers[48];
	struct syscull_text vm_flags; /* two letters and a space each */
};

/*
 * syscull_proc_smaps_next - the next record of a file begun as "smaps".
 *
 * Returns 1; 0 at the end; SYSCULL_TORN; SYSCULL_OVER_LIMIT for a record that
 * does not fit the buffer's limit.  Both skip one record.
 * Cost: read(2) as in syscull_lines_next().  The kernel walks all page tables
 * of the process for it: for totals the rollup is 3.6 to 30 times cheaper.
 */
int syscull_proc_smaps_next(struct syscull_reader *reader, struct syscull_smaps *ret_smaps);

/*
 * syscull_proc_rollup - /proc/PID/smaps_rollup: the totals, made by the kernel.
 *
 * Returns 1; -ESRCH: the process is gone, or has no memory (a zombie, a kernel
 * thread); -ENOENT: the kernel is older than 4.14.
 * Cost: exactly openat(2), read(2), close(2).
 */
int syscull_proc_rollup(struct syscull_reader *reader, int process, struct syscull_smaps *ret_totals);

/* Where an answer came from: struct syscull_map.source, struct syscull_ids.source, ret_source. */
#define SYSCULL_SOURCE_TEXT 0U /* the file that has it all: smaps, maps, status, the directory's entries */
#define SYSCULL_SOURCE_ROLLUP 1U /* smaps_rollup */
#define SYSCULL_SOURCE_IOCTL 2U /* PROCMAP_QUERY, PIDFD_GET_INFO */
#define SYSCULL_SOURCE_SIZE 3U /* st_size of the fd directory */

/*
 * syscull_proc_memory - totals from the cheapest source that has them.
 *
 * The rollup; the sum over smaps where there is no rollup.
 * ret_source: SYSCULL_SOURCE_ROLLUP or SYSCULL_SOURCE_TEXT; may be NULL.
 * Returns 1; 0: a zombie or kernel thread, which has no memory; -ESRCH: gone.
 * Cost: openat(2), read(2), close(2); where that answered ESRCH the same of
 * statm, where ENOENT all of smaps.
 */
int syscull_proc_memory(struct syscull_reader *reader, int process, struct syscull_smaps *ret_totals,
			uint32_t *ret_source);

/*
 * syscull_proc_map_find - the mapping that an address is in.
 *
 * Returns 1; 0: none there.  Where the kernel has PROCMAP_QUERY (6.11) one
 * question does it, where not (and for the kernel's page at the top, which the
 * question does not know), maps is read as far as needed.  source tells.
 * Not for a walk: one question per mapping costs more than reading the text.
 * Cost: openat(2), ioctl(2), close(2); without PROCMAP_QUERY read(2)s more.
 */
int syscull_proc_map_find(struct syscull_reader *reader, int process, uint64_t address, struct syscull_map *ret_map);

/* ---- fdinfo, fd ---- */

struct syscull_fdinfo {
	uint64_t position;
	uint64_t inode; /* 0: the kernel is older than 5.14 */
	uint32_t flags; /* as open(2) has them, O_CLOEXEC included */
	uint32_t mount_id; /* as statx(2) has it */
	struct syscull_text rest; /* lines that depend on the kind of file */
	uint64_t spare[2];
};

/*
 * syscull_proc_fdinfo - /proc/PID/fdinfo/N.
 *
 * Returns 1; -ENOENT: that descriptor is closed (or the process a zombie).
 * Cost: exactly openat(2), read(2), close(2) unless the buffer has to grow.
 */
int syscull_proc_fdinfo(struct syscull_reader *reader, int process, int fd, struct syscull_fdinfo *ret_fdinfo);

/*
 * syscull_proc_fd_count - how many descriptors a process has open.
 *
 * ret_source: SYSCULL_SOURCE_SIZE, or SYSCULL_SOURCE_TEXT where the directory
 * had to be read; may be NULL.
 * Returns 1.  Of another user's process: works by size (Linux 6.2) and is
 * -EACCES without it.
 * Cost: exactly one newfstatat(2); where that says 0, which all kernels before
 * 6.2 do, also openat(2), getdents64(2) and close(2).
 */
int syscull_proc_fd_count(struct syscull_reader *reader, int process, uint64_t *ret_count, uint32_t *ret_source);

/* ---- mountinfo, cgroup ---- */

/* Octal escapes are decoded: texts are what mount(2) was given. */
struct syscull_mount {
	uint32_t id;
	uint32_t parent;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t shared; /* peer group, 0: none */
	uint32_t master;
	uint32_t propagate_from;
	uint32_t unbindable; /* 1 or 0 */
	struct syscull_text root;
	struct syscull_text point;
	struct syscull_text options;
	struct syscull_text type;
	struct syscull_text source; /* empty for an empty source */
	struct syscull_text super_options;
	uint64_t spare[2];
};

/*
 * syscull_proc_mount_next - the next mount of a file begun as "mountinfo".
 *
 * Returns 1; 0 at the end; SYSCULL_TORN for a line that is no mount, after
 * which the next call gives the next line.  Read a page at a time, as maps.
 * To begin answers -EINVAL for a zombie, which is in no mount namespace.
 * Cost: read(2) as in syscull_lines_next().
 */
int syscull_proc_mount_next(struct syscull_reader *reader, struct syscull_mount *ret_mount);

struct syscull_cgroup {
	uint32_t hierarchy; /* 0: version 2 */
	uint32_t spare;
	struct syscull_text controllers; /* between commas; "name=…" where it has a name */
	struct syscull_text path;
};

/*
 * syscull_proc_cgroup_next - the next line of a file begun as "cgroup".
 *
 * Returns 1; 0 at the end; SYSCULL_TORN as for mounts.
 * Cost: read(2) as in syscull_lines_next().
 */
int syscull_proc_cgroup_next(struct syscull_reader *reader, struct syscull_cgroup *ret_cgroup);

/* ---- lists, ids, the tree ---- */

/*
 * syscull_proc_list_begin - the numbers in a directory: "task", "fd", "fdinfo",
 * or "." with a descriptor of /proc for all processes.
 *
 * Returns 0; then syscull_proc_list_next() until 0, and syscull_lines_end().
 * Cost: exactly one openat(2).
 */
int syscull_proc_list_begin(struct syscull_reader *reader, int dirfd, const char *name);

/*
 * syscull_proc_list_next - the next number; other names are passed over.
 *
 * Returns 1; 0 at the end; SYSCULL_TORN: a record that cannot be.
 * Cost: getdents64(2) as often as the buffer needs; the last finds nothing.
 */
int syscull_proc_list_next(struct syscull_reader *reader, uint64_t *ret_number);

/*
 * syscull_proc_children_begin - the children that one thread made.
 *
 * All children of a process are those of all its tasks.  A list is exact only
 * while the children stand still: one that exits may hide another.
 * Returns 0; then syscull_proc_child_next() until 0, and syscull_lines_end().
 * -ENOENT: no such task, or a kernel without CONFIG_PROC_CHILDREN.
 * Cost: exactly one openat(2).
 */
int syscull_proc_children_begin(struct syscull_reader *reader, int process, pid_t tid);
int syscull_proc_child_next(struct syscull_reader *reader, pid_t *ret_pid);

struct syscull_ids {
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t uid[4]; /* real, effective, saved, file system */
	uint32_t gid[4];
	uint32_t source; /* SYSCULL_SOURCE_IOCTL or SYSCULL_SOURCE_TEXT */
	uint64_t cgroup_id; /* 0 from the text */
	uint64_t spare[2];
};

/*
 * syscull_proc_ids - who a process is.
 *
 * pidfd: of pidfd_open(2), or -1.  process: of syscull_proc_hold(), or -1; read
 * where the kernel has no PIDFD_GET_INFO (6.13) or there is no pidfd.
 * Returns 1; -EBADF: neither can be asked.
 * Cost: exactly one ioctl(2); without PIDFD_GET_INFO that of syscull_proc_status().
 */
int syscull_proc_ids(struct syscull_reader *reader, int pidfd, int process, struct syscull_ids *ret_ids);

#define SYSCULL_PROC_COMM 64

/* One process of a tree. */
struct syscull_proc_node {
	pid_t pid;
	pid_t ppid;
	uint64_t start; /* clock ticks after boot: with the pid, who it is */
	uint32_t parent; /* its place; its own for a top */
	uint32_t depth; /* 0 for a top */
	uint32_t below; /* how many descendants follow it */
	uint32_t order; /* when visit() saw it, from 0 */
	char state; /* as in stat */
	char comm[SYSCULL_PROC_COMM]; /* as in stat, cut, NUL behind it; foreign bytes */
	char spare[15];
};

struct syscull_proc_tree {
	uint32_t count;
	uint32_t gone; /* processes that ended while they were read */
	struct syscull_proc_node *nodes;
	uint64_t spare[4];
};

struct syscull_proc_tree_options {
	size_t size; /* sizeof(struct syscull_proc_tree_options) */
	pid_t root; /* this process and its descendants; 0: all */
	uint32_t most; /* processes, then SYSCULL_OVER_LIMIT; 0: 4194304 */
	/*
	 * Called for each process, in the directory's order, while it is held;
	 * may be NULL.  With a root also for those that are not below it.
	 * Negative: the tree ends with that, but -ESRCH drops just the process.
	 */
	int (*visit)(void *context, int process, const struct syscull_proc_node *node);
	void *context;
};

/*
 * syscull_proc_tree_read - all processes, or one and those below it.
 *
 * Nodes come parents first, each followed by all its descendants, brothers by
 * pid.  Who has no parent there, or one that is younger than itself (its number
 * was used again), is a top.  A sequence of snapshots, one per process.
 * options: NULL for all.
 * Returns 0 and the tree, which syscull_proc_tree_free() frees; -ESRCH: no
 * root; SYSCULL_OVER_LIMIT; -ENOMEM; what visit() said.
 * Safety: any thread.  Allocates.
 * Cost: openat(2), getdents64(2)s and close(2) for the list, and for each
 * process two openat(2), one read(2) and two close(2), and what visit() does.
 */
int syscull_proc_tree_read(struct syscull_reader *reader, int procfd, const struct syscull_proc_tree_options *options,
			   struct syscull_proc_tree *ret_tree);

/*
 * syscull_proc_tree_free - frees the nodes; a tree of zeros is fine.
 *
 * errno is left as it was.
 * Cost: no system calls but free's.
 */
void syscull_proc_tree_free(struct syscull_proc_tree *tree);

#ifdef __cplusplus
}
#endif

#endif
