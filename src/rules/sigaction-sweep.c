/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sigaction-sweep: every signal set by itself in each child, between fork and
 * exec.  exec does most of it anyway, and the kernel can do all of it at once.
 * Who only asks, and sets what has a handler, is right: that is the way where
 * parent and child share memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define CHILDREN_MAX 4096 /* between fork and exec at a time */
#define PARENTS_MAX 16384
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
	struct rule_key key; /* first */
	uint64_t children, asked, calls;
};

struct sweep_state {
	struct rule_keys children, parents;
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
	struct sweep_state *state = run->state;
	int number = (int)view->call->args[0];
	struct child *child;
	bool fresh = false;

	if (view->process->execed || !rule_returned(view))
		return;
	child = (struct child *)rule_keys_get(run, &state->children, view, view->process->id, &fresh);
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
	struct sweep_state *state = run->state;
	const struct model_process *by = model_process(run->model, process->ppid);
	struct parent *parent;

	/* One that the model no longer knows: by the program. */
	parent = (struct parent *)rule_keys_get_at(run, &state->parents, by ? by : process, child->key.last_ns,
						   by ? map_mix(by->id, 1) : map_mix(process->exe->id, 2), NULL);
	if (!parent)
		return;
	parent->children++;
	parent->asked += child->asked;
	parent->calls += process->calls;
	rule_tally_merge(&parent->key.tally, &child->key.tally);
	rule_keys_value(&state->parents, &parent->key, parent->children);
}

static void sweep_image_end(struct rule_run *run, struct model_process *process)
{
	struct sweep_state *state = run->state;
	struct rule_key *key = rule_keys_find(&state->children, process->id);

	if (key) {
		struct child *child = (struct child *)key;

		if (process->ended && process->exit_how == EVENT_EXIT_REPLACED &&
		    child->set >= run->limits[LIMIT_SIGNALS])
			ended(run, child, process);
		rule_keys_drop(run, &state->children, key);
	}
	rule_keys_image_end(run, &state->parents, process);
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct parent *parent = (const struct parent *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	char children[TEXT_NUMBER_MAX], each[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX];
	struct finding_remedy *remedy;

	if (!finding)
		return;
	finding_set(&finding->what, "sets every signal by itself in each child before exec");
	finding_set(&finding->where, "%s children, about %s calls each", text_count(parent->children, children),
		    text_count(key->tally.calls / parent->children, each));
	finding_set(&finding->object, "signals of children");
	/* Asking before each setting is what the C library's posix_spawn does. */
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy && parent->asked * 3 >= key->tally.calls) {
		remedy->id = "clear";
		finding_set(&remedy->text, "a posix_spawn that clears handlers at once (clone3, CLONE_CLEAR_SIGHAND)");
	} else if (remedy) {
		remedy->id = "handlers";
		finding_set(&remedy->text, "set only what the program ignores: exec itself takes handlers away");
	}
	if (remedy)
		finding_remedy_saves_all(remedy, finding);
	finding_add_scale(finding, 0, key->tally.calls / parent->children, "each child");
	finding_add_note(finding, "%s of %s calls of a child between fork and exec", each,
			 text_count(parent->calls / parent->children, all));
}

static void sweep_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &((struct sweep_state *)run->state)->parents, out, tell);
}

static int sweep_start(struct rule_run *run)
{
	struct sweep_state *state = run->state;

	rule_keys_init(&state->children, sizeof(struct child), CHILDREN_MAX);
	state->children.candidate = UINT64_MAX;
	rule_keys_init(&state->parents, sizeof(struct parent), PARENTS_MAX);
	state->parents.candidate = run->limits[LIMIT_CHILDREN];
	return 0;
}

static void sweep_done(struct rule_run *run)
{
	struct sweep_state *state = run->state;

	rule_keys_done(run, &state->children);
	rule_keys_done(run, &state->parents);
}

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
	.state_bytes = sizeof(struct sweep_state),
	.start = sweep_start,
	.call = sweep_call,
	.image_end = sweep_image_end,
	.end = sweep_end,
	.done = sweep_done,
};
