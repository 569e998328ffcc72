/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks every file of some trees through a memo, in each way there is, and
 * through plain getxattr and listxattr, and says where they differ.
 *
 * usage: compare [--trust] [--reverse] [--rounds N] [--threads N] /TREE...
 *
 * Prints "files F differences D asked A skipped S learnt L"; ends with 1 when
 * something differs.
 */
#include "syscull/xattr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ALL 0x7fU
#define MOST 400000

static const uint32_t wants[] = {
	ALL,
	SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_CAPABILITY,
	SYSCULL_XATTR_SELINUX | SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_ACL_DEFAULT,
	SYSCULL_XATTR_ACL_ACCESS,
	SYSCULL_XATTR_USER,
};
static const char *const names[] = { "security.selinux",    "security.ima",
				     "security.capability", "system.posix_acl_access",
				     "system.nfs4_acl",	    "trusted.syscull",
				     "user.syscull",	    "foreign.syscull" };
static char *files[MOST];
static size_t file_count;
static struct syscull_xattr_memo *memo;
static unsigned long differences;
static int rounds = 2;

static void collect(const char *path)
{
	struct dirent *one;
	struct stat st;
	DIR *dir;

	if (file_count >= MOST || lstat(path, &st) < 0)
		return;
	files[file_count++] = strdup(path);
	if (!S_ISDIR(st.st_mode))
		return;
	dir = opendir(path);
	if (dir == NULL)
		return;
	while ((one = readdir(dir)) != NULL) {
		char *below;

		if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0)
			continue;
		if (asprintf(&below, "%s/%s", path, one->d_name) < 0)
			exit(2);
		collect(below);
		free(below);
	}
	(void)closedir(dir);
}

/* What plain calls say: the length or a negative errno. */
static long plainly(const char *path, uint32_t bit)
{
	static __thread char list[65536];
	long result;

	if (bit != SYSCULL_XATTR_USER) {
		result = lgetxattr(path, syscull_xattr_name(bit), NULL, 0);
		return result < 0 ? -errno : result;
	}
	result = llistxattr(path, list, sizeof list);
	if (result < 0)
		return errno == ERANGE ? -E2BIG : -errno;
	for (char *name = list; name < list + result; name += strlen(name) + 1)
		if (strncmp(name, "user.", 5) == 0)
			return 1;
	return -ENODATA;
}

static void differ(const char *path, const char *way, const char *name, long is, long should)
{
	if (__atomic_fetch_add(&differences, 1, __ATOMIC_RELAXED) < 20)
		(void)fprintf(stderr, "%s (%s): %s: %ld, plainly %ld\n", path, way, name, is, should);
}

static void check_ask(const char *path, const char *way, const struct syscull_xattr_file *file, uint32_t wanted)
{
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	int r = syscull_xattr_ask(memo, file, wanted, &answers);

	if (r < 0 || (answers.present | answers.absent | answers.unknown) != wanted)
		differ(path, way, "the question", r, 0);
	for (uint32_t bit = 1; bit <= SYSCULL_XATTR_USER; bit <<= 1) {
		long plain;

		if (!(wanted & bit))
			continue;
		plain = plainly(path, bit);
		/* The file went away, or came. */
		if (access(path, F_OK) < 0 && errno == ENOENT && plain == -ENOENT)
			continue;
		if (plain >= 0 && !(answers.present & bit))
			differ(path, way, syscull_xattr_name(bit), answers.absent & bit ? -ENODATA : -1, plain);
		else if ((plain == -ENODATA || plain == -EOPNOTSUPP) && !(answers.absent & bit))
			differ(path, way, syscull_xattr_name(bit), answers.present & bit ? 1 : -1, plain);
		else if (plain < 0 && plain != -ENODATA && plain != -EOPNOTSUPP &&
			 (!(answers.unknown & bit) || answers.errors[__builtin_ctz(bit)] != -plain))
			differ(path, way, syscull_xattr_name(bit), -answers.errors[__builtin_ctz(bit)], plain);
		/* Only a look-up by name knows whether it could have been there. */
		if (answers.unsupported & bit && bit != SYSCULL_XATTR_USER && plain != -EOPNOTSUPP)
			differ(path, way, "unsupported", -EOPNOTSUPP, plain);
	}
}

static void check_get(const char *path, const struct syscull_xattr_file *file)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char one[256], other[256];
		long is = syscull_xattr_get(memo, file, names[i], one, sizeof one);
		long should = lgetxattr(path, names[i], other, sizeof other);

		if (should < 0)
			should = -errno;
		if (is != should || (is > 0 && memcmp(one, other, (size_t)is) != 0))
			differ(path, "get", names[i], is, should);
	}
}

static void check_file(const char *path)
{
	struct syscull_xattr_file by_path = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, path), by_dir, by_fd;
	const char *slash = strrchr(path, '/');
	struct statx stx;
	char *dir;
	int dirfd, fd;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MNT_ID | 0x4000, &stx) < 0)
		return;
	syscull_xattr_file_statx(&by_path, &stx);
	for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++)
		check_ask(path, "path", &by_path, wants[i]);
	check_get(path, &by_path);

	dir = strndup(path, (size_t)(slash - path));
	dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd >= 0) {
		by_dir = by_path;
		by_dir.dirfd = dirfd;
		by_dir.path = slash + 1;
		check_ask(path, "dirfd", &by_dir, wants[1]);
		by_dir.have = 0;
		check_ask(path, "dirfd, not told", &by_dir, wants[2]);
		(void)close(dirfd);
	}
	free(dir);
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		by_fd = by_path;
		by_fd.dirfd = fd;
		by_fd.path = NULL;
		check_ask(path, "O_PATH", &by_fd, wants[0]);
		(void)close(fd);
	}
	if (!S_ISREG(stx.stx_mode) && !S_ISDIR(stx.stx_mode))
		return;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		by_fd = by_path;
		by_fd.dirfd = fd;
		by_fd.path = NULL;
		check_ask(path, "descriptor", &by_fd, wants[1]);
		(void)close(fd);
	}
}

static bool reverse;

static void *check_all(void *unused)
{
	(void)unused;
	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < file_count; i++)
			check_file(files[reverse ? file_count - 1 - i : i]);
	return NULL;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

int main(int argc, char **argv)
{
	struct syscull_xattr_memo_options options = { .size = sizeof options };
	struct syscull_xattr_counters counters = { .size = sizeof counters };
	pthread_t threads[64];
	int thread_count = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--trust") == 0)
			options.flags |= SYSCULL_XATTR_TRUST_DEVICE;
		else if (strcmp(argv[i], "--reverse") == 0)
			reverse = true;
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = atoi(argv[++i]);
		else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
			thread_count = atoi(argv[++i]) % 64;
		else if (argv[i][0] == '/')
			collect(argv[i]);
		else
			return 2;
	}
	if (file_count == 0)
		return 2;
	qsort(files, file_count, sizeof files[0], by_name);
	if (thread_count > 0)
		options.flags |= SYSCULL_XATTR_SHARED;
	memo = syscull_xattr_memo_new(&options);
	if (memo == NULL)
		return 2;
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, check_all, NULL) != 0)
			return 2;
	if (thread_count == 0)
		(void)check_all(NULL);
	for (int i = 0; i < thread_count; i++) {
		/* What was learnt goes while others ask. */
		syscull_xattr_memo_drop(memo);
		(void)pthread_join(threads[i], NULL);
	}
	(void)syscull_xattr_memo_count(memo, &counters);
	(void)printf("files %zu differences %lu asked %llu skipped %llu learnt %llu\n", file_count, differences,
		     (unsigned long long)counters.asked, (unsigned long long)counters.skipped,
		     (unsigned long long)counters.learnt);
	syscull_xattr_memo_free(memo);
	return differences > 0;
}
