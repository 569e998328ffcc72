/* SPDX-License-Identifier: BSD-2-Clause */
/* What a filter lets through, and that the books count everything all the same. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "verdict/analysis.h"

static struct model_view view_of(enum sys_call_id id, int err, struct model_path *path, const char *text)
{
	struct model_view view = { .id = id, .err = err };

	if (text) {
		*path = (struct model_path){ .text = text,
					     .bytes = (uint32_t)strlen(text),
					     .hash = map_hash(text, strlen(text)),
					     .absolute = *text == '/' };
		view.path = path;
	}
	return view;
}

static bool lets(const struct filter *filter, enum sys_call_id id, int err, const char *text)
{
	struct model_path path;
	struct model_view view = view_of(id, err, &path, text);

	return filter_has_view(filter, &view);
}

static void zeroed_is_no_filter(void **state)
{
	struct filter filter = { 0 };

	assert_false(filter_active(&filter));
	assert_false(filter_active(NULL));
	assert_true(lets(&filter, CALL_openat, 0, "/etc"));
	filter_done(&filter);
}

static void calls_paths_and_failures_all_have_to_fit(void **state)
{
	struct filter filter = { 0 };
	struct error err = { 0 };

	assert_int_equal(filter_add_calls(&filter, "%file", &err), 0);
	assert_int_equal(filter_add_path(&filter, "//nonesuch/./a", &err), 0);
	assert_int_equal(filter_set_failed(&filter, &err), 0);
	assert_int_equal(filter_set_failed(&filter, &err), 0);
	assert_true(filter_active(&filter));
	assert_true(lets(&filter, CALL_openat, ENOENT, "/nonesuch/a"));
	assert_false(lets(&filter, CALL_openat, 0, "/nonesuch/a"));
	assert_false(lets(&filter, CALL_openat, ENOENT, "/nonesuch/b"));
	assert_false(lets(&filter, CALL_openat, ENOENT, "/nonesuch/a/b"));
	assert_false(lets(&filter, CALL_openat, ENOENT, NULL));
	assert_false(lets(&filter, CALL_read, ENOENT, "/nonesuch/a"));
	assert_int_equal(filter.said.used, 3);
	assert_string_equal(filter.said.at[0], "-e %file");
	assert_string_equal(filter.said.at[1], "-P //nonesuch/./a");
	assert_string_equal(filter.said.at[2], "--failed");
	filter_done(&filter);
}

static void descriptors_have_paths_too(void **state)
{
	struct filter filter = { 0 };
	struct error err = { 0 };
	char path[] = "/nonesuch/a";
	struct model_file file = { .path = path, .path_hash = map_hash(path, strlen(path)) };
	struct model_view view = { .id = CALL_read, .file = &file };

	assert_int_equal(filter_add_path(&filter, "/nonesuch/a", &err), 0);
	assert_true(filter_has_view(&filter, &view));
	view.file = NULL;
	view.file2 = &file;
	assert_true(filter_has_view(&filter, &view));
	file.path = NULL;
	assert_false(filter_has_view(&filter, &view));
	filter_done(&filter);
}

static void links_and_relative_paths_are_followed(void **state)
{
	char folder[] = "/tmp/syscull-filter-XXXXXX", text[128];
	struct filter filter = { 0 };
	struct error err = { 0 };

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(filter_add_path(&filter, "link", &err), 0);
	(void)snprintf(text, sizeof text, "%s/link", folder);
	assert_true(lets(&filter, CALL_openat, 0, text));
	assert_true(lets(&filter, CALL_openat, 0, "/dev/null"));
	assert_false(lets(&filter, CALL_openat, 0, "link"));
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
	filter_done(&filter);
}

static void wrong_ones_are_refused(void **state)
{
	struct filter filter = { 0 };
	struct error err = { 0 };

	assert_int_equal(filter_add_calls(&filter, "opnat", &err), -EINVAL);
	assert_string_equal(err.text, "-e: there is no call 'opnat'; did you mean 'openat'?");
	err.code = 0;
	assert_int_equal(filter_add_path(&filter, "", &err), -EINVAL);
	assert_false(filter_active(&filter));
	for (int i = 0; i < FILTER_PATHS_MAX; i++) {
		char text[16];

		(void)snprintf(text, sizeof text, "/x/%d", i);
		err.code = 0;
		if (filter_add_path(&filter, text, &err) < 0)
			break;
	}
	assert_int_equal(err.code, E2BIG);
	filter_done(&filter);
}

static void samples_are_told_apart(void **state)
{
	static const char sample[] = "lgetxattr(\"d1k/f312\", \"security.selinux\", ..., 255) = -1 ENODATA";
	struct filter filter = { 0 }, other = { 0 };
	struct error err = { 0 };

	assert_int_equal(filter_add_calls(&filter, "@xattr", &err), 0);
	assert_int_equal(filter_set_failed(&filter, &err), 0);
	assert_int_equal(filter_add_path(&filter, "/x/d1k/f312", &err), 0);
	assert_true(filter_has_sample(&filter, sample));
	assert_false(filter_has_sample(&filter, "lgetxattr(\"d1k/f312\", \"a\", ..., 255) = 3"));
	assert_false(filter_has_sample(&filter, "openat(AT_FDCWD, \"d1k/f312\", 0) = -1 ENOENT"));
	assert_false(filter_has_sample(&filter, "lgetxattr(\"d1k/f313\", \"a\", ..., 255) = -1 ENODATA"));
	assert_int_equal(filter_add_calls(&other, "!@xattr", &err), 0);
	assert_false(filter_has_sample(&other, sample));
	filter_done(&filter);
	filter_done(&other);
}

static void feed(struct analysis *analysis, enum sys_call_id id, int64_t ret)
{
	struct buf buf = BUF_INIT;
	struct event_call *call = event_begin(&buf, EVENT_CALL);

	call->head.pid = call->head.tid = 10;
	call->arch = SYS_ARCH_NATIVE;
	call->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	call->ret = ret;
	call->args[0] = 99;
	assert_int_equal(analysis_feed(analysis, event_end(&buf)), 0);
	buf_done(&buf);
}

static void the_books_count_everything(void **state)
{
	struct filter filter = { 0 };
	struct analysis_spec spec = { .prices = price_book_new_fixed(NULL, 0, 100), .filter = &filter };
	struct analysis_facts facts = { .seen = 12, .delivered = 12, .wall_ns = 1000000 };
	struct analysis *analysis = NULL;
	const struct analysis_result *result;
	struct error err = { 0 };

	assert_int_equal(filter_set_failed(&filter, &err), 0);
	assert_int_equal(filter_add_calls(&filter, "close,getpid", &err), 0);
	assert_int_equal(analysis_new(&spec, &analysis, &err), 0);
	result = analysis_result(analysis);
	for (int i = 0; i < 5; i++)
		feed(analysis, CALL_close, i < 3 ? -EBADF : 0);
	for (int i = 0; i < 7; i++)
		feed(analysis, i % 2 ? CALL_getpid : CALL_dup, i % 2 ? 10 : -EBADF);
	assert_int_equal(analysis_finish(analysis, &facts, &err), 0);
	assert_true(result->closed && result->complete);
	assert_int_equal(result->calls, 12);
	assert_true(result->calls_ns == 1200);
	assert_int_equal(result->by_call_count, 1);
	assert_string_equal(result->by_call[0].name, "close");
	assert_int_equal(result->by_call[0].row.count, 3);
	assert_int_equal(result->by_call[0].row.failed, 3);
	assert_true(result->by_call[0].ns == 300);
	assert_int_equal(tally_errors(result->shown, &result->by_call[0].row, EBADF), 3);
	assert_int_equal(result->by_process.count, 1);
	assert_int_equal(result->by_process.items[0].calls, 3);
	assert_true(result->by_process.items[0].by_call[0].ns == 300);
	analysis_free(analysis);
	filter_done(&filter);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(zeroed_is_no_filter),
		cmocka_unit_test(calls_paths_and_failures_all_have_to_fit),
		cmocka_unit_test(descriptors_have_paths_too),
		cmocka_unit_test(links_and_relative_paths_are_followed),
		cmocka_unit_test(wrong_ones_are_refused),
		cmocka_unit_test(samples_are_told_apart),
		cmocka_unit_test(the_books_count_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
