/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace expressions as strace has them: names, %classes, @families, comma
 * lists, "!" before a list, "trace=" before that; all, none; "?name" when it
 * may be unknown.  Compiled to a set of calls; a look-up is one bit.
 */
#ifndef SYSCULL_SYS_EXPR_H
#define SYSCULL_SYS_EXPR_H

#include "base/error.h"
#include "sys/sys.h"

#define SYS_EXPR_WORDS ((CALL_COUNT + 63) / 64)

/* Zeroed it selects all calls.  Calls without a name are CALL_unknown. */
struct sys_expr {
	uint64_t with[SYS_EXPR_WORDS], without[SYS_EXPR_WORDS];
	bool some; /* `with` counts */
};

/* Expressions add up: what one of them names, but for what one of them
 * negates.  -EINVAL with err (the nearest name is suggested). */
int sys_expr_add(struct sys_expr *expr, const char *text, struct error *err);

static inline bool sys_expr_has(const struct sys_expr *expr, enum sys_call_id id)
{
	uint64_t bit = UINT64_C(1) << (id & 63);

	return (!expr->some || (expr->with[id >> 6] & bit)) && !(expr->without[id >> 6] & bit);
}

#endif
