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
#define SYS_EXPR_NUMBERS_MAX 32

/* A call without a name, as sys_call_print has it: call_480, call_5 (i386). */
struct sys_expr_number {
	enum sys_arch arch;
	int32_t nr;
	bool negated;
};

/* Zeroed it selects all calls.  Calls without a name are CALL_unknown. */
struct sys_expr {
	uint64_t with[SYS_EXPR_WORDS], without[SYS_EXPR_WORDS];
	bool some; /* `with` counts */
	unsigned number_count;
	struct sys_expr_number numbers[SYS_EXPR_NUMBERS_MAX];
};

/* Expressions add up: what one of them names, but for what one of them
 * negates.  -EINVAL with err (the nearest name is suggested). */
int sys_expr_add(struct sys_expr *expr, const char *text, struct error *err);

static inline bool sys_expr_has(const struct sys_expr *expr, enum sys_call_id id)
{
	uint64_t bit = UINT64_C(1) << (id & 63);

	return (!expr->some || (expr->with[id >> 6] & bit)) && !(expr->without[id >> 6] & bit);
}

/* The same for a call that may have no name. */
bool sys_expr_has_number(const struct sys_expr *expr, enum sys_arch arch, int32_t nr);

#endif
