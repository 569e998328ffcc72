/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tiny-read: data that one read could have brought fetched a few bytes at a
 * time, or a header read alone before what follows it.  Only of files and
 * streams, and only where the next piece was there already: what comes event
 * by event cannot come in fewer reads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "rules/law.h"
#include "rules/stream.h"

#define HEADER_LEAST 4
#define HEADER_MOST 16

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_PAIRS, LIMIT_GAP };
enum { READS_FILE, READS_STREAM, READS_PAIRS };

/* One opened file and one image. */
struct opened {
	struct rule_key key; /* first; its tally has the small reads below the limit */
	struct rule_tally pairs;
	struct rule_burst burst;
	enum rule_behind behind;
	bool small, header; /* what the last read was */
	int64_t next; /* and where it ended, -1 unknown */
	uint64_t process_calls; /* and its number in the process */
	uint64_t count, count_pairs, bytes;
};

struct reader {
	struct law_entry entry; /* first */
	struct rule_unbuffered why;
	uint64_t bytes;
	bool begun, shared, unsure;
	bool script; /* a shell's own script */
};

struct read_state {
	struct law_state law; /* first; recent: copiers */
	struct rule_recent streams, pipes;
};

/* A process since its last small read of a pipe or socket. */
struct copier {
	uint64_t hash; /* first: of the process */
	uint64_t from, to; /* the number of that call, and of the last write in a row behind it */
	bool dd; /* which writes what it read, and waits for no answer */
};

/* A shell without words of its own reads what it runs. */
static bool is_script(const struct model_view *view)
{
	const struct model_process *process = view->process;
	const char *end = process->argv ? process->argv + process->argv_bytes : NULL, *word = process->argv;

	if (!end || process->argv_cut || view->call->args[0] != 0 || !rule_shell_remedy(process->exe))
		return false;
	while ((word += strnlen(word, (size_t)(end - word)) + 1) < end)
		if (*word != '-' || strncmp(word, "-c", 2) == 0)
			return strncmp(word, "-s", 2) == 0;
	return true;
}

static struct reader *reader_of(struct rule_run *run, const struct model_view *view, unsigned kind)
{
	struct reader *reader = law_entry(run, view, kind);

	if (!reader)
		return NULL;
	if (!reader->begun) {
		reader->begun = true;
		reader->why = rule_unbuffered_of(view->process, false);
		reader->script = kind == READS_STREAM && is_script(view);
	}
	reader->shared = reader->shared || view->file->offset_shared;
	reader->unsure = reader->unsure || !S_ISREG(view->file->mode);
	law_file(run, &reader->entry, view->file);
	return reader;
}

/* Could the last read have brought this too? */
static bool was_there(const struct read_state *state, const struct opened *opened, const struct model_view *view,
		      int64_t at)
{
	const struct copier *copier;

	/* What two processes read in turn none can read ahead for the other. */
	if (opened->behind == RULE_BEHIND_FILE && view->file->offset_used && view->file->offset_shared &&
	    view->id != CALL_pread64)
		return false;
	if (opened->behind == RULE_BEHIND_FILE)
		return at < 0 || opened->next < 0 || at == opened->next;
	if (view->process->calls == opened->process_calls + 1)
		return true;
	copier = rule_recent_get(&state->law.recent, view->process->id);
	return copier && copier->from == opened->process_calls && copier->to + 1 == view->process->calls;
}

static void small_read(struct read_state *state, const struct model_view *view)
{
	bool fresh = false;
	struct copier *copier = rule_recent_put(&state->law.recent, view->process->id, &fresh);

	copier->from = copier->to = view->process->calls;
	if (fresh)
		copier->dd = rule_unbuffered_of(view->process, false).by == UNBUFFERED_BLOCKS;
}

/* A write that nobody can have answered. */
static void written(struct rule_run *run, const struct model_view *view)
{
	struct read_state *state = run->state;
	struct copier *copier = rule_recent_get(&state->law.recent, view->process->id);
	enum rule_behind behind;

	if (!copier || copier->to + 1 != view->process->calls || !rule_returned(view))
		return;
	behind = rule_behind(run->model, view);
	if (copier->dd || behind == RULE_BEHIND_FILE || behind == RULE_BEHIND_NULL)
		copier->to++;
}

static void add(struct rule_run *run, struct opened *opened, const struct model_view *view, bool pair)
{
	struct rule_tally *tally = pair ? &opened->pairs : &opened->key.tally;
	uint64_t *count = pair ? &opened->count_pairs : &opened->count;
	struct reader *reader;

	(void)rule_tally_add(tally, run->model, view);
	opened->bytes += pair ? 0 : (uint64_t)view->call->ret;
	if (++*count < run->limits[pair ? LIMIT_PAIRS : LIMIT_CALLS])
		return;
	reader = reader_of(run, view,
			   pair					? READS_PAIRS
			   : opened->behind == RULE_BEHIND_FILE ? READS_FILE
								: READS_STREAM);
	if (!reader)
		return;
	law_take(run, &reader->entry, tally);
	if (!pair) {
		reader->bytes += opened->bytes;
		opened->bytes = 0;
	}
}

static void read_call(struct rule_run *run, const struct model_view *view)
{
	const struct event_call *call = view->call;
	struct read_state *state = run->state;
	bool positioned = view->id == CALL_pread64, fresh = false, close, there, small, pair;
	struct opened *opened;
	int64_t at;

	if (!rule_returned(view))
		return;
	if (view->id == CALL_socket || view->id == CALL_socketpair) {
		rule_streams_follow(&state->streams, view);
		return;
	}
	if (view->id == CALL_write)
		written(run, view);
	if (view->id != CALL_read && view->id != CALL_pread64 && view->id != CALL_recvfrom) {
		rule_pipes_follow(&state->pipes, view);
		return;
	}
	if (!view->file || view->err || call->ret <= 0 ||
	    (view->id == CALL_recvfrom && (call->args[3] & (MSG_PEEK | MSG_OOB))))
		return;
	opened = law_follow(run, view, view->file->id, &fresh);
	if (!opened)
		return;
	if (fresh) {
		opened->pairs.claims = run->claims;
		opened->behind =
			rule_pipes_named(&state->pipes, view->file) ? RULE_BEHIND_PIPE : rule_behind(run->model, view);
		if (opened->behind == RULE_BEHIND_SOCKET && !rule_streams_is(&state->streams, view->file))
			opened->behind = RULE_BEHIND_OTHER;
	}
	if (opened->behind == RULE_BEHIND_OTHER || opened->behind == RULE_BEHIND_NULL)
		return;
	at = positioned ? (int64_t)call->args[3] : view->file->offset;
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]);
	there = !fresh && close && was_there(state, opened, view, at);
	small = call->args[2] < run->limits[LIMIT_BYTES];
	pair = there && !small && opened->header;
	if (there && small && opened->small && !rule_pipes_token(&state->pipes, view))
		add(run, opened, view, false);
	else if (pair)
		add(run, opened, view, true);
	opened->small = small;
	opened->header = small && call->args[2] >= HEADER_LEAST && call->args[2] <= HEADER_MOST &&
			 (uint64_t)call->ret == call->args[2];
	/* The proof of a pair is its header. */
	if (opened->header && !opened->pairs.sample)
		opened->pairs.sample = rule_sample(view);
	opened->next = at < 0 ? -1 : at + call->ret;
	opened->process_calls = view->process->calls;
	if (small && opened->behind != RULE_BEHIND_FILE)
		small_read(state, view);
}

static const char *source_text(const struct reader *reader, bool shell)
{
	if (reader->script)
		return "give the shell its script as a file, not through a pipe";
	if (shell && reader->entry.kind == READS_FILE)
		return rule_shell_remedy(reader->entry.key.exe);
	if (shell)
		return "a tool that reads all lines (sed, awk) in place of the shell";
	return strcmp(rule_base_name(reader->entry.key.exe->path), "perl") == 0
		       ? "read or readline in place of sysread, which has no buffer"
		       : "read through a buffer, by blocks of 4,096 bytes or more";
}

static void read_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct reader *reader = (const struct reader *)entry;
	bool file = entry->kind == READS_FILE, shell = rule_shell_remedy(entry->key.exe) != NULL;
	struct finding_remedy *remedy;

	if (file && !reader->shared && !reader->unsure)
		finding->tier = FINDING_CERTAIN;
	if (entry->kind == READS_PAIRS)
		return;
	remedy = rule_unbuffered_remedy(run, &reader->why, entry->key.process_id, finding);
	if (!remedy && (remedy = finding_add_remedy(finding, REMEDY_SOURCE))) {
		remedy->id = shell ? "tool" : "buffer";
		finding_set(&remedy->text, "%s", source_text(reader, shell));
	}
	if (remedy)
		rule_saves_but_blocks(remedy, finding, reader->bytes);
	if (shell && !file) {
		finding->tier = FINDING_BY_DESIGN;
		finding_add_note(finding, "a shell cannot give back to a pipe what it read ahead for others");
	} else if (file && reader->shared) {
		finding_add_note(finding, "others have the same descriptor: they may go on where this one stops");
	}
}

static void free_opened(struct rule_run *run, struct rule_key *key)
{
	rule_tally_done(&((struct opened *)key)->pairs);
}

static int read_start(struct rule_run *run)
{
	struct read_state *state = run->state;

	if (rule_pipes_init(&state->pipes) < 0 || rule_streams_init(&state->streams) < 0)
		return -ENOMEM;
	return law_start(run);
}

static void read_done(struct rule_run *run)
{
	struct read_state *state = run->state;

	law_done(run);
	rule_recent_done(&state->streams);
	rule_recent_done(&state->pipes);
}

#define READ_KIND(limit, ...) \
	{ \
		.tier = FINDING_LIKELY, .least = (limit), .nameless = "descriptors without a name", __VA_ARGS__ \
	}

static const struct law_kind read_kinds[] = {
	[READS_FILE] = READ_KIND(LIMIT_CALLS, .what = "reads a file a few bytes at a time", .object = "files"),
	[READS_STREAM] =
		READ_KIND(LIMIT_CALLS, .what = "reads a pipe or socket a few bytes at a time", .object = "streams"),
	[READS_PAIRS] = READ_KIND(LIMIT_PAIRS, .what = "reads a header by itself, then what follows it",
				  .object = "headers", .remedy = "read-ahead",
				  .text = "read header and what follows into one buffer, as much as is there"),
	{ 0 },
};

static const struct law read_law = {
	.kinds = read_kinds,
	.entries = 16384,
	.entry_bytes = sizeof(struct reader),
	.files = 4096,
	.followed = 16384, /* descriptors that were read */
	.followed_bytes = sizeof(struct opened),
	.recent = 4096, /* processes that read a pipe so */
	.recent_bytes = sizeof(struct copier),
	.tell = read_tell,
	.free_followed = free_opened,
};

static const uint16_t read_calls[] = {
	CALL_read, CALL_pread64, CALL_recvfrom, RULE_STREAMS_CALLS, RULE_PIPES_CALLS, 0
};

static const char *const read_env[] = { RULE_UNBUFFERED_ENV, NULL };

static const struct rule_limit read_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100,
			  "small reads of one descriptor that the one before could have brought" },
	[LIMIT_BYTES] = { "bytes", RULE_BYTES, 64, "a read that asks for less is small" },
	[LIMIT_PAIRS] = { "pairs", RULE_COUNT, 20, "or so many headers read before something larger" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "reads further apart do not count" },
	{ 0 },
};

const struct rule rule_tiny_read = {
	.id = "tiny-read",
	.title = "data read a few bytes at a time",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.env = read_env,
	.calls = read_calls,
	.limits = read_limits,
	.law = &read_law,
	.state_bytes = sizeof(struct read_state),
	.breadth = 1,
	.start = read_start,
	.call = read_call,
	.image_end = law_image_end,
	.end = law_end,
	.done = read_done,
};
