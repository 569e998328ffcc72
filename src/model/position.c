/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where files stand: the offset that read, write and lseek move, followed
 * through calls alone.  It belongs to the instance, so all its descriptors
 * share it.  Two calls on one instance at the same time leave it unknown, as
 * nobody can tell which came first; a later lseek tells it again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "model/state.h"

enum moves {
	MOVES_NOTHING,
	MOVES_READ, /* by the result */
	MOVES_WRITE,
	MOVES_READ_AT, /* only when the offset passed is -1 */
	MOVES_WRITE_AT,
	MOVES_SEEK, /* to the result */
	MOVES_ANYWHERE,
	MOVES_SENDFILE,
	MOVES_COPY,
	MOVES_NEXT_MESSAGE, /* of a socket, without its descriptors */
	MOVES_RIGHTS, /* effects of their own; here for calls that did not return */
};

static const struct {
	uint16_t call;
	uint8_t moves;
} moving[] = {
	{ CALL_read, MOVES_READ },
	{ CALL_readv, MOVES_READ },
	{ CALL_write, MOVES_WRITE },
	{ CALL_writev, MOVES_WRITE },
	{ CALL_preadv2, MOVES_READ_AT },
	{ CALL_pwritev2, MOVES_WRITE_AT },
	{ CALL_lseek, MOVES_SEEK },
	{ CALL_getdents, MOVES_ANYWHERE },
	{ CALL_getdents64, MOVES_ANYWHERE },
	{ CALL_sendfile, MOVES_SENDFILE },
	{ CALL_splice, MOVES_COPY },
	{ CALL_copy_file_range, MOVES_COPY },
	{ CALL_recvfrom, MOVES_NEXT_MESSAGE },
	{ CALL_recvmsg, MOVES_RIGHTS },
	{ CALL_recvmmsg, MOVES_RIGHTS },
	{ CALL_sendmsg, MOVES_RIGHTS },
	{ CALL_sendmmsg, MOVES_RIGHTS },
};

void positions_init(struct model *model)
{
	for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++)
		model->shapes[moving[i].call].moves = moving[i].moves;
}

void file_outside(struct file *file)
{
	file->outside = file->pub.offset_shared = true;
}

static void no_place(struct file *file)
{
	file->placeless = true;
	file->position = file->pub.offset = -1;
}

void file_set_mode(struct file *file, uint32_t mode)
{
	file->pub.mode = mode;
	/* Devices that have a position do not keep it by these rules. */
	if (mode && !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISBLK(mode))
		no_place(file);
}

void position_start(struct model *model, struct file *file, int64_t position)
{
	if (file->placeless)
		return;
	if (position < 0) {
		no_place(file);
		return;
	}
	file->position = file->pub.offset = position;
	file->lost = model->lost;
}

void position_tell(struct model *model, struct file *file, int64_t position, uint64_t now_ns)
{
	if (file->placeless || position < 0)
		return;
	file->position = position;
	file->lost = model->lost;
	if (now_ns > file->moved_ns)
		file->moved_ns = now_ns;
}

void file_untold(struct file *file)
{
	no_place(file);
}

void files_taken(struct model *model)
{
	struct task **task;
	size_t iter = 0;

	if (model->taken)
		return;
	model->taken = true;
	while ((task = map_next(&model->tasks, &iter, NULL))) {
		if ((*task)->table)
			table_outside((*task)->table, false);
	}
}

static struct file *file_of(const struct model_file *file)
{
	/* The view is for reading, the instance behind it is ours. */
	return (struct file *)(uintptr_t)file;
}

static void settle(struct model *model, struct file *file, const struct event_call *call, int64_t to)
{
	uint64_t end = call_end(call);

	if (call->head.time_ns < file->moved_ns || (call->head.flags & EVENT_F_NO_ENTER))
		to = file->pub.offset = -1;
	file->position = to;
	file->mover = call->head.tid;
	file->lost = model->lost;
	if (end > file->moved_ns)
		file->moved_ns = end;
}

/* Not by the image: a program that was started with the file is the only one that uses it. */
static void used_by(struct file *file, uint32_t pid)
{
	if (!file || file->placeless)
		return;
	file->pub.offset_used = file->pub.offset_used || (file->user && file->user != pid);
	file->user = pid;
}

static void advance(struct model *model, struct file *file, const struct event_call *call, bool writes)
{
	int64_t to = file ? file->pub.offset : -1;

	if (!file || file->placeless || call->ret == 0)
		return;
	if (to < 0 || (writes && (!file->flags_known || (file->pub.open_flags & O_APPEND))) ||
	    __builtin_add_overflow(to, call->ret, &to))
		to = -1;
	settle(model, file, call, to);
}

static void next_message(struct model *model, struct file *file, const struct event_call *call)
{
	if (file && file->peer_id && call->ret > 0)
		rights_plain(model, file, call);
}

static void unreturned(struct model *model, struct file *file, const struct event_call *call, uint32_t moves)
{
	if (!file)
		return;
	if (file->peer_id)
		rights_lost(model, file);
	file->position = -1;
	if (call_end(call) > file->moved_ns)
		file->moved_ns = call_end(call);
	if (!(call->head.flags & EVENT_F_KILLED) && moves != MOVES_RIGHTS)
		file_outside(file);
}

static void copied(struct model *model, const struct event_call *call, struct file *in, struct file *out, bool in_moves,
		   bool out_moves)
{
	if (in && in == out && in_moves && out_moves) {
		if (!in->placeless && call->ret > 0)
			settle(model, in, call, -1);
		return;
	}
	if (in_moves)
		advance(model, in, call, false);
	if (out_moves)
		advance(model, out, call, true);
}

void positions_feed(struct model *model, struct task *task, const struct event_call *call, struct model_view *view,
		    uint32_t moves)
{
	struct file *file = file_of(view->file);
	struct file *file2 = file_of(view->file2);

	if (call->head.flags & (EVENT_F_UNFINISHED | EVENT_F_KILLED)) {
		unreturned(model, file, call, moves);
		unreturned(model, file2, call, moves);
		/* It may have been sent. */
		if (view->id == CALL_sendmsg || view->id == CALL_sendmmsg)
			rights_sent(model, task, call, view);
		return;
	}
	if (call->ret < 0) {
		if (moves == MOVES_SEEK && view->err == ESPIPE && file)
			no_place(file);
		return;
	}
	if (moves <= MOVES_COPY) {
		used_by(file, task->proc->pid);
		used_by(file2, task->proc->pid);
	}
	switch ((enum moves)moves) {
	case MOVES_READ:
		if (file && file->placeless)
			next_message(model, file, call);
		else
			advance(model, file, call, false);
		break;
	case MOVES_WRITE:
		advance(model, file, call, true);
		break;
	case MOVES_READ_AT:
		if ((int64_t)call->args[3] != -1)
			break;
		next_message(model, file, call);
		advance(model, file, call, false);
		break;
	case MOVES_WRITE_AT:
		if ((int64_t)call->args[3] != -1)
			break;
		/* RWF_APPEND and RWF_NOAPPEND */
		if (file && !file->placeless && call->args[5])
			settle(model, file, call, -1);
		else
			advance(model, file, call, true);
		break;
	case MOVES_SEEK:
		if (file && !file->placeless)
			settle(model, file, call, call->ret);
		break;
	case MOVES_ANYWHERE:
		if (file && !file->placeless)
			settle(model, file, call, -1);
		break;
	case MOVES_SENDFILE:
		copied(model, call, file2, file, call->args[2] == 0, true);
		break;
	case MOVES_COPY:
		next_message(model, file, call);
		copied(model, call, file, file2, call->args[1] == 0, call->args[3] == 0);
		break;
	case MOVES_NEXT_MESSAGE:
		if (!(call->args[3] & MESSAGE_PEEK))
			next_message(model, file, call);
		break;
	case MOVES_NOTHING:
	case MOVES_RIGHTS:
		break;
	}
}
