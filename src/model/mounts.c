/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mount tables, read from mountinfo as the kernel writes it.  The text comes
 * with a record and may hold anything: a line that is not understood is left
 * out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "model/state.h"

/* Namespaces that are told apart by number. */
#define NAMESPACES_MAX 4096
/* Above so many mounts hidden ones are not looked for: it takes n * n steps. */
#define HIDING_MAX 512

struct line {
	uint32_t id, parent;
	uint32_t order;
	bool hidden;
	const struct mount *mount;
};

struct lines {
	VEC(struct line) at;
};

/* In place: \040 and kin.  The new length. */
static size_t unescape(char *text, size_t bytes)
{
	size_t to = 0;

	for (size_t i = 0; i < bytes; i++, to++) {
		const char *d = text + i + 1;

		if (text[i] == '\\' && bytes - i > 3 && d[0] >= '0' && d[0] <= '3' && d[1] >= '0' && d[1] <= '7' &&
		    d[2] >= '0' && d[2] <= '7') {
			text[to] = (char)((d[0] - '0') * 64 + (d[1] - '0') * 8 + (d[2] - '0'));
			i += 3;
		} else {
			text[to] = text[i];
		}
	}
	return to;
}

static const struct mount *mount_keep(struct model *model, uint64_t dev, char *const text[3], const size_t bytes[3])
{
	uint64_t key = map_mix(map_hash(text[0], bytes[0]),
			       map_mix(map_hash(text[1], bytes[1]), map_mix(map_hash(text[2], bytes[2]), dev)));
	struct mount **place = map_get(&model->mount_by_hash, key);
	struct mount *mount;

	if (place)
		return *place;
	mount = calloc(1, sizeof(*mount));
	if (!mount) {
		(void)model_no_memory(model);
		return NULL;
	}
	mount->pub.dev = dev;
	mount->pub.point = (char *)(uintptr_t)text_keep(model, text[0], bytes[0]);
	mount->pub.type = (char *)(uintptr_t)text_keep(model, text[1], bytes[1]);
	mount->pub.source = (char *)(uintptr_t)text_keep(model, text[2], bytes[2]);
	mount->point_bytes = (uint32_t)(bytes[0] == 1 ? 0 : bytes[0]);
	if (!mount->pub.point || !mount->pub.type || !mount->pub.source) {
		free(mount);
		return NULL;
	}
	place = map_put(&model->mount_by_hash, key, NULL);
	if (!place) {
		free(mount);
		if (model->mount_by_hash.used >= model->mount_by_hash.most)
			(void)model_lose(model, "mounts");
		else
			(void)model_no_memory(model);
		return NULL;
	}
	*place = mount;
	return mount;
}

static bool parse_number(const char **at, const char *end, uint32_t *ret)
{
	const char *start = *at;
	uint64_t number = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		number = number * 10 + (uint64_t)(**at - '0');
		if (number > UINT32_MAX)
			return false;
	}
	*ret = (uint32_t)number;
	return *at > start;
}

/* "36 35 98:0 /root /point rw,noatime shared:1 - ext3 /dev/root rw" */
static int parse_line(struct model *model, struct lines *lines, char *text, size_t bytes)
{
	const char *end = text + bytes;
	const char *at = text;
	struct line line = { .order = (uint32_t)lines->at.used };
	uint32_t major, minor;
	char *field[3] = { NULL };
	size_t length[3] = { 0 };
	unsigned n = 0;
	bool dash = false;

	if (!parse_number(&at, end, &line.id) || at++ == end || !parse_number(&at, end, &line.parent) || at++ == end ||
	    !parse_number(&at, end, &major) || at == end || *at++ != ':' || !parse_number(&at, end, &minor) ||
	    at == end)
		return 0;
	while (at < end) {
		const char *space;
		char *word;
		size_t word_bytes;

		if (*at == ' ') {
			at++;
			continue;
		}
		space = memchr(at, ' ', (size_t)(end - at));
		word = text + (at - text);
		word_bytes = (size_t)((space ? space : end) - at);
		at += word_bytes;
		/* 0 root, 1 point, 2 options, then any number until "-", then type and source. */
		if (n == 1) {
			field[0] = word;
			length[0] = word_bytes;
		} else if (n >= 3 && !dash && word_bytes == 1 && *word == '-') {
			dash = true;
			n = 99;
		} else if (dash && (n == 100 || n == 101)) {
			field[n - 99] = word;
			length[n - 99] = word_bytes;
		}
		n++;
	}
	if (!field[0] || !field[1])
		return 0;
	/* An empty source is two spaces in a row. */
	if (!field[2])
		field[2] = text;
	for (unsigned i = 0; i < 3; i++)
		length[i] = unescape(field[i], length[i]);
	if (length[0] == 0 || field[0][0] != '/')
		return 0;
	if (lines->at.used >= model->limits.mounts)
		return model_lose(model, "mounts");
	line.mount = mount_keep(model, makedev(major, minor), field, length);
	if (line.mount && !vec_push(&lines->at, line))
		return model_no_memory(model);
	return 0;
}

static bool is_above(const struct mount *upper, const struct mount *lower)
{
	return upper->point_bytes < lower->point_bytes &&
	       memcmp(upper->pub.point, lower->pub.point, upper->point_bytes) == 0 &&
	       lower->pub.point[upper->point_bytes] == '/';
}

/* What was mounted over a directory above a mount point, on the same parent,
 * came later and hides it, and all that is mounted on what is hidden. */
static void find_hidden(struct lines *lines)
{
	struct line *at = lines->at.at;
	size_t used = lines->at.used;
	bool again = used <= HIDING_MAX;

	for (size_t i = 0; again && i < used; i++) {
		for (size_t j = 0; j < used && !at[i].hidden; j++)
			at[i].hidden = j != i && at[j].parent == at[i].parent && is_above(at[j].mount, at[i].mount);
	}
	while (again) {
		again = false;
		for (size_t i = 0; i < used; i++) {
			for (size_t j = 0; j < used && !at[i].hidden; j++) {
				if (at[j].hidden && j != i && at[i].parent == at[j].id)
					again = at[i].hidden = true;
			}
		}
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *one = a;
	const struct line *two = b;

	if (one->mount->point_bytes != two->mount->point_bytes)
		return one->mount->point_bytes < two->mount->point_bytes ? 1 : -1;
	return one->order < two->order ? 1 : -1;
}

static int parse(struct model *model, struct mounts *mounts, const char *text, size_t bytes, const char *root)
{
	struct lines lines = { { 0 } };
	char *copy = malloc(bytes + 1);
	char *own_root = root ? strdup(root) : NULL;
	int r = 0;

	if (!copy || (root && !own_root)) {
		free(copy);
		free(own_root);
		return model_no_memory(model);
	}
	memcpy(copy, text, bytes);
	for (size_t at = 0; at < bytes && r == 0;) {
		const char *newline = memchr(copy + at, '\n', bytes - at);
		size_t line_bytes = newline ? (size_t)(newline - copy) - at : bytes - at;

		r = parse_line(model, &lines, copy + at, line_bytes);
		at += line_bytes + 1;
	}
	find_hidden(&lines);
	if (lines.at.used > 0)
		qsort(lines.at.at, lines.at.used, sizeof(lines.at.at[0]), compare_lines);
	mounts->list.used = 0;
	memset(mounts->areas, 0, sizeof(mounts->areas));
	for (size_t i = 0; i < lines.at.used; i++) {
		if (!lines.at.at[i].hidden && !vec_push(&mounts->list, lines.at.at[i].mount))
			r = model_no_memory(model);
	}
	vec_done(&lines.at);
	free(copy);
	free(mounts->root);
	mounts->root = own_root;
	return r;
}

static struct mounts *mounts_new(void)
{
	struct mounts *mounts = calloc(1, sizeof(*mounts));

	if (mounts)
		mounts->refs = 1;
	return mounts;
}

/* For a namespace of its own whose number is not known yet. */
struct mounts *mounts_copy(const struct mounts *from)
{
	struct mounts *mounts = mounts_new();

	if (!mounts)
		return NULL;
	if (from->root && !(mounts->root = strdup(from->root)))
		goto failed;
	for (size_t i = 0; i < from->list.used; i++) {
		if (!vec_push(&mounts->list, from->list.at[i]))
			goto failed;
	}
	return mounts;
failed:
	vec_done(&mounts->list);
	free(mounts->root);
	free(mounts);
	return NULL;
}

void mounts_unref(struct model *model, struct mounts *mounts)
{
	if (!mounts || --mounts->refs > 0)
		return;
	for (size_t i = 0; mounts->ns_ino && i < model->namespaces.used; i++) {
		if (model->namespaces.at[i] == mounts) {
			model->namespaces.at[i] = model->namespaces.at[--model->namespaces.used];
			break;
		}
	}
	vec_done(&mounts->list);
	free(mounts->root);
	free(mounts);
}

int mounts_feed(struct model *model, struct task *task, const struct event_mounts *event)
{
	const struct event_item *item = event_item(&event->head, SYS_ITEM_MOUNTINFO);
	struct mounts **place = task ? &task->proc->mounts : &model->default_mounts;
	const char *root = task && task->dirs && task->dirs->root ? task->dirs->root : "";
	struct mounts *known = NULL;

	if (!item || task == &model->stranger)
		return 0;
	for (size_t i = 0; event->ns_ino && !known && i < model->namespaces.used; i++) {
		if (model->namespaces.at[i]->ns_ino == event->ns_ino)
			known = model->namespaces.at[i];
	}
	if (known && known != *place) {
		known->refs++;
		mounts_unref(model, *place);
		*place = known;
	} else if (*place && event->ns_ino && (*place)->ns_ino && (*place)->ns_ino != event->ns_ino) {
		mounts_unref(model, *place);
		*place = NULL;
	}
	if (!*place)
		*place = mounts_new();
	if (!*place)
		return model_no_memory(model);
	if (event->ns_ino && !(*place)->ns_ino && model->namespaces.used < NAMESPACES_MAX) {
		if (!vec_push(&model->namespaces, *place))
			return model_no_memory(model);
		(*place)->ns_ino = event->ns_ino;
	}
	return parse(model, *place, event_item_data(item), item->bytes, root);
}

static bool is_mounted_below(const struct mounts *mounts, const char *folder, size_t bytes)
{
	for (size_t i = 0; i < mounts->list.used; i++) {
		const struct mount *mount = mounts->list.at[i];

		if (mount->point_bytes >= bytes && memcmp(mount->pub.point, folder, bytes) == 0)
			return true;
	}
	return false;
}

/* The largest folder around the path in which nothing is mounted. */
static void learn_area(struct mounts *mounts, const char *path, const struct mount *mount)
{
	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		size_t bytes = (size_t)(slash - path) + 1;
		struct area *area = &mounts->areas[mounts->next_area % MODEL_AREAS];

		if (bytes > sizeof(area->text))
			return;
		if (is_mounted_below(mounts, path, bytes))
			continue;
		mounts->next_area++;
		area->mount = mount;
		area->bytes = (uint32_t)bytes;
		memcpy(area->text, path, bytes);
		return;
	}
}

const struct mount *mounts_find(struct mounts *mounts, const char *path)
{
	size_t bytes = mounts->root ? strlen(mounts->root) : 0;

	if (*path != '/' || (bytes > 0 && strncmp(path, mounts->root, bytes) != 0))
		return NULL;
	path += bytes;
	if (*path != '/' && *path != '\0')
		return NULL;
	bytes = strlen(path);
	for (size_t i = 0; i < MODEL_AREAS; i++) {
		const struct area *area = &mounts->areas[i];

		if (area->bytes > 0 && bytes >= area->bytes && memcmp(path, area->text, area->bytes) == 0)
			return area->mount;
	}
	for (size_t i = 0; i < mounts->list.used; i++) {
		const struct mount *mount = mounts->list.at[i];
		uint32_t point = mount->point_bytes;

		if (point <= bytes && (path[point] == '/' || path[point] == '\0') &&
		    memcmp(path, mount->pub.point, point) == 0) {
			learn_area(mounts, path, mount);
			return mount;
		}
	}
	return NULL;
}

void mounts_done(struct model *model)
{
	struct mount **mount;
	size_t iter = 0;

	mounts_unref(model, model->default_mounts);
	model->default_mounts = NULL;
	vec_done(&model->namespaces);
	while ((mount = map_next(&model->mount_by_hash, &iter, NULL)))
		free(*mount);
	map_done(&model->mount_by_hash);
}
