/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a report goes.  Opened close-on-exec before the command starts; a
 * regular file is written beside its name and renamed into place, pipes and
 * devices are written to as they are, and so is the open descriptor that
 * "fd:N" names.
 */
#ifndef SYSCULL_CMD_OUTPUT_H
#define SYSCULL_CMD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output {
	FILE *stream; /* NULL: stderr */
	char *path, *temporary; /* temporary NULL: no renaming */
	bool private; /* set before opening: for its owner alone, whatever the umask and the file before */
};

#define OUTPUT_INIT ((struct output){ 0 })

/*
 * A standard descriptor that is closed must not become one of our files.  Its
 * place is taken by one that cannot be written, and that the command, which
 * is to find it closed, does not get.  Before anything is opened.
 */
void output_fill_standard(void);
bool output_was_closed(int fd);
int output_check_stdout(struct error *err);
/* The summary of a step of GitHub Actions, which is appended to; NULL: none. */
const char *output_summary(void);
/* path NULL or "-": stderr. */
int output_open(struct output *output, const char *path, struct error *err);
FILE *output_stream(struct output *output);
int output_fd(struct output *output);
/* Flushes, checks and renames. */
int output_close(struct output *output, struct error *err);
/* Forgets what was not closed. */
void output_discard(struct output *output);

#endif
