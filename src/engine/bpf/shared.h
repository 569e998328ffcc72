/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both sides of the engine agree on: the settings that go in before the
 * programs are loaded, the books that come out, and the records of the ring.
 * Call and fork records are those of event/record.h; what has to be finished
 * outside the kernel has a type of its own here.  Fixed sizes, no pointers.
 */
#ifndef SYSCULL_ENGINE_BPF_SHARED_H
#define SYSCULL_ENGINE_BPF_SHARED_H

#include "event/record.h"

/* Numbers that have a place of their own in the books; all others share one
 * per table.  A place is a table times this, plus the number. */
#define KERN_NRS 512
enum kern_table { KERN_TABLE_NATIVE, KERN_TABLE_COMPAT, KERN_TABLE_X32, KERN_TABLE_OTHER, KERN_TABLES };
#define KERN_PLACES (KERN_TABLE_OTHER * KERN_NRS + 1)

enum kern_outcome { KERN_OK, KERN_FAILED, KERN_UNRETURNED, KERN_OUTCOMES };

enum kern_shape {
	KERN_TEXT, /* up to its NUL */
	KERN_BYTES, /* one struct, or as many elements as the count says; raw */
	KERN_PIDFD, /* of clone3: behind a member of its struct */
	KERN_MSG, /* struct msghdr, or a vector of struct mmsghdr */
};

enum kern_count { KERN_ONE, KERN_COUNT_INT, KERN_COUNT_UINT, KERN_COUNT_LONG, KERN_COUNT_RESULT, KERN_COUNT_BITS };

enum kern_applies { KERN_ALWAYS, KERN_WITH_PIDFD, KERN_NOT_DEL, KERN_LOCKS };

/* What to copy of one argument: a row of the capture table, made plain. */
struct kern_op {
	uint8_t shape; /* enum kern_shape */
	uint8_t item; /* enum sys_item */
	uint8_t arg;
	uint8_t applies; /* enum kern_applies */
	uint8_t count; /* enum kern_count */
	uint8_t count_arg; /* index of the argument with the count */
	uint16_t bytes; /* of the struct or one element */
	uint32_t max;
	uint32_t flags; /* KERN_OP_… */
};

#define KERN_OP_GIVEN 0x01 /* the program's own: means something after a failure too */
#define KERN_OP_RIGHTS 0x02 /* of a message: descriptors too */
#define KERN_OP_SOCKADDR 0x04 /* … its address too */
#define KERN_OP_SHORT 0x08 /* a name, or one struct of KERN_SHORT bytes at most */
#define KERN_SHORT 256
#define KERN_SHORTS 3 /* of a call's end, at most */

#define KERN_OPS 8 /* a power of two; calls have six arguments */

/* Flags of a plan. */
#define KERN_MAKES_CHILD 0x01
#define KERN_EXECS 0x02
#define KERN_ENDS 0x04 /* exit, exit_group: never returns */
#define KERN_CLONE3 0x08
#define KERN_CLONE 0x10
#define KERN_FORK 0x20
#define KERN_VFORK 0x40
#define KERN_PROBED 0x80 /* the call of the calibration loop */
#define KERN_MAPS_CODE 0x100 /* mmap, mprotect: may make memory executable */
#define KERN_MAPS_AT_FIRST 0x200 /* … where its first argument says */

struct kern_plan {
	uint16_t flags;
	uint8_t enter_ops, exit_ops; /* the first ones are those of the enter */
	struct kern_op op[KERN_OPS];
};

/* Offsets of the kernel's fields, from its own BTF; UINT32_MAX: not there. */
#define KERN_FIELDS(X) \
	X(task_pid, "task_struct", "pid") \
	X(task_tgid, "task_struct", "tgid") \
	X(task_thread_pid, "task_struct", "thread_pid") \
	X(task_group_leader, "task_struct", "group_leader") \
	X(task_exit_code, "task_struct", "exit_code") \
	X(task_se, "task_struct", "se") \
	X(task_nvcsw, "task_struct", "nvcsw") \
	X(task_sched_info, "task_struct", "sched_info") \
	X(task_mm, "task_struct", "mm") \
	X(task_thread_info, "task_struct", "thread_info") \
	X(se_sum_exec_runtime, "sched_entity", "sum_exec_runtime") \
	X(sched_run_delay, "sched_info", "run_delay") \
	X(info_status, "thread_info", "status") \
	X(info_flags, "thread_info", "flags") \
	X(pid_level, "pid", "level") \
	X(pid_numbers, "pid", "numbers") \
	X(mm_arg_start, "mm_struct", "arg_start") \
	X(mm_arg_end, "mm_struct", "arg_end") \
	X(mm_env_start, "mm_struct", "env_start") \
	X(mm_env_end, "mm_struct", "env_end") \
	X(mm_saved_auxv, "mm_struct", "saved_auxv") \
	X(mm_start_code, "mm_struct", "start_code") \
	X(mm_end_code, "mm_struct", "end_code") \
	X(mm_start_stack, "mm_struct", "start_stack") \
	X(mm_exe_file, "mm_struct", "exe_file") \
	X(file_path, "file", "f_path") \
	X(file_inode, "file", "f_inode") \
	X(path_mnt, "path", "mnt") \
	X(path_dentry, "path", "dentry") \
	X(inode_ino, "inode", "i_ino") \
	X(inode_sb, "inode", "i_sb") \
	X(sb_dev, "super_block", "s_dev") \
	X(dentry_parent, "dentry", "d_parent") \
	X(dentry_name, "dentry", "d_name") \
	X(dentry_hash, "dentry", "d_hash") \
	X(qstr_name, "qstr", "name") \
	X(vfsmount_root, "vfsmount", "mnt_root") \
	X(mount_parent, "mount", "mnt_parent") \
	X(mount_point, "mount", "mnt_mountpoint") \
	X(mount_mnt, "mount", "mnt") \
	X(bprm_filename, "linux_binprm", "filename")

struct kern_offsets {
#define KERN_FIELD_MEMBER(name, type, member) uint32_t name;
	KERN_FIELDS(KERN_FIELD_MEMBER)
#undef KERN_FIELD_MEMBER
};
#define KERN_NO_FIELD UINT32_MAX
#define KERN_UPID_BYTES 16 /* struct upid: the number comes first */

/* How a program comes at a call's registers: each way costs some 15 ns less than the one before it. */
enum kern_registers {
	KERN_REGISTERS_COPIED,
	KERN_REGISTERS_HELPER, /* the kernel hands them out: since 5.15 */
	KERN_REGISTERS_CAST, /* what the program is given is told to be a pointer to them: since 6.2 */
};
/* Where the programs call this they are to call bpf_rdonly_cast: how that is called no program
 * knows without the kernel's types. */
#define KERN_CAST_CALL 0x7f0001

/* Set before the programs are loaded; they are then constants to them. */
struct kern_settings {
	uint32_t task_limit; /* 0 none */
	uint32_t fail_storage; /* tests: every so many storages cannot be had; 0 none */
	uint32_t small_ring; /* each record is to ask how full it is */
	uint32_t registers; /* enum kern_registers */
	uint32_t registers_type; /* … number of their type, for the cast */
	uint32_t first_level; /* we are in the first pid namespace; else `pid_level` tells */
	uint64_t stack_bytes_max; /* of all copies of stacks together */
	uint64_t stacks; /* bytes of a stack to copy at most; 0: nobody asks who calls */
};

/* Processes that are followed, or were: a bit each, shared by all numbers that
 * are the same modulo this. */
#define KERN_PID_BITS 65536
#define KERN_PID_WORD(pid) ((pid) / 32 % (KERN_PID_BITS / 32))
#define KERN_PID_BIT(pid) (1u << (pid) % 32)

/* Changed while it runs, by both sides. */
struct kern_live {
	uint32_t closing; /* 1: nothing is seen any more */
	uint32_t asleep; /* the reader sleeps: wake it at the limit */
	uint32_t pid_level; /* of the reader's pid namespace; 0 the first one */
	uint32_t nothing; /* 0, which the verifier does not know */
	int64_t awaited; /* tasks entered in `awaited` that have not shown themselves yet */
	int64_t tasks; /* followed now */
	uint64_t storages; /* made so far */
	uint64_t floor_ns; /* our own part of a call's time, taken out of it */
	uint64_t codes; /* slots of code that were ever used */
	uint64_t stack_bytes; /* copied so far */
	uint32_t pids[KERN_PID_BITS / 32];
};

/* One CPU's books, alone on its cache lines. */
struct kern_books {
	uint64_t entered; /* calls whose enter was seen */
	uint64_t no_enter; /* exits without an enter: seen too */
	uint64_t puts, crowded; /* records written; there was no room for calls */
	uint64_t ended[KERN_PLACES][KERN_OUTCOMES]; /* how each call ended, bumped before anything is decoded */
	uint64_t lost[KERN_PLACES][KERN_OUTCOMES]; /* that found no place in the ring … */
	uint64_t lost_calls; /* all of them */
	uint64_t lost_first_ns, lost_last_ns; /* when; 0 never */
	uint64_t lost_state; /* records other than calls that found no place */
	uint64_t children; /* that calls have returned */
	uint64_t made, returned; /* births, and those whose call is over */
	uint64_t followed, not_followed;
	uint64_t storage_failed; /* tasks that could not be followed for want of memory */
	uint64_t awaited_failed; /* the same: the table of awaited tasks was full */
	uint64_t strays; /* an enter in a call: its exit was missed */
	uint64_t stacks; /* copied; … that were due, and too much had been copied or waited; … that could not be read */
	uint64_t stacks_left_out, stacks_unread;
	uint64_t codes_full; /* programs whose code was not kept in mind: there were too many at a time */
};

/* Where a process has code, as far as its calls tell; threads share it.  The first range is the program's own. */
#define KERN_CODES 1024
#define KERN_CODE_RANGES 96 /* at most 255 */
struct kern_code {
	uint32_t refs, used;
	uint32_t version; /* grows with each change */
	uint32_t filling; /* the reader writes what was there before us: nothing is known yet */
	uint32_t full; /* there was more: nothing is known for good */
	uint32_t pad;
	uint64_t least, span; /* of all ranges but the first */
	struct {
		uint64_t start, bytes;
	} range[KERN_CODE_RANGES];
};

struct kern_words {
	uint64_t at[ITEM_CALLER_WORDS];
};

/* How often a key came. */
#define KERN_SEEN_SETS 16384 /* a power of two */
#define KERN_SEEN_WAYS 2
struct kern_seen {
	uint64_t key; /* 0: free */
	uint32_t hits, callers;
};
struct kern_seen_set {
	struct kern_seen way[KERN_SEEN_WAYS];
};
/* Of callers that have no such key: each takes from who has its place, so that who comes often stays. */
#define KERN_LATE_KEYS 1024 /* a power of two */
struct kern_late {
	uint64_t key;
	uint32_t hits, pad;
};

/* Working place of one CPU: the record being made, and where its makers stand. */
#define KERN_SCRATCH_BYTES 53248
#define KERN_ITEM_BYTES 16384 /* of one item at most */
struct kern_part {
	uint32_t type, flags;
	uint64_t address, bytes;
};
#define KERN_EXIT_BEGINS 1
#define KERN_EXIT_GOES_ON 2
#define KERN_EXIT_ENDS 3 /* the task does */
#define KERN_PARTS 4 /* a power of two */
struct kern_scratch {
	uint64_t used; /* of data */
	uint64_t next; /* op */
	uint64_t part_op, part_count; /* what a message points at, last first */
	struct kern_part parts[KERN_PARTS];
	uint64_t at_exit; /* 0: at enter */
	uint64_t message; /* number of it in its vector */
	uint64_t from, to; /* environment that is left */
	uint64_t mnt, dentry, names_begin;
	struct kern_words words; /* of the stack */
	uint64_t hash; /* of those that are addresses of code */
	char data[KERN_SCRATCH_BYTES];
};

/* Key and value of the table of lost calls. */
struct kern_lost_key {
	int32_t nr;
	uint16_t arch;
	uint16_t err; /* errno, 0 success; UINT16_MAX never returned */
};
struct kern_lost {
	uint64_t count;
	uint64_t ns;
};
#define KERN_LOST_KEYS 4096

/* A task that will show itself: a child at its first return, a thread of a
 * process that was attached to at its next call. */
struct kern_awaited {
	uint32_t pid;
	uint32_t flags; /* KERN_TASK_… */
	uint32_t code, pad; /* as in its storage */
	uint64_t image;
};
#define KERN_AWAITED_MAX 8192

/* Flags of a task. */
#define KERN_TASK_STARTING 0x01 /* launched, not yet at its execve */
#define KERN_TASK_ATTACHED 0x02 /* was there before us, no event of its own yet */
#define KERN_TASK_IN_CALL 0x04
#define KERN_TASK_MADE_CHILD 0x08 /* in the present call */
#define KERN_TASK_RETURNED 0x10 /* has returned from a call since it began: between calls there is a gap */
#define KERN_TASK_LATE 0x20 /* the gap began behind the copying of items */
#define KERN_TASK_BORN 0x40 /* a child that has not returned from the call that made it */

#define KERN_TASK_ENDING 0x80
#define KERN_TASK_LOOKED_AT 0x100 /* a long call: that is done */

/* Items of an unfinished call wait here; larger ones are read at its exit. */
#define KERN_ENTERED_BYTES 664

/* The first item of a native call when somebody asks who calls. */
struct kern_caller {
	struct event_item head;
	struct item_caller caller;
};

/* A stack that a task called with, told again by what cannot be equal with another one's, and those
 * that share a place in the table. */
#define KERN_MEMO_SETS 16 /* a power of two */
#define KERN_MEMO_WAYS 4 /* … too */
#define KERN_MEMO_WORDS 32 /* a power of two */
struct kern_memo {
	uint64_t key; /* of the call, the registers and the lowest word; 0: none */
	uint64_t sum; /* of the words that are compared */
	uint64_t code; /* as in struct item_caller */
	uint32_t hits, count; /* of the words */
	uint8_t at[KERN_MEMO_WORDS]; /* where they are; the lowest one again beyond the count */
};
struct kern_memo_set {
	struct kern_memo way[KERN_MEMO_WAYS];
	uint32_t last; /* way that was used */
	uint32_t pad;
};

/* A task's storage.  What each call touches comes first, in one cache line: the kernel has 8 bytes
 * in front of it there. */
struct kern_task {
	uint32_t flags;
	uint32_t unread; /* bit per op: to be read at exit */
	uint32_t entered_bytes, entered_items;
	uint64_t exit_ns; /* end of the last call; 0 none */
	uint64_t user_ns; /* between calls, our own work in it included */
	uint64_t gaps;
	uint64_t regs; /* where its registers are */
	uint32_t code; /* its slot; 0 none */
	uint32_t images; /* how many it has had: what is kept in mind of one is nothing to the next */
	struct event_call call; /* of the present or last call; tid and pid hold all the time */
	uint64_t entered[KERN_ENTERED_BYTES / 8]; /* follows it: both are put at once */
	uint64_t clone_flags;
	uint64_t late_gaps;
	uint64_t ran_ns; /* on a CPU before we came; 0 unknown, or it was born since */
	uint64_t delay_ns; /* its wait for a CPU as read last */
	uint64_t sleeps; /* how often it has given up a CPU, as read last */
	uint64_t image; /* tells programs apart */
	struct kern_memo_set memos[KERN_MEMO_SETS];
};

/* Flags of records beside EVENT_F_…, taken off before anybody else sees them. */
#define KERN_F_STACK 0x2000 /* a copy of its stack came before it */
#define KERN_F_RAW 0x4000 /* some items are raw */
#define KERN_F_PROBED 0x8000 /* of the calibration */
#define KERN_GAP_ARG 5 /* where such a record has the stretch before it, 0 a long one */
/* … and of items: data as they lay in the program's memory. */
#define KERN_ITEM_RAW 0x80

/* Types of records beside enum event_type. */
#define KERN_RECORD_EXEC 0xff01
#define KERN_RECORD_ENV 0xff02
#define KERN_RECORD_EXIT 0xff03
#define KERN_RECORD_STACK 0xff04

#define KERN_AUXV_WORDS 64
#define KERN_ARGV_BYTES 4096
#define KERN_ENV_CHUNK 24576
/* How often a program calls itself: 33 times in all is what a kernel allows, 32 before 5.16. */
#define KERN_ENV_CHUNKS 12
#define KERN_NAMES_CALLS 14
#define KERN_MESSAGES 5 /* of recvmmsg, sendmmsg that are looked into */

/* Followed by argv and filename, padded to 8 bytes, and names.  names: the
 * components of the path from the last to the first, each with its NUL. */
struct kern_exec {
	struct event_head head;
	uint32_t former_tid;
	uint32_t names_cut; /* there were more */
	uint64_t dev, ino; /* as the kernel has them */
	uint64_t argv_whole, env_whole; /* bytes in the program's memory */
	uint32_t argv_bytes, names_bytes, filename_bytes; /* that follow */
	uint32_t deleted;
	uint64_t auxv[KERN_AUXV_WORDS];
};

/* Part of the environment; those of an exec come before it, in order. */
struct kern_env {
	struct event_head head;
	uint32_t bytes;
	uint32_t unread;
};

/* The STACK item of the call whose record of the same task comes next: the
 * registers and what was copied follow. */
struct kern_stack {
	struct event_head head;
	struct event_item item;
	struct item_stack stack;
};
#define KERN_STACK_RECORD_MAX \
	(sizeof(struct kern_stack) + ITEM_STACK_REGISTERS_MAX * sizeof(uint64_t) + ITEM_STACK_BYTES_MAX)

struct kern_exit {
	struct event_head head;
	uint32_t code; /* as wait(2) has it */
	uint32_t flags; /* of the task */
	uint64_t run_ns;
	uint64_t user_ns;
	uint64_t gaps, late_gaps;
};

#endif
