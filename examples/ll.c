/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ll - a long listing, with the bytes of GNU `ls -l` in the C locale, that asks
 * for ACLs, labels and capabilities through libsyscull: on file systems that
 * cannot have them it asks once.  Names are looked up relative to their
 * directory, users and groups once each.
 */
#include "ll.h"

#include "syscull/xattr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

#define EXIT_MINOR 1
#define EXIT_SERIOUS 2

struct pending {
	struct pending *next;
	char *path;
	bool argument;
};

static struct {
	bool all, recurse, directories;
} options;
static struct print_options print_options;
static struct syscull_xattr_memo *memo;
static struct pending *pending;
static int status;

static void out_of_memory(void)
{
	(void)fputs("ll: out of memory\n", stderr);
	exit(EXIT_SERIOUS);
}

static void complain(const char *what, const char *path, int error, bool serious)
{
	if (status != EXIT_SERIOUS)
		status = serious ? EXIT_SERIOUS : EXIT_MINOR;
	(void)fprintf(stderr, "ll: %s", what);
	print_quoted(path);
	(void)fprintf(stderr, ": %s\n", strerror(error));
}

/* dir/name as ls writes it; the caller frees it. */
static char *join(const char *dir, const char *name)
{
	size_t dir_length = strlen(dir), length = strlen(name);
	char *path;

	if (name[0] == '/')
		dir_length = 0;
	while (dir_length > 1 && dir[dir_length - 1] == '/')
		dir_length--;
	path = malloc(dir_length + length + 2);
	if (path == NULL)
		out_of_memory();
	memcpy(path, dir, dir_length);
	if (dir_length > 0 && dir[dir_length - 1] != '/')
		path[dir_length++] = '/';
	memcpy(path + dir_length, name, length + 1);
	return path;
}

static void queue(char *path, bool argument)
{
	struct pending *one = malloc(sizeof *one);

	if (one == NULL)
		out_of_memory();
	*one = (struct pending){ .next = pending, .path = path, .argument = argument };
	pending = one;
}

static struct entry *entries_add(struct entries *entries, const char *name, unsigned char d_type)
{
	struct entry *entry;

	if (entries->count == entries->room) {
		size_t room = entries->room == 0 ? 64 : entries->room * 2;
		struct entry *list = realloc(entries->list, room * sizeof *list);

		if (list == NULL)
			out_of_memory();
		entries->list = list;
		entries->room = room;
	}
	entry = &entries->list[entries->count++];
	memset(entry, 0, sizeof *entry);
	entry->name = strdup(name);
	entry->d_type = d_type;
	if (entry->name == NULL)
		out_of_memory();
	return entry;
}

static void entries_done(struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->list[i].name);
		free(entries->list[i].link);
	}
	free(entries->list);
	free(entries->order);
}

static int by_name(const void *one, const void *other)
{
	return strcmp((*(struct entry *const *)one)->name, (*(struct entry *const *)other)->name);
}

static void entries_sort(struct entries *entries)
{
	free(entries->order);
	entries->order = malloc((entries->count + 1) * sizeof(struct entry *));
	if (entries->order == NULL)
		out_of_memory();
	for (size_t i = 0; i < entries->count; i++)
		entries->order[i] = &entries->list[i];
	qsort(entries->order, entries->count, sizeof(struct entry *), by_name);
}

static char mark_of(const struct syscull_xattr_answers *answers)
{
	uint32_t acls = SYSCULL_XATTR_ACL_ACCESS | SYSCULL_XATTR_ACL_DEFAULT;
	size_t length = answers->label_length;

	if (answers->present & acls)
		return '+';
	/* What could not be asked is not absent. */
	if (answers->unknown & (acls | SYSCULL_XATTR_SELINUX))
		return '?';
	if (!(answers->present & SYSCULL_XATTR_SELINUX))
		return 0;
	if (length > 0 && length <= answers->label_size && answers->label[length - 1] == '\0')
		length--;
	/* Older kernels give this label to files that have none. */
	return length == 9 && memcmp(answers->label, "unlabeled", 9) == 0 ? 0 : '.';
}

static void ask_attributes(struct entry *entry, int dirfd, const char *dir)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(dirfd, entry->name);
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	uint32_t wanted = SYSCULL_XATTR_SELINUX, error;
	char label[256];

	if (!S_ISLNK(entry->st.mode))
		wanted |= SYSCULL_XATTR_ACL_ACCESS;
	if (S_ISDIR(entry->st.mode))
		wanted |= SYSCULL_XATTR_ACL_DEFAULT;
	if (S_ISREG(entry->st.mode) && print_options.color && colors_want_capabilities())
		wanted |= SYSCULL_XATTR_CAPABILITY;
	answers.label = label;
	answers.label_size = sizeof label;
	file.have = entry->st.have;
	file.mode = entry->st.mode;
	file.dev_major = entry->st.dev_major;
	file.dev_minor = entry->st.dev_minor;
	file.mount_id = entry->st.mount_id;
	(void)syscull_xattr_ask(memo, &file, wanted, &answers);
	entry->mark = mark_of(&answers);
	entry->capability = answers.present & SYSCULL_XATTR_CAPABILITY;
	for (error = 0; error < SYSCULL_XATTR_KINDS; error++) {
		if (answers.unknown & ~SYSCULL_XATTR_CAPABILITY & 1U << error) {
			char *path = join(dir, entry->name);

			(void)fprintf(stderr, "ll: %s: %s\n", path, strerror(answers.errors[error]));
			free(path);
			break;
		}
	}
}

static void read_target(struct entry *entry, int dirfd, const char *dir)
{
	/* st_size is not to be relied on: procfs says 64, and some file systems nothing. */
	char buffer[PATH_MAX];
	struct statx target;
	ssize_t length = readlinkat(dirfd, entry->name, buffer, sizeof buffer);

	if (length < 0) {
		char *path = join(dir, entry->name);

		complain("cannot read symbolic link ", path, errno, dirfd == AT_FDCWD);
		free(path);
		return;
	}
	entry->link = strndup(buffer, (size_t)length);
	if (entry->link == NULL)
		out_of_memory();
	if (print_options.color && colors_want_links() &&
	    statx(dirfd, entry->name, AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MODE, &target) == 0) {
		entry->link_ok = true;
		entry->link_mode = target.stx_mode;
	}
}

static void keep(struct entry_stat *st, const struct statx *stx)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, NULL);

	syscull_xattr_file_statx(&file, stx);
	*st = (struct entry_stat){ .size = stx->stx_size,
				   .blocks = stx->stx_blocks,
				   .mount_id = file.mount_id,
				   .mtime_s = stx->stx_mtime.tv_sec,
				   .mtime_ns = stx->stx_mtime.tv_nsec,
				   .nlink = stx->stx_nlink,
				   .uid = stx->stx_uid,
				   .gid = stx->stx_gid,
				   .rdev_major = stx->stx_rdev_major,
				   .rdev_minor = stx->stx_rdev_minor,
				   .dev_major = stx->stx_dev_major,
				   .dev_minor = stx->stx_dev_minor,
				   .have = file.have,
				   .mode = stx->stx_mode };
}

/* Returns false when it is not even shown. */
static bool look_at(struct entry *entry, int dirfd, const char *dir)
{
	struct statx stx;

	if (statx(dirfd, entry->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_MTIME | STATX_SIZE |
			  STATX_BLOCKS | STATX_MNT_ID | STATX_MNT_ID_UNIQUE,
		  &stx) < 0) {
		char *path = join(dir, entry->name);

		complain("cannot access ", path, errno, dirfd == AT_FDCWD);
		free(path);
		return dirfd != AT_FDCWD;
	}
	keep(&entry->st, &stx);
	entry->stat_ok = true;
	if (dirfd != AT_FDCWD)
		ask_attributes(entry, dirfd, dir);
	if (S_ISLNK(entry->st.mode))
		read_target(entry, dirfd, dir);
	return true;
}

static bool is_directory(const struct entry *entry)
{
	return entry->stat_ok ? S_ISDIR(entry->st.mode) : entry->d_type == DT_DIR;
}

static bool dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directories of a list come before what waits already, in the list's order. */
static void queue_directories(const struct entries *entries, const char *dir)
{
	for (size_t i = entries->count; i-- > 0;)
		if (is_directory(entries->order[i]) && !dots(entries->order[i]->name))
			queue(join(dir, entries->order[i]->name), false);
}

static void print_total(const struct entries *entries)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < entries->count; i++)
		blocks += entries->list[i].st.blocks;
	(void)printf("total %llu\n", (unsigned long long)(blocks / 2 + blocks % 2));
}

static void list_directory(const char *path, bool argument, bool title)
{
	DIR *stream = opendir(path);
	struct entries entries = { 0 };
	static bool again;
	struct dirent *one;

	if (stream == NULL) {
		complain("cannot open directory ", path, errno, argument);
		return;
	}
	if (title) {
		if (again)
			(void)putchar('\n');
		again = true;
		print_bytes(path);
		(void)fputs(":\n", stdout);
	}
	while (errno = 0, (one = readdir(stream)) != NULL)
		if (options.all || one->d_name[0] != '.')
			(void)entries_add(&entries, one->d_name, one->d_type);
	if (errno != 0)
		complain("reading directory ", path, errno, argument);
	for (size_t i = 0; i < entries.count; i++)
		(void)look_at(&entries.list[i], dirfd(stream), path);
	(void)closedir(stream);
	entries_sort(&entries);
	if (options.recurse)
		queue_directories(&entries, path);
	print_total(&entries);
	print_entries(&entries, &entries);
	entries_done(&entries);
}

/* The arguments: those that are no directories first, the directories wait. */
static void list_arguments(char **paths, size_t count, bool *ret_titles)
{
	struct entries all = { 0 }, files = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!look_at(entries_add(&all, paths[i], DT_UNKNOWN), AT_FDCWD, "")) {
			free(all.list[--all.count].name);
			all.list[all.count].name = NULL;
		}
	}
	entries_sort(&all);
	files.order = malloc((all.count + 1) * sizeof(struct entry *));
	if (files.order == NULL)
		out_of_memory();
	for (size_t i = 0; i < all.count; i++)
		if (options.directories || !is_directory(all.order[i]))
			files.order[files.count++] = all.order[i];
	for (size_t i = all.count; i-- > 0 && !options.directories;)
		if (is_directory(all.order[i]))
			queue(join("", all.order[i]->name), true);
	*ret_titles = options.recurse || count > 1 || files.count > 0;
	if (files.count > 0) {
		/* Also those of directories, which decide whether there is a column of marks. */
		for (size_t i = 0; i < all.count; i++)
			ask_attributes(&all.list[i], AT_FDCWD, "");
		print_entries(&files, &all);
		if (pending != NULL)
			(void)putchar('\n');
	}
	free(files.order);
	entries_done(&all);
}

static void usage(FILE *stream)
{
	(void)fputs("usage: ll [-anRd] [--color[=always|auto|never]] [--trust-device] [PATH...]\n"
		    "a long listing; on file systems without attributes it asks for them once\n",
		    stream);
}

static bool want_color(const char *when)
{
	if (when == NULL || strcmp(when, "always") == 0 || strcmp(when, "yes") == 0 || strcmp(when, "force") == 0)
		return true;
	if (strcmp(when, "never") == 0 || strcmp(when, "no") == 0 || strcmp(when, "none") == 0)
		return false;
	if (strcmp(when, "auto") == 0 || strcmp(when, "tty") == 0 || strcmp(when, "if-tty") == 0)
		return isatty(STDOUT_FILENO);
	(void)fprintf(stderr, "ll: --color is always, auto or never\n");
	exit(EXIT_SERIOUS);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "color", optional_argument, NULL, 'c' },
					       { "trust-device", no_argument, NULL, 't' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	struct syscull_xattr_memo_options memo_options = { .size = sizeof memo_options };
	static char here[] = ".", *nowhere[] = { here, NULL };
	char **paths;
	size_t count;
	bool titles;
	int option;

	while ((option = getopt_long(argc, argv, "alnRd", longs, NULL)) != -1) {
		switch (option) {
		case 'a':
			options.all = true;
			break;
		case 'l':
			break;
		case 'n':
			print_options.numeric = true;
			break;
		case 'R':
			options.recurse = true;
			break;
		case 'd':
			options.directories = true;
			break;
		case 'c':
			print_options.color = want_color(optarg);
			break;
		case 't':
			memo_options.flags |= SYSCULL_XATTR_TRUST_DEVICE;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_SERIOUS;
		}
	}
	if (options.directories)
		options.recurse = false;
	memo = syscull_xattr_memo_new(&memo_options);
	if (memo == NULL)
		out_of_memory();
	(void)setvbuf(stdout, NULL, _IOFBF, 65536);
	/* A complaint is one write, not one for each of its pieces. */
	(void)setvbuf(stderr, NULL, _IOLBF, 4096);
	print_options.color = print_options.color && colors_init();
	print_init(&print_options);
	paths = optind < argc ? argv + optind : nowhere;
	count = optind < argc ? (size_t)(argc - optind) : 1;
	list_arguments(paths, count, &titles);
	while (pending != NULL) {
		struct pending *one = pending;

		pending = one->next;
		list_directory(one->path, one->argument, titles);
		free(one->path);
		free(one);
	}
	if (print_options.color)
		colors_done();
	ids_done();
	syscull_xattr_memo_free(memo);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		(void)fprintf(stderr, "ll: write error: %s\n", strerror(errno));
		return EXIT_SERIOUS;
	}
	return status;
}
