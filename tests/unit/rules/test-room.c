/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules stay small whatever comes: two million files, ten thousand processes,
 * names without end.  The model is stood in for, so that only the rule grows.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "rules/rule.h"

#include "test.h"

static char point[] = "/", type[] = "ext4", source[] = "/dev/vda", program[] = "/usr/bin/some";
static const struct model_mount mount = { .dev = 0x802, .point = point, .type = type, .source = source };
static struct model_exe exe = { .path = program };

const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path);
const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path)
{
	return &mount;
}

const char *__wrap_model_getenv(const struct model_process *process, const char *name);
const char *__wrap_model_getenv(const struct model_process *process, const char *name)
{
	return NULL;
}

struct model_process *__wrap_model_process_at(struct model *model, size_t n);
struct model_process *__wrap_model_process_at(struct model *model, size_t n)
{
	return NULL;
}

static void run_start(struct rule_run *run, const char *id)
{
	const struct rule *rule = rule_by_id(id);

	assert_non_null(rule);
	*run = (struct rule_run){ .rule = rule, .state = calloc(1, rule->state_bytes) };
	assert_non_null(run->state);
	for (size_t i = 0; rule->limits[i].name; i++)
		run->limits[i] = rule->limits[i].value;
	assert_int_equal(rule->start(run), 0);
}

static void run_done(struct rule_run *run)
{
	run->rule->done(run);
	free(run->state);
}

static struct buf record;

static void call(struct rule_run *run, struct model_process *process, enum sys_call_id id, const char *text,
		 const char *name, int err)
{
	struct event_call *event = event_begin(&record, EVENT_CALL);
	struct model_path path = { .text = text, .passed = text, .components = 2, .absolute = true };
	struct model_view view = { .id = id, .err = err, .process = process, .path = &path };

	assert_non_null(event);
	event->arch = SYS_ARCH_NATIVE;
	event->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	event->ret = -err;
	path.bytes = path.passed_bytes = (uint32_t)strlen(text);
	path.hash = map_hash(text, path.bytes);
	if (name)
		assert_int_equal(event_item_add(&record, SYS_ITEM_NAME, 1, 0, name, strlen(name)), 0);
	view.call = (const struct event_call *)event_end(&record);
	run->rule->call(run, &view);
}

static void test_two_million_files(void **state)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	struct rule_run run;
	char path[64];
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

	run_start(&run, "xattr-probe");
	for (unsigned i = 0; i < 2000000; i++) {
		(void)snprintf(path, sizeof path, "/tree/d%u/f%u", i % 1000, i);
		call(&run, &process, CALL_getxattr, path, "user.x", ENODATA);
	}
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < (16u << 20));
	run.rule->image_end(&run, &process);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < (1u << 20));
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 2000000);
	assert_int_equal(strncmp(list.items.at[0].where, "at least ", 9), 0);
	assert_non_null(strstr(list.items.at[0].where, "files below /tree"));
	finding_list_done(&list);
	run_done(&run);
}

/* The heavy ones stay, the light ones go, and that is counted. */
static void test_ten_thousand_processes(void **state)
{
	struct finding_list list = { 0 };
	struct rule_run run;
	char path[64];

	run_start(&run, "xattr-probe");
	for (unsigned p = 0; p < 10000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100 + p, .exe = &exe };

		for (unsigned i = 0; i < (p < 10 ? 60 : 3); i++) {
			(void)snprintf(path, sizeof path, "/d/f%u", i);
			call(&run, &process, CALL_getxattr, path, "user.x", ENODATA);
		}
	}
	assert_true(run.evicted >= 10000 - 4096);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(list.items.at[i].pid, 100 + i);
	finding_list_done(&list);
	run_done(&run);
}

/* An image that came to nothing leaves nothing behind. */
static void test_images_are_dropped(void **state)
{
	struct rule_run run;

	run_start(&run, "xattr-probe");
	for (unsigned p = 0; p < 10000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100, .exe = &exe };

		call(&run, &process, CALL_lgetxattr, "/d/f", "user.x", ENODATA);
		run.rule->image_end(&run, &process);
	}
	assert_int_equal(run.evicted, 0);
	run_done(&run);
}

static void test_names_without_end(void **state)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	struct rule_run run;
	char path[64], name[64];

	run_start(&run, "xattr-probe");
	for (unsigned i = 0; i < 100000; i++) {
		(void)snprintf(path, sizeof path, "/d/f%u", i % 100);
		(void)snprintf(name, sizeof name, "user.n%u", i);
		call(&run, &process, CALL_getxattr, path, name, ENODATA);
	}
	assert_true(run.evicted > 0);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 0);
	finding_list_done(&list);
	run_done(&run);
}

static void test_localtime_processes(void **state)
{
	struct finding_list list = { 0 };
	struct rule_run run;

	run_start(&run, "localtime-stat");
	for (unsigned p = 0; p < 20000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100 + p, .exe = &exe, .env_known = true };

		for (unsigned i = 0; i < (p < 3 ? 25 : 1); i++)
			call(&run, &process, CALL_newfstatat, "/etc/localtime", NULL, 0);
		/* Half of them end: these make room. */
		if (p % 2)
			run.rule->image_end(&run, &process);
	}
	assert_int_equal(run.evicted, 0);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 3);
	finding_list_done(&list);
	for (unsigned p = 20000; p < 30000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100 + p, .exe = &exe, .env_known = true };

		call(&run, &process, CALL_newfstatat, "/etc/localtime", NULL, 0);
	}
	assert_true(run.evicted > 0);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 3);
	finding_list_done(&list);
	run_done(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_million_files),   cmocka_unit_test(test_ten_thousand_processes),
		cmocka_unit_test(test_images_are_dropped),  cmocka_unit_test(test_names_without_end),
		cmocka_unit_test(test_localtime_processes),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&record);
	return failed;
}
