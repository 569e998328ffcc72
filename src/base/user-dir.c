/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/user-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FOLDER "syscull"
#define PASSWD_MAX (16u << 20)

static bool number_of(const char *text, uint32_t *ret)
{
	unsigned long long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	/* -1 is "leave it alone" to every call that takes an id. */
	if (*end != '\0' || errno != 0 || value >= UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* Whose folder: sudo says who was there before. */
static void find_user(struct user_dir *dir)
{
	uint32_t uid, gid;

	dir->uid = geteuid();
	dir->gid = getegid();
	if (dir->uid != 0 || !number_of(getenv("SUDO_UID"), &uid) || !number_of(getenv("SUDO_GID"), &gid) || uid == 0)
		return;
	dir->uid = uid;
	dir->gid = gid;
	dir->as_other = true;
}

/* The field of a passwd line: "name:x:uid:gid:gecos:home:shell". */
static const char *field_of(const char *line, unsigned n, size_t *ret_bytes)
{
	for (; n > 0; n--) {
		line += strcspn(line, ":\n");
		if (*line != ':')
			return NULL;
		line++;
	}
	*ret_bytes = strcspn(line, ":\n");
	return line;
}

/* Not getpwuid: in a program without shared libraries it would load some. */
static int home_in_passwd(uid_t uid, char *ret, size_t room)
{
	struct buf passwd = BUF_INIT;
	char wanted[16];
	const char *line;
	size_t bytes;
	int r = buf_read_file(&passwd, AT_FDCWD, "/etc/passwd", PASSWD_MAX);

	(void)snprintf(wanted, sizeof wanted, "%u", (unsigned)uid);
	line = r == 0 ? buf_text(&passwd) : "";
	r = -ENOENT;
	while (*line) {
		const char *id = field_of(line, 2, &bytes);

		if (id && bytes == strlen(wanted) && memcmp(id, wanted, bytes) == 0) {
			const char *home = field_of(line, 5, &bytes);

			if (home && bytes > 0 && bytes < room && home[0] == '/') {
				memcpy(ret, home, bytes);
				ret[bytes] = '\0';
				r = 0;
			}
			break;
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	buf_done(&passwd);
	return r;
}

/* *ret_there: how much of it must be there already: a home that is not there ("/nonexistent") is not made. */
static int find_base(const struct user_dir *dir, const char *variable, const char *fallback, char *ret, size_t room,
		     size_t *ret_there)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char passwd_home[PATH_MAX];
	struct stat st;
	int n;

	*ret_there = 0;

	/* Through sudo both may still be root's own. */
	if (base && base[0] == '/' && (!dir->as_other || (stat(base, &st) == 0 && st.st_uid == dir->uid))) {
		n = snprintf(ret, room, "%s", base);
	} else {
		if (dir->as_other || !home || home[0] != '/') {
			n = home_in_passwd(dir->uid, passwd_home, sizeof passwd_home);
			if (n < 0)
				return n;
			home = passwd_home;
		}
		n = snprintf(ret, room, "%s/%s", home, fallback);
		*ret_there = strlen(home);
	}
	return n > 0 && (size_t)n < room ? 0 : -ENAMETOOLONG;
}

/* A folder that must be the user's own and closed to other writers. */
static int check_own(const struct user_dir *dir, int fd)
{
	struct stat st;
	int r = fstat(fd, &st) < 0 ? -errno : 0;

	return r == 0 && (st.st_uid != dir->uid || (st.st_mode & (S_IWGRP | S_IWOTH))) ? -EPERM : r;
}

/* Makes a folder, or finds what was made at the same moment: never through a link. */
static int make_in(const struct user_dir *dir, int at, const char *name)
{
	struct stat st;
	int fd;

	/* What root made in the folder of somebody else would only be in that one's way. */
	if (dir->uid == 0 && (fstat(at, &st) < 0 || st.st_uid != 0))
		return -EPERM;
	if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The folder of an absolute path of which something is missing, made: all that comes after the first `there` bytes. */
static int make_path(const struct user_dir *dir, const char *path, size_t there)
{
	char copy[PATH_MAX];
	char *at = copy + there, *rest;
	int above;

	if ((size_t)snprintf(copy, sizeof copy, "%s", path) >= sizeof copy)
		return -ENAMETOOLONG;
	/* O_PATH: those above need not be readable. */
	if (there > 0)
		*at++ = '\0';
	above = open(there > 0 ? copy : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return -errno;
	for (char *name = strtok_r(at, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
		int fd = openat(above, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			fd = errno == ENOENT ? make_in(dir, above, name) : -errno;
		(void)close(above);
		if (fd < 0)
			return fd;
		above = fd;
	}
	(void)close(above);
	return 0;
}

/* File system rights of the user, until user_end. */
static bool user_begin(const struct user_dir *dir)
{
	if (!dir->as_other)
		return true;
	(void)setfsgid(dir->gid);
	(void)setfsuid(dir->uid);
	/* The call tells the id before, never a failure. */
	return (uid_t)setfsuid((uid_t)-1) == dir->uid && (gid_t)setfsgid((gid_t)-1) == dir->gid;
}

static void user_end(const struct user_dir *dir)
{
	int error = errno;

	if (dir->as_other) {
		(void)setfsuid(geteuid());
		(void)setfsgid(getegid());
	}
	errno = error;
}

void user_dir_close(struct user_dir *dir)
{
	if (dir->fd >= 0)
		(void)close(dir->fd);
	dir->fd = -1;
}

static int open_as_user(struct user_dir *dir, const char *base, size_t there, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	AUTO_CLOSE int above = open(base, flags);
	int r;

	if (above < 0 && errno == ENOENT && make) {
		r = make_path(dir, base, there);
		if (r < 0)
			return r;
		above = open(base, flags);
	}
	if (above < 0)
		return -errno;
	r = check_own(dir, above);
	if (r < 0)
		return r;
	dir->fd = openat(above, FOLDER, flags | O_NOFOLLOW);
	if (dir->fd < 0)
		dir->fd = errno == ENOENT && make ? make_in(dir, above, FOLDER) : -errno;
	if (dir->fd < 0)
		return dir->fd;
	r = check_own(dir, dir->fd);
	if (r < 0)
		user_dir_close(dir);
	return r;
}

int user_dir_open(struct user_dir *ret, const char *variable, const char *fallback, bool make)
{
	char base[PATH_MAX];
	size_t there;
	int r;

	*ret = USER_DIR_INIT;
	find_user(ret);
	r = find_base(ret, variable, fallback, base, sizeof base, &there);
	if (r < 0)
		return r;
	r = user_begin(ret) ? open_as_user(ret, base, there, make) : -EPERM;
	user_end(ret);
	return r;
}

static int open_file_as_user(const struct user_dir *dir, const char *name)
{
	/* O_NONBLOCK: a FIFO of that name must not hold us. */
	int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) < 0 ? -errno : 0;
	if (r == 0 && !S_ISREG(st.st_mode))
		r = -EINVAL;
	if (r == 0 && (st.st_uid != dir->uid || (st.st_mode & (S_IWGRP | S_IWOTH))))
		r = -EPERM;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	return fd;
}

int user_dir_open_file(const struct user_dir *dir, const char *name)
{
	int fd = user_begin(dir) ? open_file_as_user(dir, name) : -EPERM;

	user_end(dir);
	return fd;
}

static int read_as_user(const struct user_dir *dir, const char *name, struct buf *buf, size_t most)
{
	AUTO_CLOSE int fd = open_file_as_user(dir, name);

	return fd < 0 ? fd : buf_read_fd(buf, fd, most);
}

int user_dir_read(const struct user_dir *dir, const char *name, struct buf *buf, size_t most)
{
	int r = user_begin(dir) ? read_as_user(dir, name, buf, most) : -EPERM;

	user_end(dir);
	return r;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_as_user(const struct user_dir *dir, const char *name, const void *data, size_t bytes)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char new_name[NAME_MAX];
	int fd, r;

	if ((size_t)snprintf(new_name, sizeof new_name, ".%s.%ld", name, (long)getpid()) >= sizeof new_name)
		return -ENAMETOOLONG;
	fd = openat(dir->fd, new_name, flags, 0600);
	if (fd < 0 && errno == EEXIST) {
		/* Of a process that had our number and died. */
		(void)unlinkat(dir->fd, new_name, 0);
		fd = openat(dir->fd, new_name, flags, 0600);
	}
	if (fd < 0)
		return -errno;
	r = write_all(fd, data, bytes);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dir->fd, new_name, dir->fd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir->fd, new_name, 0);
	return r;
}

int user_dir_write(const struct user_dir *dir, const char *name, const void *data, size_t bytes)
{
	int r = user_begin(dir) ? write_as_user(dir, name, data, bytes) : -EPERM;

	user_end(dir);
	return r;
}

static int create_as_user(const struct user_dir *dir, struct user_file *file)
{
	file->fd = openat(dir->fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (file->fd >= 0)
		return 0;
	/* EISDIR: a file system that does not know the flag; ENOENT: overlayfs before Linux 6.3 */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	(void)snprintf(file->passing, sizeof file->passing, ".new.%ld", (long)getpid());
	(void)unlinkat(dir->fd, file->passing, 0);
	file->fd = openat(dir->fd, file->passing, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		file->passing[0] = '\0';
		return -errno;
	}
	return 0;
}

int user_dir_create(const struct user_dir *dir, struct user_file *ret)
{
	int r;

	*ret = USER_FILE_INIT;
	r = user_begin(dir) ? create_as_user(dir, ret) : -EPERM;
	user_end(dir);
	return r;
}

static int commit_as_user(const struct user_dir *dir, struct user_file *file, const char *name)
{
	char own[40];

	if (!file->passing[0]) {
		/* A link cannot take the place of a file: first another name, then that one. */
		(void)snprintf(file->passing, sizeof file->passing, ".new.%ld", (long)getpid());
		(void)unlinkat(dir->fd, file->passing, 0);
		(void)snprintf(own, sizeof own, "/proc/self/fd/%d", file->fd);
		if (linkat(AT_FDCWD, own, dir->fd, file->passing, AT_SYMLINK_FOLLOW) < 0) {
			file->passing[0] = '\0';
			return -errno;
		}
	}
	if (renameat(dir->fd, file->passing, dir->fd, name) < 0)
		return -errno;
	file->passing[0] = '\0';
	return 0;
}

int user_dir_commit(const struct user_dir *dir, struct user_file *file, const char *name)
{
	int r = user_begin(dir) ? commit_as_user(dir, file, name) : -EPERM;

	user_end(dir);
	return r;
}

void user_file_close(const struct user_dir *dir, struct user_file *file)
{
	if (file->passing[0] && user_begin(dir))
		(void)unlinkat(dir->fd, file->passing, 0);
	user_end(dir);
	if (file->fd >= 0)
		(void)close(file->fd);
	*file = USER_FILE_INIT;
}
