/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that live as long as the model: arguments, environments, names of
 * modules and mounts.  Equal texts are kept once, and there is a limit on all
 * of them together.
 */
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

/* Different texts with one hash that are told apart. */
#define TEXT_CHAIN_MAX 4

struct kept_text {
	size_t bytes;
	char text[];
};

const char *text_keep(struct model *model, const char *data, size_t bytes)
{
	uint64_t key = map_hash(data, bytes);
	struct kept_text *kept = NULL;
	struct kept_text **place;
	unsigned chain;

	for (chain = 0; chain < TEXT_CHAIN_MAX; chain++, key = map_mix(key, bytes)) {
		place = map_get(&model->texts, key);
		if (!place)
			break;
		if ((*place)->bytes == bytes && memcmp((*place)->text, data, bytes) == 0)
			return (*place)->text;
	}
	if (chain == TEXT_CHAIN_MAX || model->stats.text_bytes + bytes > model->limits.text_bytes) {
		(void)model_lose(model, "kept texts");
		return NULL;
	}
	kept = malloc(sizeof(*kept) + bytes + 1);
	place = kept ? map_put(&model->texts, key, NULL) : NULL;
	if (!place) {
		free(kept);
		(void)model_no_memory(model);
		return NULL;
	}
	kept->bytes = bytes;
	if (bytes > 0)
		memcpy(kept->text, data, bytes);
	kept->text[bytes] = '\0';
	*place = kept;
	model->stats.text_bytes += bytes;
	return kept->text;
}

void texts_done(struct model *model)
{
	struct kept_text **place;
	size_t iter = 0;

	while ((place = map_next(&model->texts, &iter, NULL)))
		free(*place);
	map_done(&model->texts);
}
