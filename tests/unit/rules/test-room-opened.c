/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that follow descriptors stay small whatever is opened, and still find
 * the one file that is worth it.  The model is stood in for.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/rule.h"

#include "test.h"

#define FILES 100000
#define EACH_BYTES (24u << 20) /* of one rule at most */

static const char *const ids[] = { "file-reread", "reopen-pseudo-file", "repeated-fstat", "tty-probe",
				   "noop-seek",	  "identity-call",	"clock-call" };
#define RULES (sizeof ids / sizeof *ids)

static char point[] = "/", type[] = "ext4", proc_type[] = "proc", source[] = "/dev/vda", program[] = "/usr/bin/some";
static const struct model_mount disk = { .dev = 0x802, .point = point, .type = type, .source = source };
static const struct model_mount proc = { .dev = 0x16, .point = point, .type = proc_type, .source = source };
static struct model_exe exe = { .path = program };
static uint64_t now;

const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path);
const struct model_mount *__wrap_model_mount_of(struct model *model, const struct model_process *process,
						const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 ? &proc : &disk;
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

uint64_t __wrap_model_changed(struct model *model, const struct model_process *process, const char *path,
			      const struct model_file *file);
uint64_t __wrap_model_changed(struct model *model, const struct model_process *process, const char *path,
			      const struct model_file *file)
{
	return 0;
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
static uint64_t time_ns, step_ns;

/* One call about an opened file; with a path the call that opened it. */
static void call(struct rule_run *run, struct model_process *process, enum sys_call_id id, struct model_file *file,
		 const char *text, int64_t ret, uint64_t arg1, uint64_t arg2, bool stat)
{
	struct event_call *event = event_begin(&record, EVENT_CALL);
	struct model_path path = { .text = text, .passed = text, .components = 2, .absolute = true };
	struct item_stat item = { .dev = 1, .ino = 7, .mode = S_IFREG | 0644, .size = 5, .mask = 0x7ff };
	struct model_view view = { .id = id, .process = process, .err = ret < 0 ? (int)-ret : 0 };
	const uint16_t *subscribed = run->rule->calls;

	while (*subscribed && *subscribed != id)
		subscribed++;
	time_ns += step_ns;
	process->calls++;
	if (!*subscribed)
		return;
	assert_non_null(event);
	event->head.time_ns = time_ns;
	event->head.tid = process->pid;
	event->arch = SYS_ARCH_NATIVE;
	event->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	event->ret = ret;
	event->args[1] = arg1;
	event->args[2] = arg2;
	if (stat)
		assert_int_equal(event_item_add(&record, SYS_ITEM_STAT, 2, 0, &item, sizeof item), 0);
	if (text) {
		path.bytes = path.passed_bytes = (uint32_t)strlen(text);
		path.hash = map_hash(text, path.bytes);
		view.path = &path;
		view.made = file;
	} else {
		view.file = file;
	}
	view.call = (const struct event_call *)event_end(&record);
	run->rule->call(run, &view);
}

/* A round of an opened file, with all that one of the rules waits for. */
static void round_of(struct rule_run *run, struct model_process *process, const char *path, uint64_t id)
{
	char name[64];
	struct model_file file = { .id = id,
				   .path = name,
				   .path_hash = map_hash(path, strlen(path)),
				   .made_by = CALL_openat,
				   .mode = S_IFREG | 0644 };

	(void)snprintf(name, sizeof name, "%s", path);
	call(run, process, CALL_openat, &file, path, 3, 0, O_RDONLY, false);
	call(run, process, CALL_newfstatat, &file, NULL, 0, 0, 0, true);
	call(run, process, CALL_newfstatat, &file, NULL, 0, 0, 0, true);
	call(run, process, CALL_ioctl, &file, NULL, -ENOTTY, 0x5401, 0, false);
	call(run, process, CALL_lseek, &file, NULL, 0, 0, SEEK_CUR, false);
	call(run, process, CALL_lseek, &file, NULL, 0, 0, SEEK_CUR, false);
	call(run, process, CALL_getpid, NULL, NULL, process->pid, 0, 0, false);
	call(run, process, CALL_clock_gettime, NULL, NULL, 0, 0, 0, false);
	file.offset = 5;
	call(run, process, CALL_read, &file, NULL, 5, 0, 4096, false);
	call(run, process, CALL_close, &file, NULL, 0, 0, 0, false);
}

static size_t in_use(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* Many files, once each, between the rounds of one that is read again. */
static void files(const char *id, uint64_t step)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	struct rule_run run;
	char path[64];
	size_t before = in_use();

	time_ns = 1;
	step_ns = step;
	run_start(&run, id);
	for (uint64_t i = 0; i < FILES; i++) {
		(void)snprintf(path, sizeof path, "%s/d%llu/f%llu", i % 2 ? "/proc/sys" : "/tree",
			       (unsigned long long)i % 1000, (unsigned long long)i);
		round_of(&run, &process, path, 2 * i + 1);
		if (i % 1000 == 0) {
			for (unsigned n = 0; n < 12; n++) {
				round_of(&run, &process, "/etc/passwd", 2 * (uint64_t)FILES + 100 * i + 2 * n);
				round_of(&run, &process, "/proc/self/stat", 2 * (uint64_t)FILES + 100 * i + 2 * n + 1);
			}
		}
	}
	if (in_use() - before > EACH_BYTES)
		fail_msg("%s: %zu bytes", id, in_use() - before);
	run.rule->image_end(&run, &process);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_true(list.items.at[0].calls > 3000);
	finding_list_done(&list);
	run_done(&run);
}

static void test_many_files(void **state)
{
	for (size_t i = 0; i < RULES; i++)
		files(ids[i], 1000);
}

/* As if all were at once: nothing is idle, all has to be given up for want of room. */
static void test_many_files_at_once(void **state)
{
	for (size_t i = 0; i < RULES; i++)
		files(ids[i], 0);
}

/* Never closed: as many as can be, and images that end leave nothing. */
static void test_many_images(void **state)
{
	for (size_t i = 0; i < RULES; i++) {
		struct finding_list list = { 0 };
		struct rule_run run;
		size_t before = in_use();

		time_ns = 1;
		step_ns = 0;
		run_start(&run, ids[i]);
		for (unsigned p = 0; p < 30000; p++) {
			struct model_process process = { .id = p + 1, .pid = 100 + p, .exe = &exe };

			round_of(&run, &process, "/etc/group", p + 1);
			round_of(&run, &process, "/proc/uptime", 100000 + p);
			if (p % 2)
				run.rule->image_end(&run, &process);
		}
		if (in_use() - before > (size_t)96 << 20)
			fail_msg("%s: %zu bytes", ids[i], in_use() - before);
		run.rule->end(&run, &list);
		assert_int_equal(list.items.used, 0);
		finding_list_done(&list);
		run_done(&run);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_many_files_at_once),
		cmocka_unit_test(test_many_images),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&record);
	return failed;
}
