/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the bpf engine share, on our side of the kernel.  load.c
 * brings the programs in, with fields.c (where the kernel's fields are) and
 * plan.c (what to copy); launch.c and attach.c begin; ring.c and grow.c take what comes;
 * cook.c, exec.c and images.c make of it what the kernel could not; books.c adds
 * up; probe.c says what works here and why not.  kernel.bpf.c is the other side.
 */
#ifndef SYSCULL_ENGINE_BPF_BPF_H
#define SYSCULL_ENGINE_BPF_BPF_H

#include <pthread.h>

#include "base/buf.h"
#include "base/map.h"
#include "engine/bpf/shared.h"
#include "engine/engine.h"
#include "engine/tell.h"

struct kernel_bpf;

/* The reader's side of the ring. */
struct ring {
	int fd; /* somebody else closes it */
	size_t bytes;
	uint64_t *consumer; /* what the kernel may use again, in a page of its own */
	const uint64_t *producer;
	const char *data; /* twice the ring: no record is ever in two pieces */
	void *pages; /* of producer and data */
	size_t mapped; /* of them */
	uint64_t taken; /* read so far */
	uint64_t given_back;
	uint64_t seen; /* producer as looked at last */
};

int ring_open(struct ring *ring, int fd, size_t bytes);
void ring_close(struct ring *ring);
/* The next record, valid until the next call; NULL none.  *ret_dry: looked
 * for new ones at the kernel's. */
const void *ring_next(struct ring *ring, bool *ret_dry);
/* Is there something? */
bool ring_waits(const struct ring *ring);
/* The same, and what is there now is what ring_next hands out until it is dry. */
bool ring_look(struct ring *ring);
/* Bytes that have not been read. */
uint64_t ring_used(const struct ring *ring);

/* On the way from a small ring to the whole one. */
enum growth_state {
	GROWTH_NONE, /* the ring is what it is to be */
	GROWTH_SMALL,
	GROWTH_MAKING,
	GROWTH_BOTH, /* records may be in both */
	GROWTH_DONE, /* nothing more comes into the former one */
	GROWTH_FAILED, /* it stays as it is */
};
struct growth {
	int state; /* enum growth_state */
	bool running; /* there is a thread */
	pthread_t thread;
	uint32_t bytes; /* of the whole one */
	int rings_fd; /* where the programs look for it */
	int fd;
	struct ring ring; /* the whole one, until it takes the other's place */
};

/* The programs in the kernel, and what we share with them. */
struct loaded {
	struct kernel_bpf *skel;
	struct kern_live *live;
	struct kern_books *books; /* one for each CPU */
	size_t books_bytes; /* of the mapping */
	struct kern_code *codes; /* where processes have code; NULL: nobody asks who calls */
	size_t codes_bytes;
	uint32_t cpus;
	struct ring ring;
	struct growth growth;
	bool attached;
};

struct load_spec {
	uint64_t items;
	uint64_t ring_bytes;
	bool whole_ring; /* from the begin */
	uint32_t task_limit;
	enum engine_stacks stacks;
};

/* What for tests can be made to fail: SYSCULL_TEST_BPF="storage=5,lost=2". */
struct load_faults {
	uint32_t storage; /* every so many storages cannot be had */
	uint32_t lost; /* keys in the table of lost calls */
	uint32_t awaited; /* children that are waited for at a time */
	uint32_t first; /* bytes of the ring that a run begins with */
	uint32_t stacks; /* bytes of stacks that are copied */
	uint32_t refused; /* by the kernel, with this errno */
};

int load_open(struct loaded *ret, const struct load_spec *spec, struct error *err);
int load_attach(struct loaded *loaded, struct error *err);
/* code.c: makes it hold a slot before it is armed, of which the programs in the kernel know
 * nothing by themselves; 0 none.  A child of ours that has yet to become something, what runs already. */
uint32_t code_of_child(const struct loaded *loaded);
/* … empty, for all its threads; filled from EVENT_MAP records when all are armed. */
uint32_t code_of_running(const struct loaded *loaded);
/* Before these are read; then what has changed since is noticed. */
uint32_t code_version(const struct loaded *loaded, uint32_t index);
void code_fill(const struct loaded *loaded, uint32_t index, uint32_t version, const struct buf *records, size_t from);
/* No program runs any more when it returns. */
void load_detach(struct loaded *loaded, bool wait);
void load_close(struct loaded *loaded);
/* The task is followed from now on. */
int load_arm(struct loaded *loaded, pid_t tid, pid_t pid, uint32_t flags, uint64_t ran_ns, uint32_t code);
/* What the kernel side knows of a task that is followed: false when it is gone. */
bool load_task(const struct loaded *loaded, pid_t tid, pid_t pid, struct kern_task *ret);
/* The table of lost calls. */
int load_lost_fd(const struct loaded *loaded);
/* Programs that did not run because one of ours was running there. */
uint64_t load_misses(const struct loaded *loaded);
struct bpf_program;
uint64_t load_misses_of(const struct bpf_program *const *programs, size_t count);

/* grow.c: when it is time for the whole ring; for each time that the ring was looked at. */
void grow_look(struct loaded *loaded);
/* The next record, as ring_next has it. */
const void *grow_next(struct loaded *loaded, bool *ret_dry);
bool grow_waits(const struct loaded *loaded);
/* Wake-ups may come to nobody. */
bool grow_is_busy(const struct loaded *loaded);
/* Waits until nothing more comes into the former ring. */
void grow_settle(struct loaded *loaded);
void grow_done(struct loaded *loaded);

/* What a test wants to fail; 0 nothing. */
uint32_t load_fault(const char *name);
bool load_kernel_is(int major, int minor);
/* Are our numbers of tasks the kernel's own? */
bool load_first_level(void);
/* The loader says nothing by itself. */
void load_quietly(void);
/* The kernel gives up verifying a program when a signal comes, and ours come every so often: on a
 * slow machine each attempt would end so. */
int load_undisturbed(int (*load)(void *skel), void *skel);
/* Programs that were taken out run no more. */
void load_settle(void);

/* fields.c: 0, or -ENOENT with the name of what this kernel lacks. */
int fields_find(struct kern_offsets *ret, const char **ret_missing);
/* … and numbers of types, 0 where it has none. */
#define FIELDS_TYPES(X) \
	X(exit_event, BTF_KIND_TYPEDEF, "btf_trace_sys_exit") /* what a program at the exit of calls is given */ \
	X(cast, BTF_KIND_FUNC, "bpf_rdonly_cast") \
	X(registers, BTF_KIND_STRUCT, "pt_regs")
struct fields_types {
#define FIELDS_TYPE_MEMBER(name, kind, type) uint32_t name;
	FIELDS_TYPES(FIELDS_TYPE_MEMBER)
#undef FIELDS_TYPE_MEMBER
};
int fields_find_types(struct kern_offsets *ret, struct fields_types *ret_types, const char **ret_missing);
/* fields-cache.c: what was found at this boot; -ENOENT nothing that can be trusted. */
int fields_cache_read(struct kern_offsets *ret, struct fields_types *ret_types);
void fields_cache_write(const struct kern_offsets *offsets, const struct fields_types *found);

/* plan.c */
void plan_make(struct kern_plan plans[static KERN_NRS], uint64_t items);

/* images.c: tells of the executable mappings that an exec has made. */
struct images {
	struct map by_file; /* hash of dev, ino, … → struct image * */
	uint64_t vdso_bytes;
	bool vsyscall, looked;
};
struct exec_auxv {
	uint64_t base, phdr, entry, vdso, execfn;
	bool secure, compat;
};
void exec_files_init(struct images *images);
void exec_files_done(struct images *images);
/* What of our own is known of a task. */
struct follow {
	uint32_t tid, pid, parent;
	uint64_t mounts_ino; /* its mount namespace as told of last; 0 not known */
	char *filename; /* of the execve that has just succeeded */
	uint64_t ran_before_ns; /* on a CPU, before we came */
	struct event_item *stack; /* of the call that it is in */
};

struct engine_bpf {
	struct engine engine;
	struct engine_stats stats;
	struct engine_exit exit;
	struct loaded loaded;
	struct map tasks; /* tid → struct follow */
	struct images images;
	uint64_t items;
	const char *const *env_names;
	pid_t root; /* 0 when attached */
	int root_fd; /* a pidfd; -1 */
	bool root_ended, letting_go, finished, started;
	bool hurries; /* comes before others on a CPU */
	uint64_t begin_ns, end_ns;
	uint64_t lost_told; /* lost calls that EVENT_LOST has told of */
	uint64_t quiet_ns; /* how long nothing has come */
	double gap_ns, late_gap_ns; /* our own part of a stretch between calls */
	struct buf out; /* records ready to be taken */
	size_t out_taken;
	struct buf record; /* the one being built */
	struct buf files; /* contents of /proc files */
	struct buf env; /* of the exec whose record comes next */
	uint32_t env_tid;
	bool env_cut;
	struct buf fds; /* records of descriptors that the command begins with */
	uint8_t marks[KERN_NRS]; /* NR_…: what is to be looked at in a call */
};

#define NR_CAN_MARK 0x01
#define NR_MOUNTS 0x02
#define NR_EXECS 0x04
#define NR_NOTED 0x08 /* blind spots */

/* bpf.c: closes the record being built and queues it. */
struct event_head *bpf_emit(struct engine_bpf *e);
struct teller bpf_teller(struct engine_bpf *e);
struct follow *follow_find(struct engine_bpf *e, uint32_t tid);
struct follow *follow_add(struct engine_bpf *e, uint32_t tid, uint32_t pid, uint32_t parent);
/* Frees what it holds, not itself. */
void follow_done(struct follow *task);
void follow_remove(struct engine_bpf *e, uint32_t tid);

/* cook.c: the record where it lies when nothing has to be done; else NULL, and
 * what has become of it is in the queue. */
const struct event_head *cook(struct engine_bpf *e, const struct event_head *raw);
/* How long a task computed between calls, from its account; task: NULL is one that we saw born. */
uint64_t cook_user_ns(const struct engine_bpf *e, const struct follow *task, const struct kern_exit *raw);
void cook_init(struct engine_bpf *e);
/* Tells of a task's mounts, wherever they can be read. */
void cook_mounts(struct engine_bpf *e, struct follow *task);

/* exec.c */
void exec_environment(struct engine_bpf *e, const struct kern_env *part);
void exec_tell(struct engine_bpf *e, const struct kern_exec *exec);

/* "/usr/bin/true" of "true\0bin\0usr\0". */
void exec_join_names(struct buf *path, const char *names, size_t bytes, bool cut, bool deleted);

/* images.c */
void exec_files_tell(struct engine_bpf *e, const struct event_head *exec, const char *path, uint64_t ino,
		     const struct exec_auxv *auxv);

/* child.c: the child that becomes the command. */
struct child {
	const char *program;
	pid_t pid;
	int fd; /* a pidfd; whoever started it closes it; -1 */
	int ready, go, why;
	bool ended; /* … and waited for: exit says how when it never began */
	struct engine_exit exit;
};
/* It waits when this returns, unless it has ended. */
int child_start(struct child *ret, const struct engine_spec *spec, struct error *err);
/* It was found dead: 0 when somebody has killed it. */
int child_died(struct child *child, struct error *err);
/* It may call calibrate_calls; has it?  (It may have ended.) */
void child_calibrate(struct child *child);
int child_calibrated(struct child *child, struct error *err);
/* It becomes the command; why not. */
int child_go(struct child *child, struct error *err);
void child_done(struct child *child, bool kill_it);

/* launch.c, attach.c */
int bpf_launch(struct engine_bpf *e, const struct engine_spec *spec, struct error *err);
int bpf_attach(struct engine_bpf *e, const struct engine_spec *spec, struct error *err);

/* calibrate.c: what is ours in the times that are measured.  The child's side
 * makes the calls; ours takes their records out of the ring. */
void calibrate_calls(void);
int calibrate_take(struct engine_bpf *e, struct error *err);
/* For processes that are attached to: a child of ours makes the calls. */
int calibrate_child(struct engine_bpf *e, struct error *err);

/* books.c */
void books_stats(const struct engine_bpf *e, struct engine_stats *ret);
uint64_t books_lost(const struct loaded *loaded);
size_t books_losses(const struct engine_bpf *e, struct engine_loss *ret, size_t most);

/* probe.c */
void probe_bpf(struct engine_probe *ret);
/* Why programs cannot be loaded here, and what to change. */
void refusal_bpf(int code, char *ret_why, size_t why_room, char *ret_fix, size_t fix_room);

#endif
