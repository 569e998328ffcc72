/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole analysis fed with records made here: what is counted, what reaches the end. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/analysis-state.h"

static struct analysis *begin(const char *const *only)
{
	struct analysis_spec spec = { .only_rules = only, .prices = price_book_new_fixed(NULL, 0, 100) };
	struct analysis *analysis = NULL;
	struct error err = { 0 };

	assert_int_equal(analysis_new(&spec, &analysis, &err), 0);
	return analysis;
}

static void feed_task(struct analysis *analysis, uint32_t pid)
{
	struct buf buf = BUF_INIT;
	struct event_task *task = event_begin(&buf, EVENT_TASK);

	task->head.pid = task->head.tid = pid;
	assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
	buf_done(&buf);
}

static void feed_call(struct analysis *analysis, uint32_t pid, enum sys_call_id id, int64_t ret, uint16_t flags)
{
	struct buf buf = BUF_INIT;
	struct event_call *call = event_begin(&buf, EVENT_CALL);

	call->head.pid = call->head.tid = pid;
	call->head.flags = flags;
	call->arch = SYS_ARCH_NATIVE;
	call->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	call->ret = ret;
	call->args[0] = 99;
	assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
	buf_done(&buf);
}

static void counts_all_but_marks(void **state)
{
	struct analysis *analysis = begin(NULL);
	struct analysis_facts facts = { .seen = 13, .delivered = 11, .in_flight = 1, .marks = 1, .wall_ns = 1000000 };
	const struct analysis_result *result = analysis_result(analysis);
	struct error err = { 0 };

	feed_task(analysis, 10);
	for (int i = 0; i < 8; i++)
		feed_call(analysis, 10, CALL_close, -EBADF, 0);
	feed_call(analysis, 10, CALL_getpid, 10, 0);
	feed_call(analysis, 10, CALL_getpid, 10, 0);
	feed_call(analysis, 10, CALL_exit_group, 0, EVENT_F_UNFINISHED);
	feed_call(analysis, 10, CALL_access, -ENOENT, EVENT_F_MARK);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_int_equal(result->calls, 11);
	assert_int_equal(result->processes, 1);
	assert_true(result->closed);
	assert_true(result->complete);
	assert_true(result->calls_ns == 1100);
	assert_int_equal(result->by_call_count, 3);
	assert_string_equal(result->by_call[0].name, "close");
	assert_int_equal(result->by_call[0].row.failed, 8);
	assert_true(result->by_call[0].ns == 800);
	assert_int_equal(result->tally->failed, 8);
	assert_int_equal(result->finding_count, 0);
	/* Twice is a mistake, and harmless. */
	assert_int_equal(analysis_finish(analysis, &facts, &err), -EALREADY);
	analysis_free(analysis);
}

static void a_record_that_never_came_opens_the_books(void **state)
{
	struct analysis *analysis = begin(NULL);
	struct analysis_facts facts = { .seen = 2, .delivered = 2 };
	struct error err = { 0 };

	feed_task(analysis, 10);
	feed_call(analysis, 10, CALL_getpid, 10, 0);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_false(analysis_result(analysis)->closed);
	assert_string_equal(analysis_result(analysis)->books_why, "2 calls delivered, 1 analysed");
	analysis_free(analysis);
}

static void asks_for_what_rules_and_model_need(void **state)
{
	static const char *const none[] = { NULL };
	struct analysis *bare = begin(none), *all = begin(NULL);
	uint64_t items = 0;

	assert_int_equal(analysis_items(bare) & MODEL_ITEMS, MODEL_ITEMS);
	/* The report tells of these, whatever the rules are. */
	assert_string_equal(analysis_env(bare)[0], "LC_ALL");
	for (const struct rule *const *rule = rule_list; *rule; rule++) {
		items |= (*rule)->items;
		for (const char *const *name = (*rule)->env; name && *name; name++) {
			unsigned found = 0;

			for (const char *const *env = analysis_env(all); *env; env++)
				found += strcmp(*env, *name) == 0;
			assert_int_equal(found, 1);
		}
	}
	assert_int_equal(analysis_items(all), items | MODEL_ITEMS);
	analysis_free(bare);
	analysis_free(all);
	analysis_free(NULL);
}

static void an_unknown_rule_is_named(void **state)
{
	static const char *const only[] = { "no-such-rule", NULL };
	struct analysis_spec spec = { .only_rules = only };
	struct analysis *analysis = NULL;
	struct error err = { 0 };

	assert_int_equal(analysis_new(&spec, &analysis, &err), -EINVAL);
	assert_null(analysis);
	assert_non_null(strstr(err.text, "no-such-rule"));
}

static void nothing_fed_is_a_run_of_nothing(void **state)
{
	struct analysis *analysis = begin(NULL);
	struct analysis_facts facts = { 0 };
	struct error err = { 0 };

	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_int_equal(analysis_result(analysis)->calls, 0);
	assert_true(analysis_result(analysis)->complete);
	assert_true(analysis_result(analysis)->task_ns == 0);
	analysis_free(analysis);
}

static void one_task_is_its_own_time(void **state)
{
	struct analysis *analysis = begin(NULL);
	struct analysis_facts facts = { .seen = 50, .delivered = 50, .wall_ns = 40000000 };
	const struct analysis_result *result = analysis_result(analysis);
	struct error err = { 0 };
	struct buf buf = BUF_INIT;
	struct event_exit *end;

	feed_task(analysis, 10);
	for (int i = 0; i < 50; i++)
		feed_call(analysis, 10, CALL_getpid, 10, 0);
	end = event_begin(&buf, EVENT_EXIT);
	end->head.pid = end->head.tid = 10;
	end->user_ns = 7000000;
	assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
	buf_done(&buf);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_true(result->user_ns == 7e6);
	assert_true(result->task_ns == 7e6 + 5000);
	assert_true(result->untraced_ns == result->task_ns);
	analysis_free(analysis);
}

static void untraced_is_never_more_than_traced(void **state)
{
	struct analysis *analysis = begin(NULL);
	struct analysis_facts facts = { .seen = 50, .delivered = 50, .wall_ns = 3000 };
	struct error err = { 0 };

	feed_task(analysis, 10);
	for (int i = 0; i < 50; i++)
		feed_call(analysis, 10, CALL_getpid, 10, 0);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_true(analysis_result(analysis)->untraced_ns <= 3000);
	assert_true(analysis_result(analysis)->calls_ns <= analysis_result(analysis)->untraced_ns);
	analysis_free(analysis);
}

static bool reads(const struct rule *rule, unsigned call)
{
	const uint16_t *id = rule->calls;

	while (*id && *id != call)
		id++;
	return *id != 0;
}

/* A call costs the rules that read it, and no others; one that none reads costs
 * the comparison of two numbers. */
static void a_rule_is_told_of_its_calls_alone(void **state)
{
	struct analysis *analysis = begin(NULL);
	unsigned unread = 0, rules = 0;

	while (rule_list[rules])
		rules++;
	assert_int_equal(analysis->runs.used, rules);
	for (unsigned call = 0; call < CALL_COUNT; call++) {
		uint32_t at = analysis->first[call];

		for (unsigned i = 0; i < rules; i++)
			if (reads(rule_list[i], call)) {
				assert_true(at < analysis->first[call + 1]);
				assert_ptr_equal(analysis->subscribers.at[at++].run, &analysis->runs.at[i]);
			}
		assert_int_equal(at, analysis->first[call + 1]);
		unread += at == analysis->first[call];
	}
	assert_true(unread > CALL_COUNT / 4);
	assert_int_equal(analysis->first[CALL_COUNT], analysis->subscribers.used);
	analysis_free(analysis);
}

/* And a rule that is not asked for has no state, no subscription and wants nothing. */
static void a_rule_left_out_is_not_there(void **state)
{
	static const char *const only[] = { "identity-call", NULL }, *const none[] = { NULL };
	struct analysis *analysis = begin(only);
	const struct rule *rule = rule_by_id(only[0]);
	size_t count = 0;

	while (rule->calls[count])
		count++;
	assert_int_equal(analysis->runs.used, 1);
	assert_int_equal(analysis->subscribers.used, count);
	assert_int_equal(analysis_items(analysis), MODEL_ITEMS | rule->items);
	analysis_free(analysis);
	analysis = begin(none);
	assert_int_equal(analysis->runs.used, 0);
	assert_int_equal(analysis->subscribers.used, 0);
	assert_int_equal(analysis_items(analysis), MODEL_ITEMS);
	analysis_free(analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_all_but_marks),
		cmocka_unit_test(a_record_that_never_came_opens_the_books),
		cmocka_unit_test(asks_for_what_rules_and_model_need),
		cmocka_unit_test(a_rule_is_told_of_its_calls_alone),
		cmocka_unit_test(a_rule_left_out_is_not_there),
		cmocka_unit_test(an_unknown_rule_is_named),
		cmocka_unit_test(nothing_fed_is_a_run_of_nothing),
		cmocka_unit_test(one_task_is_its_own_time),
		cmocka_unit_test(untraced_is_never_more_than_traced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
