/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an instruction pointer lies. */
#include "stream.h"

#define START "task 100 exe=/bin/x cwd=/w\nmap 100 400000-402000 r-xp 1000 /bin/x\n"

/* "module+0xoffset", or "?" */
static const char *at(struct stream *s, int pid, uint64_t ip)
{
	static char text[256];
	const char *module;
	uint64_t offset;

	if (!model_locate(s->model, model_process(s->model, (uint32_t)pid), ip, &module, &offset))
		return "?";
	(void)snprintf(text, sizeof(text), "%s+0x%llx", module, (unsigned long long)offset);
	return text;
}

static void test_mapped_files(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 open(\"l.so\", O_RDONLY) = 3\n"
			      "100 mmap(NULL, 0x5000, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3, 0x2000) = 0x700000\n"
			      "100 close(3) = 0\n"
			      "100 mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x800000\n");
	assert_string_equal(at(&s, 100, 0x400010), "/bin/x+0x1010");
	assert_string_equal(at(&s, 100, 0x401fff), "/bin/x+0x2fff");
	assert_string_equal(at(&s, 100, 0x402000), "?");
	assert_string_equal(at(&s, 100, 0x3fffff), "?");
	assert_string_equal(at(&s, 100, 0x700010), "/w/l.so+0x2010");
	assert_string_equal(at(&s, 100, 0x704fff), "/w/l.so+0x6fff");
	assert_string_equal(at(&s, 100, 0x800000), "?");
	/* An anonymous hole in the middle, as loaders make for bss. */
	stream_feed(&s,
		    "100 mmap(0x701000, 0x1000, PROT_READ, MAP_FIXED|MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x701000\n");
	assert_string_equal(at(&s, 100, 0x700fff), "/w/l.so+0x2fff");
	assert_string_equal(at(&s, 100, 0x701000), "?");
	assert_string_equal(at(&s, 100, 0x702000), "/w/l.so+0x4000");
	stream_feed(&s, "100 munmap(0x6ff000, 0x1800) = 0\n");
	assert_string_equal(at(&s, 100, 0x700800), "?");
	assert_string_equal(at(&s, 100, 0x704000), "/w/l.so+0x6000");
	stream_feed(&s, "100 mremap(0x702000, 0x3000, 0x4000, MREMAP_MAYMOVE, 0) = 0x900000\n");
	assert_string_equal(at(&s, 100, 0x702000), "?");
	assert_string_equal(at(&s, 100, 0x903000), "/w/l.so+0x7000");
	/* An unknown descriptor gives no module. */
	stream_feed(&s, "100 mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, 9, 0) = 0x900000\n");
	assert_string_equal(at(&s, 100, 0x900000), "?");
	assert_string_equal(at(&s, 100, 0x901000), "/w/l.so+0x5000");
	/* Sizes that wrap around take the rest of the address space at most. */
	stream_feed(&s, "100 munmap(0x402000, 0xffffffffffffffff) = 0\n");
	assert_string_equal(at(&s, 100, 0x401000), "/bin/x+0x2000");
	assert_string_equal(at(&s, 100, 0x901000), "?");
	stream_done(&s);
}

static void test_sharing(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "fork 100 200\nvfork 100 300\nthread 100 101\n"
			      "101 munmap(0x401000, 0x1000) = 0\n");
	assert_string_equal(at(&s, 100, 0x401000), "?");
	assert_string_equal(at(&s, 300, 0x401000), "?");
	assert_string_equal(at(&s, 200, 0x401000), "/bin/x+0x2000");
	stream_feed(&s, "200 munmap(0x400000, 0x1000) = 0\n");
	assert_string_equal(at(&s, 100, 0x400000), "/bin/x+0x1000");
	stream_feed(&s, "exec 300 /bin/y\nmap 300 500000-501000 r-xp 0 /bin/y\n");
	assert_string_equal(at(&s, 300, 0x400000), "?");
	assert_string_equal(at(&s, 300, 0x500000), "/bin/y+0x0");
	assert_string_equal(at(&s, 100, 0x400000), "/bin/x+0x1000");
	stream_done(&s);
}

static void test_many(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "task 100 exe=/bin/x\nfd 100 3 /lib/a\nrepeat 3000 i {\n"
			"100 mmap(NULL, 0x1000, PROT_READ, MAP_PRIVATE, 3, {i*4096}) = {i*8192}\n}\n");
	for (uint64_t i = 0; i < 3000; i++) {
		const char *module;
		uint64_t offset;

		assert_true(model_locate(s.model, s.last.process, i * 8192 + 1, &module, &offset));
		assert_int_equal(offset, i * 4096 + 1);
		assert_false(model_locate(s.model, s.last.process, i * 8192 + 4096, &module, &offset));
	}
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped_files),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
