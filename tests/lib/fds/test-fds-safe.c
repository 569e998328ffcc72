/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where these functions may be called: in the child of a vfork, in a handler
 * that interrupts malloc, beside threads that open and close, in a process
 * that shares its table, on a stack of 16 KiB.
 */
#include "syscull/fds.h"

#include "table.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#define STACK_PROMISED 16384
#ifndef _SC_MINSIGSTKSZ
#define _SC_MINSIGSTKSZ 249
#endif

static int limit;
/* Under valgrind, which is slow, and has descriptors of its own in our table. */
static bool guest;

static const uint32_t ways[] = {
	0,
	SYSCULL_FDS_NO_RANGE,
	SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_LOOP,
	SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_PROCFS,
};

static int nothing(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	return 0;
}

/* All there is, by all ways.  Nothing from `from` up is ours. */
static int everything(int from)
{
	static const int kept[] = { 99999, 3, -1, 70000 };
	int failed = 0, answer;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;

		options.flags = ways[i];
		failed |= syscull_fds_close(from, kept, 4, &options) != 0;
		failed |= syscull_fds_cloexec(from, kept, 4, &options) != 0;
		options.flags &= ~SYSCULL_FDS_NO_RANGE;
		failed |= syscull_fds_highest(&options, &answer) != 1;
		failed |= syscull_fds_count(&options, &answer) != 0;
		failed |= syscull_fds_walk(0, nothing, NULL, &options) != 0;
	}
	return failed;
}

static void in_vfork(void)
{
	volatile int before = 4711;
	int status;
	pid_t pid;

	for (int fd = 3; fd < 40; fd++)
		table_open(fd);
	errno = before;
	pid = vfork();
	if (pid == 0)
		_exit(everything(5) ? 1 : errno != 4711 ? 2 : 0);
	CHECK_EQUAL(errno, 4711);
	CHECK(pid > 0);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
	for (int fd = 3; fd < 40; fd++)
		CHECK(table_is_open(fd));
}

static volatile sig_atomic_t handled, failed;
static int above;

static void on_alarm(int number)
{
	int saved = errno;

	(void)number;
	errno = 4711;
	if (everything(above) || errno != 4711)
		failed = 1;
	errno = saved;
	handled++;
}

static void in_handler(void)
{
	static void *kept[64];
	const int rounds = guest ? 10 : 60;
	const struct itimerval once = { { 0, 0 }, { 0, 500 } };
	struct sigaction action;
	unsigned int state = 7;

	above = 100;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_alarm;
	CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	(void)alarm(0);
	for (int round = 0; round < rounds; round++) {
		CHECK_EQUAL(setitimer(ITIMER_REAL, &once, NULL), 0);
		for (unsigned long i = 0; handled == round && i < 400000000UL; i++) {
			state = state * 1664525U + 1013904223U;
			free(kept[state >> 26]);
			kept[state >> 26] = malloc(state >> 16 & 4095);
		}
	}
	(void)signal(SIGALRM, SIG_DFL);
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	CHECK_EQUAL(handled, rounds);
	CHECK_EQUAL(failed, 0);
}

/*
 * Other threads open and close.  What was there before is gone; what they
 * open is theirs, and there is no promise.
 */
static atomic_int stop;

static void *open_and_close(void *arg)
{
	(void)arg;
	while (!stop) {
		int fd = open("/dev/null", O_RDONLY), pair[2];

		if (pipe(pair) == 0) {
			(void)close(pair[0]);
			(void)close(pair[1]);
		}
		if (fd >= 0)
			(void)close(fd);
	}
	return NULL;
}

static void beside_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
	for (int round = 0; round < 40; round++) {
		struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;
		int answer;

		/* High numbers: nobody else is given these. */
		for (int fd = 1000; fd < 1100; fd++)
			CHECK_EQUAL(dup2(2, fd), fd);
		options.flags = ways[round % 4];
		CHECK_EQUAL(round % 8 < 4 ? syscull_fds_close(500, NULL, 0, &options)
					  : syscull_fds_cloexec(500, NULL, 0, &options),
			    0);
		for (int fd = 1000; fd < 1100; fd++) {
			int flags = fcntl(fd, F_GETFD);

			CHECK(round % 8 < 4 ? flags < 0 : flags == FD_CLOEXEC);
		}
		CHECK_EQUAL(syscull_fds_highest(NULL, &answer), 1);
		CHECK_EQUAL(syscull_fds_count(NULL, &answer), 0);
		CHECK(answer >= 3);
	}
	/* A table of this thread's own is out of their reach. */
	for (int fd = 1000; fd < 1050; fd++)
		CHECK_EQUAL(dup2(2, fd), fd);
	{
		struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;
		int answer;

		options.flags = SYSCULL_FDS_UNSHARE;
		CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), 0);
		CHECK_EQUAL(syscull_fds_count(NULL, &answer), 0);
		if (!guest)
			CHECK_EQUAL(answer, 3);
		CHECK_EQUAL(syscull_fds_highest(NULL, &answer), 1);
		if (!guest)
			CHECK_EQUAL(answer, 2);
	}
	stop = 1;
	for (int i = 0; i < 4; i++)
		CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
}

/* Two processes with one table: both lose what one closes, unless it unshares. */
static int closes_shared(void *arg)
{
	struct syscull_fds_options options = SYSCULL_FDS_OPTIONS_INIT;

	options.flags = *(const uint32_t *)arg;
	return syscull_fds_close(10, NULL, 0, &options) != 0;
}

static void beside_sibling(void)
{
	static char stack[1 << 17] __attribute__((aligned(16)));

	for (uint32_t flags = 0; flags <= SYSCULL_FDS_UNSHARE; flags++) {
		int status;
		pid_t pid;

		for (int fd = 3; fd < 20; fd++)
			table_open(fd);
		pid = clone(closes_shared, stack + sizeof stack, CLONE_FILES | SIGCHLD, &flags);
		CHECK(pid > 0);
		CHECK_EQUAL(waitpid(pid, &status, 0), pid);
		CHECK_EQUAL(status, 0);
		for (int fd = 3; fd < 20; fd++)
			CHECK_EQUAL(table_is_open(fd), fd < 10 || flags != 0);
	}
}

#ifndef SANITIZED
static size_t signal_frame(void)
{
	long size = sysconf(_SC_MINSIGSTKSZ);

	return size > 0 ? (size_t)size : 4096;
}

/* On a stack that ends where was promised: below it is nothing. */
static unsigned char *small_stack;

static void on_small_stack(int number)
{
	(void)number;
	failed = everything(200);
}

static void stack_bound(void)
{
	/* The kernel's frame for the handler comes on top, and may be large. */
	const size_t frame = 12288 + signal_frame();
	const size_t size = (STACK_PROMISED + frame + 4095) / 4096 * 4096;
	struct sigaction action;
	stack_t stack;
	size_t untouched = 0;

	small_stack = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(small_stack != MAP_FAILED);
	CHECK_EQUAL(mprotect(small_stack, 4096, PROT_NONE), 0);
	memset(small_stack + 4096, 0xa5, size);
	memset(&stack, 0, sizeof stack);
	stack.ss_sp = small_stack + 4096;
	stack.ss_size = size;
	CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
	memset(&action, 0, sizeof action);
	action.sa_handler = on_small_stack;
	action.sa_flags = SA_ONSTACK;
	CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	failed = 1;
	CHECK_EQUAL(raise(SIGUSR1), 0);
	CHECK_EQUAL(failed, 0);
	while (untouched < size && small_stack[4096 + untouched] == 0xa5)
		untouched++;
	/* Without the kernel's frame it is still too much by that frame: an upper bound. */
	CHECK(size - untouched <= STACK_PROMISED + signal_frame());
}
#endif

int main(int argc, char **argv)
{
	guest = argc > 1 && strcmp(argv[1], "guest") == 0;
	limit = table_limit();
	if (limit < 1200)
		SKIP("no more than %d descriptors may be open", limit);
	table_case("vfork", in_vfork);
	table_case("handler", in_handler);
	table_case("threads", beside_threads);
	if (!guest)
		table_case("sibling", beside_sibling);
#ifndef SANITIZED
	if (!guest)
		table_case("stack", stack_bound);
#endif
	return check_done();
}
