/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * localtime-stat: glibc's localtime() looks at /etc/localtime again and
 * again when TZ is unset, in case the system's time zone was changed.  A
 * clock that does it now and then is right; a burst is not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/rule.h"

#define ZONE_PATH "/etc/localtime"
#define PROCESSES_MAX 16384 /* images that looked at it, at a time */
#define COMMAND_MAX 100 /* bytes of a command line worth printing */

enum { LIMIT_CALLS, LIMIT_GAP };

#define ZONE_CALLS 4

struct zone_user {
	uint64_t number; /* order of appearance */
	uint64_t process_id;
	uint32_t pid;
	enum finding_tier tier;
	const struct model_exe *exe;
	uint64_t last_ns;
	uint64_t looks, slow; /* successful look-ups; of these those of a slow clock */
	struct {
		enum sys_call_id call;
		uint64_t count, components, duration_ns;
	} by_call[ZONE_CALLS];
	struct rule_sites sites;
	char *sample;
	bool over;
};

struct zone_state {
	struct map users; /* image id → struct zone_user * */
	uint64_t next_number;
};

static void user_free(struct zone_user *user)
{
	if (!user)
		return;
	free(user->sample);
	free(user);
}

static uint64_t user_wasted(const struct zone_user *user)
{
	return user->looks - user->slow;
}

static void evict_one(struct rule_run *run)
{
	struct zone_state *state = run->state;
	struct zone_user **at, *least = NULL;
	size_t iter = 0;

	while ((at = map_next(&state->users, &iter, NULL)))
		if (!least || user_wasted(*at) < user_wasted(least))
			least = *at;
	if (!least)
		return;
	(void)map_remove(&state->users, least->process_id);
	user_free(least);
	run->evicted++;
}

static struct zone_user *user_of(struct rule_run *run, const struct model_process *process)
{
	struct zone_state *state = run->state;
	struct zone_user **at = map_get(&state->users, process->id), *user;

	if (at)
		return *at;
	if (state->users.used >= PROCESSES_MAX)
		evict_one(run);
	user = calloc(1, sizeof *user);
	at = user ? map_put(&state->users, process->id, NULL) : NULL;
	if (!at) {
		user_free(user);
		return NULL;
	}
	*at = user;
	user->number = state->next_number++;
	user->process_id = process->id;
	user->pid = process->pid;
	user->exe = process->exe;
	user->tier = process->env_known ? FINDING_CERTAIN : FINDING_LIKELY;
	return user;
}

static void zone_call(struct rule_run *run, const struct model_view *view)
{
	const struct model_process *process = view->process;
	uint64_t now = view->call->head.time_ns;
	struct zone_user *user;

	/* As passed too: below a root of its own the program means another file. */
	if (!view->path || (strcmp(view->path->text, ZONE_PATH) != 0 && strcmp(view->path->passed, ZONE_PATH) != 0))
		return;
	/* glibc looks again only while the file is there; others' misses are not its. */
	if (view->err || (view->call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED)))
		return;
	/* With any TZ glibc compares the variable and asks nothing: these
	 * look-ups are the program's own. */
	if (process->env_known && model_getenv(process, "TZ"))
		return;
	user = user_of(run, process);
	if (!user)
		return;
	user->looks++;
	if (user->looks > 1 && now > user->last_ns && now - user->last_ns > run->limits[LIMIT_GAP]) {
		user->slow++;
		user->last_ns = now;
		return;
	}
	if (now > user->last_ns)
		user->last_ns = now;
	for (size_t i = 0; i < ZONE_CALLS; i++) {
		if (user->by_call[i].count > 0 && user->by_call[i].call != view->id)
			continue;
		user->by_call[i].call = view->id;
		user->by_call[i].count++;
		user->by_call[i].components += view->path->components;
		user->by_call[i].duration_ns += view->call->duration_ns;
		break;
	}
	rule_sites_add(&user->sites, run->model, view);
	if (!user->sample)
		user->sample = rule_sample(view);
}

static void zone_image_end(struct rule_run *run, struct model_process *process)
{
	struct zone_state *state = run->state;
	struct zone_user **at = map_get(&state->users, process->id);

	if (!at || user_wasted(*at) >= run->limits[LIMIT_CALLS])
		return;
	user_free(*at);
	(void)map_remove(&state->users, process->id);
}

/*
 * "TZ=:/etc/localtime find d1k -ls": the command that began the run, since
 * that is what can be typed again.  NULL when it was not seen to begin, is
 * long, or has a TZ of its own that did not reach the program.
 */
static char *command_with_zone(struct model *model)
{
	const struct model_process *root = NULL;
	const char *word, *end;
	struct buf text = BUF_INIT;
	char *result = NULL;

	for (size_t n = 0; (root = model_process_at(model, n)); n++)
		if (root->execed)
			break;
	if (!root || root->pid != model_process_at(model, 0)->pid)
		return NULL;
	if (!root->argv || root->argv_bytes == 0 || root->argv_bytes > COMMAND_MAX)
		return NULL;
	if (root->env_known && model_getenv(root, "TZ"))
		return NULL;
	(void)buf_puts(&text, "TZ=:" ZONE_PATH);
	end = root->argv + root->argv_bytes;
	for (word = root->argv; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
		(void)buf_putc(&text, ' ');
		(void)text_shell_word(&text, word, strnlen(word, (size_t)(end - word)), true);
	}
	if (!text.failed && text.bytes <= sizeof "TZ=:" ZONE_PATH + COMMAND_MAX)
		result = buf_steal(&text);
	buf_done(&text);
	return result;
}

static void tell(struct rule_run *run, struct zone_user *user, struct finding_list *out)
{
	struct finding *finding = finding_add(out, run->rule, user->tier);
	struct finding_remedy *remedy;

	if (!finding)
		return;
	finding->process_id = user->process_id;
	finding->pid = user->pid;
	finding_set(&finding->exe, "%s", user->exe->path);
	finding_set(&finding->what, "looks at the time zone file again for each time it prints (TZ is %s)",
		    user->tier == FINDING_CERTAIN ? "unset" : "not known");
	finding_set(&finding->where, "%s", ZONE_PATH);
	finding_set(&finding->object, "%s", ZONE_PATH);
	for (size_t i = 0; i < ZONE_CALLS && user->by_call[i].count > 0; i++) {
		struct finding_cost *cost =
			finding_add_cost(finding, user->by_call[i].call, 0, user->by_call[i].count, ZONE_PATH);

		if (!cost)
			continue;
		cost->components = user->by_call[i].components;
		cost->duration_ns = user->by_call[i].duration_ns;
	}
	rule_sites_top(&user->sites, finding, 5);
	finding_add_sample(finding, user->sample);
	user->sample = NULL;

	remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	if (remedy) {
		finding_set(&remedy->text, "TZ=:" ZONE_PATH);
		remedy->command = command_with_zone(run->model);
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
}

static int by_number(const void *a, const void *b)
{
	const struct zone_user *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

static void zone_end(struct rule_run *run, struct finding_list *out)
{
	struct zone_state *state = run->state;
	VEC(struct zone_user *) users = { 0 };
	struct zone_user **at;
	size_t iter = 0;

	while ((at = map_next(&state->users, &iter, NULL)))
		if (user_wasted(*at) >= run->limits[LIMIT_CALLS])
			(void)vec_push(&users, *at);
	if (users.used > 0)
		qsort(users.at, users.used, sizeof *users.at, by_number);
	for (size_t i = 0; i < users.used; i++)
		tell(run, users.at[i], out);
	vec_done(&users);
}

static int zone_start(struct rule_run *run)
{
	struct zone_state *state = run->state;

	map_init(&state->users, sizeof(struct zone_user *), PROCESSES_MAX);
	return 0;
}

static void zone_done(struct rule_run *run)
{
	struct zone_state *state = run->state;
	struct zone_user **at;
	size_t iter = 0;

	while ((at = map_next(&state->users, &iter, NULL)))
		user_free(*at);
	map_done(&state->users);
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
	.state_bytes = sizeof(struct zone_state),
	.start = zone_start,
	.call = zone_call,
	.image_end = zone_image_end,
	.end = zone_end,
	.done = zone_done,
};
