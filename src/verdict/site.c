/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/site.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rule.h"

const struct frame *site_outer(const struct frames *frames)
{
	return frames && frames->outer < frames->count ? &frames->at[frames->outer] : NULL;
}

const struct frame *site_program(const struct frames *frames)
{
	return frames && frames->program < frames->count && frames->program != frames->outer
		       ? &frames->at[frames->program]
		       : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	if (!a || !b)
		return a == b;
	return a->offset == b->offset && a->jumped == b->jumped && same_text(a->module, b->module) &&
	       same_text(a->symbol, b->symbol) && same_text(a->jump, b->jump);
}

bool site_equal(const struct frames *a, const struct frames *b)
{
	if (!a || !b)
		return a == b;
	return same_frame(site_outer(a), site_outer(b)) && same_frame(site_program(a), site_program(b)) &&
	       a->outer_varies == b->outer_varies && a->program_varies == b->program_varies &&
	       a->outer_sampled == b->outer_sampled && a->program_sampled == b->program_sampled;
}

/* Is more known than what is told in words? */
static bool is_further(const struct frames *frames)
{
	size_t told = 0;

	if (frames->outer < frames->count)
		told = frames->outer;
	if (frames->program < frames->count && frames->program > told)
		told = frames->program;
	return frames->whole || frames->count > told + 1;
}

static bool same_stack(const struct frames *a, const struct frames *b)
{
	if (a == b)
		return true;
	if (a->count != b->count || a->whole != b->whole || !same_text(a->why, b->why))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!same_frame(&a->at[i], &b->at[i]))
			return false;
	return true;
}

static int by_calls(const void *a, const void *b)
{
	const struct finding_stack *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : 0;
}

void site_add_stack(struct finding_site *site, const struct frames *frames, uint64_t count)
{
	for (size_t i = 0; i < site->stacks.used; i++) {
		if (same_stack(site->stacks.at[i].frames, frames)) {
			site->stacks.at[i].count += count;
			return;
		}
	}
	if (site->stacks.used < SITE_STACKS_MOST)
		(void)vec_push(&site->stacks, (struct finding_stack){ frames, count });
}

/* They are told by the same words: the stack of the most calls stands for all where one is wanted. */
static void join_site(struct finding_site *site, const struct finding_site *from)
{
	if (site->frames && from->frames) {
		if (site->stacks.used == 0)
			site_add_stack(site, site->frames, site->count);
		site_add_stack(site, from->frames, from->count);
	}
	site->count += from->count;
}

void site_order_stacks(struct finding_site *site)
{
	if (site->stacks.used > 1)
		qsort(site->stacks.at, site->stacks.used, sizeof site->stacks.at[0], by_calls);
	for (size_t i = 0; i < site->stacks.used; i++) {
		if (is_further(site->stacks.at[i].frames)) {
			site->frames = site->stacks.at[i].frames;
			break;
		}
	}
	if (site->stacks.used == 1)
		site->stacks.used = 0;
}

static void tell_finding(struct finding *finding, const struct analysis_stacks *stacks)
{
	size_t used = 0;

	for (size_t i = 0; i < finding->sites.used; i++) {
		struct finding_site *site = &finding->sites.at[i];
		size_t k = 0;

		site->frames = site->number > 0 ? stacks->frames(stacks->data, site->number) : NULL;
		while (k < used && (finding->sites.at[k].offset != site->offset ||
				    !same_text(finding->sites.at[k].module, site->module) ||
				    !site_equal(finding->sites.at[k].frames, site->frames)))
			k++;
		if (k == used) {
			finding->sites.at[used++] = *site;
		} else {
			join_site(&finding->sites.at[k], site);
			finding_site_done(site);
		}
	}
	finding->sites.used = used;
	for (size_t i = 0; i < used; i++)
		site_order_stacks(&finding->sites.at[i]);
	if (used > 1)
		qsort(finding->sites.at, used, sizeof finding->sites.at[0], finding_site_by_count);
	while (finding->sites.used > SITE_MOST) {
		finding->sites_other += finding->sites.at[--finding->sites.used].count;
		finding_site_done(&finding->sites.at[finding->sites.used]);
	}
}

void site_want_findings(const struct finding_list *list, const struct analysis_stacks *stacks)
{
	for (size_t i = 0; i < list->items.used; i++)
		for (size_t k = 0; k < list->items.at[i].sites.used; k++)
			stacks->want(stacks->data, list->items.at[i].sites.at[k].number);
}

void site_tell_findings(struct finding_list *list, const struct analysis_stacks *stacks)
{
	for (size_t i = 0; i < list->items.used; i++)
		tell_finding(&list->items.at[i], stacks);
}

void site_put_place(struct buf *buf, const struct frame *frame, bool line)
{
	if (frame->flags & FRAME_JIT)
		(void)buf_puts(buf, "[code made at run time] ");
	else if (frame->module)
		(void)buf_puts(buf, rule_base_name(frame->module));
	if (frame->symbol)
		(void)buf_printf(buf, "%s%s+0x%" PRIx64, frame->module ? " " : "", frame->symbol, frame->symbol_offset);
	else
		(void)buf_printf(buf, "%s0x%" PRIx64, frame->module ? "+" : "", frame->offset);
	if (line && frame->file)
		(void)buf_printf(buf, " (%s:%u)", rule_base_name(frame->file), frame->line);
	/* A function that ended by a jump made the call, or one that it jumped to. */
	if (frame->jumped)
		(void)buf_printf(buf, " by way of %s", frame->jump ? frame->jump : "another function");
}

static bool is_loader(const char *module)
{
	const char *base = module ? rule_base_name(module) : "";

	return strncmp(base, "ld-linux", 8) == 0 || strncmp(base, "ld-2.", 5) == 0;
}

static void put_doubt(struct buf *buf, bool varies, bool sampled)
{
	if (varies)
		(void)buf_puts(buf, " and others");
	else if (sampled)
		(void)buf_puts(buf, " (as sampled)");
}

void site_put(struct buf *buf, const struct finding_site *site)
{
	const struct frame *outer = site_outer(site->frames), *program = site_program(site->frames);
	struct frame leaf = { .module = site->module, .offset = site->offset };

	if (!outer) {
		site_put_place(buf, site->frames ? &site->frames->at[0] : &leaf, true);
		/* The loader works before any program does. */
		if (site->frames && !is_loader(site->frames->at[0].module))
			(void)buf_puts(buf, ", called from a place not known");
		return;
	}
	site_put_place(buf, outer, true);
	put_doubt(buf, site->frames->outer_varies, site->frames->outer_sampled);
	if (!program)
		return;
	(void)buf_puts(buf, ", called by ");
	site_put_place(buf, program, true);
	put_doubt(buf, site->frames->program_varies, site->frames->program_sampled && !site->frames->outer_sampled);
}
