/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of one call becomes its record. */
#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#include "engine/strace/strace.h"

#define MARK_DIRECTORY "/.syscull/mark/"

/* An address that stands for argument `arg`. */
static uint64_t some_pointer(unsigned arg)
{
	return UINT64_C(0x7ff000001000) + arg * UINT64_C(0x10000);
}

/* A name whose value is not known here: equal for equal names, and equal to
 * nothing that a kernel knows. */
static uint64_t unknown_value(struct strace_at text)
{
	return UINT64_C(0xfeed000000000000) | (map_hash(text.at, (size_t)(text.end - text.at)) & UINT64_C(0xffffffff));
}

bool strace_call_result(struct strace_at text, struct strace_at *ret_name, struct strace_at *ret_arguments,
			struct strace_at *ret_result)
{
	ret_name->at = text.at;
	while (text.at < text.end && (isalnum((unsigned char)*text.at) || *text.at == '_'))
		text.at++;
	ret_name->end = text.at;
	if (ret_name->end == ret_name->at || !strace_literal(&text, "("))
		return false;
	ret_arguments->at = text.at;
	for (;;) {
		if (!strace_skip_argument(&text) || text.at == text.end)
			return false;
		if (*text.at != ',')
			break;
		text.at++;
	}
	ret_arguments->end = text.at;
	if (!strace_literal(&text, ")"))
		return false;
	strace_blanks(&text);
	if (!strace_literal(&text, "="))
		return false;
	strace_blanks(&text);
	*ret_result = text;
	return text.at < text.end;
}

/* "… <0.000123>" at the end of the line. */
static bool duration_of(struct strace_at *result, uint64_t *ret_ns)
{
	const char *p = result->end;
	struct strace_at at;
	uint64_t second = 0, rest = 0;
	unsigned places = 0;

	if (p == result->at || p[-1] != '>')
		return false;
	while (p > result->at && *p != '<')
		p--;
	at = (struct strace_at){ p + 1, result->end - 1 };
	while (at.at < at.end && isdigit((unsigned char)*at.at) && second < 1000000000)
		second = second * 10 + (uint64_t)(*at.at++ - '0');
	if (!strace_literal(&at, "."))
		return false;
	for (; at.at < at.end && isdigit((unsigned char)*at.at); at.at++) {
		if (places++ < 9)
			rest = rest * 10 + (uint64_t)(*at.at - '0');
	}
	if (at.at != at.end || places == 0)
		return false;
	for (; places < 9; places++)
		rest *= 10;
	*ret_ns = second * UINT64_C(1000000000) + rest;
	result->end = p;
	return true;
}

static bool result_of(struct event_call *call, struct strace_at text)
{
	uint64_t value;
	char name[SYS_NAME_MAX];
	size_t bytes = 0;
	bool question = strace_literal(&text, "?");

	if (!question) {
		if (!strace_number(&text, &value))
			return false;
		call->ret = (int64_t)value;
	}
	strace_blanks(&text);
	if ((question || call->ret == -1) && text.at < text.end && *text.at == 'E') {
		while (text.at < text.end && bytes + 1 < sizeof name &&
		       (isalnum((unsigned char)*text.at) || *text.at == '_'))
			name[bytes++] = *text.at++;
		name[bytes] = '\0';
		call->ret = -sys_errno_by_name(name);
		return call->ret != 0;
	}
	if (question)
		call->head.flags |= EVENT_F_UNFINISHED;
	return true;
}

/* "flags=CLONE_VM|SIGCHLD" of clone, which is printed in another order. */
static int named_argument(struct strace_at *text)
{
	static const struct {
		const char *name;
		int at;
	} names[] = { { "flags=", 0 },	       { "child_stack=", 1 },  { "parent_tid=", 2 },
		      { "parent_tidptr=", 2 }, { "child_tidptr=", 3 }, { "tls=", 4 } };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strace_literal(text, names[i].name))
			return names[i].at;
	}
	return -1;
}

static void argument(struct strace_log *log, struct buf *record, struct event_call *call, const struct sys_call *row,
		     unsigned arg, struct strace_at text)
{
	uint8_t kind = row->args[arg].kind;
	const struct sys_kind *how = sys_kind(kind);
	struct strace_at number = text;
	uint64_t value;

	if (text.at == text.end)
		return;
	if (strchr("\"{[~", *text.at) && *text.at) {
		call->args[arg] = some_pointer(arg);
		/* One whose form is not known has no item. */
		(void)strace_value(log, record, kind, arg, text, call->args);
		if (how->item == SYS_ITEM_PATH && text.end - text.at > (ptrdiff_t)strlen(MARK_DIRECTORY) &&
		    memcmp(text.at + 1, MARK_DIRECTORY, strlen(MARK_DIRECTORY)) == 0)
			call->head.flags |= EVENT_F_MARK;
		return;
	}
	if (!strace_number(&number, &value)) {
		call->args[arg] = unknown_value(text);
		return;
	}
	call->args[arg] = value;
}

/* The path of a finished call's descriptor is told before the call itself. */
static void annotations(struct strace_log *log, struct strace_task *task, const struct sys_call *row,
			struct strace_at arguments)
{
	for (unsigned arg = 0; arguments.at < arguments.end && arg < row->nargs; arg++) {
		struct strace_at one = { arguments.at, arguments.at }, path;
		uint64_t value;

		strace_blanks(&one);
		if (!strace_skip_argument(&arguments))
			return;
		one.end = arguments.at;
		arguments.at++;
		strace_blanks(&one);
		/* Behind the number of a process stands its name (-Y). */
		if (row->args[arg].kind != KIND_fd && row->args[arg].kind != KIND_dirfd)
			continue;
		if (one.at < one.end && isdigit((unsigned char)*one.at) && strace_number(&one, &value) &&
		    strace_annotation(&one, &path))
			strace_tell_fd(log, task, (int64_t)value, path);
	}
}

static const struct sys_call *row_of(struct event_call *call, struct strace_at name)
{
	char text[SYS_NAME_MAX];
	size_t bytes = (size_t)(name.end - name.at);
	enum sys_call_id id;

	call->arch = SYS_ARCH_NATIVE;
	call->nr = -1;
	if (bytes >= sizeof text)
		return NULL;
	memcpy(text, name.at, bytes);
	text[bytes] = '\0';
	/* strace's name for a number that it does not know. */
	if (strncmp(text, "syscall_0x", 10) == 0) {
		struct strace_at number = { text + 8, text + bytes };
		uint64_t value;

		if (!strace_number(&number, &value) || value > INT32_MAX)
			return NULL;
		call->nr = (int32_t)value;
		return sys_call(CALL_unknown);
	}
	id = sys_call_by_name(text);
	/* Calls of another architecture keep their name. */
	for (int arch = 0; id != CALL_unknown && call->nr < 0 && arch < SYS_ARCH_COUNT; arch++) {
		enum sys_arch one = arch == 0 ? SYS_ARCH_NATIVE : (enum sys_arch)(arch - 1);

		call->nr = sys_call_nr(one, id);
		call->arch = one;
	}
	return id != CALL_unknown && call->nr >= 0 ? sys_call(id) : NULL;
}

bool strace_call(struct strace_log *log, struct strace_task *task, struct strace_at text, uint64_t time_ns, uint64_t ip)
{
	struct strace_at name, arguments, result, one;
	struct event_call call = { 0 };
	const struct sys_call *row;
	struct buf *record;
	bool is_clone;

	if (!strace_call_result(text, &name, &arguments, &result))
		return false;
	row = row_of(&call, name);
	if (!row)
		return false;
	if (duration_of(&result, &call.duration_ns))
		log->facts.durations = true;
	/* Mostly strace's own doing: what is worth knowing is that a call waited, or that a file system is slow. */
	if (call.duration_ns < STRACE_DURATION_LEAST_NS)
		call.duration_ns = 0;
	if (!result_of(&call, result))
		return false;
	annotations(log, task, row, arguments);
	record = strace_begin(log, EVENT_CALL, task, time_ns);
	if (!record)
		return true;
	call.head = *(struct event_head *)(void *)record->data;
	if (call.ret == 0 && *result.at == '?' && !(call.head.flags & EVENT_F_UNFINISHED))
		call.head.flags |= EVENT_F_UNFINISHED;
	call.ip = ip;
	is_clone = sys_call_by_name("clone") != CALL_unknown && row == sys_call(sys_call_by_name("clone"));
	for (unsigned arg = 0; arguments.at < arguments.end; arg++) {
		unsigned at = arg;

		strace_blanks(&arguments);
		one.at = arguments.at;
		if (!strace_skip_argument(&arguments))
			break;
		one.end = arguments.at;
		arguments.at++;
		if (is_clone) {
			int named = named_argument(&one);

			at = named >= 0 ? (unsigned)named : arg;
		}
		if (at < row->nargs)
			argument(log, record, &call, row, at, one);
	}
	call.head.time_ns = time_ns;
	memcpy(record->data, &call, sizeof call);
	log->stats.seen++;
	if (call.head.flags & EVENT_F_MARK)
		log->stats.marks++;
	else
		log->stats.delivered++;
	strace_end(log, record);
	return true;
}
