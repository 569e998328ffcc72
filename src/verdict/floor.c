/* SPDX-License-Identifier: BSD-2-Clause */
/* "SHARE,TIME[,TIME]" as people write it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/judge.h"

/* A number without exponent, sign or blank; never the locale's comma. */
static const char *number_of(const char *text, double *ret)
{
	double value = 0, scale = 1;
	unsigned digits = 0;

	for (; *text >= '0' && *text <= '9' && digits < 15; text++, digits++)
		value = value * 10 + (*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && digits < 15; text++, digits++)
			value += (*text - '0') * (scale /= 10);
	*ret = value;
	return digits > 0 ? text : NULL;
}

static const char *share_of(const char *text, double *ret)
{
	text = number_of(text, ret);
	if (text && *text == '%') {
		*ret /= 100;
		text++;
	}
	return text && *ret <= 1 ? text : NULL;
}

static const char *time_of(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double value;

	text = number_of(text, &value);
	for (size_t i = 0; text && i < sizeof units / sizeof units[0]; i++) {
		size_t bytes = strlen(units[i].unit);

		if (strncmp(text, units[i].unit, bytes) != 0)
			continue;
		if (value * units[i].ns > 1e15)
			return NULL;
		*ret_ns = (uint64_t)(value * units[i].ns);
		return text + bytes;
	}
	return NULL;
}

int judge_floor_parse(const char *text, struct analysis_floor *ret)
{
	struct analysis_floor floor = JUDGE_FLOOR_DEFAULT;
	const char *at = share_of(text, &floor.share);

	if (!at || *at != ',')
		return -EINVAL;
	at = time_of(at + 1, &floor.least_ns);
	if (at && *at == ',')
		at = time_of(at + 1, &floor.enough_ns);
	if (!at || *at != '\0')
		return -EINVAL;
	*ret = floor;
	ret->set = true;
	return 0;
}
