/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs and their runs, as rules and reports see them.  They stay until
 * the model goes, so there is a limit: beyond it all further runs of a
 * program share one image, and the statistics say so.
 */
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

#define EXE_CHAIN_MAX 4

/* The entry for what has no room or no name; listed when first used. */
static struct exe *exe_shared(struct model *model, struct exe *exe, bool *listed)
{
	if (!*listed) {
		exe->pub.id = (uint32_t)model->exes.used;
		*listed = vec_push(&model->exes, exe);
		if (!*listed)
			(void)model_no_memory(model);
	}
	return exe;
}

struct exe *exe_get(struct model *model, const char *path, size_t bytes)
{
	uint64_t key;
	struct exe *exe;
	struct exe **place;
	unsigned chain;

	bytes = path ? strnlen(path, bytes) : 0;
	if (bytes == 0 || (bytes == 1 && *path == '?'))
		return exe_shared(model, &model->unknown_exe, &model->unknown_listed);
	key = map_hash(path, bytes);
	for (chain = 0; chain < EXE_CHAIN_MAX; chain++, key = map_mix(key, bytes)) {
		place = map_get(&model->exe_by_hash, key);
		if (!place)
			break;
		if (strncmp((*place)->pub.path, path, bytes) == 0 && (*place)->pub.path[bytes] == '\0')
			return *place;
	}
	if (chain == EXE_CHAIN_MAX || model->exes.used >= model->limits.exes) {
		(void)model_lose(model, "programs");
		return exe_shared(model, &model->other_exe, &model->other_listed);
	}
	exe = calloc(1, sizeof(*exe));
	if (exe)
		exe->pub.path = strndup(path, bytes);
	place = exe && exe->pub.path ? map_put(&model->exe_by_hash, key, NULL) : NULL;
	if (!place || !vec_grow(&model->exes)) {
		if (place)
			(void)map_remove(&model->exe_by_hash, key);
		if (exe)
			free(exe->pub.path);
		free(exe);
		(void)model_no_memory(model);
		return exe_shared(model, &model->other_exe, &model->other_listed);
	}
	exe->pub.id = (uint32_t)model->exes.used;
	model->exes.at[model->exes.used++] = exe;
	*place = exe;
	return exe;
}

struct image *image_new(struct model *model, struct exe *exe, uint32_t pid, uint32_t ppid, uint64_t now_ns)
{
	struct image *image;
	bool full = model->images.used >= model->limits.images;

	if (full && exe->folded) {
		(void)model_lose(model, "images");
		return exe->folded;
	}
	image = calloc(1, sizeof(*image));
	if (!image || !vec_push(&model->images, image)) {
		free(image);
		(void)model_no_memory(model);
		return NULL;
	}
	image->pub.id = ++model->next_image_id;
	image->pub.exe = &exe->pub;
	image->pub.start_ns = now_ns;
	if (full) {
		image->pub.folded = true;
		exe->folded = image;
		(void)model_lose(model, "images");
		return image;
	}
	image->pub.pid = pid;
	image->pub.ppid = ppid;
	return image;
}

void image_end(struct image *image, uint64_t now_ns, uint32_t how, uint32_t status)
{
	image->pub.end_ns = now_ns;
	image->proc = NULL;
	if (image->pub.folded)
		return;
	image->pub.ended = true;
	image->pub.exit_how = how;
	image->pub.exit_status = status;
}

/* What a run hands on to a forked one; an exec then tells its own. */
void image_inherit(struct image *to, const struct image *from)
{
	struct model_process own = to->pub;

	if (own.folded)
		return;
	to->pub = from->pub;
	to->pub.id = own.id;
	to->pub.pid = own.pid;
	to->pub.ppid = own.ppid;
	to->pub.exe = own.exe;
	to->pub.start_ns = own.start_ns;
	to->pub.end_ns = 0;
	to->pub.calls = own.calls;
	to->pub.forked = false;
	to->pub.execed = to->pub.ended = to->pub.folded = to->pub.starting = false;
	to->pub.startup_calls = 0;
	to->pub.exit_how = to->pub.exit_status = 0;
	to->pub.env = from->pub.env;
	to->pub.env_bytes = from->pub.env_bytes;
}

/* Arguments and environment of a task or exec record. */
void image_tell(struct model *model, struct image *image, const struct event_head *head, bool exec)
{
	const struct event_item *item;

	if (image->pub.folded)
		return;
	if (exec) {
		image->pub.argv = image->pub.env = NULL;
		image->pub.argv_bytes = image->pub.env_bytes = 0;
		image->pub.env_known = false;
		image->pub.tz = NULL;
	}
	item = event_item(head, SYS_ITEM_ARGV);
	if (item) {
		image->pub.argv = text_keep(model, event_item_data(item), item->bytes);
		image->pub.argv_bytes = image->pub.argv ? item->bytes : 0;
		image->pub.argv_cut = item->flags & EVENT_ITEM_TRUNCATED;
	}
	item = event_item(head, SYS_ITEM_ENV);
	if (item) {
		image->pub.env = text_keep(model, event_item_data(item), item->bytes);
		image->pub.env_bytes = image->pub.env ? item->bytes : 0;
		image->pub.env_known = image->pub.env && !(item->flags & EVENT_ITEM_TRUNCATED);
		image->pub.tz = model_getenv(&image->pub, "TZ");
	}
}

const char *model_getenv(const struct model_process *process, const char *name)
{
	size_t name_bytes = strlen(name);
	const char *at = process->env;
	/* A NUL stands behind the last byte, whatever the record held. */
	const char *end = at ? at + process->env_bytes : NULL;

	while (at && at < end) {
		size_t bytes = strlen(at);

		if (bytes > name_bytes && at[name_bytes] == '=' && memcmp(at, name, name_bytes) == 0)
			return at + name_bytes + 1;
		at += bytes + 1;
	}
	return NULL;
}

int images_init(struct model *model)
{
	model->unknown_exe.pub.path = strdup("?");
	model->other_exe.pub.path = strdup("(other programs)");
	if (!model->unknown_exe.pub.path || !model->other_exe.pub.path)
		return -1;
	model->stranger_image.pub.id = ++model->next_image_id;
	model->stranger_image.pub.exe = &model->unknown_exe.pub;
	model->stranger_image.pub.folded = true;
	model->stranger_proc.image = &model->stranger_image;
	model->stranger.proc = &model->stranger_proc;
	model->stranger.tid = UINT32_MAX;
	return 0;
}

void images_done(struct model *model)
{
	for (size_t i = 0; i < model->images.used; i++) {
		if (model->images.at[i] != &model->stranger_image)
			free(model->images.at[i]);
	}
	vec_done(&model->images);
	for (size_t i = 0; i < model->exes.used; i++) {
		if (model->exes.at[i] != &model->unknown_exe && model->exes.at[i] != &model->other_exe) {
			free(model->exes.at[i]->pub.path);
			free(model->exes.at[i]);
		}
	}
	vec_done(&model->exes);
	map_done(&model->exe_by_hash);
	free(model->unknown_exe.pub.path);
	free(model->other_exe.pub.path);
}
