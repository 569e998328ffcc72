/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instances of open files.  One lives as long as a descriptor, in whatever
 * process, stands for it, and for the record that ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

struct file *file_new(struct model *model, enum sys_call_id made_by, uint64_t now_ns)
{
	struct file *file;

	if (model->stats.files >= model->limits.files) {
		(void)model_lose(model, "open files");
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		(void)model_no_memory(model);
		return NULL;
	}
	model->stats.files++;
	file->pub.id = ++model->next_file_id;
	file->pub.made_by = made_by;
	file->pub.opened_ns = now_ns;
	file->pub.offset = file->position = -1;
	file->outside = file->pub.offset_shared = model->taken;
	file->refs = 1;
	return file;
}

static int set_path(struct file *file, const char *path, size_t bytes, uint64_t hash, uint32_t physical)
{
	char *copy = malloc(bytes + 1);

	if (!copy)
		return -1;
	memcpy(copy, path, bytes);
	copy[bytes] = '\0';
	free(file->pub.path);
	file->pub.path = copy;
	file->pub.path_hash = hash;
	file->physical = physical;
	file->solid = (uint32_t)bytes;
	file->phase = (uint8_t)startup_path_phase(copy, bytes, 0);
	return 0;
}

int file_set_path(struct file *file, const char *path, size_t bytes, uint32_t physical)
{
	bytes = strnlen(path, bytes);
	return set_path(file, path, bytes, map_hash(path, bytes), physical);
}

int file_take_path(struct file *file, const struct resolved *path)
{
	int r = set_path(file, path->pub.text, path->pub.bytes, path->pub.hash, path->physical);

	if (r == 0)
		file->solid = path->solid;
	return r;
}

void file_unref(struct model *model, struct file *file)
{
	if (!file)
		return;
	if (--file->refs > 0) {
		/* One descriptor is left, so one process. */
		if (file->refs == 1)
			file->pub.offset_shared = file->outside;
		return;
	}
	file->next = model->graves;
	model->graves = file;
}

void files_bury(struct model *model)
{
	while (model->graves) {
		struct file *file = model->graves;

		model->graves = file->next;
		if (file->peer || file->peer_id)
			rights_bury(model, file);
		free(file->pub.path);
		free(file);
		model->stats.files--;
	}
}
