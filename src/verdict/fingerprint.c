/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule.h"

#define LONG_NUMBER 4 /* digits: process ids and times, not versions */
#define RANDOM_LEAST 6 /* as mkstemp makes them */

/* The C locale's, whatever the user's is. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_word(char c)
{
	return is_digit(c) || is_upper(c) || is_lower(c) || c == '_';
}

/* "x7Gq2B": letters of both cases, or digits among letters beginning with
 * "tmp". */
static bool is_random(const char *word, size_t bytes)
{
	bool upper = false, lower = false, digit = false;

	for (size_t i = 0; i < bytes; i++) {
		upper |= i > 0 && is_upper(word[i]) && is_lower(word[i - 1]);
		lower |= i > 0 && is_lower(word[i]) && is_upper(word[i - 1]);
		digit |= is_digit(word[i]);
	}
	if (bytes >= RANDOM_LEAST + 2 && strncmp(word, "tmp", 3) == 0)
		return true;
	return bytes >= RANDOM_LEAST && ((upper && lower) || (upper && digit) || (lower && digit));
}

static bool only_digits(const char *word, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!is_digit(word[i]))
			return false;
	return bytes > 0;
}

/* Does the next part of a path, from `text` to `at`, have a name of its run? */
static bool is_temporary_place(const char *text, const char *at)
{
	static const char *const places[] = { "/tmp/", "/var/tmp/", "/dev/shm/", "/run/user/" };

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		size_t bytes = strlen(places[i]);

		if ((size_t)(at - text) >= bytes && memcmp(at - bytes, places[i], bytes) == 0)
			return true;
	}
	return false;
}

int fingerprint_steady(struct buf *buf, const char *text)
{
	const char *at = text;

	while (*at) {
		size_t bytes = 0;
		bool part = at == text || at[-1] == '/';

		if (part && is_temporary_place(text, at)) {
			(void)buf_putc(buf, '*');
			at += strcspn(at, "/ ");
			continue;
		}
		while (is_word(at[bytes]))
			bytes++;
		if (bytes == 0) {
			(void)buf_putc(buf, *at++);
			continue;
		}
		if ((only_digits(at, bytes) &&
		     (bytes >= LONG_NUMBER || (part && at - text >= 6 && memcmp(at - 6, "/proc/", 6) == 0))) ||
		    is_random(at, bytes)) {
			(void)buf_putc(buf, '*');
			at += bytes;
			continue;
		}
		for (; bytes > 0; bytes--)
			(void)buf_putc(buf, *at++);
	}
	return buf->failed ? -1 : 0;
}

/* FNV-1a; the end of a text is part of it. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (size_t i = 0; i <= strlen(text); i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool add_steady(uint64_t *hash, const char *text)
{
	struct buf buf = BUF_INIT;
	bool fine = fingerprint_steady(&buf, text ? text : "") == 0;

	*hash = add_text(*hash, buf_text(&buf));
	buf_done(&buf);
	return fine;
}

/* The order of costs is that of their counts: their sum has none. */
static uint64_t hash_of_costs(const struct finding *finding)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		uint64_t hash = UINT64_C(0xcbf29ce484222325);
		char name[SYS_NAME_MAX];

		hash = add_text(hash, sys_call(cost->call)->name);
		hash = add_text(hash, cost->err ? sys_errno_print(cost->err, name) : "");
		sum += hash;
	}
	return sum;
}

bool fingerprint(const struct finding *finding, char out[static FINGERPRINT_BYTES])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), costs = hash_of_costs(finding);
	char digits[FINGERPRINT_BYTES];

	out[0] = '\0';
	hash = add_text(hash, finding->rule->id);
	/* Where a program is installed differs from machine to machine. */
	if (!add_steady(&hash, finding->exe ? rule_base_name(finding->exe) : NULL) ||
	    !add_steady(&hash, finding->object))
		return false;
	(void)snprintf(digits, sizeof digits, "%016" PRIx64, costs);
	hash = add_text(hash, digits);
	(void)snprintf(out, FINGERPRINT_BYTES, "%016" PRIx64, hash);
	return true;
}
