/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of a proof: what stands in them, and what foreign text does to it. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/prove.h"

static char *argv_of_test[] = { (char *)(uintptr_t) "find", (char *)(uintptr_t) "a|b", NULL };
static const struct analysis_host host = { .kernel = "6.1", .arch = "x86_64", .libc = "glibc 2.36", .cpus = 2 };
static const struct tty tty = { .columns = 80 };
static const struct prove_call changed[] = { { "newfstatat", 1050, 50 }, { "openat", 3, 4 } };

static struct prove_result result_of_test(void)
{
	return (struct prove_result){
		.argv = argv_of_test,
		.with = "TZ='a|b', LC_ALL=C",
		.runs = 10,
		.same_output = true,
		.steady = true,
		.times = { .before = { 8e6, 9e6, 30e6 },
			   .after = { 6e6, 7e6, 8e6 },
			   .ratio = { 1.29, 1.2, 1.4 },
			   .outliers = 2 },
		.cpu = { .before = { 7e6, 8e6, 9e6 }, .after = { 5e6, 6e6, 7e6 }, .ratio = { 1.33, 1.3, 1.4 } },
		.counted = true,
		.calls = changed,
		.call_count = 2,
		.calls_before = 2000,
		.calls_after = 1001,
		.remedies = { { .name = "TZ='a|b'",
				.unsafe = "a change is not seen",
				.estimated_ns = 1.5e6,
				.saves_calls = 1000,
				.saves_ns = 2e6,
				.saves_cpu_ns = 1.9e6,
				.shown = true,
				.cpu_shown = true },
			      { .name = "LC_ALL=C",
				.unsafe = "text is bytes",
				.output = "messages",
				.estimated_ns = -1,
				.saves_calls = -1,
				.saves_ns = -1e5,
				.saves_cpu_ns = 0 } },
		.remedy_count = 2,
	};
}

static char *written(const char *format, const struct prove_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(prove_reporter_by_name(format)->write(out, result, &host, &tty), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void markdown_has_the_table(void **state)
{
	struct prove_result result = result_of_test();
	char *text = written("markdown", &result);

	has(text, "    find 'a|b'\n\n| | without | with `TZ='a\\|b', LC_ALL=C` |\n");
	has(text,
	    "| time, median of 10 (least to most) | 9.00 ms (8.00 ms to 30 ms) | 7.00 ms (6.00 ms to 8.00 ms) |\n");
	has(text, "| user and system time | 8.00 ms (");
	has(text, "| calls | 2,000 | 1,001 |\n| newfstatat | 1,050 | 50 |\n| openat | 3 | 4 |\n");
	has(text, "\nfaster, 1.29 times as fast (1.20 to 1.40); output the same; Linux 6.1, x86_64, glibc 2.36.\n");
	has(text, "\n2 of 20 runs took far longer or shorter than the others.\n");
	has(text, "\n| alone | calls fewer |");
	has(text, "| `TZ='a\\|b'` | 1,000 | 2.00 ms | 1.90 ms | 1.50 ms |\n");
	has(text, "| `LC_ALL=C` | -1 | no difference shown | no difference shown | finds nothing |\n");
	has(text, "\n`LC_ALL=C`: text is bytes; messages.\n");
	free(text);
}

static void a_share_within_chance_is_no_saving(void **state)
{
	struct prove_result result = result_of_test();
	char *text = written("text", &result);

	has(text, "TZ='a|b' alone: 1,000 calls fewer, 2.00 ms saved, of CPU time 1.90");
	has(text, "LC_ALL=C alone: 1 call more, no difference shown in time or CPU time;");
	free(text);
	result.cpu.word = PROVE_NO_DIFFERENCE;
	text = written("json", &result);
	has(text, "\"result\": \"faster\"");
	has(text, "\"cpu_result\": \"no difference shown\"");
	has(text, "\"shown\": true, \"cpu_shown\": true");
	has(text, "\"shown\": false, \"cpu_shown\": false");
	free(text);
}

static void what_was_not_measured_has_no_table(void **state)
{
	struct prove_result result = result_of_test();
	char *text;

	result.steady = result.same_output = false;
	result.differs = "stdout, line 1";
	text = written("markdown", &result);
	has(text, "Not measured: two runs without a remedy differ (`stdout, line 1`).\n");
	assert_null(strstr(text, "| ---"));
	free(text);
}

static void what_was_not_counted_is_said(void **state)
{
	struct prove_result result = result_of_test();
	char *text;

	result.counted = false;
	result.count_why = "3 calls are lost";
	result.same_output = false;
	result.differs = "the status is 5, not 0";
	text = written("markdown", &result);
	has(text, "output NOT the same: `the status is 5, not 0`; Linux");
	has(text, "Calls were not counted: 3 calls are lost.\n");
	has(text, "| `LC_ALL=C` | not counted |");
	assert_null(strstr(text, "newfstatat"));
	free(text);
	text = written("text", &result);
	has(text, "NOT the same: the status is 5, not 0");
	has(text, "not counted: 3 calls are lost");
	has(text, "2 of 20 runs took far longer");
	free(text);
	text = written("json", &result);
	has(text, "\"outliers\": 2");
	has(text, "\"calls_why\": \"3 calls are lost\"");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markdown_has_the_table),
		cmocka_unit_test(a_share_within_chance_is_no_saving),
		cmocka_unit_test(what_was_not_measured_has_no_table),
		cmocka_unit_test(what_was_not_counted_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
