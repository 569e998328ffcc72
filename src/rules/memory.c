/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/memory.h"

#include <string.h>

#include "base/text.h"

uint64_t memory_pages(uint64_t bytes)
{
	return bytes / MEMORY_PAGE + (bytes % MEMORY_PAGE != 0);
}

uint64_t memory_round(uint64_t bytes)
{
	for (uint64_t step = 1; step <= UINT64_MAX / 10; step *= 10) {
		if (bytes <= step)
			return step;
		if (bytes <= 2 * step)
			return 2 * step;
		if (bytes <= 5 * step)
			return 5 * step;
	}
	return UINT64_MAX;
}

bool memory_by_glibc(const struct rule_sites *sites)
{
	if (!sites || sites->used == 0 || sites->other > 0)
		return false;
	for (uint32_t i = 0; i < sites->used; i++) {
		const char *name = sites->site[i].module ? rule_base_name(sites->site[i].module) : "";

		if (strcmp(name, "libc.so.6") != 0 && strncmp(name, "libc-2.", 7) != 0)
			return false;
	}
	return true;
}

void memory_tell_faults(struct finding *finding, enum sys_call_id call, uint64_t least, uint64_t most, const char *used)
{
	char number[TEXT_NUMBER_MAX], number2[TEXT_NUMBER_MAX];

	if (!finding)
		return;
	for (size_t i = 0; i < finding->costs.used; i++) {
		struct finding_cost *cost = &finding->costs.at[i];

		if (cost->call != call)
			continue;
		cost->pages_low = least;
		cost->pages_high = most;
		break;
	}
	if (least >= most)
		finding_add_note(finding, "page faults, which are no calls, are in it: %s", text_count(most, number));
	else
		finding_add_note(
			finding,
			"page faults, which are no calls, are in it: %s, and up to %s if all was used, not only %s",
			text_count(least, number), text_count(most, number2), used);
}
