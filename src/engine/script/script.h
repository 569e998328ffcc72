/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The script engine: records written as text, for tests.  The format is
 * described in docs/howto/write-a-test.md ("Scripted streams").  This header
 * is for the engine's own files and for tests that run a text without a
 * file.
 */
#ifndef SYSCULL_ENGINE_SCRIPT_SCRIPT_H
#define SYSCULL_ENGINE_SCRIPT_SCRIPT_H

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

#define SCRIPT_BYTES_MAX (64u << 20)
#define SCRIPT_LOOPS_MAX 8
#define SCRIPT_NAME_MAX 16
#define SCRIPT_QUEUE_MAX 3
/* Time 0 of a script; not 0, because that means "unknown" in places. */
#define SCRIPT_START_NS UINT64_C(1000000000)

struct script_line {
	const char *text;
	uint32_t bytes;
	uint32_t partner; /* of "repeat" the line of its "}", and the other way round */
};

struct script_loop {
	size_t first; /* line of "repeat" */
	uint64_t at, count;
	char name[SCRIPT_NAME_MAX];
};

struct script {
	struct engine engine; /* first */
	char *name; /* in messages */
	char *text;
	VEC(struct script_line) lines;
	size_t line; /* the next one */
	size_t lines_before; /* of texts that were read before this one */
	struct script_loop loops[SCRIPT_LOOPS_MAX];
	unsigned depth;
	struct buf filled; /* the line with its loop variables filled in */

	struct buf queue[SCRIPT_QUEUE_MAX]; /* records that one line makes */
	unsigned queued, sent;
	struct buf mounts; /* mountinfo, as long as mount lines follow each other */
	uint32_t mounts_pid;
	uint64_t mounts_ns;
	VEC(char *) points; /* of the mounts, for their parents */

	struct map pids; /* tid → pid */
	uint32_t first_pid;
	uint64_t now_ns; /* end of what came last */
	uint64_t items; /* 0 all */
	const char *const *env_names; /* NULL all */
	struct engine_stats stats;
	struct engine_exit exit;
};

/* A line being read. */
struct scan {
	struct script *script;
	const char *at, *end;
	uint64_t number; /* of the line */
	bool timed; /* it began with @TIME */
	uint64_t time_ns; /* the record's */
	struct error *err;
};

/* Reads from a text instead of a file; `name` is for messages. */
int script_open(const char *text, size_t bytes, const char *name, const struct engine_spec *spec,
		struct engine **ret_engine, struct error *err);
/* Goes on with another text when all was read: time and tasks stay. */
int script_more(struct engine *engine, const char *text, size_t bytes, struct error *err);

/* scan.c */
int scan_fail(struct scan *scan, const char *expected); /* -EINVAL; tells what was found */
void scan_blanks(struct scan *scan);
bool scan_done(struct scan *scan); /* at the end, or at a comment */
bool scan_char(struct scan *scan, char c); /* takes it when it comes next */
bool scan_literal(struct scan *scan, const char *word); /* the same for a whole word */
size_t scan_word(struct scan *scan, const char **ret_word); /* letters, digits, "_", "-" and "." */
/* "…" with escapes, or a bare word up to a blank.  `split`: blanks part the
 * arguments, each ends with a NUL. */
int scan_text(struct scan *scan, struct buf *out, bool split);
int scan_number(struct scan *scan, uint64_t *ret); /* with names and "|" */
int scan_hex(struct scan *scan, uint64_t *ret); /* without 0x */
int scan_time(struct scan *scan, uint64_t *ret_ns);
int scan_device(struct scan *scan, uint64_t *ret_dev); /* 8:1 */
/* True for a name that is a constant of a header. */
bool script_constant(const char *name, size_t bytes, uint64_t *ret);

/* state.c: the line's first word is taken */
int state_line(struct scan *scan, const char *word, size_t bytes);
/* What its lines share. */
int script_no_memory(struct scan *scan); /* -ENOMEM */
int script_scan_id(struct scan *scan, uint32_t *ret);
int script_text_item(struct scan *scan, enum sys_item item, bool split);
int script_env_variable(struct scan *scan, struct buf *env);
int script_env_item(struct scan *scan, const struct buf *env);

/* fields.c */
enum script_shape {
	SCRIPT_NUMBER,
	SCRIPT_ID, /* of a task or user */
	SCRIPT_TIME,
	SCRIPT_HEX,
	SCRIPT_DEVICE,
	SCRIPT_WORD, /* no value behind it: sets `value` */
	SCRIPT_BUF, /* text, into a struct buf */
	SCRIPT_ITEM, /* text, an item of the record begun: `value` */
	SCRIPT_ITEM_SPLIT, /* the same of several words */
};
struct script_field {
	const char *key; /* "ino=", or a word */
	enum script_shape shape;
	uint32_t value;
	size_t offset, bytes; /* of the member */
};
#define SCRIPT_FIELD(key, shape, type, member) \
	{ \
		(key), SCRIPT_##shape, 0, offsetof(type, member), sizeof(((type *)0)->member) \
	}
#define SCRIPT_SET(key, number, type, member) \
	{ \
		(key), SCRIPT_WORD, (number), offsetof(type, member), sizeof(((type *)0)->member) \
	}
#define SCRIPT_TEXT(key, shape, item) \
	{ \
		(key), SCRIPT_##shape, (item), 0, 0 \
	}
#define SCRIPT_END \
	{ \
		NULL, SCRIPT_WORD, 0, 0, 0 \
	}
typedef int script_other(struct scan *scan, void *data);
/* What is left of the line, into `values`.  What is no key is for `other`, or
 * fails with the keys that there are. */
int script_fields(struct scan *scan, const struct script_field *fields, void *values, script_other *other, void *data);

/* life.c */
int script_fork_line(struct scan *scan, uint64_t flags);
int script_exec_line(struct scan *scan);
int script_exit_line(struct scan *scan);
int script_clock_line(struct scan *scan);

/* mount.c */
int script_mount_line(struct scan *scan);
int state_mounts_end(struct script *script);

/* call.c */
int call_line(struct scan *scan);

/* value.c: "{…}" or "[…]" becomes items of an argument */
int value_items(struct scan *scan, struct buf *record, uint8_t item, unsigned arg);

/* script.c */
void *script_begin(struct scan *scan, enum event_type type, uint32_t tid);
int script_end(struct scan *scan); /* queues it */
struct buf *script_record(struct script *script); /* the one begun */
uint32_t script_pid(const struct script *script, uint32_t tid);
int script_set_pid(struct script *script, uint32_t tid, uint32_t pid);

#endif
