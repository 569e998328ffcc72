/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/package-version.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of a part, not ended by NUL. */
struct part {
	const char *at, *end;
};

struct version {
	struct part epoch, upstream, revision;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct version split(const char *text)
{
	const char *end = text + strlen(text), *colon = strchr(text, ':'), *dash = strrchr(text, '-');
	struct version version = { .epoch = { text, text }, .revision = { end, end } };

	if (colon)
		version.epoch.end = colon++;
	version.upstream.at = colon ? colon : text;
	version.upstream.end = end;
	if (dash && dash >= version.upstream.at) {
		version.upstream.end = dash;
		version.revision.at = dash + 1;
	}
	return version;
}

/* '~' sorts before the end, the end before letters, letters before the rest;
 * a digit ends a run of others, as the end of the text does. */
static int weight(const struct part *part)
{
	unsigned char c;

	if (part->at == part->end || is_digit(*part->at))
		return 0;
	c = (unsigned char)*part->at;
	if (c == '~')
		return -1;
	return is_letter((char)c) ? c : c + 256;
}

static bool at_digit(const struct part *part)
{
	return part->at < part->end && is_digit(*part->at);
}

static int compare_numbers(struct part *a, struct part *b)
{
	int first = 0;

	while (a->at < a->end && *a->at == '0')
		a->at++;
	while (b->at < b->end && *b->at == '0')
		b->at++;
	for (; at_digit(a) && at_digit(b); a->at++, b->at++)
		if (first == 0)
			first = *a->at - *b->at;
	/* The longer number is the larger one. */
	if (at_digit(a))
		return 1;
	if (at_digit(b))
		return -1;
	return first;
}

static int compare_parts(struct part a, struct part b)
{
	while (a.at < a.end || b.at < b.end) {
		int r;

		while ((a.at < a.end && !at_digit(&a)) || (b.at < b.end && !at_digit(&b))) {
			int x = weight(&a), y = weight(&b);

			if (x != y)
				return x - y;
			a.at++;
			b.at++;
		}
		r = compare_numbers(&a, &b);
		if (r != 0)
			return r;
	}
	return 0;
}

int package_version_compare(const char *a, const char *b)
{
	struct version x = split(a), y = split(b);
	int r = compare_numbers(&x.epoch, &y.epoch);

	if (r == 0)
		r = compare_parts(x.upstream, y.upstream);
	return r ? r : compare_parts(x.revision, y.revision);
}

const char *package_version_upstream(const char *version, char out[static PACKAGE_VERSION_MAX])
{
	struct part upstream = split(version).upstream;
	size_t bytes = (size_t)(upstream.end - upstream.at);

	if (bytes > PACKAGE_VERSION_MAX - 1)
		bytes = PACKAGE_VERSION_MAX - 1;
	memcpy(out, upstream.at, bytes);
	out[bytes] = '\0';
	return out;
}
