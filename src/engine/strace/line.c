/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a line: pid, time and place, in all the ways that strace
 * 4.x to 6.x write them.
 *
 *     [pid  123] 123  123<sh>  12:34:56  12:34:56.123456  1700000000.123456
 *     0.000123  (+ 0.000123)  [00007f12345678]  [ 257]
 */
#include <ctype.h>
#include <string.h>

#include "engine/strace/strace.h"

#define NS UINT64_C(1000000000)

static bool digits(const char **at, const char *end, uint64_t *ret)
{
	const char *begin = *at;
	uint64_t value = 0;

	while (*at < end && isdigit((unsigned char)**at) && *at - begin < 18)
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	*ret = value;
	return *at > begin;
}

bool strace_tid(struct strace_at *at, uint64_t *ret)
{
	const char *p = at->at, *end = at->end;

	/* Above is no pid of Linux, but a time in seconds. */
	if (!digits(&p, end, ret) || *ret == 0 || *ret > STRACE_TID_MAX)
		return false;
	/* strace writes brackets of a name as \74 and \76. */
	if (p < end && *p == '<') {
		p = memchr(p, '>', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	at->at = p;
	return true;
}

static void blanks(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
}

/* ".123456" */
static uint64_t fraction(const char **at, const char *end)
{
	uint64_t value = 0;
	unsigned places = 0;

	if (*at == end || **at != '.')
		return 0;
	for ((*at)++; *at < end && isdigit((unsigned char)**at); (*at)++) {
		if (places++ < 9)
			value = value * 10 + (uint64_t)(**at - '0');
	}
	for (; places < 9; places++)
		value *= 10;
	return value;
}

/* 1 a time, 0 none */
static int take_time(const char **at, const char *end, struct strace_line *line)
{
	const char *p = *at;
	bool wrapped = p + 1 < end && p[0] == '(' && p[1] == '+';
	uint64_t first, minute, second;
	uint64_t ns;

	if (wrapped) {
		p += 2;
		blanks(&p, end);
	}
	if (!digits(&p, end, &first))
		return 0;
	if (p < end && *p == ':' && !wrapped) {
		p++;
		if (!digits(&p, end, &minute) || p == end || *p++ != ':' || !digits(&p, end, &second))
			return 0;
		ns = ((first * 60 + minute) * 60 + second) * NS + fraction(&p, end);
	} else if (p < end && *p == '.') {
		bool epoch = first >= 100000000 && !wrapped;

		ns = first * NS + fraction(&p, end);
		if (!epoch && !line->timed)
			line->relative = true;
	} else if (p < end && (wrapped ? *p == ')' : *p == ' ' && (line->tid > 0 || first > STRACE_TID_MAX))) {
		/* --relative-timestamps=s and the like; without a tid before it small numbers are one. */
		ns = first * NS;
		if (first <= STRACE_TID_MAX && !line->timed)
			line->relative = true;
	} else {
		return 0;
	}
	if (wrapped && (p == end || *p++ != ')'))
		return 0;
	if (p < end && *p != ' ')
		return 0;
	/* Of two the first is when, the second how long after the last. */
	if (!line->timed) {
		line->timed = true;
		line->time_ns = ns;
	}
	blanks(&p, end);
	*at = p;
	return 1;
}

/* "[00007f12345678]" of -i, "[ 257]" of -n */
static bool take_place(const char **at, const char *end, struct strace_line *line)
{
	const char *p = *at, *close;
	uint64_t value = 0;

	if (p == end || *p != '[')
		return false;
	close = memchr(p, ']', (size_t)(end - p));
	if (!close)
		return false;
	p++;
	blanks(&p, close);
	if (close - p >= 8) {
		const char *q = p;

		for (; q < close && isxdigit((unsigned char)*q); q++)
			value = value << 4 |
				(uint64_t)(isdigit((unsigned char)*q) ? *q - '0'
								      : tolower((unsigned char)*q) - 'a' + 10);
		if (q == close) {
			line->has_ip = true;
			line->ip = value;
		} else if (*p != '?') {
			return false;
		}
	} else if (!digits(&p, close, &value) || p != close) {
		return false;
	}
	*at = close + 1;
	blanks(at, end);
	return true;
}

bool strace_line_split(const char *text, size_t bytes, bool tids, struct strace_line *ret)
{
	const char *at = text, *end = text + bytes;
	uint64_t number;

	*ret = (struct strace_line){ 0 };
	blanks(&at, end);
	if (end - at > 5 && memcmp(at, "[pid ", 5) == 0) {
		struct strace_at tid = { at + 5, end };

		blanks(&tid.at, end);
		if (!strace_tid(&tid, &number) || tid.at == end || *tid.at != ']')
			return false;
		ret->tid = (uint32_t)number;
		at = tid.at + 1;
		blanks(&at, end);
	} else if (tids) {
		struct strace_at tid = { at, end };

		if (strace_tid(&tid, &number) && tid.at < end && *tid.at == ' ') {
			ret->tid = (uint32_t)number;
			at = tid.at;
			blanks(&at, end);
		}
	}
	while (take_time(&at, end, ret))
		;
	while (take_place(&at, end, ret))
		;
	ret->text = at;
	ret->end = end;
	return at < end;
}

/* Name and "(", or one of the other lines. */
static bool content(const char *at, const char *end)
{
	static const char *const others[] = { "+++ ", "--- ", "<... ", "strace: Process ", NULL };
	const char *p = at;

	for (size_t i = 0; others[i]; i++) {
		if ((size_t)(end - at) >= strlen(others[i]) && memcmp(at, others[i], strlen(others[i])) == 0)
			return true;
	}
	while (p < end && (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_'))
		p++;
	return p > at && p < end && *p == '(' &&
	       (memchr(p, '=', (size_t)(end - p)) != NULL || memmem(p, (size_t)(end - p), " ...>", 5) != NULL);
}

bool strace_line_tells(const struct strace_line *line)
{
	return content(line->text, line->end);
}

bool strace_log_is(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	unsigned lines = 0, good = 0;

	if (memchr(text, '\0', bytes))
		return false;
	if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	/* No log, and the engine says what it is. */
	if (strace_table_is(text, bytes))
		return true;
	while (text < end && lines < 50) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct strace_line line;

		/* With -v and -x a line can be longer than what was looked at. */
		if (!stop && lines == 0)
			stop = end;
		if (!stop)
			break;
		/* The frames of -k and the dumps of -e read= are nothing by themselves. */
		if (stop - text > 3 &&
		    (memcmp(text, " > ", 3) == 0 || memcmp(text, "> ", 2) == 0 || memcmp(text, " | ", 3) == 0)) {
			text = stop + 1;
			continue;
		}
		lines++;
		if (stop > text && strace_line_split(text, (size_t)(stop - text), true, &line) &&
		    content(line.text, line.end))
			good++;
		text = stop + (stop < end);
	}
	return good > 0 && good * 2 >= lines;
}
