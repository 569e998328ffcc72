/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines with calls, written nearly as strace writes them.  The call table
 * says what an argument is, so that the same items come out as from an engine
 * that read a program's memory.
 */
#include <errno.h>
#include <string.h>

#include "engine/script/script.h"

#define DEFAULT_DURATION_NS 1000
#define MARK_DIRECTORY "/.syscull/mark/"

/* An address that stands for argument `arg`. */
static uint64_t some_pointer(unsigned arg)
{
	return UINT64_C(0x7ff000001000) + arg * UINT64_C(0x10000);
}

static int text_argument(struct scan *scan, struct event_call *call, const struct sys_kind *kind, unsigned arg)
{
	struct script *script = scan->script;
	struct buf text = BUF_INIT;
	unsigned flags = 0;
	bool wanted = kind &&
		      (kind->shape == SYS_STRING || kind->item == SYS_ITEM_SOCKADDR || kind->item == SYS_ITEM_SOCKOPT);
	int r = scan_text(scan, &text, false);

	if (r == 0 && scan_literal(scan, "..."))
		flags = EVENT_ITEM_TRUNCATED;
	if (r == 0 && kind && kind->item == SYS_ITEM_PATH && text.bytes > strlen(MARK_DIRECTORY) &&
	    memcmp(text.data, MARK_DIRECTORY, strlen(MARK_DIRECTORY)) == 0)
		call->head.flags |= EVENT_F_MARK;
	/* The text of a buffer is for the reader of the script. */
	if (r == 0 && wanted && kind->item != SYS_ITEM_NONE && (!script->items || (script->items >> kind->item & 1)))
		r = event_item_add(script_record(script), (enum sys_item)kind->item, arg, flags, text.data, text.bytes);
	buf_done(&text);
	return r;
}

static int argument(struct scan *scan, struct event_call *call, const struct sys_kind *kind, unsigned arg)
{
	struct script *script = scan->script;

	scan_blanks(scan);
	if (scan->at == scan->end)
		return scan_fail(scan, "an argument or ')'");
	switch (*scan->at) {
	case '"':
		call->args[arg] = some_pointer(arg);
		return text_argument(scan, call, kind, arg);
	case '{':
	case '[':
		call->args[arg] = some_pointer(arg);
		if (!kind || kind->item == SYS_ITEM_NONE)
			return scan_fail(scan, "a number or '_': the call table has no struct here");
		return value_items(scan, script_record(script), kind->item, arg);
	case '_':
		scan->at++;
		call->args[arg] = some_pointer(arg);
		return 0;
	case '?':
		scan->at++;
		call->args[arg] = some_pointer(arg);
		if (!kind || kind->item == SYS_ITEM_NONE)
			return 0;
		return event_item_add(script_record(script), (enum sys_item)kind->item, arg, EVENT_ITEM_UNREAD, NULL,
				      0);
	default:
		return scan_number(scan, &call->args[arg]);
	}
}

/* "= 3", "= -1 ENOENT (No such file or directory)", "= ?" */
static int result(struct scan *scan, struct event_call *call)
{
	char name[SYS_NAME_MAX];
	const char *word;
	uint64_t value;
	size_t bytes;
	int r;

	if (!scan_char(scan, '='))
		return scan_fail(scan, "'=' and the result");
	if (scan_char(scan, '?')) {
		call->head.flags |= EVENT_F_UNFINISHED;
		return 0;
	}
	r = scan_number(scan, &value);
	if (r < 0)
		return r;
	call->ret = (int64_t)value;
	scan_blanks(scan);
	if (call->ret == -1 && scan->at < scan->end && *scan->at == 'E') {
		bytes = scan_word(scan, &word);
		if (bytes < sizeof(name)) {
			memcpy(name, word, bytes);
			name[bytes] = '\0';
			call->ret = -sys_errno_by_name(name);
		}
		if (bytes >= sizeof(name) || call->ret == 0) {
			scan->at = word;
			return scan_fail(scan, "the name of an error");
		}
	}
	if (scan_char(scan, '(')) {
		while (scan->at < scan->end && *scan->at != ')')
			scan->at++;
		if (!scan_char(scan, ')'))
			return scan_fail(scan, "')'");
	}
	return 0;
}

static int tail(struct scan *scan, struct event_call *call, struct item_caller *ret_caller)
{
	int r = 0;

	while (r == 0 && !scan_done(scan)) {
		if (scan_char(scan, '<')) {
			r = scan_time(scan, &call->duration_ns);
			if (r == 0 && !scan_char(scan, '>'))
				r = scan_fail(scan, "'>'");
		} else if (scan_literal(scan, "ip=")) {
			r = scan_hex(scan, &call->ip);
		} else if (scan_literal(scan, "caller=")) {
			r = scan_hex(scan, &ret_caller->word);
		} else if (scan_literal(scan, "code=")) {
			r = scan_hex(scan, &ret_caller->code);
		} else if (scan_literal(scan, "unfinished")) {
			call->head.flags |= EVENT_F_UNFINISHED;
		} else if (scan_literal(scan, "killed")) {
			call->head.flags |= EVENT_F_KILLED | EVENT_F_UNFINISHED;
		} else if (scan_literal(scan, "no-enter")) {
			call->head.flags |= EVENT_F_NO_ENTER;
		} else if (scan_literal(scan, "before-attach")) {
			call->head.flags |= EVENT_F_BEFORE_ATTACH;
		} else if (scan_literal(scan, "restarted")) {
			call->head.flags |= EVENT_F_RESTARTED;
		} else {
			r = scan_fail(
				scan,
				"<DURATION>, ip=HEX, caller=HEX, code=HEX, unfinished, killed, no-enter, before-attach "
				"or restarted");
		}
	}
	return r;
}

/* "getpid", "call_471", "i386:5": numbers are those of x86-64 everywhere, so
 * that a script means the same on every machine. */
static int call_number(struct scan *scan, struct event_call *call, const struct sys_call **ret_row)
{
	char name[SYS_NAME_MAX];
	enum sys_call_id id;
	const char *word;
	uint64_t number;
	size_t bytes;
	int r;

	call->arch = SYS_ARCH_X86_64;
	*ret_row = sys_call(CALL_unknown);
	if (scan_literal(scan, "i386:")) {
		call->arch = SYS_ARCH_I386;
		call->head.flags |= EVENT_F_COMPAT;
		r = scan_number(scan, &number);
		call->nr = (int32_t)number;
		return r;
	}
	bytes = scan_word(scan, &word);
	if (bytes > 5 && memcmp(word, "call_", 5) == 0) {
		scan->at = word + 5;
		r = scan_number(scan, &number);
		call->nr = (int32_t)number;
		return r;
	}
	if (bytes > 0 && bytes < sizeof(name)) {
		memcpy(name, word, bytes);
		name[bytes] = '\0';
		id = sys_call_by_name(name);
		call->nr = sys_call_nr(SYS_ARCH_X86_64, id);
		if (id != CALL_unknown && call->nr >= 0) {
			*ret_row = sys_call(id);
			return 0;
		}
	}
	scan->at = word;
	return scan_fail(scan, "the name of a call");
}

int call_line(struct scan *scan)
{
	struct script *script = scan->script;
	const struct sys_call *row;
	struct event_call call = { 0 };
	struct item_caller caller = { 0 };
	uint64_t tid;
	unsigned arg;
	void *fixed;
	int r = scan_number(scan, &tid);

	if (r < 0)
		return r;
	fixed = script_begin(scan, EVENT_CALL, (uint32_t)tid);
	if (!fixed)
		return -ENOMEM;
	memcpy(&call, fixed, sizeof(call));
	call.duration_ns = DEFAULT_DURATION_NS;
	r = call_number(scan, &call, &row);
	if (r < 0)
		return r;
	if (!scan_char(scan, '('))
		return scan_fail(scan, "'('");
	for (arg = 0; !scan_char(scan, ')'); arg++) {
		if (arg > 0 && !scan_char(scan, ','))
			return scan_fail(scan, "',' or ')'");
		if (arg == (row == sys_call(CALL_unknown) ? 6u : row->nargs))
			return scan_fail(scan, "fewer arguments");
		r = argument(scan, &call, arg < row->nargs ? sys_kind(row->args[arg].kind) : NULL, arg);
		if (r < 0)
			return r == -ENOMEM ? error_errno(scan->err, ENOMEM, "%s", script->name) : r;
	}
	r = result(scan, &call);
	if (r == 0)
		r = tail(scan, &call, &caller);
	if (r == 0 && (caller.word || caller.code) &&
	    event_item_add(script_record(script), SYS_ITEM_CALLER, 0, 0, &caller, sizeof(caller)) < 0)
		return error_errno(scan->err, ENOMEM, "%s", script->name);
	if (r < 0)
		return r;
	/* The head of the buffer was filled in before the items moved it. */
	memcpy(script_record(script)->data, &call, sizeof(call));
	script->now_ns = call.head.time_ns + call.duration_ns;
	if (call.head.flags & EVENT_F_MARK)
		script->stats.marks++;
	else
		script->stats.delivered++;
	script->stats.seen++;
	return script_end(scan);
}
