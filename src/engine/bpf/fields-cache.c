/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the fields are, kept for the rest of this boot, since to look for them
 * takes longer than a short command.  The programs read the kernel's memory at
 * what stands here: so the file has to be our own, never that of the user whom
 * sudo has made root, and whatever is wrong with it, it is not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/user-dir.h"
#include "engine/bpf/bpf.h"

#define NAME "kernel-fields"
#define HEADER "syscull kernel-fields 2"
#define BYTES_MAX 16384
#define OFFSET_MAX 65535
#define TYPE_MAX 10000000

static const struct {
	const char *name;
	size_t place; /* in struct kern_offsets */
} rows[] = {
#define ROW(name, type, member) { type "." member, offsetof(struct kern_offsets, name) },
	KERN_FIELDS(ROW)
#undef ROW
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const struct {
	const char *name;
	size_t place; /* in struct fields_types */
} types[] = {
#define TYPE(name, kind, type) { type, offsetof(struct fields_types, name) },
	FIELDS_TYPES(TYPE)
#undef TYPE
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

/* Which kernel, on one line; false when that is not known for certain. */
static bool kernel_line(char *ret, size_t room)
{
	struct buf boot = BUF_INIT;
	struct utsname host;
	size_t bytes;
	bool known = uname(&host) == 0 && buf_read_file(&boot, AT_FDCWD, "/proc/sys/kernel/random/boot_id", 256) == 0;

	if (known) {
		bytes = strcspn(buf_text(&boot), "\n");
		(void)snprintf(ret, room, "%.*s %s %s %s\n", (int)bytes, buf_text(&boot), host.release, host.version,
			       host.machine);
		known = bytes > 0;
	}
	buf_done(&boot);
	return known;
}

static bool take_text(const char **at, const char *text)
{
	size_t bytes = strlen(text);

	if (strncmp(*at, text, bytes) != 0)
		return false;
	*at += bytes;
	return true;
}

/* "NAME NUMBER\n" or "NAME -\n". */
static bool take_row(const char **at, const char *name, uint32_t most, uint32_t *ret)
{
	unsigned long value;
	char *end;

	if (!take_text(at, name) || !take_text(at, " "))
		return false;
	*ret = KERN_NO_FIELD;
	if (take_text(at, "-\n"))
		return true;
	if (**at < '0' || **at > '9')
		return false;
	value = strtoul(*at, &end, 10);
	if (*end != '\n' || value > most)
		return false;
	*at = end + 1;
	*ret = (uint32_t)value;
	return true;
}

static bool parse(const char *text, const char *kernel, struct kern_offsets *ret, struct fields_types *ret_types)
{
	const char *at = text;

	if (!take_text(&at, HEADER "\n") || !take_text(&at, kernel))
		return false;
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		uint32_t *type = (uint32_t *)(void *)((char *)ret_types + types[i].place);

		if (!take_row(&at, types[i].name, TYPE_MAX, type))
			return false;
		if (*type == KERN_NO_FIELD)
			*type = 0;
	}
	for (size_t i = 0; i < ROW_COUNT; i++)
		if (!take_row(&at, rows[i].name, OFFSET_MAX, (uint32_t *)(void *)((char *)ret + rows[i].place)))
			return false;
	return *at == '\0';
}

static bool open_own(struct user_dir *dir, bool make)
{
	if (user_dir_open(dir, "XDG_CACHE_HOME", ".cache", make) < 0)
		return false;
	if (!dir->as_other)
		return true;
	user_dir_close(dir);
	return false;
}

int fields_cache_read(struct kern_offsets *ret, struct fields_types *ret_types)
{
	struct buf text = BUF_INIT;
	struct user_dir dir;
	char kernel[512];
	int r = -ENOENT;

	if (!kernel_line(kernel, sizeof kernel) || !open_own(&dir, false))
		return -ENOENT;
	if (user_dir_read(&dir, NAME, &text, BYTES_MAX) == 0 && strlen(buf_text(&text)) == text.bytes &&
	    parse(buf_text(&text), kernel, ret, ret_types))
		r = 0;
	buf_done(&text);
	user_dir_close(&dir);
	return r;
}

/* A number, or "-" for what is not there. */
static void put_row(struct buf *text, const char *name, uint32_t value, uint32_t none)
{
	(void)(value != none ? buf_printf(text, "%s %" PRIu32 "\n", name, value) : buf_printf(text, "%s -\n", name));
}

void fields_cache_write(const struct kern_offsets *offsets, const struct fields_types *found)
{
	struct buf text = BUF_INIT;
	struct user_dir dir;
	char kernel[512];

	if (!kernel_line(kernel, sizeof kernel) || !open_own(&dir, true))
		return;
	(void)buf_printf(&text, HEADER "\n%s", kernel);
	for (size_t i = 0; i < TYPE_COUNT; i++)
		put_row(&text, types[i].name, *(const uint32_t *)(const void *)((const char *)found + types[i].place),
			0);
	for (size_t i = 0; i < ROW_COUNT; i++)
		put_row(&text, rows[i].name, *(const uint32_t *)(const void *)((const char *)offsets + rows[i].place),
			KERN_NO_FIELD);
	/* A folder that cannot be written is no error. */
	if (!text.failed)
		(void)user_dir_write(&dir, NAME, text.data, text.bytes);
	buf_done(&text);
	user_dir_close(&dir);
}
