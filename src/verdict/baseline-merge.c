/* SPDX-License-Identifier: BSD-2-Clause */
/* A baseline follows what a program does: up by asking, down by asking. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "verdict/baseline.h"

/* Key → array of the entries that have it. */
static json_t *index_of(const json_t *list, const char *key)
{
	json_t *index = json_object(), *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(json_object_get(item, key));
		json_t *group = name ? json_object_get(index, name) : NULL;

		if (name && !group) {
			group = json_array();
			(void)json_object_set_new(index, name, group);
		}
		if (!group || json_array_append(group, item) < 0) {
			json_decref(index);
			return NULL;
		}
	}
	return index;
}

static uint64_t sum_of(const json_t *group, const char *count)
{
	uint64_t sum = 0;
	json_t *item;
	size_t i;

	json_array_foreach(group, i, item)
	{
		uint64_t value = (uint64_t)json_integer_value(json_object_get(item, count));

		sum = sum > UINT64_MAX - value ? UINT64_MAX : sum + value;
	}
	return sum;
}

/* Groups are taken whole: their entries are one thing told in parts. */
static int merge_list(enum baseline_merge how, const json_t *old, json_t *now, const char *list, const char *key,
		      const char *count)
{
	json_t *olds = index_of(json_object_get(old, list), key), *nows = index_of(json_object_get(now, list), key);
	json_t *merged = json_array(), *group;
	const char *name;
	int r = olds && nows && merged ? 0 : -ENOMEM;

	json_object_foreach(nows, name, group)
	{
		const json_t *before = json_object_get(olds, name);
		bool more = before && sum_of(before, count) > sum_of(group, count);
		bool fewer = before && sum_of(before, count) < sum_of(group, count);

		if (how == BASELINE_LOWER && !before)
			continue;
		if (json_array_extend(merged,
				      (how == BASELINE_RAISE ? more : fewer) ? (json_t *)(uintptr_t)before : group) < 0)
			r = -ENOMEM;
	}
	json_object_foreach(olds, name, group) if (how == BASELINE_RAISE && !json_object_get(nows, name) &&
						   json_array_extend(merged, group) < 0) r = -ENOMEM;
	json_decref(olds);
	json_decref(nows);
	if (json_object_set(now, list, merged) < 0)
		r = -ENOMEM;
	json_decref(merged);
	return r;
}

static int put(const char *bytes, size_t count, void *data)
{
	return buf_add(data, bytes, count) < 0 ? -1 : 0;
}

static void dump(struct buf *buf, const json_t *value)
{
	if (json_dump_callback(value, put, buf, JSON_ENCODE_ANY) < 0)
		buf->failed = true;
}

/* As reports are laid out: members and their elements begin a line each. */
static void dump_member(struct buf *buf, const char *key, const json_t *value)
{
	const char *name;
	json_t *item;
	size_t i, n = 0;

	(void)buf_printf(buf, "\n \"%s\": ", key);
	if (json_is_array(value) && json_array_size(value) > 0) {
		json_array_foreach(value, i, item)
		{
			(void)buf_puts(buf, i ? ",\n  " : "[\n  ");
			dump(buf, item);
		}
		(void)buf_puts(buf, "\n ]");
	} else if (json_is_object(value) && json_object_size(value) > 0) {
		json_object_foreach((json_t *)(uintptr_t)value, name, item)
		{
			json_t *text = json_string(name);

			(void)buf_puts(buf, n++ ? ",\n  " : "{\n  ");
			dump(buf, text);
			(void)buf_puts(buf, ": ");
			dump(buf, item);
			json_decref(text);
		}
		(void)buf_puts(buf, "\n }");
	} else {
		dump(buf, value);
	}
}

int baseline_merge(enum baseline_merge how, const char *old_name, const struct buf *old, const struct buf *now,
		   struct buf *ret, struct error *err)
{
	json_t *before = baseline_load(old_name, old->data ? old->data : "", old->bytes, err), *value;
	json_t *after = before ? baseline_load("this run's report", now->data ? now->data : "", now->bytes, err) : NULL;
	const char *key;
	int r = after ? 0 : -EINVAL;
	size_t n = 0;

	if (r == 0)
		r = merge_list(how, before, after, "calls", "name", "count");
	if (r == 0)
		r = merge_list(how, before, after, "findings", "fingerprint", "calls");
	(void)buf_putc(ret, '{');
	json_object_foreach(after, key, value)
	{
		if (n++)
			(void)buf_putc(ret, ',');
		dump_member(ret, key, value);
	}
	(void)buf_puts(ret, "\n}\n");
	json_decref(before);
	json_decref(after);
	if (r == 0 && ret->failed)
		r = -ENOMEM;
	return r == -ENOMEM ? error_errno(err, ENOMEM, "merging the baseline") : r;
}
