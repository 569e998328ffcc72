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

static const char *share_of(const char *text, double *ret, struct error *err)
{
	const char *end = number_of(text, ret);

	if (end && *end == '%') {
		*ret /= 100;
		end++;
	}
	if (!end || (*end != ',' && *end != '\0')) {
		(void)error_set(err, EINVAL, "'%s' is no share, as 1%% or 0.01", text);
		return NULL;
	}
	if (*ret > 1) {
		(void)error_set(err, EINVAL, "a share is at most 100%%, not %.*s", (int)(end - text), text);
		return NULL;
	}
	return end;
}

static const char *time_of(const char *text, uint64_t *ret_ns, struct error *err)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double value;
	const char *end = number_of(text, &value);
	size_t bytes = strcspn(text, ",");

	for (size_t i = 0; end && i < sizeof units / sizeof units[0]; i++) {
		size_t length = strlen(units[i].unit);

		if (strncmp(end, units[i].unit, length) != 0 || end + length != text + bytes)
			continue;
		if (value * units[i].ns > 1e15) {
			(void)error_set(err, EINVAL, "the time '%.*s' is too long", (int)bytes, text);
			return NULL;
		}
		*ret_ns = (uint64_t)(value * units[i].ns);
		return text + bytes;
	}
	if (end && end == text + bytes)
		(void)error_set(err, EINVAL, "the time '%.*s' needs a unit: ns, us, ms or s", (int)bytes, text);
	else
		(void)error_set(err, EINVAL, "'%.*s' is no time, as 100us (units are ns, us, ms, s)", (int)bytes, text);
	return NULL;
}

int judge_time_parse(const char *text, uint64_t *ret_ns, struct error *err)
{
	const char *end;

	if (strchr(text, ','))
		return error_set(err, EINVAL, "'%s' is no time, as 100us (units are ns, us, ms, s)", text);
	end = time_of(text, ret_ns, err);
	return end ? 0 : -EINVAL;
}

int judge_floor_parse(const char *text, struct analysis_floor *ret, struct error *err)
{
	struct analysis_floor floor = JUDGE_FLOOR_DEFAULT;
	const char *at = share_of(text, &floor.share, err);

	if (at && *at == '\0')
		return error_set(err, EINVAL, "a time is missing behind the share, as in 1%%,100us");
	if (at)
		at = time_of(at + 1, &floor.least_ns, err);
	if (at && *at == ',')
		at = time_of(at + 1, &floor.enough_ns, err);
	if (!at)
		return -EINVAL;
	if (*at != '\0')
		return error_set(err, EINVAL, "'%s' is too much: a share and at most two times are wanted", at);
	*ret = floor;
	ret->set = true;
	return 0;
}
