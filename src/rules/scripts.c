/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/scripts.h"

#include <string.h>

#include "base/map.h"
#include "model/model.h"

struct named {
	struct model_script script;
	bool differ; /* what stands there is not all */
};

static bool same(const struct model_script *a, const struct model_script *b)
{
	return a->kind == b->kind && (a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0));
}

static void add(struct map *map, uint64_t key, struct model_script script, bool all)
{
	bool fresh = false;
	struct named *named = map_put(map, key, &fresh);

	if (!named)
		return;
	if (fresh)
		*named = (struct named){ .script = script, .differ = !all };
	else if (!all || !same(&named->script, &script))
		named->differ = true;
}

static uint64_t exe_key(const char *path)
{
	return map_hash(path, strlen(path));
}

void finding_list_scripts(struct finding_list *list, struct model *model)
{
	struct map by_process, by_exe; /* struct named */
	struct model_process *process;

	if (list->items.used == 0)
		return;
	map_init(&by_process, sizeof(struct named), 0);
	map_init(&by_exe, sizeof(struct named), 0);
	for (size_t n = 0; (process = model_process_at(model, n)); n++) {
		struct model_script script = model_script_of(process);

		/* What makes no call has no part in any finding. */
		if (!process->folded && process->calls == 0)
			continue;
		add(&by_exe, exe_key(process->exe->path), script, !process->folded);
		if (script.kind != SCRIPT_NONE)
			add(&by_process, process->id, script, true);
	}
	for (size_t i = 0; i < list->items.used; i++) {
		struct finding *finding = &list->items.at[i];
		const struct named *named = finding->process_id ? map_get(&by_process, finding->process_id)
					    : finding->exe	? map_get(&by_exe, exe_key(finding->exe))
								: NULL;

		if (!named || named->differ)
			continue;
		finding->script_kind = named->script.kind;
		if (named->script.name)
			finding_set(&finding->script, "%s", named->script.name);
	}
	map_done(&by_process);
	map_done(&by_exe);
}
