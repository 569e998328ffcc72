/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths against working directory, descriptor and nothing; mounts. */
#include <sys/sysmacros.h>

#include "stream.h"

#define START "task 100 exe=/bin/x cwd=/w/d\n"

static const char *resolved(struct stream *s, const char *path)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "100 stat(\"%s\", _) = -1 ENOENT\n", path);
	stream_feed(s, line);
	assert_non_null(s->last.path);
	assert_true(s->last.path->absolute);
	assert_string_equal(s->last.path->passed, path);
	return s->last.path->text;
}

static void test_lexical(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START);
	assert_string_equal(resolved(&s, "f"), "/w/d/f");
	assert_int_equal(s.last.path->components, 1);
	assert_int_equal(s.last.path->bytes, 6);
	assert_string_equal(resolved(&s, "./a//b/./c/"), "/w/d/a/b/c");
	assert_int_equal(s.last.path->components, 3);
	/* The working directory holds no links, so ".." can be walked. */
	assert_string_equal(resolved(&s, "../f"), "/w/f");
	assert_string_equal(resolved(&s, "../../../../f"), "/f");
	/* "a" may be a link. */
	assert_string_equal(resolved(&s, "a/../f"), "/w/d/a/../f");
	assert_string_equal(resolved(&s, "/a/../f"), "/a/../f");
	assert_string_equal(resolved(&s, "/../f"), "/f");
	assert_string_equal(resolved(&s, "/"), "/");
	assert_string_equal(resolved(&s, "."), "/w/d");
	assert_int_equal(s.last.path->components, 0);
	{
		uint64_t hash;

		(void)resolved(&s, "x/y");
		hash = s.last.path->hash;
		(void)resolved(&s, "/w/d/./x//y");
		assert_true(s.last.path->hash == hash);
		(void)resolved(&s, "/w/d/x/z");
		assert_true(s.last.path->hash != hash);
	}
	stream_done(&s);
}

static void test_directories(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 chdir(\"sub\") = 0\n");
	assert_string_equal(resolved(&s, "f"), "/w/d/sub/f");
	/* "sub" may have been a link; the kernel's own text is not. */
	assert_string_equal(resolved(&s, "../f"), "/w/d/sub/../f");
	stream_feed(&s, "100 getcwd(\"/w/d/sub\", 4096) = 9\n");
	assert_string_equal(resolved(&s, "../f"), "/w/d/f");
	stream_feed(&s, "100 chdir(\"no\") = -1 ENOENT\n");
	assert_string_equal(resolved(&s, "f"), "/w/d/sub/f");
	stream_feed(&s, "100 open(\"/e\", O_RDONLY|O_DIRECTORY) = 3\n100 fchdir(3) = 0\n");
	assert_string_equal(resolved(&s, "f"), "/e/f");
	stream_feed(&s, "100 fchdir(9) = 0\n100 stat(\"f\", _) = 0\n");
	assert_false(s.last.path->absolute);
	assert_string_equal(s.last.path->text, "f");
	assert_int_equal(s.last.path->components, 1);
	assert_null(model_cwd(s.model, s.last.process));
	assert_string_equal(resolved(&s, "/f"), "/f");
	stream_feed(&s, "100 chdir(\"/w\") = 0\n");
	assert_string_equal(resolved(&s, "f"), "/w/f");
	stream_feed(&s, "100 pivot_root(\"/n\", \"/o\") = 0\n");
	assert_string_equal(s.last.path->text, "/n");
	assert_string_equal(s.last.path2->text, "/o");
	stream_feed(&s, "100 stat(\"f\", _) = 0\n");
	assert_false(s.last.path->absolute);
	stream_done(&s);
}

/* What is kept of directories from one path to the next changes no path and no hash. */
static void test_many_directories(void **state)
{
	struct stream s = { 0 };
	char line[96], text[64];

	stream_feed(&s, START);
	for (int fd = 3; fd < 12; fd++) {
		(void)snprintf(line, sizeof(line), "fd 100 %d /srv/dir%d\n", fd, fd);
		stream_feed(&s, line);
	}
	for (int i = 0; i < 500; i++) {
		const char *name = i % 7 == 0 ? "../up" : i % 5 == 0 ? "/top" : "name-of-a-file";
		int fd = 3 + i * i % 9;
		uint64_t hash;

		(void)snprintf(line, sizeof(line), "100 newfstatat(%d, \"%s\", _, 0) = 0\n", fd, name);
		stream_feed(&s, line);
		(void)snprintf(text, sizeof(text),
			       i % 7 == 0   ? "/srv/up"
			       : i % 5 == 0 ? "/top"
					    : "/srv/dir%d/%s",
			       fd, name);
		assert_string_equal(s.last.path->text, text);
		hash = s.last.path->hash;
		assert_string_equal(resolved(&s, text), text);
		assert_true(s.last.path->hash == hash);
	}
	stream_done(&s);
}

static void test_sharing(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "thread 100 101\nfork 100 200\nfork 100 300 CLONE_FS\n101 chdir(\"/t\") = 0\n");
	assert_string_equal(resolved(&s, "f"), "/t/f");
	stream_feed(&s, "200 stat(\"f\", _) = 0\n");
	assert_string_equal(s.last.path->text, "/w/d/f");
	stream_feed(&s, "exec 300 /bin/y\n300 stat(\"f\", _) = 0\n");
	assert_string_equal(s.last.path->text, "/t/f");
	stream_feed(&s, "101 unshare(CLONE_FS) = 0\n101 chdir(\"/u\") = 0\n");
	assert_string_equal(resolved(&s, "f"), "/t/f");
	stream_done(&s);
}

static void test_chroot(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 chroot(\"/jail\") = 0\n100 chdir(\"/\") = 0\n");
	assert_string_equal(resolved(&s, "/etc"), "/jail/etc");
	assert_string_equal(resolved(&s, "../etc"), "/jail/etc");
	stream_feed(&s, "100 getcwd(\"/\", 4096) = 2\n");
	assert_string_equal(resolved(&s, "x"), "/jail/x");
	stream_feed(&s, "100 fchdir(9) = 0\n100 chroot(\".\") = 0\n100 stat(\"/etc\", _) = 0\n");
	assert_false(s.last.path->absolute);
	stream_done(&s);
}

static void test_descriptors(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "fd 100 3 /srv/top\n100 openat(3, \"sub\", O_DIRECTORY) = 4\n"
			      "100 newfstatat(4, \"f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/srv/top/sub/f");
	stream_feed(&s, "100 newfstatat(3, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/srv/f");
	stream_feed(&s, "100 newfstatat(9, \"f\", _, 0) = 0\n");
	assert_false(s.last.path->absolute);
	stream_feed(&s, "100 newfstatat(9, \"/f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/f");
	stream_feed(&s, "100 renameat2(3, \"a\", AT_FDCWD, \"b\", 0) = 0\n");
	assert_string_equal(s.last.path->text, "/srv/top/a");
	assert_string_equal(s.last.path2->text, "/w/d/b");
	stream_feed(&s, "100 symlinkat(\"../target\", 3, \"l\") = 0\n");
	assert_string_equal(s.last.path->text, "/srv/top/l");
	assert_null(s.last.path2);
	stream_feed(&s, "100 mount(\"proc\", \"p\", \"proc\", 0, NULL) = 0\n");
	assert_string_equal(s.last.path->text, "/w/d/p");
	/* No directory at all. */
	stream_feed(&s, "100 pipe([5, 6]) = 0\n100 openat(5, \"f\", O_RDONLY) = -1 ENOTDIR\n");
	assert_false(s.last.path->absolute);
	stream_feed(&s, "7 open(\"f\", O_RDONLY) = 3\n");
	assert_false(s.last.path->absolute);
	assert_non_null(s.last.made);
	assert_null(s.last.made->path);
	stream_done(&s);
}

/* As find and rm walk a tree: down by name, up by "..". */
static void test_walks(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "100 openat(AT_FDCWD, \"/a/top\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 3\n"
			      "100 openat(3, \"x\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 4\n"
			      "100 openat(4, \"y\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 5\n"
			      "100 openat(5, \"..\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 6\n"
			      "100 newfstatat(6, \"f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/x/f");
	stream_feed(&s, "100 openat(6, \"..\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 7\n"
			"100 newfstatat(7, \"f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/f");
	/* top is none, /a may be one. */
	stream_feed(&s, "100 newfstatat(7, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/f");
	stream_feed(&s, "100 newfstatat(7, \"../../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/../f");
	/* Nor is it known of what was followed, of parts before the last, and behind "..". */
	stream_feed(&s, "100 openat(3, \"l\", O_RDONLY|O_DIRECTORY) = 8\n100 newfstatat(8, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../f");
	stream_feed(&s, "100 openat(3, \"l/z\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 9\n"
			"100 newfstatat(9, \"../../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../f");
	stream_feed(&s, "100 openat(8, \"..\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 10\n"
			"100 newfstatat(10, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../../f");
	/* A slash or a dot at the end follows all the same; O_PATH opens the link. */
	stream_feed(&s, "100 openat(3, \"l/\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 11\n"
			"100 newfstatat(11, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../f");
	stream_feed(&s, "100 openat(3, \"l/.\", O_RDONLY|O_DIRECTORY|O_NOFOLLOW) = 12\n"
			"100 newfstatat(12, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../f");
	stream_feed(&s, "100 openat(3, \"l\", O_PATH|O_NOFOLLOW) = 13\n100 newfstatat(13, \"../f\", _, 0) = 0\n");
	assert_string_equal(s.last.path->text, "/a/top/l/../f");
	stream_done(&s);
}

static void test_odd_paths(void **state)
{
	struct stream s = { 0 };
	char text[9000];
	size_t at;

	stream_feed(&s, START);
	stream_feed(&s, "100 stat(\"\", _) = -1 ENOENT\n");
	assert_null(s.last.path);
	stream_feed(&s, "100 stat(?, _) = -1 EFAULT\n");
	assert_null(s.last.path);
	stream_feed(&s, "100 stat(NULL, _) = -1 EFAULT\n");
	assert_null(s.last.path);
	/* Cut off: two such are not the same file. */
	stream_feed(&s, "100 stat(\"/abc\"..., _) = -1 ENAMETOOLONG\n");
	assert_false(s.last.path->absolute);
	stream_feed(&s, "100 stat(\"a\\0b\", _) = 0\n");
	assert_string_equal(s.last.path->text, "/w/d/a");
	stream_feed(&s, "100 stat(\"\\n\\33[2J\\377\", _) = 0\n");
	assert_string_equal(s.last.path->text, "/w/d/\n\33[2J\377");
	/* Deeper and deeper: at last unknown, never too long. */
	at = (size_t)snprintf(text, sizeof(text), "repeat 10 i {\n100 chdir(\"");
	memset(text + at, 'x', 1500);
	at += 1500;
	(void)snprintf(text + at, sizeof(text) - at, "\") = 0\n}\n100 stat(\"f\", _) = 0\n");
	stream_feed(&s, text);
	assert_false(s.last.path->absolute);
	at = (size_t)snprintf(text, sizeof(text), "100 stat(\"/");
	memset(text + at, 'y', 6000);
	at += 6000;
	(void)snprintf(text + at, sizeof(text) - at, "\", _) = 0\n");
	stream_feed(&s, text);
	assert_false(s.last.path->absolute);
	assert_int_equal(s.last.path->bytes, 4095);
	stream_done(&s);
}

static const struct model_mount *mount_of(struct stream *s, int pid, const char *path)
{
	return model_mount_of(s->model, model_process(s->model, (uint32_t)pid), path);
}

/* What was learnt from one path is not said of another that lies elsewhere. */
static void test_mounts_in_turn(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, "mount 8:1 / ext4 /dev/vda\nmount 0:20 /a/b tmpfs ab\nmount 0:21 /a/bc tmpfs abc\n"
			"mount 0:22 /a/b/c/d tmpfs abcd\n" START);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(mount_of(&s, 100, "/a/x/y")->source, "/dev/vda");
		assert_string_equal(mount_of(&s, 100, "/a/b")->source, "ab");
		assert_string_equal(mount_of(&s, 100, "/a/bc/x")->source, "abc");
		assert_string_equal(mount_of(&s, 100, "/a/b/c/x")->source, "ab");
		assert_string_equal(mount_of(&s, 100, "/a/b/c/d")->source, "abcd");
		assert_string_equal(mount_of(&s, 100, "/a/b/c/d/e/f")->source, "abcd");
		assert_string_equal(mount_of(&s, 100, "/a/bcd/x")->source, "/dev/vda");
		assert_string_equal(mount_of(&s, 100, "/a")->source, "/dev/vda");
		assert_string_equal(mount_of(&s, 100, "/")->source, "/dev/vda");
		assert_string_equal(mount_of(&s, 100, "/a/b/x")->source, "ab");
	}
	stream_done(&s);
}

static void test_mounts(void **state)
{
	struct stream s = { 0 };
	const struct model_mount *mount;

	stream_feed(&s,
		    "mount 8:1 / ext4 /dev/vda\nmount 0:20 /proc proc proc\nmount 0:21 \"/mnt/a b\" tmpfs none\n"
		    "mount 0:22 /mnt tmpfs upper\nmount 0:23 /over tmpfs lower\nmount 0:24 /over ramfs upper\n" START);
	mount = mount_of(&s, 100, "/w/d/f");
	assert_string_equal(mount->type, "ext4");
	assert_string_equal(mount->source, "/dev/vda");
	assert_true(mount->dev == makedev(8, 1));
	assert_string_equal(mount_of(&s, 100, "/proc/1")->type, "proc");
	assert_string_equal(mount_of(&s, 100, "/proc")->type, "proc");
	assert_string_equal(mount_of(&s, 100, "/procfs")->type, "ext4");
	assert_string_equal(mount_of(&s, 100, "/over/x")->type, "ramfs");
	/* /mnt came later and hides what was below it. */
	assert_string_equal(mount_of(&s, 100, "/mnt/a b/c")->source, "upper");
	assert_null(mount_of(&s, 100, "relative"));
	/* The pointer stays good, and equal mounts are the same. */
	stream_feed(&s, "mount 8:1 / ext4 /dev/vda\n100 getpid() = 100\n");
	assert_true(mount_of(&s, 100, "/proc/1") == mount_of(&s, 100, "/w/d/f"));
	assert_true(mount_of(&s, 100, "/w") == mount);
	stream_done(&s);
}

static void test_mount_namespaces(void **state)
{
	struct stream s = { 0 };

	stream_feed(&s, START "task 500 exe=/bin/z\nmount 8:1 / ext4 /dev/a pid=100 ns=1\nfork 100 200\n"
			      "fork 100 300 CLONE_NEWNS\n300 getpid() = 300\n");
	assert_null(mount_of(&s, 500, "/"));
	assert_string_equal(mount_of(&s, 200, "/")->source, "/dev/a");
	assert_string_equal(mount_of(&s, 300, "/")->source, "/dev/a");
	stream_feed(&s, "mount 8:2 / ext4 /dev/b pid=300 ns=2\n300 getpid() = 300\n");
	assert_string_equal(mount_of(&s, 300, "/")->source, "/dev/b");
	assert_string_equal(mount_of(&s, 200, "/")->source, "/dev/a");
	/* Known by number: all in the namespace see the change. */
	stream_feed(&s, "mount 8:3 / ext4 /dev/c pid=200 ns=1\n200 getpid() = 200\n");
	assert_string_equal(mount_of(&s, 100, "/")->source, "/dev/c");
	stream_feed(&s, "mount 8:3 / ext4 /dev/c pid=500 ns=1\n200 unshare(CLONE_NEWNS) = 0\n"
			"mount 8:4 / ext4 /dev/d pid=500 ns=1\n500 getpid() = 500\n");
	assert_string_equal(mount_of(&s, 100, "/")->source, "/dev/d");
	assert_string_equal(mount_of(&s, 200, "/")->source, "/dev/c");
	stream_feed(&s, "fd 200 3 mnt:[99]\n200 setns(3, 0) = 0\n200 stat(\"f\", _) = 0\n");
	assert_null(mount_of(&s, 200, "/"));
	assert_false(s.last.path->absolute);
	stream_feed(&s, "fd 100 3 net:[98]\n100 setns(3, 0) = 0\n100 stat(\"f\", _) = 0\n");
	assert_true(s.last.path->absolute);
	stream_done(&s);
}

static void feed_mountinfo(struct model *model, const char *text)
{
	struct buf buf = BUF_INIT;
	struct event_mounts *event = event_begin(&buf, EVENT_MOUNTS);
	struct model_view view;

	assert_non_null(event);
	event->head.pid = event->head.tid = 1;
	assert_int_equal(event_item_add(&buf, SYS_ITEM_MOUNTINFO, 0, 0, text, strlen(text)), 0);
	assert_int_equal(model_feed(model, event_end(&buf), &view), 0);
	buf_done(&buf);
}

static void test_mountinfo_text(void **state)
{
	struct model *model = model_new();
	const struct model_process *process;

	feed_mountinfo(model, "21 1 8:1 / / rw,relatime shared:1 master:2 - ext4 /dev/root rw\n"
			      "22 21 0:5 / /a\\040b\\134 rw - tmpfs a\\011b rw,size=1k\n"
			      "23 21 0:6 /sub /bind rw unbindable - xfs  rw\n"
			      "\n24\n25 21 0:7 / relative rw - x y rw\n26 21 99999999999:7 / /big rw - x y rw\n"
			      "27 21 0:7 / /nodash rw x y rw\n28 21 0:8 / /cut rw - type\n29 21 0:9 / /last rw - t s");
	process = model_process(model, 1);
	assert_non_null(process);
	assert_string_equal(model_mount_of(model, process, "/x")->source, "/dev/root");
	assert_string_equal(model_mount_of(model, process, "/a b\\/x")->source, "a\tb");
	assert_string_equal(model_mount_of(model, process, "/bind")->type, "xfs");
	assert_string_equal(model_mount_of(model, process, "/big")->type, "ext4");
	assert_string_equal(model_mount_of(model, process, "/nodash")->type, "ext4");
	assert_string_equal(model_mount_of(model, process, "/last/x")->type, "t");
	/* A mount that was moved: its number is older than that of what it is on. */
	feed_mountinfo(model, "30 40 0:7 / /sys rw - sysfs sysfs rw\n40 1 8:1 / / rw - ext4 /dev/root rw\n");
	assert_string_equal(model_mount_of(model, process, "/sys/x")->type, "sysfs");
	assert_string_equal(model_mount_of(model, process, "/last/x")->type, "ext4");
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lexical),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_chroot),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_odd_paths),
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_mount_namespaces),
		cmocka_unit_test(test_mountinfo_text),
		cmocka_unit_test(test_mounts_in_turn),
		cmocka_unit_test(test_many_directories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
