/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file an interpreter runs, by its command line and by what it was seen
 * to start and open.  Never a guess: an option that is not known, or a word
 * that may be cut, and nothing is said.
 */
#ifndef SYSCULL_MODEL_SCRIPT_H
#define SYSCULL_MODEL_SCRIPT_H

#include "model/model.h"

enum script_kind {
	SCRIPT_NONE, /* no interpreter, or not known */
	SCRIPT_FILE,
	SCRIPT_MODULE, /* python3 -m */
	SCRIPT_LINE, /* text of the command line: -c, -e */
};

struct model_script {
	enum script_kind kind;
	const char *name; /* foreign; of a file as passed, or its path where that was seen; NULL for a line */
	bool shell; /* looks for it in PATH */
	bool starts; /* until it is opened an interpreter only starts */
};

/* By the command line alone: `bytes` of NUL-ended words. `cut`: the last of them may be. */
struct model_script script_find(const char *exe, const char *argv, size_t bytes, bool cut);
/* name lives as long as the model. */
struct model_script model_script_of(const struct model_process *process);

#endif
