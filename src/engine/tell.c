/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State records from /proc: what a task has when we come.  The only place
 * downstream of which nobody opens /proc.  What cannot be read is left out
 * and counted, never guessed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/tell.h"

#define FDS_MAX 4096 /* descriptors told of per process */

bool proc_usable(void)
{
	static int usable = -1;
	char self[32];

	if (usable < 0) {
		ssize_t n = readlink("/proc/self", self, sizeof self - 1);

		self[n > 0 ? n : 0] = '\0';
		usable = n > 0 && atoi(self) == (int)getpid();
	}
	return usable > 0;
}

void proc_path(char ret_path[static PROC_PATH_MAX], pid_t tid, const char *name)
{
	(void)snprintf(ret_path, PROC_PATH_MAX, proc_usable() ? "/proc/%d/%s" : "/proc/no-%d/%s", (int)tid, name);
}

int proc_open(pid_t tid, const char *name, int flags)
{
	char path[PROC_PATH_MAX];

	proc_path(path, tid, name);
	return open(path, flags | O_CLOEXEC);
}

const char *tell_text(struct teller *t, pid_t tid, const char *name, size_t most)
{
	char path[PROC_PATH_MAX];
	int r;

	buf_clear(t->files);
	proc_path(path, tid, name);
	r = buf_read_file(t->files, AT_FDCWD, path, most);
	if (r < 0 && r != -EFBIG)
		return NULL;
	return buf_text(t->files);
}

ssize_t proc_link(pid_t tid, const char *name, char *ret_text, size_t room)
{
	char path[PROC_PATH_MAX];
	ssize_t n;

	proc_path(path, tid, name);
	n = readlink(path, ret_text, room - 1);
	if (n < 0)
		return -errno;
	ret_text[n] = '\0';
	return n;
}

static void *begin(struct teller *t, enum event_type type, pid_t tid, pid_t pid)
{
	struct event_head *head = event_begin(t->record, type);

	if (!head) {
		(*t->errors)++;
		return NULL;
	}
	head->pid = (uint32_t)pid;
	head->tid = (uint32_t)tid;
	head->time_ns = clock_now_ns();
	return head;
}

static void add_link(struct teller *t, pid_t tid, const char *name, enum sys_item item)
{
	char text[4097];
	ssize_t n = proc_link(tid, name, text, sizeof text);

	if (n >= 0)
		(void)event_item_add(t->record, item, 0, n == sizeof text - 1 ? EVENT_ITEM_TRUNCATED : 0, text,
				     (size_t)n);
	else
		(*t->errors)++;
}

/* A field of /proc/PID/status: its value, or NULL. */
static const char *field(const char *text, const char *name)
{
	size_t bytes = strlen(name);

	while (text && *text) {
		if (strncmp(text, name, bytes) == 0 && text[bytes] == ':')
			return text + bytes + 1;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

/* Numbers of a field up to the end of its line; how many were there. */
static unsigned numbers(const char *value, int base, uint64_t *ret, unsigned most)
{
	unsigned count = 0;

	while (value && count < most) {
		char *end;

		while (*value == ' ' || *value == '\t')
			value++;
		if (*value == '\n' || *value == '\0')
			break;
		ret[count] = strtoull(value, &end, base);
		if (end == value)
			break;
		value = end;
		count++;
	}
	return count;
}

pid_t tell_tgid(struct teller *t, pid_t tid)
{
	uint64_t tgid = 0;

	return numbers(field(tell_text(t, tid, "status", 65536), "Tgid"), 10, &tgid, 1) == 1 ? (pid_t)tgid : 0;
}

void tell_ns_ids(struct teller *t, pid_t tid, uint32_t *ret_tid, uint32_t *ret_pid)
{
	const char *text = tell_text(t, tid, "status", 65536);
	uint64_t ids[32];
	unsigned count;

	count = numbers(field(text, "NSpid"), 10, ids, 32);
	*ret_tid = count > 0 ? (uint32_t)ids[count - 1] : 0;
	count = numbers(field(text, "NStgid"), 10, ids, 32);
	*ret_pid = count > 0 ? (uint32_t)ids[count - 1] : 0;
}

bool proc_pidns_differs(pid_t pid)
{
	char ours[64], theirs[64];

	return proc_link(getpid(), "ns/pid", ours, sizeof ours) > 0 &&
	       proc_link(pid, "ns/pid", theirs, sizeof theirs) > 0 && strcmp(ours, theirs) != 0;
}

uint64_t proc_run_ns(pid_t tid)
{
	char text[64];
	int fd = proc_open(tid, "schedstat", O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

void tell_task(struct teller *t, pid_t tid, pid_t pid, bool starting, bool attached)
{
	uint32_t ns_tid = 0, ns_pid = 0;
	uint64_t ppid = 0;
	struct event_task *record;
	const char *text;

	if (attached)
		tell_ns_ids(t, tid, &ns_tid, &ns_pid);
	(void)numbers(field(tell_text(t, tid, "status", 65536), "PPid"), 10, &ppid, 1);
	record = begin(t, EVENT_TASK, tid, pid);
	if (!record)
		return;
	record->ppid = (uint32_t)ppid;
	record->ns_tid = ns_tid;
	record->ns_pid = ns_pid;
	record->attached = attached;
	if (!starting && tid == pid) {
		add_link(t, tid, "exe", SYS_ITEM_EXE);
		text = tell_text(t, tid, "cmdline", EXEC_ARGV_MAX);
		if (text && t->files->bytes > 0)
			(void)event_item_add(t->record, SYS_ITEM_ARGV, 0, 0, text,
					     t->files->bytes > EXEC_ARGV_MAX ? EXEC_ARGV_MAX : t->files->bytes);
		text = tell_text(t, tid, "environ", EXEC_ENV_MAX);
		if (text)
			tell_env(t, text, t->files->bytes);
	}
	t->emit(t->data);
}

void tell_env(struct teller *t, const char *env, size_t bytes)
{
	struct buf found = BUF_INIT;
	const char *end = env + bytes;

	while (env < end) {
		const char *stop = memchr(env, '\0', (size_t)(end - env));
		size_t length = (size_t)((stop ? stop : end) - env);

		for (size_t i = 0; t->env_names && t->env_names[i]; i++) {
			size_t name = strlen(t->env_names[i]);

			if (length > name && env[name] == '=' && memcmp(env, t->env_names[i], name) == 0) {
				(void)buf_add(&found, env, length);
				(void)buf_putc(&found, '\0');
			}
		}
		env += length + 1;
	}
	/* An empty item says: looked, and none of them is set. */
	if (found.failed)
		(*t->errors)++;
	else
		(void)event_item_add(t->record, SYS_ITEM_ENV, 0, 0, found.bytes ? found.data : "", found.bytes);
	buf_done(&found);
}

void tell_dirs(struct teller *t, pid_t tid, pid_t pid)
{
	const char *text = tell_text(t, tid, "status", 65536);
	struct event_dirs *record;
	uint64_t umask = UINT32_MAX;

	(void)numbers(field(text, "Umask"), 8, &umask, 1);
	record = begin(t, EVENT_DIRS, tid, pid);
	if (!record)
		return;
	record->umask = (uint32_t)umask;
	add_link(t, tid, "cwd", SYS_ITEM_CWD);
	add_link(t, tid, "root", SYS_ITEM_PATH);
	t->emit(t->data);
}

void tell_mounts(struct teller *t, pid_t tid, pid_t pid)
{
	const char *text = tell_text(t, tid, "mountinfo", EVENT_BYTES_MAX / 2);
	size_t bytes = t->files->bytes;
	bool cut = bytes > EVENT_BYTES_MAX / 2;
	struct event_mounts *record;
	struct stat st;
	char path[PROC_PATH_MAX];

	if (!text) {
		(*t->errors)++;
		return;
	}
	if (cut)
		bytes = EVENT_BYTES_MAX / 2;
	record = begin(t, EVENT_MOUNTS, tid, pid);
	if (!record)
		return;
	proc_path(path, tid, "ns/mnt");
	if (stat(path, &st) == 0)
		record->ns_ino = st.st_ino;
	(void)event_item_add(t->record, SYS_ITEM_MOUNTINFO, 0, cut ? EVENT_ITEM_TRUNCATED : 0, text, bytes);
	t->emit(t->data);
}

void tell_ids(struct teller *t, pid_t tid, pid_t pid)
{
	const char *text = tell_text(t, tid, "status", 65536);
	uint64_t uid[4] = { 0 }, gid[4] = { 0 };
	struct event_ids *record;

	if (numbers(field(text, "Uid"), 10, uid, 4) != 4 || numbers(field(text, "Gid"), 10, gid, 4) != 4) {
		(*t->errors)++;
		return;
	}
	record = begin(t, EVENT_IDS, tid, pid);
	if (!record)
		return;
	record->ruid = (uint32_t)uid[0];
	record->euid = (uint32_t)uid[1];
	record->suid = (uint32_t)uid[2];
	record->fsuid = (uint32_t)uid[3];
	record->rgid = (uint32_t)gid[0];
	record->egid = (uint32_t)gid[1];
	record->sgid = (uint32_t)gid[2];
	record->fsgid = (uint32_t)gid[3];
	t->emit(t->data);
}

static uint64_t limit_value(rlim_t value)
{
	return value == RLIM_INFINITY ? UINT64_MAX : value;
}

void tell_limits(struct teller *t, pid_t tid, pid_t pid)
{
	const char *text = tell_text(t, tid, "status", 65536);
	struct rlimit nofile, stack;
	struct event_limits *record;
	uint64_t mask = 0;

	if (numbers(field(text, "SigBlk"), 16, &mask, 1) != 1 || prlimit(tid, RLIMIT_NOFILE, NULL, &nofile) != 0 ||
	    prlimit(tid, RLIMIT_STACK, NULL, &stack) != 0) {
		(*t->errors)++;
		return;
	}
	record = begin(t, EVENT_LIMITS, tid, pid);
	if (!record)
		return;
	record->sigmask = mask;
	record->nofile_soft = limit_value(nofile.rlim_cur);
	record->nofile_hard = limit_value(nofile.rlim_max);
	record->stack_soft = limit_value(stack.rlim_cur);
	t->emit(t->data);
}

static void one_fd(struct teller *t, pid_t tid, pid_t pid, int fd)
{
	char name[40];
	struct event_fd *record;
	struct stat st;
	const char *text;
	uint64_t offset = 0, flags = 0;
	bool known;
	char path[PROC_PATH_MAX];

	(void)snprintf(name, sizeof name, "fdinfo/%d", fd);
	text = tell_text(t, tid, name, 65536);
	known = numbers(field(text, "pos"), 10, &offset, 1) == 1 && numbers(field(text, "flags"), 8, &flags, 1) == 1;
	record = begin(t, EVENT_FD, tid, pid);
	if (!record)
		return;
	record->fd = fd;
	record->offset = known ? (int64_t)offset : -1;
	record->flags = (uint32_t)flags;
	(void)snprintf(name, sizeof name, "fd/%d", fd);
	proc_path(path, tid, name);
	if (stat(path, &st) == 0) {
		record->dev = st.st_dev;
		record->ino = st.st_ino;
		record->mode = st.st_mode;
	}
	add_link(t, tid, name, SYS_ITEM_PATH);
	t->emit(t->data);
}

void tell_fds(struct teller *t, pid_t tid, pid_t pid)
{
	char path[PROC_PATH_MAX];
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir;

	proc_path(path, tid, "fd");
	dir = opendir(path);
	if (!dir) {
		(*t->errors)++;
		return;
	}
	while ((entry = readdir(dir))) {
		char *end;
		long fd = strtol(entry->d_name, &end, 10);

		if (end == entry->d_name || *end != '\0')
			continue;
		if (++count > FDS_MAX) {
			(*t->errors)++;
			break;
		}
		one_fd(t, tid, pid, (int)fd);
	}
	(void)closedir(dir);
}

/*
 * In place: the kernel writes a newline in a name as \012, and a backslash as itself, so that a
 * name with just these four characters looks the same.  It is kept when a file of that name is the one.
 */
static void newlines(char *name, pid_t tid, uint64_t dev, uint64_t ino)
{
	struct buf path = BUF_INIT;
	char root[PROC_PATH_MAX], *to = strstr(name, "\\012");
	struct stat st;
	bool itself;

	if (!to)
		return;
	proc_path(root, tid, "root");
	(void)buf_printf(&path, "%s%s", root, name);
	itself = !path.failed && lstat(buf_text(&path), &st) == 0 && st.st_dev == dev && st.st_ino == ino;
	buf_done(&path);
	if (itself)
		return;
	for (const char *from = to; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

void tell_maps(struct teller *t, pid_t tid, pid_t pid)
{
	struct buf maps = BUF_INIT;
	char path[PROC_PATH_MAX];
	char *line, *next;

	proc_path(path, tid, "maps");
	if (buf_read_file(&maps, AT_FDCWD, path, 16u << 20) != 0) {
		(*t->errors)++;
		buf_done(&maps);
		return;
	}
	line = (char *)(uintptr_t)buf_text(&maps);
	for (; line && *line; line = next) {
		uint64_t start, end, offset, ino;
		unsigned major_nr, minor_nr;
		char perms[5];
		int name = 0;
		struct event_map *record;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &start, &end, perms,
			   &offset, &major_nr, &minor_nr, &ino, &name) < 7)
			continue;
		/* Who made a call is always in something executable. */
		if (perms[2] != 'x')
			continue;
		record = begin(t, EVENT_MAP, tid, pid);
		if (!record)
			break;
		record->start = start;
		record->end = end;
		record->file_offset = offset;
		record->dev = makedev(major_nr, minor_nr);
		record->ino = ino;
		record->prot = (perms[0] == 'r' ? 1u : 0) | (perms[1] == 'w' ? 2u : 0) | 4u;
		newlines(line + name, tid, record->dev, record->ino);
		(void)event_item_add(t->record, SYS_ITEM_PATH, 0, 0, line + name, strlen(line + name));
		t->emit(t->data);
	}
	buf_done(&maps);
}
