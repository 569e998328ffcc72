/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads open and close under a live engine, each its own file, and get
 * each other's numbers.  What the kernel says an fd is (fstat's inode) and
 * what the model says it is (the path of its opening) must never differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "engine/engine.h"
#include "model/model.h"

#define TURNS 2000

/* Looking for leaks needs ptrace, which a traced program cannot have. */
int __lsan_is_turned_off(void);
static int is_traced;

int __lsan_is_turned_off(void)
{
	return is_traced;
}

static void *open_and_close(void *name)
{
	for (unsigned i = 0; i < TURNS; i++) {
		struct stat st;
		int fd = open(name, O_RDONLY);

		if (fd < 0 || fstat(fd, &st) < 0)
			_exit(3);
		(void)close(fd);
	}
	return NULL;
}

static int victim(char **names)
{
	pthread_t threads[2];

	for (unsigned i = 0; i < 2; i++) {
		if (pthread_create(&threads[i], NULL, open_and_close, names[i]) != 0)
			return 4;
	}
	for (unsigned i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}

static char names[2][32] = { "/tmp/two-threads-a-XXXXXX", "/tmp/two-threads-b-XXXXXX" };

static void test_two_threads(void **state)
{
	char self[4096];
	char *argv[] = { self, names[0], names[1], NULL };
	struct engine_spec spec = { .argv = argv, .program = self, .items = MODEL_ITEMS, .pin = ENGINE_PIN_NEVER };
	struct model *model = model_new();
	struct engine *engine;
	struct engine_exit how;
	struct error err = { 0 };
	const struct event_head *head;
	struct stat st[2];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	uint64_t right = 0, unknown = 0;
	int r;

	assert_true(length > 0);
	self[length] = '\0';
	for (unsigned i = 0; i < 2; i++) {
		int fd = mkstemp(names[i]);

		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st[i]), 0);
		assert_int_equal(close(fd), 0);
	}
	assert_non_null(model);
	if (engine_ptrace.start(&spec, &engine, &err) < 0)
		fail_msg("%s", err.text);
	for (;;) {
		const struct item_stat *stat;
		struct model_view view;

		r = engine_ptrace.next(engine, &head, &err);
		if (r == -EAGAIN)
			continue;
		if (r != ENGINE_RECORD)
			break;
		assert_int_equal(model_feed(model, head, &view), 0);
		/* Some C libraries make fstat of newfstatat. */
		if (!view.call || (view.id != CALL_fstat && view.id != CALL_newfstatat))
			continue;
		stat = EVENT_ITEM_AS(struct item_stat, event_item(head, SYS_ITEM_STAT));
		for (unsigned i = 0; stat && i < 2; i++) {
			if (stat->ino != st[i].st_ino || stat->dev != st[i].st_dev)
				continue;
			if (!view.file || !view.file->path)
				unknown++;
			else if (strcmp(view.file->path, names[i]) == 0)
				right++;
			else
				fail_msg("fd %d is %s by its inode and %s by the model", (int)view.call->args[0],
					 names[i], view.file->path);
		}
	}
	assert_int_equal(r, ENGINE_END);
	engine_ptrace.exit_of(engine, &how);
	engine_ptrace.stop(engine);
	assert_true(how.known && how.status == 0 && how.signal == 0);
	assert_int_equal(right + unknown, 2 * TURNS);
	assert_int_equal(unknown, 0);
	model_free(model);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(unlink(names[i]), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_threads) };
	struct engine_probe probe;

	if (argc == 3) {
		is_traced = 1;
		return victim(argv + 1);
	}
	engine_ptrace.probe(&probe);
	if (!probe.usable)
		skip_program("%s", probe.why);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
