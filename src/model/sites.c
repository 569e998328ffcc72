/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for the places that calls are made from, so that rules and reports
 * can count by one of them.  Knows the instruction and the word that its caller
 * left, as recorded; frames beyond are the business of src/stack.
 */
#include "model/state.h"

#define SITE_CHAIN_MAX 4

static bool equal(const struct model_site *a, const struct model_site *b)
{
	/* Texts are kept once: equal ones have one address. */
	return a->module == b->module && a->offset == b->offset && a->caller_module == b->caller_module &&
	       a->caller_offset == b->caller_offset && a->code == b->code;
}

static uint32_t number_of(struct model *model, const struct model_view *view, uint64_t caller, uint64_t code)
{
	struct model_site site = { .offset = view->call->ip, .code = code };
	uint32_t *place;
	uint64_t key;
	bool added;

	if (!model_locate(model, view->process, view->call->ip, &site.module, &site.offset))
		site.module = NULL;
	if (caller == 0 || !model_locate(model, view->process, caller, &site.caller_module, &site.caller_offset)) {
		site.caller_module = NULL;
		site.caller_offset = 0;
	}
	site.program = view->process->exe->path;
	key = map_mix(map_mix((uintptr_t)site.module, site.offset),
		      map_mix((uintptr_t)site.caller_module, map_mix(site.caller_offset, site.code)));
	for (unsigned chain = 0; chain < SITE_CHAIN_MAX; chain++, key = map_mix(key, 1)) {
		place = map_get(&model->site_by_hash, key);
		if (place && !equal(&model->sites.at[*place - 1], &site))
			continue;
		if (place)
			return *place;
		/* Code that is made at run time can have any number of them. */
		if (model->sites.used >= MODEL_SITES_MAX)
			return 0;
		place = map_put(&model->site_by_hash, key, &added);
		if (!place || !vec_push(&model->sites, site)) {
			if (place)
				(void)map_remove(&model->site_by_hash, key);
			(void)model_no_memory(model);
			return 0;
		}
		return *place = (uint32_t)model->sites.used;
	}
	return 0;
}

uint32_t model_site(struct model *model, const struct model_view *view)
{
	const struct mm *mm = model_mm(model, view->process);
	uint64_t maps = mm && mm->list ? mm->list->stamp : 0, ip = view->call ? view->call->ip : 0, word = 0, code = 0;
	const struct item_caller *item;
	struct site_memo *memo;

	if (ip == 0)
		return 0;
	item = EVENT_ITEM_AS(struct item_caller, event_item(&view->call->head, SYS_ITEM_CALLER));
	if (item) {
		word = item->word;
		code = item->code;
	}
	memo = &model->site_memo[map_mix_one(ip ^ word ^ code) % MODEL_SITE_MEMOS];
	if (maps != 0 && memo->maps == maps && memo->ip == ip && memo->word == word && memo->code == code)
		return memo->number;
	*memo = (struct site_memo){ maps, ip, word, code, number_of(model, view, word, code) };
	return memo->number;
}

const struct model_site *model_site_at(const struct model *model, uint32_t site)
{
	return site > 0 && site <= model->sites.used ? &model->sites.at[site - 1] : NULL;
}

size_t model_site_count(const struct model *model)
{
	return model->sites.used;
}

void sites_done(struct model *model)
{
	vec_done(&model->sites);
	map_done(&model->site_by_hash);
}
