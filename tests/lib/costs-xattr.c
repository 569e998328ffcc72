/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One region for each row of COST in syscull_xattr(3), with just the look-up
 * of that row in it.  Mounts a ramfs and a tmpfs in a namespace of its own.
 */
#include "syscull/mark.h"
#include "syscull/xattr.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define RAMFS "ramfs"
#define TMPFS "tmpfs"
#define WANTED (SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_CAPABILITY)
#define END "-"

static struct syscull_xattr_file told(int dirfd, const char *path)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(dirfd, path);
	struct statx stx;

	CHECK_EQUAL(statx(dirfd, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MNT_ID, &stx), 0);
	syscull_xattr_file_statx(&file, &stx);
	if (!(file.have & SYSCULL_XATTR_HAVE_MOUNT))
		SKIP("statx tells no mount id here: nothing is learnt");
	return file;
}

static void get(const char *region, struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file,
		const char *name, long should)
{
	long is;

	check_case = region;
	(void)syscull_mark(region);
	is = syscull_xattr_get(memo, file, name, NULL, 0);
	(void)syscull_mark(END);
	CHECK_EQUAL(is, should);
}

static void ask(const char *region, struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file,
		uint32_t wanted, uint32_t present)
{
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;

	check_case = region;
	(void)syscull_mark(region);
	(void)syscull_xattr_ask(memo, file, wanted, &answers);
	(void)syscull_mark(END);
	CHECK_EQUAL(answers.present, present);
	CHECK_EQUAL(answers.absent, wanted & ~present);
}

static void make(const char *dir)
{
	CHECK_EQUAL(chdir(dir), 0);
	CHECK(mknod("one", S_IFREG | 0644, 0) == 0 && mknod("two", S_IFREG | 0644, 0) == 0);
	CHECK(mkdir("dir", 0755) == 0 && mknod("with", S_IFREG | 0755, 0) == 0);
	CHECK_EQUAL(chdir(".."), 0);
}

static void gets(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, TMPFS "/one"),
				  ramfs = told(AT_FDCWD, RAMFS "/one"), tmpfs = told(AT_FDCWD, TMPFS "/one");
	struct syscull_xattr_memo *memo = syscull_xattr_memo_new(NULL);
	int dir = open(TMPFS, O_RDONLY | O_DIRECTORY), fd = open(TMPFS "/one", O_RDONLY),
	    path_fd = open(TMPFS "/one", O_PATH);

	CHECK(dir >= 0 && fd >= 0 && path_fd >= 0);
	get("get-plain", NULL, &file, "security.capability", -ENODATA);
	get("get-untold", memo, &file, "security.capability", -ENODATA);
	file.flags = SYSCULL_XATTR_FOLLOW;
	get("get-follow", NULL, &file, "security.capability", -ENODATA);
	file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(dir, "one");
	get("get-below", NULL, &file, "security.capability", -ENODATA);
	file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(fd, NULL);
	get("get-fd", NULL, &file, "security.capability", -ENODATA);
	file.dirfd = path_fd;
	get("get-opath", NULL, &file, "security.capability", -ENODATA);
	get("get-first", memo, &ramfs, "security.capability", -EOPNOTSUPP);
	file = told(AT_FDCWD, RAMFS "/dir");
	get("get-type", memo, &file, "security.capability", -EOPNOTSUPP);
	file = told(AT_FDCWD, RAMFS "/two");
	get("get-skipped", memo, &file, "security.capability", -EOPNOTSUPP);
	CHECK_EQUAL(syscull_xattr_get(memo, &tmpfs, "security.capability", NULL, 0), -ENODATA);
	get("get-again", memo, &tmpfs, "security.capability", -ENODATA);
	syscull_xattr_memo_free(memo);
	CHECK(close(dir) == 0 && close(fd) == 0 && close(path_fd) == 0);
}

static void asks(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, TMPFS "/one"),
				  ramfs = told(AT_FDCWD, RAMFS "/one"), tmpfs = told(AT_FDCWD, TMPFS "/one");
	struct syscull_xattr_memo *memo = syscull_xattr_memo_new(NULL);
	int dir = open(TMPFS, O_RDONLY | O_DIRECTORY);

	CHECK(dir >= 0);
	ask("ask-plain", NULL, &file, WANTED, 0);
	ask("ask-user", NULL, &file, SYSCULL_XATTR_USER, 0);
	file = (struct syscull_xattr_file)SYSCULL_XATTR_FILE_INIT(dir, "one");
	ask("ask-below", NULL, &file, WANTED, 0);
	ask("ask-first", memo, &ramfs, WANTED, 0);
	file = told(AT_FDCWD, RAMFS "/two");
	ask("ask-skipped", memo, &file, WANTED, 0);
	/* The library's own statx asks for the other sort of mount id. */
	file.have = 0;
	ask(END, memo, &file, WANTED, 0);
	ask("ask-untold", memo, &file, WANTED, 0);
	ask(END, memo, &tmpfs, WANTED, 0);
	file = told(AT_FDCWD, TMPFS "/two");
	ask("ask-list", memo, &file, WANTED, 0);
	ask("ask-one", memo, &file, SYSCULL_XATTR_CAPABILITY, 0);
	file = told(dir, "two");
	ask("ask-list-below", memo, &file, WANTED, 0);
	file = told(AT_FDCWD, TMPFS "/with");
	ask("ask-list-found", memo, &file, WANTED, SYSCULL_XATTR_CAPABILITY);
	(void)syscull_mark("memo-declare");
	CHECK_EQUAL(syscull_xattr_memo_declare(memo, tmpfs.mount_id, SYSCULL_XATTR_HAVE_MOUNT), 0);
	(void)syscull_mark(END);
	ask("ask-declared", memo, &file, WANTED, 0);
	(void)syscull_mark("memo-declare");
	syscull_xattr_memo_drop(memo);
	CHECK_EQUAL(syscull_xattr_memo_count(
			    memo, &(struct syscull_xattr_counters){ .size = sizeof(struct syscull_xattr_counters) }),
		    0);
	syscull_xattr_memo_free(memo);
	(void)syscull_mark(END);
	CHECK_EQUAL(close(dir), 0);
}

int main(int argc, char **argv)
{
	/* Revision 2, cap_net_raw+ep */
	static const unsigned char capability[20] = { 1, 0, 0, 2, 0, 0x20 };
	struct syscull_xattr_memo *memo;

	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		SKIP("no mount namespace of our own here: %s", strerror(errno));
	CHECK(mkdir(RAMFS, 0755) == 0 && mkdir(TMPFS, 0755) == 0);
	if (mount("none", RAMFS, "ramfs", 0, NULL) < 0 || mount("none", TMPFS, "tmpfs", 0, NULL) < 0)
		SKIP("no ramfs or tmpfs here: %s", strerror(errno));
	make(RAMFS);
	make(TMPFS);
	if (setxattr(TMPFS "/with", "security.capability", capability, sizeof capability, 0) < 0)
		SKIP("no capabilities of files here: %s", strerror(errno));
	if (syscall(464, AT_FDCWD, TMPFS, 0, "user.x", NULL, 0) < 0 && errno == ENOSYS)
		SKIP("no getxattrat here: the page tells the counts of Linux 6.13");
	/* The first allocation of a process makes the heap. */
	memo = syscull_xattr_memo_new(NULL);
	CHECK(memo != NULL);
	syscull_xattr_memo_free(memo);
	(void)syscull_mark("memo-new");
	memo = syscull_xattr_memo_new(NULL);
	(void)syscull_mark(END);
	syscull_xattr_memo_free(memo);
	gets();
	asks();
	return check_done();
}
