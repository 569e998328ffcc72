/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors on their way through sockets.  Between the two ends of a
 * socketpair messages arrive in the order of sending; elsewhere the other end
 * is not known, and only a single message under way in the whole tree can be
 * told, from a socket that connected to one that was accepted or back.
 * Whatever may be mixed up is given up for good: a received descriptor is
 * then one of which nothing is known.
 */
#include <string.h>
#include <sys/stat.h>

#include "model/state.h"

enum end { END_OTHER, END_CONNECTED, END_ACCEPTED };

static enum end end_of(const struct file *socket)
{
	enum sys_call_id by = socket ? socket->pub.made_by : CALL_unknown;

	return by == CALL_socket ? END_CONNECTED : by == CALL_accept || by == CALL_accept4 ? END_ACCEPTED : END_OTHER;
}

/* Whoever gets it, we may not see it. */
static void let_out(struct model *model, struct message *message)
{
	for (uint32_t i = 0; i < message->count && i < MODEL_RIGHTS_MAX; i++) {
		if (!message->files[i])
			continue;
		file_outside(message->files[i]);
		file_unref(model, message->files[i]);
	}
	message->count = 0;
}

static void forget(struct model *model, struct message *message)
{
	for (uint32_t i = 0; i < message->count && i < MODEL_RIGHTS_MAX; i++)
		file_unref(model, message->files[i]);
	message->count = 0;
}

static void unqueue(struct messages *messages, uint32_t at)
{
	memmove(&messages->at[at], &messages->at[at + 1], (--messages->used - at) * sizeof(messages->at[0]));
}

static struct message *first_from(struct messages *messages, uint64_t from)
{
	for (uint32_t i = 0; i < messages->used; i++) {
		if (messages->at[i].from == from)
			return &messages->at[i];
	}
	return NULL;
}

/* Both directions: which end lost count is not worth keeping. */
void rights_lost(struct model *model, struct file *socket)
{
	struct messages *messages = &model->messages;
	uint64_t peer_id = socket->peer_id;

	if (!peer_id)
		return;
	for (uint32_t i = 0; i < messages->used;) {
		if (messages->at[i].from != peer_id && messages->at[i].from != socket->pub.id) {
			i++;
			continue;
		}
		let_out(model, &messages->at[i]);
		unqueue(messages, i);
	}
	socket->peer_id = 0;
	if (socket->peer)
		socket->peer->peer_id = 0;
}

void rights_plain(struct model *model, struct file *socket, const struct event_call *call)
{
	uint64_t end = call_end(call);

	if (first_from(&model->messages, socket->peer_id)) {
		rights_lost(model, socket);
		return;
	}
	if (end > socket->plain_ns)
		socket->plain_ns = end;
}

static void collect(struct task *task, const struct event_call *call, const struct event_item *item,
		    struct message *message)
{
	const char *data = event_item_data(item);

	message->count = item->bytes / 4;
	for (uint32_t i = 0; i < message->count && i < MODEL_RIGHTS_MAX; i++) {
		struct file *file;
		int32_t fd;

		memcpy(&fd, data + i * 4, 4);
		file = table_lookup(task->table, fd, call->head.time_ns);
		message->files[i] = file;
		if (!file)
			continue;
		file->refs++;
		file->pub.offset_shared = true;
	}
}

static void send_to_peer(struct model *model, struct file *socket, const struct event_call *call,
			 struct message *message)
{
	struct messages *messages = &model->messages;
	struct message *early = first_from(messages, socket->pub.id);

	/* A receipt that cannot be ordered against this, or somebody whom we do not see. */
	if (!socket->peer || socket->outside || socket->peer->outside || call->head.time_ns < socket->peer->plain_ns ||
	    call->head.time_ns < socket->sent_ns) {
		rights_lost(model, socket);
		let_out(model, message);
	} else if (early && early->early) {
		unqueue(messages, (uint32_t)(early - messages->at));
		let_out(model, message);
	} else if (messages->used == MODEL_MESSAGES_MAX) {
		rights_lost(model, socket);
		let_out(model, message);
	} else {
		messages->at[messages->used++] = *message;
	}
}

static void lose_loose(struct model *model)
{
	struct messages *messages = &model->messages;

	messages->loose_lost = true;
	if (messages->loose_used)
		let_out(model, &messages->loose);
	messages->loose_used = false;
}

static void send_loose(struct model *model, const struct event_call *call, struct message *message)
{
	struct messages *messages = &model->messages;

	if (messages->loose_lost || messages->loose_used || call->head.time_ns < messages->loose_early_ns) {
		lose_loose(model);
		let_out(model, message);
		return;
	}
	messages->loose = *message;
	messages->loose_used = true;
}

static void send_one(struct model *model, struct task *task, const struct event_call *call, struct file *socket,
		     const struct event_item *item, bool whole)
{
	struct message message = { .from = socket ? socket->pub.id : 0, .end = (uint8_t)end_of(socket) };
	bool pair = socket && socket->pub.made_by == CALL_socketpair;

	collect(task, call, item, &message);
	if (pair && socket->peer_id && whole) {
		send_to_peer(model, socket, call, &message);
	} else if (pair) {
		rights_lost(model, socket);
		let_out(model, &message);
	} else if (whole) {
		send_loose(model, call, &message);
	} else {
		lose_loose(model);
		let_out(model, &message);
	}
}

void rights_sent(struct model *model, struct task *task, const struct event_call *call, const struct model_view *view)
{
	struct file *socket = (struct file *)(uintptr_t)view->file;
	bool returned = !(call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED));
	bool all = returned && (view->id != CALL_sendmmsg || (uint64_t)call->ret == (uint32_t)call->args[2]);
	const struct event_item *item = NULL;
	bool any = false;

	while ((item = event_item_next(&call->head, item))) {
		bool whole = all && !(item->flags & (EVENT_ITEM_UNREAD | EVENT_ITEM_TRUNCATED));

		if (item->type != SYS_ITEM_RIGHTS || (whole && item->bytes < 4))
			continue;
		send_one(model, task, call, socket, item, whole);
		any = true;
	}
	if (any && socket && call_end(call) > socket->sent_ns)
		socket->sent_ns = call_end(call);
}

static const struct message *receive_from_peer(struct model *model, struct file *socket, const struct event_call *call,
					       uint32_t count, bool peek)
{
	struct messages *messages = &model->messages;
	struct message *message = first_from(messages, socket->peer_id);

	if (socket->outside || call->head.time_ns < socket->moved_ns) {
		rights_lost(model, socket);
		return NULL;
	}
	if (message && !message->early) {
		if (message->count == count)
			return message;
		let_out(model, message);
		if (!peek)
			unqueue(messages, (uint32_t)(message - messages->at));
		return NULL;
	}
	if (peek)
		return NULL;
	/* The sender's record is still to come. */
	if (messages->used == MODEL_MESSAGES_MAX)
		rights_lost(model, socket);
	else
		messages->at[messages->used++] = (struct message){ .from = socket->peer_id, .early = true };
	return NULL;
}

const struct message *rights_received(struct model *model, struct file *socket, const struct event_call *call,
				      uint32_t count, bool peek)
{
	struct messages *messages = &model->messages;
	enum end end = end_of(socket);

	if (socket && socket->pub.made_by == CALL_socketpair)
		return socket->peer_id ? receive_from_peer(model, socket, call, count, peek) : NULL;
	if (messages->loose_used && messages->loose.count == count && messages->loose.end != END_OTHER &&
	    end != END_OTHER && messages->loose.end != end)
		return &messages->loose;
	if (call_end(call) > messages->loose_early_ns)
		messages->loose_early_ns = call_end(call);
	return NULL;
}

void rights_taken(struct model *model, const struct message *message)
{
	struct messages *messages = &model->messages;

	if (message == &messages->loose) {
		forget(model, &messages->loose);
		messages->loose_used = false;
		return;
	}
	forget(model, &messages->at[message - messages->at]);
	unqueue(messages, (uint32_t)(message - messages->at));
}

/* With the last descriptor of a socket goes what nobody has taken from it. */
void rights_bury(struct model *model, struct file *socket)
{
	struct messages *messages = &model->messages;

	if (socket->peer)
		socket->peer->peer = NULL;
	for (uint32_t i = 0; socket->peer_id && i < messages->used;) {
		if (messages->at[i].from != socket->peer_id) {
			i++;
			continue;
		}
		forget(model, &messages->at[i]);
		unqueue(messages, i);
	}
}

void rights_done(struct model *model)
{
	struct messages *messages = &model->messages;

	while (messages->used > 0)
		forget(model, &messages->at[--messages->used]);
	if (messages->loose_used)
		forget(model, &messages->loose);
	messages->loose_used = false;
}
