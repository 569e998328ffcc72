/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries for the findings of a run, ready to be pasted. */
#include <string.h>

#include "base/glob.h"
#include "rules/rule.h"
#include "verdict/fingerprint.h"
#include "verdict/suppress.h"

/* A line of a configuration has fewer than 200 bytes. */
#define VALUE_MAX 160

/* Behind `from`, at a character's border and not behind a '\'. */
static const char *cut_at(const char *text, const char *from)
{
	while (((unsigned char)*from & 0xc0) == 0x80 || (from > text && from[-1] == '\\'))
		from++;
	return from;
}

/* Of a long path the end says more than the beginning. */
static void put_value(struct buf *buf, const char *key, const char *text)
{
	struct buf quoted = BUF_INIT, steady = BUF_INIT;
	const char *value;

	(void)glob_quote(&quoted, text);
	(void)fingerprint_steady(&steady, buf_text(&quoted));
	value = buf_text(&steady);
	(void)buf_printf(buf, "%s = ", key);
	if (steady.bytes > VALUE_MAX) {
		value = cut_at(value, value + steady.bytes - VALUE_MAX);
		(void)buf_putc(buf, '*');
	}
	for (; *value; value++) {
		/* At the ends blanks are taken off, before ';' they begin a comment. */
		bool end = value[1] == '\0' || value == buf_text(&steady);

		(void)buf_putc(buf, *value == ';' || (*value == ' ' && end) ? '?' : *value);
	}
	(void)buf_putc(buf, '\n');
	buf_done(&quoted);
	buf_done(&steady);
}

int suppress_print(struct buf *buf, const struct finding *finding)
{
	(void)buf_printf(buf, "[suppress]\nrule = %s\n", finding->rule->id);
	if (finding->exe)
		put_value(buf, "exe", finding->exe);
	if (finding->place) {
		struct buf place = BUF_INIT;

		(void)buf_puts(&place, finding->place);
		/* A folder: what is in it. */
		if (place.bytes > 0 && place.data[place.bytes - 1] == '/')
			place.bytes--;
		if (*buf_text(&place))
			put_value(buf, "path", buf_text(&place));
		buf_done(&place);
	}
	(void)buf_printf(buf, "reason = %s\n", SUPPRESS_REASON);
	return buf->failed ? -1 : 0;
}
