/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file an interpreter runs: command lines, and what is seen of it. */
#include "stream.h"

#include "model/script.h"

struct example {
	const char *exe;
	const char *argv; /* words with blanks between them */
	enum script_kind kind;
	const char *name;
};

static const struct example examples[] = {
	{ "/usr/bin/python3.11", "python3 x.py a -c b", SCRIPT_FILE, "x.py" },
	{ "/usr/bin/python3.11", "python3 -u -W ignore /w/x.py", SCRIPT_FILE, "/w/x.py" },
	{ "/usr/bin/python3.11", "python3 -Wignore -Xdev -Bs ./x.py", SCRIPT_FILE, "./x.py" },
	{ "/usr/bin/python3.11", "python3 --check-hash-based-pycs never x.py", SCRIPT_FILE, "x.py" },
	{ "/usr/bin/python3.13t", "python3 -- -x.py", SCRIPT_FILE, "-x.py" },
	{ "/usr/bin/python3.11", "python3 -um json.tool f", SCRIPT_MODULE, "json.tool" },
	{ "/usr/bin/python3.11", "python3 -mjson.tool f", SCRIPT_MODULE, "json.tool" },
	{ "/usr/bin/python3.11", "python3 -uc x.py y.py", SCRIPT_LINE, NULL },
	{ "/usr/bin/python3.11", "python3 -", SCRIPT_NONE, NULL },
	{ "/usr/bin/python3.11", "python3", SCRIPT_NONE, NULL },
	{ "/usr/bin/python3.11", "python3 -W", SCRIPT_NONE, NULL },
	{ "/usr/bin/python3.11", "python3 -m", SCRIPT_NONE, NULL },
	/* What it does not know it does not tell. */
	{ "/usr/bin/python3.11", "python3 -Z x.py", SCRIPT_NONE, NULL },
	{ "/usr/bin/python3.11", "python3 --new x.py", SCRIPT_NONE, NULL },
	{ "/usr/bin/python3.11", "python3 --new=1 x.py", SCRIPT_FILE, "x.py" },
	{ "/usr/bin/python3-config", "python3-config x.py", SCRIPT_NONE, NULL },
	{ "/usr/bin/perl", "perl -w -I lib -Mstrict x.pl", SCRIPT_FILE, "x.pl" },
	{ "/usr/bin/perl", "perl -0777ne print x", SCRIPT_LINE, NULL },
	{ "/usr/bin/perl", "perl -i.e x.pl", SCRIPT_FILE, "x.pl" },
	{ "/usr/bin/perl", "perl -E say", SCRIPT_LINE, NULL },
	{ "/usr/bin/ruby3.1", "ruby -W0 -r json --disable gems x.rb", SCRIPT_FILE, "x.rb" },
	{ "/usr/bin/ruby3.1", "ruby --disable-gems -e 1", SCRIPT_LINE, NULL },
	{ "/usr/bin/node", "node --perf-basic-prof -r ./a.js x.js", SCRIPT_FILE, "x.js" },
	{ "/usr/bin/node", "node --inspect --no-warnings --max-old-space-size=99 x.js", SCRIPT_FILE, "x.js" },
	{ "/usr/bin/node", "node --inspect-port 99 --title t x.js", SCRIPT_FILE, "x.js" },
	{ "/usr/bin/node", "node -pe 1", SCRIPT_LINE, NULL },
	{ "/usr/bin/node", "node --eval 1", SCRIPT_LINE, NULL },
	{ "/usr/bin/node", "node --test x.js", SCRIPT_NONE, NULL },
	{ "/usr/bin/php8.2", "php -d a=b -f x.php -- y", SCRIPT_FILE, "x.php" },
	{ "/usr/bin/php8.2", "php -dmemory_limit=1G x.php", SCRIPT_FILE, "x.php" },
	{ "/usr/bin/php8.2", "php -r 1;", SCRIPT_LINE, NULL },
	{ "/usr/bin/php8.2", "php -S localhost:80 x.php", SCRIPT_NONE, NULL },
	{ "/usr/bin/lua5.4", "lua -e a=1 -l b x.lua", SCRIPT_FILE, "x.lua" },
	{ "/usr/bin/lua5.4", "lua -e a=1", SCRIPT_NONE, NULL },
	{ "/usr/bin/bash", "bash -euo pipefail x.sh", SCRIPT_FILE, "x.sh" },
	{ "/usr/bin/bash", "bash +x --rcfile r -O extglob x.sh y", SCRIPT_FILE, "x.sh" },
	{ "/usr/bin/bash", "bash -euxc ls x.sh", SCRIPT_LINE, NULL },
	{ "/usr/bin/bash", "-bash", SCRIPT_NONE, NULL },
	{ "/usr/bin/bash", "bash -s x", SCRIPT_NONE, NULL },
	{ "/usr/bin/bash", "bash -oe x.sh", SCRIPT_NONE, NULL },
	{ "/usr/bin/dash", "sh -e x.sh", SCRIPT_FILE, "x.sh" },
	{ "/usr/bin/busybox", "sh x.sh", SCRIPT_FILE, "x.sh" },
	{ "/usr/bin/busybox", "busybox sh -c x.sh", SCRIPT_LINE, NULL },
	{ "/usr/bin/busybox", "busybox ls x.sh", SCRIPT_NONE, NULL },
	{ "/usr/bin/busybox", "busybox", SCRIPT_NONE, NULL },
	{ "/usr/bin/mawk", "awk -F : -f x.awk f", SCRIPT_FILE, "x.awk" },
	{ "/usr/bin/gawk", "awk -vn=1 {print} f", SCRIPT_LINE, NULL },
	{ "/usr/bin/gawk", "gawk --file=x.awk", SCRIPT_FILE, "x.awk" },
	{ "/usr/bin/gawk", "gawk --source {} -f x.awk", SCRIPT_LINE, NULL },
	{ "/usr/lib/R/bin/exec/R", "R --no-echo --no-restore --file=x.R --args 1", SCRIPT_FILE, "x.R" },
	{ "/usr/bin/shasum", "shasum x.sh", SCRIPT_NONE, NULL },
	{ "/usr/bin/ls", "python3 x.py", SCRIPT_NONE, NULL },
	{ "?", "python3 x.py", SCRIPT_NONE, NULL },
};

/* NUL-ended words. */
static size_t split(const char *text, char *out)
{
	size_t bytes = strlen(text) + 1;

	memcpy(out, text, bytes);
	for (size_t i = 0; i < bytes; i++)
		if (out[i] == ' ')
			out[i] = '\0';
	return bytes;
}

static void test_command_lines(void **state)
{
	char argv[128];

	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
		const struct example *at = &examples[i];
		struct model_script script = script_find(at->exe, argv, split(at->argv, argv), false);

		if (script.kind != at->kind || (at->name && strcmp(script.name, at->name) != 0))
			fail_msg("%s: kind %d, name %s", at->argv, (int)script.kind,
				 script.name ? script.name : "none");
		if (!at->name)
			assert_null(script.name);
	}
	assert_int_equal(script_find("/usr/bin/python3", NULL, 0, false).kind, SCRIPT_NONE);
	/* Without the NUL at its end, as a record may have it. */
	assert_int_equal(script_find("/usr/bin/python3", "p\0x.py", 6, false).kind, SCRIPT_FILE);
}

static void test_cut(void **state)
{
	char argv[64];

	assert_int_equal(script_find("/bin/bash", argv, split("bash x.s", argv), true).kind, SCRIPT_NONE);
	assert_int_equal(script_find("/bin/bash", argv, split("bash x.sh ar", argv), true).kind, SCRIPT_FILE);
	assert_int_equal(script_find("/bin/bash", argv, split("bas", argv), true).kind, SCRIPT_NONE);
}

static void expect(struct stream *s, const char *lines, enum script_kind kind, const char *name)
{
	struct model_script script;

	stream_feed(s, lines);
	script = model_script_of(s->last.process);
	assert_int_equal(script.kind, kind);
	if (name)
		assert_string_equal(script.name, name);
}

static void test_seen(void **state)
{
	struct stream s = { 0 };

	/* As passed, until it is opened under that name and no other. */
	expect(&s,
	       "task 100 launched exe=/bin/sh cwd=/w\nexec 100 /usr/bin/python3.11 \"python3 d/site.py\"\n"
	       "100 execve(\"/usr/bin/python3\", _, _) = 0\n",
	       SCRIPT_FILE, "d/site.py");
	expect(&s, "100 openat(AT_FDCWD, \"/usr/lib/python3.11/site.py\", O_RDONLY) = 3\n", SCRIPT_FILE, "d/site.py");
	expect(&s, "100 openat(AT_FDCWD, \"/w/d/site.py\", O_RDONLY) = -1 ENOENT\n", SCRIPT_FILE, "d/site.py");
	expect(&s, "100 openat(AT_FDCWD, \"/w/d/site.py\", O_RDONLY) = 4\n", SCRIPT_FILE, "/w/d/site.py");
	expect(&s, "100 openat(AT_FDCWD, \"/other/d/site.py\", O_RDONLY) = 5\n", SCRIPT_FILE, "/w/d/site.py");
	/* A forked one runs the same, what it then starts does not. */
	expect(&s, "fork 100 101\n101 getpid() = 101\n", SCRIPT_FILE, "/w/d/site.py");
	expect(&s, "exec 101 /bin/ls \"ls d/site.py\"\n101 execve(\"/bin/ls\", _, _) = 0\n", SCRIPT_NONE, NULL);
	/* A shell looks in PATH. */
	expect(&s,
	       "exec 101 /bin/bash \"bash run.sh\"\n101 openat(AT_FDCWD, \"run.sh\", O_RDONLY) = -1 ENOENT\n"
	       "101 openat(AT_FDCWD, \"/opt/bin/run.sh\", O_RDONLY) = 3\n",
	       SCRIPT_FILE, "/opt/bin/run.sh");
	stream_done(&s);
}

static void test_hash_bang(void **state)
{
	struct stream s = { 0 };

	/* Whatever the interpreter is called. */
	expect(&s,
	       "task 100 launched exe=/bin/sh cwd=/w\nexec 100 /opt/own-3 \"/opt/own -q ./x.own a\"\n"
	       "100 execve(\"./x.own\", _, _) = 0\n",
	       SCRIPT_FILE, "/w/x.own");
	expect(&s, "exec 100 /usr/bin/env \"/usr/bin/env perl ./y\"\n100 execve(\"./y\", _, _) = 0\n", SCRIPT_FILE,
	       "/w/y");
	expect(&s, "exec 100 /usr/bin/perl \"perl ./y\"\n100 execve(\"/usr/bin/perl\", _, _) = 0\n", SCRIPT_FILE,
	       "./y");
	/* A program by another name, and one that is told its own. */
	expect(&s, "exec 100 /usr/bin/vim.basic \"vi /usr/bin/vi\"\n100 execve(\"/usr/bin/vi\", _, _) = 0\n",
	       SCRIPT_NONE, NULL);
	expect(&s, "exec 100 /usr/bin/cat \"/bin/x /bin/cat\"\n100 execve(\"/bin/cat\", _, _) = 0\n", SCRIPT_NONE,
	       NULL);
	stream_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_hash_bang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
