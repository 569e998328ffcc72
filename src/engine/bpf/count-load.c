/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Brings the counting programs into the kernel and takes them out again.  The
 * one that times calls comes and goes by itself.  No limit is raised, all
 * descriptors close on exec.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/bpf/count.h"
/* What bpftool has made is not ours to warn about. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-align"
#include "engine/bpf/count.skel.h"
#pragma GCC diagnostic pop

/* Kinds of calls are some hundred for a program; each CPU has its own rows. */
#define ROWS_TREE 512
#define ROWS_TREE_MOST 16384
#define ROWS_WIDE 4096
#define ROWS_WIDE_MOST 65536
#define GROUPS_TREE 256
#define GROUPS_WIDE 4096
#define EXES_TREE 256
#define EXES_WIDE 2048

static uint32_t at_most(uint64_t value, uint32_t most)
{
	return value < most ? (uint32_t)value : most;
}

static uint8_t kind_of(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_clone:
	case CALL_clone3:
	case CALL_fork:
	case CALL_vfork:
		return COUNT_KIND_CHILD;
	case CALL_execve:
	case CALL_execveat:
		return COUNT_KIND_EXECS;
	case CALL_exit:
	case CALL_exit_group:
		return COUNT_KIND_ENDS;
	case CALL_rt_sigreturn:
		return COUNT_KIND_REGISTER;
	case CALL_getppid:
		return COUNT_KIND_PROBED;
	default:
		return 0;
	}
}

static void settle(struct counting *c)
{
	struct count_settings *settings = (struct count_settings *)&c->skel->rodata->settings;
	uint8_t *kinds = (uint8_t *)c->skel->rodata->kinds;
	uint32_t rows = load_fault("rows"), groups = load_fault("groups");

	c->row_room = is_wide(c) ? at_most((uint64_t)ROWS_WIDE * (c->cpus + 1), ROWS_WIDE_MOST)
				 : at_most((uint64_t)ROWS_TREE * (c->cpus + 1), ROWS_TREE_MOST);
	c->group_room = is_wide(c) ? GROUPS_WIDE : GROUPS_TREE;
	c->exe_room = is_wide(c) ? EXES_WIDE : EXES_TREE;
	if (rows)
		c->row_room = rows;
	if (groups)
		c->group_room = c->exe_room = groups;
	for (int32_t nr = 0; nr < KERN_NRS; nr++)
		kinds[nr] = kind_of(sys_call_id(SYS_ARCH_NATIVE, nr));
	*settings = (struct count_settings){
		.wide = is_wide(c),
		.cgroup = c->spec.cgroup != NULL,
		.by_cgroup = is_wide(c),
		.others = c->spec.overhead > 0,
		.task_limit = c->spec.task_limit,
		.direct = load_kernel_is(5, 15),
		.first_level = load_first_level(),
		.rows = c->row_room,
		.groups = c->group_room,
		.exes = c->exe_room,
		.fail_storage = load_fault("storage"),
	};
}

static int size_maps(const struct counting *c)
{
	const struct count_bpf *skel = c->skel;
	uint32_t errors = load_fault("errors"), awaited = load_fault("awaited");
	struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{ skel->maps.books, c->cpus },
		{ skel->maps.rows, c->row_room },
		{ skel->maps.row_ids, c->row_room },
		{ skel->maps.groups, c->group_room },
		{ skel->maps.group_ids, c->group_room },
		{ skel->maps.exes, c->exe_room },
		{ skel->maps.exe_ids, c->exe_room },
		{ skel->maps.more_errors, errors ? errors : COUNT_MORE_ERRORS },
		{ skel->maps.awaited, awaited ? awaited : KERN_AWAITED_MAX },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof sizes / sizeof sizes[0]; i++)
		r = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return r;
}

static int share(const struct bpf_map *map, size_t bytes, void **ret)
{
	*ret = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (*ret == MAP_FAILED) {
		*ret = NULL;
		return -errno;
	}
	/* A child has no use for them. */
	(void)madvise(*ret, bytes, MADV_DONTFORK);
	return 0;
}

static int share_all(struct counting *c)
{
	void *groups = NULL, *exes = NULL, *books = NULL, *rows = NULL;
	int r;

	c->books_bytes = sizeof(struct count_books) * c->cpus;
	c->rows_bytes = sizeof(struct count_row) * c->row_room;
	c->groups_bytes = sizeof(struct count_group) * c->group_room;
	c->exes_bytes = sizeof(struct count_exe) * c->exe_room;
	r = share(c->skel->maps.books, c->books_bytes, &books);
	if (r == 0)
		r = share(c->skel->maps.rows, c->rows_bytes, &rows);
	if (r == 0)
		r = share(c->skel->maps.groups, c->groups_bytes, &groups);
	if (r == 0)
		r = share(c->skel->maps.exes, c->exes_bytes, &exes);
	c->books = books;
	c->rows = rows;
	c->groups = groups;
	c->exes = exes;
	c->live = &c->skel->bss->live;
	/* The first ones are of those that have none. */
	c->live->groups_used = c->live->exes_used = 1;
	return r;
}

static int enter_cgroup(const struct counting *c, struct error *err)
{
	uint32_t key = 0;
	int fd, r;

	if (!c->spec.cgroup)
		return 0;
	fd = open(c->spec.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, errno, "--cgroup %s", c->spec.cgroup);
	r = bpf_map_update_elem(bpf_map__fd(c->skel->maps.cgroup), &key, &fd, BPF_ANY);
	(void)close(fd);
	if (r == -EBADF || r == -EBADFD || r == -EINVAL)
		return error_set(err, EINVAL, "--cgroup %s: that is no folder of a cgroup v2", c->spec.cgroup);
	return r < 0 ? error_errno(err, -r, "--cgroup %s", c->spec.cgroup) : 0;
}

/* Of all programs the loader takes only such as get no typed arguments without
 * parsing the types of the whole kernel: 9 ms.  We know the one that it would
 * look for. */
static struct fields_types types;

static int prepare_exit(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	(void)cookie;
	options->attach_btf_id = types.exit_event;
	options->expected_attach_type = BPF_TRACE_RAW_TP;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

static int take_exit(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = prepare_exit);
	static int handler;

	if (handler <= 0)
		handler = libbpf_register_prog_handler("count_exit", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &options);
	return handler < 0 ? handler : 0;
}

static int load_skeleton(void *skel)
{
	return count_bpf__load(skel);
}

int count_load(struct counting *c, struct error *err)
{
	struct bpf_test_run_opts options = { .sz = sizeof options };
	const char *missing;
	int cpus = libbpf_num_possible_cpus();
	int r;

	c->cpus = cpus > 0 ? (uint32_t)cpus : 1;
	load_quietly();
	if (take_exit() < 0)
		return error_set(err, ENOTSUP, "cannot count in the kernel: this libbpf is too old");
	c->skel = count_bpf__open();
	if (!c->skel)
		return error_set(err, ENOTSUP, "cannot open the counting programs: %s", strerror(errno));
	settle(c);
	r = fields_find_types((struct kern_offsets *)&c->skel->rodata->at, &types, &missing);
	if (r == 0 && types.exit_event == 0) {
		missing = "the type of its event sys_exit";
		r = -ENOENT;
	}
	if (r < 0)
		return error_set(err, ENOTSUP, "cannot count in the kernel: it lacks %s; see: syscull doctor", missing);
	r = size_maps(c);
	if (r == 0)
		r = load_undisturbed(load_skeleton, c->skel);
	if (r == 0)
		r = share_all(c);
	if (r == 0)
		r = bpf_prog_test_run_opts(bpf_program__fd(c->skel->progs.on_ask), &options);
	if (r < 0) {
		char why[160], fix[640];

		refusal_bpf(-r, why, sizeof why, fix, sizeof fix);
		/* Never an errno that a command could have failed with. */
		return error_set(err, ENOTSUP, "cannot count in the kernel: %s; see: syscull doctor", why);
	}
	return enter_cgroup(c, err);
}

static void unshare_one(const void *at, size_t bytes)
{
	if (at)
		(void)munmap((void *)(uintptr_t)at, bytes);
}

void count_unload(struct counting *c)
{
	unshare_one(c->books, c->books_bytes);
	unshare_one(c->rows, c->rows_bytes);
	unshare_one(c->groups, c->groups_bytes);
	unshare_one(c->exes, c->exes_bytes);
	c->books = NULL;
	c->rows = NULL;
	c->groups = NULL;
	c->exes = NULL;
	c->live = NULL;
	if (c->skel)
		count_bpf__destroy(c->skel);
	c->skel = NULL;
}

int count_attach(struct counting *c, struct error *err)
{
	struct {
		struct bpf_program *program;
		struct bpf_link **link;
	} rows[] = {
		{ c->skel->progs.on_fork, &c->skel->links.on_fork },
		{ c->skel->progs.on_exec, &c->skel->links.on_exec },
		{ c->skel->progs.on_end, &c->skel->links.on_end },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		*rows[i].link = bpf_program__attach(rows[i].program);
		if (!*rows[i].link)
			return error_set(err, ENOTSUP, "cannot count in the kernel: %s", strerror(errno));
	}
	c->exit_fd = bpf_raw_tracepoint_open(NULL, bpf_program__fd(c->skel->progs.on_exit));
	if (c->exit_fd < 0)
		return error_set(err, ENOTSUP, "cannot count in the kernel: %s", strerror(-c->exit_fd));
	c->attached = true;
	return 0;
}

int count_time(struct counting *c, bool on)
{
	struct bpf_link **link = &c->skel->links.on_enter;

	if (on == (*link != NULL))
		return 0;
	if (on) {
		*link = bpf_program__attach(c->skel->progs.on_enter);
		c->timing = *link != NULL;
		return *link ? 0 : -errno;
	}
	(void)bpf_link__destroy(*link);
	*link = NULL;
	c->timing = false;
	return 0;
}

void count_detach(struct counting *c)
{
	if (!c->skel)
		return;
	if (c->live)
		__atomic_store_n(&c->live->closing, 1, __ATOMIC_SEQ_CST);
	if (!c->attached)
		return;
	c->misses = count_misses(c);
	count_bpf__detach(c->skel);
	(void)close(c->exit_fd);
	c->exit_fd = -1;
	/* Nobody is left, or somebody may be in the middle of something. */
	if (is_wide(c) || c->live->tasks > 0)
		load_settle();
	c->attached = c->timing = false;
}

int count_arm(struct counting *c, pid_t tid, pid_t pid, uint32_t flags)
{
	struct count_task value = { .flags = flags };
	struct kern_awaited awaited = { .pid = (uint32_t)pid };
	int fd = (int)syscall(SYS_pidfd_open, tid, tid == pid ? 0 : O_EXCL);
	uint32_t key = (uint32_t)tid, number = (uint32_t)pid;
	int r;

	(void)__atomic_fetch_or(&c->live->pids[KERN_PID_WORD(number)], KERN_PID_BIT(number), __ATOMIC_SEQ_CST);
	if (fd >= 0) {
		r = bpf_map_update_elem(bpf_map__fd(c->skel->maps.tasks), &fd, &value, BPF_NOEXIST);
		(void)close(fd);
	} else if (errno == ESRCH) {
		return -ESRCH;
	} else {
		/* A thread that is no leader has had a pidfd since 6.9 only: it will show itself. */
		r = bpf_map_update_elem(bpf_map__fd(c->skel->maps.awaited), &key, &awaited, BPF_NOEXIST);
		if (r == 0)
			(void)__atomic_fetch_add(&c->live->awaited, 1, __ATOMIC_SEQ_CST);
	}
	if (r == 0)
		(void)__atomic_fetch_add(&c->live->tasks, 1, __ATOMIC_SEQ_CST);
	return r;
}

uint64_t count_misses(const struct counting *c)
{
	const struct bpf_program *programs[] = { c->skel->progs.on_exit, c->skel->progs.on_fork, c->skel->progs.on_exec,
						 c->skel->progs.on_end };

	return load_misses_of(programs, sizeof programs / sizeof programs[0]);
}

int count_errors_fd(const struct counting *c)
{
	return bpf_map__fd(c->skel->maps.more_errors);
}
