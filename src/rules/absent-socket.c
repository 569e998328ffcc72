/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * absent-socket: connecting again and again to a socket of this machine at
 * which nobody listens.  Waiting for a daemon has pauses, long ones or such as
 * it sleeps in, and is not meant.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "rules/keyed.h"

#define SOCKETS_MAX 4096
#define RECENT_SOCKETS 256
#define NSCD "nscd/socket"
#define NSCD_TRIES 4 /* that glibc makes whatever is kept: two lists, two each */

enum { LIMIT_CALLS, LIMIT_GAP };

/* One image and one address; its tally has the failures and what was closed after them. */
struct absent {
	struct rule_key key; /* first */
	struct rule_burst burst;
	uint64_t tries, sockets, sockets_ns, slow;
	uint64_t asked; /* model_now of the last try */
	char *address; /* printable */
};

struct recent_socket {
	uint64_t hash; /* first: of the instance */
	uint64_t made_ns; /* what making it took, 0 when it was not seen */
	uint64_t absent; /* hash of its key, when it found nobody */
};

struct socket_state {
	struct rule_keys keys;
	struct rule_recent sockets;
};

static void absent_free(struct rule_run *run, struct rule_key *key)
{
	(void)run;
	free(((struct absent *)key)->address);
}

/* The path, or '@' and the name of one without a file; false for other families. */
static bool address_of(const struct model_view *view, const char **ret_text, size_t *ret_bytes)
{
	const struct event_item *item = event_item(&view->call->head, SYS_ITEM_SOCKADDR);
	const char *data = item ? event_item_data(item) : NULL;
	uint16_t family;

	if (!item || item->bytes <= sizeof family)
		return false;
	memcpy(&family, data, sizeof family);
	*ret_text = data + sizeof family;
	*ret_bytes = item->bytes - sizeof family;
	if (**ret_text != '\0')
		*ret_bytes = strnlen(*ret_text, *ret_bytes);
	return family == AF_UNIX && *ret_bytes > 0;
}

static char *printable(const char *text, size_t bytes)
{
	struct buf buf = BUF_INIT;
	char *result;

	if (*text == '\0')
		(void)buf_putc(&buf, '@');
	(void)text_escape(&buf, *text ? text : text + 1, *text ? bytes : bytes - 1, 0, true);
	result = buf.failed ? NULL : buf_steal(&buf);
	buf_done(&buf);
	return result;
}

static void connected(struct rule_run *run, const struct model_view *view)
{
	struct socket_state *state = run->state;
	struct recent_socket *recent;
	struct absent *absent;
	const char *text;
	size_t bytes;
	uint64_t hash;
	bool close;

	if (!address_of(view, &text, &bytes))
		return;
	hash = map_mix(view->process->id, map_hash(text, bytes));
	if (view->err != ENOENT && view->err != ECONNREFUSED) {
		struct rule_key *key = view->err ? NULL : rule_keys_find(&state->keys, hash);

		/* Somebody listens after all. */
		if (key)
			rule_keys_drop(run, &state->keys, key);
		return;
	}
	absent = (struct absent *)rule_keys_get(run, &state->keys, view, hash, NULL);
	if (!absent)
		return;
	if (!absent->address)
		absent->address = printable(text, bytes);
	close = rule_burst_next(&absent->burst, view, run->limits[LIMIT_GAP]) &&
		(absent->asked == 0 || view->slept <= absent->asked);
	absent->asked = model_now(run->model);
	if (!close) {
		absent->slow++;
		return;
	}
	absent->tries++;
	(void)rule_tally_add(&absent->key.tally, run->model, view);
	rule_keys_value(&state->keys, &absent->key, absent->tries);
	recent = view->file ? rule_recent_put(&state->sockets, map_mix(view->file->id, 1), NULL) : NULL;
	if (!recent || recent->absent)
		return;
	recent->absent = hash;
	if (recent->made_ns > 0) {
		absent->sockets++;
		absent->sockets_ns += recent->made_ns;
	}
}

static void made(struct rule_run *run, const struct model_view *view)
{
	struct socket_state *state = run->state;
	struct recent_socket *recent;

	if (view->err || !view->made)
		return;
	recent = rule_recent_put(&state->sockets, map_mix(view->made->id, 1), NULL);
	recent->made_ns = view->call->duration_ns + 1;
	recent->absent = 0;
}

static void closed(struct rule_run *run, const struct model_view *view)
{
	struct socket_state *state = run->state;
	struct recent_socket *recent = view->file ? rule_recent_get(&state->sockets, map_mix(view->file->id, 1)) : NULL;
	struct rule_key *key = recent && recent->absent ? rule_keys_find(&state->keys, recent->absent) : NULL;

	if (key && !view->err)
		(void)rule_tally_count(&key->tally, view);
	if (recent)
		recent->absent = 0;
}

static void socket_call(struct rule_run *run, const struct model_view *view)
{
	if (!rule_returned(view))
		return;
	if (view->id == CALL_connect)
		connected(run, view);
	else if (view->id == CALL_socket)
		made(run, view);
	else
		closed(run, view);
}

static void socket_image_end(struct rule_run *run, struct model_process *process)
{
	struct socket_state *state = run->state;

	rule_keys_image_end(run, &state->keys, process);
}

/* Of each line what `kept` tries in all still cost. */
static void saves_but(struct finding_remedy *remedy, const struct finding *finding, uint64_t tries, uint64_t kept)
{
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];
		uint64_t left = (cost->count * kept + tries - 1) / tries;

		if (cost->count > left)
			finding_add_delta(remedy, cost->call, cost->err, -(int64_t)(cost->count - left), 0);
	}
}

static void tell_names(struct rule_run *run, const struct absent *absent, struct finding *finding)
{
	struct finding_remedy *remedy;

	if (strcmp(rule_base_name(absent->key.exe->path), "getfacl") == 0) {
		remedy = finding_add_remedy(finding, REMEDY_CONFIGURATION);
		if (remedy) {
			remedy->id = "numeric";
			finding_set(&remedy->text, "getfacl -n");
			finding_set(&remedy->changes, "ids in place of names");
			remedy->command = rule_command_option(run->model, "-n", absent->key.process_id);
			finding_remedy_saves_all(remedy, finding);
		}
	}
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (remedy) {
		remedy->id = "keep-names";
		finding_set(&remedy->text, "keep the names of ids, look each up once");
		saves_but(remedy, finding, absent->tries, absent->tries < NSCD_TRIES ? absent->tries : NSCD_TRIES);
	}
	finding_add_note(finding, "glibc asks for the name service's cache again with every 100th look-up of a name");
}

static void tell(struct rule_run *run, struct rule_key *key, struct finding_list *out)
{
	const struct absent *absent = (const struct absent *)key;
	struct finding *finding = rule_key_finding(run, key, FINDING_LIKELY, NULL, out);
	const char *address = absent->address ? absent->address : "?";
	struct finding_cost *cost;
	struct finding_remedy *remedy;
	char number[TEXT_NUMBER_MAX + 8];

	if (!finding)
		return;
	if (absent->sockets > 0) {
		cost = finding_add_cost(finding, CALL_socket, 0, absent->sockets, NULL);
		if (cost)
			cost->duration_ns = absent->sockets_ns - absent->sockets;
	}
	finding_set(&finding->what, "connects again and again to a socket where nobody listens");
	finding_set(&finding->where, "%s", address);
	finding_set(&finding->object, "%s", address);
	if (strstr(address, NSCD)) {
		tell_names(run, absent, finding);
	} else {
		remedy = finding_add_remedy(finding, REMEDY_SOURCE);
		if (remedy) {
			remedy->id = "try-once";
			finding_set(&remedy->text, "remember that nobody listens, and try again after a while");
			saves_but(remedy, finding, absent->tries, 1);
		}
	}
	if (absent->slow > 0)
		finding_add_note(finding, "left out: %s after a pause",
				 text_plural(absent->slow, "try", "tries", number, sizeof number));
	rule_burst_note(&absent->burst, finding);
}

static void socket_end(struct rule_run *run, struct finding_list *out)
{
	struct socket_state *state = run->state;

	rule_keys_tell(run, &state->keys, out, tell);
}

static int socket_start(struct rule_run *run)
{
	struct socket_state *state = run->state;

	rule_keys_init(&state->keys, sizeof(struct absent), SOCKETS_MAX);
	state->keys.candidate = run->limits[LIMIT_CALLS];
	state->keys.free = absent_free;
	return rule_recent_init(&state->sockets, sizeof(struct recent_socket), RECENT_SOCKETS);
}

static void socket_done(struct rule_run *run)
{
	struct socket_state *state = run->state;

	rule_keys_done(run, &state->keys);
	rule_recent_done(&state->sockets);
}

static const uint16_t socket_calls[] = { CALL_connect, CALL_socket, CALL_close, 0 };

static const struct rule_limit socket_limits[] = {
	[LIMIT_CALLS] = { "calls", RULE_COUNT, 10, "tries of one process at one socket" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS,
			"a try after a longer pause is waiting, and does not count" },
	{ 0 },
};

const struct rule rule_absent_socket = {
	.id = "absent-socket",
	.title = "connecting again and again where nobody listens",
	.items = SYS_ITEM_BIT(SOCKADDR),
	.needs = RULE_NEEDS_TIMES | RULE_NEEDS_FDS,
	.calls = socket_calls,
	.limits = socket_limits,
	.state_bytes = sizeof(struct socket_state),
	.start = socket_start,
	.call = socket_call,
	.image_end = socket_image_end,
	.end = socket_end,
	.done = socket_done,
};
