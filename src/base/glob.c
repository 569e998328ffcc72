/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/glob.h"

#include <stddef.h>

/* Behind one character; a byte that begins none is one. */
static const char *next_character(const char *at)
{
	unsigned char lead = (unsigned char)*at++;
	int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;

	while (more-- > 0 && ((unsigned char)*at & 0xc0) == 0x80)
		at++;
	return at;
}

bool glob_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
			continue;
		}
		if (*pattern == '\0' && *text == '\0')
			return true;
		if (*pattern == '?' && *text) {
			pattern++;
			text = next_character(text);
			continue;
		}
		if (*pattern && *pattern != '?' && *text) {
			const char *plain = *pattern == '\\' && pattern[1] ? pattern + 1 : pattern;

			if (*plain == *text) {
				pattern = plain + 1;
				text++;
				continue;
			}
		}
		/* The last '*' takes one byte more; earlier ones need not. */
		if (!star || *retry == '\0')
			return false;
		pattern = star;
		text = ++retry;
	}
}

bool glob_may_begin(const char *pattern, const char *text)
{
	/* What comes behind a '*' can stand behind the text. */
	for (; *text && *pattern != '*'; pattern++) {
		if (*pattern == '\0')
			return false;
		if (*pattern == '?') {
			text = next_character(text);
			continue;
		}
		if (*pattern == '\\' && pattern[1])
			pattern++;
		if (*pattern != *text++)
			return false;
	}
	return true;
}

int glob_quote(struct buf *buf, const char *text)
{
	for (; *text; text++) {
		if (*text == '*' || *text == '?' || *text == '\\')
			(void)buf_putc(buf, '\\');
		(void)buf_putc(buf, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
	}
	return buf->failed ? -1 : 0;
}
