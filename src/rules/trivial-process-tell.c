/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trivial-process: from counts to findings.  What a script starts is told
 * together, with one way out for each of the tools that it starts most.  What
 * the children call themselves is not counted, but is in the price of the calls
 * that start them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/trivial-process.h"

#define TOLD_TOOLS 3
#define NESTED_MOST 3 /* subshells that a tool in a pipe can have with it */

/* First touches of pages that a fork brings to both sides, on Debian 12: dash 30,
 * bash 68; a small program of one's own 4. */
#define PAGES_BASH 60
#define PAGES_SHELL 25
#define PAGES_OTHER 4
#define PAGES_MOST 90

/* What one process has started, most often first. */
struct uses {
	VEC(struct trivial_use *) tools;
	struct trivial_use *forks; /* NULL none */
	uint64_t execs; /* children that ran a tool */
	uint64_t nested; /* of them: started by a subshell */
	uint64_t copies;
};

/* A quarter, not the average: on a busy machine many a child waits for a CPU,
 * the more so under strace, but no child is quicker than its work. */
static bool short_lived(const struct trivial_use *use)
{
	return use->children > 0 && use->brief >= (use->children + 3) / 4;
}

static int by_children(const void *a, const void *b)
{
	const struct trivial_use *const *x = a, *const *y = b;

	if ((*x)->children != (*y)->children)
		return (*x)->children > (*y)->children ? -1 : 1;
	return (*x)->key.number < (*y)->key.number ? -1 : 1;
}

static void gather(const struct rule_run *run, uint64_t process_id, struct uses *ret)
{
	const struct trivial_state *state = run->state;
	struct rule_key *key = NULL;

	*ret = (struct uses){ 0 };
	while ((key = rule_keys_next_of(&state->uses, process_id, key))) {
		struct trivial_use *use = (struct trivial_use *)key;

		if (use->what == TRIVIAL_ITEM || !short_lived(use))
			continue;
		if (use->what == TRIVIAL_FORK)
			ret->forks = use;
		else if (vec_push(&ret->tools, use)) {
			ret->execs += use->children;
			ret->nested += use->nested;
		}
		ret->copies += use->copies;
	}
	if (ret->tools.used > 0)
		qsort(ret->tools.at, ret->tools.used, sizeof *ret->tools.at, by_children);
}

static bool uses_enough(const struct rule_run *run, const struct uses *uses)
{
	return uses->execs >= run->limits[TRIVIAL_LIMIT_TOOLS] ||
	       (uses->forks && uses->forks->children >= run->limits[TRIVIAL_LIMIT_FORKS]);
}

static bool item_enough(const struct rule_run *run, const struct trivial_use *use)
{
	return use->what == TRIVIAL_ITEM && short_lived(use) && use->children >= run->limits[TRIVIAL_LIMIT_ITEMS];
}

bool trivial_enough(const struct rule_run *run, uint64_t process_id)
{
	const struct trivial_state *state = run->state;
	struct rule_key *key = NULL;
	struct uses uses;
	bool enough;

	gather(run, process_id, &uses);
	enough = uses_enough(run, &uses);
	vec_done(&uses.tools);
	while (!enough && (key = rule_keys_next_of(&state->uses, process_id, key)))
		enough = item_enough(run, (const struct trivial_use *)key);
	return enough;
}

static uint64_t share(uint64_t count, uint64_t part, uint64_t of)
{
	return of > 0 ? (uint64_t)((double)count * (double)part / (double)of + 0.5) : 0;
}

/* So many of the children go, so many of them with a program of their own. */
static void saves(struct finding_remedy *remedy, const struct finding *finding, uint64_t children, uint64_t execs,
		  uint64_t all_children, uint64_t all_execs)
{
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		bool exec = cost->call == CALL_execve || cost->call == CALL_execveat;
		uint64_t part = exec ? execs : children, of = exec ? all_execs : all_children;

		finding_add_delta(remedy, cost->call, cost->err, -(int64_t)share(cost->count, part, of),
				  share(cost->components, part, of));
		finding_add_pages(remedy, cost->call, cost->err, true, share(cost->pages_low, part, of),
				  share(cost->pages_high, part, of));
	}
}

static void add_pages(struct finding *finding, const struct model_exe *starter, uint64_t copies)
{
	uint64_t least = !trivial_is_shell(starter)			      ? PAGES_OTHER
			 : strcmp(rule_base_name(starter->path), "bash") == 0 ? PAGES_BASH
									      : PAGES_SHELL;
	struct finding_cost *most = NULL;

	for (size_t i = 0; i < finding->costs.used; i++) {
		struct finding_cost *cost = &finding->costs.at[i];

		if ((cost->call == CALL_fork || cost->call == CALL_clone) && (!most || cost->count > most->count))
			most = cost;
	}
	if (!most || copies == 0)
		return;
	most->pages_low = copies * least;
	most->pages_high = copies * PAGES_MOST;
}

/* The end of a child is a call that no engine sees return. */
static struct finding *make(struct rule_run *run, const struct rule_key *key, uint64_t children, uint64_t copies,
			    struct finding_list *out)
{
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);

	if (!finding)
		return NULL;
	(void)finding_add_cost(finding, CALL_exit_group, 0, children, NULL);
	add_pages(finding, key->exe, copies);
	finding->least = 1;
	finding_add_note(finding, "what the children did themselves is priced with the calls that started them");
	return finding;
}

static char *name_of(const struct trivial_use *use)
{
	const char *name = use->tool ? use->tool->name : rule_base_name(use->exe->path);
	struct buf buf = BUF_INIT;
	char *text;

	(void)text_shell_word(&buf, name, strlen(name), true);
	text = buf.failed ? NULL : buf_steal(&buf);
	buf_done(&buf);
	return text;
}

static void times(struct buf *buf, const struct trivial_use *use, const char *lead)
{
	char number[TEXT_NUMBER_MAX], *name = name_of(use);

	(void)buf_printf(buf, "%s%s %s%s", lead, name ? name : "?",
			 use->children == 1 ? "once" : text_count(use->children, number),
			 use->children == 1 ? "" : " times");
	free(name);
}

static void where(struct finding *finding, const struct uses *uses)
{
	size_t told = uses->tools.used > TOLD_TOOLS + 1 ? TOLD_TOOLS : uses->tools.used;
	char number[TEXT_NUMBER_MAX];
	struct buf buf = BUF_INIT;

	for (size_t i = 0; i < told; i++)
		times(&buf, uses->tools.at[i], i ? ", " : "");
	if (told < uses->tools.used)
		(void)buf_printf(&buf, ", %s other tools", text_count(uses->tools.used - told, number));
	if (uses->forks && uses->forks->piped >= uses->forks->children)
		(void)buf_printf(&buf, "%s%s %s in pipes", told ? ", and " : "",
				 text_count(uses->forks->children, number),
				 uses->forks->children == 1 ? "builtin" : "builtins");
	else if (uses->forks)
		(void)buf_printf(&buf, "%s%s %s no program", told ? ", and " : "",
				 text_count(uses->forks->children, number),
				 uses->forks->children == 1 ? "subshell that runs" : "subshells that run");
	finding_set(&finding->where, "%s", buf_text(&buf));
	buf_done(&buf);
}

/* Subshells that go with a tool: the one that started it, and others of a pipe. */
static uint64_t forks_of(const struct uses *uses, const struct trivial_use *use)
{
	uint64_t forks = uses->forks ? share(uses->forks->children, use->nested, uses->nested) : 0;

	return forks < use->nested * NESTED_MOST ? forks : use->nested * NESTED_MOST;
}

static void add_instead(struct finding *finding, const struct uses *uses, const struct trivial_use *use,
			const struct model_exe *shell)
{
	uint64_t forks = uses->forks ? uses->forks->children : 0, gone = forks_of(uses, use);
	const char *instead = trivial_instead(use->tool, shell);
	struct finding_remedy *remedy;

	if (!instead)
		return;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = *instead ? "expansion" : "builtin";
	if (*instead)
		finding_set(&remedy->text, "%s in place of %s", instead, use->tool->name);
	else
		finding_set(&remedy->text, "the builtin %s in place of the program", use->tool->name);
	saves(remedy, finding, use->children + gone, use->children, uses->execs + forks, uses->execs);
}

/* All but one of them. */
static void add_at_once(struct finding *finding, const struct uses *uses, const struct trivial_use *use, bool shell)
{
	static const struct {
		const char *lead, *rest;
	} texts[] = {
		[TRIVIAL_LINES] = { "one", "for all lines, outside of the loop" },
		[TRIVIAL_NAMES] = { "one", "with all names" },
		[TRIVIAL_ONCE] = { "ask", "once and keep the answer" },
	};
	uint64_t forks = uses->forks ? uses->forks->children : 0, gone = forks_of(uses, use);
	enum trivial_at_once at_once = use->tool->at_once;
	struct finding_remedy *remedy;

	if ((at_once == TRIVIAL_SINGLE && shell) || use->children < 2)
		return;
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	if (at_once == TRIVIAL_SINGLE || (at_once == TRIVIAL_LINES && !shell)) {
		remedy->id = "itself";
		finding_set(&remedy->text, "do in the program itself what %s does", use->tool->name);
		saves(remedy, finding, use->children, use->children, uses->execs + forks, uses->execs);
		return;
	}
	remedy->id = at_once == TRIVIAL_ONCE ? "once" : "at-once";
	finding_set(&remedy->text, "%s %s %s", texts[at_once].lead, use->tool->name, texts[at_once].rest);
	saves(remedy, finding, use->children + gone - 1, use->children - 1, uses->execs + forks, uses->execs);
}

/* A child has a fork of its starter's program before its own. */
static void add_lives(struct finding *finding, const struct model_exe *starter, const struct trivial_use *use)
{
	if (use->what == TRIVIAL_FORK) {
		finding_add_child(finding, use->exe, FINDING_LIFE_FORK, use->children);
	} else {
		finding_add_child(finding, starter, FINDING_LIFE_BEFORE, use->children);
		finding_add_child(finding, use->exe, FINDING_LIFE_RUN, use->children);
	}
}

/* Subshells that go with no tool that could be another: words of a pipe, or brackets. */
static void add_without(struct finding *finding, const struct uses *uses, uint64_t with_tools,
			const struct model_exe *shell)
{
	uint64_t forks = uses->forks ? uses->forks->children : 0, all = uses->execs + forks,
		 rest = forks > with_tools ? forks - with_tools : 0,
		 piped = rest > 0 && uses->forks->piped < rest ? uses->forks->piped : rest;
	struct finding_remedy *remedy;

	remedy = rest > piped ? finding_add_remedy(finding, REMEDY_SOURCE) : NULL;
	if (remedy) {
		remedy->id = "no-subshell";
		finding_set(&remedy->text, "set a variable in place of $(...), { } in place of ( )");
		saves(remedy, finding, rest - piped, 0, all, uses->execs);
	}
	remedy = piped > 0 ? finding_add_remedy(finding, REMEDY_SOURCE) : NULL;
	if (remedy) {
		remedy->id = "no-pipe";
		finding_set(&remedy->text, "%s in place of a builtin such as echo before a pipe",
			    trivial_is_rich(shell) ? "a here string (<<<)" : "a here document (<<)");
		saves(remedy, finding, piped, 0, all, uses->execs);
	}
}

static void tell_script(struct rule_run *run, struct rule_key *key, struct uses *uses, struct finding_list *out)
{
	const struct model_exe *exe = key->exe;
	struct finding *finding;
	uint64_t calls = 0, forks = uses->forks ? uses->forks->children : 0, with_tools = 0;
	bool shell = trivial_is_shell(exe);
	char number[TEXT_NUMBER_MAX + 8];

	if (uses->forks && &uses->forks->key != key)
		rule_tally_merge(&key->tally, &uses->forks->key.tally);
	for (size_t i = 0; i < uses->tools.used; i++)
		if (&uses->tools.at[i]->key != key)
			rule_tally_merge(&key->tally, &uses->tools.at[i]->key.tally);
	finding = make(run, key, uses->execs + forks, uses->copies, out);
	if (!finding)
		return;
	finding_set(&finding->what, "starts processes for little work");
	where(finding, uses);
	finding_set(&finding->object, "small processes");
	for (size_t i = 0; i < uses->tools.used && i < TOLD_TOOLS; i++) {
		if (shell)
			add_instead(finding, uses, uses->tools.at[i], exe);
		add_at_once(finding, uses, uses->tools.at[i], shell);
	}
	for (size_t i = 0; i < uses->tools.used; i++)
		with_tools += forks_of(uses, uses->tools.at[i]);
	add_without(finding, uses, with_tools, exe);
	for (size_t i = 0; i < uses->tools.used; i++) {
		calls += uses->tools.at[i]->calls;
		add_lives(finding, exe, uses->tools.at[i]);
	}
	calls += uses->forks ? uses->forks->calls : 0;
	if (uses->forks)
		add_lives(finding, exe, uses->forks);
	finding_add_note(finding, "the children made %s", text_plural(calls, "call", "calls", number, sizeof number));
}

/* find's own words, the ";" a "+": only where it was the command, and "{}" comes last. */
static char *with_plus(struct rule_run *run, uint64_t process_id)
{
	const struct model_process *root = rule_command_process(run->model);
	const char *end, *before = "";
	struct buf buf = BUF_INIT;
	bool sound = root && root->id == process_id && root->argv && !root->argv_cut && root->argv_bytes <= 100;
	char *text = NULL;

	end = sound ? root->argv + root->argv_bytes : NULL;
	for (const char *word = sound ? root->argv : end; word < end;) {
		size_t bytes = strnlen(word, (size_t)(end - word));
		bool last = bytes == 1 && *word == ';';

		if (last && strcmp(before, "{}") != 0)
			sound = false;
		if (buf.bytes > 0)
			(void)buf_putc(&buf, ' ');
		(void)text_shell_word(&buf, last ? "+" : word, bytes, true);
		before = word;
		word += bytes + 1;
	}
	if (sound && !buf.failed && buf.bytes > 0)
		text = buf_steal(&buf);
	buf_done(&buf);
	return text;
}

static void tell_item(struct rule_run *run, struct trivial_use *use, struct finding_list *out)
{
	struct finding *finding = make(run, &use->key, use->children, use->copies, out);
	bool is_find = strcmp(use->option, ";") == 0;
	char number[TEXT_NUMBER_MAX + 8], *name = name_of(use);
	struct buf buf = BUF_INIT, unless = BUF_INIT;
	struct finding_remedy *remedy;

	if (!finding)
		goto done;
	finding_set(&finding->what, "starts a process for each item");
	times(&buf, use, "");
	finding_set(&finding->where, "%s", buf_text(&buf));
	finding_set(&finding->object, "%s for each item", name ? name : "?");
	remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
	if (!remedy)
		goto done;
	remedy->id = "at-once";
	if (!use->tool)
		(void)buf_printf(&unless, ", if %s takes several names", name ? name : "it");
	if (trivial_is_shell(use->exe))
		finding_set(&remedy->text, "one shell for all: sh -c 'for f do ...; done' sh%s",
			    is_find ? " {} +" : "");
	else if (is_find)
		finding_set(&remedy->text, "-exec ... {} + in place of -exec ... {} \\;%s", buf_text(&unless));
	else
		finding_set(&remedy->text, "xargs without %s%s", use->option, buf_text(&unless));
	if (is_find && use->tool)
		remedy->command = with_plus(run, use->key.process_id);
	saves(remedy, finding, use->children - 1, use->children - 1, use->children, use->children);
	add_lives(finding, use->key.exe, use);
	finding_add_note(finding, "the children made %s",
			 text_plural(use->calls, "call", "calls", number, sizeof number));
done:
	buf_done(&buf);
	buf_done(&unless);
	free(name);
}

void trivial_tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	struct trivial_use *use = (struct trivial_use *)key;
	struct uses uses;

	if (use->told)
		return;
	if (use->what == TRIVIAL_ITEM) {
		if (item_enough(run, use))
			tell_item(run, use, out);
		return;
	}
	if (!short_lived(use))
		return;
	gather(run, key->process_id, &uses);
	for (size_t i = 0; i < uses.tools.used; i++)
		uses.tools.at[i]->told = true;
	if (uses.forks)
		uses.forks->told = true;
	if (uses_enough(run, &uses))
		tell_script(run, key, &uses, out);
	vec_done(&uses.tools);
}
