/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * localtime-stat: glibc's localtime() looks at /etc/localtime again and
 * again when TZ is unset, in case the system's time zone was changed.  A
 * clock that does it now and then is right; a burst is not.
 */
#include <string.h>

#include "rules/law.h"

#define ZONE_PATH "/etc/localtime"

enum { LIMIT_CALLS, LIMIT_GAP };
enum { ZONE_UNSET, ZONE_UNKNOWN };

struct zone_user {
	struct law_entry entry; /* first */
	uint64_t slow; /* look-ups of a slow clock */
};

static bool is_zone(const char *path, size_t bytes)
{
	return bytes == sizeof ZONE_PATH - 1 && memcmp(path, ZONE_PATH, bytes) == 0;
}

static void zone_call(struct rule_run *run, const struct model_view *view)
{
	const struct model_process *process = view->process;
	struct zone_user *user;

	/* As passed too: below a root of its own the program means another file. */
	if (!view->path ||
	    (!is_zone(view->path->text, view->path->bytes) && !is_zone(view->path->passed, view->path->passed_bytes)))
		return;
	/* glibc looks again only while the file is there; others' misses are not its. */
	if (view->err || !rule_returned(view))
		return;
	/* With any TZ glibc compares the variable and asks nothing: these
	 * look-ups are the program's own. */
	if (process->env_known && process->tz)
		return;
	user = law_entry(run, view, process->env_known ? ZONE_UNSET : ZONE_UNKNOWN);
	if (user && rule_burst_next(&user->entry.burst, view, run->limits[LIMIT_GAP]))
		law_count(run, &user->entry, view);
	else if (user)
		user->slow++;
}

static void zone_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct zone_user *user = (const struct zone_user *)entry;
	struct finding_remedy *remedy = finding_add_remedy_all(finding, REMEDY_ENVIRONMENT, NULL, "TZ=:" ZONE_PATH);

	if (remedy)
		remedy->command = rule_command(run->model, "TZ=:" ZONE_PATH, "TZ");
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, NULL, "set TZ at start, or tzset once and localtime_r");
	finding_set(&finding->place, "%s", ZONE_PATH);
	if (user->slow > 0)
		finding_add_note(finding, "left out: %llu look-ups of a slow clock", (unsigned long long)user->slow);
}

#define ZONE_KIND(certainty, is) \
	{ \
		.tier = (certainty), .least = LIMIT_CALLS, .object = ZONE_PATH, .where = ZONE_PATH, \
		.detail = ZONE_PATH, \
		.what = "looks at the time zone file again for each time it prints (TZ is " is ")", \
		.note = "with TZ set, a new system time zone is noticed at the next start only" \
	}

static const struct law_kind zone_kinds[] = {
	[ZONE_UNSET] = ZONE_KIND(FINDING_CERTAIN, "unset"),
	[ZONE_UNKNOWN] = ZONE_KIND(FINDING_LIKELY, "not known"),
	{ 0 },
};

static const struct law zone_law = {
	.kinds = zone_kinds, .entries = 16384, .entry_bytes = sizeof(struct zone_user), .tell = zone_tell
};

static const uint16_t zone_calls[] = { CALL_stat, CALL_lstat, CALL_newfstatat, CALL_statx, 0 };

static const char *const zone_env[] = { "TZ", NULL };

static const struct rule_limit zone_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 20, "look-ups of " ZONE_PATH " by one process" },
	[LIMIT_GAP] = { "gap", RULE_NS, UINT64_C(500000000), "look-ups further apart are a clock's and do not count" },
	{ 0 },
};

const struct rule rule_localtime_stat = {
	.id = "localtime-stat",
	.title = "the time zone file looked at again for each time printed",
	.items = SYS_ITEM_BIT(PATH),
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_TIMES,
	.env = zone_env,
	.calls = zone_calls,
	.limits = zone_limits,
	.call = zone_call,
	LAW_RULE(zone_law),
};
