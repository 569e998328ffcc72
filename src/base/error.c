/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void error_fill(struct error *err, int code, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static void error_fill(struct error *err, int code, const char *format, va_list args)
{
	err->code = code;
	(void)vsnprintf(err->text, sizeof err->text, format, args);
	/* One line, whatever names it quotes. */
	text_tame(err->text);
}

int error_set(struct error *err, int code, const char *format, ...)
{
	if (err && err->code == 0) {
		va_list args;

		va_start(args, format);
		error_fill(err, code, format, args);
		va_end(args);
	}
	return -code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	if (err && err->code == 0) {
		va_list args;
		size_t used;

		va_start(args, format);
		error_fill(err, code, format, args);
		va_end(args);
		used = strlen(err->text);
		(void)snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(code));
	}
	return -code;
}
