/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/suppress.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "verdict/analysis.h"
#include "verdict/judge.h"
#include "verdict/settings.h"
#include "verdict/site-match.h"

static const char *const keys[] = {
	[SUPPRESS_EXE] = "exe",
	[SUPPRESS_PATH] = "path",
	[SUPPRESS_SITE] = "site",
};

static void entry_done(struct suppress_entry *entry)
{
	for (unsigned kind = 0; kind < SUPPRESS_KIND_COUNT; kind++) {
		for (size_t i = 0; i < entry->patterns[kind].at.used; i++)
			free(entry->patterns[kind].at.at[i]);
		vec_done(&entry->patterns[kind].at);
	}
	free(entry->reason);
	free(entry->file);
}

void suppressions_done(struct suppressions *list)
{
	for (size_t i = 0; i < list->entries.used; i++)
		entry_done(&list->entries.at[i]);
	vec_done(&list->entries);
}

int suppressions_add(struct suppressions *list, const char *file, unsigned line, struct error *err)
{
	struct suppress_entry *entry;

	if (list->entries.used == SUPPRESS_MAX)
		return error_set(err, E2BIG, "at most %d suppressions", SUPPRESS_MAX);
	entry = vec_add(&list->entries);
	if (entry)
		entry->file = strdup(file);
	if (!entry || !entry->file)
		return error_errno(err, ENOMEM, "suppressions");
	entry->line = line;
	return 0;
}

static int unknown_key(const char *key, struct error *err)
{
	static const char *const names[] = { "rule", "exe", "path", "site", "reason" };
	const char *nearest = NULL;
	unsigned best = text_slips(key) + 1;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		unsigned distance = text_distance(key, names[i], best);

		if (distance < best) {
			best = distance;
			nearest = names[i];
		}
	}
	if (nearest)
		return error_set(err, EINVAL, "a suppression has no '%s'; did you mean '%s'?", key, nearest);
	return error_set(err, EINVAL, "a suppression has no '%s'; there are rule, exe, path, site, reason", key);
}

static int add_pattern(struct suppress_patterns *patterns, const char *key, const char *value, struct error *err)
{
	char *copy;

	if (patterns->at.used == SUPPRESS_PATTERNS_MAX)
		return error_set(err, E2BIG, "at most %d times %s in a suppression", SUPPRESS_PATTERNS_MAX, key);
	copy = strdup(value);
	if (!copy || !vec_push(&patterns->at, copy)) {
		free(copy);
		return error_errno(err, ENOMEM, "suppressions");
	}
	return 0;
}

int suppress_set(struct suppressions *list, const char *key, const char *value, struct error *err)
{
	struct suppress_entry *entry = &list->entries.at[list->entries.used - 1];

	if (*value == '\0')
		return error_set(err, EINVAL, "%s is empty", key);
	for (unsigned kind = 0; kind < SUPPRESS_KIND_COUNT; kind++)
		if (strcmp(key, keys[kind]) == 0)
			return add_pattern(&entry->patterns[kind], key, value, err);
	if (strcmp(key, "rule") == 0) {
		if (entry->rule)
			return error_set(err, EINVAL,
					 "a second rule in one suppression: begin another with [suppress]");
		entry->rule = settings_rule(value, err);
		return entry->rule ? 0 : -EINVAL;
	}
	if (strcmp(key, "reason") != 0)
		return unknown_key(key, err);
	if (entry->reason)
		return error_set(err, EINVAL, "a second reason in one suppression");
	entry->reason = strdup(value);
	return entry->reason ? 0 : error_errno(err, ENOMEM, "suppressions");
}

int suppress_check(const struct suppressions *list, struct error *err)
{
	const struct suppress_entry *entry = &list->entries.at[list->entries.used - 1];

	if (!entry->rule)
		return error_set(err, EINVAL, "the suppression names no rule");
	if (!entry->reason)
		return error_set(err, EINVAL, "the suppression gives no reason: add 'reason = ...'");
	return 0;
}

static bool any_matches(const struct suppress_patterns *patterns, const char *text)
{
	for (size_t i = 0; i < patterns->at.used; i++)
		if (site_path_matches(patterns->at.at[i], text))
			return true;
	return false;
}

static bool exe_matches(const struct suppress_patterns *patterns, const struct finding *finding)
{
	return finding->exe && any_matches(patterns, finding->exe);
}

/* A folder stands for what is in it, and has a '/' at its end. */
static bool path_matches(const struct suppress_patterns *patterns, const struct finding *finding)
{
	size_t bytes = finding->place ? strlen(finding->place) : 0;
	char *folder;
	bool matches;

	if (bytes == 0)
		return false;
	if (finding->place[bytes - 1] != '/' || bytes == 1)
		return any_matches(patterns, finding->place);
	folder = strndup(finding->place, bytes - 1);
	matches = folder && any_matches(patterns, folder);
	for (size_t i = 0; i < patterns->at.used && !matches; i++)
		matches = strchr(patterns->at.at[i], '/') && glob_matches(patterns->at.at[i], finding->place);
	free(folder);
	return matches;
}

static bool site_matches(const struct suppress_patterns *patterns, const struct finding_site *site)
{
	for (size_t i = 0; i < patterns->at.used; i++)
		if (site_match(patterns->at.at[i], site, NULL, false) == SITE_YES)
			return true;
	return false;
}

static bool sites_match(const struct suppress_patterns *patterns, const struct finding *finding)
{
	uint64_t known = 0;

	for (size_t i = 0; i < finding->sites.used; i++) {
		if (!site_matches(patterns, &finding->sites.at[i]))
			return false;
		known += finding->sites.at[i].count;
	}
	return known >= finding->calls && known > 0;
}

bool suppress_matches(const struct suppress_entry *entry, const struct finding *finding)
{
	static bool (*const matches[])(const struct suppress_patterns *patterns, const struct finding *finding) = {
		[SUPPRESS_EXE] = exe_matches,
		[SUPPRESS_PATH] = path_matches,
		[SUPPRESS_SITE] = sites_match,
	};

	if (entry->rule != finding->rule)
		return false;
	for (unsigned kind = 0; kind < SUPPRESS_KIND_COUNT; kind++)
		if (entry->patterns[kind].at.used > 0 && !matches[kind](&entry->patterns[kind], finding))
			return false;
	return true;
}

int suppress_apply(struct analysis_result *result, const struct suppressions *list)
{
	size_t kept = 0;

	if (!list || list->entries.used == 0)
		return 0;
	result->suppressions = calloc(list->entries.used, sizeof *result->suppressions);
	result->suppressed = calloc(result->finding_count ? result->finding_count : 1, sizeof *result->suppressed);
	if (!result->suppressions || !result->suppressed)
		return -ENOMEM;
	result->suppression_count = list->entries.used;
	for (size_t i = 0; i < list->entries.used; i++)
		result->suppressions[i].entry = &list->entries.at[i];
	for (size_t i = 0; i < result->finding_count; i++) {
		struct verdict_finding finding = result->findings[i];
		size_t n = 0;

		while (n < list->entries.used && !suppress_matches(&list->entries.at[n], finding.finding))
			n++;
		if (n == list->entries.used) {
			result->findings[kept++] = finding;
			continue;
		}
		finding.suppressed_by = &list->entries.at[n];
		result->suppressions[n].findings++;
		result->suppressions[n].calls += finding.finding->calls;
		result->suppressed[result->suppressed_count++] = finding;
	}
	result->finding_count = kept;
	judge_sum(result);
	return 0;
}
