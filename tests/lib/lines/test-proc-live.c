/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of /proc on real processes: running, stopped, zombie, reaped at every
 * moment, kernel threads, other people's; and the calls that the header
 * promises, counted.
 */
#include "check.h"
#include "fake-reads.h"
#include "syscull/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct syscull_reader reader;

/* A child that sleeps until it is killed. */
static pid_t child_start(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	CHECK_EQUAL(pipe(ends), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "x) R 1 (\n");
		(void)write(ends[1], "", 1);
		for (;;)
			(void)pause();
	}
	CHECK_EQUAL(read(ends[0], &byte, 1), 1);
	CHECK_EQUAL(close(ends[0]), 0);
	CHECK_EQUAL(close(ends[1]), 0);
	return pid;
}

static void child_die(pid_t pid)
{
	siginfo_t info;

	CHECK_EQUAL(kill(pid, SIGKILL), 0);
	CHECK_EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void child_reap(pid_t pid)
{
	CHECK_EQUAL(waitpid(pid, NULL, 0), pid);
}

#define CALLS(open, read, close) \
	do { \
		CHECK_EQUAL(fake_reads_count(SYS_openat), (open)); \
		CHECK_EQUAL(fake_reads_count(SYS_read), (read)); \
		CHECK_EQUAL(fake_reads_count(SYS_close), (close)); \
		CHECK_EQUAL(fake_reads.calls, (open) + (read) + (close)); \
		fake_reads_reset(NULL, 0); \
	} while (0)

/* The cost lines of proc.h. */
static void costs(pid_t pid)
{
	struct syscull_status status;
	struct syscull_stat stat;
	struct syscull_statm statm;
	struct syscull_smaps smaps;
	struct syscull_fdinfo info;
	struct syscull_text text;
	struct syscull_map map;
	uint64_t count;
	uint32_t source;
	int process;

	check_case = "costs";
	fake_reads_reset(NULL, 0);
	process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid);
	CHECK(process >= 0);
	CALLS(1, 0, 0);
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CALLS(1, 1, 1);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_PID], pid);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_PPID], getpid());
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_EUID], geteuid());
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_THREADS], 1);
	CHECK(strcmp(status.name.text, "x) R 1 (\\n") == 0);
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), 1);
	CALLS(1, 1, 1);
	CHECK(strcmp(stat.comm.text, "x) R 1 (\n") == 0);
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_PPID], getpid());
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), 1);
	CALLS(1, 1, 1);
	CHECK_EQUAL(statm.size, stat.numbers[SYSCULL_STAT_VSIZE]);
	CHECK_EQUAL(syscull_proc_cmdline(&reader, process, &text), 1);
	CALLS(1, 1, 1);
	CHECK_EQUAL(syscull_proc_environ(&reader, process, &text) >= 0, 1);
	CALLS(1, 1, 1);
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 0, &info), 1);
	CALLS(1, 1, 1);
	if (syscull_proc_rollup(&reader, process, &smaps) == 1) {
		CALLS(1, 1, 1);
		CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, &source), 1);
		CALLS(1, 1, 1);
		CHECK_EQUAL(source, SYSCULL_SOURCE_ROLLUP);
	}
	CHECK_EQUAL(syscull_proc_fd_count(&reader, process, &count, &source), 1);
	if (source == SYSCULL_SOURCE_SIZE)
		CHECK_EQUAL(fake_reads.calls, 1);
	fake_reads_reset(NULL, 0);
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, (uint64_t)(uintptr_t)&costs, &map), 1);
	if (map.source == SYSCULL_SOURCE_IOCTL) {
		CHECK_EQUAL(fake_reads_count(SYS_ioctl), 1);
		CHECK_EQUAL(fake_reads.calls, 3);
	}
	CHECK_EQUAL(close(process), 0);
}

/* The cheap source and the dear one agree on a process that stands still. */
static void equal_sources(pid_t pid)
{
	struct syscull_smaps rollup, smaps, sum;
	struct syscull_map by_question, by_text;
	struct syscull_ids ids, from_text;
	uint64_t by_size, by_list;
	uint32_t source;
	static const int fields[] = { SYSCULL_SMAPS_RSS,	   SYSCULL_SMAPS_SHARED_CLEAN,
				      SYSCULL_SMAPS_SHARED_DIRTY,  SYSCULL_SMAPS_PRIVATE_CLEAN,
				      SYSCULL_SMAPS_PRIVATE_DIRTY, SYSCULL_SMAPS_ANONYMOUS,
				      SYSCULL_SMAPS_SWAP,	   SYSCULL_SMAPS_LOCKED };
	int process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid);
	int pidfd = (int)syscall(SYS_pidfd_open, (long)pid, 0L);

	check_case = "sources";
	fake_reads_reset(NULL, 0);
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &rollup, &source), 1);
	CHECK_EQUAL(source, SYSCULL_SOURCE_ROLLUP);
	fake_reads.open_end = "smaps_rollup";
	fake_reads.open_error = ENOENT;
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &sum, &source), 1);
	CHECK_EQUAL(source, SYSCULL_SOURCE_TEXT);
	fake_reads_reset(NULL, 0);
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		CHECK_EQUAL(rollup.numbers[fields[i]], sum.numbers[fields[i]]);
	/* PSS is rounded per mapping in smaps, once in the rollup. */
	CHECK(rollup.numbers[SYSCULL_SMAPS_PSS] >= sum.numbers[SYSCULL_SMAPS_PSS]);

	/* Every mapping of smaps is found by its first and its last byte, in both ways. */
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "smaps", '\n'), 0);
	{
		static uint64_t at[4096];
		size_t count = 0;

		while (syscull_proc_smaps_next(&reader, &smaps) > 0 && count < 4090) {
			at[count++] = smaps.map.start;
			at[count++] = smaps.map.end - 1;
		}
		syscull_lines_end(&reader);
		CHECK(count > 10);
		for (size_t i = 0; i < count; i++) {
			char path[4096];

			CHECK_EQUAL(syscull_proc_map_find(&reader, process, at[i], &by_question), 1);
			(void)snprintf(path, sizeof path, "%s", by_question.path.text);
			CHECK_EQUAL(by_question.path.length, strlen(path));
			fake_reads.ioctl_error = ENOTTY;
			CHECK_EQUAL(syscull_proc_map_find(&reader, process, at[i], &by_text), 1);
			fake_reads.ioctl_error = 0;
			CHECK_EQUAL(by_text.source, SYSCULL_SOURCE_TEXT);
			CHECK(by_question.start == by_text.start && by_question.end == by_text.end);
			CHECK(by_question.flags == by_text.flags && by_question.offset == by_text.offset);
			CHECK(by_question.inode == by_text.inode && by_question.dev_major == by_text.dev_major &&
			      by_question.dev_minor == by_text.dev_minor);
			CHECK(strcmp(path, by_text.path.text) == 0);
		}
	}
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0, &by_question), 0);
	fake_reads.ioctl_error = ENOTTY;
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0, &by_text), 0);
	fake_reads.ioctl_error = 0;

	CHECK_EQUAL(syscull_proc_fd_count(&reader, process, &by_size, NULL), 1);
	fake_reads.no_size = 1;
	CHECK_EQUAL(syscull_proc_fd_count(&reader, process, &by_list, NULL), 1);
	fake_reads.no_size = 0;
	CHECK_EQUAL(by_size, by_list);

	CHECK_EQUAL(syscull_proc_ids(&reader, pidfd, process, &ids), 1);
	fake_reads.ioctl_error = ENOTTY;
	CHECK_EQUAL(syscull_proc_ids(&reader, pidfd, process, &from_text), 1);
	CHECK_EQUAL(syscull_proc_ids(&reader, pidfd, -1, &from_text), -ENOTTY);
	fake_reads.ioctl_error = 0;
	CHECK_EQUAL(from_text.source, SYSCULL_SOURCE_TEXT);
	CHECK(ids.pid == from_text.pid && ids.tgid == from_text.tgid && ids.ppid == from_text.ppid);
	CHECK(memcmp(ids.uid, from_text.uid, sizeof ids.uid) == 0 &&
	      memcmp(ids.gid, from_text.gid, sizeof ids.gid) == 0);
	CHECK_EQUAL(syscull_proc_ids(&reader, -1, -1, &ids), -EBADF);
	CHECK_EQUAL(close(process), 0);
	if (pidfd >= 0)
		CHECK_EQUAL(close(pidfd), 0);
}

static void zombie_and_gone(void)
{
	struct syscull_stat stat;
	struct syscull_status status;
	struct syscull_smaps smaps;
	struct syscull_map map;
	struct syscull_fdinfo info;
	struct syscull_text text;
	pid_t pid = child_start();
	int process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid);
	int opened = openat(process, "stat", O_RDONLY | O_CLOEXEC);
	int between[2];

	check_case = "zombie";
	child_die(pid);
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), 1);
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_STATE], 'Z');
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CHECK(!(status.have & SYSCULL_STATUS_BIT(SYSCULL_STATUS_VM_RSS)));
	CHECK_EQUAL(syscull_proc_cmdline(&reader, process, &text), 0);
	CHECK_EQUAL(syscull_proc_environ(&reader, process, &text), 0);
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "maps", '\n'), 0);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 0);
	CHECK_EQUAL(reader.bytes, 0);
	syscull_lines_end(&reader);
	CHECK_EQUAL(syscull_proc_rollup(&reader, process, &smaps), -ESRCH);
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, NULL), 0);
	CHECK_EQUAL(syscull_lines_trouble(syscull_proc_fdinfo(&reader, process, 0, &info)), SYSCULL_TROUBLE_GONE);
	child_reap(pid);

	/* Gone before it is opened: the held directory says so; nobody else can be met there. */
	check_case = "reaped";
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), -ESRCH);
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, NULL), -ESRCH);
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "maps", '\n'), -ESRCH);
	/* Between open and read. */
	CHECK_EQUAL(syscull_whole_read(&reader, opened, &text), -ESRCH);
	CHECK_EQUAL(syscull_whole_reread(&reader, opened, &text), -ESRCH);
	CHECK_EQUAL(syscull_lines_trouble(-ESRCH), SYSCULL_TROUBLE_GONE);
	CHECK_EQUAL(close(opened), 0);
	CHECK_EQUAL(close(process), 0);
	CHECK_EQUAL(syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid), -ENOENT);

	/* Between two reads: what was complete comes, then the end or gone, and never a broken line. */
	check_case = "between reads";
	CHECK_EQUAL(pipe(between), 0);
	for (int i = 0; i < 200; i++)
		CHECK(mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		      MAP_FAILED);
	pid = child_start();
	process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, pid);
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "maps", '\n'), 0);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	child_die(pid);
	child_reap(pid);
	{
		int result;
		int count = 1;

		while ((result = syscull_proc_map_next(&reader, &map)) > 0)
			count++;
		CHECK(result == 0 || result == -ESRCH);
		CHECK(count > 1);
		CHECK(reader.bytes > 0);
	}
	syscull_lines_end(&reader);
	CHECK_EQUAL(close(process), 0);
	CHECK_EQUAL(close(between[0]), 0);
	CHECK_EQUAL(close(between[1]), 0);
}

/* The first kernel thread that there is; a container may have none. */
static void kernel_thread(void)
{
	struct syscull_status status;
	struct syscull_smaps smaps;
	struct syscull_text text;
	int process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, 2);

	check_case = "kernel thread";
	if (process < 0 || syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status) != 1 ||
	    status.numbers[SYSCULL_STATUS_PPID] != 0) {
		(void)fprintf(stderr, "no kernel thread to be seen: that part is left out\n");
		if (process >= 0)
			(void)close(process);
		return;
	}
	CHECK(!(status.have & SYSCULL_STATUS_BIT(SYSCULL_STATUS_VM_RSS)));
	CHECK_EQUAL(syscull_proc_cmdline(&reader, process, &text), 0);
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, NULL), 0);
	CHECK_EQUAL(close(process), 0);
}

/* Somebody without rights asks about us: denied, not gone, not empty. */
static void denied(void)
{
	pid_t pid;
	int status;

	check_case = "denied";
	if (geteuid() != 0) {
		(void)fprintf(stderr, "not root: the part about what is denied is left out\n");
		return;
	}
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct syscull_smaps smaps;
		struct syscull_text text;
		uint64_t count = 0;
		uint32_t source;
		int process = syscull_proc_hold(SYSCULL_PROC_DEFAULT, getppid());

		if (process < 0 || setgid(65534) < 0 || setuid(65534) < 0)
			_exit(9);
		if (syscull_lines_trouble(syscull_proc_environ(&reader, process, &text)) != SYSCULL_TROUBLE_DENIED)
			_exit(1);
		if (syscull_lines_trouble(syscull_proc_memory(&reader, process, &smaps, NULL)) !=
		    SYSCULL_TROUBLE_DENIED)
			_exit(2);
		fake_reads.no_size = 1;
		if (syscull_lines_trouble(syscull_proc_fd_count(&reader, process, &count, &source)) !=
		    SYSCULL_TROUBLE_DENIED)
			_exit(3);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
}

struct seen {
	uint32_t count;
	int held;
};

static int visit(void *context, int process, const struct syscull_proc_node *node)
{
	struct seen *seen = context;

	CHECK_EQUAL(node->order, seen->count);
	seen->count++;
	seen->held += faccessat(process, "stat", F_OK, 0) == 0;
	return 0;
}

static void tree(void)
{
	struct seen seen = { 0, 0 };
	struct syscull_proc_tree_options options = { sizeof options, getpid(), 0, visit, &seen };
	struct syscull_proc_tree tree;
	pid_t one = child_start();
	pid_t two = child_start();
	uint32_t sum = 0;

	check_case = "tree";
	CHECK_EQUAL(syscull_proc_tree_read(&reader, SYSCULL_PROC_DEFAULT, &options, &tree), 0);
	CHECK_EQUAL(tree.count, 3);
	CHECK(tree.nodes[0].pid == getpid() && tree.nodes[0].below == 2 && tree.nodes[0].depth == 0);
	CHECK(tree.nodes[1].pid == (one < two ? one : two) && tree.nodes[1].parent == 0 && tree.nodes[1].depth == 1);
	CHECK(strcmp(tree.nodes[1].comm, "x) R 1 (\n") == 0);
	CHECK(seen.count >= 3 && (uint32_t)seen.held == seen.count);
	syscull_proc_tree_free(&tree);

	options.root = 0;
	options.visit = NULL;
	CHECK_EQUAL(syscull_proc_tree_read(&reader, SYSCULL_PROC_DEFAULT, &options, &tree), 0);
	CHECK(tree.count >= 4);
	for (uint32_t i = 0; i < tree.count; i++) {
		const struct syscull_proc_node *node = &tree.nodes[i];

		CHECK(node->parent <= i);
		CHECK(node->parent == i ? node->depth == 0 : node->depth == tree.nodes[node->parent].depth + 1);
		CHECK(node->below < tree.count - i);
		if (node->depth == 0)
			sum += node->below + 1;
	}
	CHECK_EQUAL(sum, tree.count);
	syscull_proc_tree_free(&tree);
	syscull_proc_tree_free(&tree);

	options.most = 2;
	CHECK_EQUAL(syscull_proc_tree_read(&reader, SYSCULL_PROC_DEFAULT, &options, &tree), SYSCULL_OVER_LIMIT);
	options.most = 0;
	options.root = 0x7ffffff0;
	CHECK_EQUAL(syscull_proc_tree_read(&reader, SYSCULL_PROC_DEFAULT, &options, &tree), -ESRCH);
	child_die(one);
	child_reap(one);
	child_die(two);
	child_reap(two);
}

/* Frozen processes whose parents are missing, younger, or go in circles. */
static void tree_frozen(void)
{
	static const struct {
		int pid, ppid, start;
	} rows[] = { { 1, 0, 0 },   { 5, 1, 10 },  { 7, 5, 20 },   { 9, 999, 5 }, { 20, 21, 7 },
		     { 21, 20, 7 }, { 30, 31, 5 }, { 31, 1, 100 }, { 40, 40, 1 }, { 50, 5, 30 } };
	static const int order[] = { 1, 5, 7, 50, 31, 9, 30, 40, 20, 21 };
	char folder[] = "/tmp/test-proc-live-XXXXXX";
	char command[64];
	struct syscull_proc_tree tree;
	int procfd;

	check_case = "frozen tree";
	CHECK(mkdtemp(folder) != NULL);
	procfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char name[32];
		FILE *file;

		(void)snprintf(name, sizeof name, "%d", rows[i].pid);
		CHECK_EQUAL(mkdirat(procfd, name, 0700), 0);
		(void)snprintf(name, sizeof name, "%d/stat", rows[i].pid);
		file = fdopen(openat(procfd, name, O_WRONLY | O_CREAT, 0600), "w");
		CHECK(file != NULL);
		(void)fprintf(file, "%d (p%d) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 4096 1\n", rows[i].pid,
			      rows[i].pid, rows[i].ppid, rows[i].start);
		CHECK_EQUAL(fclose(file), 0);
	}
	/* One that is gone by the time it is looked at. */
	CHECK_EQUAL(mkdirat(procfd, "60", 0700), 0);
	CHECK_EQUAL(syscull_proc_tree_read(&reader, procfd, NULL, &tree), 0);
	CHECK_EQUAL(tree.count, sizeof order / sizeof order[0]);
	CHECK_EQUAL(tree.gone, 1);
	for (uint32_t i = 0; i < tree.count; i++)
		CHECK_EQUAL(tree.nodes[i].pid, order[i]);
	CHECK_EQUAL(tree.nodes[0].below, 4);
	CHECK_EQUAL(tree.nodes[1].below, 2);
	CHECK_EQUAL(tree.nodes[9].parent, 8);
	syscull_proc_tree_free(&tree);
	CHECK_EQUAL(close(procfd), 0);
	(void)snprintf(command, sizeof command, "rm -rf %s", folder);
	CHECK_EQUAL(system(command), 0);
}

int main(void)
{
	pid_t pid;

	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	pid = child_start();
	costs(pid);
	equal_sources(pid);
	child_die(pid);
	child_reap(pid);
	zombie_and_gone();
	kernel_thread();
	denied();
	tree();
	tree_frozen();
	syscull_reader_done(&reader);
	return check_done();
}
