/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lack of memory: whichever allocation fails, the model says so, stays
 * usable and frees what it has.  Linked with malloc and kin wrapped.
 */
#include <errno.h>

#include "stream.h"

/* Names that the linker's --wrap wants. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

static long left = -1; /* allocations until one fails; negative: never */
static unsigned failed;

static bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	failed++;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	return fails() ? NULL : __real_strndup(text, bytes);
}

static const char script[] =
	"mount 8:1 / ext4 /dev/vda\nmount 0:5 /proc proc proc\n"
	"task 100 exe=/bin/sh argv=\"sh -c x\" cwd=/w\nenv 100 TZ=UTC\nfd 100 1 /dev/null\n"
	"map 100 400000-402000 r-xp 0 /bin/sh\nmount 8:1 / ext4 /dev/vda pid=100 ns=7\n"
	"100 open(\"a\", O_RDONLY) = 3\n100 dup2(3, 30) = 30\n100 dup2(3, 3000) = 3000\n"
	"100 mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, 3, 0) = 0x700000\n100 pipe([4, 5]) = 0\n"
	"thread 100 101\n101 close(3) = 0\n101 chdir(\"b\") = 0\n101 chroot(\"/r\") = 0\nfork 100 200\n"
	"200 munmap(0x400000, 0x1000) = 0\n200 unshare(CLONE_NEWNS) = 0\nexec 200 /bin/ls \"ls\" TZ=X\n"
	"fork 100 300 CLONE_FILES\nexec 300 /bin/cat \"cat\"\n101 unshare(CLONE_FILES|CLONE_FS) = 0\n"
	"exec 100 /bin/x from=101\n100 recvmsg(3, {rights=[8 9]}, 0) = 1\n77 getpid() = 77\n"
	"exit 200 0\nexit 300 0\nexit 100 0\n";

/* 0, or the number of records that were told as partly known. */
static unsigned run(struct model *model)
{
	const struct event_head *head;
	struct engine *engine = NULL;
	struct error err = { 0 };
	struct model_view view;
	long kept = left;
	unsigned told = 0;

	/* Only the model shall run out of memory. */
	left = -1;
	assert_int_equal(script_open(script, sizeof(script) - 1, "script", NULL, &engine, &err), 0);
	for (;;) {
		int r = engine_script.next(engine, &head, &err);

		if (r != ENGINE_RECORD) {
			assert_int_equal(r, ENGINE_END);
			break;
		}
		left = kept;
		r = model_feed(model, head, &view);
		kept = left;
		left = -1;
		assert_true(r == 0 || r == -ENOMEM);
		assert_non_null(view.process);
		assert_non_null(view.process->exe);
		told += r == -ENOMEM;
	}
	engine_script.stop(engine);
	return told;
}

static void test_each_allocation(void **state)
{
	for (long n = 0;; n++) {
		struct model *model;
		struct model_stats stats;
		unsigned told;

		failed = 0;
		left = n;
		model = model_new();
		if (!model) {
			left = -1;
			assert_int_equal(failed, 1);
			continue;
		}
		told = run(model);
		left = -1;
		model_stats(model, &stats);
		if (failed == 0) {
			assert_int_equal(told, 0);
			assert_int_equal(stats.losses, 0);
			model_free(model);
			assert_true(n > 50);
			return;
		}
		/* One failed allocation is at least one loss. */
		assert_true(stats.losses > 0);
		assert_string_equal(stats.limit, "memory");
		model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_allocation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
