/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Vectors, messages and the descriptors in them: from live structs of this
 * machine and from hand-made bad ones.
 */
#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "event/event.h"
#include "test.h"

#if defined __LP64__
/* What the layouts in message.c are the layouts of. */
_Static_assert(sizeof(struct iovec) == EVENT_IOVEC_BYTES, "struct iovec");
_Static_assert(sizeof(struct msghdr) == EVENT_MSGHDR_BYTES, "struct msghdr");
_Static_assert(sizeof(struct mmsghdr) == EVENT_MMSGHDR_BYTES, "struct mmsghdr");
_Static_assert(offsetof(struct clone_args, pidfd) == 8, "struct clone_args");
#endif

static struct buf buf;

static int start(void **state)
{
	(void)state;
	return event_begin(&buf, EVENT_CALL) ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	buf_done(&buf);
	return 0;
}

/* The one item of the record, which must be valid. */
static const struct event_item *only_item(enum sys_item type)
{
	struct event_head *head = event_end(&buf);
	const struct event_item *item;

	assert_non_null(head);
	assert_true(event_valid(head, head->bytes));
	item = event_item_next(head, NULL);
	if (!item)
		return NULL;
	assert_null(event_item_next(head, item));
	assert_int_equal(item->type, type);
	return item;
}

static void vectors_are_summed(void **state)
{
	struct iovec iov[3] = { { NULL, 10 }, { iov, 200 }, { iov + 1, 0 } };
	const struct event_item *item;
	const struct item_iovec *vec;

	(void)state;
	assert_int_equal(event_item_iovec(&buf, 1, iov, sizeof(iov), 3), 0);
	item = only_item(SYS_ITEM_IOVEC);
	assert_int_equal(item->arg, 1);
	assert_int_equal(item->flags, 0);
	vec = EVENT_ITEM_AS(struct item_iovec, item);
	assert_int_equal(vec->count, 3);
	assert_int_equal(vec->total, 210);
}

static void cut_vectors_say_so(void **state)
{
	struct iovec iov[2] = { { NULL, 10 }, { iov, 200 } };
	const struct event_item *item;
	const struct item_iovec *vec;

	(void)state;
	assert_int_equal(event_item_iovec(&buf, 1, iov, sizeof(iov) - 1, UINT64_MAX), 0);
	item = only_item(SYS_ITEM_IOVEC);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	vec = EVENT_ITEM_AS(struct item_iovec, item);
	assert_true(vec->count == UINT64_MAX);
	assert_int_equal(vec->total, 10);
}

static void odd_vectors(void **state)
{
	uint64_t huge[4] = { 0, UINT64_MAX - 1, 0, 5 };
	const struct event_item *item;

	(void)state;
	/* Lengths that overflow. */
	assert_int_equal(event_item_iovec(&buf, 1, huge, sizeof(huge), 2), 0);
	assert_true(EVENT_ITEM_AS(struct item_iovec, only_item(SYS_ITEM_IOVEC))->total == UINT64_MAX);
	/* More than the call was given is not counted. */
	start(NULL);
	assert_int_equal(event_item_iovec(&buf, 1, huge, sizeof(huge), 0), 0);
	item = only_item(SYS_ITEM_IOVEC);
	assert_int_equal(EVENT_ITEM_AS(struct item_iovec, item)->total, 0);
	assert_int_equal(item->flags, 0);
	/* Nothing could be fetched. */
	start(NULL);
	assert_int_equal(event_item_iovec(&buf, 1, NULL, 0, 4), 0);
	assert_int_equal(only_item(SYS_ITEM_IOVEC)->flags, EVENT_ITEM_UNREAD);
}

static void messages_are_read(void **state)
{
	char name[] = "name", control[64];
	struct iovec iov[2] = { { name, 4 }, { control, 60 } };
	struct msghdr live = { .msg_name = name,
			       .msg_namelen = 5,
			       .msg_iov = iov,
			       .msg_iovlen = 2,
			       .msg_control = control,
			       .msg_controllen = 64,
			       .msg_flags = MSG_CTRUNC };
	struct event_msg msg = EVENT_MSG_INIT;
	struct event_msghdr head;
	const struct item_msg *item;

	(void)state;
	assert_int_equal(event_msghdr_read(&live, sizeof(live) - 1, &head), -EINVAL);
	assert_int_equal(event_msghdr_read(&live, sizeof(live), &head), 0);
	assert_true(head.name == (uintptr_t)name && head.iov == (uintptr_t)iov && head.control == (uintptr_t)control);
	assert_int_equal(head.name_bytes, 5);
	assert_int_equal(head.iov_count, 2);
	assert_int_equal(head.control_bytes, 64);
	assert_int_equal(head.flags, MSG_CTRUNC);
	event_msg_add(&msg, &head, iov, sizeof(iov));
	event_msg_add(&msg, &head, iov, sizeof(iov));
	assert_int_equal(event_item_msg(&buf, 1, 0, &msg), 0);
	assert_int_equal(only_item(SYS_ITEM_MSG)->flags, 0);
	item = EVENT_ITEM_AS(struct item_msg, only_item(SYS_ITEM_MSG));
	assert_int_equal(item->messages, 2);
	assert_int_equal(item->count, 4);
	assert_int_equal(item->total, 128);
	assert_int_equal(item->control, 128);
	assert_int_equal(item->flags, MSG_CTRUNC);
}

static void lying_messages(void **state)
{
	struct event_msghdr head = { .iov_count = UINT64_MAX, .control_bytes = UINT64_MAX };
	struct event_msg msg = EVENT_MSG_INIT;
	const struct event_item *item;

	(void)state;
	event_msg_add(&msg, &head, NULL, 0);
	event_msg_add(&msg, &head, NULL, 0);
	assert_int_equal(event_item_msg(&buf, 1, 0, &msg), 0);
	item = only_item(SYS_ITEM_MSG);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	assert_true(EVENT_ITEM_AS(struct item_msg, item)->count == UINT64_MAX);
	assert_int_equal(EVENT_ITEM_AS(struct item_msg, item)->total, 0);
	start(NULL);
	assert_int_equal(event_item_msg(&buf, 1, EVENT_ITEM_UNREAD, &msg), 0);
	assert_int_equal(only_item(SYS_ITEM_MSG)->bytes, 0);
}

/* One part of control data as CMSG macros make it; returns the bytes used. */
static size_t put_part(char *control, int level, int type, const void *data, size_t bytes)
{
	struct cmsghdr head = { .cmsg_len = CMSG_LEN(bytes), .cmsg_level = level, .cmsg_type = type };

	memcpy(control, &head, sizeof(head));
	memcpy(control + sizeof(head), data, bytes);
	return CMSG_SPACE(bytes);
}

static void rights_are_found(void **state)
{
	char control[256] = { 0 };
	size_t used = 0;
	const struct event_item *item;

	(void)state;
	used += put_part(control + used, SOL_SOCKET, SCM_RIGHTS, (int[]){ 3, 4, 5 }, 12);
	used += put_part(control + used, SOL_SOCKET, SCM_CREDENTIALS, (int[]){ 1, 2, 3 }, 12);
	used += put_part(control + used, 41, SCM_RIGHTS, (int[]){ 9 }, 4);
	used += put_part(control + used, SOL_SOCKET, SCM_RIGHTS, (int[]){ 6 }, 4);
	assert_int_equal(event_item_rights(&buf, 1, control, used), 0);
	item = only_item(SYS_ITEM_RIGHTS);
	assert_int_equal(item->flags, 0);
	assert_int_equal(item->bytes, 16);
	assert_memory_equal(event_item_data(item), ((int32_t[]){ 3, 4, 5, 6 }), 16);
	/* The last part need not be padded: msg_controllen may be CMSG_LEN. */
	start(NULL);
	assert_int_equal(event_item_rights(&buf, 1, control, used - 4), 0);
	assert_int_equal(only_item(SYS_ITEM_RIGHTS)->bytes, 16);
	/* Cut anywhere: never more than was there. */
	for (size_t bytes = 0; bytes < used; bytes++) {
		char *exact = malloc(bytes + 1);

		assert_non_null(exact);
		memcpy(exact, control, bytes);
		start(NULL);
		assert_int_equal(event_item_rights(&buf, 1, exact, bytes), 0);
		item = only_item(SYS_ITEM_RIGHTS);
		if (bytes < 16)
			assert_null(item);
		else if (bytes < 28)
			assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
		free(exact);
	}
}

static void no_rights_no_item(void **state)
{
	char control[64] = { 0 };

	(void)state;
	assert_int_equal(event_item_rights(&buf, 1, NULL, 0), 0);
	assert_null(only_item(SYS_ITEM_RIGHTS));
	/* A part of length 0 would go on for ever. */
	assert_int_equal(event_item_rights(&buf, 1, control, sizeof(control)), 0);
	assert_null(only_item(SYS_ITEM_RIGHTS));
	memset(control, 0xff, sizeof(control));
	assert_int_equal(event_item_rights(&buf, 1, control, sizeof(control)), 0);
	assert_null(only_item(SYS_ITEM_RIGHTS));
}

static void too_many_rights_say_so(void **state)
{
	static char control[EVENT_CONTROL_MAX];
	static int fds[600];
	const struct event_item *item;

	(void)state;
	assert_int_equal(
		event_item_rights(&buf, 1, control, put_part(control, SOL_SOCKET, SCM_RIGHTS, fds, sizeof(fds))), 0);
	item = only_item(SYS_ITEM_RIGHTS);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	assert_int_equal(item->bytes, 256 * 4);
}

static void clone3_has_its_pidfd(void **state)
{
	struct clone_args args = { .flags = CLONE_PIDFD | CLONE_VM, .pidfd = 0x7ffc1000 };

	(void)state;
	assert_int_equal(event_clone3_pidfd(&args, 64), 0x7ffc1000);
	assert_int_equal(event_clone3_pidfd(&args, 15), 0);
	args.flags = CLONE_VM;
	assert_int_equal(event_clone3_pidfd(&args, 64), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		TEST(vectors_are_summed), TEST(cut_vectors_say_so),	TEST(odd_vectors),
		TEST(messages_are_read),  TEST(lying_messages),		TEST(rights_are_found),
		TEST(no_rights_no_item),  TEST(too_many_rights_say_so), TEST(clone3_has_its_pidfd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
