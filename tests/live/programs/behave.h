/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small programs for the tests of behaviour, each a word of live-behave.
 * They print what they were given or what calls answered, nothing that
 * differs from run to run, so that a run under us can be compared.
 */
#ifndef SYSCULL_TESTS_BEHAVE_H
#define SYSCULL_TESTS_BEHAVE_H

struct behave {
	const char *name;
	int (*main)(int argc, char **argv);
};

/* NULL-ended. */
extern const struct behave behave_signals[], behave_tasks[], behave_odd[];

/* Prints "WHAT: ok" or "WHAT: ENAME". */
void behave_say(const char *what, long result);

#endif
