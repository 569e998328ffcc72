/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of COST in syscull_proc(3).  usage: costs-proc FOLDER */
#include "syscull/mark.h"
#include "syscull/proc.h"

#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct syscull_reader reader;

/* Volatile, or the compiler leaves the two calls out. */
static void *volatile heap;

static void region(const char *name)
{
	CHECK_EQUAL(syscull_mark(name), 0);
}

static void put(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	CHECK_EQUAL(close(fd), 0);
}

static void frozen(int folder)
{
	static const char *const names[3] = { "1", "2", "30" };
	char name[16];

	for (int i = 0; i < 3; i++) {
		CHECK_EQUAL(mkdirat(folder, names[i], 0700), 0);
		(void)snprintf(name, sizeof name, "%s/stat", names[i]);
		put(folder, name, "1 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 4096 1\n");
	}
	put(folder, "cgroup", "0::/x\n");
}

static void snapshots(int process)
{
	struct syscull_status status;
	struct syscull_stat stat;
	struct syscull_statm statm;
	struct syscull_fdinfo info;
	struct syscull_text text;
	struct syscull_smaps totals;

	region("status");
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	region("stat");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), 1);
	region("statm");
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), 1);
	region("cmdline");
	CHECK_EQUAL(syscull_proc_cmdline(&reader, process, &text), 1);
	region("environ");
	CHECK_EQUAL(syscull_proc_environ(&reader, process, &text), 1);
	region("fdinfo");
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 0, &info), 1);
	region("rollup");
	CHECK_EQUAL(syscull_proc_rollup(&reader, process, &totals), 1);
	region("memory");
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &totals, NULL), 1);
	region("-");
}

static void zombie(void)
{
	struct syscull_smaps totals;
	siginfo_t info;
	pid_t pid = fork();
	int process;

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(0);
	CHECK_EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid);
	CHECK(process >= 0);
	region("memory-none");
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &totals, NULL), 0);
	region("-");
	CHECK_EQUAL(close(process), 0);
	CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
}

int main(int argc, char **argv)
{
	struct syscull_proc_tree tree;
	struct syscull_cgroup cgroup;
	struct syscull_ids ids;
	struct syscull_map map;
	uint64_t number;
	int process, task, folder, pidfd;
	pid_t self = getpid();

	CHECK_EQUAL(argc, 2);
	folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pidfd = (int)syscall(SYS_pidfd_open, (long)getpid(), 0L);
	CHECK(folder >= 0 && pidfd >= 0);
	frozen(folder);
	heap = malloc(1 << 18);
	free(heap);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	/* Gets its buffer before anything is counted. */
	CHECK_EQUAL(syscull_lines_begin(&reader, 0, '\n'), 0);

	region("hold");
	process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, self);
	region("-");
	CHECK(process >= 0);
	region("hold-task");
	task = syscull_proc_hold_task(process, self);
	region("-");
	CHECK(task >= 0);
	snapshots(process);
	zombie();
	region("fd-count");
	CHECK_EQUAL(syscull_proc_fd_count(&reader, process, &number, NULL), 1);
	region("map-find");
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, (uint64_t)(uintptr_t)&reader, &map), 1);
	region("ids");
	CHECK_EQUAL(syscull_proc_ids(&reader, pidfd, process, &ids), 1);
	region("cgroup");
	CHECK_EQUAL(syscull_proc_begin(&reader, folder, "cgroup", '\n'), 0);
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 1);
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 0);
	syscull_lines_end(&reader);
	region("list");
	CHECK_EQUAL(syscull_proc_list_begin(&reader, process, "task"), 0);
	CHECK_EQUAL(syscull_proc_list_next(&reader, &number), 1);
	CHECK_EQUAL(syscull_proc_list_next(&reader, &number), 0);
	syscull_lines_end(&reader);
	region("tree");
	CHECK_EQUAL(syscull_proc_tree_read(&reader, folder, NULL, &tree), 0);
	region("free");
	syscull_proc_tree_free(&tree);
	region("-");
	CHECK_EQUAL(close(task), 0);
	CHECK_EQUAL(close(process), 0);
	CHECK_EQUAL(close(pidfd), 0);
	CHECK_EQUAL(close(folder), 0);
	syscull_reader_done(&reader);
	return check_done();
}
