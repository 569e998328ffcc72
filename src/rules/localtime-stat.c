/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * localtime-stat: glibc's localtime() looks at /etc/localtime again and
 * again when TZ is unset, in case the system's time zone was changed.  A
 * clock that does it now and then is right; a burst is not.
 */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define ZONE_PATH "/etc/localtime"
#define PROCESSES_MAX 16384 /* images that looked at it, at a time */

enum { LIMIT_CALLS, LIMIT_GAP };

/* One image; its tally has the looks that count. */
struct zone_user {
	struct rule_key key; /* first */
	struct rule_burst burst;
	enum finding_tier tier;
	uint64_t slow; /* look-ups of a slow clock */
};

static void zone_call(struct rule_run *run, const struct model_view *view)
{
	const struct model_process *process = view->process;
	struct zone_user *user;

	/* As passed too: below a root of its own the program means another file. */
	if (!view->path || (strcmp(view->path->text, ZONE_PATH) != 0 && strcmp(view->path->passed, ZONE_PATH) != 0))
		return;
	/* glibc looks again only while the file is there; others' misses are not its. */
	if (view->err || !rule_returned(view))
		return;
	/* With any TZ glibc compares the variable and asks nothing: these
	 * look-ups are the program's own. */
	if (process->env_known && model_getenv(process, "TZ"))
		return;
	user = (struct zone_user *)rule_keys_get(run, run->state, view, process->id, NULL);
	if (!user)
		return;
	user->tier = process->env_known ? FINDING_CERTAIN : FINDING_LIKELY;
	if (!rule_burst_next(&user->burst, view, run->limits[LIMIT_GAP])) {
		user->slow++;
		return;
	}
	(void)rule_tally_add(&user->key.tally, run->model, view);
	rule_keys_value(run->state, &user->key, user->key.tally.calls);
}

static void zone_image_end(struct rule_run *run, struct model_process *process)
{
	rule_keys_image_end(run, run->state, process);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct zone_user *user = (const struct zone_user *)key;
	struct finding *finding = rule_key_finding(run, key, user->tier, ZONE_PATH, out);
	struct finding_remedy *remedy;

	if (!finding)
		return;
	finding_set(&finding->what, "looks at the time zone file again for each time it prints (TZ is %s)",
		    user->tier == FINDING_CERTAIN ? "unset" : "not known");
	finding_set(&finding->where, "%s", ZONE_PATH);
	finding_set(&finding->object, "%s", ZONE_PATH);
	finding_set(&finding->place, "%s", ZONE_PATH);
	remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	if (remedy) {
		finding_set(&remedy->text, "TZ=:" ZONE_PATH);
		remedy->command = rule_command(run->model, "TZ=:" ZONE_PATH, "TZ");
		finding_remedy_saves_all(remedy, finding);
	}
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		finding_set(&remedy->text, "set TZ at start, or tzset once and localtime_r");
		finding_remedy_saves_all(remedy, finding);
	}
	finding_add_note(finding, "with TZ set, a new system time zone is noticed at the next start only");
	if (user->slow > 0)
		finding_add_note(finding, "left out: %llu look-ups of a slow clock", (unsigned long long)user->slow);
	rule_burst_note(&user->burst, finding);
}

static void zone_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, run->state, out, tell);
}

static int zone_start(struct rule_run *run)
{
	struct rule_keys *keys = run->state;

	rule_keys_init(keys, sizeof(struct zone_user), PROCESSES_MAX);
	keys->candidate = run->limits[LIMIT_CALLS];
	return 0;
}

static void zone_done(struct rule_run *run)
{
	rule_keys_done(run, run->state);
}

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
	.state_bytes = sizeof(struct rule_keys),
	.start = zone_start,
	.call = zone_call,
	.image_end = zone_image_end,
	.end = zone_end,
	.done = zone_done,
};
