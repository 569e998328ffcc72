/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call is about.  A path stands for its object, without one the
 * descriptor's file does; a number never does.
 */
#include <string.h>

#include "rules/keyed.h"

/* /proc/PID/fd/… leads elsewhere: its own mount says nothing. */
static bool leads_elsewhere(const char *path)
{
	if (path[0] != '/' || path[1] != 'p' || strncmp(path, "/proc/", 6) != 0)
		return false;
	path = strchr(path + 6, '/');
	if (path && strncmp(path, "/task/", 6) == 0)
		path = strchr(path + 6, '/');
	return path &&
	       (strncmp(path, "/fd/", 4) == 0 || strncmp(path, "/cwd", 4) == 0 || strncmp(path, "/root", 5) == 0 ||
		strcmp(path, "/exe") == 0 || strncmp(path, "/map_files/", 11) == 0);
}

static void find_mount(struct model *model, const struct model_view *view, struct rule_object *object)
{
	if (object->path && !leads_elsewhere(object->path))
		object->mount = model_mount_of(model, view->process, object->path);
	if (object->mount)
		object->dev = object->mount->dev;
}

/* All but the mount. */
static bool name_instance(const struct model_view *view, struct rule_object *ret)
{
	const struct model_file *file = view->file;

	*ret = (struct rule_object){ 0 };
	if (!file)
		return false;
	ret->id = file->id;
	ret->instance = file->id;
	ret->path = file->path && file->path[0] == '/' ? file->path : NULL;
	ret->path_hash = ret->path ? file->path_hash : 0;
	ret->dev = file->dev;
	ret->ino = file->ino;
	return true;
}

bool rule_object_instance(struct model *model, const struct model_view *view, struct rule_object *ret)
{
	if (!name_instance(view, ret))
		return false;
	find_mount(model, view, ret);
	return true;
}

bool rule_object_named(const struct model_view *view, struct rule_object *ret)
{
	if (view->path && view->path->bytes > 0) {
		*ret = (struct rule_object){ .id = view->path->hash,
					     .path = view->path->text,
					     .path_hash = view->path->hash };
		return true;
	}
	if (!name_instance(view, ret))
		return false;
	/* A path means the same object on the way through another descriptor. */
	if (ret->path)
		ret->id = ret->path_hash;
	else
		ret->id = map_mix(ret->dev, ret->ino ? ret->ino : ret->instance);
	return true;
}

bool rule_object_of(struct model *model, const struct model_view *view, struct rule_object *ret)
{
	if (!rule_object_named(view, ret))
		return false;
	/* As passed: equal texts are taken for one file, its mount stays unknown. */
	if (ret->instance || view->path->absolute)
		find_mount(model, view, ret);
	return true;
}
