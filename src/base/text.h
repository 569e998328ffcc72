/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and foreign strings as people read them.  Whatever comes from a
 * traced program goes through text_escape before it reaches a terminal.
 */
#ifndef SYSCULL_BASE_TEXT_H
#define SYSCULL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TEXT_NUMBER_MAX 32

/* 1234567 → "1,234,567". */
const char *text_count(uint64_t count, char out[static TEXT_NUMBER_MAX]);
/* "1 call", "2,002 calls", in out. */
const char *text_plural(uint64_t count, const char *one, const char *many, char *out, size_t bytes);
/* Nanoseconds with a fitting unit, two decimals below ten: "420 ns",
 * "1.14 us", "87 us", "2.30 ms", "1.80 s", "12 min". */
const char *text_ns(double ns, char out[static TEXT_NUMBER_MAX]);
/* 0.153 → "15 %"; below one per cent "0.4 %"; "<0.1 %". */
const char *text_share(double share, char out[static TEXT_NUMBER_MAX]);
/* Bytes: "512 B", "136 KiB". */
const char *text_bytes(uint64_t bytes, char out[static TEXT_NUMBER_MAX]);

/* Appends text with control characters, quotes (when `quote` is '"'),
 * backslashes and bytes that are no UTF-8 escaped as strace does (\n, \33,
 * octal).  Without utf8 all bytes above 0x7e are escaped. */
int text_escape(struct buf *buf, const char *text, size_t bytes, char quote, bool utf8);
/* In place: what text_escape would escape becomes '?', for our one-line messages. */
void text_tame(char *text);
/* A word for a shell: quoted only when it needs to be. */
int text_shell_word(struct buf *buf, const char *text, size_t bytes, bool utf8);

/* Columns that escaped text takes on a terminal (wcwidth). */
size_t text_columns(const char *text, size_t bytes);

/* How many characters have to be put in, taken out, replaced or swapped with
 * their neighbour; bound + 1 when it is more than bound. */
unsigned text_distance(const char *a, const char *b, unsigned bound);
/* The distance up to which "did you mean" makes sense: a third of the word, and at most 3. */
unsigned text_slips(const char *word);

#endif
