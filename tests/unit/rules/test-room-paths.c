/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that remember paths stay small: half a million of them, each asked once,
 * and each asked twice.  The model is stood in for, so that only rules grow.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "rules/rule.h"

#include "test.h"

#define PATHS 500000
#define ROOM ((size_t)48 << 20)

static char point[] = "/", type[] = "ext4", source[] = "/dev/vda", perl[] = "/usr/bin/perl";
static const struct model_mount mount = { .dev = 0x802, .point = point, .type = type, .source = source };
static struct model_exe exe = { .path = perl };

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

uint64_t __wrap_model_now(const struct model *model);
uint64_t __wrap_model_now(const struct model *model)
{
	return 1;
}

uint64_t __wrap_model_changed(struct model *model, const struct model_process *process, const char *path,
			      const struct model_file *file);
uint64_t __wrap_model_changed(struct model *model, const struct model_process *process, const char *path,
			      const struct model_file *file)
{
	return 0;
}

static struct buf record;

static void call(struct rule_run *run, struct model_process *process, enum sys_call_id id, const char *text, int err,
		 uint64_t time_ns)
{
	struct event_call *event = event_begin(&record, EVENT_CALL);
	struct model_path path = { .text = text, .passed = text, .components = 2, .absolute = true };
	struct model_view view = { .id = id, .err = err, .process = process, .path = &path, .path2 = &path };

	assert_non_null(event);
	event->arch = SYS_ARCH_NATIVE;
	event->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	event->ret = -err;
	event->head.time_ns = time_ns;
	path.bytes = path.passed_bytes = (uint32_t)strlen(text);
	path.hash = map_hash(text, path.bytes);
	view.call = (const struct event_call *)event_end(&record);
	process->calls++;
	run->rule->call(run, &view);
}

static void fill(const char *id, enum sys_call_id call_id, int err, bool one_name, unsigned times)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct finding_list list = { 0 };
	const struct rule *rule = rule_by_id(id);
	struct rule_run run = { .rule = rule };
	char path[64];

	assert_non_null(rule);
	run.state = calloc(1, rule->state_bytes);
	assert_non_null(run.state);
	for (size_t i = 0; rule->limits[i].name; i++)
		run.limits[i] = rule->limits[i].value;
	assert_int_equal(rule->start(&run), 0);
	for (unsigned i = 0; i < PATHS; i++) {
		if (one_name)
			(void)snprintf(path, sizeof path, "/tree/d%u/f.pm", i);
		else
			(void)snprintf(path, sizeof path, "/tree/d%u/f%u.pm", i % 1000, i);
		for (unsigned n = 0; n < times; n++)
			call(&run, &process, call_id, path, err, (uint64_t)i * 1000);
	}
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < ROOM);
	rule->image_end(&run, &process);
	rule->end(&run, &list);
	finding_list_done(&list);
	rule->done(&run);
	free(run.state);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd - before < (size_t)1 << 20);
}

static void test_search_path_miss(void **state)
{
	(void)state;
	fill("search-path-miss", CALL_newfstatat, ENOENT, false, 1);
	/* One name in as many folders. */
	fill("search-path-miss", CALL_newfstatat, ENOENT, true, 1);
}

static void test_repeated_stat(void **state)
{
	(void)state;
	fill("repeated-stat", CALL_access, ENOENT, false, 1);
	fill("repeated-stat", CALL_access, ENOENT, false, 2);
}

static void test_readlink_walk(void **state)
{
	(void)state;
	fill("readlink-walk", CALL_readlink, EINVAL, false, 2);
}

static void test_unsupported_retry(void **state)
{
	(void)state;
	fill("unsupported-retry", CALL_renameat2, EXDEV, false, 1);
}

static void test_failing_cleanup(void **state)
{
	(void)state;
	fill("failing-cleanup", CALL_unlinkat, ENOENT, false, 2);
}

static void test_noop_metadata(void **state)
{
	(void)state;
	fill("noop-metadata", CALL_fchmodat, 0, false, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search_path_miss), cmocka_unit_test(test_repeated_stat),
		cmocka_unit_test(test_readlink_walk),	 cmocka_unit_test(test_unsupported_retry),
		cmocka_unit_test(test_failing_cleanup),	 cmocka_unit_test(test_noop_metadata),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&record);
	return failed;
}
