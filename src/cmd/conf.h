/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .syscull.conf: budgets, limits of rules and suppressions of a project, as
 * INI.  Data only: nothing in it is run, and no key names a file or a
 * command.  Whoever needs it to judge must not go on without one that cannot
 * be used.
 */
#ifndef SYSCULL_CMD_CONF_H
#define SYSCULL_CMD_CONF_H

#include "base/error.h"
#include "verdict/settings.h"
#include "verdict/suppress.h"

#define CONF_NAME ".syscull.conf"
#define CONF_BYTES_MAX (1 << 20)

struct conf {
	struct settings settings;
	struct suppressions suppressions;
	const char *path; /* as given or CONF_NAME; NULL: there is none */
	/* Takes what [budget] says; NULL: its values are not looked at. */
	int (*budget)(void *data, const char *key, const char *value, struct error *err);
	void *data;
};

/* path NULL: CONF_NAME of the current directory, if it is there.  Errors name
 * the file and the line. */
int conf_load(struct conf *conf, const char *path, struct error *err);
/* A file of [suppress] sections alone; may be called after conf_load, and again. */
int conf_load_suppressions(struct conf *conf, const char *path, struct error *err);
/* The same from memory; `name` is for errors. */
int conf_parse(struct conf *conf, const char *name, const char *text, size_t bytes, struct error *err);
void conf_done(struct conf *conf);

#endif
