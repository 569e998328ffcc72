/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xattr-probe: what `syscull fix` can do about it, with what it leaves over
 * taken off.  Says nothing of conditions: the remedies' table does.
 */
#include <string.h>

#include "rules/xattr-probe.h"

/* The part of a sum that falls to so many of all. */
uint64_t probe_part_of(uint64_t sum, uint64_t count, uint64_t all)
{
	return count == all ? sum : (uint64_t)((double)sum * (double)count / (double)all + 0.5);
}

/* What one line loses when `count` of its calls go. */
void probe_take_off(struct finding_remedy *remedy, const struct rule_line *line, uint64_t count)
{
	finding_add_delta(remedy, line->call, line->err, -(int64_t)count,
			  probe_part_of(line->components, count, line->count));
}

/* Where libsyscull learns from one file for the others, as lib/xattr-class.c has it. */
static bool fs_is_learnt(const char *type)
{
	static const char *const types[] = { "ext2",	 "ext3",    "ext4",   "xfs",	  "tmpfs",
					     "devtmpfs", "ramfs",   "proc",   "sysfs",	  "tracefs",
					     "cgroup2",	 "debugfs", "devpts", "squashfs", "erofs" };

	for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

/* The preloaded library answers these functions; it may have to look at each
 * file once, so one name saves nothing. */
void probe_tell_preload(struct probe_tell *tell, struct rule_run *run)
{
	const struct probe_group *group = tell->group;
	const struct probe_name *first = NULL;
	struct finding_remedy *remedy;
	uint64_t calls = 0, components = 0, files = group->failed_objects + group->beyond;
	unsigned names = 0;

	if (!fs_is_learnt(group->fs_type))
		return;
	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_told *told = &tell->lines.at[i];

		if (!told->certain || told->name->list || told->line->call == CALL_getxattrat)
			continue;
		names += told->name != first;
		first = told->name;
		calls += told->line->count;
		components += told->line->components;
	}
	if (names < 2 || calls < 2 * files)
		return;
	remedy = finding_add_remedy(tell->finding, REMEDY_PRELOAD);
	if (!remedy)
		return;
	remedy->id = "preload-xattr";
	finding_set(&remedy->text, "remembered from outside, asks the mount of each file");
	remedy->command = rule_command(run->model, "syscull fix --with xattr --", NULL);
	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_told *told = &tell->lines.at[i];

		if (told->certain && !told->name->list && told->line->call != CALL_getxattrat)
			probe_take_off(remedy, told->line, told->line->count);
	}
	finding_add_delta(remedy, CALL_statx, 0, (int64_t)files, probe_part_of(components, files, calls));
}

/* Programs that ask a device no more that said once that it has no attributes. */
static bool stops_asking(const struct probe_group *group)
{
	static const char *const programs[] = { "ls", "dir", "vdir" };
	const char *base = rule_base_name(group->key.exe->path);

	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (strcmp(base, programs[i]) == 0)
			return true;
	return false;
}

/* A filter answers at once.  Who asks each time enters the kernel all the same, and one that tells
 * of each refusal (tar --xattrs) does more than without it: for those alone that stop asking. */
void probe_tell_filter(struct probe_tell *tell, struct rule_run *run)
{
	struct finding_remedy *remedy =
		stops_asking(tell->group) ? finding_add_remedy(tell->finding, REMEDY_SECCOMP) : NULL;

	if (!remedy)
		return;
	remedy->id = "filter-xattr";
	finding_set(&remedy->text, "\"not supported\" at once, by a filter in the kernel");
	finding_set(&remedy->changes, "no ACL, label or capability is seen");
	remedy->command = rule_command(run->model, "syscull fix --with xattr=off --", NULL);
	for (size_t i = 0; i < tell->lines.used; i++)
		probe_take_off(remedy, tell->lines.at[i].line, tell->lines.at[i].line->count);
	finding_add_delta(remedy, CALL_getppid, 0, (int64_t)tell->lines.used, 0);
}
