/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a script's line: texts, numbers with names, times.  Knows
 * nothing of records.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "engine/script/script.h"

#define FOUND_MAX 24

int scan_fail(struct scan *scan, const char *expected)
{
	struct buf found = BUF_INIT;
	size_t left = (size_t)(scan->end - scan->at);

	if (left == 0)
		(void)buf_puts(&found, "the end of the line");
	else if (buf_putc(&found, '\'') == 0 &&
		 text_escape(&found, scan->at, left < FOUND_MAX ? left : FOUND_MAX, '\'', false) == 0)
		(void)buf_puts(&found, left > FOUND_MAX ? "…'" : "'");
	(void)error_set(scan->err, EINVAL, "%s:%llu: expected %s, found %s", scan->script->name,
			(unsigned long long)scan->number, expected, buf_text(&found));
	buf_done(&found);
	return -EINVAL;
}

void scan_blanks(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r'))
		scan->at++;
}

bool scan_done(struct scan *scan)
{
	scan_blanks(scan);
	return scan->at == scan->end || *scan->at == '#';
}

bool scan_char(struct scan *scan, char c)
{
	scan_blanks(scan);
	if (scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

size_t scan_word(struct scan *scan, const char **ret_word)
{
	scan_blanks(scan);
	*ret_word = scan->at;
	while (scan->at < scan->end && is_word(*scan->at))
		scan->at++;
	return (size_t)(scan->at - *ret_word);
}

bool scan_literal(struct scan *scan, const char *word)
{
	size_t bytes = strlen(word);

	scan_blanks(scan);
	if ((size_t)(scan->end - scan->at) < bytes || memcmp(scan->at, word, bytes) != 0)
		return false;
	/* "exe=" ends by itself, "killed" must not be the beginning of a longer word. */
	if (is_word(word[bytes - 1]) && (size_t)(scan->end - scan->at) > bytes && is_word(scan->at[bytes]))
		return false;
	scan->at += bytes;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Behind the backslash. */
static int scan_escape(struct scan *scan, char *ret)
{
	static const char from[] = "ntrabfve", to[] = "\n\t\r\a\b\f\v\033";
	const char *known;
	unsigned value = 0;
	unsigned digits = 0;

	if (scan->at == scan->end)
		return scan_fail(scan, "a character behind the backslash");
	known = strchr(from, *scan->at);
	if (known && *known) {
		*ret = to[known - from];
		scan->at++;
		return 0;
	}
	if (*scan->at == 'x') {
		scan->at++;
		for (; digits < 2 && scan->at < scan->end && hex_digit(*scan->at) >= 0; digits++)
			value = value * 16 + (unsigned)hex_digit(*scan->at++);
		if (digits == 0)
			return scan_fail(scan, "hexadecimal digits behind \\x");
		*ret = (char)value;
		return 0;
	}
	for (; digits < 3 && scan->at < scan->end && *scan->at >= '0' && *scan->at <= '7'; digits++)
		value = value * 8 + (unsigned)(*scan->at++ - '0');
	*ret = digits > 0 ? (char)value : *scan->at++;
	return 0;
}

int scan_text(struct scan *scan, struct buf *out, bool split)
{
	bool quoted = scan_char(scan, '"');
	const char *start = scan->at;
	bool open = false;

	while (scan->at < scan->end) {
		char c = *scan->at;
		bool escaped = quoted && c == '\\';
		int r;

		if (quoted ? c == '"' : c == ' ' || c == '\t' || c == '\r')
			break;
		scan->at++;
		if (escaped) {
			r = scan_escape(scan, &c);
			if (r < 0)
				return r;
		} else if (split && c == ' ') {
			if (open)
				(void)buf_putc(out, '\0');
			open = false;
			continue;
		}
		open = true;
		(void)buf_putc(out, c);
	}
	if (split && open)
		(void)buf_putc(out, '\0');
	if (quoted && !scan_char(scan, '"'))
		return scan_fail(scan, "a closing quote");
	if (!quoted && scan->at == start)
		return scan_fail(scan, "a text");
	return out->failed ? error_errno(scan->err, ENOMEM, "%s", scan->script->name) : 0;
}

static int scan_digits(struct scan *scan, unsigned base, uint64_t *ret)
{
	const char *start = scan->at;
	uint64_t value = 0;

	for (; scan->at < scan->end; scan->at++) {
		int digit = hex_digit(*scan->at);

		if (digit < 0 || (unsigned)digit >= base)
			break;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return scan_fail(scan, "a number of at most 64 bits");
	}
	if (scan->at == start)
		return scan_fail(scan, base == 16 ? "hexadecimal digits" : "a number");
	*ret = value;
	return 0;
}

int scan_hex(struct scan *scan, uint64_t *ret)
{
	scan_blanks(scan);
	return scan_digits(scan, 16, ret);
}

static int scan_operand(struct scan *scan, uint64_t *ret)
{
	bool minus = scan_char(scan, '-');
	size_t left = (size_t)(scan->end - scan->at);
	const char *word = scan->at;
	size_t bytes;
	int r;

	if (left > 0 && (isalpha((unsigned char)*word) || *word == '_')) {
		bytes = 0;
		while (bytes < left && (isalnum((unsigned char)word[bytes]) || word[bytes] == '_'))
			bytes++;
		if (!script_constant(word, bytes, ret))
			return scan_fail(scan, "a number or a constant that the script engine knows (constants.c)");
		scan->at += bytes;
	} else {
		if (left > 1 && word[0] == '0' && word[1] == 'x') {
			scan->at += 2;
			r = scan_digits(scan, 16, ret);
		} else {
			r = scan_digits(scan, left > 0 && word[0] == '0' ? 8 : 10, ret);
		}
		if (r < 0)
			return r;
	}
	if (minus)
		*ret = -*ret;
	return 0;
}

int scan_number(struct scan *scan, uint64_t *ret)
{
	uint64_t more;
	int r;

	scan_blanks(scan);
	r = scan_operand(scan, ret);
	while (r == 0 && scan->at < scan->end && *scan->at == '|') {
		scan->at++;
		r = scan_operand(scan, &more);
		*ret |= r == 0 ? more : 0;
	}
	return r;
}

int scan_time(struct scan *scan, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	uint64_t whole;
	uint64_t part = 0;
	uint64_t scale = 1;
	int r;

	scan_blanks(scan);
	r = scan_digits(scan, 10, &whole);
	if (r < 0)
		return r;
	if (scan->at < scan->end && *scan->at == '.') {
		for (scan->at++; scan->at < scan->end && isdigit((unsigned char)*scan->at); scan->at++) {
			if (scale < 1000000000) {
				part = part * 10 + (uint64_t)(*scan->at - '0');
				scale *= 10;
			}
		}
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t ns;

		if (!scan_literal(scan, units[i].unit))
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, &ns) || ns > UINT64_MAX / 4)
			return scan_fail(scan, "a shorter time");
		*ret_ns = ns + part * units[i].ns / scale;
		return 0;
	}
	return scan_fail(scan, "a unit of time: ns, us, ms or s");
}

int scan_device(struct scan *scan, uint64_t *ret_dev)
{
	uint64_t major, minor;
	int r = scan_number(scan, &major);

	if (r < 0)
		return r;
	if (!scan_char(scan, ':'))
		return scan_fail(scan, "':' and the minor number of the device");
	r = scan_number(scan, &minor);
	if (r < 0)
		return r;
	*ret_dev = makedev((unsigned)major, (unsigned)minor);
	return 0;
}
