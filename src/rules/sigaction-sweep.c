/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigaction-sweep: every signal set by itself in each child, between fork and
 * exec.  exec does most of it anyway, and the kernel can do all of it at once.
 * Who only asks, and sets what has a handler, is right: that is the way where
 * parent and child share memory.
 */
#include "base/text.h"
#include "rules/law.h"

#define STEP_MOST 3 /* the C library keeps 32 and 33 for itself */

enum { LIMIT_SIGNALS, LIMIT_CHILDREN };

/* One child and its present row. */
struct child {
	struct rule_key key; /* first; its tally has the row */
	int last, step;
	uint64_t asked, set; /* calls that only ask, and numbers that were set */
	int last_set;
};

/* One image that starts children. */
struct parent {
	struct law_entry entry; /* first */
	uint64_t children, asked, calls;
};

static bool goes_on(struct child *child, int number)
{
	int delta = number - child->last, step = delta > 0 ? 1 : -1;

	if (delta == 0)
		return true;
	if ((child->step != 0 && step != child->step) || delta * step > STEP_MOST)
		return false;
	child->step = step;
	return true;
}

static void sweep_call(struct rule_run *run, const struct model_view *view)
{
	int number = (int)view->call->args[0];
	struct child *child;
	bool fresh = false;

	if (view->process->execed || !rule_returned(view))
		return;
	child = law_follow(run, view, 0, &fresh);
	if (!child)
		return;
	if (!fresh && !goes_on(child, number)) {
		/* A row that is long enough is kept, and what comes after it is none of it. */
		if (child->set >= run->limits[LIMIT_SIGNALS])
			return;
		rule_tally_done(&child->key.tally);
		child->asked = child->set = 0;
		child->step = child->last_set = 0;
	}
	child->last = number;
	if (view->call->args[1] == 0)
		child->asked++;
	else if (number != child->last_set && !view->err) {
		child->set++;
		child->last_set = number;
	}
	(void)rule_tally_add(&child->key.tally, run->model, view);
}

static void ended(struct rule_run *run, struct child *child, const struct model_process *process)
{
	struct law_state *state = run->state;
	const struct model_process *by = model_process(run->model, process->ppid);
	struct parent *parent;

	/* One that the model no longer knows: by the program. */
	parent = (struct parent *)rule_keys_get_at(run, &state->entries, by ? by : process, child->key.last_ns,
						   by ? map_mix(by->id, 1) : map_mix(process->exe->id, 2), NULL);
	if (!parent)
		return;
	parent->children++;
	parent->asked += child->asked;
	parent->calls += process->calls;
	rule_tally_merge(&parent->entry.key.tally, &child->key.tally);
	rule_keys_value(&state->entries, &parent->entry.key, parent->children);
}

static void sweep_image_end(struct rule_run *run, struct model_process *process)
{
	struct law_state *state = run->state;
	struct child *child = (struct child *)rule_keys_next_of(&state->followed, process->id, NULL);

	if (child && process->ended && process->exit_how == EVENT_EXIT_REPLACED &&
	    child->set >= run->limits[LIMIT_SIGNALS])
		ended(run, child, process);
	law_image_end(run, process);
}

static void sweep_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct parent *parent = (const struct parent *)entry;
	char children[TEXT_NUMBER_MAX], each[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX];
	uint64_t calls = entry->key.tally.calls;

	finding_set(&finding->where, "%s children, about %s calls each", text_count(parent->children, children),
		    text_count(calls / parent->children, each));
	/* Asking before each setting is what the C library's posix_spawn does. */
	if (parent->asked * 3 >= calls)
		(void)finding_add_remedy_all(
			finding, REMEDY_SOURCE, "clear",
			"a posix_spawn that clears handlers at once (clone3, CLONE_CLEAR_SIGHAND)");
	else
		(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "handlers",
					     "set only what the program ignores: exec itself takes handlers away");
	finding_add_scale(finding, 0, calls / parent->children, "each child");
	finding_add_note(finding, "%s of %s calls of a child between fork and exec", each,
			 text_count(parent->calls / parent->children, all));
}

static const struct law_kind sweep_kinds[] = {
	{ .tier = FINDING_LIKELY,
	  .least = LIMIT_CHILDREN,
	  .what = "sets every signal by itself in each child before exec",
	  .object = "signals of children" },
	{ 0 },
};

static const struct law sweep_law = {
	.kinds = sweep_kinds,
	.entries = 16384,
	.entry_bytes = sizeof(struct parent),
	.followed = 4096, /* between fork and exec */
	.followed_bytes = sizeof(struct child),
	.followed_stay = true,
	.tell = sweep_tell,
};

static const uint16_t sweep_calls[] = { CALL_rt_sigaction, 0 };

static const struct rule_limit sweep_limits[] = {
	[LIMIT_SIGNALS] = { "signals", RULE_COUNT, 30, "set one after the other in one child" },
	[LIMIT_CHILDREN] = { "children", RULE_COUNT, 5, "of one process that do so, and then run a program" },
	{ 0 },
};

const struct rule rule_sigaction_sweep = {
	.id = "sigaction-sweep",
	.title = "every signal set by itself in each child",
	.calls = sweep_calls,
	.limits = sweep_limits,
	.law = &sweep_law,
	.state_bytes = sizeof(struct law_state),
	.start = law_start,
	.call = sweep_call,
	.image_end = sweep_image_end,
	.end = law_end,
	.done = law_done,
};
