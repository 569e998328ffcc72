/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pipes that carry tokens: a process that has both ends wakes its own threads
 * or counts jobs with them, and one small piece is one event.  At its end make closes the end
 * that it writes to, and takes them all out.
 */
#include <sys/stat.h>

#include "base/map.h"
#include "rules/stream.h"

#define PIPES_MAX 4096 /* ends, and named pipes, that are followed */
#define TOKEN_MOST 8 /* bytes: a number, or an address for another thread */

struct pipe_end {
	uint64_t hash; /* first: of the instance, or of a path */
	uint64_t process_id; /* who made it, 0: one with a name */
	uint64_t other; /* instance of the other end */
	bool both; /* its maker has the other end too */
	bool token; /* and wrote a token to itself */
};

int rule_pipes_init(struct rule_recent *pipes)
{
	return rule_recent_init(pipes, sizeof(struct pipe_end), PIPES_MAX);
}

static void put(struct rule_recent *pipes, uint64_t id, const struct model_view *view, uint64_t other)
{
	struct pipe_end *end = rule_recent_put(pipes, id, NULL);

	end->process_id = view->process->id;
	end->other = other;
	end->both = true;
}

static uint64_t path_key(uint64_t path_hash)
{
	return map_mix(path_hash, S_IFIFO);
}

void rule_pipes_follow(struct rule_recent *pipes, const struct model_view *view)
{
	struct pipe_end *end, *other;
	uint64_t mode;

	switch ((int)view->id) {
	case CALL_pipe:
	case CALL_pipe2:
		if (!view->made || !view->made2)
			return;
		put(pipes, view->made->id, view, view->made2->id);
		put(pipes, view->made2->id, view, view->made->id);
		return;
	case CALL_mknod:
	case CALL_mknodat:
		mode = view->call->args[view->id == CALL_mknod ? 1 : 2];
		if (!view->err && view->path && (mode & S_IFMT) == S_IFIFO)
			(void)rule_recent_put(pipes, path_key(view->path->hash), NULL);
		return;
	case CALL_write:
		end = view->file ? rule_recent_get(pipes, view->file->id) : NULL;
		other = end && end->process_id == view->process->id && end->both ? rule_recent_get(pipes, end->other)
										 : NULL;
		if (other && view->call->ret > 0 && view->call->ret <= TOKEN_MOST)
			other->token = true;
		return;
	case CALL_close:
		end = view->file ? rule_recent_get(pipes, view->file->id) : NULL;
		other = end && end->process_id == view->process->id ? rule_recent_get(pipes, end->other) : NULL;
		if (other)
			other->both = false;
		return;
	default:
		return;
	}
}

bool rule_pipes_named(const struct rule_recent *pipes, const struct model_file *file)
{
	return file->path && rule_recent_get(pipes, path_key(file->path_hash));
}

bool rule_pipes_token(const struct rule_recent *pipes, const struct model_view *view)
{
	const struct pipe_end *end;

	if (view->call->ret > TOKEN_MOST)
		return false;
	if (rule_pipes_named(pipes, view->file))
		return true;
	end = rule_recent_get(pipes, view->file->id);
	return end && end->process_id == view->process->id && (end->both || end->token);
}
