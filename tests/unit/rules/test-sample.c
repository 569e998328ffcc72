/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls in strace's syntax, from records made by hand. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/rule.h"

#include "test.h"

static struct buf buf;

static struct event_call *begin(enum sys_call_id id)
{
	struct event_call *call = event_begin(&buf, EVENT_CALL);

	assert_non_null(call);
	call->arch = SYS_ARCH_NATIVE;
	call->nr = sys_call_nr(SYS_ARCH_NATIVE, id);
	return call;
}

static void text_item(enum sys_item type, unsigned arg, unsigned flags, const char *text)
{
	assert_int_equal(event_item_add(&buf, type, arg, flags, text, strlen(text)), 0);
}

static void assert_sample(enum sys_call_id id, const char *expected)
{
	struct event_head *head = event_end(&buf);
	struct model_view view = { 0 };
	char *text;

	assert_non_null(head);
	view.call = (const struct event_call *)head;
	view.id = id;
	view.err = event_call_errno(view.call);
	text = rule_sample(&view);
	assert_string_equal(text, expected);
	free(text);
}

static void test_get(void **state)
{
	struct event_call *call = begin(CALL_lgetxattr);

	call->args[0] = 0x7ffc1000;
	call->args[1] = 0x7ffc2000;
	call->args[2] = 0x7ffc3000;
	call->args[3] = 255;
	call->ret = -ENODATA;
	text_item(SYS_ITEM_PATH, 0, 0, "d1k/f312");
	text_item(SYS_ITEM_NAME, 1, 0, "security.selinux");
	assert_sample(CALL_lgetxattr, "lgetxattr(\"d1k/f312\", \"security.selinux\", ..., 255) = -1 ENODATA");
}

static void test_null_and_unread(void **state)
{
	struct event_call *call = begin(CALL_getxattr);

	call->args[0] = 0x7ffc1000;
	call->args[1] = 0x7ffc2000;
	call->ret = -EFAULT;
	assert_int_equal(event_item_add(&buf, SYS_ITEM_PATH, 0, EVENT_ITEM_UNREAD, NULL, 0), 0);
	assert_sample(CALL_getxattr, "getxattr(..., ..., NULL, 0) = -1 EFAULT");
}

static void test_stat_result(void **state)
{
	struct item_stat st = { .mode = S_IFREG | 0644, .size = 114 };
	struct event_call *call = begin(CALL_newfstatat);

	call->args[0] = (uint64_t)AT_FDCWD;
	call->args[1] = 0x1000;
	call->args[2] = 0x2000;
	text_item(SYS_ITEM_PATH, 1, 0, "/etc/localtime");
	assert_int_equal(event_item_add(&buf, SYS_ITEM_STAT, 2, 0, &st, sizeof st), 0);
	assert_sample(CALL_newfstatat,
		      "newfstatat(AT_FDCWD, \"/etc/localtime\", {st_mode=0100644, st_size=114, ...}, 0) = 0");
}

static void test_foreign_bytes(void **state)
{
	struct event_call *call = begin(CALL_getxattr);

	call->args[0] = call->args[1] = 0x1000;
	call->ret = 3;
	text_item(SYS_ITEM_PATH, 0, 0, "a\n\"\33[31m");
	text_item(SYS_ITEM_NAME, 1, 0, "user.x");
	assert_sample(CALL_getxattr, "getxattr(\"a\\n\\\"\\33[31m\", \"user.x\", NULL, 0) = 3");
}

static void test_long_string_is_cut(void **state)
{
	char path[1000];
	struct event_call *call = begin(CALL_rmdir);
	struct event_head *head;
	struct model_view view = { 0 };
	char *text;

	memset(path, 'p', sizeof path);
	path[sizeof path - 1] = '\0';
	call->args[0] = 0x1000;
	text_item(SYS_ITEM_PATH, 0, 0, path);
	head = event_end(&buf);
	view.call = (const struct event_call *)head;
	view.id = CALL_rmdir;
	text = rule_sample(&view);
	assert_true(strlen(text) < 150);
	assert_non_null(strstr(text, "ppp\"...) = 0"));
	free(text);
}

static void test_no_result(void **state)
{
	struct event_call *call = begin(CALL_close);

	call->args[0] = 7;
	call->head.flags = EVENT_F_UNFINISHED;
	assert_sample(CALL_close, "close(7) = ?");
	call = begin(CALL_close);
	call->args[0] = 7;
	call->ret = -512;
	assert_sample(CALL_close, "close(7) = ? ERESTARTSYS");
}

static void test_unknown_number(void **state)
{
	struct event_call *call = begin(CALL_close);

	call->nr = 9999;
	call->ret = -ENOSYS;
	assert_sample(CALL_unknown, "call_9999(...) = -1 ENOSYS");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_null_and_unread),
		cmocka_unit_test(test_stat_result),
		cmocka_unit_test(test_foreign_bytes),
		cmocka_unit_test(test_long_string_is_cut),
		cmocka_unit_test(test_no_result),
		cmocka_unit_test(test_unknown_number),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&buf);
	return failed;
}
