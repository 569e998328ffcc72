/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/call-sites.h"

#include <errno.h>
#include <string.h>

int call_sites_option(const char *value, enum engine_stacks *ret, struct error *err)
{
	static const char *const words[] = {
		[ENGINE_STACKS_OFF] = "off", [ENGINE_STACKS_SITES] = "sites", [ENGINE_STACKS_DEEP] = "deep"
	};

	for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp(value, words[i]) == 0) {
			*ret = (enum engine_stacks)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "--stacks wants off, sites or deep, not '%s'", value);
}

static void take(void *data, struct model *model, const struct model_view *view, uint32_t site)
{
	stack_book_take(data, model, view, site);
}

static void want(void *data, uint32_t site)
{
	stack_book_want(data, site);
}

static void resolve(void *data, struct model *model)
{
	(void)stack_book_resolve(data, model);
}

static const struct frames *frames(const void *data, uint32_t site)
{
	return stack_book_frames(data, site);
}

static const char *trouble(const void *data)
{
	return stack_book_trouble(data);
}

const struct analysis_stacks *call_sites_begin(struct call_sites *sites, const struct stack_options *options)
{
	*sites = (struct call_sites){ .book = stack_can_unwind() ? stack_book_new(options) : NULL };
	if (!sites->book)
		return NULL;
	sites->stacks = (struct analysis_stacks){ .data = sites->book,
						  .take = take,
						  .want = want,
						  .resolve = resolve,
						  .frames = frames,
						  .trouble = trouble };
	return &sites->stacks;
}

void call_sites_done(struct call_sites *sites)
{
	stack_book_free(sites->book);
	sites->book = NULL;
}
