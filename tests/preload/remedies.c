/* SPDX-License-Identifier: BSD-2-Clause */
/* What the named remedies are for, and where each is unsafe. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

/* Numbers above 2 that are open, by asking the kernel for each. */
static unsigned open_above(int from)
{
	unsigned count = 0;

	for (int fd = from; fd < 1000; fd++)
		count += syscall(SYS_fcntl, fd, F_GETFD, 0) >= 0;
	return count;
}

static void open_some(void)
{
	for (unsigned i = 0; i < 6; i++)
		(void)open("/dev/null", O_RDONLY);
	(void)dup2(0, 300);
	(void)opendir("/");
	(void)fopen("/dev/null", "r");
	(void)epoll_create1(0);
	(void)tmpfile();
}

/* What libc opened for itself is closed as well: nobody keeps it. */
static int sweep(int argc, char **argv)
{
	long most;

	open_some();
	most = argc > 1 && strcmp(argv[1], "sysconf") == 0 ? sysconf(_SC_OPEN_MAX) : getdtablesize();
	if (argc > 1 && strcmp(argv[1], "getrlimit") == 0) {
		struct rlimit limit;

		(void)getrlimit(RLIMIT_NOFILE, &limit);
		most = (long)limit.rlim_max;
	}
	for (int fd = 3; fd < most; fd++)
		(void)close(fd);
	(void)printf("open %u\n", open_above(3));
	return 0;
}

static int fds(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	(void)printf("open %u\n", open_above(3));
	return 0;
}

/* The child of a vfork sweeps before it becomes another program, and its
 * parent keeps what it has. */
static int sweep_vfork(int argc, char **argv)
{
	char *const words[] = { (char *)(uintptr_t) "programs", (char *)(uintptr_t) "fds", NULL };
	int status = 0;
	pid_t pid;

	(void)argc;
	(void)argv;
	open_some();
	(void)printf("parent %u\n", open_above(3));
	(void)fflush(stdout);
	pid = vfork();
	if (pid == 0) {
		for (int fd = 3, most = getdtablesize(); fd < most; fd++)
			(void)close(fd);
		(void)execv("/proc/self/exe", words);
		_exit(127);
	}
	(void)waitpid(pid, &status, 0);
	(void)printf("status %d, parent %u\n", status, open_above(3));
	return 0;
}

/* A descriptor that the loop itself makes: closed when the limit is asked in
 * each turn.  `once`: asked before, as most do. */
static int sweep_dup(int argc, char **argv)
{
	bool once = argc > 1 && strcmp(argv[1], "once") == 0;
	int most = getdtablesize();

	open_some();
	for (int fd = 3; fd < (once ? most : getdtablesize()); fd++) {
		if (fd == 4)
			(void)dup2(0, 350);
		(void)close(fd);
	}
	(void)printf("open %u\n", open_above(3));
	return 0;
}

static void real_limit(const char *when)
{
	struct rlimit limit;

	(void)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	(void)printf("%s %llu %llu\n", when, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

/* Limits set from what was told: none gets smaller than it was meant. */
static int limits(int argc, char **argv)
{
	struct rlimit limit, low;

	(void)argc;
	(void)argv;
	real_limit("before");
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	say("setrlimit", "the same", setrlimit(RLIMIT_NOFILE, &limit));
	real_limit("the same");
	(void)prlimit(0, RLIMIT_NOFILE, NULL, &limit);
	say("prlimit", "the same", prlimit(0, RLIMIT_NOFILE, &limit, NULL));
	real_limit("the same");
	low = limit;
	low.rlim_cur = 20;
	low.rlim_max = limit.rlim_max;
	say("setrlimit", "20", setrlimit(RLIMIT_NOFILE, &low));
	real_limit("20");
	(void)getrlimit(RLIMIT_CORE, &limit);
	(void)printf("core %llu\n", (unsigned long long)limit.rlim_max);
	return 0;
}

static int answers(int argc, char **argv)
{
	struct rlimit limit;

	(void)argc;
	(void)argv;
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	(void)printf("%ld %d %llu\n", sysconf(_SC_OPEN_MAX), getdtablesize(), (unsigned long long)limit.rlim_cur);
	return 0;
}

/* stream PATH COUNT: lines of a stream, summed. */
static int stream(int argc, char **argv)
{
	char line[4096];
	unsigned long sum = 0, lines = 0;
	FILE *file;

	if (argc < 3 || !(file = fopen(argv[1], "r")))
		return 2;
	while (lines < strtoul(argv[2], NULL, 10) && fgets(line, sizeof line, file)) {
		for (const char *at = line; *at; at++)
			sum = sum * 31 + (unsigned char)*at;
		lines++;
	}
	(void)fclose(file);
	(void)printf("%lu lines, %lx\n", lines, sum);
	return 0;
}

/* streams PATH: more of them than the library has buffers for, opened and
 * closed out of order, reopened, with a buffer of their own, from descriptors. */
static int streams(int argc, char **argv)
{
	static FILE *files[100];
	static char own[256];
	char line[4096];
	unsigned long sum = 0;

	if (argc < 2)
		return 2;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 100; i++) {
			files[i] = i % 4 == 3 ? fdopen(open(argv[1], O_RDONLY), "r") : fopen(argv[1], "re");
			if (!files[i])
				return 2;
			if (i % 5 == 0 && setvbuf(files[i], own, _IOFBF, sizeof own) != 0)
				return 2;
			if (i % 7 == 0 && !(files[i] = freopen(argv[1], "r", files[i])))
				return 2;
			if (i % 5 == 0)
				(void)fclose(files[i]);
		}
		for (unsigned i = 0; i < 100; i++) {
			if (i % 5 && fgets(line, sizeof line, files[i]))
				sum += strlen(line);
		}
		for (unsigned i = 100; i-- > 0;) {
			if (i % 5)
				(void)fclose(files[i]);
		}
	}
	(void)printf("%lu, open %u\n", sum, open_above(3));
	return 0;
}

/* beside PATH: where the descriptor is after one line of its stream. */
static int beside(int argc, char **argv)
{
	char line[4096];
	FILE *file;

	if (argc < 2 || !(file = fopen(argv[1], "r")) || !fgets(line, sizeof line, file))
		return 2;
	(void)printf("at %ld\n", (long)lseek(fileno(file), 0, SEEK_CUR));
	(void)fclose(file);
	return 0;
}

static long clone_file(int from, int to)
{
	return ioctl(to, FICLONE, from);
}

/* copy FROM TO COUNT: from folder to folder, as cp tries it. */
static int copy(int argc, char **argv)
{
	char path[4096], byte = 'x';

	if (argc < 4)
		return 2;
	for (int i = 0; i < atoi(argv[3]); i++) {
		struct stat st;
		int from, to;

		(void)snprintf(path, sizeof path, "%s/from%d", argv[1], i);
		from = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		(void)!write(from, &byte, 1);
		(void)lseek(from, 0, SEEK_SET);
		(void)snprintf(path, sizeof path, "%s/to%d", argv[2], i);
		to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		(void)fstat(from, &st);
		(void)fstat(to, &st);
		say("FICLONE", "", clone_file(from, to));
		say("copy_file_range", "", copy_file_range(from, NULL, to, NULL, 4096, 0));
		(void)close(from);
		(void)close(to);
	}
	/* One that needs no other device is not touched by what was refused. */
	(void)snprintf(path, sizeof path, "%s/from0", argv[1]);
	{
		int from = open(path, O_RDONLY), to;
		struct stat st;

		(void)snprintf(path, sizeof path, "%s/same", argv[1]);
		to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		(void)fstat(from, &st);
		(void)fstat(to, &st);
		say("copy_file_range", "within", copy_file_range(from, NULL, to, NULL, 4096, 0));
		(void)unlink(path);
	}
	return 0;
}

/* later FOLDER: waits for a line in the midst, in which somebody mounts another file system there. */
static int later(int argc, char **argv)
{
	char path[4096], line[8];

	if (argc < 2)
		return 2;
	for (unsigned i = 0; i < 2; i++) {
		struct stat st;
		int from, to;

		(void)snprintf(path, sizeof path, "%s/a", argv[1]);
		from = open(path, O_RDWR | O_CREAT, 0600);
		(void)!write(from, line, sizeof line);
		(void)snprintf(path, sizeof path, "%s/b", argv[1]);
		to = open(path, O_RDWR | O_CREAT, 0600);
		(void)fstat(from, &st);
		(void)printf("device %llu\n", (unsigned long long)st.st_dev);
		(void)fstat(to, &st);
		say("FICLONE", "", clone_file(from, to));
		(void)fflush(stdout);
		(void)close(from);
		(void)close(to);
		if (i == 0 && read(0, line, sizeof line) <= 0)
			return 2;
	}
	return 0;
}

static int refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* close_from [FOLDER]: with close_range refused, and in a folder without /proc. */
static int close_from(int argc, char **argv)
{
	struct rlimit core = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &core);
	open_some();
	if (argc > 1 && (refuse_close_range() != 0 || chroot(argv[1]) != 0 || chdir("/") != 0))
		return 2;
	closefrom(4);
	(void)printf("3 is %s, open from 4: %u\n", open_above(3) > open_above(4) ? "open" : "closed", open_above(4));
	return 0;
}

/* reap COMMAND...: until all that it started, in the background too, is over. */
static int reap(int argc, char **argv)
{
	int status = 0, first = 1;
	pid_t pid, ended;

	if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		(void)execvp(argv[1], argv + 1);
		_exit(127);
	}
	while ((ended = waitpid(-1, &status, 0)) > 0) {
		if (ended == pid)
			first = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return first;
}

static int maps(int argc, char **argv)
{
	char line[4096];
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned found = 0;

	(void)argc;
	(void)argv;
	while (file && fgets(line, sizeof line, file))
		found += strstr(line, "libsyscull-preload") != NULL;
	(void)printf("preloaded %d, secure %d\n", found > 0, getuid() != geteuid());
	return 0;
}

#define PROGRAM(name) \
	{ \
#name, name \
	}

const struct program remedy_programs[] = {
	PROGRAM(sweep),	  PROGRAM(fds),	       PROGRAM(sweep_vfork), PROGRAM(sweep_dup), PROGRAM(limits),
	PROGRAM(answers), PROGRAM(stream),     PROGRAM(streams),     PROGRAM(beside),	 PROGRAM(copy),
	PROGRAM(later),	  PROGRAM(close_from), PROGRAM(reap),	     PROGRAM(maps),	 { NULL, NULL },
};
