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

#include "base/text.h"
#include "rules/keyed.h"
#include "rules/stream.h"

#define OPENED_MAX 16384 /* descriptors that were written, at a time */
#define GROUPS_MAX 16384 /* images that write so */
#define FILES_MAX 4096 /* told apart in an image */
#define RECENT_PROCESSES 4096

enum { LIMIT_CALLS, LIMIT_BYTES, LIMIT_BETWEEN, LIMIT_QUICK, LIMIT_GAP };

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

/* One image, one key for each of descriptor 1, 2, all others, and all sockets. */
#define NUMBER_SOCKETS 3
struct writer {
	struct rule_key key; /* first */
	struct rule_places places;
	struct rule_unbuffered why;
	uint64_t bytes, soon; /* bytes in all, and writes that followed within LIMIT_QUICK */
	int number;
	bool nameless;
};

/* When an image that writes small pieces last did what may depend on them. */
struct order {
	uint64_t hash; /* first */
	uint64_t at;
	uint64_t waited; /* for something: what it sends then could not be sent before */
};

struct write_state {
	struct rule_keys opened, writers;
	struct rule_recent orders, pipes, streams;
};

static struct writer *writer_of(struct rule_run *run, const struct model_view *view, bool socket)
{
	struct write_state *state = run->state;
	const struct model_file *file = view->file;
	struct writer *writer;
	bool fresh = false;
	int number = (int)view->call->args[0];

	number = socket ? NUMBER_SOCKETS : number == 1 || number == 2 ? number : 0;
	writer = (struct writer *)rule_keys_get(run, &state->writers, view,
						map_mix(view->process->id, (uint64_t)number), &fresh);
	if (!writer)
		return NULL;
	if (fresh) {
		(void)rule_places_init(&writer->places, FILES_MAX);
		writer->number = number;
		if (number == 1)
			writer->why = rule_unbuffered_of(view->process, true);
	}
	if (file->path && *file->path == '/')
		(void)rule_places_add(&writer->places, file->path, file->path_hash);
	else
		writer->nameless = true;
	return writer;
}

static void add(struct rule_run *run, struct opened *opened, const struct model_view *view, bool soon)
{
	bool socket = opened->behind == RULE_BEHIND_SOCKET;
	struct write_state *state = run->state;
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
	rule_tally_merge(&writer->key.tally, &opened->key.tally);
	writer->bytes += opened->bytes;
	writer->soon += opened->soon;
	opened->bytes = opened->soon = 0;
	rule_keys_value(&state->writers, &writer->key, writer->key.tally.calls);
}

/* Who reads may wait for the answer, who starts others gives them the turn. */
static void other_call(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	struct order *order = rule_recent_get(&state->orders, view->process->id);

	if (!order || (view->file && rule_behind(run->model, view) == RULE_BEHIND_FILE))
		return;
	order->at = model_now(run->model);
}

static void waited(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	struct order *order = rule_recent_get(&state->orders, view->process->id);

	if (order)
		order->waited = model_now(run->model);
}

static void synced(struct rule_run *run, const struct model_view *view)
{
	struct write_state *state = run->state;
	struct rule_key *key =
		view->file ? rule_keys_find(&state->opened, map_mix(view->process->id, view->file->id)) : NULL;

	if (key)
		((struct opened *)key)->last = 0;
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
	opened =
		(struct opened *)rule_keys_get(run, &state->opened, view, map_mix(view->process->id, file->id), &fresh);
	if (!opened)
		return;
	if (fresh)
		opened->behind = behind(run, view);
	socket = opened->behind == RULE_BEHIND_SOCKET;
	if (opened->behind == RULE_BEHIND_OTHER)
		return;
	order = rule_recent_put(&state->orders, view->process->id, &unknown);
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

static const char *source_text(const struct writer *writer, const char *shell)
{
	const char *name = rule_base_name(writer->key.exe->path);

	if (writer->number == NUMBER_SOCKETS)
		return "one writev or sendmsg for all that belongs together";
	if (shell)
		return "one tool that writes all lines (awk, cat <<END) in place of single builtins";
	if (strcmp(name, "perl") == 0)
		return "$| = 0, and print in place of syswrite";
	if (strncmp(name, "python", 6) == 0)
		return "no flush for each piece; for logs a handler that flushes less often";
	return "collect what is written (setvbuf, BufWriter): no flush for each piece";
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct writer *writer = (const struct writer *)key;
	const char *shell = rule_shell_remedy(key->exe);
	bool by_design = shell || writer->number == 2;
	struct finding_remedy *remedy;
	bool sockets = writer->number == NUMBER_SOCKETS;
	struct finding *finding;
	char *places;

	/* The median pause. */
	if (writer->soon * 2 < key->tally.calls || key->tally.calls < run->limits[LIMIT_CALLS])
		return;
	finding = rule_key_finding(run, key, by_design ? FINDING_BY_DESIGN : FINDING_LIKELY, NULL, out);
	if (!finding)
		return;
	finding->least = run->limits[LIMIT_CALLS];
	finding_set(&finding->what, sockets ? "sends a few bytes at a time" : "writes a few bytes at a time");
	places = writer->places.distinct ? rule_places_name(&writer->places, "file", "files") : NULL;
	finding_set(&finding->where, "%s%s%s",
		    writer->number == 1	  ? "standard output, "
		    : writer->number == 2 ? "standard error, "
					  : "",
		    places    ? places
		    : sockets ? "stream sockets"
			      : "a pipe",
		    places && writer->nameless ? " and pipes" : "");
	finding_set(&finding->object, "%s",
		    sockets		  ? "sockets"
		    : writer->number == 1 ? "standard output"
		    : writer->number == 2 ? "standard error"
					  : "files");
	free(places);
	finding->place = !writer->nameless ? rule_places_place(&writer->places) : NULL;
	remedy = rule_unbuffered_remedy(run, &writer->why, key->process_id, finding);
	if (!remedy && (remedy = finding_add_remedy(finding, REMEDY_SOURCE))) {
		remedy->id = sockets ? "gather" : shell ? "tool" : "buffer";
		finding_set(&remedy->text, "%s", source_text(writer, shell));
	}
	/* What goes out first stays: it was not counted. */
	if (remedy && sockets)
		finding_remedy_saves_all(remedy, finding);
	else if (remedy)
		rule_saves_but_blocks(remedy, finding, writer->bytes);
	if (sockets)
		finding_add_note(finding, "each goes behind another, with nothing read and no wait in between");
	else if (shell)
		finding_add_note(finding, "a shell writes at once what a builtin prints: others write there too");
	else if (by_design)
		finding_add_note(finding, "standard error is not buffered, so that nothing is lost when it ends");
	else
		finding_add_note(finding, "whoever waits for single pieces gets them later");
}

static void free_writer(struct rule_run *run, struct rule_key *key)
{
	rule_places_done(&((struct writer *)key)->places);
}

static void write_image_end(struct rule_run *run, struct model_process *process)
{
	struct write_state *state = run->state;

	rule_keys_image_end(run, &state->opened, process);
	rule_keys_image_end(run, &state->writers, process);
}

static void write_end(struct rule_run *run, struct finding_list *out)
{
	rule_keys_tell(run, &((struct write_state *)run->state)->writers, out, tell);
}

static int write_start(struct rule_run *run)
{
	struct write_state *state = run->state;

	rule_keys_init(&state->opened, sizeof(struct opened), OPENED_MAX);
	state->opened.idle_ns = UINT64_C(1000000000);
	state->opened.candidate = UINT64_MAX;
	rule_keys_init(&state->writers, sizeof(struct writer), GROUPS_MAX);
	state->writers.candidate = 1;
	state->writers.free = free_writer;
	if (rule_pipes_init(&state->pipes) < 0 || rule_streams_init(&state->streams) < 0)
		return -ENOMEM;
	return rule_recent_init(&state->orders, sizeof(struct order), RECENT_PROCESSES);
}

static void write_done(struct rule_run *run)
{
	struct write_state *state = run->state;

	rule_keys_done(run, &state->opened);
	rule_keys_done(run, &state->writers);
	rule_recent_done(&state->orders);
	rule_recent_done(&state->pipes);
	rule_recent_done(&state->streams);
}

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
	CALL_poll,
	CALL_ppoll,
	CALL_select,
	CALL_pselect6,
	CALL_epoll_wait,
	CALL_epoll_pwait,
	CALL_epoll_pwait2,
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
	.state_bytes = sizeof(struct write_state),
	.breadth = 1,
	.start = write_start,
	.call = write_call,
	.image_end = write_image_end,
	.end = write_end,
	.done = write_done,
};
