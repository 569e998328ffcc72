/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON as it goes: no tree, commas by itself.  What was written so
 * far is handed on in pieces, so that a report of any size needs a few KiB.
 * Wrong nesting is a mistake of the caller and is asserted; what can fail at
 * run time (memory, the target) is sticky and comes out of json_done.
 */
#ifndef SYSCULL_BASE_JSON_H
#define SYSCULL_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

#define JSON_DEPTH_MAX 32

struct json {
	struct buf buf; /* not handed on yet */
	int (*write)(void *data, const void *bytes, size_t count); /* 0 or negative errno */
	void *data;
	unsigned depth;
	unsigned lines; /* members and elements up to this depth begin a line of their own */
	char open[JSON_DEPTH_MAX]; /* '{' or '[' */
	bool some[JSON_DEPTH_MAX]; /* it has a member or element */
	bool keyed; /* a key waits for its value */
	bool whole; /* the one value of the text is written */
	int error;
};

void json_init(struct json *json, int (*write)(void *data, const void *bytes, size_t count), void *data);
void json_init_file(struct json *json, FILE *file);
/* Ends the text with a newline, hands on the rest and frees: 0, or the
 * negative errno of the first failure. */
int json_done(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);
/* ASCII, of our own. */
void json_key(struct json *json, const char *key);

void json_none(struct json *json);
void json_bool(struct json *json, bool value);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
/* So many digits that the same number is read back; null when it is none. */
void json_double(struct json *json, double value);
/* An address or raw argument: "0x7f12". */
void json_hex(struct json *json, uint64_t value);
/* A string; {"b64": "…"} when the bytes are not UTF-8; NULL is null. */
void json_bytes(struct json *json, const char *bytes, size_t count);
void json_text(struct json *json, const char *text);
void json_printf(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A key and its value. */
void json_member_bool(struct json *json, const char *key, bool value);
void json_member_int(struct json *json, const char *key, int64_t value);
void json_member_uint(struct json *json, const char *key, uint64_t value);
void json_member_double(struct json *json, const char *key, double value);
void json_member_string(struct json *json, const char *key, const char *text);
void json_member_null(struct json *json, const char *key);

/* Strictly: no surrogates, nothing longer than needed. */
bool json_is_utf8(const char *bytes, size_t count);

#endif
