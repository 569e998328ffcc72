/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading baselines of ours and of anybody, what is new or has grown since,
 * and new baselines from old ones. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rules/rule.h"
#include "verdict/analysis.h"
#include "verdict/baseline.h"

#define FINDING(mark, calls) \
	"{\"rule\":\"fd-sweep\",\"fingerprint\":\"" mark "\",\"tier\":\"certain\",\"information\":false," \
	"\"exe\":\"/bin/a\",\"calls\":" calls "}"
#define HEAD "{\"schema\":1,\"kind\":\"run\",\"tool\":{\"name\":\"syscull\",\"version\":\"0\"}"
#define WORLD \
	",\"host\":{\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"libc\":\"glibc 2.36\",\"cpus\":2},\"command\":[\"ls\"]," \
	"\"environment\":{\"nofile_soft\":1024,\"nofile_hard\":\"unlimited\",\"locale\":\"C\",\"tz\":null,\"path_" \
	"entries\":2}"
#define BOOKS ",\"accounting\":{\"closed\":true,\"complete\":true,\"scope\":null},\"selection\":null"
#define REPORT(calls, findings) HEAD WORLD BOOKS ",\"calls\":[" calls "],\"findings\":[" findings "]}"

#define MARK_A "00000000000000aa"
#define MARK_B "00000000000000bb"

static int parse(struct baseline *baseline, const char *text, struct error *err)
{
	return baseline_parse(baseline, "base.json", text, strlen(text), err);
}

static void reads_what_it_compares(void **state)
{
	static const char text[] =
		REPORT("{\"name\":\"write\",\"count\":5,\"errors\":{}},{\"name\":\"close\",\"count\":3},"
		       "{\"name\":\"write\",\"count\":2}",
		       FINDING(MARK_B, "4") "," FINDING(MARK_A, "10") "," FINDING(MARK_B, "6"));
	struct baseline baseline;
	struct error err = { 0 };

	(void)state;
	if (parse(&baseline, text, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(baseline.kernel, "6.1");
	assert_string_equal(baseline.libc, "glibc 2.36");
	assert_string_equal(baseline.locale, "C");
	assert_string_equal(baseline.program, "ls");
	assert_true(baseline.nofile_known && baseline.nofile_soft == 1024 && baseline.nofile_hard == UINT64_MAX);
	assert_true(baseline.path_known && baseline.path_entries == 2);
	assert_int_equal(baseline.calls.used, 2);
	assert_string_equal(baseline.calls.at[0].name, "close");
	assert_int_equal(baseline.calls.at[1].count, 7);
	assert_int_equal(baseline.findings.used, 2);
	assert_string_equal(baseline.findings.at[1].fingerprint, MARK_B);
	assert_int_equal(baseline.findings.at[1].calls, 10);
	assert_int_equal(baseline.findings.at[1].findings, 2);
	baseline_done(&baseline);
}

/* What is no waste is not compared. */
static void information_is_left_out(void **state)
{
	static const char text[] =
		REPORT("", "{\"rule\":\"a\",\"fingerprint\":\"" MARK_A
			   "\",\"tier\":\"likely\",\"information\":true,\"calls\":1},"
			   "{\"rule\":\"a\",\"fingerprint\":\"" MARK_A "\",\"tier\":\"by-design\",\"calls\":1}");
	struct baseline baseline;

	(void)state;
	assert_int_equal(parse(&baseline, text, NULL), 0);
	assert_int_equal(baseline.findings.used, 0);
	baseline_done(&baseline);
}

static void odd_files_get_one_line(void **state)
{
	static const struct {
		int code;
		const char *text, *says;
	} rows[] = {
		{ EINVAL, "", "base.json is no report of syscull, or torn: line" },
		{ EINVAL,
		  "\x7f"
		  "ELF",
		  "torn" },
		{ EINVAL, "[budget]\nmax = a=1\n", "torn" },
		{ EINVAL, "[]", "'tool', 'schema' or 'kind'" },
		{ EINVAL, "{}", "'tool', 'schema' or 'kind'" },
		{ EINVAL, "\"\\u0000\"", "torn" },
		{ EINVAL, "{\"schema\":1,\"schema\":1}", "duplicate" },
		{ EINVAL, "{\"schema\":1,\"kind\":\"run\",\"tool\":{\"name\":\"other\"}}", "'tool'" },
		{ EINVAL, "{\"schema\":\"1\",\"kind\":\"run\",\"tool\":{\"name\":\"syscull\"}}", "'tool'" },
		{ EINVAL, "{\"schema\":1,\"kind\":7,\"tool\":{\"name\":\"syscull\"}}", "'tool'" },
		{ EINVAL, "{\"schema\":1,\"kind\":\"run\",\"tool\":\"syscull\"}", "'tool'" },
		{ EPROTO, "{\"schema\":2,\"kind\":\"run\",\"tool\":{\"name\":\"syscull\"}}", "has schema 2" },
		{ EPROTO, "{\"schema\":1,\"kind\":\"diff\",\"tool\":{\"name\":\"syscull\"}}", "a report of 'diff'" },
		{ EINVAL, HEAD "}", "'accounting'" },
		{ EINVAL, HEAD ",\"accounting\":[]}", "'accounting'" },
		{ EPROTO, HEAD ",\"accounting\":{\"complete\":false}}", "not complete" },
		{ EPROTO, HEAD ",\"accounting\":{\"complete\":true,\"scope\":[\"read\"]}}", "some calls only" },
		{ EINVAL, HEAD BOOKS "}", "'host'" },
		{ EINVAL, HEAD BOOKS WORLD "}", "'calls'" },
		{ EINVAL, HEAD BOOKS WORLD ",\"calls\":{}}", "'calls'" },
		{ EINVAL, REPORT("7", ""), "of a call" },
		{ EINVAL, REPORT("{\"name\":\"a\"}", ""), "of a call" },
		{ EINVAL, REPORT("{\"name\":\"a\",\"count\":-1}", ""), "of a call" },
		{ EINVAL, REPORT("{\"name\":\"a\",\"count\":1.5}", ""), "of a call" },
		{ EINVAL, REPORT("{\"name\":\"a\",\"count\":99999999999999999999}", ""), "too big integer" },
		{ EINVAL, REPORT("{\"name\":[],\"count\":1}", ""), "of a call" },
		{ EINVAL, REPORT("", "null"), "of a finding" },
		{ EINVAL, REPORT("", FINDING("xyz", "1")), "of a finding" },
		{ EINVAL, REPORT("", FINDING("00000000000000AA", "1")), "of a finding" },
		{ EINVAL, REPORT("", FINDING(MARK_A "00", "1")), "of a finding" },
		{ EINVAL, REPORT("", FINDING(MARK_A, "\"1\"")), "of a finding" },
		{ EINVAL, "{\"\x1b[31m\": tru\x1b[0m}", "torn" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct baseline baseline;
		struct error err = { 0 };

		if (parse(&baseline, rows[i].text, &err) != -rows[i].code || !strstr(err.text, rows[i].says))
			fail_msg("%zu: %d %s", i, err.code, err.text);
		assert_null(strchr(err.text, '\n'));
		assert_null(strchr(err.text, '\x1b'));
		assert_null(baseline.calls.at);
	}
}

/* Each beginning of a report is torn. */
static void torn_files_are_seen(void **state)
{
	static const char text[] = REPORT("{\"name\":\"write\",\"count\":5}", FINDING(MARK_A, "10"));

	(void)state;
	for (size_t bytes = 0; bytes < strlen(text); bytes++) {
		struct baseline baseline;

		assert_true(baseline_parse(&baseline, "f", text, bytes, NULL) < 0);
	}
}

static void hostile_files_are_bounded(void **state)
{
	struct buf buf = BUF_INIT;
	struct baseline baseline;
	struct error err = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		(void)buf_putc(&buf, '[');
	assert_true(baseline_parse(&baseline, "f", buf.data, buf.bytes, &err) < 0);
	assert_non_null(strstr(err.text, "depth"));

	buf_clear(&buf);
	(void)buf_putc(&buf, '[');
	for (int i = 0; i < 3000000; i++)
		(void)buf_puts(&buf, "[],");
	(void)buf_puts(&buf, "[]]");
	err = (struct error){ 0 };
	assert_int_equal(baseline_parse(&baseline, "f", buf.data, buf.bytes, &err), -EFBIG);
	assert_non_null(strstr(err.text, "too much memory"));
	err = (struct error){ 0 };
	assert_int_equal(baseline_parse(&baseline, "f", buf.data, BASELINE_BYTES_MAX + 1, &err), -EFBIG);
	/* What was taken was given back. */
	assert_int_equal(parse(&baseline, REPORT("", ""), NULL), 0);
	baseline_done(&baseline);
	buf_done(&buf);
}

static void files_that_are_none(void **state)
{
	struct baseline baseline;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(baseline_read(&baseline, "/nonexistent/base.json", &err), -ENOENT);
	assert_non_null(strstr(err.text, "the baseline /nonexistent/base.json"));
	err = (struct error){ 0 };
	assert_int_equal(baseline_read(&baseline, "/", &err), -EISDIR);
	err = (struct error){ 0 };
	assert_int_equal(baseline_read(&baseline, "/dev/zero", &err), -EFBIG);
	assert_non_null(strstr(err.text, "more than 32 MiB"));
}

/* A run with made-up counts. */
struct world {
	struct analysis_result result;
	struct verdict_call calls[3];
	struct verdict_finding findings[4];
	struct finding made[4];
};

static const struct rule rule = { .id = "fd-sweep" };

static void set_up(struct world *world, uint64_t writes, uint64_t closes, uint64_t a, uint64_t b)
{
	*world = (struct world){ .result = { .complete = true } };
	world->result.by_call = world->calls;
	world->result.findings = world->findings;
	for (int i = 0; i < 2; i++) {
		struct verdict_call *call = &world->calls[world->result.by_call_count];

		call->row.count = i ? closes : writes;
		(void)strcpy(call->name, i ? "close" : "write");
		world->result.by_call_count += call->row.count > 0;
	}
	for (int i = 0; i < 2; i++) {
		struct verdict_finding *finding = &world->findings[world->result.finding_count];

		world->made[i] = (struct finding){ .rule = &rule, .calls = i ? b : a };
		finding->finding = &world->made[i];
		(void)strcpy(finding->fingerprint, i ? MARK_B : MARK_A);
		world->result.finding_count += world->made[i].calls > 0;
	}
}

static void compare(struct world *world, struct baseline_changes *changes)
{
	struct baseline baseline;
	struct error err = { 0 };

	assert_int_equal(parse(&baseline,
			       REPORT("{\"name\":\"write\",\"count\":5},{\"name\":\"close\",\"count\":3}",
				      FINDING(MARK_A, "4") "," FINDING(MARK_A, "6")),
			       NULL),
			 0);
	if (baseline_compare(&baseline, &world->result, changes, &err) < 0)
		fail_msg("%s", err.text);
	/* Names and texts are the run's: the baseline may go. */
	baseline_done(&baseline);
}

static void what_is_the_same_or_fewer_passes(void **state)
{
	struct baseline_changes changes;
	struct world world;

	(void)state;
	set_up(&world, 5, 3, 10, 0);
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 0);
	assert_int_equal(changes.fewer, 0);
	assert_int_equal(changes.differences.used, 0);
	baseline_changes_done(&changes);

	set_up(&world, 4, 0, 9, 0);
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 0);
	assert_int_equal(changes.fewer, 3);
	baseline_changes_done(&changes);
}

static void what_is_new_or_grown_is_told(void **state)
{
	struct baseline_changes changes;
	struct world world;

	(void)state;
	set_up(&world, 7, 4, 11, 100);
	(void)strcpy(world.calls[2].name, "openat");
	world.calls[2].row.count = 1;
	world.result.by_call_count = 3;
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 5);
	/* Findings first, then calls; most growth first. */
	assert_int_equal(changes.items.at[0].kind, BASELINE_FINDING);
	assert_string_equal(changes.items.at[0].fingerprint, MARK_B);
	assert_true(changes.items.at[0].before == 0 && changes.items.at[0].after == 100);
	assert_string_equal(changes.items.at[1].fingerprint, MARK_A);
	assert_true(changes.items.at[1].before == 10 && changes.items.at[1].after == 11);
	assert_string_equal(changes.items.at[2].name, "write");
	assert_string_equal(changes.items.at[3].name, "close");
	assert_string_equal(changes.items.at[4].name, "openat");
	assert_int_equal(changes.items.at[4].before, 0);
	assert_int_equal(changes.fewer, 0);
	baseline_changes_done(&changes);
}

/* Equal findings of several processes count together, in any order. */
static void equal_findings_are_one_sum(void **state)
{
	struct baseline_changes changes;
	struct world world;

	(void)state;
	set_up(&world, 5, 3, 3, 7);
	(void)strcpy(world.findings[1].fingerprint, MARK_A);
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 0);
	baseline_changes_done(&changes);
	world.made[0].calls = 4;
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 1);
	assert_true(changes.items.at[0].before == 10 && changes.items.at[0].after == 11);
	baseline_changes_done(&changes);
	world.made[0].information = true;
	world.made[1].tier = FINDING_BY_DESIGN;
	compare(&world, &changes);
	assert_int_equal(changes.items.used, 0);
	baseline_changes_done(&changes);
}

static void other_machines_are_told(void **state)
{
	static char *argv[] = { (char *)(uintptr_t) "/bin/find", NULL };
	static const char *const says[] = {
		"program ls (baseline), find (here)",
		"kernel 6.1 (baseline), 6.1\\33[0m (here)",
		"machine x86_64 (baseline), aarch64 (here)",
		"C library glibc 2.36 (baseline), glibc 2.40 (here)",
		"locale C (baseline), C.UTF-8 (here)",
		"soft limit of open files 1,024 (baseline), unlimited (here)",
		"hard limit of open files unlimited (baseline), 4,096 (here)",
		"entries of PATH 2 (baseline), 9 (here)",
	};
	struct baseline_changes changes;
	struct world world;

	(void)state;
	set_up(&world, 5, 3, 10, 0);
	world.result.facts.argv = argv;
	world.result.facts.host =
		(struct analysis_host){ .kernel = "6.1\x1b[0m", .arch = "aarch64", .libc = "glibc 2.40" };
	world.result.environment = (struct analysis_environment){ .nofile_known = true,
								  .nofile_soft = UINT64_MAX,
								  .nofile_hard = 4096,
								  .env_known = true,
								  .locale = "C.UTF-8",
								  .path_entries = 9 };
	compare(&world, &changes);
	assert_int_equal(changes.differences.used, 8);
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(changes.differences.at[i], says[i]);
	baseline_changes_done(&changes);
}

static void only_equal_views_are_compared(void **state)
{
	static const char *const scope[] = { "read", NULL };
	struct baseline_changes changes;
	struct baseline baseline;
	struct filter filter = { 0 };
	struct error err = { 0 };
	struct world world;

	(void)state;
	set_up(&world, 5, 3, 10, 0);
	assert_int_equal(parse(&baseline, REPORT("", ""), NULL), 0);
	world.result.facts.scope = scope;
	assert_int_equal(baseline_compare(&baseline, &world.result, &changes, &err), -EPROTO);
	assert_non_null(strstr(err.text, "needs all"));
	world.result.facts.scope = NULL;
	assert_int_equal(filter_add_calls(&filter, "%file", NULL), 0);
	world.result.filter = &filter;
	err = (struct error){ 0 };
	assert_int_equal(baseline_compare(&baseline, &world.result, &changes, &err), -EPROTO);
	assert_non_null(strstr(err.text, "different calls"));
	baseline_done(&baseline);
	assert_int_equal(parse(&baseline,
			       HEAD WORLD ",\"accounting\":{\"complete\":true},\"selection\":[\"-e %file\"],"
					  "\"calls\":[],\"findings\":[]}",
			       NULL),
			 0);
	assert_int_equal(baseline_compare(&baseline, &world.result, &changes, NULL), 0);
	baseline_changes_done(&changes);
	baseline_done(&baseline);
	filter_done(&filter);
}

static void merge(enum baseline_merge how, const char *old, const char *now, const char *expected)
{
	struct buf a = BUF_INIT, b = BUF_INIT, merged = BUF_INIT, seen = BUF_INIT;
	struct baseline baseline;
	struct error err = { 0 };

	(void)buf_puts(&a, old);
	(void)buf_puts(&b, now);
	if (baseline_merge(how, "old", &a, &b, &merged, &err) < 0)
		fail_msg("%s", err.text);
	if (baseline_parse(&baseline, "merged", merged.data, merged.bytes, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < baseline.calls.used; i++)
		(void)buf_printf(&seen, "%s %u ", baseline.calls.at[i].name, (unsigned)baseline.calls.at[i].count);
	for (size_t i = 0; i < baseline.findings.used; i++)
		(void)buf_printf(&seen, "%s %u ", baseline.findings.at[i].fingerprint + 14,
				 (unsigned)baseline.findings.at[i].calls);
	assert_string_equal(buf_text(&seen), expected);
	baseline_done(&baseline);
	buf_done(&seen);
	buf_done(&a);
	buf_done(&b);
	buf_done(&merged);
}

static void a_baseline_follows_up_or_down(void **state)
{
	static const char old[] =
		REPORT("{\"name\":\"a\",\"count\":5},{\"name\":\"b\",\"count\":5},{\"name\":\"c\",\"count\":5}",
		       FINDING(MARK_A, "4") "," FINDING(MARK_A, "6"));
	static const char now[] =
		REPORT("{\"name\":\"d\",\"count\":1},{\"name\":\"a\",\"count\":7},{\"name\":\"b\",\"count\":2}",
		       FINDING(MARK_B, "9") "," FINDING(MARK_A, "5") "," FINDING(MARK_A, "5"));

	(void)state;
	merge(BASELINE_RAISE, old, now, "a 7 b 5 c 5 d 1 aa 10 bb 9 ");
	merge(BASELINE_LOWER, old, now, "a 5 b 2 aa 10 ");
	merge(BASELINE_LOWER, REPORT("", FINDING(MARK_A, "4")), now, "aa 4 ");
	merge(BASELINE_RAISE, REPORT("", ""), REPORT("", ""), "");
}

/* One of its own layout, so that `diff` shows what changed. */
static void a_merged_one_is_laid_out_as_a_report(void **state)
{
	struct buf old = BUF_INIT, merged = BUF_INIT;

	(void)state;
	(void)buf_puts(&old, REPORT("{\"name\":\"a\",\"count\":5}", ""));
	assert_int_equal(baseline_merge(BASELINE_RAISE, "old", &old, &old, &merged, NULL), 0);
	assert_non_null(
		strstr(buf_text(&merged), "{\n \"schema\": 1,\n \"kind\": \"run\",\n \"tool\": {\n  \"name\": "));
	assert_non_null(strstr(buf_text(&merged),
			       "\n \"calls\": [\n  {\"name\": \"a\", \"count\": 5}\n ],\n \"findings\": []\n}\n"));
	buf_done(&merged);
	buf_done(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_it_compares),
		cmocka_unit_test(information_is_left_out),
		cmocka_unit_test(odd_files_get_one_line),
		cmocka_unit_test(torn_files_are_seen),
		cmocka_unit_test(hostile_files_are_bounded),
		cmocka_unit_test(files_that_are_none),
		cmocka_unit_test(what_is_the_same_or_fewer_passes),
		cmocka_unit_test(what_is_new_or_grown_is_told),
		cmocka_unit_test(equal_findings_are_one_sum),
		cmocka_unit_test(other_machines_are_told),
		cmocka_unit_test(only_equal_views_are_compared),
		cmocka_unit_test(a_baseline_follows_up_or_down),
		cmocka_unit_test(a_merged_one_is_laid_out_as_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
