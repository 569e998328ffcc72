/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One region for each row of COST in syscull_spawn(3).  The programs that are
 * started make one call of their own, exit_group: the tiny one that is the
 * first argument.
 */
#include "syscull/mark.h"
#include "syscull/spawn.h"

#include "fds/table.h"

#include <signal.h>

#define END "-"

static const char *program;

static void spawn(const char *region, struct syscull_spawn_options *options, unsigned int calls)
{
	char word[] = "tiny";
	char *argv[] = { word, NULL };
	int status;
	pid_t pid;

	check_case = region;
	CHECK_EQUAL(syscull_mark(region), 0);
	pid = syscull_spawn(program, argv, NULL, options);
	CHECK(pid > 0);
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(syscull_mark(END), 0);
	CHECK_EQUAL(status, 0);
	CHECK_EQUAL(options->calls, calls);
}

int main(int argc, char **argv)
{
	static const struct syscull_spawn_map one = { 50, 1 }, ring[] = { { 0, 1 }, { 1, 0 } };
	static const int kept[] = { 20, 10 };
	struct syscull_spawn_options options = SYSCULL_SPAWN_OPTIONS_INIT, fresh = options;
	char pid_text[12], *words[] = { argv[0], NULL };
	sigset_t pipes;

	if (argc != 3)
		return 2;
	program = argv[1];
	for (int fd = 3; fd < 97; fd++)
		table_open(fd);
	spawn("spawn", &options, 6);
	options.map = &one;
	options.map_count = 1;
	spawn("spawn-map", &options, 8);
	options.map = ring;
	options.map_count = 2;
	spawn("spawn-ring", &options, 9);
	options = fresh;
	options.keep = kept;
	options.keep_count = 2;
	spawn("spawn-keep", &options, 8);
	options = fresh;
	options.cwd = "/";
	options.flags = SYSCULL_SPAWN_SETSID;
	options.pid_text = pid_text;
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	options.reset = &pipes;
	spawn("spawn-all", &options, 10);
	options = fresh;
	CHECK_EQUAL(syscull_mark("spawn-failed"), 0);
	CHECK_EQUAL(syscull_spawn("/nowhere", words, NULL, &options), -ENOENT);
	CHECK_EQUAL(syscull_mark(END), 0);
	CHECK_EQUAL(options.calls, 8);
	return check_done();
}
