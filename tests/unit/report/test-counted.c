/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports of counted calls: their shape, and what foreign text does to it. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/counted.h"

static char *argv_of_test[] = { (char *)(uintptr_t) "cat", (char *)(uintptr_t) "a b", NULL };
static const struct report_options plain = { .tty = { .columns = 80 } };

static void fill(struct counted *counted, const char *exe)
{
	struct count_row row = { .arch = SYS_ARCH_NATIVE,
				 .count = 1200,
				 .failed = 3,
				 .timed = 1200,
				 .ns = 2400000,
				 .errors = { { .err = ENOENT, .count = 3 } } };

	row.nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_read);
	row.buckets[1 + (11 - COUNT_LEAST_BITS) * 4] = 1200; /* 2,048 to 2,560 ns */
	counted_init(counted);
	assert_int_equal(counted_add(counted, &row, 2500, exe, ""), 0);
	row = (struct count_row){ .arch = SYS_ARCH_NATIVE, .count = 1, .unreturned = 1 };
	row.nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_exit_group);
	assert_int_equal(counted_add(counted, &row, 0, "/bin/sh", ""), 0);
	counted_finish(counted);
}

static struct counted_facts facts_of(const struct counted *counted)
{
	struct counted_facts facts = { .what = COUNTED_COMMAND,
				       .argv = argv_of_test,
				       .engine_why = "why",
				       .exit_known = true,
				       .exit_status = 1,
				       .wall_ns = 5000000,
				       .seen = counted->all.count,
				       .tasks = 2,
				       .processes = 2 };

	counted_judge(counted, &facts);
	return facts;
}

static char *text_of(const struct counted *counted, const struct counted_facts *facts)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(counted_text(out, counted, facts, &plain), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void the_text(void **state)
{
	static const char wanted[] =
		"cat 'a b': exit 1, 2 processes, 1,201 calls\n"
		"Time    5.00 ms passed; 2.40 ms in calls, waiting included\n"
		"\n"
		"Calls                  count   failed      time       p50       p99       max\n"
		"read                   1,200        3   2.40 ms   2.30 us   2.50 us   2.50 us\n"
		"exit_group                 1        0         -         -         -         -\n"
		"\n"
		"Programs                                                count   failed      time\n"
		"/bin/cat                                                1,200        3   2.40 ms\n"
		"/bin/sh                                                     1        0         -\n"
		"\n"
		"Books   closed: 1,201 seen = 1,201 counted\n";
	struct counted_facts facts;
	struct counted counted;
	char *text;

	(void)state;
	fill(&counted, "/bin/cat");
	facts = facts_of(&counted);
	text = text_of(&counted, &facts);
	assert_string_equal(text, wanted);
	free(text);
	facts.let_go_ns = 1000;
	facts.plain = 7;
	counted_judge(&counted, &facts);
	text = text_of(&counted, &facts);
	assert_ptr_equal(strstr(text, "Warning the books are not complete: let go after 1.00 us of 5.00 ms\n"), text);
	assert_non_null(strstr(text, "Books   closed, not complete:"));
	assert_non_null(strstr(text, "Note    of 7 calls only the number is known: the tables were full\n"));
	free(text);
	counted_done(&counted);
}

static void no_line_is_too_long_or_foreign(void **state)
{
	struct counted_facts facts;
	struct counted counted;
	char exe[4000];
	char *text;

	(void)state;
	memset(exe, 'x', sizeof exe - 1);
	exe[sizeof exe - 1] = '\0';
	memcpy(exe, "/\33[31m\n", 7);
	fill(&counted, exe);
	facts = facts_of(&counted);
	facts.what = COUNTED_CGROUP;
	facts.cgroup = exe;
	text = text_of(&counted, &facts);
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "\n") <= 80);
	assert_null(strchr(text, '\33'));
	free(text);
	counted_done(&counted);
}

static void json_escapes(void **state)
{
	struct counted_facts facts;
	struct counted counted;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	fill(&counted, "/bin/\33\"\xff");
	facts = facts_of(&counted);
	assert_int_equal(counted_json(out, &counted, &facts), 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "\"errors\": {\"ENOENT\": 3}"));
	assert_non_null(strstr(text, "{\"b64\": \"L2Jpbi8bIv8=\"}"));
	assert_null(strchr(text, '\33'));
	free(text);
	counted_done(&counted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text),
		cmocka_unit_test(no_line_is_too_long_or_foreign),
		cmocka_unit_test(json_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
