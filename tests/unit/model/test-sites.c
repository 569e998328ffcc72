/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of call sites, and mappings as they were. */
#include "stream.h"

#define START \
	"task 100 exe=/bin/x cwd=/w\nmap 100 400000-402000 r-xp 1000 /bin/x\nmap 100 700000-702000 r-xp 0 /lib/l.so\n"

static uint32_t site(struct stream *s, const char *line)
{
	stream_feed(s, line);
	assert_non_null(s->last.call);
	return model_site(s->model, &s->last);
}

static void test_numbers(void **state)
{
	struct stream s = { 0 };
	const struct model_site *at;
	uint32_t a, b;

	stream_feed(&s, START "task 200 exe=/bin/y\nmap 200 900000-902000 r-xp 0 /lib/l.so\n"
			      "map 200 a00000-a02000 r-xp 1000 /bin/x\n");
	assert_int_equal(site(&s, "100 getpid() = 100\n"), 0);
	a = site(&s, "100 getpid() = 100 ip=700010 caller=400020\n");
	assert_int_equal(a, 1);
	assert_int_equal(site(&s, "100 getuid() = 0 ip=700010 caller=400020\n"), a);
	/* Another process has the same files elsewhere. */
	assert_int_equal(site(&s, "200 getpid() = 200 ip=900010 caller=a00020\n"), a);
	b = site(&s, "100 getpid() = 100 ip=700010 caller=400030\n");
	assert_int_not_equal(b, a);
	/* A word that points into no file is no caller, whatever it is. */
	b = site(&s, "100 getpid() = 100 ip=700010 caller=7\n");
	assert_int_equal(site(&s, "100 getpid() = 100 ip=700010 caller=8\n"), b);
	assert_int_equal(site(&s, "100 getpid() = 100 ip=700010\n"), b);
	assert_int_equal(model_site_count(s.model), 3);
	/* More than the word is told of who called. */
	assert_int_not_equal(site(&s, "100 getpid() = 100 ip=700010 caller=400020 code=1\n"), a);
	assert_int_equal(site(&s, "200 getpid() = 200 ip=900010 caller=a00020 code=1\n"), 4);
	assert_int_equal(site(&s, "100 getpid() = 100 ip=700010 caller=400020 code=2\n"), 5);
	at = model_site_at(s.model, a);
	assert_string_equal(at->module, "/lib/l.so");
	assert_int_equal(at->offset, 0x10);
	assert_string_equal(at->caller_module, "/bin/x");
	assert_int_equal(at->caller_offset, 0x1020);
	assert_string_equal(at->program, "/bin/x");
	assert_null(model_site_at(s.model, b)->caller_module);
	assert_null(model_site_at(s.model, 0));
	assert_null(model_site_at(s.model, 99));
	/* Code without a file: the address itself. */
	a = site(&s, "100 getpid() = 100 ip=5000 caller=400020\n");
	assert_null(model_site_at(s.model, a)->module);
	assert_int_equal(model_site_at(s.model, a)->offset, 0x5000);
	stream_done(&s);
}

static void test_limit(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START);
	for (uint32_t i = 1; i <= MODEL_SITES_MAX; i++) {
		struct event_call call = { .head = { .bytes = sizeof call, .type = EVENT_CALL }, .ip = i };
		struct model_view view = { .call = &call, .process = model_process(s.model, 100) };

		assert_int_equal(model_site(s.model, &view), i);
	}
	assert_int_equal(site(&s, "100 getpid() = 100 ip=700010\n"), 0);
	assert_int_equal(site(&s, "100 getpid() = 100 ip=5\n"), 5);
	stream_done(&s);
}

static void test_as_they_were(void **state)
{
	struct stream s = { 0 };
	struct model_maps *before, *after;
	uint32_t a, b, c;

	stream_feed(&s, START);
	a = site(&s, "100 getpid() = 100 ip=700010 caller=400020\n");
	assert_int_equal(site(&s, "100 getpid() = 100 ip=700010 caller=400020\n"), a);
	before = model_maps(s.model, model_process(s.model, 100));
	stream_feed(&s, "100 munmap(0x700000, 0x2000) = 0\n");
	b = site(&s, "100 getpid() = 100 ip=700010 caller=400020\n");
	stream_feed(&s, "100 open(\"m.so\", O_RDONLY) = 3\n"
			"100 fstat(3, {dev=8:1 ino=77 mode=0100644}) = 0\n"
			"100 mmap(0x700000, 0x1000, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3, 0x3000) = 0x700000\n");
	after = model_maps(s.model, model_process(s.model, 100));
	/* Nor is a number given to what lies there no more. */
	c = site(&s, "100 getpid() = 100 ip=700010 caller=400020\n");
	assert_string_equal(model_site_at(s.model, a)->module, "/lib/l.so");
	assert_null(model_site_at(s.model, b)->module);
	assert_string_equal(model_site_at(s.model, c)->module, "/w/m.so");
	assert_string_equal(model_maps_find(before, 0x700010)->module, "/lib/l.so");
	assert_string_equal(model_maps_find(after, 0x700010)->module, "/w/m.so");
	assert_int_equal(model_maps_find(after, 0x700010)->ino, 77);
	assert_int_equal(model_maps_find(after, 0x700010)->offset, 0x3000);
	assert_null(model_maps_find(after, 0x701000));
	assert_string_equal(model_maps_at(before, 0)->module, "/bin/x");
	assert_null(model_maps_at(before, 2));
	model_maps_unref(after);
	model_maps_unref(before);
	model_maps_unref(NULL);
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
