/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/term.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/stream.h"
#include "base/text.h"

#define DOTS "..."

static const char *const styles[] = {
	[TERM_PLAIN] = "",	   [TERM_TITLE] = "\033[1m",	[TERM_TIER] = "\033[33m",
	[TERM_MONEY] = "\033[36m", [TERM_ALARM] = "\033[1;31m",
};

void term_init(struct term *term, FILE *out, const struct tty *tty)
{
	*term = (struct term){ .out = out, .tty = *tty };
	term->width = tty->columns && tty->columns < TERM_COLUMNS_MAX ? tty->columns : TERM_COLUMNS_MAX;
}

int term_done(struct term *term)
{
	bool no_memory = term->line.failed;
	int r;

	buf_done(&term->line);
	if (no_memory)
		return -ENOMEM;
	r = stream_flush(term->out);
	return r == 0 && term->failed ? -EIO : r;
}

/* Escapes what a terminal must not get.  Backslashes stay single: most texts
 * come here escaped already. */
static void harmless(const struct term *term, struct buf *buf, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "\\");

		(void)text_escape(buf, text, plain, '\0', term->tty.utf8);
		text += plain;
		if (*text == '\\') {
			(void)buf_putc(buf, '\\');
			text++;
		}
	}
}

void term_foreign(const struct term *term, struct buf *buf, const char *text)
{
	(void)text_escape(buf, text, strlen(text), '\0', term->tty.utf8);
}

static size_t character_bytes(const char *text)
{
	unsigned char first = (unsigned char)*text;
	size_t bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	return strnlen(text, bytes);
}

/* The longest beginning of at most so many columns. */
static size_t fitting(const char *text, size_t bytes, unsigned columns, unsigned *ret_columns)
{
	size_t used = 0;

	*ret_columns = 0;
	while (used < bytes) {
		size_t one = character_bytes(text + used);
		unsigned wide = (unsigned)text_columns(text + used, one);

		if (*ret_columns + wide > columns)
			break;
		*ret_columns += wide;
		used += one;
	}
	return used;
}

/* Harmless bytes onto the line; the caller has seen to it that they fit. */
static void put_raw(struct term *term, enum term_style style, const char *text, size_t bytes, unsigned columns)
{
	bool colored = term->tty.color && style != TERM_PLAIN && bytes > 0;

	if (colored)
		(void)buf_puts(&term->line, styles[style]);
	(void)buf_add(&term->line, text, bytes);
	if (colored)
		(void)buf_puts(&term->line, "\033[0m");
	term->column += columns;
}

static void put_cut(struct term *term, enum term_style style, const char *text, unsigned room)
{
	size_t bytes = strlen(text), part;
	unsigned columns;

	part = fitting(text, bytes, room, &columns);
	if (part == bytes) {
		put_raw(term, style, text, bytes, columns);
		return;
	}
	if (room < sizeof DOTS - 1)
		return;
	part = fitting(text, bytes, room - (sizeof DOTS - 1), &columns);
	for (; part > 0 && (text[part - 1] == '.' || text[part - 1] == ' '); part--)
		columns--;
	put_raw(term, style, text, part, columns);
	put_raw(term, TERM_PLAIN, DOTS, sizeof DOTS - 1, sizeof DOTS - 1);
}

static unsigned room_left(const struct term *term)
{
	return term->column < term->width ? term->width - term->column : 0;
}

void term_cut(struct term *term, enum term_style style, const char *text, unsigned columns, bool pad)
{
	unsigned start = term->column, room = room_left(term);
	struct buf clean = BUF_INIT;

	harmless(term, &clean, text);
	put_cut(term, style, buf_text(&clean), columns < room ? columns : room);
	buf_done(&clean);
	if (pad)
		term_to(term, start + columns);
}

void term_whole(struct term *term, const char *text)
{
	struct buf clean = BUF_INIT;

	harmless(term, &clean, text);
	put_raw(term, TERM_PLAIN, buf_text(&clean), clean.bytes, 0);
	buf_done(&clean);
	term_end(term);
}

void term_put(struct term *term, enum term_style style, const char *text)
{
	term_cut(term, style, text, room_left(term), false);
}

void term_printf(struct term *term, enum term_style style, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list args;

	va_start(args, format);
	(void)buf_vprintf(&text, format, args);
	va_end(args);
	term_put(term, style, buf_text(&text));
	buf_done(&text);
}

void term_to(struct term *term, unsigned column)
{
	while (term->column < column && term->column < term->width)
		put_raw(term, TERM_PLAIN, " ", 1, 1);
}

unsigned term_columns(const struct term *term, const char *text)
{
	struct buf clean = BUF_INIT;
	unsigned columns;

	harmless(term, &clean, text);
	(void)buf_text(&clean);
	columns = (unsigned)text_columns(clean.data ? clean.data : "", clean.bytes);
	buf_done(&clean);
	return columns;
}

void term_right(struct term *term, enum term_style style, const char *text, unsigned column)
{
	unsigned columns = term_columns(term, text);

	if (columns < column)
		term_to(term, column - columns);
	term_put(term, style, text);
}

void term_wrap(struct term *term, enum term_style style, const char *text, unsigned left, unsigned right,
	       unsigned lines)
{
	struct buf clean = BUF_INIT;
	const char *word;

	right = right < term->width ? right : term->width;
	harmless(term, &clean, text);
	word = buf_text(&clean);
	while (*(word += strspn(word, " "))) {
		size_t bytes = strcspn(word, " "), part;
		unsigned space = term->column > left, columns;
		unsigned room = right > term->column + space ? right - term->column - space : 0;

		if (lines == 1) {
			term_to(term, term->column + space);
			put_cut(term, style, word, room);
			break;
		}
		part = fitting(word, bytes, room, &columns);
		if (part < bytes && space) {
			term_end(term);
			term_to(term, left);
			lines -= lines > 0;
			continue;
		}
		term_to(term, term->column + space);
		if (part == 0)
			part = character_bytes(word);
		put_raw(term, style, word, part, columns);
		word += part;
	}
	buf_done(&clean);
}

void term_aside(struct term *term, enum term_style style, const char *text, unsigned column)
{
	term->aside = text;
	term->aside_style = style;
	term->aside_end = column;
}

void term_end(struct term *term)
{
	const char *aside = term->aside;
	size_t bytes;

	term->aside = NULL;
	if (aside)
		term_right(term, term->aside_style, aside, term->aside_end);
	while (term->line.bytes > 0 && term->line.data[term->line.bytes - 1] == ' ')
		term->line.bytes--;
	(void)buf_putc(&term->line, '\n');
	bytes = term->line.bytes;
	if (!term->line.failed) {
		if (fwrite(term->line.data, 1, bytes, term->out) != bytes)
			term->failed = true;
		buf_clear(&term->line);
	}
	term->column = 0;
}
