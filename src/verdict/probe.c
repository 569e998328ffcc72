/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loops, each with what it needs opened before and closed after.  They
 * run in our own process when the traced command has ended, pinned to the
 * CPU they are on so that a round is not split over two.
 */
#include "verdict/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define ROUNDS 9
#define TRIES 4
#define STEADY 1.25
#define ROUND_NS 8000
#define TURNS_MAX 256
#define ABSENT "/.syscull-absent"
#define DEEP_COMPONENTS 5
#define PAGES 32 /* too few for a huge page */

/* What the loops work on.  Paths that are there on any system come first. */
struct probe_room {
	const char *dir; /* "/usr" */
	const char *file; /* "/etc/passwd" */
	const char *attribute;
	unsigned dir_components, file_components;
	char absent[64], deep[64];
	unsigned absent_components, deep_components;
	int memory; /* memfd of one page */
	int directory;
	int epoll, socket;
	void *page; /* one untouched page */
	char *buffer;
	size_t buffer_bytes;
	const char *program; /* "/usr/bin/true", NULL none */
};

struct probe {
	const char *name;
	void (*loop)(const struct probe_room *room, unsigned turns);
	uint8_t calls; /* priced in one turn */
	uint8_t rest_count;
	uint8_t rest; /* enum probe_id: what else a turn makes, rest_count times */
	uint8_t turns_max; /* 0: TURNS_MAX */
	/* Where the path that is walked has its number of components: 0 none. */
	uint16_t components_at;
};

#define LOOP(name, ...) \
	static void loop_##name(const struct probe_room *room, unsigned turns) \
	{ \
		(void)room; \
		for (unsigned turn = 0; turn < turns; turn++) { \
			__VA_ARGS__; \
		} \
	}

#define CALL(...) ((void)syscall(__VA_ARGS__))

LOOP(null, CALL(SYS_getppid))
LOOP(close_absent, CALL(SYS_close, -1))
LOOP(dup_close, CALL(SYS_close, (int)syscall(SYS_dup, room->memory)))
LOOP(open, CALL(SYS_close, (int)syscall(SYS_openat, AT_FDCWD, room->file, O_RDONLY | O_CLOEXEC)))
LOOP(open_absent, CALL(SYS_openat, AT_FDCWD, room->absent, O_RDONLY | O_CLOEXEC))
LOOP(stat, CALL(SYS_newfstatat, AT_FDCWD, room->dir, room->buffer, 0))
LOOP(stat_absent, CALL(SYS_newfstatat, AT_FDCWD, room->absent, room->buffer, 0))
LOOP(stat_deep, CALL(SYS_newfstatat, AT_FDCWD, room->deep, room->buffer, 0))
LOOP(statx, CALL(SYS_statx, AT_FDCWD, room->dir, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, room->buffer))
LOOP(fstat, CALL(SYS_fstat, room->memory, room->buffer))
LOOP(access, CALL(SYS_faccessat, AT_FDCWD, room->dir, R_OK))
LOOP(access_absent, CALL(SYS_faccessat, AT_FDCWD, room->absent, R_OK))
LOOP(readlink, CALL(SYS_readlinkat, AT_FDCWD, "/proc/self", room->buffer, 64))
LOOP(readlink_no_link, CALL(SYS_readlinkat, AT_FDCWD, room->dir, room->buffer, 64))
LOOP(getxattr_absent, CALL(SYS_getxattr, room->dir, room->attribute, room->buffer, 64))
LOOP(getxattr_unsupported, CALL(SYS_getxattr, "/proc", "user.syscull", room->buffer, 64))
LOOP(fgetxattr_absent, CALL(SYS_fgetxattr, room->directory, room->attribute, room->buffer, 64))
LOOP(listxattr, CALL(SYS_llistxattr, room->dir, room->buffer, 256))
LOOP(getdents, CALL(SYS_lseek, room->directory, 0, SEEK_SET);
     CALL(SYS_getdents64, room->directory, room->buffer, room->buffer_bytes);
     CALL(SYS_getdents64, room->directory, room->buffer, room->buffer_bytes))
LOOP(lseek, CALL(SYS_lseek, room->memory, 0, SEEK_CUR))
LOOP(read, CALL(SYS_pread64, room->memory, room->buffer, 512, 0))
LOOP(write, CALL(SYS_pwrite64, room->memory, room->buffer, 64, 0))
LOOP(ioctl_no_tty, CALL(SYS_ioctl, room->memory, TCGETS, room->buffer))
LOOP(fcntl, CALL(SYS_fcntl, room->memory, F_GETFL))
LOOP(mmap_munmap,
     CALL(SYS_munmap, syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096))
LOOP(mprotect, CALL(SYS_mprotect, room->page, 4096, turn & 1 ? PROT_READ | PROT_WRITE : PROT_READ))
LOOP(sigaction, CALL(SYS_rt_sigaction, SIGUSR2, NULL, room->buffer, 8))
LOOP(sigprocmask, CALL(SYS_rt_sigprocmask, SIG_BLOCK, NULL, room->buffer, 8))
LOOP(pipe, int ends[2] = { -1, -1 }; CALL(SYS_pipe2, ends, O_CLOEXEC); CALL(SYS_close, ends[0]);
     CALL(SYS_close, ends[1]))
LOOP(socket, CALL(SYS_close, (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)))
LOOP(poll, struct pollfd none; struct timespec now = { 0 }; CALL(SYS_ppoll, &none, 0, &now, NULL, 8))
LOOP(futex, uint32_t word = 0; CALL(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0))
LOOP(getrandom, CALL(SYS_getrandom, room->buffer, 16, 0))
LOOP(clock, CALL(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, room->buffer))
LOOP(getcwd, CALL(SYS_getcwd, room->buffer, room->buffer_bytes))
LOOP(uname, CALL(SYS_uname, room->buffer))
LOOP(prlimit, CALL(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, room->buffer))

/* Up and down, as it is called for: what it is asked for without is less than half of it. */
static void loop_brk(const struct probe_room *room, unsigned turns)
{
	long top = syscall(SYS_brk, 0);

	(void)room;
	for (unsigned turn = 0; turn < turns; turn++) {
		CALL(SYS_brk, top + PAGES * 4096);
		CALL(SYS_brk, top);
	}
}

static void loop_connect_absent(const struct probe_room *room, unsigned turns)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)strncpy(address.sun_path, room->absent, sizeof address.sun_path - 1);
	for (unsigned turn = 0; turn < turns; turn++)
		CALL(SYS_connect, room->socket, &address, sizeof address);
}

static void loop_epoll_ctl(const struct probe_room *room, unsigned turns)
{
	struct epoll_event event = { .events = EPOLLIN };

	for (unsigned turn = 0; turn < turns; turn++) {
		CALL(SYS_epoll_ctl, room->epoll, EPOLL_CTL_ADD, room->socket, &event);
		CALL(SYS_epoll_ctl, room->epoll, EPOLL_CTL_DEL, room->socket, &event);
	}
}

static int child_ends(void *unused)
{
	(void)unused;
	CALL(SYS_exit, 0);
	return 0;
}

/* No exit signal: a SIGCHLD would be taken for the command's by whoever waits for it. */
static void loop_vfork(const struct probe_room *room, unsigned turns)
{
	char *stack_top = room->buffer + room->buffer_bytes;

	for (unsigned turn = 0; turn < turns; turn++) {
		int child = clone(child_ends, stack_top, CLONE_VM | CLONE_VFORK, NULL);

		if (child > 0)
			(void)waitpid(child, NULL, __WALL);
	}
}

/* As loop_vfork, but with a memory of its own. */
static void loop_fork(const struct probe_room *room, unsigned turns)
{
	(void)room;
	for (unsigned turn = 0; turn < turns; turn++) {
		long child = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

		if (child == 0)
			for (;;)
				CALL(SYS_exit, 0);
		if (child > 0)
			(void)waitpid((pid_t)child, NULL, __WALL);
	}
}

static int child_starts(void *program)
{
	const char *const argv[] = { "true", NULL }, *const env[] = { NULL };

	CALL(SYS_execve, program, argv, env);
	CALL(SYS_exit, 127);
	return 0;
}

/* By a child of ours, since an exec brings the signal of its end back. */
static void loop_start(const struct probe_room *room, unsigned turns)
{
	char *stack_top = room->buffer + room->buffer_bytes;

	for (unsigned turn = 0; room->program && turn < turns; turn++) {
		long child = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

		if (child == 0) {
			int other = clone(child_starts, stack_top, CLONE_VM | CLONE_VFORK | SIGCHLD,
					  (void *)(uintptr_t)room->program);

			if (other > 0)
				(void)waitpid(other, NULL, 0);
			for (;;)
				CALL(SYS_exit, 0);
		}
		if (child > 0)
			(void)waitpid((pid_t)child, NULL, __WALL);
	}
}

static void touch_pages(unsigned touched, unsigned turns)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned turn = 0; turn < turns; turn++) {
		char *pages =
			mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			return;
		for (size_t page = 0; page < touched; page++)
			((volatile char *)pages)[page * page_bytes] = 1;
		(void)munmap(pages, PAGES * page_bytes);
	}
}

static void loop_page(const struct probe_room *room, unsigned turns)
{
	(void)room;
	touch_pages(PAGES, turns);
}

static void loop_page_first(const struct probe_room *room, unsigned turns)
{
	(void)room;
	touch_pages(1, turns);
}

#define WALKS(member) .components_at = offsetof(struct probe_room, member)
#define BESIDES(id, count) .rest = PROBE_##id, .rest_count = (count)

static const struct probe probes[PROBE_COUNT] = {
	[PROBE_NULL] = { "null", loop_null, 1 },
	[PROBE_CLOSE_ABSENT] = { "close-absent", loop_close_absent, 1 },
	[PROBE_DUP_CLOSE] = { "dup-close", loop_dup_close, 2 },
	[PROBE_OPEN] = { "open", loop_open, 1, BESIDES(DUP_CLOSE, 1), WALKS(file_components) },
	[PROBE_OPEN_ABSENT] = { "open-absent", loop_open_absent, 1, WALKS(absent_components) },
	[PROBE_STAT] = { "stat", loop_stat, 1, WALKS(dir_components) },
	[PROBE_STAT_ABSENT] = { "stat-absent", loop_stat_absent, 1, WALKS(absent_components) },
	[PROBE_STAT_DEEP] = { "stat-deep", loop_stat_deep, 1, WALKS(deep_components) },
	[PROBE_STATX] = { "statx", loop_statx, 1, WALKS(dir_components) },
	[PROBE_FSTAT] = { "fstat", loop_fstat, 1 },
	[PROBE_ACCESS] = { "access", loop_access, 1, WALKS(dir_components) },
	[PROBE_ACCESS_ABSENT] = { "access-absent", loop_access_absent, 1, WALKS(absent_components) },
	[PROBE_READLINK] = { "readlink", loop_readlink, 1, WALKS(file_components) },
	[PROBE_READLINK_NO_LINK] = { "readlink-no-link", loop_readlink_no_link, 1, WALKS(dir_components) },
	[PROBE_GETXATTR_ABSENT] = { "getxattr-absent", loop_getxattr_absent, 1, WALKS(dir_components) },
	[PROBE_GETXATTR_UNSUPPORTED] = { "getxattr-unsupported", loop_getxattr_unsupported, 1, WALKS(dir_components) },
	[PROBE_FGETXATTR_ABSENT] = { "fgetxattr-absent", loop_fgetxattr_absent, 1 },
	[PROBE_LISTXATTR] = { "listxattr", loop_listxattr, 1, WALKS(dir_components) },
	[PROBE_GETDENTS] = { "getdents", loop_getdents, 2, BESIDES(LSEEK, 1), .turns_max = 16 },
	[PROBE_LSEEK] = { "lseek", loop_lseek, 1 },
	[PROBE_READ] = { "read", loop_read, 1 },
	[PROBE_WRITE] = { "write", loop_write, 1 },
	[PROBE_IOCTL_NO_TTY] = { "ioctl-no-tty", loop_ioctl_no_tty, 1 },
	[PROBE_FCNTL] = { "fcntl", loop_fcntl, 1 },
	[PROBE_MMAP_MUNMAP] = { "mmap-munmap", loop_mmap_munmap, 2 },
	[PROBE_MPROTECT] = { "mprotect", loop_mprotect, 1 },
	[PROBE_BRK] = { "brk-move", loop_brk, 2 },
	[PROBE_SIGACTION] = { "sigaction", loop_sigaction, 1 },
	[PROBE_SIGPROCMASK] = { "sigprocmask", loop_sigprocmask, 1 },
	[PROBE_PIPE] = { "pipe", loop_pipe, 1, BESIDES(DUP_CLOSE, 2), .turns_max = 16 },
	[PROBE_SOCKET] = { "socket", loop_socket, 1, BESIDES(DUP_CLOSE, 1), .turns_max = 16 },
	[PROBE_CONNECT_ABSENT] = { "connect-absent", loop_connect_absent, 1, WALKS(absent_components) },
	[PROBE_POLL] = { "poll", loop_poll, 1 },
	[PROBE_EPOLL_CTL] = { "epoll-ctl", loop_epoll_ctl, 2 },
	[PROBE_FUTEX] = { "futex", loop_futex, 1 },
	[PROBE_GETRANDOM] = { "getrandom", loop_getrandom, 1 },
	[PROBE_CLOCK] = { "clock", loop_clock, 1 },
	[PROBE_GETCWD] = { "getcwd", loop_getcwd, 1 },
	[PROBE_UNAME] = { "uname", loop_uname, 1 },
	[PROBE_PRLIMIT] = { "prlimit", loop_prlimit, 1 },
	[PROBE_VFORK] = { "vfork", loop_vfork, 1, .turns_max = 1 },
	[PROBE_FORK] = { "fork", loop_fork, 1, .turns_max = 1 },
	[PROBE_START] = { "start", loop_start, 1, BESIDES(FORK, 1), .turns_max = 1 },
	[PROBE_PAGE] = { "page", loop_page, PAGES, BESIDES(MMAP_MUNMAP, 2), .turns_max = 16 },
	[PROBE_PAGE_FIRST] = { "page-first", loop_page_first, 1, BESIDES(MMAP_MUNMAP, 2), .turns_max = 16 },
};

const char *probe_name(enum probe_id id)
{
	return probes[id].name;
}

unsigned probe_calls(enum probe_id id)
{
	return probes[id].calls;
}

bool probe_walks(enum probe_id id)
{
	return probes[id].components_at != 0;
}

enum probe_id probe_rest(enum probe_id id, unsigned *ret_count)
{
	*ret_count = probes[id].rest_count;
	return (enum probe_id)probes[id].rest;
}

static const char *first_there(const char *const *paths)
{
	while (*paths && faccessat(AT_FDCWD, *paths, R_OK, 0) < 0)
		paths++;
	return *paths ? *paths : "/";
}

/* The smallest that any system has, with a loader where programs have one. */
static const char *smallest_program(void)
{
	static const char *const programs[] = { "/usr/bin/true", "/bin/true", NULL };

	for (size_t i = 0; programs[i]; i++)
		if (faccessat(AT_FDCWD, programs[i], X_OK, 0) == 0)
			return programs[i];
	return NULL;
}

static unsigned components_of(const char *path)
{
	unsigned components = 0;

	for (; *path; path++)
		components += path[0] == '/' && path[1] != '\0' && path[1] != '/';
	return components;
}

/* A file system without attributes answers at once: take the first place
 * where an attribute is looked for and not found. */
static const char *attribute_for(const char *dir)
{
	char value[1];

	if (syscall(SYS_getxattr, dir, "user.syscull", value, sizeof value) < 0 && errno == ENODATA)
		return "user.syscull";
	return "security.selinux";
}

static void room_paths(struct probe_room *room)
{
	static const char *const dirs[] = { "/usr", "/etc", "/dev", NULL };
	static const char *const files[] = { "/etc/passwd", "/proc/version", NULL };
	const char *up = first_there(dirs);

	room->dir = up;
	room->file = first_there(files);
	room->attribute = attribute_for(room->dir);
	room->program = smallest_program();
	room->dir_components = components_of(room->dir);
	room->file_components = components_of(room->file);
	(void)stpcpy(stpcpy(room->absent, room->dir[1] ? room->dir : ""), ABSENT);
	room->absent_components = components_of(room->absent);
	/* "/usr/../usr/../usr": every system has it, and each step is a look-up. */
	if (room->dir[1])
		(void)stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(room->deep, up), "/.."), up), "/.."), up);
	else
		(void)strcpy(room->deep, "/../../../../..");
	room->deep_components = DEEP_COMPONENTS;
}

void probe_room_free(struct probe_room *room)
{
	if (!room)
		return;
	if (room->memory >= 0)
		(void)close(room->memory);
	if (room->directory >= 0)
		(void)close(room->directory);
	if (room->epoll >= 0)
		(void)close(room->epoll);
	if (room->socket >= 0)
		(void)close(room->socket);
	if (room->page != MAP_FAILED)
		(void)munmap(room->page, 4096);
	free(room->buffer);
	free(room);
}

struct probe_room *probe_room_new(void)
{
	struct probe_room *room = calloc(1, sizeof *room);

	if (!room)
		return NULL;
	room_paths(room);
	room->buffer_bytes = 32768;
	room->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	room->buffer = aligned_alloc(4096, room->buffer_bytes);
	room->memory = memfd_create("syscull", MFD_CLOEXEC);
	room->directory = open(room->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	room->epoll = epoll_create1(EPOLL_CLOEXEC);
	room->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!room->buffer || room->page == MAP_FAILED || room->memory < 0) {
		probe_room_free(room);
		return NULL;
	}
	/* The pages are there before anything is timed. */
	memset(room->buffer, 0, room->buffer_bytes);
	if (pwrite(room->memory, room->buffer, 4096, 0) != 4096) {
		probe_room_free(room);
		return NULL;
	}
	return room;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double round_ns(const struct probe *probe, const struct probe_room *room, unsigned turns)
{
	uint64_t start = clock_now_ns();

	probe->loop(room, turns);
	return (double)(clock_now_ns() - start) / turns;
}

/* Whoever takes the CPU for a moment makes rounds longer, never shorter: what a
 * quarter of them stays below is the loop's own.  Where few do, it is tried
 * again, or a price would be kept that nobody pays. */
static void run_rounds(const struct probe *probe, const struct probe_room *room, struct probe_result *ret)
{
	unsigned most = probe->turns_max ? probe->turns_max : TURNS_MAX;
	double round[ROUNDS], one;
	unsigned turns;

	/* The first turns fill caches; the next say how long a round has to be. */
	(void)round_ns(probe, room, most < 2 ? most : 2);
	one = most == 1 ? ROUND_NS : round_ns(probe, room, most < 4 ? most : 4);
	turns = one <= 0 ? most : (unsigned)(ROUND_NS / one);
	turns = turns < 1 ? 1 : turns > most ? most : turns;
	for (unsigned try = 0; try < TRIES; try++) {
		for (unsigned i = 0; i < ROUNDS; i++)
			round[i] = round_ns(probe, room, turns);
		qsort(round, ROUNDS, sizeof round[0], by_value);
		if (try == 0 || round[ROUNDS / 4] < ret->ns) {
			ret->ns = round[ROUNDS / 4];
			ret->low_ns = round[0];
			ret->high_ns = round[ROUNDS - 2];
		}
		if (round[ROUNDS / 2] <= STEADY * round[0])
			return;
	}
}

void probe_measure(const struct probe_room *room, enum probe_id id, struct probe_result *ret)
{
	const struct probe *probe = &probes[id];
	cpu_set_t before, one;
	int cpu = sched_getcpu();
	bool pinned = false;

	*ret = (struct probe_result){ 0 };
	if (cpu >= 0 && cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof before, &before) == 0) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pinned = sched_setaffinity(0, sizeof one, &one) == 0;
	}
	run_rounds(probe, room, ret);
	if (pinned)
		(void)sched_setaffinity(0, sizeof before, &before);
	if (probe->components_at)
		memcpy(&ret->components, (const char *)room + probe->components_at, sizeof ret->components);
}
