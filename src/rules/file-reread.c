/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file-reread: a file opened, read to its end and closed again and again by
 * one image, although nothing has changed it.  The list of users and its
 * kind, which a C library reads anew for each question, are told apart.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "rules/reopen.h"

enum { LIMIT_TIMES, LIMIT_GAP };
enum { REREAD_NAMES = 1, REREAD_LISTS, REREAD_OTHER };

static unsigned reread_kind(struct rule_run *run, const struct model_view *view)
{
	static const char *const names[] = { "/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow" };
	static const char *const lists[] = { "/etc/services", "/etc/protocols", "/etc/networks" };
	static const char *const pseudo[] = { "/proc/", "/sys/", "/dev/" };
	const char *path = view->path->text;

	if (view->made->open_flags & O_DIRECTORY)
		return 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(path, names[i]) == 0)
			return REREAD_NAMES;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
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
	if (round->bytes == 0 || (!round->ended && file->kind == REREAD_OTHER))
		return false;
	if (round->stat.ino && !S_ISREG(round->stat.mode))
		return false;
	if (round->stat.ino && file->stat.ino && !same_file(&file->stat, &round->stat))
		return false;
	return file->path && model_changed(run->model, process, file->path, NULL) <= file->read;
}

static void tell_names(struct rule_run *run, const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	if (remedy) {
		remedy->id = "keep-names";
		finding_set(&remedy->text, "%s",
			    group->kind == REREAD_NAMES ? RULE_KEEP_NAMES : "keep what each look-up has found");
		finding_remedy_saves_all(remedy, finding);
	}
	if (group->kind != REREAD_NAMES || strcmp(rule_base_name(group->key.exe->path), "getfacl") != 0)
		return;
	remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
	if (!remedy)
		return;
	remedy->id = "numeric";
	finding_set(&remedy->text, "getfacl -n");
	remedy->command = rule_command_option(run->model, "-n", group->key.process_id);
	finding_set(&remedy->changes, "ids are printed in place of names");
	finding_remedy_saves_all(remedy, finding);
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
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	if (!remedy)
		return;
	remedy->id = "keep";
	finding_set(&remedy->text, "keep what was read; a stat tells whether the file is another");
	finding_remedy_saves_all(remedy, finding);
	for (size_t i = 0; i < group->key.tally.lines.used; i++)
		components += group->key.tally.lines.at[i].components;
	finding_add_delta(remedy, CALL_newfstatat, 0, (int64_t)group->times, components);
}

static void tell(struct rule_run *run, const struct reopen_group *group, struct finding_list *out)
{
	struct finding *finding = rule_key_finding(run, &group->key, FINDING_LIKELY, NULL, out);
	char *places = rule_places_text(&group->places, "file", "files"), number[TEXT_NUMBER_MAX];
	bool names = group->kind != REREAD_OTHER;
	struct buf path = BUF_INIT;

	if (finding && group->first && group->files == 1)
		(void)text_escape(&path, group->first, strlen(group->first), 0, true);
	finding_set(finding ? &finding->what : NULL, "reads %s again, %s times",
		    names		? "the list of names"
		    : group->files == 1 ? "the same file"
					: "the same files",
		    text_count(group->times, number));
	finding_set(finding ? &finding->where : NULL, "%s", path.bytes > 0 ? buf_text(&path) : places ? places : "");
	finding_set(finding ? &finding->object : NULL, "%s",
		    path.bytes > 0 ? buf_text(&path)
		    : names	   ? "lists of names"
				   : "files");
	if (finding && names)
		tell_names(run, group, finding);
	else if (finding)
		tell_other(group, finding);
	if (finding)
		finding_add_note(finding, "unchanged as far as seen");
	if (finding)
		finding->place = rule_places_place(&group->places);
	buf_done(&path);
	free(places);
}

static const struct reopen_calls reread = { .kind = reread_kind, .repeats = reread_repeats, .tell = tell };

static int reread_start(struct rule_run *run)
{
	reopen_start(run, &reread, run->limits[LIMIT_GAP], run->limits[LIMIT_TIMES]);
	return 0;
}

static const struct rule_limit reread_limits[] = {
	[LIMIT_TIMES] = { "times", RULE_COUNT, 10, "that one process reads one file" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "openings further apart do not count" },
	{ 0 },
};

const struct rule rule_file_reread = {
	.id = "file-reread",
	.title = "files read again that did not change",
	.items = REOPEN_ITEMS,
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_DEVICES | RULE_NEEDS_FDS | RULE_NEEDS_TIMES,
	.calls = reopen_subscribed,
	.limits = reread_limits,
	.state_bytes = sizeof(struct reopen_state),
	.start = reread_start,
	.call = reopen_call,
	.image_end = reopen_image_end,
	.end = reopen_end,
	.done = reopen_done,
};
