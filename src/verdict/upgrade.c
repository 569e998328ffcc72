/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/upgrade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/judge.h"
#include "verdict/package-version.h"

enum state {
	STATE_OTHER, /* another package, or nothing to go by */
	STATE_OLDER,
	STATE_UNKNOWN, /* which version this is */
	STATE_FIXED,
};

static bool is_library(const char *module)
{
	const char *base = rule_base_name(module), *so = strstr(base, ".so");

	return module[0] == '/' && so && (so[3] == '\0' || so[3] == '.');
}

/* Whose call it is, when that is known, or in whose code the call is made. */
static const char *module_of(const struct finding_site *site, bool caller)
{
	const struct frame *outer = caller ? site_outer(site->frames) : NULL;

	return outer && outer->module ? outer->module : site->module;
}

static const char *most_of(const struct finding *finding, bool caller)
{
	for (size_t i = 0; i < finding->sites.used; i++) {
		const char *module = module_of(&finding->sites.at[i], caller);
		uint64_t count = 0;

		if (!module || !is_library(module) || (finding->exe && strcmp(module, finding->exe) == 0))
			continue;
		for (size_t j = 0; j < finding->sites.used; j++) {
			const char *other = module_of(&finding->sites.at[j], caller);

			if (other && strcmp(other, module) == 0)
				count += finding->sites.at[j].count;
		}
		if (count > finding->calls / 2)
			return module;
	}
	return NULL;
}

const char *upgrade_library(const struct finding *finding)
{
	return most_of(finding, true);
}

static enum state state_of(const struct known_row *row, const struct package_book *packages, const char *path)
{
	const struct package *package = package_book_get(packages, path);
	char upstream[PACKAGE_VERSION_MAX];

	/* Every program has it: a fix of old is no news of a version unknown. */
	if (!package)
		return rule_is_c_library(path) ? STATE_OTHER : STATE_UNKNOWN;
	if (strcmp(package->source, row->package) != 0)
		return STATE_OTHER;
	(void)package_version_upstream(package->source_version, upstream);
	return package_version_compare(upstream, row->fixed) < 0 ? STATE_OLDER : STATE_FIXED;
}

/* The path that a row is about, of the two that a finding has. */
static const char *path_of(const struct known_row *row, const struct finding *finding)
{
	const char *library = upgrade_library(finding), *inner = most_of(finding, false);

	if (library && known_fits(row, finding->rule->id, library))
		return library;
	if (inner && known_fits(row, finding->rule->id, inner))
		return inner;
	return finding->exe && known_fits(row, finding->rule->id, finding->exe) ? finding->exe : NULL;
}

static const struct finding_remedy *remedy_by_id(const struct finding *finding, const char *id)
{
	for (size_t i = 0; i < finding->remedies.used; i++)
		if (finding->remedies.at[i].id && strcmp(finding->remedies.at[i].id, id) == 0)
			return &finding->remedies.at[i];
	return NULL;
}

/* What the fix saves: all, nothing that could be counted, or the same as
 * another remedy.  False when the finding has no such remedy: then it is not
 * what the fix is about. */
static bool is_about(const struct known_row *row, const struct finding *finding)
{
	return strcmp(row->saves, "all") == 0 || strcmp(row->saves, "unknown") == 0 ||
	       remedy_by_id(finding, row->saves);
}

static int add_remedy(struct finding *finding, const struct known_row *row, enum state state)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_UPGRADE);
	const struct finding_remedy *same = remedy_by_id(finding, row->saves);

	if (!remedy)
		return -ENOMEM;
	remedy->id = "upgrade";
	finding_set(&remedy->text, "%s %s %s", row->name, row->fixed, row->text);
	if (strcmp(row->saves, "all") == 0)
		finding_remedy_saves_all(remedy, finding);
	for (size_t i = 0; same && i < same->deltas.used; i++) {
		const struct finding_delta *delta = &same->deltas.at[i];

		finding_add_delta(remedy, delta->call, delta->err, delta->count, delta->components);
		finding_add_pages(remedy, delta->call, delta->err, delta->count < 0, delta->pages_low,
				  delta->pages_high);
	}
	if (state == STATE_UNKNOWN)
		finding_add_note(finding, "which version of %s this is, is not known", row->name);
	return 0;
}

static int add_first(struct finding *finding, const struct package_book *packages, const struct known_row *rows,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *path = path_of(&rows[i], finding);
		enum state state =
			path && is_about(&rows[i], finding) ? state_of(&rows[i], packages, path) : STATE_OTHER;

		if (state == STATE_OLDER || state == STATE_UNKNOWN)
			return add_remedy(finding, &rows[i], state);
	}
	return 0;
}

int upgrade_add(struct finding_list *list, struct package_book *packages, const struct known_row *rows, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < list->items.used && r == 0; i++) {
		const struct finding *finding = &list->items.at[i];

		r = package_book_want(packages, finding->exe);
		if (r == 0)
			r = package_book_want(packages, upgrade_library(finding));
		if (r == 0)
			r = package_book_want(packages, most_of(finding, false));
	}
	if (r == 0)
		r = package_book_read(packages);
	for (size_t i = 0; i < list->items.used && r == 0; i++)
		if (!list->items.at[i].information)
			r = add_first(&list->items.at[i], packages, rows, count);
	return r;
}

static const struct known_row *fixed_by(const struct finding *finding, const struct package_book *packages,
					const struct known_row *rows, size_t count)
{
	if (finding->information || remedy_by_id(finding, "upgrade"))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *path = path_of(&rows[i], finding);

		if (path && !rule_is_c_library(path) && state_of(&rows[i], packages, path) == STATE_FIXED)
			return &rows[i];
	}
	return NULL;
}

static const char *label_of(const struct package_book *packages, const char *path)
{
	const struct package *package = package_book_get(packages, path);

	return package ? package->label : NULL;
}

void upgrade_tell(struct analysis_result *result, const struct package_book *packages, const struct known_row *rows,
		  size_t count)
{
	for (size_t i = 0; i < result->finding_count; i++) {
		struct verdict_finding *verdict = &result->findings[i];
		const char *library = upgrade_library(verdict->finding);

		verdict->package = label_of(packages, verdict->finding->exe);
		if (library && !rule_is_c_library(library)) {
			verdict->library = library;
			verdict->library_package = label_of(packages, library);
		}
		verdict->fixed_by = fixed_by(verdict->finding, packages, rows, count);
	}
}

int upgrade_judge(struct analysis_result *result, struct finding_list *list, struct package_book *packages)
{
	int r;

	/* Without the packages of this system the findings are as good as before. */
	(void)upgrade_add(list, packages, known_rows, known_row_count);
	r = judge_findings(result, list);
	if (r == 0)
		upgrade_tell(result, packages, known_rows, known_row_count);
	return r;
}
