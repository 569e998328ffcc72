/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call as strace would write it, for "Proof".  Printable and bounded:
 * strings are escaped and cut, memory that was not captured is "...".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/text.h"
#include "rules/rule.h"

#define STRING_MAX 96 /* bytes of a string that are shown */

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

static void put_scalar(struct buf *out, const char *kind, uint64_t value)
{
	switch (style_of(kind)) {
	case STYLE_INT:
		(void)buf_printf(out, "%" PRId32, (int32_t)value);
		break;
	case STYLE_LONG:
		(void)buf_printf(out, "%" PRId64, (int64_t)value);
		break;
	case STYLE_UNSIGNED:
		(void)buf_printf(out, "%" PRIu64, value);
		break;
	case STYLE_OCTAL:
		(void)buf_printf(out, "0%" PRIo32, (uint32_t)value);
		break;
	case STYLE_FD:
		if ((int32_t)value == AT_FDCWD)
			(void)buf_puts(out, "AT_FDCWD");
		else
			(void)buf_printf(out, "%" PRId32, (int32_t)value);
		break;
	case STYLE_POINTER:
		(void)buf_puts(out, value == 0 ? "NULL" : "...");
		break;
	case STYLE_HEX:
		if (value == 0)
			(void)buf_putc(out, '0');
		else
			(void)buf_printf(out, "0x%" PRIx64, value);
		break;
	}
}

static void put_string(struct buf *out, const struct event_item *item)
{
	size_t bytes = item->bytes < STRING_MAX ? item->bytes : STRING_MAX;

	(void)buf_putc(out, '"');
	(void)text_escape(out, event_item_data(item), bytes, '"', true);
	(void)buf_putc(out, '"');
	if (bytes < item->bytes || (item->flags & EVENT_ITEM_TRUNCATED))
		(void)buf_puts(out, "...");
}

static void put_arg(struct buf *out, const struct model_view *view, const struct sys_call *call, unsigned arg)
{
	const struct sys_kind *kind = sys_kind(call->args[arg].kind);
	const struct event_item *item;
	const struct item_stat *stat;

	if (!kind || kind->item == SYS_ITEM_NONE) {
		put_scalar(out, kind ? kind->name : "hex", view->call->args[arg]);
		return;
	}
	item = event_item_arg(&view->call->head, (enum sys_item)kind->item, arg);
	if (item && kind->shape == SYS_STRING) {
		put_string(out, item);
		return;
	}
	stat = kind->item == SYS_ITEM_STAT ? EVENT_ITEM_AS(struct item_stat, item) : NULL;
	if (stat && view->call->ret == 0) {
		(void)buf_printf(out, "{st_mode=0%" PRIo32 ", st_size=%" PRIu64 ", ...}", stat->mode, stat->size);
		return;
	}
	(void)buf_puts(out, view->call->args[arg] == 0 ? "NULL" : "...");
}

static void put_result(struct buf *out, const struct model_view *view)
{
	const struct event_call *call = view->call;
	char name[SYS_NAME_MAX];

	if (call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED))
		(void)buf_putc(out, '?');
	else if (sys_is_restart(call->ret))
		(void)buf_printf(out, "? %s", sys_errno_print((int)-call->ret, name));
	else if (view->err)
		(void)buf_printf(out, "-1 %s", sys_errno_print(view->err, name));
	else if (view->id == CALL_mmap || view->id == CALL_mremap || view->id == CALL_brk || view->id == CALL_shmat)
		(void)buf_printf(out, "0x%" PRIx64, (uint64_t)call->ret);
	else
		(void)buf_printf(out, "%" PRId64, call->ret);
}

char *rule_sample(const struct model_view *view)
{
	const struct sys_call *call = sys_call(view->id);
	struct buf out = BUF_INIT;
	char name[SYS_NAME_MAX], *text;

	(void)buf_puts(&out, sys_call_print((enum sys_arch)view->call->arch, view->call->nr, name));
	(void)buf_putc(&out, '(');
	if (view->id == CALL_unknown) {
		(void)buf_puts(&out, "...");
	} else {
		for (unsigned arg = 0; arg < call->nargs; arg++) {
			if (arg > 0)
				(void)buf_puts(&out, ", ");
			put_arg(&out, view, call, arg);
		}
	}
	(void)buf_puts(&out, ") = ");
	put_result(&out, view);
	text = out.failed ? NULL : buf_steal(&out);
	buf_done(&out);
	return text;
}
