/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of trivial-process share: the keeping of counts (.c), what is
 * known of programs (-tools.c), and findings (-tell.c).
 */
#ifndef SYSCULL_RULES_TRIVIAL_PROCESS_H
#define SYSCULL_RULES_TRIVIAL_PROCESS_H

#include "rules/keyed.h"

enum { TRIVIAL_LIMIT_TOOLS, TRIVIAL_LIMIT_FORKS, TRIVIAL_LIMIT_ITEMS, TRIVIAL_LIMIT_LIFE, TRIVIAL_LIMIT_CALLS };

/* What one process does for many as well as for one. */
enum trivial_at_once {
	TRIVIAL_SINGLE,
	TRIVIAL_LINES,
	TRIVIAL_NAMES,
	TRIVIAL_ONCE,
	TRIVIAL_OWN, /* small, but a process of its own is right */
};

/* A program that does little, and what a script can do in its place. */
struct trivial_tool {
	const char *name;
	enum trivial_at_once at_once;
	const char *posix, *bash; /* in any shell; in bash, ksh and zsh; NULL nothing, "" its builtin */
};

enum trivial_what {
	TRIVIAL_TOOL, /* children that run a known tool */
	TRIVIAL_FORK, /* children of a shell that run no program */
	TRIVIAL_ITEM, /* children of xargs or find, one for each item */
};

/* Equal children of one starter, whose process is the key's. */
struct trivial_use {
	struct rule_key key; /* first; its tally has their fork, exec and wait */
	enum trivial_what what;
	const struct trivial_tool *tool; /* NULL: not a known one */
	const struct model_exe *exe; /* of the children */
	const char *option; /* of an item: what makes it one process each */
	uint64_t children, calls;
	uint64_t brief; /* of the children: lived no longer than the limit */
	uint64_t nested; /* of the children: started by a subshell */
	uint64_t piped; /* of children that run no program: next to others of a pipe */
	uint64_t copies; /* of the children: with a memory of their own from the fork on */
	bool told;
};

struct trivial_state {
	struct rule_keys children; /* by pid, until they were waited for */
	struct rule_keys uses;
	struct rule_recent before; /* by pid: who it was before its exec */
	struct rule_recent rows; /* by pid: the child that it started last */
};

/* NULL: not known as one. */
const struct trivial_tool *trivial_tool(const struct model_process *process);
/* What stands for the tool in this shell, NULL nothing. */
const char *trivial_instead(const struct trivial_tool *tool, const struct model_exe *shell);
bool trivial_is_shell(const struct model_exe *exe);
/* One that can more than POSIX says: ${x/a/b}, <<<. */
bool trivial_is_rich(const struct model_exe *shell);
/* What makes xargs or find start one process for each item: "-n", ";"; NULL nothing. */
const char *trivial_one_each(const struct model_process *starter);
/* Its job is to start what others say, one process for each. */
bool trivial_by_order(const struct model_exe *exe);

/* Is all that this process has started enough for a finding? */
bool trivial_enough(const struct rule_run *run, uint64_t process_id);
void trivial_tell(struct rule_run *run, struct rule_key *key, struct finding_list *out);

#endif
