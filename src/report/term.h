/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of text for people: columns, wrapping, cutting, colour.  Whatever is
 * put on a line is made harmless first, and no line is longer than `width`.
 */
#ifndef SYSCULL_REPORT_TERM_H
#define SYSCULL_REPORT_TERM_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/tty.h"

enum term_style { TERM_PLAIN, TERM_TITLE, TERM_TIER, TERM_MONEY, TERM_ALARM };

#define TERM_COLUMNS_MAX 80

struct term {
	FILE *out;
	struct tty tty;
	unsigned width; /* of a line, at most TERM_COLUMNS_MAX */
	unsigned column; /* where the next character goes */
	struct buf line;
	const char *aside; /* waits for the end of the line, see term_aside */
	enum term_style aside_style;
	unsigned aside_end;
	bool failed; /* out of memory, or the stream failed */
};

void term_init(struct term *term, FILE *out, const struct tty *tty);
/* 0, or the negative errno of the first thing that failed. */
int term_done(struct term *term);

/* Puts text on the line; what does not fit is cut and ends in "...". */
void term_put(struct term *term, enum term_style style, const char *text);
void term_printf(struct term *term, enum term_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* At most `columns` of the text, cut with "..."; pads to `columns` when `pad`. */
void term_cut(struct term *term, enum term_style style, const char *text, unsigned columns, bool pad);
/* Spaces up to a column. */
void term_to(struct term *term, unsigned column);
/* Puts the text so that it ends before `column`. */
void term_right(struct term *term, enum term_style style, const char *text, unsigned column);
/* From here on in words, up to column `right`; further lines begin at column
 * `left`.  At most `lines` of them (0: as many as it takes), then "...".
 * Leaves the last line open. */
void term_wrap(struct term *term, enum term_style style, const char *text, unsigned left, unsigned right,
	       unsigned lines);
/* Text that the present line will end with, just before `column`; it must
 * live until term_end, which term_wrap may call. */
void term_aside(struct term *term, enum term_style style, const char *text, unsigned column);
/* A line of its own that must not be cut or wrapped, whatever the width: a command. */
void term_whole(struct term *term, const char *text);
void term_end(struct term *term);

/* A text of the traced program, escaped, appended to buf. */
void term_foreign(const struct term *term, struct buf *buf, const char *text);
/* Columns of a text after it was made harmless. */
unsigned term_columns(const struct term *term, const char *text);

#endif
