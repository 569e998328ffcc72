/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/site-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/analysis.h"

void site_table_init(struct site_table *table)
{
	*table = (struct site_table){ 0 };
	map_init(&table->counts, sizeof(struct site_count), SITE_TABLE_MAX);
}

void site_table_done(struct site_table *table)
{
	map_done(&table->counts);
}

void site_table_add(struct site_table *table, uint32_t site, const struct tally_row *row, int err)
{
	struct site_count *count =
		site > 0 ? map_put(&table->counts, (uint64_t)site << 32 | (uint32_t)row->index, NULL) : NULL;

	if (!count) {
		table->other++;
		return;
	}
	count->count++;
	count->failed += err != 0;
}

static int by_time(const void *a, const void *b)
{
	const struct verdict_site_call *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->site.number != y->site.number)
		return x->site.number < y->site.number ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static int by_site_time(const void *a, const void *b)
{
	const struct verdict_site *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->site.number < y->site.number ? -1 : x->site.number > y->site.number;
}

/* Are they told in the same words? */
static bool same_site(const struct finding_site *a, const struct finding_site *b)
{
	if (site_outer(a->frames) || site_outer(b->frames))
		return site_equal(a->frames, b->frames);
	return a->offset == b->offset &&
	       (a->module == b->module || (a->module && b->module && strcmp(a->module, b->module) == 0));
}

static uint64_t key_of(const struct finding_site *site)
{
	const struct frame *outer = site_outer(site->frames), *program = site_program(site->frames);

	if (!outer)
		return map_mix(site->offset, site->module ? map_hash(site->module, strlen(site->module)) : 0);
	return map_mix(map_mix(outer->offset, program ? program->offset : 0),
		       outer->module ? map_hash(outer->module, strlen(outer->module)) : 1);
}

struct joined {
	VEC(struct verdict_site) sites;
	struct map by_key; /* → index + 1 */
	struct map sums; /* index and row → struct site_sum */
};

/* NULL without memory; with `make` one is made. */
static struct verdict_site *join(struct joined *joined, const struct finding_site *site, bool make)
{
	uint64_t key = key_of(site);

	for (unsigned chain = 0; chain < 64; chain++, key = map_mix(key, 1)) {
		uint32_t *place = map_get(&joined->by_key, key);

		if (place && same_site(&joined->sites.at[*place - 1].site, site))
			return &joined->sites.at[*place - 1];
		if (place)
			continue;
		place = make ? map_put(&joined->by_key, key, NULL) : NULL;
		if (!place || !vec_push(&joined->sites, (struct verdict_site){ .site = *site }))
			return NULL;
		*place = (uint32_t)joined->sites.used;
		return &joined->sites.at[joined->sites.used - 1];
	}
	return NULL;
}

/* All stacks of a site together: one call of it. */
struct site_sum {
	uint64_t count;
	double ns, waste_ns;
};

static struct site_sum *sum_of(struct joined *joined, const struct verdict_site *site, const struct verdict_call *call)
{
	return map_get(&joined->sums, (uint64_t)(site - joined->sites.at) << 32 | call->row.index);
}

/* No more than the calls cost; the rest is returned. */
static double add_waste(struct verdict_site *site, struct site_sum *sum, double ns)
{
	double most = sum->ns - sum->waste_ns, take = ns < most ? ns : most;

	sum->waste_ns += take;
	site->waste_ns += take;
	return ns - take;
}

/* By the sites that the finding itself knows, when it is their call. */
static bool waste_of_own(struct joined *joined, const struct verdict_call *call, const struct finding *finding,
			 double *ns)
{
	uint64_t count = 0;
	double rest = *ns;

	for (size_t i = 0; i < finding->sites.used; i++) {
		struct verdict_site *site = join(joined, &finding->sites.at[i], false);

		count += site && sum_of(joined, site, call) ? finding->sites.at[i].count : 0;
	}
	if (count == 0)
		return false;
	count += finding->sites_other;
	for (size_t i = 0; i < finding->sites.used; i++) {
		struct verdict_site *site = join(joined, &finding->sites.at[i], false);
		struct site_sum *sum = site ? sum_of(joined, site, call) : NULL;
		double share = *ns * (double)finding->sites.at[i].count / (double)count;

		if (sum)
			rest -= share - add_waste(site, sum, share);
	}
	*ns = rest;
	return true;
}

/* Rules count sites of one of their calls.  Of another one so much is certain of a site as
 * all others together cannot have made. */
static void waste_of_others(struct joined *joined, const struct verdict_call *call, uint64_t fewer, double *ns)
{
	double each = *ns / (double)fewer;

	for (size_t i = 0; i < joined->sites.used; i++) {
		struct site_sum *sum = sum_of(joined, &joined->sites.at[i], call);
		uint64_t others = call->row.count - (sum ? sum->count : 0);

		if (sum && others < fewer) {
			double share = each * (double)(fewer - others);

			*ns -= share - add_waste(&joined->sites.at[i], sum, share);
		}
	}
}

static const struct verdict_call *call_of(const struct analysis_result *result, enum sys_call_id id)
{
	const struct verdict_call *best = NULL;

	for (size_t i = 0; i < result->by_call_count; i++)
		if (result->by_call[i].row.id == id && (!best || result->by_call[i].row.count > best->row.count))
			best = &result->by_call[i];
	return best;
}

/* What one of the calls costs, as the finding says. */
static double each_ns(const struct verdict_finding *verdict, enum sys_call_id id)
{
	uint64_t count = 0;
	double ns = 0;

	for (size_t i = 0; i < verdict->finding->costs.used; i++) {
		if (verdict->finding->costs.at[i].call != id)
			continue;
		count += verdict->finding->costs.at[i].count;
		ns += verdict->costs[i].ns;
	}
	return count > 0 ? ns / (double)count : 0;
}

/* Shared out by calls, and each to who makes it.  What is nobody's for certain is returned. */
static double share_waste(struct joined *joined, const struct analysis_result *result,
			  const struct verdict_finding *verdict)
{
	const struct finding_remedy *best = NULL;
	double all_ns = 0, rest = 0;

	for (size_t i = 0; i < verdict->remedy_count && !best; i++)
		if (!verdict->remedies[i].remedy->changes && verdict->remedies[i].saves_ns == verdict->saves_ns)
			best = verdict->remedies[i].remedy;
	if (verdict->finding->information || verdict->saves_ns <= 0 || !best)
		return 0;
	for (size_t i = 0; i < best->deltas.used; i++)
		if (best->deltas.at[i].count < 0)
			all_ns -= (double)best->deltas.at[i].count * each_ns(verdict, best->deltas.at[i].call);
	if (all_ns <= 0)
		return verdict->saves_ns;
	for (size_t i = 0; i < best->deltas.used; i++) {
		const struct finding_delta *delta = &best->deltas.at[i];
		const struct verdict_call *call = call_of(result, delta->call);
		double ns;

		if (delta->count >= 0)
			continue;
		ns = -(double)delta->count * each_ns(verdict, delta->call) / all_ns * verdict->saves_ns;
		if (call && !waste_of_own(joined, call, verdict->finding, &ns))
			waste_of_others(joined, call, (uint64_t)-delta->count, &ns);
		rest += ns;
	}
	return rest;
}

static int join_all(struct analysis_result *result)
{
	struct joined joined = { { 0 } };
	int r = 0;

	map_init(&joined.by_key, sizeof(uint32_t), 0);
	map_init(&joined.sums, sizeof(struct site_sum), 0);
	for (size_t i = 0; i < result->site_call_count && r == 0; i++) {
		const struct verdict_site_call *call = &result->site_calls[i];
		struct verdict_site *site = join(&joined, &call->site, true);
		struct site_sum *sum =
			site ? map_put(&joined.sums, (uint64_t)(site - joined.sites.at) << 32 | call->call->row.index,
				       NULL)
			     : NULL;

		if (!sum) {
			r = -ENOMEM;
			break;
		}
		site->calls += call->site.count;
		site->failed += call->failed;
		site->ns += call->ns;
		if (call->site.frames)
			site_add_stack(&site->site, call->site.frames, call->site.count);
		sum->count += call->site.count;
		sum->ns += call->ns;
		if (!site->most || sum->ns >= site->most_ns) {
			site->most = call->call;
			site->most_ns = sum->ns;
			site->most_count = sum->count;
		}
	}
	for (size_t i = 0; i < result->finding_count; i++)
		result->sites_waste_ns += share_waste(&joined, result, &result->findings[i]);
	for (size_t i = 0; i < joined.sites.used; i++) {
		joined.sites.at[i].site.count = joined.sites.at[i].calls;
		site_order_stacks(&joined.sites.at[i].site);
	}
	if (joined.sites.used > 0)
		qsort(joined.sites.at, joined.sites.used, sizeof joined.sites.at[0], by_site_time);
	result->sites = joined.sites.at;
	result->site_count = joined.sites.used;
	map_done(&joined.by_key);
	map_done(&joined.sums);
	return r;
}

void site_table_result_done(struct analysis_result *result)
{
	for (size_t i = 0; i < result->site_count; i++)
		vec_done(&result->sites[i].site.stacks);
	free(result->sites);
	free(result->site_calls);
}

int site_table_judge(const struct site_table *table, const struct analysis_stacks *stacks,
		     struct analysis_result *result)
{
	size_t rows = 0, iter = 0;
	const struct verdict_call **by_row;
	struct site_count *count;
	uint64_t key;

	result->sites_unknown = table->other;
	for (size_t i = 0; i < result->by_call_count; i++)
		rows = result->by_call[i].row.index >= rows ? result->by_call[i].row.index + 1 : rows;
	by_row = calloc(rows + 1, sizeof *by_row);
	result->site_calls = calloc(table->counts.used + 1, sizeof *result->site_calls);
	if (!by_row || !result->site_calls) {
		free(by_row);
		return -ENOMEM;
	}
	for (size_t i = 0; i < result->by_call_count; i++)
		by_row[result->by_call[i].row.index] = &result->by_call[i];
	while ((count = map_next(&table->counts, &iter, &key))) {
		struct verdict_site_call *call = &result->site_calls[result->site_call_count];
		uint32_t number = (uint32_t)(key >> 32), row = (uint32_t)key;
		const struct model_site *site = model_site_at(result->model, number);

		if (!site || row >= rows || !by_row[row])
			continue;
		*call = (struct verdict_site_call){
			.site = { .module = (char *)(uintptr_t)site->module,
				  .offset = site->offset,
				  .count = count->count,
				  .number = number,
				  .frames = stacks ? stacks->frames(stacks->data, number) : NULL },
			.program = site->program,
			.call = by_row[row],
			.failed = count->failed,
			.ns = by_row[row]->ns * (double)count->count / (double)by_row[row]->row.count,
		};
		result->site_call_count++;
	}
	free(by_row);
	if (result->site_call_count > 0)
		qsort(result->site_calls, result->site_call_count, sizeof *result->site_calls, by_time);
	return join_all(result);
}
