/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records from a damaged file: well formed, and otherwise anything.  The
 * model may know nonsense afterwards; it must not crash, grow beyond its
 * limits, or read beyond a record (the sanitizers look).
 */
#include <errno.h>

#include "stream.h"

static const char script[] =
	"mount 8:1 / ext4 /dev/vda\nmount 0:5 \"/a b\" proc proc\n"
	"task 1 exe=/bin/sh argv=\"sh -c x\" cwd=/w root=/r\nenv 1 TZ=UTC\nfd 1 1 /dev/null dev=0:5 ino=3\n"
	"map 1 400000-402000 r-xp 0 /bin/sh\nmount 8:1 / ext4 /dev/vda pid=1 ns=7\n"
	"1 open(\"a/../b\", O_RDONLY) = 3\n1 dup2(3, 30) = 30\n1 fcntl(3, F_DUPFD, 3000) = 3000\n1 fchdir(3) = 0\n"
	"1 mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, 3, 0) = 0x700000\n1 pipe([4, 5]) = 0\n"
	"1 mremap(0x700000, 0x1000, 0x3000, 1, 0) = 0x800000\n1 munmap(0x400000, 0x800) = 0\n"
	"thread 1 2\n2 close(3) = 0\n2 chdir(\"b\") = 0\n2 chroot(\"/r\") = 0\nfork 1 3\n2 getcwd(\"/x\", 9) = 3\n"
	"3 openat(4, \"sub\", 0) = 6\n3 newfstatat(6, \"\", {dev=8:1 ino=4}, 0x1000) = 0\n3 setns(6, 0) = 0\n"
	"3 unshare(CLONE_NEWNS|CLONE_FILES) = 0\nexec 3 /bin/ls \"ls\" TZ=X\nfork 1 4 CLONE_FILES\n"
	"1 renameat2(3, \"../a\", 4, \"./b\", 0) = 0\n1 recvmsg(3, {rights=[8 9]}, 0) = 1\n4 close_range(0, 100, 4) = "
	"0\n"
	"exec 1 /bin/x from=2\n1 prlimit64(0, RLIMIT_NOFILE, {soft=1 hard=2}, NULL) = 0\n1 i386:6(3) = 0\n"
	"1 socketpair(1, 1, 0, [10, 11]) = 0\nfork 1 5\n1 open(\"f\", O_RDWR) = 12\n5 open(\"g\", O_RDWR) = 12\n"
	"1 sendmsg(10, {rights=[12 10]}, 0) = 1\n5 recvmsg(11, {rights=[9 8]}, 0) = 1\n5 read(9, _, 9) = 5\n"
	"1 sendmsg(10, {rights=[12]}, 0) = 1\n5 recvmsg(11, {rights=[9]}, 2) = 1\n5 read(11, _, 9) = 5\n"
	"1 socket(1, 1, 0) = 13\n5 accept(7, NULL, NULL) = 13\n1 sendmsg(13, {rights=[11 12]}, 0) = 1\n"
	"5 recvmsg(13, {rights=[6 7]}, 0) = 1\n1 lseek(12, 5, SEEK_SET) = 5\n5 sendfile(12, 6, NULL, 9) = 9\n"
	"5 copy_file_range(12, NULL, 12, NULL, 9, 0) = 9\n5 preadv2(12, {count=1 total=1}, 1, -1, -1, 0) = 1\n"
	"5 rt_sigprocmask(SIG_BLOCK, [1], [2], 8) = 0\n5 rt_sigreturn() = 0\n5 pidfd_getfd(3, 4, 0) = 14\n"
	"1 sendmmsg(10, {messages=1 rights=[12]}, 1, 0) = 1\n5 io_uring_setup(1, _) = 15\nexit 5 let-go\n"
	"ids 1 uid=4\nlimits 1 nofile=1:2\nexit 3 0\nexit 4 SIGKILL\n1 clone(0x1000, NULL, [6], NULL, 0) = 9\nexit 1 "
	"0\n";

static const struct model_limits limits = {
	.images = 50,
	.exes = 20,
	.tasks = 20,
	.files = 100,
	.fds = 50,
	.maps = 20,
	.mounts = 10,
	.text_bytes = 4096,
};

static uint64_t seed = 1;

static uint64_t roll(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

/* Numbers that programs and kernels have at their edges, or a small one, so
 * that damaged records still meet each other. */
static uint64_t odd_number(void)
{
	static const uint64_t edges[] = { 0,	      1,	  UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
					  INT32_MAX,  UINT32_MAX, 1u << 31,   4096,	 UINT64_MAX - 4095,
					  0x7fffffff, 1023,	  1024,	      65536 };

	return roll(3) ? roll(12) : edges[roll(sizeof(edges) / sizeof(edges[0]))];
}

static void damage(char *record, size_t bytes)
{
	struct event_head head;
	size_t fixed;

	memcpy(&head, record, sizeof(head));
	fixed = event_fixed_bytes(head.type);
	for (uint64_t times = roll(4); times > 0; times--) {
		uint64_t value = odd_number();
		/* Anywhere behind size and type; half of the time in the tail's texts. */
		size_t at = 8 + roll(bytes - 8);

		if (roll(2))
			at = 8 + roll(fixed - 8);
		if (roll(2)) {
			record[at] = (char)roll(256);
		} else {
			at &= ~(size_t)7;
			memcpy(record + at, &value, sizeof(value));
		}
	}
}

static void test_damaged_records(void **state)
{
	VEC(char *) records = { 0 };
	const struct event_head *head;
	struct engine *engine;
	struct error err = { 0 };
	struct model_stats stats;
	struct model *model = model_new_limited(&limits);
	uint64_t fed = 0;
	int r;

	assert_int_equal(script_open(script, sizeof(script) - 1, "script", NULL, &engine, &err), 0);
	while ((r = engine_script.next(engine, &head, &err)) == ENGINE_RECORD) {
		char *copy = malloc(head->bytes);

		assert_non_null(copy);
		memcpy(copy, head, head->bytes);
		assert_true(vec_push(&records, copy));
	}
	if (r != ENGINE_END)
		fail_msg("%s", err.text);
	engine_script.stop(engine);
	for (unsigned turn = 0; turn < 300000; turn++) {
		const char *original = records.at[roll(3) ? turn % records.used : roll(records.used)];
		struct model_view view;
		const char *module;
		uint64_t offset;
		char *record;
		size_t bytes;

		bytes = ((const struct event_head *)(const void *)original)->bytes;
		record = malloc(bytes);
		assert_non_null(record);
		memcpy(record, original, bytes);
		damage(record, bytes);
		head = (const struct event_head *)(const void *)record;
		if (event_valid(head, bytes)) {
			assert_int_equal(model_feed(model, head, &view), 0);
			assert_non_null(view.process);
			fed++;
			(void)model_getenv(view.process, "TZ");
			(void)model_cwd(model, view.process);
			(void)model_locate(model, view.process, odd_number(), &module, &offset);
			if (view.path && view.path->absolute)
				(void)model_mount_of(model, view.process, view.path->text);
			model_stats(model, &stats);
			assert_true(stats.files <= limits.files + 1 && stats.text_bytes <= limits.text_bytes);
			assert_true(stats.images <= limits.images + limits.exes + 3);
		}
		free(record);
	}
	assert_true(fed > 100000);
	for (size_t i = 0; i < records.used; i++)
		free(records.at[i]);
	vec_done(&records);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_damaged_records) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
