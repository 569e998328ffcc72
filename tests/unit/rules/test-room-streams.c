/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of reading and writing stay small: 100,000 descriptors, each read or
 * written a few times, all at once or one after the other, and the one that is
 * worth it is found among them.  The model is stood in for.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/rule.h"

#include "test.h"

#define FILES 100000
#define EACH 3 /* calls about each */
#define ROOM ((size_t)24 << 20)

static char point[] = "/", type[] = "ext4", source[] = "/dev/vda", program[] = "/usr/bin/some";
static const struct model_mount mount = { .dev = 0x802, .point = point, .type = type, .source = source };
static struct model_exe exe = { .path = program };
static uint64_t now;

const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path);
const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path)
{
	return &mount;
}

struct model_process *__wrap_model_process_at(struct model *model, size_t n);
struct model_process *__wrap_model_process_at(struct model *model, size_t n)
{
	return NULL;
}

uint64_t __wrap_model_now(const struct model *model);
uint64_t __wrap_model_now(const struct model *model)
{
	return ++now;
}

static struct buf record;
static uint64_t time_ns;

static void call(struct rule_run *run, struct model_process *process, enum sys_call_id id, const char *text,
		 uint64_t number, int64_t offset, int64_t ret)
{
	struct event_call *event = event_begin(&record, EVENT_CALL);
	char name[64];
	struct model_file file = { .id = number,
				   .path = name,
				   .path_hash = map_hash(text, strlen(text)),
				   .made_by = CALL_openat,
				   .mode = S_IFREG | 0644,
				   .offset = offset };
	struct model_view view = { .id = id, .process = process, .file = &file, .err = ret < 0 ? (int)-ret : 0 };

	assert_non_null(event);
	(void)snprintf(name, sizeof name, "%s", text);
	event->arch = SYS_ARCH_NATIVE;
	event->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	event->ret = ret;
	event->args[0] = 3;
	event->args[2] = 8;
	event->head.time_ns = time_ns;
	event->head.tid = process->pid;
	view.call = (const struct event_call *)event_end(&record);
	process->calls++;
	run->rule->call(run, &view);
}

static size_t in_use(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void fill(const char *id, enum sys_call_id call_id, int64_t ret, uint64_t step_ns)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	const struct rule *rule = rule_by_id(id);
	struct rule_run run = { .rule = rule };
	size_t before = in_use();
	char path[64];

	assert_non_null(rule);
	run.state = calloc(1, rule->state_bytes);
	assert_non_null(run.state);
	for (size_t i = 0; rule->limits[i].name; i++)
		run.limits[i] = rule->limits[i].value;
	assert_int_equal(rule->start(&run), 0);
	time_ns = 1;
	for (unsigned i = 0; i < FILES; i++, time_ns += step_ns) {
		(void)snprintf(path, sizeof path, "/tree/d%u/f%u", i % 1000, i);
		for (unsigned n = 0; n < EACH; n++)
			call(&run, &process, call_id, path, i + 1, 8 * (int64_t)n, ret);
		for (unsigned n = 0; i == FILES / 2 && n < 300; n++)
			call(&run, &process, call_id, "/tree/wasted", FILES + 1, 8 * (int64_t)n, ret);
	}
	if (in_use() - before > ROOM)
		fail_msg("%s: %zu bytes", id, in_use() - before);
	rule->image_end(&run, &process);
	rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 299);
	assert_string_equal(list.items.at[0].place, "/tree/wasted");
	finding_list_done(&list);
	rule->done(&run);
	free(run.state);
}

static void test_tiny_read(void **state)
{
	fill("tiny-read", CALL_read, 8, 0);
	fill("tiny-read", CALL_read, 8, 100000);
}

static void test_tiny_write(void **state)
{
	fill("tiny-write", CALL_write, 8, 0);
	fill("tiny-write", CALL_write, 8, 100000);
}

static void test_eagain_spin(void **state)
{
	fill("eagain-spin", CALL_read, -EAGAIN, 0);
	fill("eagain-spin", CALL_read, -EAGAIN, 100000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tiny_read),
		cmocka_unit_test(test_tiny_write),
		cmocka_unit_test(test_eagain_spin),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&record);
	return failed;
}
