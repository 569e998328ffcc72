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
	unsigned bound = 3;
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

static int add_number(uint64_t *set, const char *word, struct error *err)
{
	char *end;
	long nr;

	errno = 0;
	nr = strtol(word, &end, 10);
	if (*end != '\0' || errno != 0 || nr > INT32_MAX || !sys_call_id(SYS_ARCH_NATIVE, (int32_t)nr))
		return error_set(err, EINVAL, "no call with a name has the number %s here", word);
	set_bit(set, sys_call_id(SYS_ARCH_NATIVE, (int32_t)nr));
	return 0;
}

static int add_word(uint64_t *set, const char *word, struct error *err)
{
	bool may_miss = word[0] == '?';
	enum sys_call_id id;
	uint64_t class;

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
	for (;;) {
		size_t bytes = strcspn(at, ",");
		char word[WORD_MAX + 1];

		if (bytes > WORD_MAX)
			return error_set(err, EINVAL, "no call or class has a name like '%.40s...'", at);
		memcpy(word, at, bytes);
		word[bytes] = '\0';
		r = add_word(negated ? next.without : next.with, word, err);
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
