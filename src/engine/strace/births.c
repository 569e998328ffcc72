/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first pass over a log: who made which task, since a child can be seen
 * before its parent's call has returned, and whose the lines are that do not
 * say it.  Tells nothing; the second pass does.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/strace/strace.h"

struct births {
	struct strace_log *log;
	struct map pending; /* tid → the text of a call that is not resumed yet */
	struct map named; /* tids that lines say → in which order */
	uint64_t count; /* of those */
	bool tables, calls; /* seen */
};

static void note_named(struct births *births, uint64_t tid)
{
	bool fresh;
	uint64_t *order = map_put(&births->named, tid, &fresh);

	if (order && fresh)
		*order = births->count++;
}

/* clone, fork, vfork, or the beginning of one. */
static void take_call(struct births *births, uint32_t tid, struct strace_at text)
{
	size_t bytes = (size_t)(text.end - text.at);
	char **begun = map_put(&births->pending, tid, NULL);

	strace_find_birth(births->log, tid, text);
	if (!begun)
		return;
	free(*begun);
	*begun = memmem(text.at, bytes, "<unfinished", 11) ? strndup(text.at, bytes) : NULL;
}

/* `text` is behind "<... ".  Lines begin to say their task when there is a second one. */
static void take_resumed(struct births *births, uint32_t tid, struct strace_at text)
{
	char **begun = map_get(&births->pending, tid);
	const char *rest = memmem(text.at, (size_t)(text.end - text.at), "resumed>", 8);
	struct buf both = BUF_INIT;

	if (!begun || !*begun)
		begun = map_get(&births->pending, births->log->nameless);
	if (!begun || !*begun || !rest || strncmp(*begun, text.at, strcspn(*begun, "(")) != 0)
		return;
	(void)buf_add(&both, *begun, (size_t)(strstr(*begun, "<unfinished") - *begun));
	(void)buf_add(&both, rest + 8, (size_t)(text.end - rest - 8));
	if (!both.failed)
		strace_find_birth(births->log, tid, (struct strace_at){ both.data, both.data + both.bytes });
	buf_done(&both);
	free(*begun);
	*begun = NULL;
}

static void forget_pending(struct births *births)
{
	char **begun;
	uint64_t tid;
	size_t at = 0;

	while ((begun = map_next(&births->pending, &at, &tid)) != NULL)
		free(*begun);
	map_done(&births->pending);
}

static void take_file(struct births *births, struct strace_file *file)
{
	map_init(&births->pending, sizeof(char *), 0);
	while (strace_ready(births->log, file)) {
		struct strace_at text = { file->parts.text, file->parts.end };
		uint32_t tid = file->parts.tid ? file->parts.tid : file->tid;
		size_t bytes = (size_t)(text.end - text.at);

		file->ready = false;
		births->calls = births->calls || strace_line_tells(&file->parts);
		if (tid != 0)
			note_named(births, tid);
		else
			tid = births->log->nameless;
		if (bytes > 5 && (memcmp(text.at, "clone", 5) == 0 || memcmp(text.at, "fork(", 5) == 0 ||
				  memcmp(text.at, "vfork", 5) == 0))
			take_call(births, tid, text);
		else if (strace_literal(&text, "<... "))
			take_resumed(births, tid, text);
	}
	births->tables = births->tables || file->tables;
	forget_pending(births);
	strace_rewind(file);
}

/* The first lines are of the task that nobody made. */
static void name_nameless(struct births *births)
{
	struct strace_log *log = births->log;
	uint64_t first = UINT64_MAX, tid;
	struct strace_birth *birth;
	const uint64_t *order;
	uint32_t root = 0;
	size_t at = 0;

	while ((order = map_next(&births->named, &at, &tid)) != NULL) {
		if (*order < first && !map_get(&log->births, tid)) {
			first = *order;
			root = (uint32_t)tid;
		}
	}
	if (root == 0)
		return;
	at = 0;
	while ((birth = map_next(&log->births, &at, &tid)) != NULL) {
		if (birth->parent == log->nameless)
			birth->parent = root;
	}
	log->nameless = root;
}

bool strace_find_births(struct strace_log *log)
{
	struct births births = { .log = log };

	log->nameless = 1;
	map_init(&births.named, sizeof(uint64_t), 0);
	for (unsigned i = 0; i < log->file_count; i++)
		take_file(&births, &log->files[i]);
	name_nameless(&births);
	map_done(&births.named);
	return births.calls || !births.tables;
}
