/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One option table per subcommand: parsing (getopt_long with a leading +),
 * --help, the completions and the check of the man pages all come from it.
 */
#ifndef SYSCULL_BASE_OPT_H
#define SYSCULL_BASE_OPT_H

#include "base/error.h"

struct opt {
	int letter; /* 'o', or a number above 255 when there is only a long form */
	const char *name; /* "output" */
	const char *argument; /* "FILE", NULL none */
	const char *help; /* one line, which --help breaks at 80 columns */
};

typedef int opt_set(void *data, int letter, const char *value, struct error *err);

/* Ends with name NULL. `set` gets every option found and returns 0 or a
 * negative errno with err filled. On success *ret_first is the index of the
 * first operand. -h and --help, if in the table, are given to set as well. */
int opt_parse(int argc, char **argv, const struct opt *table, opt_set *set, void *data, int *ret_first,
	      struct error *err);
/* After opt_parse has failed: all options of the line that can be understood,
 * also behind one that cannot; what `set` refuses is passed over. The index
 * of the first operand, argc without one. */
int opt_scan(int argc, char **argv, const struct opt *table, opt_set *set, void *data);

/* The options as lines of --help on stdout. */
void opt_print_help(const struct opt *table);

#endif
