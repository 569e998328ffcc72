/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tiny-write: output that goes out a few bytes at a time, one piece right
 * after the other, into a file, a pipe or a stream socket.  Only where nobody could have waited for the piece: no
 * answer was read in between, no child was started that writes there too, and
 * nothing was made durable.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "rules/law.h"
#include "rules/stream.h"

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_BETWEEN, LIMIT_QUICK, LIMIT_GAP };
enum { TO_FILES, TO_OUTPUT, TO_ERRORS, TO_SOCKETS };

/* One opened file and one image. */
struct opened {
	struct rule_key key; /* first; its tally has the small writes below the limit */
	struct rule_burst burst, quick;
	enum rule_behind behind;
	uint64_t last; /* model_now of the last write, 0 when it was made durable */
	uint64_t process_calls; /* and its number in the process */
	int64_t next; /* where that ended, -1 unknown */
	uint64_t count, bytes, soon;
};

struct writer {
	struct law_entry entry; /* first */
	struct rule_unbuffered why;
	uint64_t bytes, soon; /* bytes in all, and writes that followed within LIMIT_QUICK */
	bool begun;
};

/* When an image that writes small pieces last did what may depend on them. */
struct order {
	uint64_t hash; /* first */
	uint64_t at;
	uint64_t waited; /* for something: what it sends then could not be sent before */
};

struct write_state {
	struct law_state law; /* first; recent: orders */
	struct rule_recent pipes, streams;
};

static struct writer *writer_of(struct rule_run *run, const struct model_view *view, bool socket)
{
	static const unsigned kinds[] = { TO_FILES, TO_OUTPUT, TO_ERRORS };
	uint64_t number = (uint32_t)view->call->args[0];
	struct writer *writer = law_entry(run, view, socket ? TO_SOCKETS : number < 3 ? kinds[number] : TO_FILES);

	if (!writer)
		return NULL;
	if (!writer->begun && writer->entry.kind == TO_OUTPUT)
		writer->why = rule_unbuffered_of(view->process, true);
	writer->begun = true;
	law_file(run, &writer->entry, view->file);
	return writer;
}

static void add(struct rule_run *run, struct opened *opened, const struct model_view *view, bool soon)
{
	bool socket = opened->behind == RULE_BEHIND_SOCKET;
	struct writer *writer;

	(void)rule_tally_add(&opened->key.tally, run->model, view);
	opened->bytes += (uint64_t)view->call->ret;
	opened->soon += soon;
	/* A server has one socket for each who asks: they count together. */
	if (++opened->count < run->limits[LIMIT_CALLS] && !socket)
		return;
	writer = writer_of(run, view, socket);
	if (!writer)
		return;
	law_take(run, &writer->entry, &opened->key.tally);
	writer->bytes += opened->bytes;
	writer->soon += opened->soon;
	opened->bytes = opened->soon = 0;
}

/* Who reads may wait for the answer, who starts others gives them the turn. */
static void other_call(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	struct order *order = rule_recent_get(&state->law.recent, view->process->id);

	if (!order || (view->file && rule_behind(run->model, view) == RULE_BEHIND_FILE))
		return;
	order->at = model_now(run->model);
}

static void waited(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	struct order *order = rule_recent_get(&state->law.recent, view->process->id);

	if (order)
		order->waited = model_now(run->model);
}

static void synced(struct rule_run *run, const struct model_view *view)
{
	struct opened *opened = view->file ? law_followed(run, view, view->file->id) : NULL;

	if (opened)
		opened->last = 0;
}

/* Pieces of other sockets than streams are messages: they stay apart. */
static enum rule_behind behind(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	enum rule_behind what =
		rule_pipes_named(&state->pipes, view->file) ? RULE_BEHIND_PIPE : rule_behind(run->model, view);

	return what == RULE_BEHIND_SOCKET && !rule_streams_is(&state->streams, view->file) ? RULE_BEHIND_OTHER : what;
}

static void written(struct rule_run *run, const struct model_view *view)
{
	const struct event_call *call = view->call;
	struct write_state *state = run->state;
	const struct model_file *file = view->file;
	bool fresh = false, unknown = false, socket, close, soon, follows;
	struct opened *opened;
	struct order *order;
	int64_t at;

	if (!file || view->err || call->ret <= 0 || (file->open_flags & O_DSYNC))
		return;
	opened = law_follow(run, view, file->id, &fresh);
	if (!opened)
		return;
	if (fresh)
		opened->behind = behind(run, view);
	socket = opened->behind == RULE_BEHIND_SOCKET;
	if (opened->behind == RULE_BEHIND_OTHER)
		return;
	order = rule_recent_put(&state->law.recent, view->process->id, &unknown);
	/* What it did before is not known. */
	if (unknown)
		order->at = model_now(run->model) - 1;
	at = view->id == CALL_pwrite64 ? (int64_t)call->args[3] : file->offset;
	close = rule_burst_next(&opened->burst, view, run->limits[LIMIT_GAP]);
	soon = rule_burst_next(&opened->quick, view, run->limits[LIMIT_QUICK]);
	follows = (opened->behind != RULE_BEHIND_FILE || at < 0 || opened->next < 0 || at == opened->next) &&
		  view->process->calls <= opened->process_calls + 1 + run->limits[LIMIT_BETWEEN];
	if (!fresh && close && follows && (uint64_t)call->ret < run->limits[LIMIT_BYTES] && order->at < opened->last &&
	    !(socket && order->waited >= opened->last) && !rule_pipes_token(&state->pipes, view))
		add(run, opened, view, soon);
	opened->last = model_now(run->model);
	opened->process_calls = view->process->calls;
	opened->next = at < 0 ? -1 : at + call->ret;
}

static void write_call(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;

	switch ((int)view->id) {
	case CALL_write:
		rule_pipes_follow(&state->pipes, view);
		if (rule_returned(view))
			written(run, view);
		return;
	case CALL_writev:
	case CALL_pwrite64:
	case CALL_sendto:
	case CALL_sendmsg:
		if (rule_returned(view))
			written(run, view);
		return;
	case CALL_fsync:
	case CALL_fdatasync:
	case CALL_sync_file_range:
		synced(run, view);
		return;
	case CALL_poll:
	case CALL_ppoll:
	case CALL_select:
	case CALL_pselect6:
	case CALL_epoll_wait:
	case CALL_epoll_pwait:
	case CALL_epoll_pwait2:
	case CALL_nanosleep:
	case CALL_clock_nanosleep:
		waited(run, view);
		return;
	case CALL_socket:
	case CALL_socketpair:
		if (rule_returned(view))
			rule_streams_follow(&state->streams, view);
		return;
	case CALL_pipe:
	case CALL_pipe2:
	case CALL_mknod:
	case CALL_mknodat:
	case CALL_close:
		rule_pipes_follow(&state->pipes, view);
		return;
	default:
		other_call(run, view);
	}
}

/* The median pause. */
static bool write_holds(struct rule_run *run, const struct law_entry *entry)
{
	return ((const struct writer *)entry)->soon * 2 >= entry->key.tally.calls;
}

static const char *source_text(const struct model_exe *exe, const char *shell)
{
	const char *name = rule_base_name(exe->path);

	if (shell)
		return "one tool that writes all lines (awk, cat <<END) in place of single builtins";
	if (strcmp(name, "perl") == 0)
		return "$| = 0, and print in place of syswrite";
	if (strncmp(name, "python", 6) == 0)
		return "no flush for each piece; for logs a handler that flushes less often";
	return "collect what is written (setvbuf, BufWriter): no flush for each piece";
}

static void tell_sockets(struct finding *finding)
{
	(void)finding_add_remedy_all(finding, REMEDY_SOURCE, "gather",
				     "one writev or sendmsg for all that belongs together");
	finding_add_note(finding, "each goes behind another, with nothing read and no wait in between");
}

static void write_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	const struct writer *writer = (const struct writer *)entry;
	const char *shell = rule_shell_remedy(entry->key.exe);
	char *places = entry->places ? rule_places_name(entry->places, "file", "files") : NULL;
	bool sockets = entry->kind == TO_SOCKETS;
	struct finding_remedy *remedy;

	if (shell || entry->kind == TO_ERRORS)
		finding->tier = FINDING_BY_DESIGN;
	finding_set(&finding->where, "%s%s%s",
		    entry->kind == TO_OUTPUT   ? "standard output, "
		    : entry->kind == TO_ERRORS ? "standard error, "
					       : "",
		    places    ? places
		    : sockets ? "stream sockets"
			      : "a pipe",
		    places && entry->nameless ? " and pipes" : "");
	free(places);
	if (sockets) {
		tell_sockets(finding);
		return;
	}
	remedy = rule_unbuffered_remedy(run, &writer->why, entry->key.process_id, finding);
	if (!remedy && (remedy = finding_add_remedy(finding, REMEDY_SOURCE))) {
		remedy->id = shell ? "tool" : "buffer";
		finding_set(&remedy->text, "%s", source_text(entry->key.exe, shell));
	}
	/* What goes out first stays: it was not counted. */
	if (remedy)
		rule_saves_but_blocks(remedy, finding, writer->bytes);
	if (shell)
		finding_add_note(finding, "a shell writes at once what a builtin prints: others write there too");
	else if (entry->kind == TO_ERRORS)
		finding_add_note(finding, "standard error is not buffered, so that nothing is lost when it ends");
	else
		finding_add_note(finding, "whoever waits for single pieces gets them later");
}

static int write_start(struct rule_run *run)
{
	struct write_state *state = run->state;

	if (rule_pipes_init(&state->pipes) < 0 || rule_streams_init(&state->streams) < 0)
		return -ENOMEM;
	return law_start(run);
}

static void write_done(struct rule_run *run)
{
	struct write_state *state = run->state;

	law_done(run);
	rule_recent_done(&state->pipes);
	rule_recent_done(&state->streams);
}

#define WRITE_KIND(does, ...) \
	{ \
		.tier = FINDING_LIKELY, .least = LIMIT_CALLS, .what = does " a few bytes at a time", __VA_ARGS__ \
	}

static const struct law_kind write_kinds[] = {
	[TO_FILES] = WRITE_KIND("writes", .object = "files"),
	[TO_OUTPUT] = WRITE_KIND("writes", .object = "standard output"),
	[TO_ERRORS] = WRITE_KIND("writes", .object = "standard error"),
	[TO_SOCKETS] = WRITE_KIND("sends", .object = "sockets"),
	{ 0 },
};

static const struct law write_law = {
	.kinds = write_kinds,
	.entries = 16384,
	.entry_bytes = sizeof(struct writer),
	.files = 4096,
	.followed = 16384, /* descriptors that were written */
	.followed_bytes = sizeof(struct opened),
	.recent = 4096, /* images that write small pieces */
	.recent_bytes = sizeof(struct order),
	.holds = write_holds,
	.tell = write_tell,
};

static const uint16_t write_calls[] = {
	CALL_writev,
	CALL_pwrite64,
	CALL_sendto,
	CALL_sendmsg,
	CALL_fsync,
	CALL_fdatasync,
	CALL_sync_file_range,
	CALL_read,
	CALL_readv,
	CALL_recvfrom,
	CALL_recvmsg,
	CALL_fork,
	CALL_vfork,
	CALL_clone,
	CALL_clone3,
	CALL_wait4,
	CALL_waitid,
	RULE_POLLS_CALLS,
	CALL_nanosleep,
	CALL_clock_nanosleep,
	RULE_STREAMS_CALLS,
	RULE_PIPES_CALLS,
	0,
};

static const char *const write_env[] = { RULE_UNBUFFERED_ENV, NULL };

static const struct rule_limit write_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 100, "small writes to one descriptor behind a write" },
	[LIMIT_BYTES] = { "bytes", RULE_BYTES, 512, "a write of less is small" },
	[LIMIT_BETWEEN] = { "between", RULE_COUNT, 4,
			    "calls of the process in between, or each is the result of its own work" },
	[LIMIT_QUICK] = { "quick", RULE_NS, 1000000, "at least half of them follow so soon" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "writes further apart do not count" },
	{ 0 },
};

const struct rule rule_tiny_write = {
	.id = "tiny-write",
	.title = "output written a few bytes at a time",
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.env = write_env,
	.calls = write_calls,
	.limits = write_limits,
	.law = &write_law,
	.state_bytes = sizeof(struct write_state),
	.breadth = 1,
	.start = write_start,
	.call = write_call,
	.image_end = law_image_end,
	.end = law_end,
	.done = write_done,
};
