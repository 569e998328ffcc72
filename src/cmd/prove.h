/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull fix --prove: the command without and with remedies, in turn,
 * untraced for time and traced for counts, with what it prints compared.
 */
#ifndef SYSCULL_CMD_PROVE_H
#define SYSCULL_CMD_PROVE_H

#include "cmd/remedies.h"
#include "verdict/prove.h"

#define PROVE_COMPARED_MAX 16

struct prove_plan {
	char *const *argv;
	const char *program; /* argv[0] as found */
	const struct remedies *remedies;
	const char *prepare, *cleanup; /* for the shell, around each run; NULL none */
	const char *compared[PROVE_COMPARED_MAX]; /* files that have to be the same after each run */
	unsigned compared_count;
	unsigned runs, warmup;
};

/* How often the command will run in all. */
unsigned prove_total(const struct prove_plan *plan);

struct prove; /* what a result points at */
/* The result is valid until prove_free. */
int prove_run(const struct prove_plan *plan, struct prove **ret, const struct prove_result **ret_result,
	      struct error *err);
void prove_free(struct prove *prove);

/*
 * prove-once.c: one run.  What it prints goes into files without a name; the
 * environment is the one that this process has.
 */
struct prove_once {
	int out, errors; /* what it printed on stdout and stderr, -1 none */
	int status; /* 128 + signal when it died */
	double wall_ns;
	double cpu_ns; /* user and system time of it and of what it waited for */
};

/* `show_errors`: what it printed on stderr is printed on ours when it has ended. */
int prove_once(const struct prove_plan *plan, const struct remedies_ready *ready, bool show_errors,
	       struct prove_once *ret, struct error *err);
void prove_once_done(struct prove_once *once);
/* A file without a name, for what a command prints. */
int prove_sink(struct error *err);
/* 0 the same, 1 not: then where is said in text. */
int prove_compare(const char *name, int a, int b, struct buf *text, struct error *err);
/* The same of stderr, with how many lines there are more or fewer; text may be NULL. */
int prove_compare_errors(int a, int b, struct buf *text, struct error *err);
/* A copy of a file, -1 when there is none. */
int prove_copy(const char *path, int *ret_fd, struct error *err);
/* --prepare and --cleanup. */
int prove_shell(const char *option, const char *command, struct error *err);

#endif
