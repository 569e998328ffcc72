/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The strace-log engine: a log that strace wrote becomes records.  It never
 * guesses: what cannot be parsed is counted with the first such line, and what
 * a log does not have is told, so that rules that need it do not run.
 */
#ifndef SYSCULL_ENGINE_STRACE_STRACE_H
#define SYSCULL_ENGINE_STRACE_STRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

/* Longer lines count as not parsed. */
#define STRACE_LINE_MAX (1u << 20)
/* The kernel has no larger process ids. */
#define STRACE_TID_MAX (1u << 22)
/* Durations below this are not believed. */
#define STRACE_DURATION_LEAST_NS UINT64_C(1000000)
/* Files of one -ff set. */
#define STRACE_FILES_MAX 4096

/* Does a file that begins so look like a log of strace's?  Reads text alone. */
bool strace_log_is(const char *text, size_t bytes);

/* What a log has and lacks, for who reads it: after the end. */
struct strace_facts {
	bool times; /* -t, -tt, -ttt or -r: when calls began */
	bool durations; /* -T */
	bool paths; /* relative names can be resolved: all absolute, or --cwd */
	bool from_start; /* begins with the program's execve: descriptors are known */
	bool environment; /* -v: execve with the variables */
	bool identities; /* -v: dev and inode of files */
	bool filtered; /* programs ended without exit_group: calls were left out, or the log was cut */
	uint64_t lines, unparsed;
	uint64_t before; /* lines that are no calls, before the first one */
	unsigned cut; /* processes whose end is missing in a log that has the first program's beginning */
	uint64_t first_unparsed; /* number of the line, 0 none */
	const char *first_text; /* its beginning, escaped; lives as long as the engine */
};
void strace_facts_of(const struct engine *engine, struct strace_facts *ret);

/* The rest is between the engine's own files. */

/* A line in parts; texts point into it. */
struct strace_line {
	uint32_t tid; /* 0: it has none */
	bool timed, relative;
	uint64_t time_ns;
	bool has_ip;
	uint64_t ip;
	const char *text, *end; /* what is left */
};

/* False: nothing that strace writes. */
bool strace_line_split(const char *line, size_t bytes, bool tids, struct strace_line *ret);
/* Does it look like a call, or another of the lines that tell something? */
bool strace_line_tells(const struct strace_line *line);

/* text.c: a place in a call's text */
struct strace_at {
	const char *at, *end;
};
/* Goes over one argument: strings, brackets, comments and <...> of -y are whole. */
bool strace_skip_argument(struct strace_at *at);
/* The text of a string; `truncated`: "..." follows.  False: there is none. */
bool strace_string(struct strace_at *at, struct buf *out, bool *ret_truncated);
/* A number, or names with | between; false: something that is not known. */
bool strace_number(struct strace_at *at, uint64_t *ret);
/* "a.tv_sec=…" of a struct in braces: the value's text. */
bool strace_field(struct strace_at in, const char *name, struct strace_at *ret);
bool strace_field_number(struct strace_at in, const char *name, uint64_t *ret);
/* The elements of [...]: start with the whole text; false at the end. */
bool strace_element(struct strace_at *list, struct strace_at *ret);
void strace_blanks(struct strace_at *at);
bool strace_literal(struct strace_at *at, const char *word);
/* Behind a descriptor: "</path>"; false: none.  Escapes are left. */
bool strace_annotation(struct strace_at *at, struct strace_at *ret_text);

/* "123", and the program's name of -Y and --decode-pids=comm: "123<sh>". */
bool strace_tid(struct strace_at *at, uint64_t *ret);

/* Where we are in a table of strace -c or -C. */
enum strace_table { STRACE_TABLE_NONE, STRACE_TABLE_HEAD, STRACE_TABLE_ROWS, STRACE_TABLE_SUMS };

struct strace_file {
	FILE *stream;
	char *name;
	uint32_t tid; /* of -ff; 0: lines say */
	uint64_t lines;
	char *line; /* the next one, read ahead */
	size_t room, bytes;
	bool ready, ended;
	bool begun; /* a call was in it */
	enum strace_table table;
	bool tables; /* there was one */
	bool detached; /* strace said that it left a task */
	uint64_t last_ns; /* for relative times */
	struct strace_line parts;
};

struct strace_task {
	uint32_t tid, pid;
	bool begun, ended;
	uint64_t order; /* of its beginning */
	bool exiting; /* exit or exit_group was seen */
	char *pending; /* text of an unfinished call, up to its gap */
	uint64_t pending_ns;
	uint64_t pending_ip;
};

/* Of a call that made a task, found before anything is told. */
struct strace_birth {
	uint32_t parent;
	uint64_t flags;
};

struct strace_log {
	struct engine engine; /* first */
	struct strace_file *files;
	unsigned file_count;
	struct map tasks; /* tid → struct strace_task */
	struct map births; /* child → struct strace_birth */
	struct map named; /* (pid, fd) whose path was told */
	VEC(struct buf) queue;
	size_t queued, sent;
	uint64_t now_ns, step_ns;
	uint64_t begun; /* tasks told */
	uint32_t root; /* the first task; 0 none yet */
	uint32_t nameless; /* whose lines are those without a number, at first */
	bool detached; /* strace left while tasks ran */
	uint64_t items;
	const char *const *env_names;
	const char *cwd; /* NULL unknown */
	struct strace_facts facts;
	struct buf first_text;
	bool relative_seen;
	struct engine_stats stats;
	struct engine_exit exit;
	bool over;
};

/* file.c: the next line of calls, without what was written into it; false: no more */
bool strace_read_line(struct strace_file *file);
/* Begins with the table of strace -c. */
bool strace_table_is(const char *text, size_t bytes);
void strace_rewind(struct strace_file *file);
/* FILE (fd: it is open already; NULL), or the files of -ff whose names begin so. */
int strace_open(struct strace_log *log, const char *path, const int *fd, struct error *err);

/* call.c: the text of a whole call; false: not parsed */
bool strace_call(struct strace_log *log, struct strace_task *task, struct strace_at text, uint64_t time_ns,
		 uint64_t ip);
/* Of a finished call: the name, and where the result stands; false: no call. */
bool strace_call_result(struct strace_at text, struct strace_at *ret_name, struct strace_at *ret_arguments,
			struct strace_at *ret_result);

/* value.c: adds the item of an argument; true also when it has none */
bool strace_value(struct strace_log *log, struct buf *record, uint8_t kind, unsigned arg, struct strace_at text,
		  uint64_t args[6]);

/* life.c */
struct strace_task *strace_task_of(struct strace_log *log, uint32_t tid);
void strace_task_begin(struct strace_log *log, struct strace_task *task, bool exec);
void strace_task_exec(struct strace_log *log, struct strace_task *task, struct strace_at arguments);
void strace_task_exit(struct strace_log *log, struct strace_task *task, int how, uint32_t status);
/* Looks through a line for a task that it makes. */
void strace_find_birth(struct strace_log *log, uint32_t tid, struct strace_at text);
void strace_tell_fd(struct strace_log *log, const struct strace_task *task, int64_t fd, struct strace_at path);

/* births.c, the first pass.  False: a table of strace -c, and nothing else. */
bool strace_find_births(struct strace_log *log);

/* log.c */
/* The next line of this file is in its parts. */
bool strace_ready(struct strace_log *log, struct strace_file *file);
struct buf *strace_begin(struct strace_log *log, enum event_type type, const struct strace_task *task,
			 uint64_t time_ns);
void strace_end(struct strace_log *log, struct buf *record);

#endif
