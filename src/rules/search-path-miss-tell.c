/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search-path-miss: from counts to findings.  Each kind of search has its own
 * ways out; what a shorter list saves is what was missed in the directories
 * that nobody found anything in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/search-path-miss.h"

static void take_dir(struct finding_remedy *remedy, const struct search_dir *dir)
{
	for (size_t i = 0; i < dir->misses.lines.used; i++) {
		const struct rule_line *line = &dir->misses.lines.at[i];

		finding_add_delta(remedy, line->call, line->err, -(int64_t)line->count, line->components);
	}
}

/* The directory lies below an entry of the list in which nobody found anything. */
static bool below_unused(const struct search_state *state, const struct search_group *group,
			 const struct search_dir *dir, bool *ret_listed)
{
	const char *list = group->list, *entry;
	size_t bytes;

	*ret_listed = false;
	while (list && dir->text && search_entry(&list, &entry, &bytes)) {
		if (!search_below(dir->text, strlen(dir->text), entry, bytes))
			continue;
		*ret_listed = true;
		if (!map_get(&state->used, search_used_hash(group->kind, entry, bytes)))
			return true;
	}
	return false;
}

/* "VAR=a:b" of the entries that were of use, "env -u VAR" when none was; and the
 * directory that the command itself was found in.  False: not to be told. */
static bool shorter_list(struct rule_run *run, const struct search_group *group, struct buf *value, bool *ret_shorter)
{
	const struct search_state *state = run->state;
	const struct model_process *root = rule_command_process(run->model);
	const char *own = root && root->argv && !strchr(root->argv, '/') ? root->exe->path : NULL;
	const char *list = group->list, *entry, *root_list;
	size_t bytes, own_bytes = own ? (size_t)(rule_base_name(own) - own) : 0;
	bool own_listed = group->kind != SEARCH_PROGRAMS || (root && root->argv && !own);

	*ret_shorter = false;
	while (search_entry(&list, &entry, &bytes)) {
		bool is_own = own_bytes == bytes + 1 && memcmp(own, entry, bytes) == 0;

		own_listed = own_listed || is_own;
		if (!is_own && !map_get(&state->used, search_used_hash(group->kind, entry, bytes))) {
			*ret_shorter = true;
			continue;
		}
		if (value->bytes > 0)
			(void)buf_putc(value, ':');
		(void)buf_add(value, entry, bytes);
	}
	root_list = root && root->env_known ? model_getenv(root, search_variable(group->kind)) : NULL;
	return own_listed && root_list && strcmp(root_list, group->list) == 0 && !value->failed;
}

static void add_shorter(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	const struct search_state *state = run->state;
	const char *variable = search_variable(group->kind);
	struct buf value = BUF_INIT, words = BUF_INIT;
	struct finding_remedy *remedy;
	bool listed, shorter, sound;

	if (!group->list || group->list_differs || state->used.refused > 0)
		return;
	sound = shorter_list(run, group, &value, &shorter);
	if (!shorter)
		goto done;
	remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	if (!remedy)
		goto done;
	remedy->id = "shorter-list";
	for (size_t i = 0; i < group->dirs.used; i++)
		if (below_unused(state, group, &group->dirs.at[i], &listed))
			take_dir(remedy, &group->dirs.at[i]);
	if (value.bytes == 0)
		(void)buf_printf(&words, "env -u %s", variable);
	else
		(void)buf_printf(&words, "%s=", variable);
	if (value.bytes > 0)
		(void)text_shell_word(&words, value.data, value.bytes, true);
	if (value.bytes == 0)
		finding_set(&remedy->text, "unset %s", variable);
	else if (words.bytes <= 100)
		finding_set(&remedy->text, "%s", buf_text(&words));
	else
		finding_set(&remedy->text, "a shorter %s, without what holds nothing of it", variable);
	if (sound && !words.failed)
		remedy->command = rule_command(run->model, buf_text(&words), NULL);
	finding_add_note(finding, "nothing was found, in this run, in what the shorter %s leaves out", variable);
done:
	buf_done(&value);
	buf_done(&words);
}

static void tell_loader(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	const struct search_state *state = run->state;
	bool listed, others = false;
	struct finding_remedy *remedy;

	add_shorter(run, group, finding);
	for (size_t i = 0; i < group->dirs.used; i++) {
		(void)below_unused(state, group, &group->dirs.at[i], &listed);
		others = others || !listed;
	}
	if (!others)
		return;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "shrink-rpath";
		finding_set(&remedy->text, "patchelf --shrink-rpath: keep what holds a needed library");
		for (size_t i = 0; i < group->dirs.used; i++) {
			(void)below_unused(state, group, &group->dirs.at[i], &listed);
			if (!listed && group->dirs.at[i].found == 0)
				take_dir(remedy, &group->dirs.at[i]);
		}
	}
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "absolute-needed",
				     "link libraries by absolute path (patchelf --replace-needed)");
}

static void tell_programs(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	add_shorter(run, group, finding);
	if (group->names.used == 1 && group->name) {
		struct finding_remedy *remedy = finding_add_remedy_all(finding, REMEDY_SOURCE, "whole-path", "");

		if (remedy)
			finding_set(&remedy->text, "start %s by its whole path", group->name);
	} else {
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "whole-path",
					     "start programs by their whole path");
	}
}

static int by_found(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* With the directories first that hold the modules, fewer are asked in vain. */
static void tell_perl(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	uint64_t found[SEARCH_DIRS_MAX], left = 0;
	const struct rule_line *line = NULL;
	struct finding_remedy *remedy;
	size_t used = 0;

	(void)run;
	for (size_t i = 0; i < group->key.tally.lines.used; i++)
		if (!line || group->key.tally.lines.at[i].count > line->count)
			line = &group->key.tally.lines.at[i];
	for (size_t i = 0; i < group->dirs.used; i++)
		if (group->dirs.at[i].found > 0)
			found[used++] = group->dirs.at[i].found;
	qsort(found, used, sizeof *found, by_found);
	/* Each module is first asked for as .pmc, in its own directory too; and three
	 * folders of versions are asked for in each directory of the variable.  At
	 * worst each folder that gave one is a directory of its own. */
	for (size_t i = 0; i < used; i++)
		left += found[i] * (1 + 2 * i) + 3 * group->runs.used;
	if (!line || used == 0 || used == SEARCH_DIRS_MAX || left >= line->count)
		return;
	remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	if (!remedy)
		return;
	remedy->id = "perl5lib";
	finding_set(&remedy->text, "name the directories that have them first, in PERL5LIB");
	finding_add_delta(remedy, line->call, line->err, -(int64_t)(line->count - left),
			  (uint64_t)((double)line->components / (double)line->count * (double)(line->count - left)));
	finding_add_note(finding, "a module of the same name in another directory then no longer comes first");
}

static void tell_headers(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = NULL;
	uint64_t empty = 0;
	char number[TEXT_NUMBER_MAX];

	(void)run;
	for (size_t i = 0; i < group->dirs.used; i++)
		empty += group->dirs.at[i].found == 0;
	if (empty > 0)
		remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
	if (remedy) {
		remedy->id = "fewer-directories";
		finding_set(&remedy->text, "drop the %s -I %s that gave no header", text_count(empty, number),
			    empty == 1 ? "directory" : "directories");
		for (size_t i = 0; i < group->dirs.used; i++)
			if (group->dirs.at[i].found == 0)
				take_dir(remedy, &group->dirs.at[i]);
	}
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "one-directory",
				     "one -I above them all, and the folder's name in each #include");
}

static void tell_python(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);

	(void)run;
	if (!remedy)
		return;
	remedy->id = "fewer-directories";
	finding_set(&remedy->text, "take directories that hold none of it off sys.path");
	for (size_t i = 0; i < group->dirs.used; i++)
		if (group->dirs.at[i].found == 0)
			take_dir(remedy, &group->dirs.at[i]);
}

static void tell_make(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy_all(finding, REMEDY_CONFIGURATION, "no-builtin-rules",
							       "make -r, or MAKEFLAGS += -r in the makefile");

	(void)group;
	if (remedy)
		remedy->command = rule_command(run->model, "MAKEFLAGS=-r", "MAKEFLAGS");
	finding_add_note(finding, "-r leaves out all built-in rules: a makefile that lives by them needs its own");
}

static void tell_ruby(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	(void)run;
	(void)group;
	(void)finding_add_remedy_all(finding, REMEDY_CONFIGURATION, "bootsnap",
				     "bootsnap, which remembers what is where in the load path");
}

static void tell_node(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	(void)run;
	(void)group;
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "bundle", "bundle the modules into one file (esbuild)");
}

static void tell_htaccess(struct rule_run *run, const struct search_group *group, struct finding *finding)
{
	(void)run;
	(void)group;
	(void)finding_add_remedy_all(finding, REMEDY_CONFIGURATION, "allow-override", "AllowOverride None");
}

#define MODULES "looks for modules in directories that do not have them"

static const struct {
	const char *object, *what;
	void (*tell)(struct rule_run *run, const struct search_group *group, struct finding *finding);
} kinds[SEARCH_KINDS] = {
	[SEARCH_LOADER] = { "ld.so", "the loader looks for libraries in directories that do not have them",
			    tell_loader },
	[SEARCH_PROGRAMS] = { "PATH", "looks for programs in directories that do not have them", tell_programs },
	[SEARCH_PYTHON] = { "python", MODULES, tell_python },
	[SEARCH_PERL] = { "perl", MODULES, tell_perl },
	[SEARCH_RUBY] = { "ruby", MODULES, tell_ruby },
	[SEARCH_NODE] = { "node", MODULES, tell_node },
	[SEARCH_HEADERS] = { "gcc", "looks for headers in directories that do not have them", tell_headers },
	[SEARCH_MAKE] = { "make", "looks for RCS and SCCS in each directory, for built-in rules", tell_make },
	[SEARCH_HTACCESS] = { "htaccess", "looks for .htaccess in each directory above a file", tell_htaccess },
};

void search_tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct search_group *group = (const struct search_group *)key;
	char *places, number[TEXT_NUMBER_MAX], runs[TEXT_NUMBER_MAX];
	struct finding *finding;

	if (key->tally.calls * 100 < (key->tally.calls + group->found) * run->limits[SEARCH_LIMIT_FAILED])
		return;
	finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	if (group->runs.used > 1) {
		finding->process_id = 0;
		finding->pid = 0;
		finding_add_note(finding, "in %s%s processes; the proof is of the first",
				 group->runs.refused > 0 ? "over " : "", text_count(group->runs.used, runs));
	}
	finding_set(&finding->what, "%s", kinds[group->kind].what);
	places = rule_places_text(&group->places, "directory", "directories");
	if (group->names.used == 1)
		finding_set(&finding->where, "%s, looked for in %s", group->name ? group->name : "?",
			    places ? places : "?");
	else
		finding_set(&finding->where, "%s%s names, looked for in %s", group->names.refused > 0 ? "over " : "",
			    text_count(group->names.used, number), places ? places : "?");
	free(places);
	finding->place = rule_places_place(&group->places);
	finding_set(&finding->object, "%s", kinds[group->kind].object);
	kinds[group->kind].tell(run, group, finding);
}
