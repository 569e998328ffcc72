/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the readers of /proc share: numbers that are checked, tables of named
 * fields, and the parsers, which take bytes from anywhere and are fuzzed alone.
 * A parser may write NULs over the delimiters of the text that it is given.
 */
#ifndef SYSCULL_PROC_INTERNAL_H
#define SYSCULL_PROC_INTERNAL_H

#include "lines-internal.h"
#include "syscull/proc.h"

struct proc_cursor {
	const char *at;
	const char *end;
};

enum proc_kind { PROC_DECIMAL, PROC_KIB, PROC_HEX, PROC_OCTAL, PROC_LETTER, PROC_FOUR, PROC_TEXT };

struct proc_field {
	const char *name;
	unsigned char length;
	unsigned char number;
	unsigned char kind;
};

#define PROC_FIELD(name, number, kind) \
	{ \
		(name), sizeof(name) - 1, (number), (kind) \
	}

SYSCULL_HIDDEN int syscull__proc_number(struct proc_cursor *cursor, unsigned int base, uint64_t *ret_number);
SYSCULL_HIDDEN bool syscull__proc_take(struct proc_cursor *cursor, char c);
SYSCULL_HIDDEN void syscull__proc_blanks(struct proc_cursor *cursor);

/* The field that a "Name: value" line is for, NULL when unknown; the cursor is at the value then. */
SYSCULL_HIDDEN const struct proc_field *syscull__proc_field(const struct proc_field *table, size_t count, size_t *hint,
							    const struct syscull_text *line,
							    struct proc_cursor *ret_value);
/* Of all kinds but PROC_TEXT, whose value is what the cursor has. */
SYSCULL_HIDDEN int syscull__proc_value(const struct proc_field *field, struct proc_cursor *value, uint64_t *numbers);

SYSCULL_HIDDEN struct syscull_text syscull__proc_ended(const char *from, const char *to);
/* "PREFIX" "N" "SUFFIX" into 64 bytes. */
SYSCULL_HIDDEN void syscull__proc_path(char *path, const char *prefix, uint64_t number, const char *suffix);

SYSCULL_HIDDEN int syscull__proc_parse_status(const struct syscull_text *text, uint64_t wanted,
					      struct syscull_status *status, bool *ret_complete);
SYSCULL_HIDDEN int syscull__proc_parse_stat(const struct syscull_text *text, struct syscull_stat *stat);
SYSCULL_HIDDEN int syscull__proc_parse_statm(const struct syscull_text *text, struct syscull_statm *statm);
SYSCULL_HIDDEN int syscull__proc_parse_map(const struct syscull_text *line, struct syscull_map *map);
SYSCULL_HIDDEN int syscull__proc_parse_rollup(const struct syscull_text *text, struct syscull_smaps *totals);
SYSCULL_HIDDEN int syscull__proc_parse_fdinfo(const struct syscull_text *text, struct syscull_fdinfo *info);
SYSCULL_HIDDEN int syscull__proc_parse_mount(const struct syscull_text *line, struct syscull_mount *mount);
SYSCULL_HIDDEN int syscull__proc_parse_cgroup(const struct syscull_text *line, struct syscull_cgroup *cgroup);
/* One record of getdents64 at *at of `size` bytes: 1 and a number, 0 another name, negative. Moves on. */
SYSCULL_HIDDEN int syscull__proc_parse_entry(const char *records, size_t size, size_t *at, uint64_t *ret_number);

#endif
