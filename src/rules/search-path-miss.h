/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of search-path-miss share: which look-ups belong to a search
 * (-kind.c), the keeping of counts (.c), findings (-tell.c).
 */
#ifndef SYSCULL_RULES_SEARCH_PATH_MISS_H
#define SYSCULL_RULES_SEARCH_PATH_MISS_H

#include "rules/keyed.h"

enum search_kind {
	SEARCH_NONE,
	SEARCH_LOADER,
	SEARCH_PROGRAMS, /* along PATH */
	SEARCH_PYTHON,
	SEARCH_PERL,
	SEARCH_RUBY,
	SEARCH_NODE,
	SEARCH_HEADERS,
	SEARCH_MAKE,
	SEARCH_HTACCESS,
	SEARCH_KINDS
};

enum { SEARCH_LIMIT_CALLS, SEARCH_LIMIT_DIRS, SEARCH_LIMIT_FAILED };

#define SEARCH_DIRS_MAX 256 /* directories told apart in a group */

/* The path of a call, in two. */
struct search_path {
	const char *dir, *name; /* as passed; dir without its last slash, not ended by a NUL */
	size_t dir_bytes, name_bytes;
};

/* A directory in which something was looked for in vain. */
struct search_dir {
	char *text; /* as passed */
	uint64_t hash;
	struct rule_tally misses; /* counts only */
	uint64_t found;
};

/* All runs of one program that search in one way. */
struct search_group {
	struct rule_key key; /* first */
	enum search_kind kind;
	VEC(struct search_dir) dirs;
	struct rule_places places; /* the directories, resolved */
	struct map names; /* that were looked for */
	char *name; /* the first of them, printable */
	uint64_t found;
	struct map runs; /* the processes */
	uint64_t last_run;
	char *list; /* the variable's value, NULL unset or unknown */
	bool list_differs; /* between runs */
};

/* A program by its name: what it searches for besides libraries, and whether it looks for programs. */
struct search_program {
	const struct model_exe *exe;
	enum search_kind kind; /* SEARCH_NONE: nothing */
	bool shell;
};

struct search_state {
	struct rule_keys names; /* one name looked for by one process */
	struct rule_keys groups;
	struct rule_recent programs; /* by pid: the program that was looked for last */
	struct search_program program; /* that made the last call */
	struct map used; /* entries of variables in which something was found */
};

/* The kind that a look-up, failed or not, is part of; shortens the directory to
 * the entry of the list that it lies below. */
enum search_kind search_kind_of(struct search_state *state, struct model *model, const struct model_view *view,
				struct search_path *path);
/* The variable that holds the list, NULL none. */
const char *search_variable(enum search_kind kind);
/* The next entry of a list in *at; false at its end.  Empty ones are left out. */
bool search_entry(const char **at, const char **ret_entry, size_t *ret_bytes);
/* Does the path lie in this directory or below? */
bool search_below(const char *path, size_t path_bytes, const char *dir, size_t dir_bytes);
uint64_t search_used_hash(enum search_kind kind, const char *entry, size_t bytes);

void search_tell(struct rule_run *run, struct rule_key *key, struct finding_list *out);

#endif
