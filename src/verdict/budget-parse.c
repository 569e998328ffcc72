/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a budget.  What cannot be understood is an error that says
 * what to write: a budget that is silently about nothing would pass for ever.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "verdict/budget-state.h"

#define LIMIT_MAX 9007199254740992.0 /* 2^53: a double counts so far */
#define TEXT_MAX 4096

#define IN_REGION " in region "
#define IN_PROGRAM " in program "
#define AT_SITE " at site "
#define PER_ITEM " per item"
#define FIXED " fixed"

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

static void trim_end(char *text)
{
	size_t bytes = strlen(text);

	while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t'))
		text[--bytes] = '\0';
}

/* Cuts `suffix` off the end of the text. */
static bool cut_suffix(char *text, const char *suffix)
{
	size_t bytes = strlen(text), tail = strlen(suffix);

	if (bytes < tail || strcmp(text + bytes - tail, suffix) != 0)
		return false;
	text[bytes - tail] = '\0';
	trim_end(text);
	return true;
}

/* Digits, and for a slope a fraction. */
static int parse_limit(const char *text, double *ret, struct error *err)
{
	size_t digits = strspn(text, "0123456789"), fraction = 0;

	if (digits > 0 && text[digits] == '.')
		fraction = 1 + strspn(text + digits + 1, "0123456789");
	if (digits == 0 || fraction == 1 || text[digits + fraction] != '\0')
		return error_set(err, EINVAL, "'%.80s' is no number; write digits only, as in '@xattr=1000'", text);
	*ret = strtod(text, NULL);
	if (*ret > LIMIT_MAX)
		return error_set(err, ERANGE, "'%.80s' is too large a number", text);
	return 0;
}

/* The comparison, and the text split there: *ret_left ends before it. */
static int split(const struct budget *budget, char *text, double *ret_limit, bool *ret_open, struct error *err)
{
	const char *option = budget_option(budget->kind);
	char *op = NULL, *right;
	bool less, more, equal;

	for (char *at = text; *at; at++)
		if (strchr("=<>", *at))
			op = at;
	if (!op && budget->kind == BUDGET_CANARY) {
		*ret_limit = 1;
		return 0;
	}
	if (!op)
		return error_set(err, EINVAL, "'%.80s' has no number; write '%.80s%s'", text, text,
				 budget->kind == BUDGET_MAX ? "=0" : ">=1");
	right = op + 1;
	equal = *op == '=';
	if (equal && op > text && strchr("<>", op[-1]))
		op--;
	else if (op > text && strchr("=<>", op[-1]))
		return error_set(err, EINVAL, "'%.2s' is no comparison; there are =, <=, <, >= and >", op - 1);
	less = *op == '<';
	more = *op == '>';
	*ret_open = !equal;
	*op = '\0';
	right = (char *)skip_blanks(right);
	trim_end(right);
	if (more && budget->kind == BUDGET_MAX)
		return error_set(err, EINVAL,
				 "%s is the most that is allowed: '%.80s<=%.20s'; for at least there is --min", option,
				 text, right);
	if (less && budget->kind != BUDGET_MAX)
		return error_set(err, EINVAL,
				 "%s is the least that is wanted: '%.80s>=%.20s'; for at most there is --max", option,
				 text, right);
	return parse_limit(right, ret_limit, err);
}

static int add_rule(struct budget *budget, const struct rule *rule, const char *qualifier, struct error *err)
{
	struct budget_rule_term term = { .rule = rule };

	if (qualifier && strcmp(qualifier, "worth") != 0)
		return error_set(err, EINVAL, "'%s:%.40s': after a rule comes only ':worth'", rule->id, qualifier);
	term.worth = qualifier != NULL;
	return vec_push(&budget->rules, term) ? 0 : error_errno(err, ENOMEM, "budget");
}

static int parse_errno(const char *name, const char *qualifier, int *ret, struct error *err)
{
	char upper[24];
	size_t i;

	*ret = sys_errno_by_name(qualifier);
	if (*ret != 0)
		return 0;
	for (i = 0; qualifier[i] && i < sizeof upper - 1; i++)
		upper[i] = qualifier[i] >= 'a' && qualifier[i] <= 'z' ? (char)(qualifier[i] - 'a' + 'A') : qualifier[i];
	upper[i] = '\0';
	if (sys_errno_by_name(upper) != 0)
		return error_set(err, EINVAL, "'%s:%s': did you mean '%s:%s'?", name, qualifier, name, upper);
	if (strcmp(qualifier, "worth") == 0)
		return error_set(err, EINVAL, "'%s:worth': only a rule has findings that are worth fixing", name);
	return error_set(err, EINVAL, "'%s:%.40s': there is no such errno; write a name such as ENOENT", name,
			 qualifier);
}

static int add_calls(struct budget *budget, const char *name, const char *qualifier, struct error *err)
{
	struct budget_term *term = vec_add(&budget->terms);
	bool total = strcmp(name, "total") == 0 || strcmp(name, "all") == 0;

	if (!term)
		return error_errno(err, ENOMEM, "budget");
	term->family = name[0] == '@' || name[0] == '%' ||
		       (!total && sys_class(name) != 0 && sys_call_by_name(name) == CALL_unknown);
	budget->total = budget->total || (total && !qualifier);
	if (qualifier && parse_errno(name, qualifier, &term->err, err) < 0)
		return -EINVAL;
	return sys_expr_add(&term->calls, total ? "all" : name, err);
}

static int add_term(struct budget *budget, char *word, struct error *err)
{
	char *colon = strchr(word, ':');
	const char *qualifier = colon ? colon + 1 : NULL, *nearest;
	const struct rule *rule;

	if (colon)
		*colon = '\0';
	if (*word == '\0' || (qualifier && *qualifier == '\0'))
		return error_set(err, EINVAL, "a name is missing; '+' stands between calls, ':' before an errno");
	if (strpbrk(word, " \t"))
		return error_set(err, EINVAL,
				 "'%.80s' is not understood; after the calls comes 'per item', 'fixed', "
				 "'in program NAME', 'at site PATTERN' or 'in region NAME'",
				 word);
	/* What the expressions of -e have beside names: lists, '!' and '?' would
	 * name other calls than were meant, or none. */
	if (strpbrk(word, ",!?/*=") || strcmp(word, "none") == 0 || (*word >= '0' && *word <= '9'))
		return error_set(err, EINVAL,
				 "'%.80s' names no call; write calls, %%classes, @families joined by '+', "
				 "or rules",
				 word);
	rule = rule_by_id(word);
	if (rule)
		return add_rule(budget, rule, qualifier, err);
	nearest = strchr(word, '-') ? rule_nearest(word) : NULL;
	if (nearest)
		return error_set(err, EINVAL, "there is no rule '%s'; did you mean '%s'?", word, nearest);
	if (strchr(word, '-'))
		return error_set(err, EINVAL, "there is no rule '%.80s'; 'syscull rules' lists them", word);
	return add_calls(budget, word, qualifier, err);
}

static int parse_terms(struct budget *budget, const char *text, struct error *err)
{
	char *copy AUTO_FREE = strdup(text);
	int r = copy ? 0 : error_errno(err, ENOMEM, "budget");

	for (char *at = copy, *next; at && r == 0; at = next) {
		next = strchr(at, '+');
		if (next)
			*next++ = '\0';
		r = add_term(budget, at, err);
	}
	if (r == 0 && budget->terms.used > 0 && budget->rules.used > 0)
		r = error_set(err, EINVAL, "'%.80s' adds calls to calls that rules found; make it two budgets", text);
	return r;
}

/* What stands behind `words`, to the end of the text, which then ends before them; NULL: they
 * are not there, or there is an error. */
static char *cut_clause(char *text, const char *words, const char *what, struct error *err)
{
	char *at = strstr(text, words), *copy;
	const char *name;

	if (!at)
		return NULL;
	name = skip_blanks(at + strlen(words));
	if (*name == '\0') {
		(void)error_set(err, EINVAL, "the name of a %s is missing", what);
		return NULL;
	}
	copy = strdup(name);
	if (!copy)
		(void)error_errno(err, ENOMEM, "budget");
	*at = '\0';
	trim_end(text);
	return copy;
}

/* "in region NAME" takes the rest, since such names may hold anything; so do functions, up to there. */
static int parse_scope(struct budget *budget, char *text, struct error *err)
{
	struct error why = { 0 };

	budget->region = cut_clause(text, IN_REGION, "region", &why);
	budget->site = cut_clause(text, AT_SITE, "site", &why);
	budget->program = cut_clause(text, IN_PROGRAM, "program", &why);
	if (why.text[0]) {
		if (err)
			*err = why;
		return -EINVAL;
	}
	if (cut_suffix(text, PER_ITEM))
		budget->measure = BUDGET_PER_ITEM;
	else if (cut_suffix(text, FIXED))
		budget->measure = BUDGET_FIXED;
	return 0;
}

/* What it is about, in one spelling, so that equal budgets are found. */
static int name_it(struct budget *budget, const char *calls)
{
	struct buf what = BUF_INIT;

	(void)buf_puts(&what, calls);
	if (budget->measure != BUDGET_COUNT)
		(void)buf_puts(&what, budget->measure == BUDGET_PER_ITEM ? PER_ITEM : FIXED);
	if (budget->program)
		(void)buf_printf(&what, IN_PROGRAM "%s", budget->program);
	if (budget->site)
		(void)buf_printf(&what, AT_SITE "%s", budget->site);
	if (budget->region)
		(void)buf_printf(&what, IN_REGION "%s", budget->region);
	budget->calls = strdup(calls);
	budget->what = buf_steal(&what);
	buf_done(&what);
	return budget->what && budget->calls ? 0 : -ENOMEM;
}

static int check_sense(const struct budget *budget, bool open, struct error *err)
{
	if (budget->rules.used > 0 && budget->region)
		return error_set(err, EINVAL, "'%.80s': findings of rules are of a whole run, not of a region",
				 budget->what);
	if (budget->kind == BUDGET_CANARY && budget->rules.used > 0)
		return error_set(err, EINVAL, "'%.80s': a canary proves that work was done, by calls; rules find waste",
				 budget->what);
	if (budget->kind == BUDGET_CANARY && budget->measure != BUDGET_COUNT)
		return error_set(err, EINVAL, "'%.80s': a canary is met in every run; leave '%s' out", budget->what,
				 budget->measure == BUDGET_PER_ITEM ? "per item" : "fixed");
	if (budget->measure == BUDGET_COUNT && budget->limit != floor(budget->limit))
		return error_set(err, EINVAL, "'%.80s': calls are counted in whole numbers", budget->what);
	if (budget->measure != BUDGET_COUNT && open)
		return error_set(err, EINVAL, "'%.80s': write %s", budget->what,
				 budget->kind == BUDGET_MAX ? "<=" : ">=");
	return 0;
}

static int parse(struct budget *budget, const char *text, struct error *err)
{
	char *copy AUTO_FREE = strdup(skip_blanks(text));
	bool open = false;
	int r;

	if (!copy)
		return error_errno(err, ENOMEM, "budget");
	if (strlen(copy) > TEXT_MAX)
		return error_set(err, E2BIG, "a budget has at most %d characters", TEXT_MAX);
	trim_end(copy);
	r = split(budget, copy, &budget->limit, &open, err);
	trim_end(copy);
	if (r == 0)
		r = parse_scope(budget, copy, err);
	if (r == 0)
		r = parse_terms(budget, copy, err);
	if (r == 0 && name_it(budget, copy) < 0)
		r = error_errno(err, ENOMEM, "budget");
	if (r == 0)
		r = check_sense(budget, open, err);
	if (r == 0 && open && budget->kind == BUDGET_MAX) {
		if (budget->limit < 1)
			return error_set(err, EINVAL, "'%.80s': nothing is less than 0; write '<=0'", budget->what);
		budget->limit -= 1;
	} else if (r == 0 && open) {
		budget->limit += 1;
	}
	return r;
}

int budgets_add(struct budgets *budgets, enum budget_kind kind, const char *text, enum budget_origin origin,
		struct error *err)
{
	struct budget *budget;
	int r;

	if (budgets->items.used >= BUDGETS_MAX)
		return error_set(err, E2BIG, "there are at most %d budgets", BUDGETS_MAX);
	budget = vec_add(&budgets->items);
	if (!budget)
		return error_errno(err, ENOMEM, "budget");
	budget->kind = kind;
	budget->origin = origin;
	map_init(&budget->group_index, sizeof(uint32_t), BUDGET_GROUPS_MAX);
	map_init(&budget->sites, sizeof(uint64_t), 0);
	r = parse(budget, text, err);
	if (r < 0) {
		budget_done(budget);
		budgets->items.used--;
	}
	return r;
}
