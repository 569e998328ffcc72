/* SPDX-License-Identifier: BSD-2-Clause */
/* What can stand behind an option, for completion: from the tables that read it. */
#ifndef SYSCULL_CMD_COMPLETION_WORDS_H
#define SYSCULL_CMD_COMPLETION_WORDS_H

#include "base/buf.h"
#include "cmd/cmd.h"

enum completion_kind {
	COMPLETION_FILES, /* nothing better is known */
	COMPLETION_WORDS, /* one of them */
	COMPLETION_LIST, /* several, with commas between */
	COMPLETION_CALLS, /* calls, classes and families, with commas and "!" */
	COMPLETION_BUDGET, /* one of those or a rule, and something behind it */
};

/* Words with spaces between are appended, of the two kinds that have their own. */
enum completion_kind completion_values(const struct command *command, const struct opt *option, struct buf *words);
/* Of COMPLETION_CALLS and COMPLETION_BUDGET. */
void completion_calls(struct buf *words);

#endif
