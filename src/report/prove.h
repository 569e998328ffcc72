/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats of `syscull fix --prove`; one file each. */
#ifndef SYSCULL_REPORT_PROVE_H
#define SYSCULL_REPORT_PROVE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/tty.h"
#include "verdict/analysis.h"
#include "verdict/prove.h"

struct prove_reporter {
	const char *name; /* as --format has it */
	bool machine;
	int (*write)(FILE *out, const struct prove_result *result, const struct analysis_host *host,
		     const struct tty *tty);
};

extern const struct prove_reporter prove_reporter_list[]; /* ends with name NULL */
const struct prove_reporter *prove_reporter_by_name(const char *name);

/* "faster", "slower", "no difference shown" */
const char *prove_word_text(enum prove_word word);

int prove_text_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
		     const struct tty *tty);
int prove_json_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
		     const struct tty *tty);
int prove_markdown_write(FILE *out, const struct prove_result *result, const struct analysis_host *host,
			 const struct tty *tty);

#endif
