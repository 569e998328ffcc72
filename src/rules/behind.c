/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is behind a descriptor.  A mode tells; without one, which is usual
 * since few programs ask, how it was opened and where that lies.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/stream.h"

const char *rule_pseudo_type(const struct model_mount *mount)
{
	static const char *const types[] = { "proc",	  "sysfs",    "cgroup",	  "cgroup2", "debugfs",
					     "tracefs",	  "devtmpfs", "configfs", "devpts",  "securityfs",
					     "selinuxfs", "efivarfs", "pstore",	  "bpf",     "mqueue" };

	for (size_t i = 0; mount && i < sizeof types / sizeof *types; i++)
		if (strcmp(mount->type, types[i]) == 0)
			return types[i];
	return NULL;
}

static bool below(const char *path, const char *dir)
{
	size_t bytes = strlen(dir);

	/* Asked for each read and write: mostly one letter tells. */
	return path[1] == dir[1] && strncmp(path, dir, bytes) == 0 && path[bytes] == '/';
}

static enum rule_behind by_path(struct model *model, const struct model_view *view)
{
	const struct model_file *file = view->file;
	const char *path = file->path;

	if (!path && (file->made_by == CALL_memfd_create || (file->open_flags & O_TMPFILE) == O_TMPFILE))
		return RULE_BEHIND_FILE;
	/* A message queue, for one, has the mode of a file and no path. */
	if (!path || *path != '/')
		return RULE_BEHIND_OTHER;
	if (strcmp(path, "/dev/null") == 0)
		return RULE_BEHIND_NULL;
	/* Also where the mounts are not known; /dev/shm holds files. */
	if (below(path, "/proc") || below(path, "/sys") || (below(path, "/dev") && !below(path, "/dev/shm")))
		return RULE_BEHIND_OTHER;
	return rule_pseudo_type(model_mount_of(model, view->process, path)) ? RULE_BEHIND_OTHER : RULE_BEHIND_FILE;
}

enum rule_behind rule_behind(struct model *model, const struct model_view *view)
{
	const struct model_file *file = view->file;

	if (!file)
		return RULE_BEHIND_OTHER;
	switch (file->mode & S_IFMT) {
	case S_IFIFO:
		return RULE_BEHIND_PIPE;
	case S_IFSOCK:
		return RULE_BEHIND_SOCKET;
	case S_IFREG:
		return by_path(model, view);
	case S_IFCHR:
		return file->path && strcmp(file->path, "/dev/null") == 0 ? RULE_BEHIND_NULL : RULE_BEHIND_OTHER;
	case 0:
		return file->made_by == CALL_open || file->made_by == CALL_openat || file->made_by == CALL_openat2 ||
				       file->made_by == CALL_creat
			       ? by_path(model, view)
			       : RULE_BEHIND_OTHER;
	default:
		return RULE_BEHIND_OTHER;
	}
}
