/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of our own to stderr: "syscull: …".  Only cmd/ prints. */
#ifndef SYSCULL_BASE_LOG_H
#define SYSCULL_BASE_LOG_H

#include "base/error.h"

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_error(const struct error *err);

#endif
