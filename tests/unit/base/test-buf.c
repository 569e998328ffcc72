/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers: content, growth, the sticky failure, reading files with a limit. */
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

static void test_appends(void **state)
{
	struct buf buf = BUF_INIT;

	assert_string_equal(buf_text(&buf), "");
	assert_int_equal(buf_puts(&buf, "one"), 0);
	assert_int_equal(buf_putc(&buf, ' '), 0);
	assert_int_equal(buf_printf(&buf, "%d %s", 2, "three"), 0);
	assert_int_equal(buf_add(&buf, "", 0), 0);
	assert_string_equal(buf_text(&buf), "one 2 three");
	assert_int_equal(buf.bytes, 11);
	buf_clear(&buf);
	assert_int_equal(buf.bytes, 0);
	assert_string_equal(buf_text(&buf), "");
	buf_done(&buf);
	buf_done(&buf);
}

static void test_grows_and_keeps(void **state)
{
	struct buf buf = BUF_INIT;

	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(buf_putc(&buf, (char)(i * 7)), 0);
	assert_int_equal(buf.bytes, 100000);
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(buf.data[i], (char)(i * 7));
	buf_done(&buf);
}

static void test_long_printf(void **state)
{
	struct buf buf = BUF_INIT;

	assert_int_equal(buf_printf(&buf, "%5000d|", 1), 0);
	assert_int_equal(buf.bytes, 5001);
	assert_int_equal(buf.data[4999], '1');
	assert_int_equal(buf.data[5000], '|');
	buf_done(&buf);
}

static void test_extend_is_zeroed(void **state)
{
	struct buf buf = BUF_INIT;
	static const char zeros[64];
	char *place;

	memset(buf_reserve(&buf, 256), 'x', 256);
	place = buf_extend(&buf, sizeof zeros);
	assert_non_null(place);
	assert_memory_equal(place, zeros, sizeof zeros);
	assert_int_equal(buf.bytes, sizeof zeros);
	buf_done(&buf);
}

static void test_failure_is_sticky(void **state)
{
	struct buf buf = BUF_INIT;

	assert_int_equal(buf_puts(&buf, "kept"), 0);
	assert_null(buf_reserve(&buf, SIZE_MAX / 2));
	assert_true(buf.failed);
	assert_int_equal(buf_puts(&buf, "more"), -ENOMEM);
	assert_int_equal(buf.bytes, 4);
	assert_string_equal(buf_text(&buf), "");
	assert_null(buf_steal(&buf));
	assert_false(buf.failed);
	assert_int_equal(buf_puts(&buf, "afresh"), 0);
	assert_string_equal(buf_text(&buf), "afresh");
	buf_done(&buf);
}

static void test_steal(void **state)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)buf_puts(&buf, "mine");
	text = buf_steal(&buf);
	assert_string_equal(text, "mine");
	assert_null(buf.data);
	assert_int_equal(buf.bytes, 0);
	free(text);
}

static int file_of(size_t bytes)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	for (size_t i = 0; i < bytes; i++) {
		char c = (char)i;

		assert_int_equal(write(fd, &c, 1), 1);
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_reads_files(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 20000 };

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct buf buf = BUF_INIT;
		int fd = file_of(sizes[i]);

		(void)buf_puts(&buf, "head");
		assert_int_equal(buf_read_fd(&buf, fd, 20000), 0);
		assert_int_equal(buf.bytes, 4 + sizes[i]);
		for (size_t j = 0; j < sizes[i]; j++)
			assert_int_equal(buf.data[4 + j], (char)j);
		(void)close(fd);
		buf_done(&buf);
	}
}

static void test_read_limit(void **state)
{
	struct buf buf = BUF_INIT;
	int fd = file_of(10001);

	assert_int_equal(buf_read_fd(&buf, fd, 10000), -EFBIG);
	(void)close(fd);
	buf_clear(&buf);
	assert_int_equal(buf_read_file(&buf, AT_FDCWD, "/does/not/exist", 10), -ENOENT);
	assert_int_equal(buf_read_file(&buf, AT_FDCWD, "/", 10), -EISDIR);
	/* An endless file must end at the limit. */
	assert_int_equal(buf_read_file(&buf, AT_FDCWD, "/dev/zero", 100000), -EFBIG);
	buf_done(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appends),	    cmocka_unit_test(test_grows_and_keeps),
		cmocka_unit_test(test_long_printf), cmocka_unit_test(test_extend_is_zeroed),
		cmocka_unit_test(test_steal),	    cmocka_unit_test(test_failure_is_sticky),
		cmocka_unit_test(test_reads_files), cmocka_unit_test(test_read_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
