/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making and freeing findings.  Without memory a part is left out, never
 * half made: every adder takes a NULL target and then does nothing.
 */
#include "rules/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

static void remedy_done(struct finding_remedy *remedy)
{
	free(remedy->text);
	free(remedy->command);
	free(remedy->changes);
	vec_done(&remedy->deltas);
}

void finding_site_done(struct finding_site *site)
{
	free(site->module);
	vec_done(&site->stacks);
}

void finding_done(struct finding *finding)
{
	if (!finding)
		return;
	free(finding->exe);
	free(finding->script);
	free(finding->what);
	free(finding->where);
	free(finding->object);
	free(finding->place);
	for (size_t i = 0; i < finding->costs.used; i++)
		free(finding->costs.at[i].detail);
	vec_done(&finding->costs);
	for (size_t i = 0; i < finding->remedies.used; i++)
		remedy_done(&finding->remedies.at[i]);
	vec_done(&finding->remedies);
	for (size_t i = 0; i < finding->sites.used; i++)
		finding_site_done(&finding->sites.at[i]);
	vec_done(&finding->sites);
	for (size_t i = 0; i < finding->scales.used; i++)
		free(finding->scales.at[i].text);
	vec_done(&finding->scales);
	vec_done(&finding->children);
	for (size_t i = 0; i < finding->samples.used; i++)
		free(finding->samples.at[i]);
	vec_done(&finding->samples);
	for (size_t i = 0; i < finding->notes.used; i++)
		free(finding->notes.at[i]);
	vec_done(&finding->notes);
	vec_done(&finding->claims);
	vec_done(&finding->parts);
	*finding = (struct finding){ 0 };
}

void finding_list_done(struct finding_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->items.used; i++)
		finding_done(&list->items.at[i]);
	vec_done(&list->items);
}

struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum finding_tier tier)
{
	struct finding *finding = vec_add(&list->items);

	if (!finding)
		return NULL;
	finding->rule = rule;
	finding->tier = tier;
	return finding;
}

struct finding_cost *finding_add_cost(struct finding *finding, enum sys_call_id call, int err, uint64_t count,
				      const char *detail)
{
	struct finding_cost *cost;

	if (!finding)
		return NULL;
	cost = vec_add(&finding->costs);
	if (!cost)
		return NULL;
	cost->call = call;
	cost->err = err;
	cost->count = count;
	if (detail)
		finding_set(&cost->detail, "%s", detail);
	finding->calls += count;
	return cost;
}

struct finding_remedy *finding_add_remedy(struct finding *finding, enum finding_remedy_kind kind)
{
	struct finding_remedy *remedy;

	if (!finding)
		return NULL;
	remedy = vec_add(&finding->remedies);
	if (remedy)
		remedy->kind = kind;
	return remedy;
}

void finding_add_delta(struct finding_remedy *remedy, enum sys_call_id call, int err, int64_t count,
		       uint64_t components)
{
	if (!remedy || count == 0)
		return;
	for (size_t i = 0; i < remedy->deltas.used; i++) {
		struct finding_delta *delta = &remedy->deltas.at[i];

		if (delta->call == call && delta->err == err && (delta->count < 0) == (count < 0)) {
			delta->count += count;
			delta->components += components;
			return;
		}
	}
	(void)vec_push(&remedy->deltas,
		       (struct finding_delta){ .call = call, .err = err, .count = count, .components = components });
}

void finding_add_pages(struct finding_remedy *remedy, enum sys_call_id call, int err, bool fewer, uint64_t low,
		       uint64_t high)
{
	for (size_t i = 0; remedy && i < remedy->deltas.used; i++) {
		struct finding_delta *delta = &remedy->deltas.at[i];

		if (delta->call == call && delta->err == err && (delta->count < 0) == fewer) {
			delta->pages_low += low;
			delta->pages_high += high;
			return;
		}
	}
}

void finding_remedy_saves_all(struct finding_remedy *remedy, const struct finding *finding)
{
	if (!remedy)
		return;
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];

		finding_add_delta(remedy, cost->call, cost->err, -(int64_t)cost->count, cost->components);
		finding_add_pages(remedy, cost->call, cost->err, true, cost->pages_low, cost->pages_high);
	}
}

void finding_remedy_saves_all_but(struct finding_remedy *remedy, const struct finding *finding, uint64_t left)
{
	for (size_t i = 0; remedy && i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		uint64_t gone = cost->count > left ? cost->count - left : 0;

		finding_add_delta(remedy, cost->call, cost->err, -(int64_t)gone, 0);
		left -= cost->count < left ? cost->count : left;
	}
}

int finding_site_by_count(const void *a, const void *b)
{
	const struct finding_site *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

struct finding_remedy *finding_add_remedy_all(struct finding *finding, enum finding_remedy_kind kind, const char *id,
					      const char *text)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, kind);

	if (!remedy)
		return NULL;
	remedy->id = id;
	finding_set(&remedy->text, "%s", text);
	finding_remedy_saves_all(remedy, finding);
	return remedy;
}

static __attribute__((format(printf, 1, 0))) char *format_text(const char *format, va_list args)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)buf_vprintf(&buf, format, args);
	text = buf.failed ? NULL : buf_steal(&buf);
	buf_done(&buf);
	return text;
}

void finding_set(char **target, const char *format, ...)
{
	va_list args;

	if (!target)
		return;
	free(*target);
	va_start(args, format);
	*target = format_text(format, args);
	va_end(args);
}

void finding_add_note(struct finding *finding, const char *format, ...)
{
	va_list args;
	char *text;

	if (!finding)
		return;
	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	if (text && !vec_push(&finding->notes, text))
		free(text);
}

static bool add_to(struct finding_child *at, size_t used, const struct model_exe *exe, enum finding_life life,
		   uint64_t count)
{
	for (size_t i = 0; i < used; i++) {
		if (at[i].exe == exe && at[i].life == life) {
			at[i].count += count;
			return true;
		}
	}
	return false;
}

void finding_add_part(struct finding *finding, const struct model_exe *exe, enum finding_life life, uint64_t calls)
{
	if (finding && calls > 0 && !add_to(finding->parts.at, finding->parts.used, exe, life, calls))
		(void)vec_push(&finding->parts, (struct finding_child){ .exe = exe, .life = life, .count = calls });
}

void finding_add_child(struct finding *finding, const struct model_exe *exe, enum finding_life life, uint64_t count)
{
	if (finding && count > 0 && !add_to(finding->children.at, finding->children.used, exe, life, count))
		(void)vec_push(&finding->children, (struct finding_child){ .exe = exe, .life = life, .count = count });
}

void finding_add_scale(struct finding *finding, size_t cost, uint64_t count, const char *format, ...)
{
	struct finding_scale scale = { .cost = cost, .count = count };
	va_list args;

	if (!finding)
		return;
	va_start(args, format);
	scale.text = format_text(format, args);
	va_end(args);
	if (scale.text && !vec_push(&finding->scales, scale))
		free(scale.text);
}

void finding_add_sample(struct finding *finding, char *text_owned)
{
	if (!text_owned)
		return;
	if (!finding || finding->samples.used >= FINDING_SAMPLES_MAX || !vec_push(&finding->samples, text_owned))
		free(text_owned);
}
