/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of what calls are given, both ways. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sys/flags.h"
#include "test.h"

static const char *text_of(enum sys_call_id id, unsigned arg, uint64_t value)
{
	static char text[512];
	struct buf out = BUF_INIT;

	text[0] = '\0';
	if (sys_value_put(&out, id, arg, value))
		(void)strcpy(text, buf_text(&out));
	else
		assert_int_equal(out.bytes, 0);
	buf_done(&out);
	return text;
}

#define IS(id, arg, value, text) assert_string_equal(text_of(CALL_##id, arg, (uint64_t)(value)), text)

static void words_of_files(void **state)
{
	(void)state;
	IS(openat, 2, O_RDONLY, "O_RDONLY");
	IS(openat, 2, O_RDONLY | O_CLOEXEC | O_DIRECTORY, "O_RDONLY|O_DIRECTORY|O_CLOEXEC");
	IS(open, 1, O_RDWR | O_CREAT | O_EXCL, "O_RDWR|O_CREAT|O_EXCL");
	/* The larger one, not its parts. */
	IS(openat, 2, O_WRONLY | O_TMPFILE, "O_WRONLY|O_TMPFILE");
	IS(openat, 2, O_WRONLY | O_SYNC, "O_WRONLY|O_SYNC");
	IS(openat, 2, O_WRONLY | O_DSYNC, "O_WRONLY|O_DSYNC");
	IS(openat, 2, 3, "0x3");
	IS(openat, 2, O_PATH | 0x80000000u, "O_RDONLY|O_PATH|0x80000000");
	/* No access is asked for where there is none. */
	IS(pipe2, 1, O_CLOEXEC, "O_CLOEXEC");
	IS(dup3, 2, 0, "");
	IS(newfstatat, 3, 0, "");
	IS(newfstatat, 3, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, "AT_SYMLINK_NOFOLLOW|AT_EMPTY_PATH");
	IS(unlinkat, 2, AT_REMOVEDIR, "AT_REMOVEDIR");
	IS(faccessat2, 3, AT_EACCESS, "AT_EACCESS");
	IS(access, 1, F_OK, "F_OK");
	IS(access, 1, R_OK | X_OK, "R_OK|X_OK");
	IS(lseek, 2, SEEK_SET, "SEEK_SET");
	IS(lseek, 2, 77, "");
	IS(fcntl, 1, F_GETFL, "F_GETFL");
	IS(fcntl, 1, F_DUPFD_CLOEXEC, "F_DUPFD_CLOEXEC");
	IS(fcntl, 1, 5000, "");
	IS(ioctl, 1, 0x5401, "TCGETS");
	IS(ioctl, 1, 0x5413, "TIOCGWINSZ");
	IS(ioctl, 1, 0x12345, "");
}

static void words_of_memory(void **state)
{
	(void)state;
	IS(mmap, 2, PROT_NONE, "PROT_NONE");
	IS(mmap, 2, PROT_READ | PROT_WRITE, "PROT_READ|PROT_WRITE");
	IS(mmap, 2, PROT_READ | 0x40, "PROT_READ|0x40");
	IS(mmap, 3, MAP_PRIVATE | MAP_ANONYMOUS, "MAP_PRIVATE|MAP_ANONYMOUS");
	IS(mmap, 3, MAP_SHARED, "MAP_SHARED");
	IS(mmap, 3, 3, "MAP_SHARED_VALIDATE");
	IS(mmap, 3, MAP_ANONYMOUS, "MAP_ANONYMOUS");
	IS(mmap, 3, 0, "");
	IS(mremap, 3, MREMAP_MAYMOVE, "MREMAP_MAYMOVE");
	IS(madvise, 2, MADV_DONTNEED, "MADV_DONTNEED");
	IS(madvise, 2, 999, "");
}

static void words_of_the_rest(void **state)
{
	(void)state;
	IS(socket, 0, AF_UNIX, "AF_UNIX");
	IS(socket, 0, 999, "");
	IS(socket, 1, SOCK_STREAM | SOCK_CLOEXEC, "SOCK_STREAM|SOCK_CLOEXEC");
	IS(socket, 2, 0, "");
	IS(accept4, 3, SOCK_NONBLOCK, "SOCK_NONBLOCK");
	IS(sendto, 3, MSG_NOSIGNAL | MSG_DONTWAIT, "MSG_DONTWAIT|MSG_NOSIGNAL");
	IS(kill, 1, SIGTERM, "SIGTERM");
	IS(kill, 1, 0, "");
	IS(kill, 1, 65, "");
	IS(rt_sigaction, 0, 34, "SIGRTMIN");
	IS(clone, 0, CLONE_VM | CLONE_VFORK | SIGCHLD, "CLONE_VM|CLONE_VFORK|SIGCHLD");
	IS(clone, 0, SIGCHLD, "SIGCHLD");
	IS(clone, 0, 0, "");
	IS(clock_gettime, 0, CLOCK_MONOTONIC, "CLOCK_MONOTONIC");
	IS(futex, 1, 128, "FUTEX_WAIT|FUTEX_PRIVATE_FLAG");
	IS(futex, 1, 129, "FUTEX_WAKE|FUTEX_PRIVATE_FLAG");
	IS(rt_sigprocmask, 0, SIG_SETMASK, "SIG_SETMASK");
	IS(prlimit64, 1, 7, "RLIMIT_NOFILE");
	/* Not what these are. */
	IS(read, 0, 1, "");
	IS(read, 2, 1, "");
	IS(read, 5, 1, "");
	IS(unknown, 0, 1, "");
}

/* Upper halves are what the register held; the kernel does not look at them. */
static void upper_halves_are_nothing(void **state)
{
	(void)state;
	IS(openat, 2, UINT64_C(0xdead00000000) | O_RDWR, "O_RDWR");
	IS(kill, 1, UINT64_C(0xdead00000000) | SIGINT, "SIGINT");
}

static void assert_value(const char *name, uint64_t value)
{
	uint64_t got = ~value;

	assert_true(sys_value_of(name, strlen(name), &got));
	assert_int_equal(got, value);
}

static void names_have_values(void **state)
{
	uint64_t value;

	(void)state;
	assert_value("O_CLOEXEC", O_CLOEXEC);
	assert_value("PROT_NONE", 0);
	assert_value("MAP_ANONYMOUS", MAP_ANONYMOUS);
	assert_value("AF_UNIX", AF_UNIX);
	assert_value("SOCK_CLOEXEC", SOCK_CLOEXEC);
	assert_value("SIGCHLD", SIGCHLD);
	assert_value("SIGRTMIN+2", 36);
	assert_value("RLIMIT_NOFILE", 7);
	assert_false(sys_value_of("O_CLOEXE", 8, &value));
	assert_false(sys_value_of("O_CLOEXECS", 10, &value));
	assert_false(sys_value_of("", 0, &value));
	assert_false(sys_value_of("SIG", 3, &value));
}

/* What is written can be read again. */
static void what_is_written_can_be_read(void **state)
{
	static const struct {
		enum sys_call_id id;
		unsigned arg;
	} args[] = {
		{ CALL_openat, 2 }, { CALL_mmap, 2 },	{ CALL_mmap, 3 },   { CALL_unlinkat, 2 }, { CALL_clone, 0 },
		{ CALL_socket, 1 }, { CALL_socket, 0 }, { CALL_fcntl, 1 },  { CALL_futex, 1 },	  { CALL_wait4, 2 },
		{ CALL_lseek, 2 },  { CALL_kill, 1 },	{ CALL_sendto, 3 }, { CALL_madvise, 2 },  { CALL_flock, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
		for (uint64_t bit = 0; bit < 33; bit++) {
			uint64_t value = bit == 32 ? 0 : UINT64_C(1) << bit, sum = 0, word;
			char text[512], *at = text, *part;

			(void)strcpy(text, text_of(args[i].id, args[i].arg, value));
			if (text[0] == '\0')
				continue;
			while ((part = strsep(&at, "|"))) {
				char *end;

				word = strtoull(part, &end, 16);
				if (strncmp(part, "0x", 2) != 0)
					assert_true(sys_value_of(part, strlen(part), &word));
				sum |= word;
			}
			assert_int_equal(sum, value);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_files),    cmocka_unit_test(words_of_memory),
		cmocka_unit_test(words_of_the_rest), cmocka_unit_test(upper_halves_are_nothing),
		cmocka_unit_test(names_have_values), cmocka_unit_test(what_is_written_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
