/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of `syscull diff`; one file each. */
#ifndef SYSCULL_REPORT_DIFF_H
#define SYSCULL_REPORT_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "base/tty.h"
#include "verdict/snapshot.h"

struct diff_reporter {
	const char *name; /* as --format has it */
	/* all: what did not change too */
	int (*write)(FILE *out, const struct compare *compare, bool all, const struct tty *tty);
};

extern const struct diff_reporter diff_reporter_list[]; /* ends with name NULL */
const struct diff_reporter *diff_reporter_by_name(const char *name);

int diff_text_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty);
int diff_json_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty);
int diff_markdown_write(FILE *out, const struct compare *compare, bool all, const struct tty *tty);

#endif
