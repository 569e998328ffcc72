#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The blocks of docs/howto/move-from-close-loops.md compile, and before and after do the same.

usage: howto.py TOP LIBSYSCULL_A
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP, LIBRARY = sys.argv[1:3]

HEAD = """#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <syscull/fds.h>
#include <syscull/spawn.h>
#include <unistd.h>
"""

# Each of them in a child with descriptors 3 to 40 and a limit that a loop gets through.
MAIN = """
static char *const tell[] = { "/bin/sh", "-c",
	"test $LISTEN_FDS && test $LISTEN_PID != $$ && exit 9; cd /proc/self/fd && echo ${LISTEN_FDS-} *", NULL };
static int out;

static void exec_it(void (*child)(char **))
{
	dup2(out, 1);
	child((char **)tell);
}

static void wait_it(pid_t pid)
{
	int status;

	_exit(pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 8);
}

static void run(int which)
{
	static const int keep[] = { 20, -1, 9 };
	int sockets[2];

	switch (which) {
	case 0: exec_it(child_before); break;
	case 1: exec_it(child_after); break;
	case 2: dup2(out, 1); close_before(keep, 3, 512); execv(tell[0], tell); break;
	case 3: dup2(out, 1); close_after(keep, 3); execv(tell[0], tell); break;
	case 4: dup2(out, 1); begin_before(); execv(tell[0], tell); break;
	case 5: dup2(out, 1); begin_after(); execv(tell[0], tell); break;
	case 6: wait_it(start_before((char **)tell, out)); break;
	case 7: wait_it(start_after((char **)tell, out)); break;
	default:
		dup2(out, 1);
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0)
			_exit(7);
		wait_it((which == 8 ? listen_before : listen_after)((char **)tell, sockets, 2));
	}
	_exit(6);
}

int main(void)
{
	static char told[10][512];
	struct rlimit low = { 512, 512 };

	for (int fd = 3; fd < 600; fd++)
		close(fd);
	for (int fd = 3; fd < 41; fd++)
		if (open("/dev/null", O_RDONLY) < 0)
			return 1;
	if (setrlimit(RLIMIT_NOFILE, &low) < 0)
		return 1;
	for (int which = 0; which < 10; which++) {
		int ends[2], status;
		size_t got = 0;
		ssize_t n;
		pid_t pid;

		if (pipe(ends) < 0 || (pid = fork()) < 0)
			return 1;
		if (pid == 0) {
			out = ends[1];
			run(which);
		}
		close(ends[1]);
		while ((n = read(ends[0], told[which] + got, sizeof told[which] - 1 - got)) > 0)
			got += (size_t)n;
		close(ends[0]);
		if (waitpid(pid, &status, 0) != pid || status != 0) {
			printf("%d: status %x\\n", which, (unsigned)status);
			return 1;
		}
		printf("%d: %s", which, told[which]);
		if (which % 2 && strcmp(told[which], told[which - 1]) != 0)
			return 1;
	}
	return strcmp(told[1], told[3]) == 0;
}
"""

with open(os.path.join(TOP, "docs/howto/move-from-close-loops.md"), encoding="utf-8") as file:
    blocks = re.findall(r"```c\n(.*?)```", file.read(), re.S)
assert len(blocks) >= 10, len(blocks)
compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
if not compiler:
    print("no C compiler here", file=sys.stderr)
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="syscull-howto-") as folder:
    source, program = os.path.join(folder, "howto.c"), os.path.join(folder, "howto")
    with open(source, "w", encoding="utf-8") as file:
        file.write(HEAD + "\n".join(blocks) + MAIN)
    done = subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-sign-compare", "-Wno-unused-result",
                           "-Wno-discarded-qualifiers", "-Wno-maybe-uninitialized", "-I",
                           os.path.join(TOP, "include"), source, LIBRARY, *os.environ.get("SYSCULL_SANITIZE", "").split(), "-o",
                           program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    print(done.stdout, end="")
    assert done.returncode == 0, done.stderr
