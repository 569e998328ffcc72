/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call: which process made it, on what objects, and what it changed.
 * This is the hot path: a call without path and without effect on
 * descriptors costs two look-ups and no memory.
 */
#include <fcntl.h>

#include <string.h>

#include "model/state.h"

#define UNRETURNED (EVENT_F_UNFINISHED | EVENT_F_KILLED)

void shapes_init(struct model *model)
{
	for (unsigned id = 0; id < CALL_COUNT; id++) {
		const struct sys_call *call = sys_call((enum sys_call_id)id);
		struct call_shape *shape = &model->shapes[id];
		int8_t dirfd = -1;

		*shape = (struct call_shape){ -1, -1, -1, -1, -1, -1 };
		for (int8_t i = 0; i < call->nargs; i++) {
			uint8_t kind = call->args[i].kind;

			if (kind == KIND_dirfd) {
				dirfd = i;
			} else if (kind == KIND_path || kind == KIND_path_enter) {
				/* mount's first argument is often no file at all. */
				if (id == CALL_mount && i == 0)
					continue;
				if (shape->path < 0) {
					shape->path = i;
					shape->dirfd = dirfd;
				} else if (shape->path2 < 0) {
					shape->path2 = i;
					shape->dirfd2 = dirfd;
				}
				dirfd = -1;
			} else if (kind == KIND_fd || kind == KIND_pidfd) {
				if (shape->fd < 0)
					shape->fd = i;
				else if (shape->fd2 < 0)
					shape->fd2 = i;
			}
		}
	}
	effects_fd(model->shapes);
	effects_task(model->shapes);
	effects_memory(model->shapes);
	effects_sigmask(model->shapes);
	positions_init(model);
	changes_init(model);
	sleeps_init(model);
}

/* "/proc/self/fd/4/f1" and "/dev/fd/4/f1" name a file of a folder that the
 * task has open: how GNU tar and others ask what has no *at call. */
static bool through_fd(const struct task *task, uint64_t enter_ns, const struct event_item *item, struct resolved *out)
{
	static const struct {
		const char *prefix;
		uint32_t components; /* the number included */
	} forms[] = { { "/proc/self/fd/", 4 }, { "/proc/thread-self/fd/", 4 }, { "/dev/fd/", 3 } };
	const char *text = event_item_data(item);
	const char *end;

	if (item->bytes < 8 || text[0] != '/' || (text[1] != 'p' && text[1] != 'd') ||
	    (task->dirs && task->dirs->root && *task->dirs->root))
		return false;
	end = text + strnlen(text, item->bytes);
	if (end - text < 8)
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t bytes = strlen(forms[i].prefix);
		const char *rest = text + bytes;
		const struct file *dir;
		int32_t fd = 0;

		if ((size_t)(end - text) <= bytes || memcmp(text, forms[i].prefix, bytes) != 0)
			continue;
		while (rest < end && *rest >= '0' && *rest <= '9' && fd < 100000000)
			fd = fd * 10 + (*rest++ - '0');
		if (rest == text + bytes || rest + 1 >= end || *rest != '/')
			return false;
		dir = table_lookup(task->table, fd, enter_ns);
		if (!dir || !dir->pub.path || *dir->pub.path != '/')
			return false;
		rest++;
		path_resolve(out, task->dirs, dir->pub.path, dir->physical, dir->solid, rest, (size_t)(end - rest),
			     item->flags & EVENT_ITEM_TRUNCATED);
		path_set_passed(out, text, (size_t)(end - text));
		out->pub.components += forms[i].components;
		return true;
	}
	return false;
}

/* NULL when the call means the descriptor: then *ret_file is behind it. */
static const struct model_path *resolve(struct model *model, const struct task *task, const struct event_call *call,
					unsigned which, int8_t path_arg, int8_t dir_arg, uint64_t enter_ns,
					const struct model_file **ret_file)
{
	struct resolved *out = &model->paths[which];
	const struct event_item *item = event_item_arg(&call->head, SYS_ITEM_PATH, (unsigned)path_arg);
	const char *text = item ? event_item_data(item) : NULL;
	struct file *dir = NULL;
	int32_t dirfd = dir_arg >= 0 ? (int32_t)call->args[dir_arg] : AT_FDCWD;

	if (dirfd != AT_FDCWD)
		dir = table_lookup(task->table, dirfd, enter_ns);
	if (!item || item->bytes == 0 || *text == '\0') {
		if (dir && dir_arg >= 0 && (item || call->args[path_arg] == 0))
			*ret_file = file_view(model, dir);
		return NULL;
	}
	if (through_fd(task, enter_ns, item, out))
		return &out->pub;
	if (dirfd != AT_FDCWD)
		path_resolve(out, task->dirs, dir ? dir->pub.path : NULL, dir ? dir->physical : 0,
			     dir ? dir->solid : UINT32_MAX, text, item->bytes, item->flags & EVENT_ITEM_TRUNCATED);
	else
		path_resolve(out, task->dirs, task->dirs ? task->dirs->cwd : NULL,
			     task->dirs ? task->dirs->cwd_physical : 0, UINT32_MAX, text, item->bytes,
			     item->flags & EVENT_ITEM_TRUNCATED);
	return &out->pub;
}

/* The model cannot read calls of a foreign table, and they may have closed or
 * opened anything. */
static void go_blind(struct model *model, struct task *task)
{
	if (task->table) {
		table_untold(task->table);
		table_outside(task->table, true);
		if (task->table->live > 0)
			table_forget(model, task->table);
	}
	sigmask_forget(task);
	if (task->dirs)
		(void)dirs_set_cwd(task->dirs, NULL, 0, 0);
}

int call_feed(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	enum sys_call_id id = event_call_id(call);
	const struct call_shape *shape = &model->shapes[id];
	uint64_t enter_ns = call->head.time_ns;

	view->call = call;
	view->id = id;
	view->process = &task->proc->image->pub;
	view->slept = task->slept > task->proc->slept ? task->slept : task->proc->slept;
	/* rt_sigreturn is the only call whose result may be below 0 without an error. */
	view->err = call->ret < 0 ? event_call_errno(call) : 0;
	if (!(call->head.flags & EVENT_F_MARK))
		view->process->calls++;
	model->changes.now++;
	if (view->process->starting)
		startup_feed(model, call, view);
	if (call->head.flags & (EVENT_F_NO_ENTER | EVENT_F_BEFORE_ATTACH))
		enter_ns = call_end(call);
	if (id == CALL_unknown) {
		if (call->arch == SYS_ARCH_I386 || call->arch == SYS_ARCH_X32 || call->arch == SYS_ARCH_ARM)
			go_blind(model, task);
		model->changes.all = model->changes.now;
		return 0;
	}
	if (shape->fd >= 0) {
		struct file *file = table_lookup(task->table, (int32_t)call->args[shape->fd], enter_ns);

		view->file = file ? file_view(model, file) : NULL;
		if (shape->fd2 >= 0) {
			file = table_lookup(task->table, (int32_t)call->args[shape->fd2], enter_ns);
			view->file2 = file ? file_view(model, file) : NULL;
		}
	}
	if (shape->path >= 0) {
		view->path = resolve(model, task, call, 0, shape->path, shape->dirfd, enter_ns, &view->file);
		if (shape->path2 >= 0)
			view->path2 =
				resolve(model, task, call, 1, shape->path2, shape->dirfd2, enter_ns, &view->file2);
	}
	view->phase = startup_phase(model, call, view);
	if (shape->moves)
		positions_feed(model, task, call, view, shape->moves);
	if (shape->sleeps && !(call->head.flags & UNRETURNED))
		sleeps_feed(model, task, view, shape->sleeps);
	/* What did not return may have been done all the same. */
	if (shape->changes && (call->ret >= 0 || (call->head.flags & UNRETURNED)))
		changes_feed(model, call, view, shape->changes);
	if (shape->effect && !(call->head.flags & UNRETURNED) && (call->ret >= 0 || shape->on_error))
		return shape->effect(model, task, call, view);
	return 0;
}

const struct model_file *model_fd(struct model *model, const struct model_view *view, int32_t fd)
{
	const struct task *task = model->last;
	struct file *file;

	if (!view->call || !task || task->tid != view->call->head.tid)
		return NULL;
	file = table_lookup(task->table, fd, view->call->head.time_ns);
	return file ? file_view(model, file) : NULL;
}
