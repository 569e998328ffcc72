/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mount lines: those that follow each other become one mountinfo text, with
 * the numbers of parents as the kernel would give them.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "engine/script/script.h"

static int put_escaped(struct buf *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (strchr(" \t\n\\", text[i]))
			(void)buf_printf(out, "\\%03o", (unsigned)(unsigned char)text[i]);
		else
			(void)buf_putc(out, text[i]);
	}
	return out->failed ? -ENOMEM : 0;
}

/* The mount that a new one goes onto: the last with the longest point above. */
static size_t parent_of(const struct script *script, const char *point)
{
	size_t best = 0;
	size_t best_bytes = 0;

	for (size_t i = 0; i < script->points.used; i++) {
		size_t bytes = strcmp(script->points.at[i], "/") == 0 ? 0 : strlen(script->points.at[i]);

		if (strncmp(script->points.at[i], point, bytes) == 0 && (point[bytes] == '/' || point[bytes] == '\0') &&
		    bytes >= best_bytes) {
			best = i + 1;
			best_bytes = bytes;
		}
	}
	return best;
}

struct mount_values {
	uint64_t ns;
	uint32_t pid;
};

/* mount DEV POINT TYPE SOURCE [pid=N] [ns=N] */
int script_mount_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("pid=", ID, struct mount_values, pid),
		SCRIPT_FIELD("ns=", NUMBER, struct mount_values, ns),
		SCRIPT_END,
	};
	struct script *script = scan->script;
	struct buf text[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	struct mount_values values = { 0 };
	uint64_t dev = 0;
	int r = scan_device(scan, &dev);

	for (unsigned i = 0; r == 0 && i < 3; i++) {
		scan_blanks(scan);
		r = scan_text(scan, &text[i], false);
	}
	if (r == 0)
		r = script_fields(scan, fields, &values, NULL, NULL);
	if (r == 0 && script->mounts.bytes > 0 && (values.pid != script->mounts_pid || values.ns != script->mounts_ns))
		r = state_mounts_end(script);
	if (r == 0) {
		const char *point = buf_text(&text[0]);

		script->mounts_pid = values.pid;
		script->mounts_ns = values.ns;
		(void)buf_printf(&script->mounts, "%zu %zu %u:%u / ", script->points.used + 1, parent_of(script, point),
				 major(dev), minor(dev));
		(void)put_escaped(&script->mounts, point, text[0].bytes);
		(void)buf_puts(&script->mounts, " rw - ");
		(void)put_escaped(&script->mounts, buf_text(&text[1]), text[1].bytes);
		(void)buf_putc(&script->mounts, ' ');
		(void)put_escaped(&script->mounts, buf_text(&text[2]), text[2].bytes);
		(void)buf_puts(&script->mounts, " rw\n");
		if (script->mounts.failed || !vec_grow(&script->points))
			r = script_no_memory(scan);
		else
			script->points.at[script->points.used++] = buf_steal(&text[0]);
	}
	for (unsigned i = 0; i < 3; i++)
		buf_done(&text[i]);
	return r;
}

int state_mounts_end(struct script *script)
{
	struct scan scan = { .script = script, .time_ns = script->now_ns };
	struct event_mounts *event = script_begin(&scan, EVENT_MOUNTS, script->mounts_pid);
	int r;

	if (!event)
		return -ENOMEM;
	event->head.pid = script->mounts_pid;
	event->ns_ino = script->mounts_ns;
	r = event_item_add(script_record(script), SYS_ITEM_MOUNTINFO, 0, 0, script->mounts.data, script->mounts.bytes);
	buf_clear(&script->mounts);
	while (script->points.used > 0)
		free(script->points.at[--script->points.used]);
	return r < 0 ? r : script_end(&scan);
}
