/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HAND_ON 8192

static int write_file(void *data, const void *bytes, size_t count)
{
	errno = 0;
	if (fwrite(bytes, 1, count, data) != count)
		return errno > 0 ? -errno : -EIO;
	return 0;
}

void json_init(struct json *json, int (*write)(void *data, const void *bytes, size_t count), void *data)
{
	*json = (struct json){ .write = write, .data = data };
}

void json_init_file(struct json *json, FILE *file)
{
	json_init(json, write_file, file);
}

static void hand_on(struct json *json)
{
	if (json->error == 0 && json->buf.failed)
		json->error = -ENOMEM;
	if (json->error == 0 && json->buf.bytes > 0)
		json->error = json->write(json->data, json->buf.data, json->buf.bytes);
	buf_clear(&json->buf);
}

int json_done(struct json *json)
{
	int r;

	assert(json->error != 0 || (json->depth == 0 && json->whole));
	(void)buf_putc(&json->buf, '\n');
	hand_on(json);
	r = json->error;
	buf_done(&json->buf);
	return r;
}

static void new_line(struct json *json)
{
	if (json->depth > json->lines)
		return;
	(void)buf_putc(&json->buf, '\n');
	for (unsigned i = 0; i < json->depth; i++)
		(void)buf_putc(&json->buf, ' ');
}

static void separate(struct json *json)
{
	bool *some = &json->some[json->depth - 1];

	if (*some) {
		(void)buf_putc(&json->buf, ',');
		if (json->depth > json->lines)
			(void)buf_putc(&json->buf, ' ');
	}
	new_line(json);
	*some = true;
}

/* What stands before any value. */
static void begin_value(struct json *json)
{
	if (json->buf.bytes >= HAND_ON)
		hand_on(json);
	if (json->depth == 0) {
		assert(!json->whole);
		json->whole = true;
	} else if (json->open[json->depth - 1] == '{') {
		assert(json->keyed);
		json->keyed = false;
	} else {
		separate(json);
	}
}

static void open_level(struct json *json, char bracket)
{
	begin_value(json);
	assert(json->depth < JSON_DEPTH_MAX);
	json->open[json->depth] = bracket;
	json->some[json->depth] = false;
	json->depth++;
	(void)buf_putc(&json->buf, bracket);
}

static void close_level(struct json *json, char bracket, char closing)
{
	bool some;

	assert(json->depth > 0 && json->open[json->depth - 1] == bracket && !json->keyed);
	some = json->some[json->depth - 1];
	json->depth--;
	if (some && json->depth + 1 <= json->lines)
		new_line(json);
	(void)buf_putc(&json->buf, closing);
}

void json_object_begin(struct json *json)
{
	open_level(json, '{');
}

void json_object_end(struct json *json)
{
	close_level(json, '{', '}');
}

void json_array_begin(struct json *json)
{
	open_level(json, '[');
}

void json_array_end(struct json *json)
{
	close_level(json, '[', ']');
}

/* Length of the character that begins here, 0 when none does. */
static size_t utf8_bytes(const unsigned char *p, size_t left)
{
	uint32_t code;
	size_t bytes;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		bytes = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		bytes = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		bytes = 4;
	else
		return 0;
	if (bytes > left)
		return 0;
	code = p[0] & (0xffu >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (bytes == 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)))
		return 0;
	if (bytes == 4 && (code < 0x10000 || code > 0x10ffff))
		return 0;
	return bytes;
}

bool json_is_utf8(const char *bytes, size_t count)
{
	const unsigned char *p = (const unsigned char *)bytes;

	while (count > 0) {
		size_t used = *p < 0x80 ? 1 : utf8_bytes(p, count);

		if (used == 0)
			return false;
		p += used;
		count -= used;
	}
	return true;
}

/* Ends a line, or changes the direction of what follows: the last byte of
 * U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069. */
static bool is_steering(const unsigned char *p, size_t bytes)
{
	if (bytes != 3 || p[0] != 0xe2)
		return false;
	if (p[1] == 0x80)
		return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae);
	return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

static size_t plain_bytes(const unsigned char *p, size_t left)
{
	size_t n = 0;

	while (n < left && p[n] >= 0x20 && p[n] < 0x7f && p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

/* A file that is shown on a terminal must not be able to steer it: control
 * characters are escaped, those behind U+007F too. */
static void put_text(struct json *json, const char *bytes, size_t count)
{
	const unsigned char *p = (const unsigned char *)bytes, *end = p + count;
	struct buf *buf = &json->buf;

	(void)buf_putc(buf, '"');
	while (p < end) {
		size_t used = plain_bytes(p, (size_t)(end - p));

		if (used > 0) {
			(void)buf_add(buf, p, used);
			p += used;
			continue;
		}
		used = utf8_bytes(p, (size_t)(end - p));
		if (*p == '"' || *p == '\\')
			(void)buf_printf(buf, "\\%c", *p);
		else if (*p == '\n')
			(void)buf_puts(buf, "\\n");
		else if (*p == '\t')
			(void)buf_puts(buf, "\\t");
		else if (*p < 0x20 || *p == 0x7f)
			(void)buf_printf(buf, "\\u%04x", *p);
		else if (used == 2 && p[0] == 0xc2 && p[1] < 0xa0)
			(void)buf_printf(buf, "\\u%04x", p[1]);
		else if (is_steering(p, used))
			(void)buf_printf(buf, "\\u%04x", 0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
		else
			(void)buf_add(buf, p, used);
		p += used;
	}
	(void)buf_putc(buf, '"');
}

static void put_base64(struct buf *buf, const unsigned char *p, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	while (count > 0) {
		uint32_t group = (uint32_t)p[0] << 16 | (count > 1 ? (uint32_t)p[1] << 8 : 0) | (count > 2 ? p[2] : 0);

		(void)buf_putc(buf, digits[group >> 18]);
		(void)buf_putc(buf, digits[group >> 12 & 63]);
		(void)buf_putc(buf, count > 1 ? digits[group >> 6 & 63] : '=');
		(void)buf_putc(buf, count > 2 ? digits[group & 63] : '=');
		p += count < 3 ? count : 3;
		count -= count < 3 ? count : 3;
	}
}

void json_key(struct json *json, const char *key)
{
	assert(json->depth > 0 && json->open[json->depth - 1] == '{' && !json->keyed);
	if (json->buf.bytes >= HAND_ON)
		hand_on(json);
	separate(json);
	put_text(json, key, strlen(key));
	(void)buf_puts(&json->buf, ": ");
	json->keyed = true;
}

void json_none(struct json *json)
{
	begin_value(json);
	(void)buf_puts(&json->buf, "null");
}

void json_bool(struct json *json, bool value)
{
	begin_value(json);
	(void)buf_puts(&json->buf, value ? "true" : "false");
}

void json_int(struct json *json, int64_t value)
{
	begin_value(json);
	(void)buf_printf(&json->buf, "%" PRId64, value);
}

void json_uint(struct json *json, uint64_t value)
{
	char text[20], *at = text + sizeof text;

	begin_value(json);
	do
		*--at = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	(void)buf_add(&json->buf, at, (size_t)(text + sizeof text - at));
}

void json_double(struct json *json, double value)
{
	char text[40];
	bool point = false;

	if (!isfinite(value)) {
		json_none(json);
		return;
	}
	begin_value(json);
	(void)snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		(void)snprintf(text, sizeof text, "%.17g", value);
	/* The locale's decimal point can be anything, of several bytes too. */
	for (const char *p = text; *p; p++) {
		if (strchr("0123456789eE+-", *p)) {
			(void)buf_putc(&json->buf, *p);
		} else if (!point) {
			(void)buf_putc(&json->buf, '.');
			point = true;
		}
	}
}

void json_hex(struct json *json, uint64_t value)
{
	begin_value(json);
	(void)buf_printf(&json->buf, "\"0x%" PRIx64 "\"", value);
}

void json_bytes(struct json *json, const char *bytes, size_t count)
{
	if (!bytes) {
		json_none(json);
		return;
	}
	begin_value(json);
	if (json_is_utf8(bytes, count)) {
		put_text(json, bytes, count);
		return;
	}
	(void)buf_puts(&json->buf, "{\"b64\": \"");
	put_base64(&json->buf, (const unsigned char *)bytes, count);
	(void)buf_puts(&json->buf, "\"}");
}

void json_text(struct json *json, const char *text)
{
	json_bytes(json, text, text ? strlen(text) : 0);
}

void json_printf(struct json *json, const char *format, ...)
{
	struct buf text = BUF_INIT;
	va_list args;

	va_start(args, format);
	(void)buf_vprintf(&text, format, args);
	va_end(args);
	json_text(json, buf_text(&text));
	if (text.failed && json->error == 0)
		json->error = -ENOMEM;
	buf_done(&text);
}

void json_member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_member_int(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_int(json, value);
}

void json_member_uint(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_uint(json, value);
}

void json_member_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_member_string(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text);
}

void json_member_null(struct json *json, const char *key)
{
	json_key(json, key);
	json_none(json);
}
