/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of engines, and how a command's name becomes a program: by
 * execvp's rules, but before anything is forked, so that a missing one is
 * known while nothing has happened yet.
 */
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

const struct engine_ops *const engine_list[] = { &engine_bpf, &engine_ptrace, &engine_script, &engine_trace, NULL };

const struct engine_ops *engine_by_name(const char *name)
{
	for (size_t i = 0; engine_list[i]; i++) {
		if (strcmp(engine_list[i]->name, name) == 0)
			return engine_list[i];
	}
	return NULL;
}

bool engine_can_mark(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_access:
	case CALL_faccessat:
	case CALL_faccessat2:
	case CALL_stat:
	case CALL_lstat:
	case CALL_newfstatat:
	case CALL_statx:
	case CALL_open:
	case CALL_openat:
	case CALL_openat2:
		return true;
	default:
		return false;
	}
}

void engine_scope_complete(struct engine_scope *scope)
{
	/* A call that is newer than our table may be one of a family. */
	engine_scope_add(scope, CALL_unknown);
	for (unsigned id = 0; scope->regions && id < CALL_COUNT; id++)
		if (engine_can_mark((enum sys_call_id)id))
			engine_scope_add(scope, (enum sys_call_id)id);
}

size_t engine_scope_names(const struct engine_scope *scope, const char *ret_names[static CALL_COUNT + 1])
{
	size_t used = 0;

	for (unsigned id = CALL_unknown + 1; id < CALL_COUNT; id++)
		if (engine_scope_has(scope, (enum sys_call_id)id))
			ret_names[used++] = sys_call((enum sys_call_id)id)->name;
	ret_names[used] = NULL;
	return used;
}

/* What execve would say to the path: 0 or negative errno.  A script without
 * "#!" is found here too; running it is the business of whoever executes. */
static int try_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -errno;
	return 0;
}

static int refuse(struct error *err, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_set(err, EACCES, "%s: %s", path, strerror(EISDIR));
	return error_errno(err, EACCES, "%s", path);
}

static int found(const char *path, char **ret_path, struct error *err)
{
	*ret_path = strdup(path);
	return *ret_path ? 0 : error_errno(err, ENOMEM, "%s", path);
}

static char *default_path(void)
{
	size_t bytes = confstr(_CS_PATH, NULL, 0);
	char *path = bytes > 0 ? malloc(bytes) : NULL;

	if (path)
		(void)confstr(_CS_PATH, path, bytes);
	return path;
}

int engine_find_program(const char *name, char **ret_path, struct error *err)
{
	const char *path = getenv("PATH");
	AUTO_FREE char *fallback = NULL;
	AUTO_FREE char *candidate = NULL;
	AUTO_FREE char *refused = NULL;
	int r;

	*ret_path = NULL;
	if (!*name)
		return error_set(err, ENOENT, "the name of the command is empty");
	if (strchr(name, '/')) {
		r = try_program(name);
		if (r == 0)
			return found(name, ret_path, err);
		if (r == -EACCES)
			return refuse(err, name);
		return error_set(err, ENOENT, "%s: %s", name, strerror(-r));
	}
	if (!path) {
		fallback = default_path();
		if (!fallback)
			return error_errno(err, ENOMEM, "%s", name);
		path = fallback;
	}
	candidate = malloc(strlen(path) + strlen(name) + 2);
	if (!candidate)
		return error_errno(err, ENOMEM, "%s", name);
	for (;;) {
		size_t bytes = strcspn(path, ":");

		/* An empty element is the working directory. */
		memcpy(candidate, path, bytes);
		if (bytes > 0)
			candidate[bytes++] = '/';
		strcpy(candidate + bytes, name);
		r = try_program(candidate);
		if (r == 0)
			return found(candidate, ret_path, err);
		if (r == -EACCES && !refused)
			refused = strdup(candidate);
		path += strcspn(path, ":");
		if (!*path++)
			break;
	}
	if (refused)
		return refuse(err, refused);
	return error_set(err, ENOENT, "%s: command not found", name);
}
