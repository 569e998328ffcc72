/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file-reread: a file opened, read to its end and closed again and again by
 * one image, although nothing has changed it.  The list of users and its
 * kind, which a C library reads anew for each question, are told apart; a
 * program that reads them itself does not do it that way.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/reopen.h"

enum { REREAD_NAMES = 1, REREAD_LISTS, REREAD_OTHER };

static unsigned reread_kind(struct rule_run *run, const struct model_view *view)
{
	static const char *const names[] = { "/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow" };
	static const char *const lists[] = { "/etc/services", "/etc/protocols", "/etc/networks" };
	static const char *const pseudo[] = { "/proc/", "/sys/", "/dev/" };
	const char *path = view->path->text;

	bool looks_up = (view->made->open_flags & O_CLOEXEC) && !rule_made_outside(run->model, view);

	if (view->made->open_flags & O_DIRECTORY)
		return 0;
	for (size_t i = 0; looks_up && i < sizeof names / sizeof *names; i++)
		if (strcmp(path, names[i]) == 0)
			return REREAD_NAMES;
	for (size_t i = 0; looks_up && i < sizeof lists / sizeof *lists; i++)
		if (strcmp(path, lists[i]) == 0)
			return REREAD_LISTS;
	/* Where nothing is known of mounts, and what leads elsewhere. */
	for (size_t i = 0; i < sizeof pseudo / sizeof *pseudo; i++)
		if (strncmp(path, pseudo[i], strlen(pseudo[i])) == 0)
			return 0;
	return reopen_pseudo_type(run, view) ? 0 : REREAD_OTHER;
}

static bool same_file(const struct item_stat *was, const struct item_stat *now)
{
	return was->dev == now->dev && was->ino == now->ino && was->size == now->size &&
	       was->mtime_ns == now->mtime_ns && was->ctime_ns == now->ctime_ns;
}

static bool reread_repeats(struct rule_run *run, const struct reopen_file *file, const struct reopen_round *round,
			   const struct model_process *process)
{
	/* Who looks for a name stops where it is found. */
	if (round->bytes == 0 || (file->kind == REREAD_OTHER && (!round->ended || round->part != file->part)))
		return false;
	if (round->stat.ino && !S_ISREG(round->stat.mode))
		return false;
	if (round->stat.ino && file->stat.ino && !same_file(&file->stat, &round->stat))
		return false;
	return file->path && model_changed(run->model, process, file->path, NULL) <= file->read;
}

static void tell_names(struct rule_run *run, const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy;

	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "keep-names",
				     group->kind == REREAD_NAMES ? RULE_KEEP_NAMES
								 : "keep what each look-up has found");
	if (group->kind != REREAD_NAMES || strcmp(rule_base_name(group->key.exe->path), "getfacl") != 0)
		return;
	remedy = finding_add_remedy_all(finding, REMEDY_CONFIGURATION, "numeric", "getfacl -n");
	if (!remedy)
		return;
	remedy->command = rule_command_option(run->model, "-n", group->key.process_id);
	finding_set(&remedy->changes, "ids are printed in place of names");
}

/* It keeps the descriptors of what it serves, when told to. */
static void tell_nginx(const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);

	if (!remedy)
		return;
	remedy->id = "open-file-cache";
	finding_set(&remedy->text, "open_file_cache max=1000; in nginx.conf");
	for (size_t i = 0; i < group->key.tally.lines.used; i++) {
		const struct rule_line *line = &group->key.tally.lines.at[i];

		if (line->call != CALL_read && line->call != CALL_pread64 && line->call != CALL_readv &&
		    line->call != CALL_preadv)
			finding_add_delta(remedy, line->call, line->err, -(int64_t)line->count, line->components);
	}
}

static void tell_other(const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy;
	uint64_t components = 0;

	if (strcmp(rule_base_name(group->key.exe->path), "nginx") == 0)
		tell_nginx(group, finding);
	remedy = finding_add_remedy_all(finding, REMEDY_SOURCE, "keep",
					"keep what was read; a stat tells whether the file is another");
	if (!remedy)
		return;
	for (size_t i = 0; i < group->key.tally.lines.used; i++)
		components += group->key.tally.lines.at[i].components;
	finding_add_delta(remedy, CALL_newfstatat, 0, (int64_t)group->times, components);
}

static void reread_tell(struct rule_run *run, const struct reopen_group *group, struct finding *finding)
{
	if (group->kind != REREAD_OTHER)
		tell_names(run, group, finding);
	else
		tell_other(group, finding);
	finding_add_note(finding, "unchanged as far as seen");
}

static const struct reopen_words reread_words[] = {
	[REREAD_NAMES] = { "reads", "the list of names", "the list of names", "again", .object = "lists of names" },
	[REREAD_LISTS] = { "reads", "the list of names", "the list of names", "again", .object = "lists of names" },
	[REREAD_OTHER] = { "reads", "the same file", "the same files", "again", .object = "files" },
};

static const struct reopen_calls reread = { .words = reread_words,
					    .kind = reread_kind,
					    .own_kind = REREAD_OTHER,
					    .polled = true,
					    .repeats = reread_repeats,
					    .tell = reread_tell };

static int reread_start(struct rule_run *run)
{
	return reopen_start(run, &reread);
}

static const struct rule_limit reread_limits[] = {
	[REOPEN_TIMES] = { "times", RULE_COUNT, 10, "that one process reads one file" },
	[REOPEN_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "openings further apart do not count" },
	{ 0 },
};

const struct rule rule_file_reread = {
	.id = "file-reread",
	.title = "files read again that did not change",
	.limits = reread_limits,
	.start = reread_start,
	REOPEN_RULE,
};
