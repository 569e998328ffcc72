/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The error of the command: filled where it is known what was tried, on
 * what, and why; printed once, at the top.  A function that fills an error
 * never logs.
 */
#ifndef SYSCULL_BASE_ERROR_H
#define SYSCULL_BASE_ERROR_H

struct error {
	int code; /* positive errno, 0 none */
	char text[480]; /* one line, no full stop, no newline */
};

/* Fills err (NULL is allowed) and returns -code, so that a caller can write
 * `return error_set(err, EINVAL, "…")`.  The first error stays. */
int error_set(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with ": strerror(code)" at the end. */
int error_errno(struct error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
