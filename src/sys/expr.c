/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define WORD_MAX 63

static void set_bit(uint64_t *set, unsigned id)
{
	set[id >> 6] |= UINT64_C(1) << (id & 63);
}

/* Of classes and families; the sign has to be right. */
static const char *nearest_class(const char *name)
{
	const char *best = NULL, *class;
	unsigned bound = text_slips(name) + 1;
	uint64_t bit;

	for (size_t n = 0; (class = sys_class_name(n, &bit)); n++) {
		unsigned distance = class[0] == name[0] ? text_distance(name, class, bound) : bound;

		if (distance < bound) {
			bound = distance;
			best = class;
		}
	}
	return best;
}

static int unknown(const char *word, struct error *err)
{
	bool class = word[0] == '%' || word[0] == '@';
	const char *nearest = class ? nearest_class(word) : sys_call_nearest(word);
	const char *what = word[0] == '%' ? "class" : word[0] == '@' ? "family" : "call";

	if (nearest)
		return error_set(err, EINVAL, "there is no %s '%s'; did you mean '%s'?", what, word, nearest);
	return error_set(err, EINVAL, "there is no %s '%s'", what, word);
}

/* Kernels add a few numbers a year and are below 500. */
#define NATIVE_NR_MAX 4095

static int add_number(uint64_t *set, const char *word, struct error *err)
{
	char *end;
	long nr;

	errno = 0;
	nr = strtol(word, &end, 10);
	if (*end == '\0' && (errno != 0 || nr > NATIVE_NR_MAX))
		return error_set(err, EINVAL, "no kernel has a call with the number %s", word);
	if (*end != '\0' || !sys_call_id(SYS_ARCH_NATIVE, (int32_t)nr))
		return error_set(err, EINVAL, "no call with a name has the number %s here; others are written call_%s",
				 word, word);
	set_bit(set, sys_call_id(SYS_ARCH_NATIVE, (int32_t)nr));
	return 0;
}

/* "call_480", "call_5 (i386)": 1 when it is one, 0 when it is not. */
static int add_unnamed(struct sys_expr *expr, bool negated, const char *word, struct error *err)
{
	char printed[SYS_NAME_MAX];
	char *end;
	long nr;

	if (strncmp(word, "call_", 5) != 0)
		return 0;
	nr = strtol(word + 5, &end, 10);
	if (end == word + 5 || nr < INT32_MIN || nr > INT32_MAX)
		return 0;
	if (*end == '\0' && sys_call_id(SYS_ARCH_NATIVE, (int32_t)nr) != CALL_unknown)
		return error_set(err, EINVAL, "'%s' is %s", word,
				 sys_call_print(SYS_ARCH_NATIVE, (int32_t)nr, printed));
	if (*end == '\0' && nr > NATIVE_NR_MAX)
		return error_set(err, EINVAL, "'%s': no kernel has calls of such numbers", word);
	for (int arch = 0; arch < SYS_ARCH_COUNT; arch++) {
		if (strcmp(sys_call_print((enum sys_arch)arch, (int32_t)nr, printed), word) != 0)
			continue;
		if (expr->number_count == SYS_EXPR_NUMBERS_MAX)
			return error_set(err, E2BIG, "at most %d calls without a name can be given",
					 SYS_EXPR_NUMBERS_MAX);
		expr->numbers[expr->number_count++] = (struct sys_expr_number){
			.arch = (enum sys_arch)arch,
			.nr = (int32_t)nr,
			.negated = negated,
		};
		return 1;
	}
	return 0;
}

bool sys_expr_has_number(const struct sys_expr *expr, enum sys_arch arch, int32_t nr)
{
	enum sys_call_id id = sys_call_id(arch, nr);
	bool has = sys_expr_has(expr, id), with = false;

	if (id != CALL_unknown)
		return has;
	for (unsigned i = 0; i < expr->number_count; i++) {
		const struct sys_expr_number *number = &expr->numbers[i];

		if (number->arch != arch || number->nr != nr)
			continue;
		if (number->negated)
			return false;
		with = true;
	}
	/* What negates all calls without a name negates this one. */
	return has || (with && !(expr->without[0] & 1));
}

static int add_word(struct sys_expr *expr, bool negated, const char *word, struct error *err)
{
	uint64_t *set = negated ? expr->without : expr->with;
	bool may_miss = word[0] == '?';
	enum sys_call_id id;
	uint64_t class;
	int r;

	word += may_miss;
	if (*word == '\0')
		return error_set(err, EINVAL, "a name is missing between the commas");
	if (*word == '!')
		return error_set(err, EINVAL, "'!' negates a whole list and stands before it: '!%s'", word + 1);
	if (*word == '/')
		return error_set(err, EINVAL, "'%s': regular expressions are not understood; name calls or a %%class",
				 word);
	if (*word >= '0' && *word <= '9')
		return add_number(set, word, err);
	if (strcmp(word, "all") == 0) {
		for (unsigned call = 0; call < CALL_COUNT; call++)
			set_bit(set, call);
		return 0;
	}
	if (strcmp(word, "none") == 0)
		return 0;
	id = sys_call_by_name(word);
	if (id != CALL_unknown) {
		set_bit(set, id);
		return 0;
	}
	r = add_unnamed(expr, negated, word, err);
	if (r != 0)
		return r < 0 ? r : 0;
	class = sys_class(word);
	if (class == 0)
		return may_miss ? 0 : unknown(word, err);
	for (unsigned call = 1; call < CALL_COUNT; call++)
		if (sys_call((enum sys_call_id)call)->classes & class)
			set_bit(set, call);
	return 0;
}

int sys_expr_add(struct sys_expr *expr, const char *text, struct error *err)
{
	const char *at = text, *equals = strchr(text, '=');
	struct sys_expr next = *expr;
	bool negated;
	int r;

	if (strncmp(at, "trace=", 6) == 0 || strncmp(at, "t=", 2) == 0)
		at = equals + 1;
	else if (equals)
		return error_set(err, EINVAL, "'%.*s=' is not understood; only 'trace=' and lists of calls are",
				 (int)(equals - text), text);
	negated = *at == '!';
	at += negated;
	if (*at == '\0')
		return error_set(err, EINVAL, "'%s' names no call; give names, %%classes or @families, or all, or none",
				 text);
	for (;;) {
		size_t bytes = strcspn(at, ",");
		char word[WORD_MAX + 1];

		if (bytes > WORD_MAX)
			return error_set(err, EINVAL, "no call or class has a name like '%.40s...'", at);
		memcpy(word, at, bytes);
		word[bytes] = '\0';
		r = add_word(&next, negated, word, err);
		if (r < 0)
			return r;
		if (at[bytes] == '\0')
			break;
		at += bytes + 1;
	}
	next.some = next.some || !negated;
	*expr = next;
	return 0;
}
