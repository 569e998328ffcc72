/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define TABLE_CALLS_MAX 65536
#define PARTS_MAX 65536

static void table_init(struct counted_table *table)
{
	*table = (struct counted_table){ 0 };
	map_init(&table->index, sizeof(uint32_t), TABLE_CALLS_MAX);
}

static void table_done(struct counted_table *table)
{
	for (size_t i = 0; i < table->calls.used; i++)
		vec_done(&table->calls.at[i].errors);
	vec_done(&table->calls);
	map_done(&table->index);
}

static void parts_done(struct counted_parts *parts)
{
	for (size_t i = 0; i < parts->at.used; i++) {
		free(parts->at.at[i].name);
		table_done(&parts->at.at[i].table);
	}
	vec_done(&parts->at);
	map_done(&parts->index);
}

void counted_init(struct counted *counted)
{
	*counted = (struct counted){ 0 };
	table_init(&counted->all);
	map_init(&counted->exes.index, sizeof(uint32_t), PARTS_MAX);
	map_init(&counted->cgroups.index, sizeof(uint32_t), PARTS_MAX);
}

void counted_done(struct counted *counted)
{
	table_done(&counted->all);
	parts_done(&counted->exes);
	parts_done(&counted->cgroups);
}

static struct counted_call *call_of(struct counted_table *table, uint16_t arch, int32_t nr)
{
	uint64_t key = (uint64_t)arch << 32 | (uint32_t)nr;
	uint32_t *place = map_put(&table->index, key, NULL);
	struct counted_call *call;

	if (!place)
		return NULL;
	if (*place > 0)
		return &table->calls.at[*place - 1];
	call = vec_add(&table->calls);
	if (!call)
		return NULL;
	*place = (uint32_t)table->calls.used;
	call->nr = nr;
	call->arch = arch;
	if (nr == COUNTED_OTHER_NR)
		(void)snprintf(call->name, sizeof call->name, "call_-1");
	else
		(void)sys_call_print((enum sys_arch)arch, nr, call->name);
	return call;
}

static struct counted_table *part_of(struct counted_parts *parts, const char *name)
{
	uint64_t key = name ? map_hash(name, strlen(name)) : 0;
	uint32_t *place;
	struct counted_part *part;

	for (;;) {
		place = map_put(&parts->index, key, NULL);
		if (!place)
			return NULL;
		if (*place == 0)
			break;
		part = &parts->at.at[*place - 1];
		if (name ? part->name && strcmp(part->name, name) == 0 : !part->name)
			return &part->table;
		key++;
	}
	part = vec_add(&parts->at);
	if (!part)
		return NULL;
	*place = (uint32_t)parts->at.used;
	table_init(&part->table);
	part->name = name ? strdup(name) : NULL;
	return name && !part->name ? NULL : &part->table;
}

static int add_error(struct counted_call *call, uint32_t err, uint64_t count)
{
	size_t i = 0;

	while (i < call->errors.used && call->errors.at[i].err != err)
		i++;
	if (i == call->errors.used && !vec_push(&call->errors, (struct counted_error){ .err = err }))
		return -ENOMEM;
	call->errors.at[i].count += count;
	return 0;
}

static int add_row(struct counted_table *table, const struct count_row *row, uint64_t max_ns)
{
	struct counted_call *call = table ? call_of(table, row->arch, row->nr) : NULL;
	int r = 0;

	if (!call)
		return -ENOMEM;
	table->count += row->count;
	table->failed += row->failed;
	call->count += row->count;
	call->failed += row->failed;
	call->unreturned += row->unreturned;
	call->timed += row->timed;
	call->timed_ns += row->ns;
	if (max_ns > call->max_ns)
		call->max_ns = max_ns;
	for (size_t i = 0; i < COUNT_BUCKETS; i++)
		call->buckets[i] += row->buckets[i];
	for (size_t i = 0; r == 0 && i < COUNT_ERRORS; i++)
		if (row->errors[i].count > 0)
			r = add_error(call, row->errors[i].err, row->errors[i].count);
	return r;
}

int counted_add(struct counted *counted, const struct count_row *row, uint64_t max_ns, const char *exe,
		const char *cgroup)
{
	int r = row->count > 0 ? add_row(&counted->all, row, max_ns) : 0;

	if (r == 0 && row->count > 0)
		r = add_row(part_of(&counted->exes, exe), row, max_ns);
	if (r == 0 && row->count > 0 && !(cgroup && !*cgroup))
		r = add_row(part_of(&counted->cgroups, cgroup), row, max_ns);
	return r;
}

static int add_error_to(struct counted_table *table, const struct count_row *row, uint32_t err, uint64_t count)
{
	struct counted_call *call = table ? call_of(table, row->arch, row->nr) : NULL;

	return call ? add_error(call, err, count) : -ENOMEM;
}

int counted_add_error(struct counted *counted, const struct count_row *row, const char *exe, const char *cgroup,
		      uint32_t err, uint64_t count)
{
	int r = add_error_to(&counted->all, row, err, count);

	if (r == 0)
		r = add_error_to(part_of(&counted->exes, exe), row, err, count);
	if (r == 0 && !(cgroup && !*cgroup))
		r = add_error_to(part_of(&counted->cgroups, cgroup), row, err, count);
	return r;
}

int counted_add_plain(struct counted *counted, uint16_t arch, int32_t nr, uint64_t count, uint64_t failed,
		      uint64_t unreturned)
{
	struct counted_call *call = call_of(&counted->all, arch, nr);

	if (!call)
		return -ENOMEM;
	counted->all.count += count;
	counted->all.failed += failed;
	call->count += count;
	call->failed += failed;
	call->unreturned += unreturned;
	return 0;
}

void counted_minus(struct count_row *row, const struct count_row *before)
{
	row->count -= before->count;
	row->failed -= before->failed;
	row->unreturned -= before->unreturned;
	row->timed -= before->timed;
	row->ns -= before->ns;
	for (size_t i = 0; i < COUNT_ERRORS; i++)
		row->errors[i].count -= before->errors[i].count;
	for (size_t i = 0; i < COUNT_BUCKETS; i++)
		row->buckets[i] -= before->buckets[i];
}

/* Where a bucket begins. */
static double bucket_begin(size_t bucket)
{
	size_t bits, step;

	if (bucket == 0)
		return 0;
	bits = COUNT_LEAST_BITS + ((bucket - 1) >> COUNT_STEP_BITS);
	step = (bucket - 1) & ((1u << COUNT_STEP_BITS) - 1);
	return (double)((UINT64_C(1) << bits) + (step << (bits - COUNT_STEP_BITS)));
}

double counted_percentile(const uint64_t buckets[static COUNT_BUCKETS], uint64_t timed, uint64_t max_ns, double share)
{
	double rank = share * (double)timed, before = 0;

	if (timed == 0)
		return -1;
	for (size_t i = 0; i < COUNT_BUCKETS; i++) {
		double count = (double)buckets[i], begin = bucket_begin(i), end = bucket_begin(i + 1);

		if (count > 0 && before + count >= rank) {
			double value = begin + (end - begin) * (rank - before) / count;

			return value > (double)max_ns ? (double)max_ns : value;
		}
		before += count;
	}
	return (double)max_ns;
}

static int by_err(const void *a, const void *b)
{
	const struct counted_error *x = a, *y = b;

	return (x->err > y->err) - (x->err < y->err);
}

static int by_money(double a_ns, double b_ns, uint64_t a_count, uint64_t b_count)
{
	if (a_ns != b_ns)
		return a_ns < b_ns ? 1 : -1;
	return (a_count < b_count) - (a_count > b_count);
}

static int by_call(const void *a, const void *b)
{
	const struct counted_call *x = a, *y = b;
	int order = by_money(x->ns, y->ns, x->count, y->count);

	return order ? order : strcmp(x->name, y->name);
}

static int by_part(const void *a, const void *b)
{
	const struct counted_part *x = a, *y = b;
	int order = by_money(x->table.ns, y->table.ns, x->table.count, y->table.count);

	return order ? order : strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static void finish_call(struct counted_call *call)
{
	uint64_t returned = call->count - call->unreturned;

	call->estimated = call->timed < returned;
	call->ns = call->timed > 0 ? (double)call->timed_ns * (double)returned / (double)call->timed : -1;
	call->p50_ns = counted_percentile(call->buckets, call->timed, call->max_ns, 0.5);
	call->p99_ns = counted_percentile(call->buckets, call->timed, call->max_ns, 0.99);
	if (call->errors.used > 1)
		qsort(call->errors.at, call->errors.used, sizeof *call->errors.at, by_err);
}

static void finish_table(struct counted_table *table)
{
	bool some = false;

	table->ns = 0;
	for (size_t i = 0; i < table->calls.used; i++) {
		struct counted_call *call = &table->calls.at[i];

		finish_call(call);
		table->estimated = table->estimated || call->estimated;
		some = some || call->timed > 0;
		table->ns += call->ns > 0 ? call->ns : 0;
	}
	if (!some)
		table->ns = -1;
	if (table->calls.used > 1)
		qsort(table->calls.at, table->calls.used, sizeof *table->calls.at, by_call);
	map_clear(&table->index);
}

static void finish_parts(struct counted_parts *parts)
{
	for (size_t i = 0; i < parts->at.used; i++)
		finish_table(&parts->at.at[i].table);
	if (parts->at.used > 1)
		qsort(parts->at.at, parts->at.used, sizeof *parts->at.at, by_part);
	map_clear(&parts->index);
}

void counted_finish(struct counted *counted)
{
	finish_table(&counted->all);
	finish_parts(&counted->exes);
	finish_parts(&counted->cgroups);
}

void counted_judge(const struct counted *counted, struct counted_facts *facts)
{
	char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];

	facts->why[0] = '\0';
	facts->closed = facts->seen == counted->all.count && facts->misses == 0;
	facts->complete =
		facts->closed && facts->not_followed == 0 && facts->failed_tasks == 0 && facts->let_go_ns == 0;
	if (facts->seen != counted->all.count)
		(void)snprintf(facts->why, sizeof facts->why, "%s calls seen, %s in the tables",
			       text_count(facts->seen, a), text_count(counted->all.count, b));
	else if (facts->misses > 0)
		(void)snprintf(facts->why, sizeof facts->why, "calls were missed %s times",
			       text_count(facts->misses, a));
	else if (facts->failed_tasks > 0)
		(void)snprintf(facts->why, sizeof facts->why, "%s tasks could not be followed for want of memory",
			       text_count(facts->failed_tasks, a));
	else if (facts->not_followed > 0)
		(void)snprintf(facts->why, sizeof facts->why, "%s tasks beyond the limit were not followed",
			       text_count(facts->not_followed, a));
	else if (facts->let_go_ns > 0)
		(void)snprintf(facts->why, sizeof facts->why, "let go after %s of %s",
			       text_ns((double)facts->let_go_ns, a), text_ns((double)facts->wall_ns, b));
}
