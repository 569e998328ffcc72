/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeping the records of a live run: as the last run of the invoking user, or
 * in a file that was named.  Opened before the command starts; what goes
 * wrong later never disturbs the run and is told once, at the end.
 */
#ifndef SYSCULL_CMD_KEEP_H
#define SYSCULL_CMD_KEEP_H

#include "base/user-dir.h"
#include "cmd/output.h"
#include "engine/trace/trace.h"

/* The most that a run that nobody asked for may take. */
#define KEEP_LAST_BYTES (UINT64_C(256) << 20)

struct keep {
	struct trace_writer *writer;
	struct user_dir dir; /* of the last run … */
	struct user_file file;
	struct output output; /* … or the named file */
	int fd; /* of either */
	uint64_t most_bytes;
	bool zstd; /* compressed: the name ends in .zst */
	int failed; /* negative errno */
};

#define KEEP_INIT ((struct keep){ .dir = USER_DIR_INIT, .file = USER_FILE_INIT, .output = OUTPUT_INIT, .fd = -1 })

/* Negative with err, which says why, when this user's runs cannot be kept
 * here.  `becomes`: whom --user makes of us before the end; NULL nobody. */
int keep_open_last(struct keep *keep, const uid_t *becomes, struct error *err);
int keep_open_file(struct keep *keep, const char *path, struct error *err);
void keep_begin(struct keep *keep, const struct trace_start *start);
void keep_record(struct keep *keep, const struct event_head *record);
/* Nothing came for a while. */
void keep_tick(struct keep *keep, uint64_t now_ns);
void keep_end(struct keep *keep, const struct engine_stats *stats, const struct engine_exit *end);
/* Puts the file into its place.  Negative with err when it could not be
 * written, or is not the whole run. */
int keep_close(struct keep *keep, struct error *err);
/* Forgets what was not closed. */
void keep_discard(struct keep *keep);

/* The last run that was kept: a descriptor, or a negative errno with err. */
int keep_last(struct error *err);

#endif
