/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of call sites: what matches, what does not, and what nobody knows. */
#include "verdict/site-match.h"

#include "test.h"

/* getgid in libc, called by a library, called by the program. */
static struct frame stack[] = {
	{ .module = "/lib/libc.so.6", .offset = 0x10, .symbol = "getgid", .flags = FRAME_LIBC },
	{ .module = "/usr/lib/libx.so.1", .offset = 0x20, .symbol = "ask" },
	{ .module = "/usr/bin/p", .offset = 0x30, .symbol = "main", .flags = FRAME_PROGRAM },
};
static struct frames frames;
static struct finding_site site;

static void begin(void)
{
	frames = (struct frames){ .at = stack, .count = 3, .outer = 1, .program = 2, .whole = true };
	site = (struct finding_site){
		.module = (char *)(uintptr_t)stack[0].module, .offset = stack[0].offset, .count = 1, .frames = &frames
	};
	stack[1].symbol = "ask";
	stack[2].symbol = "main";
}

static void expect(const char *pattern, enum site_match wanted)
{
	enum site_match match = site_match(pattern, &site, "/usr/bin/p", true);

	if (match != wanted)
		fail_msg("%s: %d, not %d", pattern, (int)match, (int)wanted);
}

static void known(void **state)
{
	begin();
	expect("libx.so.1:ask", SITE_YES);
	expect("libx.so.*", SITE_YES);
	expect("/usr/lib/libx.so.1+0x20", SITE_YES);
	expect("p:main", SITE_YES);
	expect("p+0x30", SITE_YES);
	expect("libc.so.6:getgid", SITE_YES);
	expect("*:ask", SITE_YES);
	expect("libx.so.1:as", SITE_NO);
	expect("libx.so.1+0x21", SITE_NO);
	expect("/lib/libx.so.1", SITE_NO);
	expect("main", SITE_NO);
}

/* A function that has no name may be the one. */
static void nameless(void **state)
{
	begin();
	stack[1].symbol = NULL;
	expect("libx.so.1:ask", SITE_UNKNOWN);
	expect("lib?.so.1:ask", SITE_UNKNOWN);
	expect("*:other", SITE_UNKNOWN);
	expect("libx.so.1:*", SITE_YES);
	expect("libx.so.1", SITE_YES);
	expect("libx.so.1+0x21", SITE_NO);
	expect("libx.so.2:ask", SITE_NO);
	expect("p:main", SITE_YES);
	expect("p:other", SITE_NO);
}

static void doubtful(void **state)
{
	begin();
	frames.outer_varies = true;
	expect("libx.so.1:ask", SITE_UNKNOWN);
	expect("q", SITE_UNKNOWN);
	expect("p:main", SITE_YES);
	begin();
	frames.program_sampled = true;
	expect("libx.so.1:ask", SITE_YES);
	expect("p:main", SITE_UNKNOWN);
	assert_int_equal(site_match("p:main", &site, "/usr/bin/p", false), SITE_YES);
	/* That is no place in the program, which ever it is. */
	expect("libx.so.1:other", SITE_NO);
	begin();
	frames.program = frames.count;
	frames.whole = false;
	expect("libx.so.1:ask", SITE_YES);
	expect("libx.so.1:other", SITE_NO);
	expect("p:other", SITE_UNKNOWN);
	assert_int_equal(site_match("libx.so.1:other", &site, NULL, true), SITE_UNKNOWN);
	frames.outer = frames.count;
	expect("libx.so.1:other", SITE_UNKNOWN);
	expect("libc.so.6", SITE_YES);
	site.frames = NULL;
	expect("libc.so.6:getgid", SITE_UNKNOWN);
	expect("libc.so.6", SITE_YES);
	expect("p", SITE_UNKNOWN);
	assert_int_equal(site_match_alone("p", &site), SITE_NO);
}

/* The whole way, and nothing of it outside the C library. */
static void nobody(void **state)
{
	begin();
	frames.count = frames.outer = frames.program = 1;
	expect("p:main", SITE_NO);
	expect("libc.so.6", SITE_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),
		cmocka_unit_test(nameless),
		cmocka_unit_test(doubtful),
		cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
