/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs and lists behind arguments: "{dev=8:1 ino=5}" and "[3, 4]" become
 * items in the layouts of event/record.h.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "engine/script/script.h"

enum field_type { FIELD_U64, FIELD_U32, FIELD_U16, FIELD_DEV, FIELD_RDEV, FIELD_TIME };

struct field {
	const char *name;
	uint16_t at;
	uint8_t type; /* enum field_type */
};

struct struct_layout {
	uint8_t item;
	uint16_t bytes;
	uint16_t most; /* elements */
	struct field fields[13];
};

#define F(struct_, name, type) \
	{ \
#name, offsetof(struct struct_, name), FIELD_##type \
	}

static const struct struct_layout structs[] = {
	{ SYS_ITEM_STAT,
	  sizeof(struct item_stat),
	  1,
	  { F(item_stat, dev, DEV),
	    F(item_stat, ino, U64),
	    F(item_stat, size, U64),
	    { "mtime", offsetof(struct item_stat, mtime_ns), FIELD_TIME },
	    { "ctime", offsetof(struct item_stat, ctime_ns), FIELD_TIME },
	    F(item_stat, mnt_id, U64),
	    F(item_stat, mode, U32),
	    F(item_stat, nlink, U32),
	    F(item_stat, uid, U32),
	    F(item_stat, gid, U32),
	    { "rdev", offsetof(struct item_stat, rdev_major), FIELD_RDEV },
	    F(item_stat, mask, U32) } },
	{ SYS_ITEM_TIMES, sizeof(struct item_time), 2, { F(item_time, sec, U64), F(item_time, nsec, U64) } },
	{ SYS_ITEM_TIMEOUT, sizeof(struct item_time), 1, { F(item_time, sec, U64), F(item_time, nsec, U64) } },
	{ SYS_ITEM_ITIMER, sizeof(struct item_time), 2, { F(item_time, sec, U64), F(item_time, nsec, U64) } },
	{ SYS_ITEM_SIGACTION,
	  sizeof(struct item_sigaction),
	  1,
	  { F(item_sigaction, handler, U64), F(item_sigaction, flags, U64), F(item_sigaction, restorer, U64),
	    F(item_sigaction, mask, U64) } },
	{ SYS_ITEM_POLLFDS,
	  sizeof(struct item_pollfd),
	  64,
	  { F(item_pollfd, fd, U32), F(item_pollfd, events, U16), F(item_pollfd, revents, U16) } },
	{ SYS_ITEM_EPOLL_EVENT,
	  sizeof(struct item_epoll_event),
	  1,
	  { F(item_epoll_event, events, U32), F(item_epoll_event, data, U64) } },
	{ SYS_ITEM_EPOLL_EVENTS,
	  sizeof(struct item_epoll_event),
	  16,
	  { F(item_epoll_event, events, U32), F(item_epoll_event, data, U64) } },
	{ SYS_ITEM_FLOCK,
	  sizeof(struct item_flock),
	  1,
	  { F(item_flock, start, U64), F(item_flock, len, U64), F(item_flock, pid, U32), F(item_flock, type, U16),
	    F(item_flock, whence, U16) } },
	{ SYS_ITEM_SOCKOPT, 4, 1, { { "value", 0, FIELD_U32 } } },
	{ SYS_ITEM_RLIMIT, sizeof(struct item_rlimit), 1, { F(item_rlimit, soft, U64), F(item_rlimit, hard, U64) } },
	{ SYS_ITEM_IOVEC, sizeof(struct item_iovec), 1, { F(item_iovec, count, U64), F(item_iovec, total, U64) } },
	{ SYS_ITEM_MSG,
	  sizeof(struct item_msg),
	  1,
	  { F(item_msg, count, U64), F(item_msg, total, U64), F(item_msg, control, U64), F(item_msg, flags, U32),
	    F(item_msg, messages, U32) } },
	{ SYS_ITEM_CLONE,
	  sizeof(struct item_clone),
	  1,
	  { F(item_clone, flags, U64), F(item_clone, exit_signal, U64) } },
	{ SYS_ITEM_OPEN_HOW,
	  sizeof(struct item_open_how),
	  1,
	  { F(item_open_how, flags, U64), F(item_open_how, mode, U64), F(item_open_how, resolve, U64) } },
	{ SYS_ITEM_XATTR_ARGS,
	  sizeof(struct item_xattr_args),
	  1,
	  { F(item_xattr_args, value, U64), F(item_xattr_args, size, U32), F(item_xattr_args, flags, U32) } },
};

static const struct struct_layout *layout_of(uint8_t item)
{
	for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++) {
		if (structs[i].item == item)
			return &structs[i];
	}
	return NULL;
}

static int add(struct scan *scan, struct buf *record, uint8_t item, unsigned arg, const void *data, size_t bytes)
{
	if (scan->script->items && !(scan->script->items >> item & 1))
		return 0;
	if (event_item_add(record, (enum sys_item)item, arg, 0, data, bytes) < 0)
		return error_errno(scan->err, ENOMEM, "%s", scan->script->name);
	return 0;
}

static int scan_field(struct scan *scan, const struct field *field, char *data)
{
	uint64_t value = 0;
	uint32_t pair[2];
	uint32_t u32;
	uint16_t u16;
	int r;

	if (field->type == FIELD_DEV || field->type == FIELD_RDEV)
		r = scan_device(scan, &value);
	else if (field->type == FIELD_TIME)
		r = scan_time(scan, &value);
	else
		r = scan_number(scan, &value);
	if (r < 0)
		return r;
	switch ((enum field_type)field->type) {
	case FIELD_U32:
		u32 = (uint32_t)value;
		memcpy(data + field->at, &u32, sizeof(u32));
		break;
	case FIELD_U16:
		u16 = (uint16_t)value;
		memcpy(data + field->at, &u16, sizeof(u16));
		break;
	case FIELD_RDEV:
		pair[0] = major(value);
		pair[1] = minor(value);
		memcpy(data + field->at, pair, sizeof(pair));
		break;
	case FIELD_U64:
	case FIELD_DEV:
	case FIELD_TIME:
		memcpy(data + field->at, &value, sizeof(value));
		break;
	}
	return 0;
}

static int scan_list(struct scan *scan, uint64_t *out, unsigned most, unsigned *ret_count);

/* Behind "{".  A time may stand alone: {5ms}. */
static int scan_struct(struct scan *scan, struct buf *record, const struct struct_layout *layout, unsigned arg,
		       char *data)
{
	if ((layout->item == SYS_ITEM_TIMEOUT || layout->item == SYS_ITEM_TIMES || layout->item == SYS_ITEM_ITIMER) &&
	    scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
		struct item_time time;
		uint64_t ns;
		int r = scan_time(scan, &ns);

		if (r < 0)
			return r;
		time.sec = (int64_t)(ns / 1000000000);
		time.nsec = (int64_t)(ns % 1000000000);
		memcpy(data, &time, sizeof(time));
		return scan_char(scan, '}') ? 0 : scan_fail(scan, "'}'");
	}
	while (!scan_char(scan, '}')) {
		const char *word;
		size_t bytes = scan_word(scan, &word);
		const struct field *field = layout->fields;
		int r;

		if (bytes == 0 || !scan_char(scan, '=')) {
			scan->at = word;
			return scan_fail(scan, "NAME=VALUE or '}'");
		}
		if (layout->item == SYS_ITEM_MSG && bytes == 6 && memcmp(word, "rights", 6) == 0) {
			uint64_t fds[64];
			int32_t rights[64];
			unsigned count;

			r = scan_list(scan, fds, 64, &count);
			for (unsigned i = 0; r == 0 && i < count; i++)
				rights[i] = (int32_t)fds[i];
			if (r == 0)
				r = add(scan, record, SYS_ITEM_RIGHTS, arg, rights, count * sizeof(rights[0]));
			if (r < 0)
				return r;
			(void)scan_char(scan, ',');
			continue;
		}
		while (field->name && !(strncmp(field->name, word, bytes) == 0 && field->name[bytes] == '\0'))
			field++;
		if (!field->name) {
			scan->at = word;
			return scan_fail(scan, "a field of this struct (value.c has the lists)");
		}
		r = scan_field(scan, field, data);
		if (r < 0)
			return r;
		(void)scan_char(scan, ',');
	}
	return 0;
}

/* "[3, 4]", also with blanks alone. */
static int scan_list(struct scan *scan, uint64_t *out, unsigned most, unsigned *ret_count)
{
	*ret_count = 0;
	if (!scan_char(scan, '['))
		return scan_fail(scan, "'['");
	while (!scan_char(scan, ']')) {
		int r;

		if (*ret_count == most)
			return scan_fail(scan, "fewer elements");
		r = scan_number(scan, &out[*ret_count]);
		if (r < 0)
			return r;
		++*ret_count;
		(void)scan_char(scan, ',');
	}
	return 0;
}

static int number_items(struct scan *scan, struct buf *record, uint8_t item, unsigned arg)
{
	uint64_t list[64];
	unsigned count;
	unsigned char bits[128] = { 0 };
	int32_t fds[64];
	uint64_t set = 0;
	size_t bytes = 0;
	int r = scan_list(scan, list, 64, &count);

	if (r < 0)
		return r;
	switch (item) {
	case SYS_ITEM_FDPAIR:
	case SYS_ITEM_RIGHTS:
	case SYS_ITEM_PIDFD:
		for (unsigned i = 0; i < count; i++)
			fds[i] = (int32_t)list[i];
		return add(scan, record, item, arg, fds, count * sizeof(fds[0]));
	case SYS_ITEM_OFFSET:
		return add(scan, record, item, arg, list, count * sizeof(list[0]));
	case SYS_ITEM_SIGSET:
		for (unsigned i = 0; i < count; i++)
			set |= list[i] >= 1 && list[i] <= 64 ? UINT64_C(1) << (list[i] - 1) : 0;
		return add(scan, record, item, arg, &set, sizeof(set));
	case SYS_ITEM_FDSET:
		for (unsigned i = 0; i < count; i++) {
			if (list[i] >= sizeof(bits) * 8)
				return scan_fail(scan, "descriptors below 1024");
			bits[list[i] / 8] |= (unsigned char)(1u << list[i] % 8);
			if (bytes < list[i] / 8 + 1)
				bytes = list[i] / 8 + 1;
		}
		return add(scan, record, item, arg, bits, bytes);
	default:
		return scan_fail(scan, "no list here");
	}
}

/* {unix "/run/x"} */
static int sockaddr_items(struct scan *scan, struct buf *record, unsigned arg)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct buf path = BUF_INIT;
	int r;

	if (!scan_literal(scan, "unix"))
		return scan_fail(scan, "unix \"PATH\", or a text with the raw bytes instead of {…}");
	r = scan_text(scan, &path, false);
	if (r == 0 && path.bytes >= sizeof(address.sun_path))
		r = scan_fail(scan, "a path below 108 bytes");
	if (r == 0) {
		if (path.bytes > 0)
			memcpy(address.sun_path, path.data, path.bytes);
		r = add(scan, record, SYS_ITEM_SOCKADDR, arg, &address,
			offsetof(struct sockaddr_un, sun_path) + path.bytes + 1);
	}
	buf_done(&path);
	if (r < 0)
		return r;
	return scan_char(scan, '}') ? 0 : scan_fail(scan, "'}'");
}

int value_items(struct scan *scan, struct buf *record, uint8_t item, unsigned arg)
{
	const struct struct_layout *layout = layout_of(item);
	_Alignas(8) char data[16 * sizeof(struct item_stat)] = { 0 };
	uint16_t count = 0;
	bool list;
	int r;

	if (item == SYS_ITEM_SOCKADDR && scan_char(scan, '{'))
		return sockaddr_items(scan, record, arg);
	if (!layout)
		return number_items(scan, record, item, arg);
	list = scan_char(scan, '[');
	do {
		char *element = data + (size_t)count * layout->bytes;

		if (list && scan_char(scan, ']'))
			break;
		if (count == layout->most)
			return scan_fail(scan, "fewer elements");
		if (!scan_char(scan, '{'))
			return scan_fail(scan, "'{'");
		if (item == SYS_ITEM_STAT)
			((struct item_stat *)(void *)data)->mask = 0x7ff; /* STATX_BASIC_STATS */
		if (item == SYS_ITEM_MSG)
			((struct item_msg *)(void *)data)->messages = 1;
		r = scan_struct(scan, record, layout, arg, element);
		if (r < 0)
			return r;
		count++;
		(void)scan_char(scan, ',');
	} while (list);
	/* A comma behind a single struct belongs to the arguments. */
	if (!list && scan->at[-1] == ',')
		scan->at--;
	return add(scan, record, item, arg, data, (size_t)count * layout->bytes);
}
