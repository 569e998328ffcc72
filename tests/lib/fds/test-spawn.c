/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs started by syscull_spawn(): each is this one again, which tells
 * through a pipe what it was given.  The same must come of every way of making
 * a child, whatever is refused.
 */
#include "syscull/spawn.h"

#include "table.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#define NO_CLONE3 0x100U

static int limit;
static char self[4096];
/* Hints that every spawn of the present case begins with. */
static uint32_t first_hints;

/* What the child tells. */
struct report {
	int pid, session_own;
	uint64_t mask, ignored;
	char cwd[256], listen[64], arg[64];
	int count;
	struct {
		int fd;
		int flags;
		uint64_t inode;
	} open[3000];
};

static void tell(const char *arg)
{
	static struct report report;
	struct rlimit ours;
	sigset_t mask;
	const char *listen = getenv("LISTEN_PID");

	report.pid = getpid();
	report.session_own = getsid(0) == getpid();
	(void)sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int number = 1; number < 64; number++) {
		struct sigaction action;

		if (sigismember(&mask, number) == 1)
			report.mask |= 1ULL << number;
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			report.ignored |= 1ULL << number;
	}
	if (getcwd(report.cwd, sizeof report.cwd) == NULL)
		report.cwd[0] = '\0';
	(void)snprintf(report.listen, sizeof report.listen, "%s", listen != NULL ? listen : "");
	(void)snprintf(report.arg, sizeof report.arg, "%s", arg);
	(void)getrlimit(RLIMIT_NOFILE, &ours);
	for (int fd = 0; fd < TABLE_MOST && report.count < 3000; fd++) {
		struct stat st;
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0)
			continue;
		if (fstat(fd, &st) < 0)
			_exit(3);
		report.open[report.count].fd = fd;
		report.open[report.count].flags = flags;
		report.open[report.count++].inode = st.st_ino;
	}
	for (size_t done = 0; done < sizeof report;) {
		ssize_t n = write(2, (char *)&report + done, sizeof report - done);

		if (n <= 0)
			_exit(4);
		done += (size_t)n;
	}
	_exit(0);
}

static struct report told;
static int ends[2];

static uint64_t inode_of(int fd)
{
	struct stat st;

	CHECK_EQUAL(fstat(fd, &st), 0);
	return st.st_ino;
}

static uint64_t told_inode(int fd)
{
	for (int i = 0; i < told.count; i++)
		if (told.open[i].fd == fd)
			return told.open[i].inode;
	return 0;
}

/*
 * Starts this program with options, whose map is made longer by the pipe on
 * descriptor 2, and takes what it tells.
 */
static void spawn_and_hear(struct syscull_spawn_options *options, char *const envp[])
{
	char word[] = "tell", arg[] = "an argument";
	char *argv[] = { self, word, arg, NULL };
	struct syscull_spawn_map map[SYSCULL_SPAWN_MAP_MAX];
	struct syscull_spawn_options with = *options;
	size_t got = 0;
	int status;
	pid_t pid;

	CHECK_EQUAL(pipe2(ends, O_CLOEXEC), 0);
	for (size_t i = 0; i < options->map_count; i++)
		map[i] = options->map[i];
	map[options->map_count].from = ends[1];
	map[options->map_count].to = 2;
	with.map = map;
	with.map_count = options->map_count + 1;
	with.hints = first_hints;
	errno = 4711;
	pid = syscull_spawn(with.search != NULL ? strrchr(self, '/') + 1 : self, argv, envp, &with);
	CHECK_EQUAL(errno, 4711);
	if (pid <= 0)
		(void)fprintf(stderr, "%s: %d in step %u\n", check_case, pid, with.step);
	CHECK(pid > 0);
	CHECK_EQUAL(with.step, 0);
	options->pidfd = with.pidfd;
	options->hints = with.hints;
	options->calls = with.calls;
	CHECK_EQUAL(close(ends[1]), 0);
	while (got < sizeof told) {
		ssize_t n = read(ends[0], (char *)&told + got, sizeof told - got);

		CHECK(n > 0);
		got += (size_t)n;
	}
	CHECK_EQUAL(close(ends[0]), 0);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
	CHECK_EQUAL(told.pid, pid);
	CHECK(strcmp(told.arg, "an argument") == 0);
}

static void check_numbers(const int *numbers, int count)
{
	if (told.count != count)
		for (int i = 0; i < told.count; i++)
			(void)fprintf(stderr, "%s: descriptor %d was told\n", check_case, told.open[i].fd);
	CHECK_EQUAL(told.count, count);
	for (int i = 0; i < count; i++) {
		CHECK_EQUAL(told.open[i].fd, numbers[i]);
		CHECK_EQUAL(told.open[i].flags, 0);
	}
}

static const int three[] = { 0, 1, 2 };

static void plain(void)
{
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

	for (int fd = 3; fd < 40; fd++)
		table_open(fd);
	table_open(limit - 1);
	spawn_and_hear(&options, NULL);
	check_numbers(three, 3);
	CHECK_EQUAL(told.mask, 0);
	CHECK_EQUAL(options.pidfd, -1);
	for (int fd = 3; fd < 40; fd++)
		CHECK_EQUAL(fcntl(fd, F_GETFD), 0);
}

static void lowered(void)
{
	struct rlimit low = { 64, 64 };

	for (int fd = 900; fd < 910; fd++)
		table_open(fd);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &low), 0);
	{
		struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

		spawn_and_hear(&options, NULL);
		check_numbers(three, 3);
	}
}

static void dense(void)
{
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

	for (int fd = 3; fd < limit - 10 && fd < 10000; fd++)
		table_open(fd);
	spawn_and_hear(&options, NULL);
	check_numbers(three, 3);
}

static void closed_stdio(void)
{
	static const int two[] = { 1, 2 };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

	/* The pipe takes number 0 here. */
	table_open(5);
	(void)close(0);
	spawn_and_hear(&options, NULL);
	CHECK(told_inode(0) == 0 || told.count == 2 || told_inode(0) != told_inode(1));
	check_numbers(two, 2);
}

static uint32_t random_state = 99;
static int random_below(int most)
{
	random_state = random_state * 1664525U + 1013904223U;
	return (int)((uint64_t)random_state * (uint64_t)most >> 32);
}

static int memfd(void)
{
	int fd = (int)syscall(SYS_memfd_create, "x", 0);

	CHECK(fd >= 0);
	return fd;
}

/* Numbers 3 to 14 are files of their own; any of them goes anywhere. */
static void maps(void)
{
	uint64_t inodes[15];

	table_clear(3, 30);
	for (int fd = 3; fd < 15; fd++) {
		CHECK_EQUAL(memfd(), fd);
		inodes[fd] = inode_of(fd);
		if (fd % 2)
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	for (int round = 0; round < 60; round++) {
		struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
		struct syscull_spawn_map map[12];
		int to[20], used = 0;

		for (int i = 0; i < 20; i++)
			to[i] = i < 14 ? i + 3 : 40 + i * 7;
		for (int i = 0; i < 20; i++) {
			int j = random_below(20), swapped = to[i];

			to[i] = to[j];
			to[j] = swapped;
		}
		used = round < 6 ? 2 + round : 1 + random_below(12);
		for (int i = 0; i < used; i++) {
			map[i].from = 3 + random_below(12);
			map[i].to = to[i];
			/* Rings of all lengths first. */
			if (round < 6) {
				map[i].from = 3 + i;
				map[i].to = 3 + (i + 1) % used;
			}
		}
		options.map = map;
		options.map_count = (size_t)used;
		spawn_and_hear(&options, NULL);
		CHECK_EQUAL(told.count, 3 + used);
		for (int i = 0; i < used; i++)
			CHECK_EQUAL(told_inode(map[i].to), inodes[map[i].from]);
		for (int fd = 3; fd < 15; fd++)
			CHECK_EQUAL(inode_of(fd), inodes[fd]);
	}
}

static void swap_stdio(void)
{
	static const struct syscull_spawn_map map[] = { { 0, 1 }, { 1, 0 }, { 1, 9 } };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

	CHECK_EQUAL(dup2(memfd(), 0), 0);
	CHECK_EQUAL(dup2(memfd(), 1), 1);
	options.map = map;
	options.map_count = 3;
	spawn_and_hear(&options, NULL);
	CHECK_EQUAL(told_inode(0), inode_of(1));
	CHECK_EQUAL(told_inode(1), inode_of(0));
	CHECK_EQUAL(told_inode(9), inode_of(1));
}

static void kept(void)
{
	static int many[10000];
	static const int five[] = { 0, 1, 2, 7, 1100 };
	static const int odd[] = { 1100, 7, -1, 7, 5, 8, 2, INT32_MIN };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;

	for (int fd = 3; fd < 1200 && fd < limit; fd++)
		table_open(fd);
	/* Marked ones stay marked; what is not open is not there. */
	(void)fcntl(5, F_SETFD, FD_CLOEXEC);
	(void)close(8);
	options.keep = odd;
	options.keep_count = sizeof odd / sizeof odd[0];
	spawn_and_hear(&options, NULL);
	/* Number 8 is an end of the pipe by now, which is marked. */
	check_numbers(five, 5);
	for (int i = 0; i < 10000; i++)
		many[i] = (i * 7919 % 10000) * 2;
	options.keep = many;
	options.keep_count = 10000;
	spawn_and_hear(&options, NULL);
	for (int i = 0; i < told.count; i++)
		CHECK(told.open[i].fd <= 2 || told.open[i].fd % 2 == 0);
	CHECK(told.count > 590);
}

static void signals(void)
{
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
	sigset_t mask, other, now;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGTERM);
	CHECK_EQUAL(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	spawn_and_hear(&options, NULL);
	CHECK_EQUAL(told.mask, 0);
	CHECK_EQUAL(told.ignored, 1ULL << SIGPIPE | 1ULL << SIGHUP);
	options.flags = SYSCULL_SPAWN_KEEP_MASK;
	sigemptyset(&other);
	sigaddset(&other, SIGPIPE);
	options.reset = &other;
	spawn_and_hear(&options, NULL);
	CHECK_EQUAL(told.mask, 1ULL << SIGUSR1 | 1ULL << SIGTERM);
	CHECK_EQUAL(told.ignored, 1ULL << SIGHUP);
	options.flags = SYSCULL_SPAWN_RESET_IGNORED;
	options.mask = &other;
	options.reset = NULL;
	spawn_and_hear(&options, NULL);
	CHECK_EQUAL(told.mask, 1ULL << SIGPIPE);
	CHECK_EQUAL(told.ignored, 0);
	CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &now), 0);
	for (int number = 1; number < 32; number++)
		CHECK_EQUAL(sigismember(&now, number), number == SIGUSR1 || number == SIGTERM);
	(void)signal(SIGPIPE, SIG_DFL);
}

static void folder_and_session(void)
{
	char variable[] = "LISTEN_PID=\0........... ", other[] = "OTHER=1";
	char *envp[] = { variable, other, NULL };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
	struct pollfd waits;
	char digits[16];

	options.flags = SYSCULL_SPAWN_SETSID | SYSCULL_SPAWN_PIDFD;
	options.cwd = "/usr";
	options.pid_text = variable + sizeof "LISTEN_PID=" - 1;
	spawn_and_hear(&options, envp);
	CHECK_EQUAL(told.session_own, 1);
	CHECK(strcmp(told.cwd, "/usr") == 0);
	(void)snprintf(digits, sizeof digits, "%d", told.pid);
	CHECK(strcmp(told.listen, digits) == 0);
	if (options.pidfd < 0)
		return; /* before Linux 5.2 */
	CHECK_EQUAL(fcntl(options.pidfd, F_GETFD), FD_CLOEXEC);
	waits.fd = options.pidfd;
	waits.events = POLLIN;
	CHECK_EQUAL(poll(&waits, 1, 10000), 1);
	CHECK_EQUAL(close(options.pidfd), 0);
}

static void searched(void)
{
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
	static char search[8192];
	char folder[4096];

	(void)snprintf(folder, sizeof folder, "%s", self);
	*strrchr(folder, '/') = '\0';
	(void)snprintf(search, sizeof search, "/nowhere::/dev/null:%s:/bin", folder);
	options.search = search;
	spawn_and_hear(&options, NULL);
}

/* Errors: none leaves a child, a descriptor, a mask or an errno behind. */
static void expect(const char *path, struct syscull_spawn_options *options, int error, unsigned int step)
{
	char word[] = "x";
	char *argv[] = { word, NULL };
	sigset_t mask;

	options->flags |= SYSCULL_SPAWN_PIDFD;
	options->hints = first_hints;
	errno = 4711;
	CHECK_EQUAL(syscull_spawn(path, argv, NULL, options), error);
	CHECK_EQUAL(errno, 4711);
	CHECK_EQUAL(options->step, step);
	CHECK_EQUAL(options->pidfd, -1);
	CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQUAL(errno, ECHILD);
	CHECK(!table_is_open(3));
	CHECK_EQUAL(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	CHECK_EQUAL(sigismember(&mask, SIGUSR1), 0);
}

static void errors(void)
{
	static const struct syscull_spawn_map not_open[] = { { 77, 5 } }, far[] = { { 1, 1 << 30 } };
	static const struct syscull_spawn_map twice[] = { { 0, 5 }, { 1, 5 } }, negative[] = { { -1, 5 } };
	static struct syscull_spawn_map many[SYSCULL_SPAWN_MAP_MAX + 1];
	static char huge[1 << 18];
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT, fresh = SYSCULL_SPAWN_OPTIONS_INIT;
	char word[] = "x";
	char *argv[] = { word, NULL }, *large[] = { word, huge, NULL };

	table_clear(3, 100);
	expect("/nowhere/at-all", &options, -ENOENT, SYSCULL_SPAWN_STEP_EXEC);
	expect("/dev/null", &options, -EACCES, SYSCULL_SPAWN_STEP_EXEC);
	expect("/dev/null/x", &options, -ENOTDIR, SYSCULL_SPAWN_STEP_EXEC);
	options.search = "/nowhere:/dev";
	expect("null", &options, -EACCES, SYSCULL_SPAWN_STEP_EXEC);
	expect("not-there", &options, -ENOENT, SYSCULL_SPAWN_STEP_EXEC);
	options = fresh;
	options.cwd = "/nowhere";
	expect("/bin/true", &options, -ENOENT, SYSCULL_SPAWN_STEP_CWD);
	options = fresh;
	options.map = not_open;
	options.map_count = 1;
	expect("/bin/true", &options, -EBADF, SYSCULL_SPAWN_STEP_MAP);
	options.map = far;
	expect("/bin/true", &options, -EBADF, SYSCULL_SPAWN_STEP_MAP);
	options.map = twice;
	options.map_count = 2;
	expect("/bin/true", &options, -EINVAL, SYSCULL_SPAWN_STEP_ARGUMENTS);
	options.map = negative;
	options.map_count = 1;
	expect("/bin/true", &options, -EINVAL, SYSCULL_SPAWN_STEP_ARGUMENTS);
	for (int i = 0; i <= SYSCULL_SPAWN_MAP_MAX; i++)
		many[i].to = i;
	options.map = many;
	options.map_count = SYSCULL_SPAWN_MAP_MAX + 1;
	expect("/bin/true", &options, -E2BIG, SYSCULL_SPAWN_STEP_ARGUMENTS);
	options = fresh;
	options.flags = 0x8000;
	expect("/bin/true", &options, -EINVAL, SYSCULL_SPAWN_STEP_ARGUMENTS);
	options = fresh;
	options.keep_count = 1;
	expect("/bin/true", &options, -EINVAL, SYSCULL_SPAWN_STEP_ARGUMENTS);
	options = fresh;
	options.size = 8;
	CHECK_EQUAL(syscull_spawn("/bin/true", argv, NULL, &options), -EINVAL);
	CHECK_EQUAL(syscull_spawn(NULL, argv, NULL, NULL), -EINVAL);
	CHECK_EQUAL(syscull_spawn("/bin/true", NULL, NULL, NULL), -EINVAL);
	memset(huge, 'x', sizeof huge - 1);
	CHECK_EQUAL(syscull_spawn("/bin/true", large, NULL, NULL), -E2BIG);
}

/* A handler of the parent's never runs in the child. */
static volatile sig_atomic_t alarms;
static pid_t parent;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
	if (getpid() != parent)
		_exit(66);
}

static void handlers(void)
{
	struct itimerval every = { { 0, 700 }, { 0, 700 } };
	char word[] = "true";
	char *argv[] = { word, NULL };
	struct sigaction action;

	parent = getpid();
	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	action.sa_flags = SA_RESTART;
	CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	CHECK_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
	for (int i = 0; i < 60; i++) {
		struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
		pid_t pid;
		int status;

		options.hints = first_hints;
		pid = syscull_spawn("/bin/true", argv, NULL, &options);
		CHECK(pid > 0);
		CHECK_EQUAL(waitpid(pid, &status, 0), pid);
		CHECK_EQUAL(status, 0);
	}
	CHECK(alarms > 0);
	every.it_value.tv_usec = every.it_interval.tv_usec = 0;
	CHECK_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void *spawn_some(void *arg)
{
	char word[] = "true";
	char *argv[] = { word, NULL };

	for (int i = 0; i < 25; i++) {
		struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
		int status = 0, fd = open("/dev/null", O_RDONLY);
		pid_t pid;

		options.hints = *(uint32_t *)arg;
		pid = syscull_spawn(i % 5 == 4 ? "/nowhere" : "/bin/true", argv, NULL, &options);
		if (i % 5 == 4 ? pid != -ENOENT : pid <= 0)
			return arg;
		if (pid > 0 && (waitpid(pid, &status, 0) != pid || status != 0))
			return arg;
		(void)close(fd);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t running[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_create(&running[i], NULL, spawn_some, &first_hints), 0);
	for (int i = 0; i < 4; i++) {
		void *result;

		CHECK_EQUAL(pthread_join(running[i], &result), 0);
		CHECK(result == NULL);
	}
}

static void in_vfork(void)
{
	char word[] = "true";
	char *argv[] = { word, NULL };
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		pid_t inner = syscull_spawn("/bin/true", argv, NULL, NULL);

		_exit(inner > 0 && waitpid(inner, &status, 0) == inner && status == 0 ? 0 : 1);
	}
	CHECK(pid > 0);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
}

static void costs(void)
{
	static const struct syscull_spawn_map map[] = { { 0, 1 }, { 1, 0 } };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT;
	char word[] = "true";
	char *argv[] = { word, NULL };

	for (int fd = 3; fd < 100; fd++)
		table_open(fd);
	for (int ring = 0; ring < 2; ring++) {
		options.map = map;
		options.map_count = ring ? 2 : 0;
		CHECK(syscull_spawn("/bin/true", argv, NULL, &options) > 0);
		CHECK(wait(NULL) > 0);
		/* A ring of two: two entries, the copy that opens it, and that copy's mark is its own. */
		CHECK_EQUAL(options.calls, ring ? 6 + 3 : 6);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "plain", plain },
	{ "lowered limit", lowered },
	{ "dense", dense },
	{ "closed stdio", closed_stdio },
	{ "maps", maps },
	{ "swapped stdio", swap_stdio },
	{ "kept", kept },
	{ "signals", signals },
	{ "folder, session, pid", folder_and_session },
	{ "searched", searched },
	{ "errors", errors },
	{ "handlers", handlers },
	{ "threads", threads },
	{ "vfork", in_vfork },
};

static void (*case_run)(void);
static int refusal;

enum { NOTHING, LEGACY, CLONE3_PERM, RANGE, RANGE_AND_UNSHARE, RANGE_UNSHARE_AND_LIST, LEGACY_AND_RANGE, REFUSALS };

static void refused_case(void)
{
	first_hints = refusal == LEGACY ? NO_CLONE3 : 0;
	if (refusal == CLONE3_PERM)
		table_refuse_all(435, EPERM);
	if (refusal == LEGACY_AND_RANGE)
		table_refuse_all(435, ENOSYS);
	if (refusal >= RANGE)
		table_refuse_all(SYS_close_range, EPERM);
	if (refusal == RANGE_AND_UNSHARE || refusal == RANGE_UNSHARE_AND_LIST)
		table_refuse_all(SYS_unshare, EPERM);
	if (refusal == RANGE_UNSHARE_AND_LIST)
		table_refuse_all(SYS_getdents64, EACCES);
	case_run();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "tell") == 0)
		tell(argv[2]);
	/* What our caller ignores is inherited, and would be in every answer. */
	for (int number = 1; number < 32; number++)
		(void)signal(number, SIG_DFL);
	if (realpath(argv[0], self) == NULL)
		SKIP("this program is not found");
	limit = table_limit();
	if (limit < 1300)
		SKIP("no more than %d descriptors may be open", limit);
	/* Where this program cannot run by itself: another machine's, emulated. */
	if (table_emulated()) {
		table_case("handlers", handlers);
		return check_done();
	}
	/* Under valgrind a vfork is a fork: what fails is not told. */
	if (argc > 1 && strcmp(argv[1], "guest") == 0) {
		table_case("swapped stdio", swap_stdio);
		table_case("signals", signals);
		table_case("searched", searched);
		return check_done();
	}
	for (refusal = 0; refusal < REFUSALS; refusal++)
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			char name[64];

			(void)snprintf(name, sizeof name, "%s (refusal %d)", cases[i].name, refusal);
			case_run = cases[i].run;
			/* The libc's own threads need it. */
			if (case_run == threads && refusal == CLONE3_PERM)
				continue;
			table_case(name, refused_case);
		}
	table_case("costs", costs);
	return check_done();
}
