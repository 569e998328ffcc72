/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/judge.h"
#include "verdict/cause.h"
#include "verdict/programs.h"
#include "verdict/settings.h"
#include "verdict/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY_ALL 0.95
#define CLEARLY 1.5
#define LIFE_SPREAD 0.3 /* of the mean of all runs of a program */

static double average(uint64_t sum, uint64_t count)
{
	return count ? (double)sum / (double)count : 0;
}

/* The loop is not run for findings without pages. */
static struct price page_price(struct analysis_result *result, uint64_t low, uint64_t high, double calls)
{
	return high > 0 ? price_of_page(result->prices, calls > 0 ? (double)low / calls : 1) : (struct price){ 0 };
}

/* Calls of a finding, to be priced. */
struct sort {
	enum sys_call_id call;
	int err;
	double components; /* each */
	uint64_t pages; /* at most, of all */
	uint64_t count; /* of the finding */
	double life_ns; /* of what each of the finding's forks makes; below 0: not known, or none */
	bool work_stays; /* as the finding has it */
};

/* What one call of a sort took in this run, where that is clearly more than its
 * price.  If the finding has nearly all of the kind, theirs is the mean; if not,
 * nobody knows whose the long ones were: those that took longest are left out. */
static bool measured_price(const struct analysis_result *result, const struct verdict_call *call,
			   const struct sort *sort, struct price *price)
{
	double count = (double)call->row.count, mean_ns = call->ns / count, by = 1;

	if ((double)sort->count < NEARLY_ALL * count && call->usual_ns < mean_ns)
		by = call->usual_ns / mean_ns;
	if (!result->in_kernel && mean_ns * by <= CLEARLY * price->ns)
		return false;
	*price = (struct price){ .ns = mean_ns * by,
				 .low_ns = call->low_ns / count * by,
				 .high_ns = call->high_ns / count * by,
				 .source = PRICE_MEASURED,
				 .probe = price->probe };
	return true;
}

/*
 * As the table of calls has it: what this run leaves of a calibrated price;
 * and where the call's time was measured in this run and is clearly more (a
 * slow file system), that.  Which of success and failure it was is not
 * known: nearly all must have ended as these did.  Where pages are counted
 * apart, giving them back would be counted twice; where the work stays, it is in
 * what was measured.
 */
static struct price call_price_only(struct analysis_result *result, const struct sort *sort)
{
	struct price price = price_of(result->prices, sort->call, sort->err, sort->components);
	double fit = time_is_firm(sort->call) ? result->firm_fit : result->price_fit;

	if (fit > 0) {
		price.ns *= fit;
		price.low_ns *= fit;
	}
	for (size_t i = 0; i < result->all_call_count; i++) {
		const struct verdict_call *call = &result->all_calls[i];

		if (call->row.id == sort->call && call->most_ns > 0 && price.ns > call->most_ns) {
			price.ns = call->ns / (double)call->row.count;
			price.low_ns = price.low_ns < price.ns ? price.low_ns : price.ns;
			price.high_ns = call->most_ns;
		}
	}
	for (size_t i = 0; sort->pages == 0 && !sort->work_stays && i < result->all_call_count; i++) {
		const struct verdict_call *call = &result->all_calls[i];
		uint64_t same = sort->err ? call->row.failed : call->row.count - call->row.failed;

		if (call->row.id == sort->call && call->source == PRICE_MEASURED &&
		    (double)same >= NEARLY_ALL * (double)call->row.count && measured_price(result, call, sort, &price))
			break;
	}
	return price;
}

/* How many lives of this kind findings price. */
static double lives_count(const struct analysis_result *result, const struct finding_child *life)
{
	double count = 0;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct finding *finding = result->findings[i].finding;

		for (size_t k = 0; k < finding->children.used; k++)
			if (finding->children.at[k].exe == life->exe && finding->children.at[k].life == life->life)
				count += (double)finding->children.at[k].count;
	}
	return count;
}

/* Which part of a finding's calls was made in lives of this kind. */
static double part_in(const struct finding *finding, const struct finding_child *life)
{
	for (size_t i = 0; i < finding->parts.used; i++)
		if (finding->parts.at[i].exe == life->exe && finding->parts.at[i].life == life->life)
			return average(finding->parts.at[i].count, finding->owned);
	return 0;
}

/* What other findings tell of one run of a program. */
static double told_ns(const struct analysis_result *result, const struct finding_child *child)
{
	double ns = 0, part_ns = 0;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct verdict_finding *verdict = &result->findings[i];
		const struct finding *finding = verdict->finding;

		if (finding->information || finding->children.used > 0)
			continue;
		if (!finding->part_of)
			part_ns += verdict->cost_ns * part_in(finding, child);
		else if (finding->part_of == child->exe && child->life == FINDING_LIFE_RUN && child->exe->execs > 0)
			ns += verdict->cost_ns / (double)child->exe->execs;
	}
	return part_ns > 0 ? ns + part_ns / lives_count(result, child) : ns;
}

/* The kernel's account of single lives can come to more than what all tasks are told to have had. */
static double lives_fit(const struct analysis_result *result)
{
	double all_ns = programs_work_ns(result->programs, result->dearer_ns);

	return result->task_ns > 0 && all_ns > result->task_ns ? result->task_ns / all_ns : 1;
}

/* Of the children that a finding is about, for each of its forks.  What was before an exec
 * may be in the account of what came after it: they are summed before anything is taken away. */
static double lives_ns(const struct analysis_result *result, const struct finding *finding)
{
	double ns = 0, told = 0, forks = 0;

	if (!result->programs || finding->children.used == 0)
		return -1;
	for (size_t i = 0; i < finding->children.used; i++) {
		const struct finding_child *child = &finding->children.at[i];
		double each = child->exe
				      ? programs_life_ns(result->programs, child->exe, child->life, result->dearer_ns)
				      : -1;

		if (each < 0)
			return -1;
		ns += each * (double)child->count;
		told += told_ns(result, child) * (double)child->count;
	}
	ns = ns * lives_fit(result) - told;
	for (size_t i = 0; i < finding->costs.used; i++)
		if (sys_call(finding->costs.at[i].call)->classes & SYS_FAMILY_fork && finding->costs.at[i].err == 0)
			forks += (double)finding->costs.at[i].count;
	return forks > 0 ? (ns > 0 ? ns : 0) / forks : -1;
}

/* An exec that was not needed takes with it what comes of it, which is more than
 * the call; the table of calls has that in time between calls.  Where the lives of
 * the children are known, they are in the forks, and all else is in them. */
static struct price call_price(struct analysis_result *result, const struct sort *sort)
{
	bool makes = sort->err == 0 && (sys_call(sort->call)->classes & SYS_FAMILY_fork) != 0;
	struct price price, start;

	if (sort->life_ns >= 0) {
		price = makes ? call_price_only(result, sort) : (struct price){ .source = PRICE_MEASURED };
		if (makes) {
			price.ns += sort->life_ns;
			price.low_ns += sort->life_ns * (1 - LIFE_SPREAD);
			price.high_ns += sort->life_ns * (1 + LIFE_SPREAD);
			price.source = sort->life_ns * 2 > price.ns ? PRICE_MEASURED : price.source;
		}
		return price;
	}
	if (sort->err || (sort->call != CALL_execve && sort->call != CALL_execveat))
		return call_price_only(result, sort);
	start = price_of_start(result->prices);
	price = call_price_only(result, sort);
	return price.source == PRICE_MEASURED && price.ns > start.ns ? price : start;
}

/* How many of the kind the finding has; what a remedy adds is its own. */
static uint64_t found(const struct finding *finding, enum sys_call_id call, int err, int64_t delta)
{
	uint64_t count = delta < 0 ? (uint64_t)-delta : (uint64_t)delta;

	for (size_t i = 0; i < finding->costs.used; i++)
		if (finding->costs.at[i].call == call && finding->costs.at[i].err == err &&
		    finding->costs.at[i].count > count)
			count = finding->costs.at[i].count;
	return count;
}

static int price_costs(struct analysis_result *result, struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	double measured_ns = 0, life_ns = lives_ns(result, finding);

	verdict->costs = calloc(finding->costs.used ? finding->costs.used : 1, sizeof *verdict->costs);
	if (!verdict->costs)
		return -ENOMEM;
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		struct verdict_cost *amount = &verdict->costs[i];
		const struct sort sort = { cost->call,	       cost->err,   average(cost->components, cost->count),
					   cost->pages_high,   cost->count, life_ns,
					   finding->work_stays };
		struct price price = call_price(result, &sort);
		/* Those of a child are in its life. */
		struct price page =
			page_price(result, cost->pages_low, life_ns >= 0 ? 0 : cost->pages_high, (double)cost->count);
		double count = (double)cost->count, low = (double)cost->pages_low, high = (double)cost->pages_high;

		*amount = (struct verdict_cost){ .ns = count * price.ns + low * page.ns,
						 .low_ns = count * price.low_ns + low * page.low_ns,
						 .high_ns = count * price.high_ns + high * page.high_ns,
						 .source = price.source,
						 .elsewhere = price.ns == 0 && life_ns >= 0 };
		verdict->cost_ns += amount->ns;
		verdict->cost_low_ns += amount->low_ns;
		verdict->cost_high_ns += amount->high_ns;
		if (price.source == PRICE_MEASURED)
			measured_ns += amount->ns;
	}
	/* Two rules, or a price of another moment: never more than there was. */
	verdict->share = result->task_ns > 0 ? verdict->cost_ns / result->task_ns : 0;
	verdict->share = verdict->share > 1 ? 1 : verdict->share;
	verdict->source = measured_ns * 2 > verdict->cost_ns ? PRICE_MEASURED : PRICE_CALIBRATED;
	return 0;
}

/* What is taken away counts for, what is still made counts against. */
static void price_remedy(struct analysis_result *result, const struct verdict_finding *verdict,
			 struct verdict_remedy *ret)
{
	double measured_ns = 0, all_ns = 0, life_ns = lives_ns(result, verdict->finding);

	for (size_t i = 0; i < ret->remedy->deltas.used; i++) {
		const struct finding_delta *delta = &ret->remedy->deltas.at[i];
		double fewer = -(double)delta->count, calls = fewer < 0 ? -fewer : fewer;
		const struct sort sort = { delta->call,
					   delta->err,
					   calls > 0 ? (double)delta->components / calls : 0,
					   delta->pages_high,
					   found(verdict->finding, delta->call, delta->err, delta->count),
					   life_ns,
					   verdict->finding->work_stays };
		struct price price = call_price(result, &sort);
		struct price page = page_price(result, delta->pages_low, life_ns >= 0 ? 0 : delta->pages_high, calls);
		double low = (double)delta->pages_low, high = (double)delta->pages_high;

		if (price.source == PRICE_MEASURED)
			measured_ns += calls * price.ns;
		all_ns += calls * price.ns;
		ret->saves_calls -= delta->count;
		ret->saves_ns += fewer * price.ns + (fewer > 0 ? low : -low) * page.ns;
		ret->low_ns += fewer > 0 ? fewer * price.low_ns + low * page.low_ns
					 : fewer * price.high_ns - high * page.high_ns;
		ret->high_ns += fewer > 0 ? fewer * price.high_ns + high * page.high_ns
					  : fewer * price.low_ns - low * page.low_ns;
	}
	ret->source = measured_ns * 2 > all_ns ? PRICE_MEASURED : PRICE_CALIBRATED;
	/* Nothing saves more than what is there. */
	if (ret->saves_ns > verdict->cost_ns)
		ret->saves_ns = verdict->cost_ns;
}

static int by_saving(const void *a, const void *b)
{
	const struct verdict_remedy *x = a, *y = b;
	bool x_upgrade = x->remedy->kind == REMEDY_UPGRADE, y_upgrade = y->remedy->kind == REMEDY_UPGRADE;
	bool x_changes = x->remedy->changes != NULL, y_changes = y->remedy->changes != NULL;

	if (x_upgrade != y_upgrade)
		return x_upgrade ? -1 : 1;
	if (x_changes != y_changes)
		return x_changes ? 1 : -1;
	if (x->saves_ns != y->saves_ns)
		return x->saves_ns < y->saves_ns ? 1 : -1;
	return x->remedy < y->remedy ? -1 : x->remedy > y->remedy;
}

static int price_remedies(struct analysis_result *result, struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;

	verdict->remedies = calloc(finding->remedies.used ? finding->remedies.used : 1, sizeof *verdict->remedies);
	if (!verdict->remedies)
		return -ENOMEM;
	verdict->remedy_count = finding->remedies.used;
	for (size_t i = 0; i < verdict->remedy_count; i++) {
		struct verdict_remedy *remedy = &verdict->remedies[i];

		remedy->remedy = &finding->remedies.at[i];
		price_remedy(result, verdict, remedy);
		if (!remedy->remedy->changes && remedy->saves_ns > verdict->saves_ns)
			verdict->saves_ns = remedy->saves_ns;
	}
	qsort(verdict->remedies, verdict->remedy_count, sizeof *verdict->remedies, by_saving);
	return 0;
}

static bool is_worth(const struct analysis_result *result, const struct verdict_finding *verdict)
{
	struct analysis_floor floor = settings_floor(result->settings, verdict->finding->rule, &result->floor);

	/* With calls missing a rule may have missed what excuses the others. */
	if (verdict->finding->information || verdict->finding->minor || !result->complete)
		return false;
	if (verdict->saves_ns >= (double)floor.enough_ns)
		return true;
	return verdict->saves_ns >= (double)floor.least_ns && verdict->saves_ns >= floor.share * result->task_ns;
}

/*
 * No two findings have a call in common, but each was priced by itself: all of
 * them together cannot come to more than there was.
 */
static void fit_into_time(struct analysis_result *result)
{
	double all_ns = 0, by;

	for (size_t i = 0; i < result->finding_count; i++)
		all_ns += result->findings[i].finding->information ? 0 : result->findings[i].cost_ns;
	by = all_ns > result->task_ns && result->task_ns > 0 ? result->task_ns / all_ns : 1;
	for (size_t i = 0; by < 1 && i < result->finding_count; i++) {
		struct verdict_finding *verdict = &result->findings[i];

		if (verdict->finding->information)
			continue;
		verdict->cost_ns *= by;
		verdict->cost_low_ns *= by;
		verdict->share = verdict->cost_ns / result->task_ns;
		verdict->saves_ns *= by;
		for (size_t k = 0; k < verdict->finding->costs.used; k++) {
			verdict->costs[k].ns *= by;
			verdict->costs[k].low_ns *= by;
		}
		for (size_t k = 0; k < verdict->remedy_count; k++) {
			verdict->remedies[k].saves_ns *= by;
			verdict->remedies[k].low_ns *= by;
		}
	}
}

static int by_worth(const void *a, const void *b)
{
	const struct verdict_finding *x = a, *y = b;

	if (x->finding->information != y->finding->information)
		return x->finding->information ? 1 : -1;
	if (x->worth != y->worth)
		return x->worth ? -1 : 1;
	if (x->saves_ns != y->saves_ns)
		return x->saves_ns < y->saves_ns ? 1 : -1;
	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	return x->finding < y->finding ? -1 : x->finding > y->finding;
}

void judge_sum(struct analysis_result *result)
{
	result->waste_ns = 0;
	result->waste_calls = 0;
	result->worth_count = result->below_count = 0;
	for (size_t i = 0; i < result->finding_count; i++) {
		const struct verdict_finding *verdict = &result->findings[i];

		if (verdict->finding->information)
			continue;
		result->waste_ns += verdict->cost_ns;
		result->waste_calls += verdict->finding->calls;
		if (verdict->worth)
			result->worth_count++;
		else
			result->below_count++;
	}
	/* Two rules may count the same call; no more can be wasted than there was. */
	if (result->waste_ns > result->task_ns)
		result->waste_ns = result->task_ns;
	if (result->waste_calls > result->calls)
		result->waste_calls = result->calls;
}

/* With children, or without: those come after what is told of parts of their lives. */
static int price_those(struct analysis_result *result, bool with_children)
{
	int r = 0;

	for (size_t i = 0; i < result->finding_count && r == 0; i++) {
		struct verdict_finding *verdict = &result->findings[i];

		if ((verdict->finding->children.used > 0) != with_children)
			continue;
		r = price_costs(result, verdict);
		if (r == 0)
			r = price_remedies(result, verdict);
	}
	return r;
}

int judge_findings(struct analysis_result *result, const struct finding_list *list)
{
	int r;

	result->findings = calloc(list->items.used ? list->items.used : 1, sizeof *result->findings);
	if (!result->findings)
		return -ENOMEM;
	result->finding_count = list->items.used;
	for (size_t i = 0; i < result->finding_count; i++) {
		result->findings[i].finding = &list->items.at[i];
		(void)fingerprint(result->findings[i].finding, result->findings[i].fingerprint);
	}
	r = price_those(result, false);
	if (r == 0)
		r = price_those(result, true);
	if (r < 0) {
		judge_done(result);
		return r;
	}
	fit_into_time(result);
	for (size_t i = 0; i < result->finding_count; i++)
		result->findings[i].worth = is_worth(result, &result->findings[i]);
	qsort(result->findings, result->finding_count, sizeof *result->findings, by_worth);
	cause_group(result->findings, result->finding_count);
	judge_sum(result);
	return 0;
}

static void free_findings(struct verdict_finding **findings, size_t *count)
{
	for (size_t i = 0; i < *count; i++) {
		free((*findings)[i].costs);
		free((*findings)[i].remedies);
	}
	free(*findings);
	*findings = NULL;
	*count = 0;
}

void judge_done(struct analysis_result *result)
{
	free_findings(&result->findings, &result->finding_count);
	free_findings(&result->suppressed, &result->suppressed_count);
	free(result->suppressions);
	result->suppressions = NULL;
	result->suppression_count = 0;
}
