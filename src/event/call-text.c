/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/call-text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "sys/flags.h"

#define STRING_MAX 96 /* bytes of a string that a report shows */

enum style { STYLE_INT, STYLE_LONG, STYLE_UNSIGNED, STYLE_HEX, STYLE_OCTAL, STYLE_FD, STYLE_POINTER };

static enum style style_of(const char *kind)
{
	static const struct {
		const char *kind;
		enum style style;
	} styles[] = {
		{ "int", STYLE_INT },	     { "uint", STYLE_UNSIGNED }, { "long", STYLE_LONG },
		{ "ulong", STYLE_UNSIGNED }, { "size", STYLE_UNSIGNED }, { "off", STYLE_LONG },
		{ "fd", STYLE_FD },	     { "dirfd", STYLE_FD },	 { "pidfd", STYLE_INT },
		{ "pid", STYLE_INT },	     { "uid", STYLE_INT },	 { "gid", STYLE_INT },
		{ "mode", STYLE_OCTAL },     { "signal", STYLE_INT },	 { "clock", STYLE_INT },
		{ "ms", STYLE_INT },	     { "whence", STYLE_INT },	 { "fcntl_cmd", STYLE_INT },
		{ "futex_op", STYLE_INT },   { "family", STYLE_INT },	 { "ptr", STYLE_POINTER },
		{ "buf", STYLE_POINTER },    { "text", STYLE_POINTER },	 { "access_mode", STYLE_INT },
	};

	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		if (strcmp(styles[i].kind, kind) == 0)
			return styles[i].style;
	return STYLE_HEX;
}

/* Without printf: a rule can have one such line for each file of a walk. */
static void put_number(struct buf *out, uint64_t value, unsigned base)
{
	char digits[24];
	size_t at = sizeof digits;

	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value > 0);
	(void)buf_add(out, digits + at, sizeof digits - at);
}

static void put_signed(struct buf *out, int64_t value)
{
	if (value < 0)
		(void)buf_putc(out, '-');
	put_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static void put_hex(struct buf *out, uint64_t value)
{
	(void)buf_puts(out, "0x");
	put_number(out, value, 16);
}

static void put_octal(struct buf *out, uint32_t value)
{
	(void)buf_putc(out, '0');
	put_number(out, value, 8);
}

static void put_pointer(struct buf *out, uint64_t value, bool full)
{
	if (value == 0)
		(void)buf_puts(out, "NULL");
	else if (full)
		put_hex(out, value);
	else
		(void)buf_puts(out, "...");
}

static void put_scalar(struct buf *out, const char *kind, uint64_t value, bool full)
{
	switch (style_of(kind)) {
	case STYLE_INT:
		put_signed(out, (int32_t)value);
		break;
	case STYLE_LONG:
		put_signed(out, (int64_t)value);
		break;
	case STYLE_UNSIGNED:
		put_number(out, value, 10);
		break;
	case STYLE_OCTAL:
		put_octal(out, (uint32_t)value);
		break;
	case STYLE_FD:
		if ((int32_t)value == AT_FDCWD)
			(void)buf_puts(out, "AT_FDCWD");
		else
			put_signed(out, (int32_t)value);
		break;
	case STYLE_POINTER:
		put_pointer(out, value, full);
		break;
	case STYLE_HEX:
		if (value == 0)
			(void)buf_putc(out, '0');
		else
			put_hex(out, value);
		break;
	}
}

static void put_string(struct buf *out, const struct event_item *item, bool full)
{
	size_t bytes = full || item->bytes < STRING_MAX ? item->bytes : STRING_MAX;

	(void)buf_putc(out, '"');
	(void)text_escape(out, event_item_data(item), bytes, '"', !full);
	(void)buf_putc(out, '"');
	if (bytes < item->bytes || (item->flags & EVENT_ITEM_TRUNCATED))
		(void)buf_puts(out, "...");
}

static void put_mode(struct buf *out, uint32_t mode, bool full)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {
		{ S_IFREG, "S_IFREG" }, { S_IFDIR, "S_IFDIR" }, { S_IFLNK, "S_IFLNK" },	  { S_IFCHR, "S_IFCHR" },
		{ S_IFBLK, "S_IFBLK" }, { S_IFIFO, "S_IFIFO" }, { S_IFSOCK, "S_IFSOCK" },
	};

	for (size_t i = 0; full && i < sizeof types / sizeof *types; i++) {
		if ((mode & S_IFMT) == types[i].type) {
			(void)buf_printf(out, "%s|", types[i].name);
			mode &= ~(uint32_t)S_IFMT;
			break;
		}
	}
	put_octal(out, mode);
}

static void put_clone(struct buf *out, const struct item_clone *clone)
{
	char name[SYS_NAME_MAX];

	(void)buf_puts(out, "{flags=");
	if (clone->flags == 0 || !sys_value_put(out, CALL_clone, 0, clone->flags))
		put_hex(out, clone->flags);
	(void)buf_puts(out, ", exit_signal=");
	if (clone->exit_signal > 0 && clone->exit_signal < 65)
		(void)buf_puts(out, sys_signal_print((int)clone->exit_signal, name));
	else
		put_number(out, clone->exit_signal, 10);
	(void)buf_puts(out, ", ...}");
}

/* "<…>" behind a descriptor, as strace -y has it. */
static void put_file(struct buf *out, const char *path)
{
	if (!path)
		return;
	(void)buf_putc(out, '<');
	(void)text_escape(out, path, strlen(path), '>', false);
	(void)buf_putc(out, '>');
}

static void put_arg(struct buf *out, const struct event_call *event, enum sys_call_id id, unsigned arg, bool full)
{
	const struct sys_call *call = sys_call(id);
	const struct sys_kind *kind = sys_kind(call->args[arg].kind);
	const struct event_item *item;
	const struct item_stat *stat;

	if (!kind || kind->item == SYS_ITEM_NONE) {
		if (!sys_value_put(out, id, arg, event->args[arg]))
			put_scalar(out, kind ? kind->name : "hex", event->args[arg], full);
		return;
	}
	item = event_item_arg(&event->head, (enum sys_item)kind->item, arg);
	if (item && kind->shape == SYS_STRING) {
		put_string(out, item, full);
		return;
	}
	stat = kind->item == SYS_ITEM_STAT ? EVENT_ITEM_AS(struct item_stat, item) : NULL;
	if (stat && event->ret == 0) {
		(void)buf_puts(out, full && strcmp(kind->name, "statx_out") == 0 ? "{stx_mode=" : "{st_mode=");
		put_mode(out, stat->mode, full);
		(void)buf_puts(out, full && strcmp(kind->name, "statx_out") == 0 ? ", stx_size=" : ", st_size=");
		put_number(out, stat->size, 10);
		(void)buf_puts(out, ", ...}");
		return;
	}
	if (full && kind->item == SYS_ITEM_CLONE && EVENT_ITEM_AS(struct item_clone, item)) {
		put_clone(out, EVENT_ITEM_AS(struct item_clone, item));
		return;
	}
	put_pointer(out, event->args[arg], full);
}

/* ["ls", "-l"] */
static void put_words(struct buf *out, const struct event_call_style *style)
{
	const char *at = style->argv, *end = at + style->argv_bytes, *between = "";

	(void)buf_putc(out, '[');
	while (at < end) {
		size_t bytes = strnlen(at, (size_t)(end - at));

		(void)buf_printf(out, "%s\"", between);
		(void)text_escape(out, at, bytes, '"', false);
		(void)buf_putc(out, '"');
		between = ", ";
		at += bytes + 1;
	}
	(void)buf_puts(out, style->argv_cut ? ", ...]" : "]");
}

static bool is_argv(enum sys_call_id id, unsigned arg)
{
	return (id == CALL_execve && arg == 1) || (id == CALL_execveat && arg == 2);
}

/* open's mode means nothing without a file to make; strace leaves it out. */
static bool is_left_out(enum sys_call_id id, const struct event_call *event, unsigned arg)
{
	uint64_t flags;

	if (!(id == CALL_open && arg == 2) && !(id == CALL_openat && arg == 3))
		return false;
	flags = event->args[arg - 1];
	return !(flags & O_CREAT) && (flags & O_TMPFILE) != O_TMPFILE;
}

/* The first argument that is a descriptor; 6: none. */
static unsigned first_fd(const struct sys_call *call)
{
	unsigned arg = 0;

	while (arg < call->nargs) {
		const struct sys_kind *kind = sys_kind(call->args[arg].kind);

		if (kind && style_of(kind->name) == STYLE_FD)
			return arg;
		arg++;
	}
	return 6;
}

static void put_result(struct buf *out, const struct event_call *call, enum sys_call_id id,
		       const struct event_call_style *style)
{
	char name[SYS_NAME_MAX];
	int err = event_call_errno(call);

	if (call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))
		(void)buf_putc(out, '?');
	else if (sys_is_restart(call->ret))
		(void)buf_printf(out, "? %s", sys_errno_print((int)-call->ret, name));
	else if (err && style->full)
		(void)buf_printf(out, "-1 %s (%s)", sys_errno_print(err, name), strerror(err));
	else if (err)
		(void)buf_printf(out, "-1 %s", sys_errno_print(err, name));
	else if (id == CALL_mmap || id == CALL_mremap || id == CALL_brk || id == CALL_shmat)
		put_hex(out, (uint64_t)call->ret);
	else
		put_signed(out, call->ret);
	if (!err && style->full)
		put_file(out, style->made);
}

/* A number without a name: all that may be arguments. */
static void put_unknown(struct buf *out, const struct event_call *call, bool full)
{
	if (!full) {
		(void)buf_puts(out, "...");
		return;
	}
	for (unsigned arg = 0; arg < 6; arg++)
		(void)buf_printf(out, "%s0x%" PRIx64, arg ? ", " : "", call->args[arg]);
}

int event_call_text(struct buf *out, const struct event_call *event, enum sys_call_id id,
		    const struct event_call_style *style)
{
	const struct sys_call *call = sys_call(id);
	char name[SYS_NAME_MAX];

	(void)buf_puts(out, sys_call_print((enum sys_arch)event->arch, event->nr, name));
	(void)buf_putc(out, '(');
	if (id == CALL_unknown)
		put_unknown(out, event, style->full);
	for (unsigned arg = 0; id != CALL_unknown && arg < call->nargs; arg++) {
		if (is_left_out(id, event, arg))
			break;
		if (arg > 0)
			(void)buf_puts(out, ", ");
		if (style->full && style->argv && is_argv(id, arg))
			put_words(out, style);
		else
			put_arg(out, event, id, arg, style->full);
		if (style->full && style->file && arg == first_fd(call) && (int32_t)event->args[arg] >= 0)
			put_file(out, style->file);
	}
	(void)buf_puts(out, ") = ");
	put_result(out, event, id, style);
	return out->failed ? -ENOMEM : 0;
}
