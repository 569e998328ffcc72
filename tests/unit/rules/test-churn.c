/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap-churn and brk-churn stay small whatever comes: sizes without end,
 * mappings that nobody unmaps, thousands of threads and processes.
 */
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#include "rules/rule.h"

#include "test.h"

static char program[] = "/usr/bin/some";
static struct model_exe exe = { .path = program };
static uint64_t now_ns;

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

static void call(struct rule_run *run, struct model_process *process, uint32_t tid, enum sys_call_id id,
		 struct event_call event)
{
	struct model_view view = { .call = &event, .id = id, .process = process };

	event.head.bytes = sizeof event;
	event.head.type = EVENT_CALL;
	event.head.pid = process->pid;
	event.head.tid = tid;
	event.head.time_ns = now_ns += 1000;
	event.arch = SYS_ARCH_NATIVE;
	event.nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	process->calls++;
	run->rule->call(run, &view);
}

static void map(struct rule_run *run, struct model_process *process, uint32_t tid, uint64_t address, uint64_t bytes)
{
	call(run, process, tid, CALL_mmap,
	     (struct event_call){ .args = { 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1u, 0 },
				  .ret = (int64_t)address });
}

static void unmap(struct rule_run *run, struct model_process *process, uint32_t tid, uint64_t address, uint64_t bytes)
{
	call(run, process, tid, CALL_munmap, (struct event_call){ .args = { address, bytes } });
}

static void move(struct rule_run *run, struct model_process *process, uint64_t to)
{
	call(run, process, process->pid, CALL_brk, (struct event_call){ .args = { to }, .ret = (int64_t)to });
}

static size_t in_use(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* What wastes is kept, whatever comes beside it. */
static void test_sizes_without_end(void **state)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	struct rule_run run;
	size_t before = in_use();

	run_start(&run, "mmap-churn");
	for (uint64_t i = 1; i <= 200000; i++) {
		map(&run, &process, 100, i << 32, i << 12);
		if (i % 2)
			unmap(&run, &process, 100, i << 32, i << 12);
		if (i % 400 == 0) {
			map(&run, &process, 101, 1 << 12, 8192);
			unmap(&run, &process, 101, 1 << 12, 8192);
		}
	}
	assert_true(in_use() - before < (32u << 20));
	assert_true(run.evicted > 0);
	run.rule->image_end(&run, &process);
	assert_true(in_use() - before < (1u << 20));
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 1000);
	finding_list_done(&list);
	run_done(&run);
}

static void test_threads_without_end(void **state)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	struct rule_run run;

	run_start(&run, "mmap-churn");
	for (uint32_t tid = 100; tid < 50100; tid++) {
		for (unsigned i = 0; i < (tid < 110 ? 60 : 2); i++) {
			map(&run, &process, tid, 1 << 12, 8192);
			unmap(&run, &process, tid, 1 << 12, 8192);
		}
	}
	assert_true(run.evicted > 0);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 10 * 2 * 60);
	finding_list_done(&list);
	run_done(&run);
}

static void test_images_are_dropped(void **state)
{
	struct rule_run map_run, brk_run;

	run_start(&map_run, "mmap-churn");
	run_start(&brk_run, "brk-churn");
	for (uint32_t p = 0; p < 30000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100, .exe = &exe };

		for (unsigned i = 0; i < 10; i++) {
			map(&map_run, &process, 100, 1 << 12, 8192);
			unmap(&map_run, &process, 100, 1 << 12, 8192);
			move(&brk_run, &process, 1 << 20);
			move(&brk_run, &process, 2 << 20);
		}
		map_run.rule->image_end(&map_run, &process);
		brk_run.rule->image_end(&brk_run, &process);
	}
	assert_int_equal(map_run.evicted, 0);
	assert_int_equal(brk_run.evicted, 0);
	run_done(&map_run);
	run_done(&brk_run);
}

/* All alive: the light ones make room. */
static void test_heaps(void **state)
{
	struct finding_list list = { 0 };
	struct rule_run run;

	run_start(&run, "brk-churn");
	for (uint32_t p = 0; p < 30000; p++) {
		struct model_process process = { .id = p + 1, .pid = 100 + p, .exe = &exe };

		for (unsigned i = 0; i < (p < 3 ? 30 : 2); i++) {
			move(&run, &process, 1 << 20);
			move(&run, &process, 2 << 20);
		}
	}
	assert_true(run.evicted > 0);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 3);
	assert_int_equal(list.items.at[0].pid, 100);
	assert_int_equal(list.items.at[0].calls, 2 * 29);
	finding_list_done(&list);
	run_done(&run);
}

/* Random calls against a plain second count of what one thread does. */
static void test_pairs(void **state)
{
	struct model_process process = { .id = 1, .pid = 100, .exe = &exe };
	struct finding_list list = { 0 };
	unsigned live[2] = { 0 }, pairs = 0, seed = 1;
	bool alone[2] = { false };
	struct rule_run run;

	run_start(&run, "mmap-churn");
	for (unsigned i = 0; i < 20000; i++) {
		unsigned slot, other;

		seed = seed * 1103515245 + 12345;
		slot = seed >> 16 & 1;
		other = !slot;
		if (live[slot]) {
			unmap(&run, &process, 100, (slot + 1) << 12, 4096);
			pairs += alone[slot];
		} else {
			map(&run, &process, 100, (slot + 1) << 12, 4096);
			alone[slot] = !live[other];
			alone[other] = false;
		}
		live[slot] = !live[slot];
		/* One that is left was not alone all the time. */
		if (!live[slot])
			alone[other] = false;
	}
	assert_true(pairs > 1000);
	run.rule->image_end(&run, &process);
	run.rule->end(&run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 2 * pairs);
	finding_list_done(&list);
	run_done(&run);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes_without_end),
		cmocka_unit_test(test_threads_without_end),
		cmocka_unit_test(test_images_are_dropped),
		cmocka_unit_test(test_heaps),
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
