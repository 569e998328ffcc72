/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SYSCULL_CMD_EXEC_H
#define SYSCULL_CMD_EXEC_H

/* Becomes the program as execvp(3) would, a script without "#!" included;
 * returns a negative errno only when it could not. */
int exec_program(const char *program, char *const *argv);

#endif
