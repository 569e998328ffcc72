/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Words to compare come from a command line; beyond this they are just different. */
#define DISTANCE_CHARS_MAX 63

const char *text_count(uint64_t count, char out[static TEXT_NUMBER_MAX])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
	char *to = out;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

/* The limits are where rounding would print the next size ("1000 us"). */
static void number_unit(double value, const char *unit, int decimals, char out[static TEXT_NUMBER_MAX])
{
	double ten = decimals == 2 ? 9.995 : 9.95;

	(void)snprintf(out, TEXT_NUMBER_MAX, "%.*f %s", value < ten ? decimals : 0, value, unit);
}

const char *text_plural(uint64_t count, const char *one, const char *many, char *out, size_t bytes)
{
	char number[TEXT_NUMBER_MAX];

	(void)snprintf(out, bytes, "%s %s", text_count(count, number), count == 1 ? one : many);
	return out;
}

const char *text_ns(double ns, char out[static TEXT_NUMBER_MAX])
{
	if (!isfinite(ns)) {
		(void)snprintf(out, TEXT_NUMBER_MAX, "?");
	} else if (ns < 0) {
		char positive[TEXT_NUMBER_MAX];

		(void)text_ns(-ns, positive);
		(void)snprintf(out, TEXT_NUMBER_MAX, "-%.*s", TEXT_NUMBER_MAX - 2, positive);
	} else if (ns < 999.5) {
		(void)snprintf(out, TEXT_NUMBER_MAX, "%.0f ns", ns);
	} else if (ns < 999.5e3) {
		number_unit(ns / 1e3, "us", 2, out);
	} else if (ns < 999.5e6) {
		number_unit(ns / 1e6, "ms", 2, out);
	} else if (ns < 119.5e9) {
		number_unit(ns / 1e9, "s", 2, out);
	} else if (ns < 119.5 * 60e9) {
		number_unit(ns / 60e9, "min", 1, out);
	} else if (ns < 1e9 * 3600e9) {
		number_unit(ns / 3600e9, "h", 1, out);
	} else {
		(void)snprintf(out, TEXT_NUMBER_MAX, "%.1e h", ns / 3600e9);
	}
	return out;
}

const char *text_share(double share, char out[static TEXT_NUMBER_MAX])
{
	double percent = share * 100;

	if (!isfinite(percent) || percent > 1e9 || percent < -1e9)
		(void)snprintf(out, TEXT_NUMBER_MAX, "?");
	else if (percent <= -0.95 || percent >= 0.95)
		(void)snprintf(out, TEXT_NUMBER_MAX, "%.0f %%", percent);
	else if (percent <= -0.1 || percent >= 0.1)
		(void)snprintf(out, TEXT_NUMBER_MAX, "%.1f %%", percent);
	else if (percent > 0)
		(void)snprintf(out, TEXT_NUMBER_MAX, "<0.1 %%");
	else
		(void)snprintf(out, TEXT_NUMBER_MAX, "0 %%");
	return out;
}

const char *text_bytes(uint64_t bytes, char out[static TEXT_NUMBER_MAX])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		(void)snprintf(out, TEXT_NUMBER_MAX, "%" PRIu64 " B", bytes);
		return out;
	}
	while (value >= 1023.5 && unit + 1 < sizeof units / sizeof units[0]) {
		value /= 1024;
		unit++;
	}
	number_unit(value, units[unit], 1, out);
	return out;
}

/* Characters that a terminal obeys, hides or reorders text by. */
static bool code_is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c || code == 0x180e ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || (code >= 0xd800 && code <= 0xf8ff) || code == 0xfeff ||
	       (code >= 0xfff0 && code <= 0xfffb) || (code & 0xfffe) == 0xfffe || code >= 0xe0000;
}

/* Bytes of the harmless UTF-8 character that starts here, 0 when it is none. */
static size_t utf8_harmless(const unsigned char *p, size_t bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	uint32_t code;

	if (length == 0 || length > bytes)
		return 0;
	code = length == 1 ? p[0] : p[0] & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fU);
	}
	return code < least[length] || code_is_harmful(code) ? 0 : length;
}

static size_t harmless(const char *text, size_t bytes, bool utf8)
{
	const unsigned char *p = (const unsigned char *)text;

	if (utf8)
		return utf8_harmless(p, bytes);
	return p[0] >= 0x20 && p[0] < 0x7f;
}

static void escape_byte(struct buf *buf, unsigned char c, bool digit_follows)
{
	static const char letters[] = "tnvfr";

	if (c >= '\t' && c <= '\r')
		(void)buf_printf(buf, "\\%c", letters[c - '\t']);
	else
		(void)buf_printf(buf, digit_follows ? "\\%03o" : "\\%o", c);
}

int text_escape(struct buf *buf, const char *text, size_t bytes, char quote, bool utf8)
{
	for (size_t i = 0; i < bytes;) {
		size_t length = harmless(text + i, bytes - i, utf8);

		if (length == 0) {
			bool digit = i + 1 < bytes && text[i + 1] >= '0' && text[i + 1] <= '9';

			escape_byte(buf, (unsigned char)text[i], digit);
			i++;
			continue;
		}
		if (text[i] == '\\' || (quote != '\0' && text[i] == quote))
			(void)buf_putc(buf, '\\');
		(void)buf_add(buf, text + i, length);
		i += length;
	}
	return buf->failed ? -ENOMEM : 0;
}

void text_tame(char *text)
{
	size_t bytes = strlen(text);

	for (size_t i = 0; i < bytes;) {
		size_t length = harmless(text + i, bytes - i, true);

		if (length == 0)
			text[i] = '?';
		i += length ? length : 1;
	}
}

static bool shell_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("_@%+=:,./-", c)) || (unsigned char)c >= 0x80;
}

int text_shell_word(struct buf *buf, const char *text, size_t bytes, bool utf8)
{
	bool plain = bytes > 0, foreign = false;

	for (size_t i = 0; i < bytes;) {
		size_t length = harmless(text + i, bytes - i, utf8);

		if (length == 0)
			foreign = true;
		if (!shell_plain(text[i]))
			plain = false;
		i += length ? length : 1;
	}
	if (plain && !foreign)
		return buf_add(buf, text, bytes);
	if (foreign) {
		/* In $'…' a shell reads up to three octal digits, so always write three. */
		(void)buf_puts(buf, "$'");
		for (size_t i = 0; i < bytes;) {
			size_t length = harmless(text + i, bytes - i, utf8);

			if (length == 0) {
				escape_byte(buf, (unsigned char)text[i], true);
				i++;
				continue;
			}
			if (text[i] == '\\' || text[i] == '\'')
				(void)buf_putc(buf, '\\');
			(void)buf_add(buf, text + i, length);
			i += length;
		}
		return buf_putc(buf, '\'');
	}
	(void)buf_putc(buf, '\'');
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\'')
			(void)buf_puts(buf, "'\\''");
		else
			(void)buf_putc(buf, text[i]);
	}
	return buf_putc(buf, '\'');
}

size_t text_columns(const char *text, size_t bytes)
{
	mbstate_t state = { 0 };
	size_t columns = 0;

	for (size_t i = 0; i < bytes;) {
		wchar_t wide;
		size_t length = mbrtowc(&wide, text + i, bytes - i, &state);
		int width = 1;

		if (length == 0 || length > bytes - i) {
			/* NUL or no character of this locale: one column, start afresh. */
			length = 1;
			state = (mbstate_t){ 0 };
		} else {
			width = wcwidth(wide);
		}
		columns += width < 0 ? 1 : (size_t)width;
		i += length;
	}
	return columns;
}

unsigned text_distance(const char *a, const char *b, unsigned bound)
{
	size_t a_chars = strlen(a), b_chars = strlen(b);
	unsigned rows[3][DISTANCE_CHARS_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	if (a_chars > DISTANCE_CHARS_MAX || b_chars > DISTANCE_CHARS_MAX)
		return strcmp(a, b) == 0 ? 0 : bound + 1;
	for (size_t j = 0; j <= b_chars; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_chars; i++) {
		unsigned *oldest = before, least = (unsigned)i;

		before = last;
		last = row;
		row = oldest;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_chars; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
			if (best < least)
				least = best;
		}
		if (least > bound)
			return bound + 1;
	}
	return row[b_chars] > bound ? bound + 1 : row[b_chars];
}

unsigned text_slips(const char *word)
{
	size_t third = strlen(word) / 3;

	return third > 3 ? 3 : (unsigned)third;
}
