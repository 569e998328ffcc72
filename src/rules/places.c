/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the objects of a finding lie: folds many paths into the directory
 * that they have in common and counts how many there are.  Keeps hashes,
 * never the paths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "rules/rule.h"

int rule_places_init(struct rule_places *places, uint32_t room)
{
	*places = (struct rule_places){ .room = room };
	map_init(&places->seen, 0, room);
	return 0;
}

void rule_places_done(struct rule_places *places)
{
	if (!places)
		return;
	map_done(&places->seen);
}

void rule_places_relative(struct rule_places *places, const char *cwd)
{
	size_t bytes = cwd ? strlen(cwd) : 0;

	if (bytes == 0 || bytes >= sizeof places->base)
		bytes = 0;
	memcpy(places->base, cwd ? cwd : "", bytes);
	places->base[bytes] = '\0';
}

void rule_places_seal(struct rule_places *places)
{
	map_done(&places->seen);
}

/* Bytes of the path's directory: "/usr" of "/usr/lib", "/" of "/usr", "" of "usr". */
static size_t parent_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return 0;
	return slash == path ? 1 : (size_t)(slash - path);
}

/* Bytes of the longest directory that holds both, or is both. */
static size_t common_bytes(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t i = 0, last = a_bytes > 0 && b_bytes > 0 && a[0] == '/' && b[0] == '/' ? 1 : 0;

	while (i < a_bytes && i < b_bytes && a[i] == b[i]) {
		if (a[i] == '/' && i > 0)
			last = i;
		i++;
	}
	if ((i == a_bytes || a[i] == '/') && (i == b_bytes || b[i] == '/'))
		last = i;
	return last;
}

static void set_dir(struct rule_places *places, const char *path, size_t bytes)
{
	/* A directory too long to be told is told by a whole leading part. */
	if (bytes >= sizeof places->dir) {
		bytes = sizeof places->dir - 1;
		while (bytes > 1 && path[bytes] != '/')
			bytes--;
		places->mixed = true;
	}
	memmove(places->dir, path, bytes);
	places->dir[bytes] = '\0';
}

static void fold(struct rule_places *places, const char *path, uint64_t hash)
{
	size_t dir_bytes = strlen(places->dir), parent = parent_bytes(path), common;

	if (!places->started) {
		places->started = true;
		places->first_hash = hash;
		set_dir(places, path, parent);
		if (strlen(path) < sizeof places->first)
			(void)strcpy(places->first, path);
		return;
	}
	/* "d1k" and then what lies in it: a directory and its files. */
	if (places->first[0] && strlen(places->first) == parent && memcmp(places->first, path, parent) == 0) {
		set_dir(places, path, parent);
		places->itself = true;
		places->itself_hash = places->first_hash;
		places->first[0] = '\0';
		return;
	}
	places->first[0] = '\0';
	if (strcmp(path, places->dir) == 0) {
		places->itself = true;
		places->itself_hash = hash;
		return;
	}
	if (parent == dir_bytes && memcmp(path, places->dir, parent) == 0)
		return;
	common = common_bytes(places->dir, dir_bytes, path, parent);
	if (common < dir_bytes)
		places->itself = false;
	places->mixed = true;
	set_dir(places, path, common);
}

bool rule_places_add(struct rule_places *places, const char *path, uint64_t hash)
{
	if (places->room > 0) {
		bool fresh = false;

		if (map_get(&places->seen, hash))
			return false;
		if (!map_put(&places->seen, hash, &fresh)) {
			places->more = true;
			return false;
		}
	}
	places->distinct++;
	fold(places, path, hash);
	return true;
}

/* The directory as the user would type it; its own name when it is the base. */
static const char *told_dir(const struct rule_places *places)
{
	size_t bytes = strlen(places->base);

	if (bytes > 1 && strncmp(places->dir, places->base, bytes) == 0 && places->dir[bytes] == '/')
		return places->dir + bytes + 1;
	return places->dir;
}

char *rule_places_text(const struct rule_places *places, const char *noun_one, const char *noun_many)
{
	struct buf dir = BUF_INIT, text = BUF_INIT;
	uint64_t count = places->distinct;
	bool itself = places->itself && !places->mixed && count > 1;
	char number[TEXT_NUMBER_MAX], *result;

	if (itself)
		count--;
	(void)text_escape(&dir, told_dir(places), strlen(told_dir(places)), 0, true);
	(void)buf_printf(&text, "%s%s %s", places->more ? "at least " : "", text_count(count, number),
			 count == 1 ? noun_one : noun_many);
	if (dir.bytes > 0)
		(void)buf_printf(&text, " %s %s", places->mixed ? "below" : "in", buf_text(&dir));
	if (itself)
		(void)buf_printf(&text, " and %s itself", buf_text(&dir));
	result = text.failed || dir.failed ? NULL : buf_steal(&text);
	buf_done(&text);
	buf_done(&dir);
	return result;
}

char *rule_places_place(const struct rule_places *places)
{
	struct buf buf = BUF_INIT;
	char *place;

	/* Of paths that were not kept nothing is known. */
	if (!places->started || places->more)
		return NULL;
	if (places->first[0] && !places->mixed) {
		(void)buf_puts(&buf, places->first);
	} else {
		(void)buf_puts(&buf, places->dir);
		if (buf.bytes > 0 && buf.data[buf.bytes - 1] != '/')
			(void)buf_putc(&buf, '/');
	}
	place = buf.failed || buf.bytes == 0 ? NULL : buf_steal(&buf);
	buf_done(&buf);
	return place;
}

char *rule_places_name(const struct rule_places *places, const char *noun_one, const char *noun_many)
{
	struct buf text = BUF_INIT;
	char *name;

	if (places->distinct != 1 || places->more || !places->first[0])
		return rule_places_text(places, noun_one, noun_many);
	(void)text_escape(&text, places->first, strlen(places->first), 0, true);
	name = text.failed ? NULL : buf_steal(&text);
	buf_done(&text);
	return name;
}

const char *rule_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path)
		return "";
	return slash ? slash + 1 : path;
}
