/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that all formats for people share. */
#ifndef SYSCULL_REPORT_WORDS_H
#define SYSCULL_REPORT_WORDS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "verdict/analysis.h"

const char *word_tier(const struct finding *finding); /* "certain", "information" */
const char *word_remedy(enum finding_remedy_kind kind); /* "upgrade", "settings" */
/* "script" or "module", whose name is the finding's; "a command line"; NULL none. */
const char *word_script(const struct finding *finding);
/* "1.20 ms", or whose price it is in; buffer of TEXT_NUMBER_MAX bytes. */
const char *word_cost(const struct verdict_cost *cost, char *buffer);
/* argv as a shell takes it, appended; NULL: nothing. */
void word_command(struct buf *buf, char *const *argv);

/* "1 process, 2 threads, 301 calls", appended. */
void word_scale(struct buf *buf, const struct analysis_result *result);

/* Appended: made harmless once more, and printable text stays as it is (its
 * backslashes too, which text_escape would double). */
void word_harmless(struct buf *buf, const char *text);

/* For HTML and XML: escaped as for a terminal, then as markup needs. */
void word_markup(FILE *out, const char *text);
/* The same of printable text. */
void word_markup_harmless(FILE *out, const char *text);
/* In Markdown's code: in that nothing but a backquote means anything; in a table a
 * bar ends the cell even there. */
void word_code(FILE *out, const char *text, bool cell);
/* For Markdown outside of code. */
void word_markdown(FILE *out, const char *text);

#endif
