/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Brings the programs into the kernel and takes them out again.  The start is
 * what short commands pay.  Nothing that the command inherits is touched: no
 * limit is raised, all descriptors close on exec.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/bpf.h"
/* What bpftool has made is not ours to warn about. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-align"
#include "engine/bpf/kernel.skel.h"
#pragma GCC diagnostic pop

#define FAULTS_VARIABLE "SYSCULL_TEST_BPF"
#define INIT_PID_NS_INO 0xEFFFFFFCu
#define LARGE_RING (1u << 20) /* what a few records come to is nothing to it */
#define FIRST_RING (16u << 20) /* 80 ms of the fastest program */

uint32_t load_fault(const char *name)
{
	const char *text = getenv(FAULTS_VARIABLE);
	size_t bytes = strlen(name);

	while (text && *text) {
		if (strncmp(text, name, bytes) == 0 && text[bytes] == '=')
			return (uint32_t)strtoul(text + bytes + 1, NULL, 10);
		text = strchr(text, ',');
		text += text != NULL;
	}
	return 0;
}

/* Numbers of tasks are those of our pid namespace.  How deep that is, the
 * kernel is asked for: a /proc of our own does not show it. */
bool load_first_level(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INIT_PID_NS_INO;
}

static int find_level(const struct loaded *loaded)
{
	struct bpf_test_run_opts options = { .sz = sizeof options };

	if (loaded->skel->rodata->settings.first_level)
		return 0;
	return bpf_prog_test_run_opts(bpf_program__fd(loaded->skel->progs.on_ask), &options);
}

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)args;
	(void)level;
	(void)format;
	return 0;
}

void load_quietly(void)
{
	(void)libbpf_set_print(say_nothing);
}

int load_undisturbed(int (*load)(void *skel), void *skel)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	r = load(skel);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

struct load_work {
	struct loaded *loaded;
	uint32_t ring_bytes;
};

static int refused(struct error *err, int code)
{
	char why[160], fix[640];

	refusal_bpf(code, why, sizeof why, fix, sizeof fix);
	return error_set(err, code == EPERM ? ENOTSUP : code, "cannot load the bpf engine: %s; see: syscull doctor",
			 why);
}

bool load_kernel_is(int major, int minor)
{
	struct utsname host;
	int have_major = 0, have_minor = 0;

	return uname(&host) == 0 && sscanf(host.release, "%d.%d", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

static void settle(struct loaded *ret, const struct load_spec *spec, uint32_t ring_bytes)
{
	struct kern_settings *settings = (struct kern_settings *)&ret->skel->rodata->settings;

	*settings = (struct kern_settings){
		.task_limit = spec->task_limit,
		.fail_storage = load_fault("storage"),
		.small_ring = ring_bytes < LARGE_RING,
		.first_level = load_first_level(),
	};
	if (settings->first_level)
		(void)bpf_program__set_autoload(ret->skel->progs.on_ask, false);
	if (spec->stacks == ENGINE_STACKS_SITES) {
		settings->stacks = ENGINE_SITES_BYTES;
		settings->stack_bytes_max = ENGINE_SITES_BYTES_MAX;
	} else if (spec->stacks == ENGINE_STACKS_DEEP) {
		settings->stacks = ITEM_STACK_BYTES_MAX;
		settings->stack_bytes_max = ENGINE_DEEP_BYTES_MAX;
	}
	if (load_fault("stacks"))
		settings->stack_bytes_max = load_fault("stacks");
	plan_make((struct kern_plan *)ret->skel->rodata->plans, spec->items);
}

static int size_maps(struct loaded *ret, const struct load_spec *spec)
{
	const struct kernel_bpf *skel = ret->skel;
	uint32_t lost = load_fault("lost"), awaited = load_fault("awaited");
	int r = bpf_map__set_max_entries(skel->maps.books, ret->cpus);

	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.scratches, ret->cpus);
	if (r == 0 && lost)
		r = bpf_map__set_max_entries(skel->maps.lost, lost);
	if (r == 0 && awaited)
		r = bpf_map__set_max_entries(skel->maps.awaited, awaited);
	if (spec->stacks == ENGINE_STACKS_OFF) {
		/* They are there, and nobody looks. */
		if (r == 0)
			r = bpf_map__set_max_entries(skel->maps.codes, 1);
		if (r == 0)
			r = bpf_map__set_max_entries(skel->maps.free_codes, 1);
		if (r == 0)
			r = bpf_map__set_max_entries(skel->maps.seen_keys, 1);
		if (r == 0)
			r = bpf_map__set_max_entries(skel->maps.late_keys, 1);
	}
	return r;
}

/* The ring, and the place where the programs look for it. */
struct first_ring {
	pthread_t thread;
	bool running;
	int ring, rings, result;
};

static void *put_ring(void *data)
{
	struct first_ring *first = data;
	uint32_t key = 0;

	first->result = bpf_map_update_elem(first->rings, &key, &first->ring, BPF_ANY);
	return NULL;
}

/*
 * Both are made before the rest, since the kernel lets whoever puts a map in
 * a place wait until no program can know the one before: some 10 ms, in which
 * another thread waits while the programs are verified.
 */
static int begin_ring(struct loaded *ret, uint32_t bytes, struct first_ring *first)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	const struct kernel_bpf *skel = ret->skel;
	int r;

	*first = (struct first_ring){ .rings = -1 };
	first->ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);
	if (first->ring < 0)
		return first->ring;
	options.inner_map_fd = (uint32_t)first->ring;
	first->rings =
		bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(uint32_t), sizeof(uint32_t), 1, &options);
	if (first->rings < 0)
		return first->rings;
	r = bpf_map__reuse_fd(skel->maps.ring, first->ring);
	if (r == 0)
		r = bpf_map__reuse_fd(skel->maps.rings, first->rings);
	if (r != 0)
		return r;
	first->running = pthread_create(&first->thread, NULL, put_ring, first) == 0;
	if (!first->running)
		(void)put_ring(first);
	return 0;
}

static int end_ring(struct first_ring *first)
{
	if (first->running)
		(void)pthread_join(first->thread, NULL);
	if (first->rings >= 0)
		(void)close(first->rings);
	if (first->ring >= 0)
		(void)close(first->ring);
	return first->result;
}

static int load_skeleton(void *data)
{
	struct load_work *work = data;
	struct first_ring first;
	int r = begin_ring(work->loaded, work->ring_bytes, &first), put;

	if (r == 0)
		r = kernel_bpf__load(work->loaded->skel);
	put = end_ring(&first);
	return r != 0 ? r : put;
}

static int share_books(struct loaded *ret, const struct load_spec *spec)
{
	void *books, *codes;

	ret->books_bytes = (sizeof(struct kern_books) + 7) / 8 * 8 * ret->cpus;
	books = mmap(NULL, ret->books_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(ret->skel->maps.books), 0);
	if (books == MAP_FAILED)
		return -errno;
	ret->books = books;
	if (spec->stacks != ENGINE_STACKS_OFF) {
		ret->codes_bytes = sizeof(struct kern_code) * KERN_CODES;
		codes = mmap(NULL, ret->codes_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     bpf_map__fd(ret->skel->maps.codes), 0);
		if (codes == MAP_FAILED)
			return -errno;
		ret->codes = codes;
	}
	ret->live = &ret->skel->bss->live;
	return 0;
}

/* A call that no program can name becomes the one that it stands for. */
static void name_cast(struct bpf_program *program, uint32_t type)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(program);

	for (size_t i = 0; i < bpf_program__insn_cnt(program); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg != 0 || insns[i].imm != KERN_CAST_CALL)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = (int32_t)type;
	}
}

/* By the cheapest of the ways that are allowed, and that this kernel has. */
static enum kern_registers take_registers(struct loaded *ret, const struct fields_types *types,
					  enum kern_registers allowed)
{
	struct kern_settings *settings = (struct kern_settings *)&ret->skel->rodata->settings;
	enum kern_registers way = load_kernel_is(5, 15) ? KERN_REGISTERS_HELPER : KERN_REGISTERS_COPIED;

	if (types->cast != 0 && types->registers != 0)
		way = KERN_REGISTERS_CAST;
	if (way > allowed)
		way = allowed;
	if (way == KERN_REGISTERS_CAST)
		name_cast(ret->skel->progs.on_enter, types->cast);
	settings->registers = way;
	settings->registers_type = types->registers;
	return way;
}

/* 0, what the kernel has against it, or INT_MIN: that has been said. */
static int load_by(struct loaded *ret, const struct load_spec *spec, enum kern_registers *way, struct error *err)
{
	int cpus = libbpf_num_possible_cpus();
	uint32_t wanted = load_fault("first") ? load_fault("first") : FIRST_RING;
	uint32_t first = spec->whole_ring || spec->ring_bytes < wanted ? (uint32_t)spec->ring_bytes : wanted;
	struct load_work work = { ret, first };
	struct fields_types types;
	const char *missing;
	int r;

	*ret = (struct loaded){
		.cpus = cpus > 0 ? (uint32_t)cpus : 1,
		.ring = { .fd = -1 },
		.growth = { .state = GROWTH_SMALL, .fd = -1, .bytes = (uint32_t)spec->ring_bytes, .ring = { .fd = -1 } }
	};
	ret->skel = kernel_bpf__open();
	if (!ret->skel) {
		(void)error_errno(err, errno, "opening the programs of the bpf engine");
		return INT_MIN;
	}
	settle(ret, spec, first);
	r = fields_find_types((struct kern_offsets *)&ret->skel->rodata->at, &types, &missing);
	if (r < 0) {
		(void)error_set(err, ENOTSUP, "cannot load the bpf engine: the kernel lacks %s; see: syscull doctor",
				missing);
		return INT_MIN;
	}
	if (load_fault("cast"))
		types.cast = load_fault("cast");
	*way = take_registers(ret, &types, *way);
	r = load_fault("refused") ? -(int)load_fault("refused") : size_maps(ret, spec);
	if (r == 0)
		r = load_undisturbed(load_skeleton, &work);
	if (r == 0)
		r = ring_open(&ret->ring, bpf_map__fd(ret->skel->maps.ring), first);
	if (r == 0)
		r = share_books(ret, spec);
	if (r == 0)
		r = find_level(ret);
	return r;
}

int load_open(struct loaded *ret, const struct load_spec *spec, struct error *err)
{
	uint32_t most = load_fault("registers");
	enum kern_registers way = most ? (enum kern_registers)(most - 1) : KERN_REGISTERS_CAST;
	int r;

	load_quietly();
	r = load_by(ret, spec, &way, err);
	/* That a kernel knows the name need not mean that these programs may call it. */
	if (r < 0 && r != INT_MIN && r != -EPERM && r != -ENOMEM && way == KERN_REGISTERS_CAST) {
		load_close(ret);
		way = KERN_REGISTERS_HELPER;
		r = load_by(ret, spec, &way, err);
	}
	if (r < 0) {
		load_close(ret);
		return r == INT_MIN ? -err->code : refused(err, -r);
	}
	ret->growth.rings_fd = bpf_map__fd(ret->skel->maps.rings);
	return 0;
}

int load_attach(struct loaded *loaded, struct error *err)
{
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} rows[] = {
		/* Exits last but one, enters last: what is followed by then is armed later. */
		{ loaded->skel->progs.on_fork, &loaded->skel->links.on_fork },
		{ loaded->skel->progs.on_exec, &loaded->skel->links.on_exec },
		{ loaded->skel->progs.on_end, &loaded->skel->links.on_end },
		{ loaded->skel->progs.on_exit, &loaded->skel->links.on_exit },
		{ loaded->skel->progs.on_enter, &loaded->skel->links.on_enter },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		*rows[i].link = bpf_program__attach(rows[i].program);
		if (!*rows[i].link)
			return refused(err, errno);
	}
	loaded->attached = true;
	return 0;
}

/* Programs run without being preempted: when every CPU has been through a
 * quiet moment none of them is left. */
void load_settle(void)
{
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void load_detach(struct loaded *loaded, bool wait)
{
	if (!loaded->skel)
		return;
	if (loaded->live)
		__atomic_store_n(&loaded->live->closing, 1, __ATOMIC_SEQ_CST);
	kernel_bpf__detach(loaded->skel);
	if (wait && loaded->attached)
		load_settle();
	loaded->attached = false;
}

void load_close(struct loaded *loaded)
{
	if (loaded->books)
		(void)munmap(loaded->books, loaded->books_bytes);
	if (loaded->codes)
		(void)munmap(loaded->codes, loaded->codes_bytes);
	grow_done(loaded);
	ring_close(&loaded->ring);
	if (loaded->skel)
		kernel_bpf__destroy(loaded->skel);
	*loaded = (struct loaded){ .ring = { .fd = -1 }, .growth = { .fd = -1, .ring = { .fd = -1 } } };
}

/* A thread that is no leader has had a pidfd since 6.9 only, and a seccomp
 * profile may forbid them all: then it is put on the list of those who will
 * show themselves. */
static int arm_awaited(struct loaded *loaded, pid_t tid, const struct kern_task *task, pid_t pid)
{
	struct kern_awaited value = {
		.pid = (uint32_t)pid, .flags = task->flags, .code = task->code, .image = task->image
	};
	uint32_t key = (uint32_t)tid;
	int r = bpf_map_update_elem(bpf_map__fd(loaded->skel->maps.awaited), &key, &value, BPF_NOEXIST);

	if (r == 0)
		(void)__atomic_fetch_add(&loaded->live->awaited, 1, __ATOMIC_SEQ_CST);
	return r;
}

static int task_fd(pid_t tid, pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, tid, tid == pid ? 0 : O_EXCL);
}

bool load_task(const struct loaded *loaded, pid_t tid, pid_t pid, struct kern_task *ret)
{
	int fd = task_fd(tid, pid), r;

	if (fd < 0)
		return false;
	r = bpf_map_lookup_elem(bpf_map__fd(loaded->skel->maps.tasks), &fd, ret);
	(void)close(fd);
	return r == 0;
}

int load_arm(struct loaded *loaded, pid_t tid, pid_t pid, uint32_t flags, uint64_t ran_ns, uint32_t code)
{
	struct kern_task value = {
		.flags = flags, .ran_ns = ran_ns, .code = code, .image = (uint64_t)pid << 32 | code
	};
	uint32_t number = (uint32_t)pid;
	int fd = task_fd(tid, pid);
	int r;

	if (code)
		(void)__atomic_fetch_add(&loaded->codes[code].refs, 1, __ATOMIC_SEQ_CST);
	(void)__atomic_fetch_or(&loaded->live->pids[KERN_PID_WORD(number)], KERN_PID_BIT(number), __ATOMIC_SEQ_CST);
	if (fd < 0) {
		r = errno == ESRCH ? -ESRCH : arm_awaited(loaded, tid, &value, pid);
	} else {
		value.call.head.type = EVENT_CALL;
		value.call.head.tid = (uint32_t)tid;
		value.call.head.pid = (uint32_t)pid;
		r = bpf_map_update_elem(bpf_map__fd(loaded->skel->maps.tasks), &fd, &value, BPF_NOEXIST);
		(void)close(fd);
	}
	if (r == 0)
		(void)__atomic_fetch_add(&loaded->live->tasks, 1, __ATOMIC_SEQ_CST);
	else if (code)
		(void)__atomic_fetch_sub(&loaded->codes[code].refs, 1, __ATOMIC_SEQ_CST);
	return r;
}

int load_lost_fd(const struct loaded *loaded)
{
	return bpf_map__fd(loaded->skel->maps.lost);
}

uint64_t load_misses_of(const struct bpf_program *const *programs, size_t count)
{
	uint64_t misses = 0;

	for (size_t i = 0; i < count; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t bytes = sizeof info;

		if (bpf_obj_get_info_by_fd(bpf_program__fd(programs[i]), &info, &bytes) == 0)
			misses += info.recursion_misses;
	}
	return misses;
}

uint64_t load_misses(const struct loaded *loaded)
{
	const struct bpf_program *programs[] = { loaded->skel->progs.on_enter, loaded->skel->progs.on_exit,
						 loaded->skel->progs.on_fork, loaded->skel->progs.on_exec,
						 loaded->skel->progs.on_end };

	return load_misses_of(programs, sizeof programs / sizeof programs[0]);
}
