/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holding processes, lists of numbers in directories, children, counts and ids.
 */
#include "proc-internal.h"

#include <fcntl.h>
#include <sys/stat.h>

int syscull_proc_hold(int procfd, pid_t pid)
{
	char path[64];

	if (pid < 0)
		return -ESRCH;
	if (procfd == SYSCULL_PROC_DEFAULT) {
		if (pid == 0)
			return syscull__lines_openat(AT_FDCWD, "/proc/self", O_PATH | O_DIRECTORY);
		syscull__proc_path(path, "/proc/", (uint64_t)pid, "");
		return syscull__lines_openat(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	}
	if (pid == 0)
		return syscull__lines_openat(procfd, "self", O_PATH | O_DIRECTORY);
	syscull__proc_path(path, "", (uint64_t)pid, "");
	return syscull__lines_openat(procfd, path, O_PATH | O_DIRECTORY);
}

int syscull_proc_hold_task(int process, pid_t tid)
{
	char path[64];

	if (tid <= 0)
		return -ESRCH;
	syscull__proc_path(path, "task/", (uint64_t)tid, "");
	return syscull__lines_openat(process, path, O_PATH | O_DIRECTORY);
}

int syscull_proc_begin(struct syscull_reader *reader, int process, const char *name, char delimiter)
{
	int fd = syscull__lines_openat(process, name, O_RDONLY);

	return fd < 0 ? fd : syscull__lines_adopt(reader, fd, delimiter);
}

int syscull_proc_list_begin(struct syscull_reader *reader, int dirfd, const char *name)
{
	int fd = syscull__lines_openat(dirfd, name, O_RDONLY | O_DIRECTORY);

	return fd < 0 ? fd : syscull__lines_adopt(reader, fd, '\0');
}

/* u64 inode, s64 offset, u16 length of the record, u8 type, name. */
#define ENTRY_LENGTH_AT 16
#define ENTRY_NAME_AT 19

int syscull__proc_parse_entry(const char *records, size_t size, size_t *at, uint64_t *ret_number)
{
	const char *record = records + *at;
	struct proc_cursor cursor;
	const char *name_end;
	uint16_t length;

	if (size - *at < ENTRY_NAME_AT + 1)
		return SYSCULL_TORN;
	memcpy(&length, record + ENTRY_LENGTH_AT, sizeof length);
	if (length < ENTRY_NAME_AT + 1 || length > size - *at)
		return SYSCULL_TORN;
	name_end = memchr(record + ENTRY_NAME_AT, '\0', length - (size_t)ENTRY_NAME_AT);
	if (name_end == NULL)
		return SYSCULL_TORN;
	*at += length;
	cursor = (struct proc_cursor){ record + ENTRY_NAME_AT, name_end };
	return syscull__proc_number(&cursor, 10, ret_number) == 0 && cursor.at == cursor.end;
}

/* More entries behind nothing.  1, 0 at the end, negative. */
static int list_fill(struct syscull_reader *reader)
{
	int saved = errno;
	long got;

	do
		got = KERNEL(SYS_getdents64, (long)reader->fd, reader->buffer, reader->capacity);
	while (got == -EINTR);
	errno = saved;
	reader->begin = reader->end = 0;
	if (got == -EINVAL)
		return SYSCULL_OVER_LIMIT;
	if (got < 0)
		return (int)got;
	if ((size_t)got > reader->capacity)
		return SYSCULL_TORN;
	reader->end = (size_t)got;
	return got > 0;
}

int syscull_proc_list_next(struct syscull_reader *reader, uint64_t *ret_number)
{
	while (!(reader->state & LINES_ENDED)) {
		uint64_t number;
		int result;

		if (reader->begin == reader->end) {
			result = list_fill(reader);
			if (result < 0)
				return result;
			if (result == 0)
				reader->state |= LINES_ENDED;
			continue;
		}
		result = syscull__proc_parse_entry(reader->buffer, reader->end, &reader->begin, &number);
		if (result < 0) {
			reader->state |= LINES_ENDED;
			return result;
		}
		if (result > 0) {
			*ret_number = number;
			return 1;
		}
	}
	return 0;
}

int syscull_proc_children_begin(struct syscull_reader *reader, int process, pid_t tid)
{
	char path[64];

	if (tid <= 0)
		return -ENOENT;
	syscull__proc_path(path, "task/", (uint64_t)tid, "/children");
	return syscull_proc_begin(reader, process, path, ' ');
}

int syscull_proc_child_next(struct syscull_reader *reader, pid_t *ret_pid)
{
	struct syscull_text word;
	struct proc_cursor cursor;
	uint64_t number;
	int result = syscull_lines_next(reader, &word);

	if (result <= 0)
		return result;
	/* Each number has a space behind it, the last one too: without it, it may be half a number. */
	if (word.flags & SYSCULL_TEXT_UNENDED)
		return SYSCULL_TORN;
	cursor = (struct proc_cursor){ word.text, word.text + word.length };
	result = syscull__proc_number(&cursor, 10, &number);
	if (result < 0)
		return result;
	if (cursor.at != cursor.end)
		return SYSCULL_TORN;
	if (number > INT32_MAX)
		return -ERANGE;
	*ret_pid = (pid_t)number;
	return 1;
}

int syscull_proc_fd_count(struct syscull_reader *reader, int process, uint64_t *ret_count, uint32_t *ret_source)
{
	struct stat st;
	uint64_t number;
	uint64_t count = 0;
	int saved = errno;
	long result;

	st.st_size = 0;
#ifdef SYS_newfstatat
	result = KERNEL(SYS_newfstatat, (long)process, "fd", &st, 0L);
#else
	result = fstatat(process, "fd", &st, 0) < 0 ? -errno : 0;
#endif
	errno = saved;
	if (result < 0)
		return (int)result;
	if (st.st_size > 0) {
		*ret_count = (uint64_t)st.st_size;
		if (ret_source != NULL)
			*ret_source = SYSCULL_SOURCE_SIZE;
		return 1;
	}
	/* None, or a kernel before 6.2, where the size is always 0. */
	result = syscull_proc_list_begin(reader, process, "fd");
	if (result < 0)
		return (int)result;
	while ((result = syscull_proc_list_next(reader, &number)) > 0)
		count++;
	syscull_lines_end(reader);
	if (result < 0)
		return (int)result;
	*ret_count = count;
	if (ret_source != NULL)
		*ret_source = SYSCULL_SOURCE_TEXT;
	return 1;
}

/* The kernel's struct pidfd_info of 6.13, its first version; headers are older. */
struct ids_info {
	uint64_t mask;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t ids[8]; /* real uid and gid, effective ones, saved, of the file system */
	int32_t exit_code;
};

#define IDS_PID 1U
#define IDS_CREDENTIALS 2U
#define IDS_CGROUP 4U

/* _IOWR(0xff, 11, struct ids_info): read and write, 64 bytes. */
#define IDS_REQUEST (3UL << 30 | 64UL << 16 | 0xffUL << 8 | 11)

static int ids_ask(int pidfd, struct syscull_ids *ids)
{
	struct ids_info info;
	int saved = errno;
	long result;

	memset(&info, 0, sizeof info);
	info.mask = IDS_PID | IDS_CREDENTIALS | IDS_CGROUP;
	do
		result = KERNEL(SYS_ioctl, (long)pidfd, IDS_REQUEST, &info);
	while (result == -EINTR);
	errno = saved;
	if (result < 0)
		return (int)result;
	if ((info.mask & (IDS_PID | IDS_CREDENTIALS)) != (IDS_PID | IDS_CREDENTIALS))
		return -ENOTTY;
	memset(ids, 0, sizeof *ids);
	ids->pid = info.pid;
	ids->tgid = info.tgid;
	ids->ppid = info.ppid;
	for (unsigned int i = 0; i < 4; i++) {
		ids->uid[i] = info.ids[2 * i];
		ids->gid[i] = info.ids[2 * i + 1];
	}
	ids->source = SYSCULL_SOURCE_IOCTL;
	ids->cgroup_id = info.mask & IDS_CGROUP ? info.cgroup_id : 0;
	return 1;
}

int syscull_proc_ids(struct syscull_reader *reader, int pidfd, int process, struct syscull_ids *ret_ids)
{
	static const uint64_t wanted = SYSCULL_STATUS_BIT(SYSCULL_STATUS_PID) |
				       SYSCULL_STATUS_BIT(SYSCULL_STATUS_TGID) |
				       SYSCULL_STATUS_BIT(SYSCULL_STATUS_PPID) | (uint64_t)15 << SYSCULL_STATUS_UID |
				       (uint64_t)15 << SYSCULL_STATUS_GID;
	struct syscull_status status;
	struct syscull_ids ids;
	int result = -EBADF;

	if (pidfd >= 0) {
		result = ids_ask(pidfd, &ids);
		if (result > 0) {
			*ret_ids = ids;
			return 1;
		}
		if (result == -ESRCH || process < 0)
			return result;
	}
	if (process < 0)
		return result;
	result = syscull_proc_status(reader, process, wanted, &status);
	if (result < 0)
		return result;
	if ((status.have & wanted) != wanted)
		return SYSCULL_TORN;
	memset(&ids, 0, sizeof ids);
	ids.pid = (uint32_t)status.numbers[SYSCULL_STATUS_PID];
	ids.tgid = (uint32_t)status.numbers[SYSCULL_STATUS_TGID];
	ids.ppid = (uint32_t)status.numbers[SYSCULL_STATUS_PPID];
	for (unsigned int i = 0; i < 4; i++) {
		ids.uid[i] = (uint32_t)status.numbers[SYSCULL_STATUS_UID + i];
		ids.gid[i] = (uint32_t)status.numbers[SYSCULL_STATUS_GID + i];
	}
	ids.source = SYSCULL_SOURCE_TEXT;
	*ret_ids = ids;
	return 1;
}
