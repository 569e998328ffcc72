/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that share a memo, ask of files on several mounts, declare and drop;
 * meanwhile children are forked, which ask as well.  Every answer is held
 * against a plain look-up.  Built with the thread sanitizer by frame.py.
 */
#include "syscull/xattr.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define THREADS 6
#define TURNS 3000
#define WANTED (SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_ACL_NFS4 | SYSCULL_XATTR_CAPABILITY)

static const char *const paths[] = { "/proc/version", "/proc", "/sys", "/sys/kernel/uevent_seqnum",
				     "/dev/null",     "/dev",  "/",    "/etc/passwd",
				     "/proc/self",    "/tmp" };
static struct syscull_xattr_memo *memo;

static int ask_all(unsigned int turn)
{
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		const char *path = paths[(i + turn) % (sizeof paths / sizeof paths[0])];
		struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, path);
		struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
		struct statx stx;

		if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MNT_ID, &stx) < 0)
			continue;
		syscull_xattr_file_statx(&file, &stx);
		if (syscull_xattr_ask(memo, &file, WANTED, &answers) < 0)
			return -1;
		for (uint32_t bit = 1; bit <= SYSCULL_XATTR_CAPABILITY; bit <<= 1) {
			uint32_t should;
			ssize_t plain;

			if (!(WANTED & bit))
				continue;
			plain = lgetxattr(path, syscull_xattr_name(bit), NULL, 0);
			should = plain >= 0				   ? answers.present
				 : errno == ENODATA || errno == EOPNOTSUPP ? answers.absent
									   : answers.unknown;
			if (!(should & bit))
				return -1;
		}
	}
	return 0;
}

static void *work(void *number)
{
	long failed = 0;

	for (unsigned int turn = 0; turn < TURNS && failed == 0; turn++) {
		if (turn % 50 == 0)
			syscull_xattr_memo_drop(memo);
		if (turn % 64 == 1)
			/* A mount that is not there. */
			(void)syscull_xattr_memo_declare(memo, 1ULL << 60 | turn, SYSCULL_XATTR_HAVE_MOUNT);
		failed = ask_all(turn + (unsigned int)(uintptr_t)number);
	}
	return (void *)failed;
}

int main(void)
{
	struct syscull_xattr_memo_options options = { .size = sizeof options, .flags = SYSCULL_XATTR_SHARED };
	struct syscull_xattr_counters counters = { .size = sizeof counters };
	pthread_t threads[THREADS];

	memo = syscull_xattr_memo_new(&options);
	CHECK(memo != NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (unsigned int i = 0; i < 20; i++) {
		pid_t child = fork();
		int status;

		CHECK(child >= 0);
		/* Without an alarm a child that waits for a thread it does not have would never end. */
		if (child == 0) {
			(void)alarm(60);
			_exit(ask_all(i) < 0);
		}
		CHECK_EQUAL(waitpid(child, &status, 0), child);
		CHECK_EQUAL(status, 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		void *failed;

		CHECK_EQUAL(pthread_join(threads[i], &failed), 0);
		CHECK(failed == NULL);
	}
	CHECK_EQUAL(syscull_xattr_memo_count(memo, &counters), 0);
	CHECK(counters.skipped > 0 && counters.learnt > 0);
	syscull_xattr_memo_free(memo);
	return check_done();
}
