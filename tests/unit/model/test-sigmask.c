/* SPDX-License-Identifier: BSD-2-Clause */
/* Which signals a thread blocks before and after a call. */
#include <signal.h>

#include "stream.h"

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define START "task 100 exe=/bin/x\nlimits 100 mask=0x2\n" /* SIGINT */

static void assert_after(struct stream *s, uint64_t mask)
{
	struct model_sigmask got = model_sigmask(s->model, &s->last);

	assert_true(got.after_known);
	assert_true(got.after == mask);
}

static void assert_both(struct stream *s, uint64_t before, uint64_t after)
{
	struct model_sigmask got = model_sigmask(s->model, &s->last);

	assert_true(got.before_known);
	assert_true(got.before == before);
	assert_after(s, after);
}

static void assert_unknown_after(struct stream *s)
{
	assert_false(model_sigmask(s->model, &s->last).after_known);
}

static void test_sets(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 getpid() = 100\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT));
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, [SIGTERM, SIGKILL, SIGSTOP], NULL, 8) = 0\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT) | BIT(SIGTERM));
	stream_feed(&s, "100 rt_sigprocmask(SIG_UNBLOCK, [SIGINT, SIGHUP], NULL, 8) = 0\n");
	assert_both(&s, BIT(SIGINT) | BIT(SIGTERM), BIT(SIGTERM));
	/* As it was. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGTERM], NULL, 8) = 0\n");
	assert_both(&s, BIT(SIGTERM), BIT(SIGTERM));
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, NULL, [SIGTERM], 8) = 0\n");
	assert_both(&s, BIT(SIGTERM), BIT(SIGTERM));
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [], [SIGTERM], 8) = 0\n100 getpid() = 100\n");
	assert_both(&s, 0, 0);
	/* Failed. */
	stream_feed(&s, "100 rt_sigprocmask(7, [SIGTERM], NULL, 8) = -1 EINVAL\n");
	assert_both(&s, 0, 0);
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, ?, NULL, 8) = -1 EFAULT\n");
	assert_both(&s, 0, 0);
	/* Set already when the old one could not be stored. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, [SIGTERM], ?, 8) = -1 EFAULT\n");
	assert_unknown_after(&s);
	assert_true(model_sigmask(s.model, &s.last).before_known);
	/* Temporary masks are over when the call is. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGINT], NULL, 8) = 0\n"
			"100 ppoll(NULL, 0, NULL, [SIGTERM], 8) = 0\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT));
	stream_feed(&s, "100 rt_sigsuspend([SIGTERM], 8) = -1 EINTR\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT));
	stream_done(&s);
}

static void test_unknown(void **state)
{
	struct stream s = { 0 };
	struct model_sigmask mask;

	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, [SIGTERM], NULL, 8) = 0\n");
	mask = model_sigmask(s.model, &s.last);
	assert_false(mask.before_known || mask.after_known);
	/* The old set tells, and is believed before what we followed. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, [SIGHUP], [SIGTERM], 8) = 0\n");
	assert_both(&s, BIT(SIGTERM), BIT(SIGTERM) | BIT(SIGHUP));
	stream_feed(&s, "100 rt_sigprocmask(SIG_UNBLOCK, [SIGHUP], [SIGUSR1, SIGHUP], 8) = 0\n");
	assert_both(&s, BIT(SIGUSR1) | BIT(SIGHUP), BIT(SIGUSR1));
	/* Sets that nobody read. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, ?, NULL, 8) = 0\n");
	assert_unknown_after(&s);
	assert_true(model_sigmask(s.model, &s.last).before_known);
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGINT], ?, 8) = 0\n");
	assert_false(model_sigmask(s.model, &s.last).before_known);
	assert_after(&s, BIT(SIGINT));
	/* Behind a handler. */
	stream_feed(&s, "100 rt_sigreturn() = 0\n");
	mask = model_sigmask(s.model, &s.last);
	assert_false(mask.before_known || mask.after_known);
	stream_feed(&s, "100 rt_sigprocmask(SIG_BLOCK, NULL, [SIGINT], 8) = 0\n100 rt_sigreturn() = -1 EINTR\n");
	assert_unknown_after(&s);
	/* Lost calls, and calls that cannot be read. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGINT], NULL, 8) = 0\nlost 1\n100 getpid() = 100\n");
	assert_unknown_after(&s);
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGINT], NULL, 8) = 0\n");
	assert_after(&s, BIT(SIGINT));
	stream_feed(&s, "100 i386:175(0, _, _, 8) = 0\n");
	assert_unknown_after(&s);
	stream_done(&s);

	/* Where nobody asked for sets. */
	s = (struct stream){ .items = MODEL_ITEMS };
	stream_feed(&s, START "100 rt_sigprocmask(SIG_SETMASK, [SIGTERM], [SIGINT], 8) = 0\n");
	assert_true(model_sigmask(s.model, &s.last).before == BIT(SIGINT));
	assert_unknown_after(&s);
	stream_done(&s);
}

static void test_tasks(void **state)
{
	struct stream s = { 0 };

	/* A thread inherits it and has one of its own. */
	stream_feed(&s, START "thread 100 101\n101 rt_sigprocmask(SIG_BLOCK, [SIGTERM], NULL, 8) = 0\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT) | BIT(SIGTERM));
	stream_feed(&s, "100 getpid() = 100\n");
	assert_both(&s, BIT(SIGINT), BIT(SIGINT));
	stream_feed(&s, "fork 101 200\n200 getpid() = 200\n");
	assert_after(&s, BIT(SIGINT) | BIT(SIGTERM));
	stream_feed(&s, "200 rt_sigprocmask(SIG_SETMASK, [SIGHUP], NULL, 8) = 0\nvfork 200 300\nexec 300 /bin/y\n"
			"300 getpid() = 300\n");
	assert_after(&s, BIT(SIGHUP));
	/* The thread that called execve brings its own. */
	stream_feed(&s, "exec 100 /bin/y from=101\n100 getpid() = 100\n");
	assert_after(&s, BIT(SIGINT) | BIT(SIGTERM));
	stream_feed(&s, "exec 100 /bin/z from=999\n100 getpid() = 100\n");
	assert_unknown_after(&s);
	/* Calls that came before the record of the birth. */
	stream_feed(&s, "100 rt_sigprocmask(SIG_SETMASK, [SIGINT], NULL, 8) = 0\n"
			"400 rt_sigprocmask(SIG_SETMASK, [SIGUSR2], NULL, 8) = 0\nfork 100 400\n400 getpid() = 400\n");
	assert_after(&s, BIT(SIGUSR2));
	stream_feed(&s, "500 getpid() = 500\nfork 100 500\n500 getpid() = 500\n");
	assert_after(&s, BIT(SIGINT));
	/* A record that is no call. */
	stream_feed(&s, "fork 100 501\n");
	assert_unknown_after(&s);
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
