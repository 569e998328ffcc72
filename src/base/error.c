/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* A name may be as long as an argument; the reason, which ends the message, stays whole. */
#define BEGIN_BYTES 160
#define GAP "..."

/* At a character's border: not inside of UTF-8. */
static const char *border(const char *at)
{
	for (int i = 0; i < 3 && ((unsigned char)*at & 0xc0) == 0x80; i++)
		at++;
	return at;
}

static void keep_ends(char *out, size_t room, const char *text)
{
	size_t bytes = strlen(text);
	size_t begin = (size_t)(border(text + BEGIN_BYTES) - text);
	const char *end = border(text + bytes - (room - 1 - begin - strlen(GAP)));

	(void)snprintf(out, room, "%.*s" GAP "%s", (int)begin, text, end);
}

static void error_fill(struct error *err, int code, const char *reason, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

static void error_fill(struct error *err, int code, const char *reason, const char *format, va_list args)
{
	AUTO_FREE char *text = NULL, *whole = NULL;

	err->code = code;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	if (text && asprintf(&whole, "%s%s%s", text, *reason ? ": " : "", reason) < 0)
		whole = NULL;
	if (!whole)
		(void)snprintf(err->text, sizeof err->text, "%s", *reason ? reason : strerror(code));
	else if (strlen(whole) < sizeof err->text)
		(void)snprintf(err->text, sizeof err->text, "%s", whole);
	else
		keep_ends(err->text, sizeof err->text, whole);
	/* One line, whatever names it quotes. */
	text_tame(err->text);
}

int error_set(struct error *err, int code, const char *format, ...)
{
	if (err && err->code == 0) {
		va_list args;

		va_start(args, format);
		error_fill(err, code, "", format, args);
		va_end(args);
	}
	return -code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	if (err && err->code == 0) {
		va_list args;

		va_start(args, format);
		error_fill(err, code, strerror(code), format, args);
		va_end(args);
	}
	return -code;
}
