/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Working directories, and paths resolved by their text alone.  Only what is
 * known to hold no symbolic link is walked back by "..": after a component
 * that may be one, ".." stays in the text.  A folder that was opened with
 * O_NOFOLLOW is none, so that who walks a tree up and down stays in its text.
 */
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

struct dirs *dirs_new(void)
{
	struct dirs *dirs = calloc(1, sizeof(*dirs));

	if (!dirs)
		return NULL;
	dirs->root = strdup("");
	if (!dirs->root) {
		free(dirs);
		return NULL;
	}
	dirs->refs = 1;
	return dirs;
}

struct dirs *dirs_copy(const struct dirs *from)
{
	struct dirs *dirs = calloc(1, sizeof(*dirs));

	if (!dirs)
		return NULL;
	dirs->refs = 1;
	dirs->cwd_physical = from->cwd_physical;
	dirs->cwd = from->cwd ? strdup(from->cwd) : NULL;
	dirs->root = from->root ? strdup(from->root) : NULL;
	if ((from->cwd && !dirs->cwd) || (from->root && !dirs->root)) {
		dirs_unref(dirs);
		return NULL;
	}
	return dirs;
}

void dirs_unref(struct dirs *dirs)
{
	if (!dirs || --dirs->refs > 0)
		return;
	free(dirs->cwd);
	free(dirs->root);
	free(dirs);
}

/* NULL or no absolute path: unknown from now on.  -1 only without memory. */
int dirs_set_cwd(struct dirs *dirs, const char *path, size_t bytes, uint32_t physical)
{
	bool known = path && bytes > 0 && bytes < MODEL_PATH_MAX && *path == '/';

	free(dirs->cwd);
	dirs->cwd = known ? strndup(path, bytes) : NULL;
	dirs->cwd_physical = physical;
	return known && !dirs->cwd ? -1 : 0;
}

int dirs_set_root(struct dirs *dirs, const char *path, size_t bytes)
{
	bool known = path && bytes < MODEL_PATH_MAX;

	while (known && bytes > 0 && path[bytes - 1] == '/')
		bytes--;
	free(dirs->root);
	dirs->root = known ? strndup(path, bytes) : NULL;
	return known && !dirs->root ? -1 : 0;
}

int dirs_feed(struct model *model, struct task *task, const struct event_dirs *event)
{
	size_t bytes;
	const char *text;
	int r = 0;

	if (task == &model->stranger)
		return 0;
	if (!task->dirs)
		task->dirs = dirs_new();
	if (!task->dirs)
		return model_no_memory(model);
	text = event_text(&event->head, SYS_ITEM_CWD, 0, &bytes);
	if (text && bytes > 0 && *text == '/')
		r = dirs_set_cwd(task->dirs, text, bytes, (uint32_t)bytes);
	text = event_text(&event->head, SYS_ITEM_PATH, 0, &bytes);
	if (text && bytes > 0 && *text == '/' && dirs_set_root(task->dirs, text, bytes) < 0)
		r = -1;
	return r < 0 ? model_no_memory(model) : 0;
}

static void as_passed(struct resolved *out)
{
	out->base_bytes = 0;
	out->standing = NULL;
	memcpy(out->text, out->passed, out->pub.passed_bytes + 1);
	out->pub.text = out->text;
	out->pub.bytes = out->pub.passed_bytes;
	out->pub.hash = map_hash(out->text, out->pub.bytes);
	out->pub.absolute = false;
	out->physical = 0;
	out->solid = out->before = out->pub.bytes;
}

/* Appends the components of `from`; false when there is no room. */
static bool append(struct resolved *out, const char *from, const char *end, size_t *at, size_t floor, size_t *physical)
{
	size_t n = *at;

	while (from < end) {
		const char *slash;
		size_t bytes;
		bool up;

		if (*from == '/') {
			/* At the end it follows links, as "." does. */
			out->before = out->solid;
			from++;
			continue;
		}
		slash = memchr(from, '/', (size_t)(end - from));
		bytes = (size_t)((slash ? slash : end) - from);
		if (bytes == 1 && from[0] == '.') {
			out->before = out->solid;
			from++;
			continue;
		}
		out->pub.components++;
		up = bytes == 2 && from[0] == '.' && from[1] == '.';
		if (up && (n <= *physical || n > out->solid)) {
			while (n > floor && out->text[--n] != '/')
				;
			*physical = *physical < n ? *physical : n;
			out->solid = out->solid < n ? out->solid : (uint32_t)n;
			out->before = out->solid;
			if (n < out->base_bytes) {
				out->base_bytes = 0;
				out->standing = NULL;
			}
		} else {
			if (n + 1 + bytes >= sizeof(out->text))
				return false;
			out->text[n++] = '/';
			memcpy(out->text + n, from, bytes);
			n += bytes;
			/* Where ".." led is not known. */
			out->before = up ? (uint32_t)n : out->solid;
			out->solid = (uint32_t)n;
		}
		from += bytes;
	}
	*at = n;
	return true;
}

void path_set_passed(struct resolved *out, const char *text, size_t bytes)
{
	if (bytes >= sizeof(out->passed))
		bytes = sizeof(out->passed) - 1;
	memcpy(out->passed, text, bytes);
	out->passed[bytes] = '\0';
	out->pub.passed_bytes = (uint32_t)bytes;
}

/* Most paths are relative to one of a few directories for a while. */
static const struct base *base_of(struct resolved *out, const char *text, size_t bytes)
{
	struct base *base;

	if (bytes == 0 || bytes > sizeof(base->text))
		return NULL;
	/* Mostly it is still the last one. */
	if (out->standing && out->standing->bytes == bytes && memcmp(out->standing->text, text, bytes) == 0)
		return out->standing;
	for (unsigned i = 0; i < MODEL_BASES; i++)
		if (out->bases[i].bytes == bytes && memcmp(out->bases[i].text, text, bytes) == 0)
			return &out->bases[i];
	base = &out->bases[out->next_base++ % MODEL_BASES];
	if (out->standing == base)
		out->standing = NULL;
	base->bytes = (uint32_t)bytes;
	base->hash = (struct map_prefix){ 0 };
	(void)map_hash_prefix(&base->hash, text, bytes);
	base->phase = (uint8_t)startup_path_phase(text, bytes, 0);
	memcpy(base->text, text, bytes);
	return base;
}

/* What was written a moment ago in pieces is slow to read in words: where it
 * can be, it is hashed where it came from. */
static uint64_t hash_of(const struct resolved *out, const char *text, size_t bytes)
{
	struct map_prefix prefix = { 0 };

	if (out->base_bytes == 0 && out->pub.bytes == bytes)
		return map_hash(text, bytes);
	if (out->base_bytes > 0)
		prefix = out->base->hash;
	return map_hash_prefix(&prefix, out->text, out->pub.bytes);
}

void path_resolve(struct resolved *out, const struct dirs *dirs, const char *base, uint32_t base_physical,
		  uint32_t base_solid, const char *text, size_t bytes, bool truncated)
{
	size_t at = 0;
	size_t physical = 0;
	size_t floor;
	const char *root = dirs ? dirs->root : NULL;

	bytes = strnlen(text, bytes);
	if (bytes >= sizeof(out->passed)) {
		bytes = sizeof(out->passed) - 1;
		truncated = true;
	}
	path_set_passed(out, text, bytes);
	out->pub.passed = out->passed;
	out->pub.components = 0;
	if (bytes > 0 && *text == '/') {
		base = root;
		base_physical = base_solid = UINT32_MAX;
	} else if (base && *base != '/') {
		base = NULL;
	}
	if (base && bytes > 0 && !truncated) {
		at = strlen(base);
		while (at > 0 && base[at - 1] == '/')
			at--;
		if (at + 1 < sizeof(out->text)) {
			out->base = base_of(out, base, at);
			if (!out->base || out->base != out->standing)
				memcpy(out->text, base, at);
			out->standing = out->base;
			out->base_bytes = out->base ? (uint32_t)at : 0;
			physical = base_physical < at ? base_physical : at;
			out->solid = out->before = base_solid < at ? base_solid : (uint32_t)at;
			/* ".." stops at the root of a task that is in it. */
			floor = root && *root ? strlen(root) : 0;
			if (floor > 0 && (floor > at || strncmp(out->text, root, floor) != 0))
				floor = 0;
			if (append(out, text, text + bytes, &at, floor, &physical)) {
				if (at == 0)
					out->text[at++] = '/';
				out->text[at] = '\0';
				out->pub.text = out->text;
				out->pub.bytes = (uint32_t)at;
				out->pub.hash = hash_of(out, text, bytes);
				out->pub.absolute = true;
				out->physical = (uint32_t)physical;
				return;
			}
		}
	}
	as_passed(out);
	/* What the kernel had to walk is known even so. */
	out->pub.components = 0;
	for (size_t i = 0; i < bytes; i++)
		out->pub.components += text[i] != '/' && (i == 0 || text[i - 1] == '/') &&
				       !(text[i] == '.' && (i + 1 == bytes || text[i + 1] == '/'));
}
