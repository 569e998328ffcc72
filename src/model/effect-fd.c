/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls do to descriptors: all the ways to make, copy and close them.
 * Every effect runs after the call's own objects were looked up.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/state.h"

#define CLOEXEC_ALWAYS UINT32_MAX
/* Of close_range, seccomp, landlock and sockets; not in every libc's headers. */
#define RANGE_UNSHARE 2u
#define RANGE_CLOEXEC 4u
#define SECCOMP_FILTER 1u
#define SECCOMP_LISTENER 8u
#define MESSAGE_CTRUNC 8u
#define MESSAGE_CLOEXEC 0x40000000u
#define PIDFD_FLAG UINT64_C(0x1000)
#define DUPFD_CLOEXEC 1030u

/* Calls that return one new descriptor. */
struct maker {
	uint16_t id;
	int8_t flags; /* argument with the flags, -1 none */
	uint32_t cloexec; /* the flag that means close on exec */
	uint32_t mode; /* what fstat would say, 0 unknown */
	const char *path; /* as /proc shows it */
};

static const struct maker makers[] = {
	{ CALL_socket, 1, O_CLOEXEC, S_IFSOCK | 0777, NULL },
	{ CALL_accept, -1, 0, S_IFSOCK | 0777, NULL },
	{ CALL_accept4, 3, O_CLOEXEC, S_IFSOCK | 0777, NULL },
	{ CALL_eventfd, -1, 0, 0, "anon_inode:[eventfd]" },
	{ CALL_eventfd2, 1, O_CLOEXEC, 0, "anon_inode:[eventfd]" },
	{ CALL_epoll_create, -1, 0, 0, "anon_inode:[eventpoll]" },
	{ CALL_epoll_create1, 0, O_CLOEXEC, 0, "anon_inode:[eventpoll]" },
	{ CALL_timerfd_create, 1, O_CLOEXEC, 0, "anon_inode:[timerfd]" },
	{ CALL_signalfd, -1, 0, 0, "anon_inode:[signalfd]" },
	{ CALL_signalfd4, 3, O_CLOEXEC, 0, "anon_inode:[signalfd]" },
	{ CALL_inotify_init, -1, 0, 0, "anon_inode:inotify" },
	{ CALL_inotify_init1, 0, O_CLOEXEC, 0, "anon_inode:inotify" },
	{ CALL_fanotify_init, 0, 1, 0, "anon_inode:[fanotify]" },
	{ CALL_memfd_create, 1, 1, S_IFREG | 0777, NULL },
	{ CALL_memfd_secret, 0, O_CLOEXEC, S_IFREG | 0777, NULL },
	{ CALL_pidfd_open, -1, CLOEXEC_ALWAYS, 0, "anon_inode:[pidfd]" },
	{ CALL_pidfd_getfd, -1, CLOEXEC_ALWAYS, 0, NULL },
	{ CALL_userfaultfd, 0, O_CLOEXEC, 0, "anon_inode:[userfaultfd]" },
	{ CALL_perf_event_open, 4, 8, 0, "anon_inode:[perf_event]" },
	{ CALL_io_uring_setup, -1, CLOEXEC_ALWAYS, 0, "anon_inode:[io_uring]" },
	{ CALL_fsopen, 1, 1, 0, "anon_inode:[fscontext]" },
	{ CALL_fspick, 2, 1, 0, "anon_inode:[fscontext]" },
	{ CALL_fsmount, 1, 1, S_IFDIR, NULL },
	{ CALL_open_tree, 2, O_CLOEXEC, 0, NULL },
	{ CALL_open_tree_attr, 2, O_CLOEXEC, 0, NULL },
	{ CALL_open_by_handle_at, 2, O_CLOEXEC, 0, NULL },
	{ CALL_landlock_create_ruleset, -1, CLOEXEC_ALWAYS, 0, "anon_inode:[landlock-ruleset]" },
	{ CALL_seccomp, -1, CLOEXEC_ALWAYS, 0, "anon_inode:seccomp notify" },
	{ CALL_bpf, -1, CLOEXEC_ALWAYS, 0, NULL },
	{ CALL_mq_open, -1, CLOEXEC_ALWAYS, S_IFREG, NULL },
};

static uint64_t entered(const struct event_call *call)
{
	return call->head.flags & (EVENT_F_NO_ENTER | EVENT_F_BEFORE_ATTACH) ? call_end(call) : call->head.time_ns;
}

/* A new instance at the number; the number alone changes hands when there is
 * no room for the instance. */
static struct file *make(struct model *model, struct task *task, const struct event_call *call, int64_t fd,
			 uint32_t mode, uint32_t flags, bool cloexec, int *ret_error)
{
	struct file *file;

	if (!task->table || fd < 0 || fd > INT32_MAX)
		return NULL;
	file = file_new(model, event_call_id(call), call->head.time_ns);
	if (!file) {
		*ret_error = model->stats.files >= model->limits.files ? 0 : -ENOMEM;
	} else {
		file_set_mode(file, mode);
		file->pub.open_flags = flags;
	}
	if (table_install(model, task->table, (uint32_t)fd, file, call_end(call), cloexec) < 0) {
		*ret_error = -ENOMEM;
		return NULL;
	}
	return file;
}

static int name(struct model *model, struct file *file, const char *path, size_t bytes, uint32_t physical)
{
	return file_set_path(file, path, bytes, physical) < 0 ? model_no_memory(model) : 0;
}

static int effect_open(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct item_open_how *how = NULL;
	uint64_t flags = 0;
	struct file *file;
	int error = 0;

	if (view->id == CALL_openat2) {
		how = EVENT_ITEM_AS(struct item_open_how, event_item(&call->head, SYS_ITEM_OPEN_HOW));
		flags = how ? how->flags : 0;
	} else {
		flags = view->id == CALL_open	 ? call->args[1]
			: view->id == CALL_creat ? O_CREAT | O_WRONLY | O_TRUNC
						 : call->args[2];
	}
	file = make(model, task, call, call->ret, 0, (uint32_t)flags, flags & O_CLOEXEC, &error);
	if (!file)
		return error;
	view->made = &file->pub;
	file->flags_known = view->id != CALL_openat2 || how;
	/* O_APPEND goes to the end with the first write, not before. */
	position_start(model, file, flags & O_PATH ? -1 : 0);
	/* The last part is no link: of those O_PATH opens the link itself. */
	if ((flags & O_NOFOLLOW) && (!(flags & O_PATH) || (flags & O_DIRECTORY)))
		model->paths[0].solid = model->paths[0].before;
	/* A temporary file has no name of its own. */
	if (view->path && view->path->absolute && (flags & O_TMPFILE) != O_TMPFILE)
		error = file_take_path(file, &model->paths[0]) < 0 ? model_no_memory(model) : 0;
	return error;
}

static bool returns_fd(const struct event_call *call, enum sys_call_id id)
{
	/* MAP_CREATE, PROG_LOAD, OBJ_GET, PROG/MAP_GET_FD_BY_ID, RAW_TRACEPOINT_OPEN, BTF_LOAD,
	 * BTF_GET_FD_BY_ID, LINK_CREATE, LINK_GET_FD_BY_ID, ENABLE_STATS, ITER_CREATE, TOKEN_CREATE */
	static const uint64_t bpf = 1u << 0 | 1u << 5 | 1u << 7 | 1u << 13 | 1u << 14 | 1u << 17 | 1u << 18 | 1u << 19 |
				    1u << 28 | 1u << 30 | UINT64_C(1) << 32 | UINT64_C(1) << 33 | UINT64_C(1) << 36;

	if (id == CALL_bpf)
		return call->args[0] < 64 && (bpf >> call->args[0] & 1);
	if (id == CALL_seccomp)
		return call->args[0] == SECCOMP_FILTER && (call->args[1] & SECCOMP_LISTENER);
	if (id == CALL_landlock_create_ruleset)
		return call->args[2] == 0;
	/* With a descriptor it changes the one that is there. */
	if (id == CALL_signalfd || id == CALL_signalfd4)
		return (int32_t)call->args[0] == -1;
	return true;
}

static int effect_make(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct maker *maker = &makers[model->shapes[view->id].row];
	bool cloexec =
		maker->cloexec == CLOEXEC_ALWAYS || (maker->flags >= 0 && (call->args[maker->flags] & maker->cloexec));
	struct file *file;
	int error = 0;

	if (!returns_fd(call, view->id))
		return 0;
	file = make(model, task, call, call->ret, maker->mode, 0, cloexec, &error);
	if (view->id == CALL_io_uring_setup && task->table)
		table_untold(task->table);
	if (view->id == CALL_pidfd_getfd)
		files_taken(model);
	if (!file)
		return error;
	view->made = &file->pub;
	if (view->id == CALL_open_by_handle_at)
		file->pub.open_flags = (uint32_t)call->args[2];
	file->flags_known = view->id == CALL_open_by_handle_at || view->id == CALL_memfd_create;
	if (view->id != CALL_pidfd_getfd)
		position_start(model, file, file->flags_known && !(file->pub.open_flags & O_PATH) ? 0 : -1);
	if (maker->path)
		return name(model, file, maker->path, strlen(maker->path), 0);
	if (view->path && view->path->absolute)
		return file_take_path(file, &model->paths[0]) < 0 ? model_no_memory(model) : 0;
	return error;
}

static int effect_pair(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct event_item *item = event_item(&call->head, SYS_ITEM_FDPAIR);
	bool pipes = view->id != CALL_socketpair;
	bool cloexec = view->id != CALL_pipe && (call->args[1] & O_CLOEXEC);
	uint32_t mode = pipes ? S_IFIFO | 0600 : S_IFSOCK | 0777;
	struct file *file, *other;
	int32_t fds[2];
	int error = 0;

	if (!item || item->bytes < sizeof(fds))
		return 0;
	memcpy(fds, event_item_data(item), sizeof(fds));
	file = make(model, task, call, fds[0], mode, pipes ? O_RDONLY : O_RDWR, cloexec, &error);
	view->made = file ? &file->pub : NULL;
	other = make(model, task, call, fds[1], mode, pipes ? O_WRONLY : O_RDWR, cloexec, &error);
	view->made2 = other ? &other->pub : NULL;
	if (file && other && !pipes) {
		file->peer = other;
		file->peer_id = other->pub.id;
		other->peer = file;
		other->peer_id = file->pub.id;
	}
	return error;
}

/* The descriptors of one message. */
static int receive(struct model *model, struct task *task, const struct event_call *call, struct model_view *view,
		   const struct event_item *item)
{
	uint64_t flags = call->args[view->id == CALL_recvmmsg ? 3 : 2];
	bool cloexec = flags & MESSAGE_CLOEXEC, peek = flags & MESSAGE_PEEK;
	struct file *socket = (struct file *)(uintptr_t)view->file;
	const struct message *message = rights_received(model, socket, call, item->bytes / 4, peek);
	const char *data = event_item_data(item);
	int error = 0;

	for (uint32_t i = 0; i < item->bytes / 4; i++) {
		struct file *file = message && i < MODEL_RIGHTS_MAX ? message->files[i] : NULL;
		int32_t fd;

		memcpy(&fd, data + i * 4, 4);
		if (file && task->table && fd >= 0) {
			file->refs++;
			file->pub.offset_shared = true;
			if (table_install(model, task->table, (uint32_t)fd, file, call_end(call), cloexec) < 0)
				error = -ENOMEM;
			continue;
		}
		file = make(model, task, call, fd, 0, 0, cloexec, &error);
		if (!file)
			continue;
		file_outside(file);
		if (!view->made)
			view->made = &file->pub;
	}
	if (message && !peek)
		rights_taken(model, message);
	return error;
}

static int effect_receive(struct model *model, struct task *task, const struct event_call *call,
			  struct model_view *view)
{
	const struct item_msg *msg = EVENT_ITEM_AS(struct item_msg, event_item(&call->head, SYS_ITEM_MSG));
	bool peek = call->args[view->id == CALL_recvmmsg ? 3 : 2] & MESSAGE_PEEK;
	struct file *socket = (struct file *)(uintptr_t)view->file;
	const struct event_item *item = NULL;
	bool any = false;
	int error = 0;

	while ((item = event_item_next(&call->head, item))) {
		int r;

		if (item->type != SYS_ITEM_RIGHTS)
			continue;
		any = true;
		r = receive(model, task, call, view, item);
		error = r < 0 ? r : error;
	}
	if (!socket || !socket->peer_id || peek || call->ret <= 0)
		return error;
	if (any && call_end(call) > socket->moved_ns)
		socket->moved_ns = call_end(call);
	/* Without the flags nobody knows whether descriptors were cut off. */
	if (!any && (view->id == CALL_recvmmsg || !msg || (msg->flags & MESSAGE_CTRUNC)))
		rights_plain(model, socket, call);
	return error;
}

static int effect_send(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	rights_sent(model, task, call, view);
	return 0;
}

/* CLONE_PIDFD */
static int effect_clone(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct event_item *item = event_item(&call->head, SYS_ITEM_PIDFD);
	const struct item_clone *clone3 = EVENT_ITEM_AS(struct item_clone, event_item(&call->head, SYS_ITEM_CLONE));
	uint64_t flags = view->id == CALL_clone ? call->args[0] : clone3 ? clone3->flags : 0;
	static const char path[] = "anon_inode:[pidfd]";
	struct file *file;
	int error = 0;
	int32_t fd;

	if (!item || item->bytes < sizeof(fd) || !(flags & PIDFD_FLAG) || call->ret == 0)
		return 0;
	memcpy(&fd, event_item_data(item), sizeof(fd));
	file = make(model, task, call, fd, 0, 0, true, &error);
	if (!file)
		return error;
	view->made = &file->pub;
	return name(model, file, path, sizeof(path) - 1, 0);
}

static int copy_fd(struct model *model, struct task *task, const struct event_call *call, int32_t from, int64_t to,
		   bool cloexec)
{
	struct file *file = table_lookup(task->table, from, entered(call));

	if (!task->table || to < 0 || to > INT32_MAX || to == from)
		return 0;
	if (file)
		file->refs++;
	return table_install(model, task->table, (uint32_t)to, file, call_end(call), cloexec);
}

static int effect_dup(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	bool cloexec = view->id == CALL_dup3 && (call->args[2] & O_CLOEXEC);

	return copy_fd(model, task, call, (int32_t)call->args[0], call->ret, cloexec);
}

static int effect_fcntl(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const uint32_t settable = O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME;
	int32_t fd = (int32_t)call->args[0];
	uint32_t command = (uint32_t)call->args[1];
	struct file *file = table_lookup(task->table, fd, entered(call));
	struct slot *slot;

	if (call->ret < 0) {
		if (view->err == EBADF && file && command == F_GETFD)
			table_close(model, task->table, (uint32_t)fd, entered(call), call_end(call));
		return 0;
	}
	if (command == F_DUPFD || command == DUPFD_CLOEXEC)
		return copy_fd(model, task, call, fd, call->ret, command == DUPFD_CLOEXEC);
	if (!file)
		return 0;
	if (command == F_SETFD && (slot = table_slot(task->table, (uint32_t)fd)) && slot->file == file)
		slot->cloexec = call->args[2] & FD_CLOEXEC;
	else if (command == F_SETFL)
		file->pub.open_flags = (file->pub.open_flags & ~settable) | ((uint32_t)call->args[2] & settable);
	else if (command == F_GETFL)
		file->pub.open_flags = (uint32_t)call->ret | (file->pub.open_flags & O_CLOEXEC);
	if (command == F_GETFL)
		file->flags_known = true;
	return 0;
}

static int effect_ioctl(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const uint32_t set = 0x5451, clear = 0x5450; /* FIOCLEX, FIONCLEX */
	uint32_t request = (uint32_t)call->args[1];
	struct slot *slot;

	if ((request != set && request != clear) || !view->file)
		return 0;
	slot = table_slot(task->table, (uint32_t)call->args[0]);
	if (slot && slot->file && &slot->file->pub == view->file)
		slot->cloexec = request == set;
	return 0;
}

static int effect_close(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	/* Linux closes whatever close returns; these come from a filter that refused it. */
	if (!view->file || view->err == EPERM || view->err == EACCES || view->err == ENOSYS)
		return 0;
	table_close(model, task->table, (uint32_t)call->args[0], entered(call), call_end(call));
	return 0;
}

/* A table of its own: 0, or -ENOMEM and nothing known any more. */
int task_unshare_files(struct model *model, struct task *task)
{
	struct table *own;

	if (!task->table || task->table->refs == 1)
		return 0;
	own = table_copy(model, task->table, false);
	if (!own)
		table_outside(task->table, false);
	table_unref(model, task->table);
	task->table = own;
	return own ? 0 : model_no_memory(model);
}

static int effect_close_range(struct model *model, struct task *task, const struct event_call *call,
			      struct model_view *view)
{
	uint64_t flags = call->args[2];
	int r = flags & RANGE_UNSHARE ? task_unshare_files(model, task) : 0;

	if (task->table)
		table_close_range(model, task->table, (uint32_t)call->args[0], (uint32_t)call->args[1],
				  flags & RANGE_CLOEXEC, entered(call), call_end(call));
	return r;
}

static int effect_stat(struct model *model, struct task *task, const struct event_call *call, struct model_view *view)
{
	const struct item_stat *stat = EVENT_ITEM_AS(struct item_stat, event_item(&call->head, SYS_ITEM_STAT));
	/* The view is for reading, the instance behind it is ours. */
	struct model_file *file = (struct model_file *)(uintptr_t)view->file;

	if (!stat || !file)
		return 0;
	if (stat->mask & STATX_INO) {
		file->dev = stat->dev;
		file->ino = stat->ino;
	}
	if ((stat->mask & (STATX_TYPE | STATX_MODE)) == (STATX_TYPE | STATX_MODE))
		file_set_mode((struct file *)(void *)file, stat->mode);
	return 0;
}

/* A descriptor that was open when we came, or told again at exec. */
int fd_feed(struct model *model, struct task *task, const struct event_fd *event)
{
	static const char ring[] = "anon_inode:[io_uring]";
	const struct slot *slot;
	struct file *file;
	bool cloexec = event->flags & O_CLOEXEC;
	size_t bytes;
	const char *path = event_text(&event->head, SYS_ITEM_PATH, 0, &bytes);
	int r = 0;

	if (event->fd < 0 || task == &model->stranger)
		return 0;
	if (!task->table)
		task->table = table_new();
	if (!task->table)
		return model_no_memory(model);
	slot = table_slot(task->table, (uint32_t)event->fd);
	file = slot ? slot->file : NULL;
	if (!file || (file->pub.ino && event->ino && (file->pub.ino != event->ino || file->pub.dev != event->dev))) {
		file = file_new(model, CALL_unknown, event->head.time_ns);
		if (file)
			file_outside(file);
		if (!file && model->stats.files < model->limits.files)
			r = -ENOMEM;
		/* Open for as long as anybody knows. */
		if (table_install(model, task->table, (uint32_t)event->fd, file, slot ? slot->ret_ns : 0, cloexec) < 0)
			return -ENOMEM;
		if (!file || !(slot = table_slot(task->table, (uint32_t)event->fd)) || slot->file != file)
			return r;
	}
	file->pub.open_flags = event->flags;
	file->flags_known = event->flags || event->offset >= 0;
	if (event->ino) {
		file->pub.dev = event->dev;
		file->pub.ino = event->ino;
	}
	if (event->mode)
		file_set_mode(file, event->mode);
	if (event->flags & O_PATH)
		file_untold(file);
	position_tell(model, file, event->offset, event->head.time_ns);
	if (path && bytes == sizeof(ring) - 1 && memcmp(path, ring, bytes) == 0)
		table_untold(task->table);
	if (path && bytes > 0)
		r = name(model, file, path, bytes, (uint32_t)bytes);
	return r;
}

void effects_fd(struct call_shape *shapes)
{
	static const uint16_t opens[] = { CALL_open, CALL_openat, CALL_openat2, CALL_creat };
	static const uint16_t stats[] = { CALL_fstat, CALL_newfstatat, CALL_statx };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		shapes[makers[i].id].effect = effect_make;
		shapes[makers[i].id].row = (uint8_t)i;
	}
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++)
		shapes[opens[i]].effect = effect_open;
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++)
		shapes[stats[i]].effect = effect_stat;
	shapes[CALL_pipe].effect = shapes[CALL_pipe2].effect = shapes[CALL_socketpair].effect = effect_pair;
	shapes[CALL_sendmsg].effect = shapes[CALL_sendmmsg].effect = effect_send;
	shapes[CALL_recvmsg].effect = shapes[CALL_recvmmsg].effect = effect_receive;
	shapes[CALL_clone].effect = shapes[CALL_clone3].effect = effect_clone;
	shapes[CALL_dup].effect = shapes[CALL_dup2].effect = shapes[CALL_dup3].effect = effect_dup;
	shapes[CALL_fcntl].effect = effect_fcntl;
	shapes[CALL_fcntl].on_error = true;
	shapes[CALL_ioctl].effect = effect_ioctl;
	shapes[CALL_close].effect = effect_close;
	shapes[CALL_close].on_error = true;
	shapes[CALL_close_range].effect = effect_close_range;
}
