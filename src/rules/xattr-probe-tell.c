/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xattr-probe: from counts to findings.  Each remedy says only what is true
 * of the program at hand, and takes off what it still has to ask.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/xattr-probe.h"

#define LIST_DETAIL "(list of names)"

/* File systems that pass a question on to others, or answer as a program
 * pleases: one device, many answers. */
static bool fs_is_stacked(const char *type)
{
	static const char *const types[] = { "overlay",	 "ecryptfs", "aufs", "unionfs", "9p",
					     "virtiofs", "zfs",	     "fuse", "fuseblk" };

	if (!type || strncmp(type, "fuse.", 5) == 0)
		return true;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

static bool is_acl(const struct probe_name *name)
{
	return name->text && strncmp(name->text, "system.posix_acl_", 17) == 0;
}

static bool is_label(const struct probe_name *name)
{
	return name->text && strcmp(name->text, "security.selinux") == 0;
}

static bool never_supported(const struct probe_group *group, const struct probe_name *name)
{
	return name->absent == 0 && name->values == 0 && name->unsupported > 0 && group->dev != 0 &&
	       !fs_is_stacked(group->fs_type);
}

/* A word of cp with -a or -p among its letters; -S and -t take the rest. */
static uint32_t cp_letters(const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		if (*letter == 'a')
			return PROBE_CP_ARCHIVE;
		if (*letter == 'p')
			return PROBE_CP_PRESERVE;
		if (*letter == 'S' || *letter == 't')
			break;
	}
	return 0;
}

void probe_read_command(struct probe_group *group, const struct model_process *process)
{
	static const char *const scanners[] = { "getcap", "getfattr", "getfacl", "setfacl" };
	const char *base = rule_base_name(process->exe->path), *word = process->argv;
	const char *end = word ? word + process->argv_bytes : NULL;
	bool tar = strcmp(base, "tar") == 0, cp = strcmp(base, "cp") == 0;

	for (size_t i = 0; i < sizeof scanners / sizeof *scanners; i++)
		if (strcmp(base, scanners[i]) == 0)
			group->command |= PROBE_SCANNER;
	if (!tar && !cp)
		return;
	while (word && word < end && memchr(word, '\0', (size_t)(end - word))) {
		if (strcmp(word, "--") == 0)
			break;
		if (tar && strncmp(word, "--xattrs", 8) == 0)
			group->command |= PROBE_TAR_XATTRS;
		else if (tar && strcmp(word, "--acls") == 0)
			group->command |= PROBE_TAR_ACLS;
		else if (tar && strcmp(word, "--selinux") == 0)
			group->command |= PROBE_TAR_SELINUX;
		else if (cp && strcmp(word, "--archive") == 0)
			group->command |= PROBE_CP_ARCHIVE;
		else if (cp && strncmp(word, "--preserve", 10) == 0)
			group->command |= PROBE_CP_PRESERVE;
		else if (cp && word[0] == '-' && word[1] != '-')
			group->command |= cp_letters(word);
		word += strlen(word) + 1;
	}
}

static int by_count(const void *a, const void *b)
{
	const struct probe_told *x = a, *y = b;
	int order;

	if (x->line->count != y->line->count)
		return x->line->count > y->line->count ? -1 : 1;
	order = strcmp(x->name->text ? x->name->text : "", y->name->text ? y->name->text : "");
	return order ? order : (int)x->line->call - (int)y->line->call;
}

static void gather(struct probe_tell *tell, const struct rule_run *run)
{
	const struct probe_group *group = tell->group;

	for (size_t i = 0; i < group->names.used; i++) {
		const struct probe_name *name = &group->names.at[i];
		bool certain = never_supported(group, name);

		if (!probe_name_flagged(run, name))
			continue;
		tell->tags |= UINT64_C(1) << i;
		for (size_t j = 0; j < name->failures.lines.used; j++) {
			const struct rule_line *line = &name->failures.lines.at[j];

			if (!vec_push(&tell->lines, (struct probe_told){ name, line, certain }))
				continue;
			if (name->list) {
				tell->names_list = true;
			} else {
				tell->gets += line->count;
				tell->get_components += line->components;
			}
			if (certain)
				tell->certain += line->count;
			if (line->err == EOPNOTSUPP)
				tell->unsupported += line->count;
			else
				tell->absent += line->count;
		}
	}
	if (tell->lines.used > 0)
		qsort(tell->lines.at, tell->lines.used, sizeof *tell->lines.at, by_count);
}

static void add_costs(struct probe_tell *tell)
{
	bool mixed = tell->certain > 0 && tell->certain < tell->absent + tell->unsupported;

	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_told *told = &tell->lines.at[i];
		const char *text = told->name->list ? LIST_DETAIL : told->name->text ? told->name->text : "?";
		struct finding_cost *cost;

		cost = finding_add_cost(tell->finding, told->line->call, told->line->err, told->line->count, NULL);
		if (!cost)
			continue;
		cost->components = told->line->components;
		cost->duration_ns = told->line->duration_ns;
		finding_set(&cost->detail, "%s%s", text, mixed && told->certain ? " (certain)" : "");
	}
}

/* The same whatever came first: the names in the order of the alphabet. */
static void add_object(struct probe_tell *tell)
{
	const char *last = "";
	struct buf names = BUF_INIT;

	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < tell->lines.used; i++) {
			const struct probe_name *name = tell->lines.at[i].name;
			const char *text = name->list ? "list" : name->text ? name->text : "?";

			if (strcmp(text, last) > 0 && (!next || strcmp(text, next) < 0))
				next = text;
		}
		if (!next)
			break;
		(void)buf_printf(&names, "%s%s", names.bytes > 0 ? "," : "", next);
		last = next;
	}
	finding_set(&tell->finding->object, "%s on %s", buf_text(&names),
		    tell->group->fs_type ? tell->group->fs_type : "?");
	buf_done(&names);
}

static void add_where(struct probe_tell *tell)
{
	const struct probe_group *group = tell->group;
	char *places = rule_places_text(&group->places, "file", "files");
	struct buf fs = BUF_INIT;

	if (group->fs_type) {
		(void)buf_puts(&fs, "; ");
		(void)text_escape(&fs, group->fs_type, strlen(group->fs_type), 0, true);
		if (group->fs_source && strcmp(group->fs_source, group->fs_type) != 0 &&
		    strcmp(group->fs_source, "none") != 0) {
			(void)buf_puts(&fs, " on ");
			(void)text_escape(&fs, group->fs_source, strlen(group->fs_source), 0, true);
		}
	}
	finding_set(&tell->finding->where, "%s%s", places ? places : "", buf_text(&fs));
	add_object(tell);
	tell->finding->place = group->nameless ? NULL : rule_places_place(&group->places);
	free(places);
	buf_done(&fs);
}

static void add_remember(struct probe_tell *tell)
{
	struct finding_remedy *remedy;
	const struct probe_name *one = NULL;
	uint64_t names = 0;

	for (size_t i = 0; i < tell->lines.used; i++) {
		if (tell->lines.at[i].certain && tell->lines.at[i].name != one) {
			one = tell->lines.at[i].name;
			names++;
		}
	}
	if (names == 0)
		return;
	remedy = finding_add_remedy(tell->finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "remember";
	if (names > 1)
		finding_set(&remedy->text, "remember per device what is unsupported");
	else
		finding_set(&remedy->text, "remember per device that %s is unsupported",
			    one->list	? "listing"
			    : one->text ? one->text
					: "it");
	/* The first look-up of each name has to be made. */
	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_told *told = &tell->lines.at[i];
		bool first = true;

		for (size_t j = 0; j < i; j++)
			first = first && tell->lines.at[j].name != told->name;
		if (told->certain)
			probe_take_off(remedy, told->line, told->line->count - (first ? 1 : 0));
	}
}

/* The list that fits the way in which the names are asked. */
static enum sys_call_id list_call(const struct probe_tell *tell)
{
	bool link = false;

	for (size_t i = 0; i < tell->lines.used; i++) {
		enum sys_call_id call = tell->lines.at[i].line->call;

		if (tell->lines.at[i].name->list)
			continue;
		if (call == CALL_fgetxattr)
			return CALL_flistxattr;
		if (call == CALL_getxattrat)
			return CALL_listxattrat;
		link = link || call == CALL_lgetxattr;
	}
	return link ? CALL_llistxattr : CALL_listxattr;
}

static void add_list_first(struct probe_tell *tell)
{
	const struct probe_group *group = tell->group;
	enum sys_call_id list = list_call(tell);
	const char *list_name = sys_call(list)->name;
	/* Files that were not told apart: at worst each look-up was another one's. */
	uint64_t files = group->failed_objects + group->beyond;
	uint64_t lists = files - group->listed_objects;
	struct finding_remedy *remedy;

	if (tell->gets == 0 || tell->names_list)
		return;
	/* All that can be remembered per device is better remembered. */
	if (tell->absent == 0 && tell->certain == tell->unsupported)
		return;
	if (lists > tell->gets || (tell->gets - lists) * 10 < tell->gets) {
		finding_add_note(tell->finding, "with one name a file, a list would cost as much as the look-up");
		return;
	}
	remedy = finding_add_remedy(tell->finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "list-first";
	if (lists * 10 <= files)
		finding_set(&remedy->text, "get only what the %s made anyway names", list_name);
	else
		finding_set(&remedy->text, "%s first, get what it names", list_name);
	for (size_t i = 0; i < tell->lines.used; i++)
		probe_take_off(remedy, tell->lines.at[i].line, tell->lines.at[i].line->count);
	finding_add_delta(remedy, list, 0, (int64_t)lists, probe_part_of(tell->get_components, lists, tell->gets));
}

static void add_tar(struct probe_tell *tell)
{
	static const struct {
		uint32_t bit;
		const char *option, *loses;
	} options[] = {
		{ PROBE_TAR_XATTRS, "--xattrs", "attributes" },
		{ PROBE_TAR_ACLS, "--acls", "ACLs" },
		{ PROBE_TAR_SELINUX, "--selinux", "labels" },
	};
	struct buf words = BUF_INIT, loses = BUF_INIT;
	struct finding_remedy *remedy;
	uint32_t used = 0;

	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_name *name = tell->lines.at[i].name;

		used |= is_acl(name) ? PROBE_TAR_ACLS : is_label(name) ? PROBE_TAR_SELINUX : PROBE_TAR_XATTRS;
	}
	used &= tell->group->command;
	if (used == 0)
		return;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!(used & options[i].bit))
			continue;
		(void)buf_printf(&words, " %s", options[i].option);
		(void)buf_printf(&loses, "%s%s", loses.bytes > 0 ? ", " : "", options[i].loses);
	}
	remedy = finding_add_remedy(tell->finding, REMEDY_CONFIGURATION);
	if (remedy) {
		finding_set(&remedy->text, "tar without%s", buf_text(&words));
		finding_set(&remedy->changes, "%s are not archived", buf_text(&loses));
	}
	for (size_t i = 0; i < tell->lines.used; i++) {
		const struct probe_told *told = &tell->lines.at[i];
		uint32_t bit = is_acl(told->name)     ? PROBE_TAR_ACLS
			       : is_label(told->name) ? PROBE_TAR_SELINUX
						      : PROBE_TAR_XATTRS;

		if (used & bit)
			probe_take_off(remedy, told->line, told->line->count);
	}
	buf_done(&words);
	buf_done(&loses);
}

static void add_cp(struct probe_tell *tell)
{
	struct finding_remedy *remedy;

	if (!(tell->group->command & (PROBE_CP_ARCHIVE | PROBE_CP_PRESERVE)))
		return;
	remedy = finding_add_remedy(tell->finding, REMEDY_CONFIGURATION);
	if (!remedy)
		return;
	finding_set(&remedy->text, "%s",
		    tell->group->command & PROBE_CP_ARCHIVE ? "cp -dR instead of cp -a" : "cp without -p, --preserve");
	finding_set(&remedy->changes, "modes, owners, times and attributes are not kept");
	for (size_t i = 0; i < tell->lines.used; i++)
		probe_take_off(remedy, tell->lines.at[i].line, tell->lines.at[i].line->count);
}

static void add_what(struct probe_tell *tell)
{
	if (tell->unsupported == 0)
		finding_set(&tell->finding->what, "attribute look-ups that found nothing (ENODATA)");
	else if (tell->absent == 0)
		finding_set(&tell->finding->what,
			    "attribute look-ups that the file system does not support (EOPNOTSUPP)");
	else
		finding_set(&tell->finding->what,
			    "attribute look-ups that found nothing (ENODATA) or are not supported (EOPNOTSUPP)");
}

void probe_tell(struct rule_run *run, const struct probe_group *group, struct finding_list *out)
{
	struct probe_tell tell = { .group = group };
	struct finding *finding;
	bool all_certain;

	gather(&tell, run);
	all_certain = tell.certain > 0 && tell.certain == tell.absent + tell.unsupported;
	finding = finding_add(out, run->rule, all_certain ? FINDING_CERTAIN : FINDING_LIKELY);
	tell.finding = finding;
	if (!finding)
		goto done;
	finding->process_id = group->key.process_id;
	finding->pid = group->key.pid;
	finding_set(&finding->exe, "%s", group->key.exe->path);
	add_costs(&tell);
	add_what(&tell);
	add_where(&tell);
	rule_sites_top_tagged(&group->sites, finding, 5, tell.tags);
	for (size_t i = 0; i < tell.lines.used; i++) {
		const struct probe_told *told = &tell.lines.at[i];

		if (told->name->sample && (i == 0 || tell.lines.at[i - 1].name != told->name))
			finding_add_sample(finding, strdup(told->name->sample));
	}
	if (group->command & PROBE_SCANNER) {
		finding->information = true;
		finding_add_note(finding, "asking every file is what this program is for");
		goto done;
	}
	add_remember(&tell);
	add_list_first(&tell);
	if (group->command & (PROBE_TAR_XATTRS | PROBE_TAR_ACLS | PROBE_TAR_SELINUX))
		add_tar(&tell);
	add_cp(&tell);
	probe_tell_preload(&tell, run);
	probe_tell_filter(&tell, run);
	if (group->dev == 0)
		finding_add_note(finding, "the device of these files is not known");
	else if (tell.unsupported > 0 && fs_is_stacked(group->fs_type))
		finding_add_note(finding, "on %s support can differ from file to file: do not remember it per device",
				 group->fs_type ? group->fs_type : "an unknown file system");
	if (group->beyond > 0)
		finding_add_note(finding, "more files than could be told apart: their number is a lower bound");
done:
	vec_done(&tell.lines);
}
