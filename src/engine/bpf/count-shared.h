/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both sides of counting in the kernel agree on, beside the rows of
 * event/count.h.  Fixed sizes, no pointers.
 */
#ifndef SYSCULL_ENGINE_BPF_COUNT_SHARED_H
#define SYSCULL_ENGINE_BPF_COUNT_SHARED_H

#include "engine/bpf/shared.h"
#include "event/count.h"

/* Set before the programs are loaded; they are then constants to them. */
struct count_settings {
	uint32_t wide; /* tasks that are not known are begun with; else only those of the tree are */
	uint32_t cgroup; /* … when they are in that of the map */
	uint32_t by_cgroup; /* groups are split by it */
	uint32_t others; /* calls of tasks that are not counted are */
	uint32_t task_limit; /* 0 none */
	uint32_t rows, groups, exes; /* room */
	uint32_t first_level; /* we are in the first pid namespace */
	uint32_t fail_storage; /* tests: every so many storages cannot be had; 0 none */
	uint32_t direct; /* the kernel hands out an ending task's registers: since 5.15 */
};

#define COUNT_PROBES 96

/* Changed while it runs, by both sides. */
struct count_live {
	uint32_t closing; /* 1: nothing is counted any more */
	uint32_t epoch; /* the low bit says which max_ns is written */
	uint32_t pid_level; /* of our pid namespace; 0 the first one */
	uint32_t own; /* our process, as the kernel numbers it */
	int64_t awaited; /* tasks entered in `awaited` that have not shown themselves yet */
	int64_t tasks; /* followed now */
	uint64_t storages; /* made so far */
	uint64_t floor_ns; /* our own part of a call's time */
	uint32_t rows_used, groups_used, exes_used; /* given out; may be more than there are */
	uint32_t probe_count;
	uint64_t probes[COUNT_PROBES]; /* times of the calls of the calibration */
	uint32_t pids[KERN_PID_BITS / 32]; /* of a tree: see KERN_PID_BITS */
};

/* One CPU's books: what has no row, and what is no call. */
struct count_books {
	uint64_t plain[KERN_PLACES][KERN_OUTCOMES]; /* calls for which there was no row */
	uint64_t plain_calls;
	uint64_t errors_lost; /* failures with an errno for which there was no room */
	uint64_t others; /* calls of tasks that are not counted */
	uint64_t made, processes; /* tasks that were born, and those of them that are no threads */
	uint64_t not_followed; /* beyond the limit */
	uint64_t storage_failed, awaited_failed; /* for want of memory */
};

/* A program and a cgroup.  The first one is of those that found no place. */
struct count_group {
	uint64_t cgroup; /* its id; 0 none */
	uint32_t exe;
	uint32_t used;
};

/* A program's file.  The first one is of those that are not known. */
#define COUNT_NAMES_BYTES 1024
#define COUNT_NAME_BYTES 256 /* of one component at most */
struct count_exe {
	uint64_t dev, ino; /* as the kernel has them */
	uint32_t used;
	uint32_t deleted;
	uint32_t names_cut; /* there were more */
	uint32_t names_bytes;
	char names[COUNT_NAMES_BYTES]; /* components of its path from the last to the first, each with its NUL */
};

struct count_row_key {
	int32_t nr;
	uint16_t arch, cpu;
	uint32_t group;
};
struct count_group_key {
	uint64_t cgroup;
	uint64_t exe;
};
struct count_exe_key {
	uint64_t dev, ino;
};
struct count_error_key {
	uint32_t row, err;
};
#define COUNT_MORE_ERRORS 4096

/* What is special about a call. */
#define COUNT_KIND_CHILD 0x01 /* makes one, which returns from it too */
#define COUNT_KIND_EXECS 0x02
#define COUNT_KIND_ENDS 0x04 /* never returns */
#define COUNT_KIND_REGISTER 0x08 /* its result is no errno */
#define COUNT_KIND_PROBED 0x10 /* the call of the calibration loop */

/* Flags of a task. */
#define COUNT_TASK_STARTING 0x01 /* launched, not yet at its execve */
#define COUNT_TASK_GROUPED 0x02 /* `group` holds */

/* Rows that a task used last. */
#define COUNT_SLOTS 8 /* a power of two */
struct count_slot {
	uint64_t key; /* 0 none */
	uint64_t row;
};

/* A task's storage. */
struct count_task {
	uint64_t enter_ns; /* of the call that it is in; 0: not known */
	int32_t nr; /* of that */
	uint32_t flags;
	uint64_t cgroup;
	uint64_t regs; /* where its registers are, when the kernel does not hand them out */
	uint32_t group;
	uint32_t pad;
	struct count_slot slots[COUNT_SLOTS];
};

#endif
