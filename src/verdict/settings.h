/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a configuration says of rules: thresholds other than the rules' own,
 * and a floor per rule.  Reads values; where they stood is the caller's
 * business.
 */
#ifndef SYSCULL_VERDICT_SETTINGS_H
#define SYSCULL_VERDICT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "rules/rule.h"

#define SETTINGS_MAX 256

struct analysis_floor;

struct setting {
	const struct rule *rule;
	size_t limit; /* in rule->limits; SETTING_FLOOR */
	uint64_t value;
	double share; /* of a floor, with the times */
	uint64_t least_ns, enough_ns;
};
#define SETTING_FLOOR SIZE_MAX

/* Zeroed: every rule as it is. */
struct settings {
	VEC(struct setting) items;
};

void settings_done(struct settings *settings);
/*
 * `key` is one of the rule's limits or "floor"; the value has the unit that
 * the limit is in ("64", "90 %", "4 KiB", "500 ms", "1%,100us").  -EINVAL
 * with err: not that; -EEXIST: it is set already.
 */
int settings_set(struct settings *settings, const struct rule *rule, const char *key, const char *value,
		 struct error *err);
/* A rule by its name, or NULL with err, which names the nearest. */
const struct rule *settings_rule(const char *name, struct error *err);

/* NULL settings are none. */
bool settings_has(const struct settings *settings, const struct rule *rule, size_t limit);
uint64_t settings_limit(const struct settings *settings, const struct rule *rule, size_t limit);
/* That of the rule when it has one, else `all`. */
struct analysis_floor settings_floor(const struct settings *settings, const struct rule *rule,
				     const struct analysis_floor *all);

/* "90 %", in the words that settings_set takes. */
void settings_print(struct buf *buf, enum rule_unit unit, uint64_t value);

#endif
