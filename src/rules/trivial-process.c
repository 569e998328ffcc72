/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trivial-process: a process where an expansion, a builtin or one process for
 * all would do.  Here is the keeping of counts: the calls that made a child,
 * started its program and waited for it wait in a key of its pid, and are
 * counted for who started it when it has ended and was short.
 */
#include "rules/trivial-process.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#define CHILDREN_MAX 4096 /* at a time */
#define USES_MAX 4096 /* different children of all starters */
#define CHILD_IDLE_NS UINT64_C(1000000000)
#define LEVELS_MAX 64 /* subshells inside each other */

struct child {
	struct rule_key key; /* first */
	bool born, judged, copied;
	bool piped; /* started while another child of its starter had not been waited for, or before such a one */
	bool waits; /* for small children of its own: its life is theirs */
	uint64_t use; /* that it was counted for, when judged */
};

/* Who a process was before its exec. */
struct before {
	uint64_t hash; /* first: of the pid */
	uint64_t process_id;
};

/* What a process has started last and not yet waited for. */
struct row {
	uint64_t hash; /* first: of its pid */
	uint64_t process_id;
	uint64_t child; /* pid, 0 none */
};

static uint64_t child_hash(uint64_t pid)
{
	return map_mix(pid, 0x7069640000000000);
}

static struct child *child_of(struct rule_run *run, const struct model_view *view, uint64_t pid, bool make)
{
	struct trivial_state *state = run->state;
	uint64_t hash = child_hash(pid);

	if (!make)
		return (struct child *)rule_keys_find(&state->children, hash);
	return (struct child *)rule_keys_get(run, &state->children, view, hash, NULL);
}

/* A call about a child: in its own tally as long as it is not judged. */
static void count(struct rule_run *run, struct child *child, const struct model_view *view)
{
	struct trivial_state *state = run->state;
	struct rule_key *key = child->judged ? rule_keys_find(&state->uses, child->use) : &child->key;
	bool copies = view->id == CALL_fork || (view->id == CALL_clone && !(view->call->args[0] & CLONE_VM));

	if (!key)
		return;
	if (copies && child->judged)
		((struct trivial_use *)key)->copies++;
	child->copied = child->copied || copies;
	/* Where an exec was called from is gone with the old program. */
	if (sys_call(view->id)->classes & SYS_FAMILY_exec)
		(void)rule_tally_count(&key->tally, view);
	else
		(void)rule_tally_add(&key->tally, run->model, view);
}

static void mark_piped(struct trivial_state *state, struct child *child)
{
	struct trivial_use *use;

	if (!child || child->piped)
		return;
	child->piped = true;
	use = child->judged ? (struct trivial_use *)rule_keys_find(&state->uses, child->use) : NULL;
	if (use && use->what == TRIVIAL_FORK)
		use->piped++;
}

/* A shell starts all children of a pipe before it waits for one, and no other while it waits. */
static void note_row(struct rule_run *run, const struct model_view *view, struct child *child, uint64_t pid)
{
	struct trivial_state *state = run->state;
	struct row *row = rule_recent_put(&state->rows, child_hash(view->process->pid), NULL);

	if (row->process_id == view->process->id && row->child) {
		mark_piped(state, child_of(run, view, row->child, false));
		mark_piped(state, child);
	}
	row->process_id = view->process->id;
	row->child = pid;
}

static void note_waited(struct rule_run *run, const struct model_view *view, uint64_t pid)
{
	struct trivial_state *state = run->state;
	struct row *row = rule_recent_get(&state->rows, child_hash(view->process->pid));

	if (row && row->child == pid)
		row->child = 0;
}

static void forked(struct rule_run *run, const struct model_view *view, uint64_t pid)
{
	struct trivial_state *state = run->state;
	struct child *child = child_of(run, view, pid, false);

	/* The pid was another one's. */
	if (child && child->born) {
		rule_keys_drop(run, &state->children, &child->key);
		child = NULL;
	}
	/* A thread, or the pid of another namespace. */
	if (!child && !model_process(run->model, (uint32_t)pid))
		return;
	if (!child)
		child = child_of(run, view, pid, true);
	if (!child)
		return;
	child->born = true;
	note_row(run, view, child, pid);
	count(run, child, view);
}

static void trivial_call(struct rule_run *run, const struct model_view *view)
{
	struct trivial_state *state = run->state;
	int64_t ret = view->call->ret;
	struct child *child;

	if (view->err || !rule_returned(view))
		return;
	if (view->id == CALL_execve || view->id == CALL_execveat) {
		child = child_of(run, view, view->process->pid, true);
		if (child)
			count(run, child, view);
	} else if (view->id == CALL_wait4) {
		child = ret > 0 ? child_of(run, view, (uint64_t)ret, false) : NULL;
		if (ret > 0)
			note_waited(run, view, (uint64_t)ret);
		if (child)
			count(run, child, view);
		if (child && child->judged)
			rule_keys_drop(run, &state->children, &child->key);
	} else if (ret > 0) {
		forked(run, view, (uint64_t)ret);
	}
}

/* The script behind its subshells. */
static struct model_process *starter_of(struct rule_run *run, const struct model_process *process)
{
	struct model_process *at = model_process(run->model, process->ppid), *up;

	for (unsigned level = 0; at && !at->execed && level < LEVELS_MAX; level++) {
		up = model_process(run->model, at->ppid);
		if (!up || up == at || up->exe != at->exe)
			break;
		at = up;
	}
	return at && !at->folded && at->start_ns <= process->start_ns ? at : NULL;
}

static bool what_of(const struct model_process *process, const struct model_process *starter, struct trivial_use *ret)
{
	*ret = (struct trivial_use){ .what = TRIVIAL_FORK, .exe = process->exe };
	if (!process->execed)
		return trivial_is_shell(starter->exe) && process->exe == starter->exe;
	ret->tool = trivial_tool(process);
	if (ret->tool && ret->tool->at_once == TRIVIAL_OWN)
		ret->tool = NULL;
	ret->option = trivial_one_each(starter);
	ret->what = ret->option ? TRIVIAL_ITEM : TRIVIAL_TOOL;
	return ret->option || (ret->tool && !trivial_by_order(starter->exe));
}

/* What watching may have cost at most is taken off: all calls in the tree since it began. */
static uint64_t life_of(const struct rule_run *run, const struct model_process *process)
{
	uint64_t life = process->end_ns > process->start_ns ? process->end_ns - process->start_ns : 0;
	uint64_t calls = model_now(run->model) - process->changed, stops;

	stops = calls > UINT64_MAX / RULE_STOP_MOST_NS ? UINT64_MAX : calls * RULE_STOP_MOST_NS;
	return life > stops ? life - stops : 0;
}

static void judge(struct rule_run *run, struct model_process *process)
{
	struct trivial_state *state = run->state;
	struct child *child = child_of(run, NULL, process->pid, false), *parent;
	struct trivial_use *use = NULL, what;
	struct model_process *starter;
	const struct before *before;
	uint64_t hash;

	if (!child || child->judged)
		return;
	starter = starter_of(run, process);
	if (starter && process->exit_how == EVENT_EXIT_STATUS && process->calls <= run->limits[TRIVIAL_LIMIT_CALLS] &&
	    what_of(process, starter, &what)) {
		hash = map_mix(map_mix(starter->id, (uint64_t)what.what), process->exe->id);
		/* Some files have many tools in them. */
		hash = what.tool ? map_mix(hash, map_hash(what.tool->name, strlen(what.tool->name))) : hash;
		use = (struct trivial_use *)rule_keys_get_at(run, &state->uses, starter, process->end_ns, hash, NULL);
	}
	if (!use) {
		rule_keys_drop(run, &state->children, &child->key);
		return;
	}
	use->what = what.what;
	use->tool = what.tool;
	use->exe = what.exe;
	use->option = what.option;
	use->children++;
	use->brief += child->waits || life_of(run, process) <= run->limits[TRIVIAL_LIMIT_LIFE];
	use->calls += process->calls;
	use->copies += child->copied;
	use->piped += what.what == TRIVIAL_FORK && child->piped;
	use->nested += process->ppid != starter->pid;
	parent = process->ppid != starter->pid ? child_of(run, NULL, process->ppid, false) : NULL;
	if (parent)
		parent->waits = true;
	rule_claims_life(run->claims, process->id, process->exe,
			 what.what == TRIVIAL_FORK ? FINDING_LIFE_FORK : FINDING_LIFE_RUN);
	before = what.what != TRIVIAL_FORK ? rule_recent_get(&state->before, child_hash(process->pid)) : NULL;
	if (before)
		rule_claims_life(run->claims, before->process_id, starter->exe, FINDING_LIFE_BEFORE);
	rule_tally_merge(&use->key.tally, &child->key.tally);
	rule_keys_value(&state->uses, &use->key, use->children);
	child->judged = true;
	child->use = use->key.hash;
}

/* What a child called before its exec is part of its life too. */
static void note_before(struct rule_run *run, const struct model_process *process)
{
	struct trivial_state *state = run->state;
	struct before *before = rule_recent_put(&state->before, child_hash(process->pid), NULL);

	before->process_id = process->id;
}

static void trivial_image_end(struct rule_run *run, struct model_process *process)
{
	struct trivial_state *state = run->state;
	struct rule_key *key = rule_keys_next_of(&state->uses, process->id, NULL), *after;

	/* Nothing comes any more of what it started. */
	for (bool enough = key && trivial_enough(run, process->id); key && !enough; key = after) {
		after = key->after;
		rule_keys_drop(run, &state->uses, key);
	}
	if (process->ended && !process->folded && process->exit_how != EVENT_EXIT_REPLACED)
		judge(run, process);
	else if (process->ended && process->forked && !process->execed && !process->folded)
		note_before(run, process);
}

static void trivial_end(struct rule_run *run, struct finding_list *out)
{
	struct trivial_state *state = run->state;

	rule_keys_tell(run, &state->uses, out, trivial_tell);
}

static int trivial_start(struct rule_run *run)
{
	struct trivial_state *state = run->state;

	rule_keys_init(&state->children, sizeof(struct child), CHILDREN_MAX);
	state->children.idle_ns = CHILD_IDLE_NS;
	state->children.candidate = UINT64_MAX;
	rule_keys_init(&state->uses, sizeof(struct trivial_use), USES_MAX);
	state->uses.candidate = 1;
	return rule_recent_init(&state->before, sizeof(struct before), CHILDREN_MAX) < 0 ||
			       rule_recent_init(&state->rows, sizeof(struct row), CHILDREN_MAX) < 0
		       ? -ENOMEM
		       : 0;
}

static void trivial_done(struct rule_run *run)
{
	struct trivial_state *state = run->state;

	rule_keys_done(run, &state->children);
	rule_keys_done(run, &state->uses);
	rule_recent_done(&state->before);
	rule_recent_done(&state->rows);
}

static const uint16_t trivial_calls[] = {
	CALL_fork, CALL_vfork, CALL_clone, CALL_clone3, CALL_execve, CALL_execveat, CALL_wait4, 0,
};

static const struct rule_limit trivial_limits[] = {
	[TRIVIAL_LIMIT_TOOLS] = { "tools", RULE_COUNT, 10, "children of one program that run a small tool" },
	[TRIVIAL_LIMIT_FORKS] = { "forks", RULE_COUNT, 20, "or children of a shell that run no program" },
	[TRIVIAL_LIMIT_ITEMS] = { "items", RULE_COUNT, 20, "or of xargs or find, one for each item" },
	[TRIVIAL_LIMIT_LIFE] = { "life", RULE_NS, 20000000, "of such a child, at most, for a quarter of them" },
	[TRIVIAL_LIMIT_CALLS] = { "calls", RULE_COUNT, 300, "that a child makes itself, at most" },
	{ 0 },
};

const struct rule rule_trivial_process = {
	.id = "trivial-process",
	.title = "processes started for little work",
	.needs = RULE_NEEDS_TIMES,
	.calls = trivial_calls,
	.limits = trivial_limits,
	.state_bytes = sizeof(struct trivial_state),
	.start = trivial_start,
	.call = trivial_call,
	.image_end = trivial_image_end,
	.end = trivial_end,
	.done = trivial_done,
};
