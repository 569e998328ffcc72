/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LOG_LINE_MAX 2048

void log_line(const char *format, ...)
{
	char line[LOG_LINE_MAX] = "syscull: ";
	size_t start = strlen(line);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(line + start, sizeof line - start - 1, format, args);
	va_end(args);
	/* One line, whatever names it quotes. */
	text_tame(line);
	line[strlen(line) + 1] = '\0';
	line[strlen(line)] = '\n';
	/* stderr is unbuffered: one write, so lines of two processes do not mix. */
	(void)fputs(line, stderr);
}

void log_error(const struct error *err)
{
	if (err->text[0] != '\0')
		log_line("%s", err->text);
	else
		log_line("%s", err->code ? strerror(err->code) : "unknown error");
}
