/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file a descriptor is that came through a socket. */
#include "stream.h"

/* 200 has the other end of a socketpair, 100 has a file. */
#define PAIR \
	"task 100 exe=/bin/x cwd=/w\n100 socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0\nfork 100 200\n" \
	"100 close(4) = 0\n200 close(3) = 0\n100 open(\"a\", O_RDONLY) = 5\n100 open(\"b\", O_RDONLY) = 6\n"
/* 200 has accepted what 100 connected. */
#define CONNECTION \
	"task 100 exe=/bin/x cwd=/w\ntask 200 exe=/bin/y cwd=/w\n200 socket(AF_UNIX, SOCK_STREAM, 0) = 3\n" \
	"100 socket(AF_UNIX, SOCK_STREAM, 0) = 3\n100 connect(3, _, 20) = 0\n200 accept(3, NULL, NULL) = 4\n" \
	"100 open(\"a\", O_RDONLY) = 5\n100 open(\"b\", O_RDONLY) = 6\n"
#define SEND(fds) "100 sendmsg(3, {rights=[" fds "]}, 0) = 1\n"
#define TAKE(fds) "200 recvmsg(4, {rights=[" fds "]}, 0) = 1\n"

static const struct model_file *file_at(struct stream *s, int tid, int fd)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%d fsync(%d) = 0\n", tid, fd);
	stream_feed(s, line);
	return s->last.file;
}

static void assert_path(struct stream *s, int tid, int fd, const char *path)
{
	const struct model_file *file = file_at(s, tid, fd);

	assert_non_null(file);
	assert_non_null(file->path);
	assert_string_equal(file->path, path);
}

static void assert_unknown(struct stream *s, int tid, int fd)
{
	const struct model_file *file = file_at(s, tid, fd);

	assert_non_null(file);
	assert_null(file->path);
	assert_true(file->offset_shared);
	assert_int_equal(file->offset, -1);
}

static void test_pair(void **state)
{
	struct stream s = { 0 };
	uint64_t id;

	stream_feed(&s, PAIR "100 read(5, _, 7) = 7\n");
	id = file_at(&s, 100, 5)->id;
	stream_feed(&s, SEND("5, 6"));
	assert_true(file_at(&s, 100, 5)->offset_shared);
	stream_feed(&s, TAKE("8, 9"));
	assert_null(s.last.made);
	assert_true(file_at(&s, 200, 8)->id == id);
	assert_int_equal(file_at(&s, 200, 8)->offset, 7);
	assert_path(&s, 200, 9, "/w/b");
	/* Moved by one, seen by the other. */
	stream_feed(&s, "200 read(8, _, 3) = 3\n100 close(6) = 0\n");
	assert_int_equal(file_at(&s, 100, 5)->offset, 10);
	assert_false(file_at(&s, 200, 9)->offset_shared);
	/* Closed by the sender while it was under way. */
	stream_feed(&s, "100 open(\"c\", O_RDONLY) = 6\n" SEND("6") "100 close(6) = 0\n" TAKE("10"));
	assert_path(&s, 200, 10, "/w/c");
	/* Two under way arrive in order; the other direction is another one. */
	stream_feed(&s,
		    "100 open(\"d\", O_RDONLY) = 6\n" SEND("5") SEND("6") "200 sendmsg(4, {rights=[10]}, 0) = 1\n" TAKE(
			    "11") "100 recvmsg(3, {rights=[7]}, MSG_CMSG_CLOEXEC) = 1\n" TAKE("12"));
	assert_path(&s, 200, 11, "/w/a");
	assert_path(&s, 200, 12, "/w/d");
	assert_path(&s, 100, 7, "/w/c");
	stream_feed(&s, "exec 100 /bin/z\n");
	assert_null(file_at(&s, 100, 7));
	stream_done(&s);
}

static void test_pair_peeked(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, PAIR SEND("5") "200 recvmsg(4, {rights=[8]}, MSG_PEEK) = 1\n" TAKE("9"));
	assert_path(&s, 200, 8, "/w/a");
	assert_path(&s, 200, 9, "/w/a");
	stream_done(&s);
}

/* The receiver's record may come before the sender's. */
static void test_pair_received_first(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, PAIR "@1ms 100 getpid() = 1\n@1100us 200 recvmsg(4, {rights=[8]}, 0) = 1 <50us>\n"
			     "@1090us 100 sendmsg(3, {rights=[5]}, 0) = 1 <100us>\n");
	assert_unknown(&s, 200, 8);
	assert_true(file_at(&s, 100, 5)->offset_shared);
	stream_feed(&s, SEND("6") TAKE("9"));
	assert_path(&s, 200, 9, "/w/b");
	stream_done(&s);
}

static void test_pair_mixed_up(void **state)
{
	static const char *const cases[] = {
		/* Another number of descriptors: some were cut off. */
		SEND("5, 6") TAKE("8"),
		/* Data read without looking for descriptors: they are gone, or still to come. */
		SEND("5") "200 read(4, _, 10) = 1\n" SEND("6") TAKE("8"),
		SEND("5") "200 recvfrom(4, _, 10, 0, NULL, NULL) = 1\n" SEND("6") TAKE("8"),
		SEND("5") "200 recvmsg(4, {count=1 flags=8}, 0) = 1\n" SEND("6") TAKE("8"),
		/* The same, told in another order. */
		"@1ms 200 read(4, _, 10) = 1 <50us>\n@1010us 100 sendmsg(3, {rights=[5]}, 0) = 1 <100us>\n" SEND("6")
			TAKE("8"),
		/* Part of several messages. */
		"100 sendmmsg(3, {messages=2 rights=[5]}, 2, 0) = 1\n" TAKE("8"),
		/* Sent by two at a time, received by two at a time. */
		"thread 100 101\n@1ms 100 sendmsg(3, {rights=[5]}, 0) = 1 <20us>\n"
		"@1010us 101 sendmsg(3, {rights=[6]}, 0) = 1 <20us>\n" TAKE("8"),
		"thread 200 201\n" SEND("5") SEND("6") "@1ms 201 recvmsg(4, {rights=[7]}, 0) = 1 <20us>\n"
						       "@990us 200 recvmsg(4, {rights=[8]}, 0) = 1 <40us>\n",
		/* Nobody knows whether it went out. */
		SEND("5") "100 sendmsg(3, {rights=[6]}, 0) = ?\n" TAKE("8"),
		/* Somebody unknown has an end too. */
		"fork 200 300 unfollowed\n" SEND("5") TAKE("8"),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream s = { 0 };

		stream_feed(&s, PAIR);
		stream_feed(&s, cases[i]);
		assert_unknown(&s, 200, 8);
		assert_path(&s, 100, 5, "/w/a");
		assert_true(file_at(&s, 100, 5)->offset_shared);
		stream_done(&s);
	}
}

/* Data before the message does no harm when it was read before it was sent,
 * or where the flags say that nothing was cut off. */
static void test_pair_with_data(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, PAIR "100 write(3, _, 4) = 4\n200 read(4, _, 4) = 4\n" SEND(
				"5") "200 recvmsg(4, {count=1 total=1}, 0) = 1\n" TAKE("8"));
	assert_path(&s, 200, 8, "/w/a");
	/* A send that failed, a receive that failed. */
	stream_feed(&s, "100 sendmsg(3, {rights=[5]}, 0) = -1 EAGAIN\n200 recvmsg(4, {}, 0) = -1 EAGAIN\n" SEND("6")
				TAKE("9"));
	assert_path(&s, 200, 9, "/w/b");
	stream_done(&s);
}

static void test_connection(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, CONNECTION SEND("5, 6") TAKE("8, 9"));
	assert_path(&s, 200, 8, "/w/a");
	assert_path(&s, 200, 9, "/w/b");
	/* And back. */
	stream_feed(&s, "200 open(\"c\", O_RDONLY) = 10\n200 sendmsg(4, {rights=[10]}, 0) = 1\n"
			"100 recvmsg(3, {rights=[11]}, 0) = 1\n");
	assert_path(&s, 100, 11, "/w/c");
	stream_done(&s);
}

static void test_connection_mixed_up(void **state)
{
	static const char *const cases[] = {
		SEND("5, 6") TAKE("8"),
		/* Two under way. */
		SEND("5") SEND("6") TAKE("8"),
		/* It came from somewhere else: our own message waits at the other end. */
		SEND("5") "100 recvmsg(3, {rights=[8]}, 0) = 1\n",
		/* Two that connected, nobody who accepted. */
		"200 socket(AF_UNIX, SOCK_STREAM, 0) = 9\n" SEND("5") "200 recvmsg(9, {rights=[8]}, 0) = 1\n",
		/* A socket from before. */
		"fd 200 12 socket:[7] mode=0140777\n" SEND("5") "200 recvmsg(12, {rights=[8]}, 0) = 1\n",
		"fd 100 12 socket:[7] mode=0140777\n100 sendmsg(12, {rights=[5]}, 0) = 1\n" TAKE("8"),
		/* The sender's record came later: what it sent is not under way. */
		"@1ms 200 recvmsg(4, {rights=[7]}, 0) = 1 <50us>\n@1010us 100 sendmsg(3, {rights=[6]}, 0) = 1 <60us>\n"
		"100 close(6) = 0\n" TAKE("8"),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream s = { 0 };

		stream_feed(&s, CONNECTION);
		stream_feed(&s, cases[i]);
		assert_non_null(s.last.made);
		assert_unknown(&s, i == 2 ? 100 : 200, 8);
		assert_path(&s, 100, 5, "/w/a");
		stream_done(&s);
	}
}

/* Bounded, and nothing stays behind. */
static void test_never_received(void **state)
{
	struct stream s = { 0 };
	struct model_stats stats;

	stream_feed(&s, PAIR "repeat 100 i {\n" SEND("5") "}\n");
	stream_feed(&s, TAKE("8"));
	assert_unknown(&s, 200, 8);
	stream_done(&s);

	s = (struct stream){ 0 };
	stream_feed(&s,
		    PAIR SEND("5") SEND("6") "100 close(5) = 0\n100 close(6) = 0\n100 close(3) = 0\n200 close(4) = 0\n"
					     "100 getpid() = 100\n");
	model_stats(s.model, &stats);
	assert_int_equal(stats.files, 0);
	stream_done(&s);

	/* A socket inside of itself, and one under way at the end. */
	s = (struct stream){ 0 };
	stream_feed(&s, PAIR SEND("3") SEND("5") "100 close(3) = 0\n");
	stream_done(&s);
	s = (struct stream){ 0 };
	stream_feed(&s, CONNECTION SEND("3, 5"));
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_pair_peeked),
		cmocka_unit_test(test_pair_received_first),
		cmocka_unit_test(test_pair_mixed_up),
		cmocka_unit_test(test_pair_with_data),
		cmocka_unit_test(test_connection),
		cmocka_unit_test(test_connection_mixed_up),
		cmocka_unit_test(test_never_received),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
