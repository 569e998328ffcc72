/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of groups: a program's path was copied in the kernel; a cgroup's is
 * looked for in the file system of cgroups as soon as its number is met, since
 * it may be gone soon.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/count.h"

#define CGROUP2_MAGIC 0x63677270
#define CGROUPS_MAX 65536
#define FOLDERS_DEEP 64
#define LOOK_EVERY_NS UINT64_C(200000000)

int count_cgroup_root(char ret_path[static PROC_PATH_MAX])
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		struct statfs fs;

		if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_MAGIC) {
			(void)snprintf(ret_path, PROC_PATH_MAX, "%s", places[i]);
			return 0;
		}
	}
	return -ENOENT;
}

int count_names_init(struct counting *c)
{
	map_init(&c->names.cgroups, sizeof(char *), CGROUPS_MAX);
	if (count_cgroup_root(c->names.cgroup_root) < 0)
		c->names.cgroup_root[0] = '\0';
	c->names.exes = calloc(c->exe_room, sizeof *c->names.exes);
	return c->names.exes ? 0 : -ENOMEM;
}

void count_names_done(struct counting *c)
{
	size_t iter = 0;
	char **name;

	while ((name = map_next(&c->names.cgroups, &iter, NULL)))
		free(*name);
	map_done(&c->names.cgroups);
	for (uint32_t i = 0; c->names.exes && i < c->exe_room; i++)
		free(c->names.exes[i]);
	free(c->names.exes);
	c->names.exes = NULL;
}

/* A cgroup's id is the number of its folder. */
static void note_folder(struct counting *c, const struct stat *st, const char *path)
{
	char **name = map_put(&c->names.cgroups, st->st_ino, NULL);

	if (name && !*name)
		*name = strdup(*path ? path : "/");
}

static void walk(struct counting *c, int fd, struct buf *path, int depth)
{
	DIR *dir = fdopendir(fd);
	size_t length = path->bytes;
	struct dirent *entry;
	struct stat st;

	if (!dir) {
		(void)close(fd);
		return;
	}
	if (fstat(dirfd(dir), &st) == 0)
		note_folder(c, &st, buf_text(path));
	while (depth < FOLDERS_DEEP && (entry = readdir(dir))) {
		int inner;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		inner = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner < 0)
			continue;
		(void)buf_printf(path, "/%s", entry->d_name);
		walk(c, inner, path, depth + 1);
		path->bytes = length;
	}
	(void)closedir(dir);
}

static bool has_unnamed(const struct counting *c)
{
	uint32_t used = c->live->groups_used;

	for (uint32_t i = 1; i < used && i < c->group_room; i++)
		if (c->groups[i].used && c->groups[i].cgroup && !map_get(&c->names.cgroups, c->groups[i].cgroup))
			return true;
	return false;
}

void count_names_look(struct counting *c)
{
	struct buf path = BUF_INIT;
	uint64_t now = clock_now_ns();
	int fd;

	if (!c->names.cgroup_root[0] || now < c->names.looked_ns + LOOK_EVERY_NS || !has_unnamed(c))
		return;
	c->names.looked_ns = now;
	fd = open(c->names.cgroup_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		walk(c, fd, &path, 0);
	buf_done(&path);
}

static const struct count_group *group_at(const struct counting *c, uint32_t group)
{
	return group > 0 && group < c->group_room && c->groups[group].used ? &c->groups[group] : NULL;
}

const char *counting_exe(struct counting *c, uint32_t group)
{
	const struct count_group *at = group_at(c, group);
	const struct count_exe *exe;

	if (!at || at->exe == 0 || at->exe >= c->exe_room || !c->exes[at->exe].used)
		return NULL;
	exe = &c->exes[at->exe];
	if (!c->names.exes[at->exe]) {
		struct buf path = BUF_INIT;

		exec_join_names(&path, exe->names,
				exe->names_bytes < COUNT_NAMES_BYTES ? exe->names_bytes : COUNT_NAMES_BYTES,
				exe->names_cut, exe->deleted);
		c->names.exes[at->exe] = buf_steal(&path);
	}
	return c->names.exes[at->exe];
}

const char *counting_cgroup(struct counting *c, uint32_t group)
{
	const struct count_group *at = group_at(c, group);
	char **name;

	if (!at || at->cgroup == 0)
		return NULL;
	name = map_get(&c->names.cgroups, at->cgroup);
	if (!name || !*name) {
		char text[40];

		/* It was gone before we looked. */
		(void)snprintf(text, sizeof text, "(gone: %llu)", (unsigned long long)at->cgroup);
		name = map_put(&c->names.cgroups, at->cgroup, NULL);
		if (name)
			*name = strdup(text);
	}
	return name ? *name : NULL;
}
