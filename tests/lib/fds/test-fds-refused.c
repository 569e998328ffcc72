/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens when the kernel says no: filters that refuse calls, and folders
 * that are not what they should be where /proc is looked for.  Success must
 * mean what it says, whatever was refused; where it cannot, there is an error.
 */
#include "syscull/fds.h"

#include "table.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

static int limit;
static int marks;
static struct syscull_fds_options options;

static int sweep(int from)
{
	static const int kept[] = { 50, 9 };

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	return marks ? syscull_fds_cloexec(from, kept, 2, &options) : syscull_fds_close(from, kept, 2, &options);
}

static bool is_left(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

static void check_swept(void)
{
	for (int fd = 0; fd < limit; fd++)
		if (is_left(fd) != (fd < 3 || fd == 50 || fd == 9)) {
			(void)fprintf(stderr, "%s: descriptor %d\n", check_case, fd);
			_exit(1);
		}
}

static void few(void)
{
	table_clear(3, limit);
	for (int fd = 0; fd < 60; fd++)
		table_open(fd);
}

static void sparse(void)
{
	few();
	table_open(limit - 1);
}

static void full(void)
{
	for (int fd = 3; fd < limit; fd++)
		table_open(fd);
}

static void (*const shapes[])(void) = { few, sparse, full };
static size_t shape;
static int refusal;

static void range_refused(void)
{
	shapes[shape]();
	table_refuse_all(SYS_close_range, refusal);
	CHECK_EQUAL(sweep(3), 0);
	CHECK(options.method == SYSCULL_FDS_PROCFS || options.method == SYSCULL_FDS_LOOP);
	check_swept();
}

static void flag_refused(void)
{
	shapes[shape]();
	table_refuse(SYS_close_range, EINVAL, 2, 4);
	CHECK_EQUAL(sweep(3), 0);
	CHECK(!marks || options.hints & SYSCULL_FDS_HINT_CLOEXEC);
	check_swept();
}

static void open_refused(void)
{
	shapes[shape]();
	table_refuse_all(SYS_close_range, EPERM);
	table_refuse_all(SYS_openat, refusal);
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	CHECK(options.hints & (SYSCULL_FDS_HINT_CLOSE | SYSCULL_FDS_HINT_CLOEXEC));
	check_swept();
}

static void list_refused(void)
{
	shapes[shape]();
	table_refuse_all(SYS_close_range, ENOSYS);
	table_refuse_all(SYS_getdents64, refusal);
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	check_swept();
}

/* Only /proc/self/status is left, which needs a free number. */
static void select_refused(void)
{
	shapes[shape]();
	table_refuse_all(SYS_close_range, ENOSYS);
	table_refuse_all(SYS_getdents64, EPERM);
	table_refuse_select(refusal);
	if (shapes[shape] == full && marks) {
		CHECK_EQUAL(sweep(3), -ENODATA);
		/* What the limit allows is done all the same. */
		check_swept();
		return;
	}
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	check_swept();
}

/* Nothing tells how large the table is. */
static void all_refused(void)
{
	int highest = -2;

	sparse();
	table_refuse_all(SYS_close_range, ENOSYS);
	table_refuse_all(SYS_openat, ENOENT);
	table_refuse_all(SYS_newfstatat, ENOENT);
	table_refuse_select(EPERM);
	CHECK_EQUAL(sweep(3), -ENODATA);
	CHECK_EQUAL(options.method, SYSCULL_FDS_LOOP);
	check_swept();
	options.flags = 0;
	CHECK_EQUAL(syscull_fds_highest(&options, &highest), -ENODATA);
	CHECK_EQUAL(highest, -2);
	CHECK_EQUAL(syscull_fds_count(&options, &highest), -ENODATA);
}

static void close_refused(void)
{
	few();
	table_refuse_all(SYS_close_range, EPERM);
	table_refuse_all(SYS_close, EPERM);
	table_refuse(SYS_fcntl, EPERM, 1, F_SETFD);
	CHECK_EQUAL(sweep(3), -EPERM);
	CHECK(is_left(3));
}

static void unshare_refused(void)
{
	few();
	table_refuse_all(SYS_close_range, EPERM);
	table_refuse_all(SYS_unshare, EPERM);
	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.flags = SYSCULL_FDS_UNSHARE;
	CHECK_EQUAL(syscull_fds_close(3, NULL, 0, &options), -EPERM);
	CHECK(is_left(3));
}

/* Cases with mounts of their own. */
static char folder[] = "/tmp/syscull-fds-XXXXXX";

static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		_exit(77);
	CHECK_EQUAL(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
}

static void check_asked(int highest, int count)
{
	int answer;

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	CHECK_EQUAL(syscull_fds_highest(&options, &answer), 1);
	CHECK_EQUAL(answer, highest);
	CHECK_EQUAL(syscull_fds_count(&options, &answer), 0);
	CHECK_EQUAL(answer, count);
}

/* By every way but close_range(2), which nothing here can hinder. */
static void sweep_there(unsigned int method)
{
	check_asked(limit - 1, 61);
	table_refuse_all(SYS_close_range, ENOSYS);
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, method);
	check_swept();
}

static void no_proc(void)
{
	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	sweep_there(SYSCULL_FDS_LOOP);
}

/* What close_range(2) leaves to a list must not be left where the list lies. */
static void no_proc_sparse(void)
{
	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_RANGE);
	check_swept();
}

static void make(const char *path, bool is_folder)
{
	if (is_folder)
		CHECK_EQUAL(mkdir(path, 0755), 0);
	else
		CHECK_EQUAL(mknod(path, S_IFREG | 0644, 0), 0);
}

/* /proc/self/fd is a folder with names as they could be there. */
static void fake_folder(void)
{
	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	make("/proc/self", true);
	make("/proc/self/fd", true);
	make("/proc/thread-self", true);
	make("/proc/thread-self/fd", true);
	make("/proc/thread-self/fd/0", false);
	make("/proc/thread-self/fd/3", false);
	make("/proc/thread-self/status", false);
	sweep_there(SYSCULL_FDS_LOOP);
}

static void fake_folder_sparse(void)
{
	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	make("/proc/thread-self", true);
	make("/proc/thread-self/fd", true);
	make("/proc/thread-self/fd/3", false);
	CHECK_EQUAL(sweep(3), 0);
	CHECK_EQUAL(options.method, SYSCULL_FDS_RANGE);
	check_swept();
}

static void bind(const char *from, const char *over)
{
	CHECK_EQUAL(mount(from, over, NULL, MS_BIND, NULL), 0);
}

/* It is procfs, and the list of another process. */
static void other_list(void)
{
	char path[64];
	pid_t pid;
	int ends[2];

	own_mounts();
	CHECK_EQUAL(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		table_clear(5, limit);
		(void)close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	CHECK(pid > 0);
	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	{
		char own[64];

		(void)snprintf(own, sizeof own, "/proc/%d/task/%d/fd", (int)getpid(), (int)getpid());
		bind(path, own);
		(void)snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
		bind(path, own);
	}
	sparse();
	sweep_there(SYSCULL_FDS_LOOP);
}

/* A folder is mounted over the process's list; the thread's is right. */
static void fake_over_process(void)
{
	char own[64];

	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", folder, "tmpfs", 0, NULL), 0);
	(void)snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
	bind(folder, own);
	sweep_there(SYSCULL_FDS_PROCFS);
}

/* This process does not exist in that /proc. */
static void other_pids(void)
{
	pid_t pid;
	int status;

	own_mounts();
	if (unshare(CLONE_NEWPID) < 0)
		_exit(77);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		CHECK_EQUAL(mount("none", "/proc", "proc", 0, NULL), 0);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
	sparse();
	CHECK(access("/proc/self/fd", F_OK) < 0);
	sweep_there(SYSCULL_FDS_LOOP);
}

/* The outer /proc as seen from a namespace of pids: it has this process, by another number. */
static void outer_pids(void)
{
	pid_t pid;
	int status;

	own_mounts();
	if (unshare(CLONE_NEWPID) < 0)
		_exit(77);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		sparse();
		sweep_there(SYSCULL_FDS_PROCFS);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
}

static void changed_root(void)
{
	own_mounts();
	sparse();
	CHECK_EQUAL(mount("none", folder, "tmpfs", 0, NULL), 0);
	CHECK_EQUAL(chroot(folder), 0);
	CHECK_EQUAL(chdir("/"), 0);
	sweep_there(SYSCULL_FDS_LOOP);
}

static void hidden_pids(void)
{
	own_mounts();
	sparse();
	if (mount("none", "/proc", "proc", 0, "hidepid=2,subset=pid") < 0)
		_exit(77);
	sweep_there(SYSCULL_FDS_PROCFS);
}

/* A thread with a table of its own: the process's list is another one. */
static int in_thread(void *arg)
{
	(void)arg;
	if (unshare(CLONE_FILES) < 0)
		_exit(77);
	sparse();
	sweep_there(SYSCULL_FDS_PROCFS);
	_exit(0);
}

static void own_table(void)
{
	static char stack[1 << 18] __attribute__((aligned(16)));

	few();
	CHECK(clone(in_thread, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_THREAD | CLONE_SIGHAND,
		    NULL) > 0);
	for (;;)
		(void)pause();
}

static bool mount_case(const char *name, void (*run)(void))
{
	int status;
	pid_t pid;

	for (marks = 0; marks < 2; marks++) {
		check_case = name;
		(void)fflush(NULL);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			(void)alarm(120);
			run();
			_exit(0);
		}
		CHECK_EQUAL(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			return false;
		if (status != 0) {
			(void)fprintf(stderr, "case %s: status 0x%x\n", name, (unsigned int)status);
			exit(1);
		}
	}
	return true;
}

static int with_mounts(void)
{
	bool ran;

	if (mkdtemp(folder) == NULL)
		SKIP("no folder in /tmp");
	ran = mount_case("no /proc", no_proc);
	if (ran) {
		ran = mount_case("no /proc, sparse", no_proc_sparse) && mount_case("fake folder", fake_folder) &&
		      mount_case("fake folder, sparse", fake_folder_sparse) && mount_case("other list", other_list) &&
		      mount_case("fake over process", fake_over_process) && mount_case("other pids", other_pids) &&
		      mount_case("outer pids", outer_pids) && mount_case("changed root", changed_root) &&
		      mount_case("hidden pids", hidden_pids) && mount_case("own table", own_table);
	}
	(void)rmdir(folder);
	if (!ran)
		SKIP("no mounts of one's own here (%s)", check_case);
	return check_done();
}

int main(int argc, char **argv)
{
	static const int range_errors[] = { EPERM, ENOSYS, EINVAL, EACCES, ENOMEM, EOVERFLOW };
	static const int open_errors[] = { ENOENT, EMFILE, ENFILE, EACCES, EPERM, ENOMEM, ELOOP };
	static const int list_errors[] = { EPERM, ENOENT, EINVAL };

	limit = table_limit();
	if (limit < 1200)
		SKIP("no more than %d descriptors may be open", limit);
	if (argc > 1 && strcmp(argv[1], "mounts") == 0)
		return with_mounts();
	for (shape = 0; shape < 3; shape++)
		for (marks = 0; marks < 2; marks++) {
			for (size_t i = 0; i < sizeof range_errors / sizeof range_errors[0]; i++) {
				refusal = range_errors[i];
				table_case("close_range refused", range_refused);
			}
			table_case("CLOSE_RANGE_CLOEXEC refused", flag_refused);
			for (size_t i = 0; i < sizeof open_errors / sizeof open_errors[0]; i++) {
				refusal = open_errors[i];
				table_case("openat refused", open_refused);
			}
			for (size_t i = 0; i < sizeof list_errors / sizeof list_errors[0]; i++) {
				refusal = list_errors[i];
				table_case("getdents64 refused", list_refused);
			}
			refusal = EPERM;
			table_case("select refused", select_refused);
		}
	for (marks = 0; marks < 2; marks++) {
		table_case("all refused", all_refused);
		table_case("close refused", close_refused);
	}
	table_case("unshare refused", unshare_refused);
	return check_done();
}
