/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A FILE that may be stdin ("-") or a pipe: read once, so that those who look
 * at it twice need not know.  Ordinary files are left to be opened by name.
 */
#ifndef SYSCULL_CMD_INPUT_H
#define SYSCULL_CMD_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define INPUT_COPY_MAX (UINT64_C(1) << 30)

struct input {
	const char *name; /* for messages */
	int fd; /* at its beginning, can be sought; -1: open it by its name */
	bool copied; /* its times and its inode say nothing of the file */
};

#define INPUT_INIT ((struct input){ .fd = -1 })

int input_open(struct input *input, const char *path, struct error *err);
void input_close(struct input *input);

#endif
