/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "verdict/judge.h"

/* No rule can be made to overflow by what it is told. */
#define COUNT_MOST UINT64_C(1000000000000)

void settings_done(struct settings *settings)
{
	vec_done(&settings->items);
}

/* What begins so is as near as can be. */
static unsigned distance_to(const char *word, const char *name, unsigned bound)
{
	if (strlen(word) > 1 && strncmp(word, name, strlen(word)) == 0)
		return 0;
	return text_distance(word, name, bound);
}

const struct rule *settings_rule(const char *name, struct error *err)
{
	const struct rule *found = rule_by_id(name);
	const char *nearest = found ? NULL : rule_nearest(name);

	if (nearest)
		(void)error_set(err, EINVAL, "no rule is called '%s'; did you mean '%s'?", name, nearest);
	else if (!found)
		(void)error_set(err, EINVAL, "no rule is called '%s'; 'syscull rules' lists them", name);
	return found;
}

/* Digits, in groups of three or without commas. */
static const char *digits_of(const char *text, uint64_t *ret)
{
	const char *at = text, *comma = NULL;
	uint64_t value = 0;

	for (; (*at >= '0' && *at <= '9') || (*at == ',' && at > text); at++) {
		if (*at == ',') {
			if (comma ? at - comma != 4 : at - text > 3)
				return NULL;
			comma = at;
			continue;
		}
		value = value * 10 + (uint64_t)(*at - '0');
		if (value > COUNT_MOST)
			return NULL;
	}
	if (at == text || (comma && at - comma != 4))
		return NULL;
	*ret = value;
	return at;
}

static const char *after_blank(const char *at)
{
	return at + strspn(at, " \t");
}

static int count_of(const char *text, uint64_t *ret, struct error *err)
{
	const char *end = digits_of(text, ret);

	if (!end || *end != '\0')
		return error_set(err, EINVAL, "'%s' is no count, as 64 or 4,096", text);
	return 0;
}

static int percent_of(const char *text, uint64_t *ret, struct error *err)
{
	const char *end = digits_of(text, ret);

	if (!end || strcmp(after_blank(end), "%") != 0 || *ret > 100)
		return error_set(err, EINVAL, "'%s' is no percentage, as 90 %%", text);
	return 0;
}

static const struct {
	const char *name;
	uint64_t bytes;
} byte_units[] = { { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 }, { "B", 1 } };

static int bytes_of(const char *text, uint64_t *ret, struct error *err)
{
	const char *end = digits_of(text, ret), *unit = end ? after_blank(end) : "";

	for (size_t i = 0; end && i < sizeof byte_units / sizeof byte_units[0]; i++) {
		if (strcmp(unit, byte_units[i].name) != 0 || *ret > COUNT_MOST / byte_units[i].bytes)
			continue;
		*ret *= byte_units[i].bytes;
		return 0;
	}
	if (end && *unit == '\0')
		return error_set(err, EINVAL, "'%s' needs a unit: B, KiB, MiB or GiB", text);
	return error_set(err, EINVAL, "'%s' is no size, as 4 KiB (units are B, KiB, MiB, GiB)", text);
}

/* "500 ms" as reports print it, and "500ms". */
static int ns_of(const char *text, uint64_t *ret, struct error *err)
{
	size_t number = strspn(text, "0123456789.");
	struct buf buf = BUF_INIT;
	int r;

	(void)buf_add(&buf, text, number);
	(void)buf_puts(&buf, after_blank(text + number));
	r = judge_time_parse(buf_text(&buf), ret, err);
	buf_done(&buf);
	return r;
}

static const struct {
	int (*parse)(const char *text, uint64_t *ret, struct error *err);
} units[] = {
	[RULE_COUNT] = { count_of },
	[RULE_BYTES] = { bytes_of },
	[RULE_NS] = { ns_of },
	[RULE_PERCENT] = { percent_of },
};

static int unknown_key(const struct rule *rule, const char *key, struct error *err)
{
	struct buf names = BUF_INIT;
	const char *nearest = NULL;
	unsigned best = text_slips(key) + 1;
	int r;

	for (const struct rule_limit *limit = rule->limits; limit && limit->name; limit++) {
		unsigned distance = distance_to(key, limit->name, best);

		if (distance < best) {
			best = distance;
			nearest = limit->name;
		}
		(void)buf_printf(&names, "%s, ", limit->name);
	}
	if (distance_to(key, "floor", best) < best)
		nearest = "floor";
	if (nearest)
		r = error_set(err, EINVAL, "%s has no limit '%s'; did you mean '%s'?", rule->id, key, nearest);
	else
		r = error_set(err, EINVAL, "%s has no limit '%s'; there are %sfloor", rule->id, key, buf_text(&names));
	buf_done(&names);
	return r;
}

int settings_set(struct settings *settings, const struct rule *rule, const char *key, const char *value,
		 struct error *err)
{
	struct setting setting = { .rule = rule, .limit = SETTING_FLOOR };
	struct analysis_floor floor;
	int r;

	if (strcmp(key, "floor") == 0) {
		r = judge_floor_parse(value, &floor, err);
		setting.share = r == 0 ? floor.share : 0;
		setting.least_ns = r == 0 ? floor.least_ns : 0;
		setting.enough_ns = r == 0 ? floor.enough_ns : 0;
	} else {
		size_t n = 0;

		while (rule->limits && rule->limits[n].name && strcmp(rule->limits[n].name, key) != 0)
			n++;
		if (!rule->limits || !rule->limits[n].name)
			return unknown_key(rule, key, err);
		setting.limit = n;
		r = units[rule->limits[n].unit].parse(value, &setting.value, err);
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < settings->items.used; i++)
		if (settings->items.at[i].rule == rule && settings->items.at[i].limit == setting.limit)
			return error_set(err, EEXIST, "%s of %s is set twice", key, rule->id);
	if (settings->items.used == SETTINGS_MAX)
		return error_set(err, E2BIG, "at most %d limits can be set", SETTINGS_MAX);
	if (!vec_push(&settings->items, setting))
		return error_errno(err, ENOMEM, "%s of %s", key, rule->id);
	return 0;
}

static const struct setting *find(const struct settings *settings, const struct rule *rule, size_t limit)
{
	for (size_t i = 0; settings && i < settings->items.used; i++)
		if (settings->items.at[i].rule == rule && settings->items.at[i].limit == limit)
			return &settings->items.at[i];
	return NULL;
}

bool settings_has(const struct settings *settings, const struct rule *rule, size_t limit)
{
	return find(settings, rule, limit);
}

uint64_t settings_limit(const struct settings *settings, const struct rule *rule, size_t limit)
{
	const struct setting *setting = find(settings, rule, limit);

	return setting ? setting->value : rule->limits[limit].value;
}

struct analysis_floor settings_floor(const struct settings *settings, const struct rule *rule,
				     const struct analysis_floor *all)
{
	const struct setting *setting = find(settings, rule, SETTING_FLOOR);

	if (!setting)
		return *all;
	return (struct analysis_floor){
		.share = setting->share, .least_ns = setting->least_ns, .enough_ns = setting->enough_ns, .set = true
	};
}

static void print_ns(struct buf *buf, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} names[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	size_t i = 0;

	while (ns % names[i].ns != 0)
		i++;
	(void)buf_printf(buf, "%" PRIu64 " %s", ns / names[i].ns, names[i].name);
}

void settings_print(struct buf *buf, enum rule_unit unit, uint64_t value)
{
	char number[TEXT_NUMBER_MAX];
	size_t i = 0;

	switch (unit) {
	case RULE_BYTES:
		while (value % byte_units[i].bytes != 0 || (value == 0 && byte_units[i].bytes > 1))
			i++;
		(void)buf_printf(buf, "%s %s", text_count(value / byte_units[i].bytes, number), byte_units[i].name);
		break;
	case RULE_NS:
		print_ns(buf, value);
		break;
	case RULE_PERCENT:
		(void)buf_printf(buf, "%" PRIu64 " %%", value);
		break;
	case RULE_COUNT:
	default:
		(void)buf_puts(buf, text_count(value, number));
		break;
	}
}
