/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a call's text.  Nothing is read beyond the end, and whatever does
 * not close is said not to be there.
 */
#include <ctype.h>
#include <string.h>

#include "engine/script/script.h"
#include "engine/strace/strace.h"

void strace_blanks(struct strace_at *at)
{
	while (at->at < at->end && (*at->at == ' ' || *at->at == '\t'))
		at->at++;
}

bool strace_literal(struct strace_at *at, const char *word)
{
	size_t bytes = strlen(word);

	if ((size_t)(at->end - at->at) < bytes || memcmp(at->at, word, bytes) != 0)
		return false;
	at->at += bytes;
	return true;
}

/* Behind the opening quote, up to behind the closing one. */
static bool skip_string(struct strace_at *at)
{
	for (; at->at < at->end; at->at++) {
		if (*at->at == '\\')
			at->at++;
		else if (*at->at == '"')
			break;
	}
	if (at->at >= at->end)
		return false;
	at->at++;
	return true;
}

/* Behind "<": what -y writes may hold brackets, strings and arrows. */
static bool skip_annotation(struct strace_at *at)
{
	unsigned depth = 1;

	while (at->at < at->end) {
		char c = *at->at++;

		if (c == '"' && !skip_string(at))
			return false;
		if (c == '\\' && at->at < at->end)
			at->at++;
		if (c == '<')
			depth++;
		if (c == '>' && at->at[-2] != '-' && --depth == 0)
			return true;
	}
	return false;
}

/* "3</path>", not "1<<2" */
static bool is_annotation(const struct strace_at *at, const char *begin)
{
	const char *p = at->at;

	if (p == begin || p + 1 >= at->end || p[1] == '<' || p[-1] == '<')
		return false;
	return isdigit((unsigned char)p[-1]) || (p - begin >= 8 && memcmp(p - 8, "AT_FDCWD", 8) == 0);
}

bool strace_skip_argument(struct strace_at *at)
{
	const char *begin = at->at;
	unsigned depth = 0;

	while (at->at < at->end) {
		char c = *at->at;

		switch (c) {
		case '"':
			at->at++;
			if (!skip_string(at))
				return false;
			continue;
		case '<':
			if (is_annotation(at, begin)) {
				at->at++;
				if (!skip_annotation(at))
					return false;
				continue;
			}
			break;
		case '/':
			if (at->at + 1 < at->end && at->at[1] == '*') {
				const char *close = at->at + 2;

				while (close + 1 < at->end && !(close[0] == '*' && close[1] == '/'))
					close++;
				if (close + 1 >= at->end)
					return false;
				at->at = close + 2;
				continue;
			}
			break;
		case '(':
		case '[':
		case '{':
			depth++;
			break;
		case ')':
		case ']':
		case '}':
			if (depth == 0)
				return true;
			depth--;
			break;
		case ',':
			if (depth == 0)
				return true;
			break;
		default:
			break;
		}
		at->at++;
	}
	return depth == 0;
}

bool strace_annotation(struct strace_at *at, struct strace_at *ret_text)
{
	if (at->at == at->end || *at->at != '<')
		return false;
	at->at++;
	ret_text->at = at->at;
	if (!skip_annotation(at))
		return false;
	ret_text->end = at->at - 1;
	return true;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* Behind a backslash. */
static char unescape(struct strace_at *at)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	char c = *at->at++;
	const char *found;
	unsigned value = 0;

	if (c >= '0' && c <= '7') {
		value = (unsigned)(c - '0');
		for (unsigned i = 0; i < 2 && at->at < at->end && *at->at >= '0' && *at->at <= '7'; i++)
			value = value * 8 + (unsigned)(*at->at++ - '0');
		return (char)value;
	}
	if (c == 'x') {
		for (unsigned i = 0; i < 2 && at->at < at->end && hex_digit(*at->at) >= 0; i++)
			value = value * 16 + (unsigned)hex_digit(*at->at++);
		return (char)value;
	}
	found = strchr(from, c);
	return c && found ? to[found - from] : c;
}

bool strace_string(struct strace_at *at, struct buf *out, bool *ret_truncated)
{
	*ret_truncated = false;
	if (at->at == at->end || *at->at != '"')
		return false;
	for (at->at++; at->at < at->end && *at->at != '"';) {
		char c = *at->at++;

		if (c == '\\' && at->at < at->end)
			c = unescape(at);
		(void)buf_putc(out, c);
	}
	if (at->at == at->end)
		return false;
	at->at++;
	*ret_truncated = strace_literal(at, "...");
	return true;
}

static bool plain_number(struct strace_at *at, uint64_t *ret)
{
	const char *p = at->at;
	bool negative = p < at->end && *p == '-';
	uint64_t value = 0;
	unsigned base = 10, count = 0;

	p += negative;
	if (p + 1 < at->end && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (p + 1 < at->end && p[0] == '0' && isdigit((unsigned char)p[1])) {
		base = 8;
	}
	for (; p < at->end; p++, count++) {
		int digit = hex_digit(*p);

		if (digit < 0 || (unsigned)digit >= base)
			break;
		value = value * base + (unsigned)digit;
	}
	if (count == 0)
		return false;
	*ret = negative ? (uint64_t) - (int64_t)value : value;
	at->at = p;
	return true;
}

static bool named_number(struct strace_at *at, uint64_t *ret)
{
	const char *begin = at->at;

	while (at->at < at->end && (isalnum((unsigned char)*at->at) || *at->at == '_'))
		at->at++;
	if (at->at == begin || isdigit((unsigned char)*begin))
		return false;
	return script_constant(begin, (size_t)(at->at - begin), ret);
}

bool strace_number(struct strace_at *at, uint64_t *ret)
{
	uint64_t sum = 0, one;
	bool known = true;

	for (;;) {
		strace_blanks(at);
		if (!plain_number(at, &one) && !named_number(at, &one)) {
			one = 0;
			known = false;
		} else if (strace_literal(at, "<<")) {
			uint64_t shift;

			if (!plain_number(at, &shift) || shift > 63)
				return false;
			one <<= shift;
		}
		sum |= one;
		if (!strace_literal(at, "|"))
			break;
	}
	*ret = sum;
	return known;
}

bool strace_field(struct strace_at in, const char *name, struct strace_at *ret)
{
	size_t bytes = strlen(name);

	if (in.at == in.end || *in.at != '{')
		return false;
	in.at++;
	while (in.at < in.end) {
		struct strace_at value;

		strace_blanks(&in);
		value.at = in.at;
		if (!strace_skip_argument(&in))
			return false;
		value.end = in.at;
		if ((size_t)(value.end - value.at) > bytes && memcmp(value.at, name, bytes) == 0 &&
		    value.at[bytes] == '=') {
			value.at += bytes + 1;
			*ret = value;
			return true;
		}
		if (in.at == in.end || *in.at != ',')
			return false;
		in.at++;
	}
	return false;
}

bool strace_field_number(struct strace_at in, const char *name, uint64_t *ret)
{
	struct strace_at value;

	return strace_field(in, name, &value) && strace_number(&value, ret);
}

bool strace_element(struct strace_at *list, struct strace_at *ret)
{
	if (list->at < list->end && (*list->at == '[' || *list->at == ','))
		list->at++;
	strace_blanks(list);
	if (list->at >= list->end || *list->at == ']')
		return false;
	ret->at = list->at;
	if (!strace_skip_argument(list))
		return false;
	ret->end = list->at;
	/* "..." stands for more. */
	return ret->end > ret->at && *ret->at != '.';
}
