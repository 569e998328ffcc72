/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building, reading and checking records; bad ones of every kind, with
 * nothing readable behind their last byte.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/event.h"
#include "test.h"

static struct event_head *make_call(struct buf *buf)
{
	struct event_call *call = event_begin(buf, EVENT_CALL);

	assert_non_null(call);
	call->arch = SYS_ARCH_X86_64;
	call->nr = 257;
	call->head.pid = call->head.tid = 7;
	assert_int_equal(event_item_add(buf, SYS_ITEM_PATH, 1, 0, "/etc/passwd", 11), 0);
	assert_int_equal(event_item_add(buf, SYS_ITEM_NAME, 2, EVENT_ITEM_UNREAD, "ignored", 7), 0);
	assert_int_equal(event_item_add(buf, SYS_ITEM_PATH, 3, EVENT_ITEM_TRUNCATED, "", 0), 0);
	assert_int_equal(event_item_add(buf, SYS_ITEM_FDPAIR, 3, 0, (int32_t[]){ 3, 4 }, 8), 0);
	return event_end(buf);
}

static void what_is_built_can_be_read(void **state)
{
	struct buf buf = BUF_INIT;
	struct event_head *head = make_call(&buf);
	const struct event_item *item;
	const int32_t *fds;
	size_t len;

	(void)state;
	assert_non_null(head);
	assert_int_equal(head->type, EVENT_CALL);
	assert_int_equal(head->bytes, sizeof(struct event_call) + 4 * 8 + 16 + 8);
	assert_int_equal(((struct event_call *)head)->items, 4);
	assert_true(event_valid(head, head->bytes));
	assert_true(event_valid(head, head->bytes + 100));
	assert_false(event_valid(head, head->bytes - 1));
	assert_int_equal(event_call_id((struct event_call *)head), CALL_openat);

	assert_memory_equal(event_text(head, SYS_ITEM_PATH, 1, &len), "/etc/passwd", 11);
	assert_int_equal(len, 11);
	assert_null(event_text(head, SYS_ITEM_PATH, 2, &len));
	assert_int_equal(len, 0);
	assert_non_null(event_text(head, SYS_ITEM_PATH, 3, &len));
	assert_int_equal(len, 0);
	/* Unread is as good as absent, but the walk shows it. */
	assert_null(event_item(head, SYS_ITEM_NAME));
	item = event_item_next(head, event_item_next(head, NULL));
	assert_int_equal(item->type, SYS_ITEM_NAME);
	assert_int_equal(item->flags, EVENT_ITEM_UNREAD);
	assert_int_equal(item->bytes, 0);
	item = event_item_next(head, item);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	item = event_item_next(head, item);
	assert_int_equal(item->type, SYS_ITEM_FDPAIR);
	assert_null(event_item_next(head, item));
	fds = event_item_data(event_item(head, SYS_ITEM_FDPAIR));
	assert_int_equal(fds[1], 4);
	assert_null(event_item(head, SYS_ITEM_STAT));
	assert_null(EVENT_ITEM_AS(struct item_stat, item));
	assert_non_null(EVENT_ITEM_AS(int64_t, item));
	buf_done(&buf);
}

static void every_type_can_be_built(void **state)
{
	struct buf buf = BUF_INIT;

	(void)state;
	for (int type = EVENT_CALL; type <= EVENT_QUEUED; type++) {
		struct event_head *head = event_begin(&buf, (enum event_type)type);

		assert_non_null(head);
		assert_int_equal(event_fixed_bytes((uint16_t)type) % 8, 0);
		for (size_t i = sizeof(head->bytes) + sizeof(head->type); i < event_fixed_bytes((uint16_t)type); i++)
			assert_int_equal(((char *)head)[i], 0);
		head = event_end(&buf);
		assert_non_null(head);
		assert_int_equal(head->bytes, event_fixed_bytes((uint16_t)type));
		assert_true(event_valid(head, head->bytes));
		assert_null(event_item_next(head, NULL));
	}
	assert_int_equal(event_fixed_bytes(0), 0);
	assert_int_equal(event_fixed_bytes(EVENT_QUEUED + 1), 0);
	assert_int_equal(event_fixed_bytes(UINT16_MAX), 0);
	assert_null(event_begin(&buf, (enum event_type)99));
	assert_null(event_end(&buf));
	/* A tail behind a type without one. */
	assert_non_null(event_begin(&buf, EVENT_FORK));
	assert_int_equal(event_item_add(&buf, SYS_ITEM_PATH, 0, 0, "x", 1), 0);
	assert_null(event_end(&buf));
	buf_done(&buf);
}

static void records_have_a_limit(void **state)
{
	struct buf buf = BUF_INIT;
	char *big = calloc(1, EVENT_BYTES_MAX);
	size_t room = EVENT_BYTES_MAX - sizeof(struct event_mounts) - sizeof(struct event_item);
	struct event_head *head;

	(void)state;
	assert_non_null(big);
	assert_non_null(event_begin(&buf, EVENT_MOUNTS));
	assert_int_equal(event_item_add(&buf, SYS_ITEM_MOUNTINFO, 0, 0, big, SIZE_MAX - 4), -E2BIG);
	assert_int_equal(event_item_add(&buf, SYS_ITEM_MOUNTINFO, 0, 0, big, room + 1), -E2BIG);
	assert_int_equal(event_item_add(&buf, SYS_ITEM_MOUNTINFO, 0, 0, big, room), 0);
	assert_int_equal(event_item_add(&buf, SYS_ITEM_MOUNTINFO, 0, 0, big, 0), -E2BIG);
	head = event_end(&buf);
	assert_non_null(head);
	assert_int_equal(head->bytes, EVENT_BYTES_MAX);
	assert_true(event_valid(head, head->bytes));
	/* More items than their count can hold. */
	assert_non_null(event_begin(&buf, EVENT_CALL));
	for (unsigned i = 0; i <= UINT16_MAX; i++)
		assert_int_equal(event_item_add(&buf, SYS_ITEM_PATH, 0, 0, "", 0), 0);
	assert_null(event_end(&buf));
	buf_done(&buf);
	free(big);
}

static void errors_of_calls(void **state)
{
	static const struct {
		uint16_t arch;
		int32_t nr;
		uint16_t flags;
		int64_t ret;
		int wanted;
	} cases[] = {
		{ SYS_ARCH_X86_64, 0, 0, -2, ENOENT },
		{ SYS_ARCH_X86_64, 0, 0, 0, 0 },
		{ SYS_ARCH_X86_64, 0, 0, 4096, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -4095, 4095 },
		/* An address, not an error. */
		{ SYS_ARCH_X86_64, 9, 0, -4096, 0 },
		{ SYS_ARCH_X86_64, 9, 0, INT64_MIN, 0 },
		/* Interruptions. */
		{ SYS_ARCH_X86_64, 0, 0, -512, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -513, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -514, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -515, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -516, 0 },
		{ SYS_ARCH_X86_64, 0, 0, -511, 511 },
		{ SYS_ARCH_X86_64, 0, 0, -517, 517 },
		/* rt_sigreturn gives back a register. */
		{ SYS_ARCH_X86_64, 15, 0, -2, 0 },
		{ SYS_ARCH_AARCH64, 139, 0, -2, 0 },
		{ SYS_ARCH_AARCH64, 15, 0, -2, ENOENT },
		{ SYS_ARCH_I386, 173, 0, -2, 0 },
		{ SYS_ARCH_I386, 119, 0, -2, 0 },
		{ SYS_ARCH_ARM, 173, 0, -2, 0 },
		{ SYS_ARCH_X32, 0x40000201, 0, -2, 0 },
		{ SYS_ARCH_X32, 0x40000000, 0, -2, ENOENT },
		/* No result at all. */
		{ SYS_ARCH_X86_64, 0, EVENT_F_UNFINISHED, -2, 0 },
		{ SYS_ARCH_X86_64, 0, EVENT_F_KILLED, -2, 0 },
		/* An unknown number fails like any other. */
		{ SYS_ARCH_X86_64, -1, 0, -38, ENOSYS },
		{ SYS_ARCH_X86_64, 471, EVENT_F_NO_ENTER, -38, ENOSYS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_call call = {
			.head.flags = cases[i].flags, .ret = cases[i].ret, .nr = cases[i].nr, .arch = cases[i].arch
		};

		if (event_call_errno(&call) != cases[i].wanted)
			fail_msg("case %zu: %d, not %d", i, event_call_errno(&call), cases[i].wanted);
	}
}

/* A page with nothing readable behind it: a record is put at its end, so that
 * one byte read too far is the end of the test. */
struct fence {
	char *pages;
	size_t page;
};

static void fence_make(struct fence *fence)
{
	fence->page = (size_t)sysconf(_SC_PAGESIZE);
	fence->pages = mmap(NULL, 2 * fence->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(fence->pages != MAP_FAILED);
	assert_int_equal(mprotect(fence->pages + fence->page, fence->page, PROT_NONE), 0);
}

static struct event_head *fence_put(const struct fence *fence, const void *data, size_t bytes)
{
	void *at = fence->pages + fence->page - bytes;

	memcpy(at, data, bytes);
	return at;
}

static void bad_heads_are_refused(void **state)
{
	struct fence fence;
	struct buf buf = BUF_INIT;
	struct event_head *head, *good;
	char *copy;

	(void)state;
	fence_make(&fence);
	good = make_call(&buf);
	head = fence_put(&fence, good, good->bytes);
	assert_true(event_valid(head, good->bytes));
	for (size_t left = 0; left < good->bytes; left++)
		assert_false(event_valid(head, left));
	for (uint32_t bytes = 0; bytes < 2 * good->bytes; bytes++) {
		head->bytes = bytes;
		assert_int_equal(event_valid(head, good->bytes), bytes == good->bytes);
	}
	head->bytes = UINT32_MAX;
	assert_false(event_valid(head, SIZE_MAX));
	head->bytes = UINT32_MAX - 7;
	assert_false(event_valid(head, SIZE_MAX));
	head->bytes = EVENT_BYTES_MAX + 8;
	assert_false(event_valid(head, SIZE_MAX));
	/* Every length that is too short for the type. */
	for (uint16_t type = EVENT_CALL; type <= EVENT_LOST; type++) {
		struct event_head bare = { .bytes = sizeof(bare), .type = type };

		head = fence_put(&fence, &bare, sizeof(bare));
		assert_false(event_valid(head, sizeof(bare)));
	}
	/* Unknown types are skipped by their length, whatever is in them. */
	copy = (char *)fence_put(&fence, good, good->bytes);
	((struct event_head *)(void *)copy)->type = 999;
	assert_true(event_valid((void *)copy, good->bytes));
	assert_null(event_item_next((void *)copy, NULL));
	/* Not aligned. */
	memmove(copy - 4, copy, good->bytes);
	assert_false(event_valid((void *)(copy - 4), good->bytes));
	munmap(fence.pages, 2 * fence.page);
	buf_done(&buf);
}

static void bad_tails_are_refused(void **state)
{
	struct fence fence;
	struct buf buf = BUF_INIT;
	struct event_head *head, *good;
	struct event_item *first;

	(void)state;
	fence_make(&fence);
	good = make_call(&buf);
	head = fence_put(&fence, good, good->bytes);
	for (unsigned items = 0; items <= UINT16_MAX; items++) {
		((struct event_call *)head)->items = (uint16_t)items;
		assert_int_equal(event_valid(head, good->bytes), items == 4);
	}
	((struct event_call *)head)->items = 4;
	first = (void *)((char *)head + sizeof(struct event_call));
	for (uint32_t bytes = 0; bytes < 100; bytes++) {
		first->bytes = bytes;
		/* 9 to 16 pad to the same. */
		assert_int_equal(event_valid(head, good->bytes), bytes >= 9 && bytes <= 16);
	}
	for (uint32_t back = 0; back < 20; back++) {
		first->bytes = UINT32_MAX - back;
		assert_false(event_valid(head, good->bytes));
	}
	first->bytes = 11;
	first->flags = EVENT_ITEM_UNREAD;
	assert_false(event_valid(head, good->bytes));
	first->flags = 0x80;
	assert_true(event_valid(head, good->bytes));
	first->type = UINT16_MAX;
	first->arg = UINT8_MAX;
	assert_true(event_valid(head, good->bytes));
	munmap(fence.pages, 2 * fence.page);
	buf_done(&buf);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Everything that a reader may do with a record that was found valid. */
static size_t read_all(const struct event_head *head)
{
	const struct event_item *item = NULL;
	size_t sum = 0, len;

	while ((item = event_item_next(head, item))) {
		const unsigned char *data = event_item_data(item);

		for (uint32_t i = 0; i < item->bytes; i++)
			sum += data[i];
	}
	for (int type = 0; type < SYS_ITEM_COUNT; type++) {
		const struct event_item *found = event_item(head, (enum sys_item)type);
		const struct item_stat *stat = EVENT_ITEM_AS(struct item_stat, found);

		if (stat)
			sum += stat->pad;
		(void)event_text(head, (enum sys_item)type, 1, &len);
		sum += len;
	}
	if (head->type == EVENT_CALL)
		sum += (size_t)event_call_errno((const struct event_call *)head);
	return sum;
}

static void damaged_records_never_mislead(void **state)
{
	static const enum event_type types[] = { EVENT_CALL, EVENT_TASK, EVENT_FD, EVENT_DIRS, EVENT_EXEC, EVENT_FORK };
	struct fence fence;
	struct buf buf = BUF_INIT;
	uint32_t seed = 1;
	unsigned valid = 0;
	size_t sum = 0;

	(void)state;
	fence_make(&fence);
	for (unsigned round = 0; round < 200000; round++) {
		enum event_type type = types[next_random(&seed) % 6];
		struct event_head *head = event_begin(&buf, type);
		size_t bytes;

		assert_non_null(head);
		for (unsigned items = type == EVENT_FORK ? 0 : next_random(&seed) % 5; items; items--) {
			char data[40] = "0123456789";

			assert_int_equal(event_item_add(&buf, (enum sys_item)(next_random(&seed) % SYS_ITEM_COUNT),
							next_random(&seed) % 6, next_random(&seed) % 4, data,
							next_random(&seed) % sizeof(data)),
					 0);
		}
		head = event_end(&buf);
		assert_non_null(head);
		bytes = head->bytes;
		head = fence_put(&fence, head, bytes);
		for (unsigned damage = next_random(&seed) % 4; damage; damage--) {
			/* Mostly where the lengths are. */
			size_t at = next_random(&seed) % (next_random(&seed) % 2 ? bytes : 8);

			((unsigned char *)head)[at] =
				(unsigned char)(next_random(&seed) % 3 ? next_random(&seed) % 64 : next_random(&seed));
		}
		if (event_valid(head, bytes)) {
			valid++;
			sum += read_all(head);
		}
	}
	/* Both outcomes were met many times. */
	assert_in_range(valid, 20000, 180000);
	assert_true(sum > 0);
	munmap(fence.pages, 2 * fence.page);
	buf_done(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_built_can_be_read),	 cmocka_unit_test(every_type_can_be_built),
		cmocka_unit_test(records_have_a_limit),		 cmocka_unit_test(errors_of_calls),
		cmocka_unit_test(bad_heads_are_refused),	 cmocka_unit_test(bad_tails_are_refused),
		cmocka_unit_test(damaged_records_never_mislead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
