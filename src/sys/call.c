/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Look-ups in the generated tables: calls by number and name, kinds,
 * classes and families.  Holds no facts of its own about any call.
 */
#include "sys/sys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sys/tables.h"

enum sys_call_id sys_call_id(enum sys_arch arch, int32_t nr)
{
	/* Negative numbers and x32's bit 30 are far behind any table. */
	uint32_t at = (uint32_t)nr;

	if (arch == SYS_ARCH_X86_64 && at < sys_ids_x86_64_count)
		return sys_ids_x86_64[at];
	if (arch == SYS_ARCH_AARCH64 && at < sys_ids_aarch64_count)
		return sys_ids_aarch64[at];
	return CALL_unknown;
}

int32_t sys_call_nr(enum sys_arch arch, enum sys_call_id id)
{
	if ((unsigned)id >= CALL_COUNT)
		return -1;
	if (arch == SYS_ARCH_X86_64)
		return sys_nrs_x86_64[id];
	if (arch == SYS_ARCH_AARCH64)
		return sys_nrs_aarch64[id];
	return -1;
}

const struct sys_call *sys_call(enum sys_call_id id)
{
	return &sys_calls[(unsigned)id < CALL_COUNT ? id : CALL_unknown];
}

const struct sys_kind *sys_kind(uint8_t kind)
{
	return &sys_kinds[kind < KIND_COUNT ? kind : 0];
}

static int compare_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct sys_call *)row)->name);
}

enum sys_call_id sys_call_by_name(const char *name)
{
	/* Behind CALL_unknown the ids are in the order of the names. */
	const struct sys_call *row = bsearch(name, sys_calls + 1, CALL_COUNT - 1, sizeof(sys_calls[0]), compare_name);

	return row ? (enum sys_call_id)(row - sys_calls) : CALL_unknown;
}

const char *sys_call_nearest(const char *name)
{
	const char *best = NULL;
	unsigned bound = text_slips(name);

	for (size_t id = 1; id < CALL_COUNT && bound; id++) {
		unsigned distance = text_distance(name, sys_calls[id].name, bound);

		if (distance <= bound) {
			best = sys_calls[id].name;
			bound = distance - (distance > 0);
			if (!distance)
				break;
		}
	}
	return best;
}

const char *sys_call_print(enum sys_arch arch, int32_t nr, char buf[static SYS_NAME_MAX])
{
	enum sys_call_id id = sys_call_id(arch, nr);

	if (id)
		(void)snprintf(buf, SYS_NAME_MAX, "%s", sys_calls[id].name);
	else if (arch == SYS_ARCH_NATIVE)
		(void)snprintf(buf, SYS_NAME_MAX, "call_%d", nr);
	else
		(void)snprintf(buf, SYS_NAME_MAX, "call_%d (%s)", nr, sys_arch_name(arch));
	return buf;
}

uint64_t sys_class(const char *name)
{
	for (const struct sys_class_row *row = sys_class_rows; row->name; row++)
		if (!strcmp(name, row->name) || (row->name[0] == '%' && !strcmp(name, row->name + 1)))
			return row->bit;
	for (const struct sys_class_row *row = sys_class_aliases; row->name; row++)
		if (!strcmp(name, row->name) || (row->name[0] == '%' && !strcmp(name, row->name + 1)))
			return row->bit;
	return 0;
}

const char *sys_class_name(size_t n, uint64_t *ret_bit)
{
	for (const struct sys_class_row *row = sys_class_rows; row->name; row++)
		if (!n--) {
			*ret_bit = row->bit;
			return row->name;
		}
	return NULL;
}

const char *sys_arch_name(enum sys_arch arch)
{
	static const char *const names[SYS_ARCH_COUNT] = {
		[SYS_ARCH_X86_64] = "x86-64",	[SYS_ARCH_I386] = "i386", [SYS_ARCH_X32] = "x32",
		[SYS_ARCH_AARCH64] = "aarch64", [SYS_ARCH_ARM] = "arm",
	};

	return (unsigned)arch < SYS_ARCH_COUNT ? names[arch] : "unknown architecture";
}

const char *sys_item_name(enum sys_item item)
{
	static const char *const names[SYS_ITEM_COUNT] = { [SYS_ITEM_NONE] = "none",
#define SYS_ITEM_TEXT(name, text, what) [SYS_ITEM_##name] = text,
							   SYS_ITEM_LIST(SYS_ITEM_TEXT)
#undef SYS_ITEM_TEXT
	};

	return (unsigned)item < SYS_ITEM_COUNT ? names[item] : "unknown item";
}
