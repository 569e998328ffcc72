/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each of these asks a file that cannot have a label, makes the same path or
 * number mean one that has, in another way each, and asks again.
 *
 * arguments: a folder without attributes, one whose files have a label, and
 * one that may be written.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "programs.h"

/* One folder of ours, with a link that leads to the files without. */
static const char *without, *with, *ours;
static char link_path[4096], other_path[4096];

static int begin(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	without = argv[1];
	with = argv[2];
	ours = argv[3];
	(void)snprintf(link_path, sizeof link_path, "%s/now", ours);
	(void)snprintf(other_path, sizeof other_path, "%s/other", ours);
	(void)unlink(link_path);
	(void)unlink(other_path);
	if (symlink(without, link_path) != 0 || symlink(with, other_path) != 0 || chdir(ours) != 0)
		return 2;
	train("now");
	told("now/f1");
	asked("now/f1");
	return 0;
}

#define BEGIN \
	if (begin(argc, argv) != 0) \
	return 2
#define END \
	asked("now/f1"); \
	return 0

static int by_rename(int argc, char **argv)
{
	BEGIN;
	say("rename", "", rename("other", "now"));
	END;
}

static int by_unlink(int argc, char **argv)
{
	BEGIN;
	say("unlinkat", "", unlinkat(AT_FDCWD, "now", 0));
	say("symlink", "", symlink(with, "now"));
	END;
}

static int by_number(int argc, char **argv)
{
	BEGIN;
	say("renameat2", "", syscall(SYS_renameat2, AT_FDCWD, "other", AT_FDCWD, "now", 0));
	END;
}

static int by_shell(int argc, char **argv)
{
	BEGIN;
	say("system", "", system("mv -T other now"));
	END;
}

static int by_chdir(int argc, char **argv)
{
	BEGIN;
	say("chdir", without, chdir(without));
	told("f1");
	asked("f1");
	say("chdir", with, chdir(with));
	asked("f1");
	say("chdir", without, chdir(without));
	asked("f1");
	return 0;
}

/* By descriptors: what is below one of them, and what is here. */
static int by_fchdir(int argc, char **argv)
{
	struct stat st;
	int a, b;

	BEGIN;
	a = open(without, O_RDONLY | O_DIRECTORY);
	b = open(with, O_RDONLY | O_DIRECTORY);
	say("fstatat", "a", fstatat(a, "f1", &st, AT_SYMLINK_NOFOLLOW));
	say("fchdir", "a", fchdir(a));
	asked("f1");
	say("fchdir", "b", fchdir(b));
	asked("f1");
	say("fchdir", "a", fchdir(a));
	say("fstatat", "a", fstatat(a, "f1", &st, AT_SYMLINK_NOFOLLOW));
	say("chdir", "with", chdir(with));
	asked("f1");
	say("fchdir", "a", fchdir(a));
	say("dup2", "b to a", dup2(b, a) == a);
	say("fstatat", "b", fstatat(a, "f2", &st, AT_SYMLINK_NOFOLLOW));
	asked("f2");
	say("fchdir", "nowhere", fchdir(999));
	asked("f2");
	return 0;
}

/* Everything is elsewhere, the root too. */
static int by_chroot(int argc, char **argv)
{
	BEGIN;
	say("chdir", without, chdir(without));
	told("/etc");
	(void)lgetxattr("/etc", "security.capability", NULL, 0);
	told("f1");
	asked("f1");
	say("chroot", "", chroot(with));
	asked("f1");
	asked("/f1");
	say("chdir", "/", chdir("/"));
	asked("f1");
	return 0;
}

static int by_fork(int argc, char **argv)
{
	pid_t pid;

	BEGIN;
	pid = fork();
	if (pid == 0)
		_exit(rename("other", "now") != 0);
	say("waitpid", "", waitpid(pid, NULL, 0) == pid);
	END;
}

static void *rename_it(void *data)
{
	(void)data;
	say("rename", "in a thread", rename("other", "now"));
	return NULL;
}

static int by_thread(int argc, char **argv)
{
	pthread_t thread;

	BEGIN;
	if (pthread_create(&thread, NULL, rename_it, NULL) != 0)
		return 2;
	(void)pthread_join(thread, NULL);
	END;
}

/* Somebody else, and no sign of it but that time passes. */
static int by_time(int argc, char **argv)
{
	struct timespec long_enough = { 0, 200 * 1000 * 1000 };
	pid_t pid;

	BEGIN;
	pid = fork();
	if (pid == 0)
		_exit(rename("other", "now") != 0);
	(void)nanosleep(&long_enough, NULL);
	while (access("other", F_OK) == 0)
		(void)nanosleep(&long_enough, NULL);
	END;
}

static int by_mount(int argc, char **argv)
{
	char value[64];
	int result;

	BEGIN;
	result = mount(with, without, NULL, MS_BIND, NULL);
	say("mount", "", result);
	asked("now/f1");
	say("again", "", lgetxattr("now/f1", "security.selinux", value, sizeof value));
	if (result == 0)
		say("umount", "", umount2(without, MNT_DETACH));
	END;
}

/* The same number, another file. */
static int by_descriptor(int argc, char **argv)
{
	char path[5000], value[64];
	int first, second;

	BEGIN;
	(void)snprintf(path, sizeof path, "%s/f2", without);
	first = open(path, O_RDONLY);
	for (unsigned i = 0; i < 5; i++)
		say("fgetxattr", "without", fgetxattr(first, "security.selinux", value, sizeof value));
	(void)snprintf(path, sizeof path, "%s/f2", with);
	(void)close(first);
	second = open(path, O_RDONLY);
	say("same number", "", first == second);
	say("fgetxattr", "with", fgetxattr(second, "security.selinux", value, sizeof value));
	(void)snprintf(path, sizeof path, "%s/f2", without);
	first = open(path, O_RDONLY);
	for (unsigned i = 0; i < 5; i++)
		say("fgetxattr", "without", fgetxattr(first, "security.selinux", value, sizeof value));
	say("dup2", "", dup2(second, first) == first);
	say("fgetxattr", "with", fgetxattr(first, "security.selinux", value, sizeof value));
	return 0;
}

/* A child with our memory looks at files of its own directory. */
static int by_vfork(int argc, char **argv)
{
	struct stat st;
	pid_t pid;

	BEGIN;
	say("chdir", with, chdir(with));
	told("f1");
	pid = vfork();
	if (pid == 0) {
		if (chdir(without) != 0)
			_exit(1);
		(void)lstat("f1", &st);
		_exit(0);
	}
	asked("f1");
	say("waitpid", "", waitpid(pid, NULL, 0) == pid);
	told("f1");
	asked("f1");
	END;
}

static int visited(const char *path, const struct stat *st, int what, struct FTW *where)
{
	(void)st;
	(void)path;
	(void)where;
	if (what == FTW_F)
		asked("f1");
	return 0;
}

/* The walker goes from directory to directory by itself. */
static int by_walk(int argc, char **argv)
{
	BEGIN;
	say("chdir", without, chdir(without));
	told("f1");
	say("nftw", "with", nftw(with, visited, 8, FTW_CHDIR | FTW_PHYS));
	say("nftw", "without", nftw(without, visited, 8, FTW_CHDIR | FTW_PHYS));
	asked("f1");
	return 0;
}

/* A directory on the way that is closed for who we are now. */
static int by_user(int argc, char **argv)
{
	BEGIN;
	say("chmod", "", chmod(ours, 0700));
	told("now/f1");
	asked("now/f1");
	say("chdir", "", chdir("/"));
	told(link_path);
	(void)snprintf(other_path, sizeof other_path, "%s/f1", link_path);
	told(other_path);
	asked(other_path);
	say("setresuid", "", setresuid((uid_t)-1, 65534, (uid_t)-1));
	asked(other_path);
	say("setresuid", "", setresuid((uid_t)-1, 0, (uid_t)-1));
	say("chmod", "", chmod(ours, 0755));
	asked(other_path);
	return 0;
}

#define PROGRAM(name) \
	{ \
#name, name \
	}

const struct program change_programs[] = {
	PROGRAM(by_rename), PROGRAM(by_unlink), PROGRAM(by_number), PROGRAM(by_shell),
	PROGRAM(by_chdir),  PROGRAM(by_fchdir), PROGRAM(by_chroot), PROGRAM(by_fork),
	PROGRAM(by_thread), PROGRAM(by_time),	PROGRAM(by_mount),  PROGRAM(by_descriptor),
	PROGRAM(by_vfork),  PROGRAM(by_walk),	PROGRAM(by_user),   { NULL, NULL },
};
