/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a process that are one record: status, stat, statm, cmdline,
 * environ, fdinfo.  Each is parsed from one snapshot.
 */
#include "proc-internal.h"

#include <fcntl.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct proc_field status_fields[] = {
	PROC_FIELD("Name", SYSCULL_STATUS_NAME, PROC_TEXT),
	PROC_FIELD("Umask", SYSCULL_STATUS_UMASK, PROC_OCTAL),
	PROC_FIELD("State", SYSCULL_STATUS_STATE, PROC_LETTER),
	PROC_FIELD("Tgid", SYSCULL_STATUS_TGID, PROC_DECIMAL),
	PROC_FIELD("Ngid", SYSCULL_STATUS_NGID, PROC_DECIMAL),
	PROC_FIELD("Pid", SYSCULL_STATUS_PID, PROC_DECIMAL),
	PROC_FIELD("PPid", SYSCULL_STATUS_PPID, PROC_DECIMAL),
	PROC_FIELD("TracerPid", SYSCULL_STATUS_TRACER, PROC_DECIMAL),
	PROC_FIELD("Uid", SYSCULL_STATUS_UID, PROC_FOUR),
	PROC_FIELD("Gid", SYSCULL_STATUS_GID, PROC_FOUR),
	PROC_FIELD("FDSize", SYSCULL_STATUS_FDSIZE, PROC_DECIMAL),
	PROC_FIELD("Groups", SYSCULL_STATUS_GROUPS, PROC_TEXT),
	PROC_FIELD("Kthread", SYSCULL_STATUS_KTHREAD, PROC_DECIMAL),
	PROC_FIELD("VmPeak", SYSCULL_STATUS_VM_PEAK, PROC_KIB),
	PROC_FIELD("VmSize", SYSCULL_STATUS_VM_SIZE, PROC_KIB),
	PROC_FIELD("VmLck", SYSCULL_STATUS_VM_LOCKED, PROC_KIB),
	PROC_FIELD("VmPin", SYSCULL_STATUS_VM_PINNED, PROC_KIB),
	PROC_FIELD("VmHWM", SYSCULL_STATUS_VM_HWM, PROC_KIB),
	PROC_FIELD("VmRSS", SYSCULL_STATUS_VM_RSS, PROC_KIB),
	PROC_FIELD("RssAnon", SYSCULL_STATUS_RSS_ANON, PROC_KIB),
	PROC_FIELD("RssFile", SYSCULL_STATUS_RSS_FILE, PROC_KIB),
	PROC_FIELD("RssShmem", SYSCULL_STATUS_RSS_SHMEM, PROC_KIB),
	PROC_FIELD("VmData", SYSCULL_STATUS_VM_DATA, PROC_KIB),
	PROC_FIELD("VmStk", SYSCULL_STATUS_VM_STACK, PROC_KIB),
	PROC_FIELD("VmExe", SYSCULL_STATUS_VM_EXE, PROC_KIB),
	PROC_FIELD("VmLib", SYSCULL_STATUS_VM_LIB, PROC_KIB),
	PROC_FIELD("VmPTE", SYSCULL_STATUS_VM_PTE, PROC_KIB),
	PROC_FIELD("VmSwap", SYSCULL_STATUS_VM_SWAP, PROC_KIB),
	PROC_FIELD("HugetlbPages", SYSCULL_STATUS_HUGETLB, PROC_KIB),
	PROC_FIELD("CoreDumping", SYSCULL_STATUS_CORE_DUMPING, PROC_DECIMAL),
	PROC_FIELD("Threads", SYSCULL_STATUS_THREADS, PROC_DECIMAL),
	PROC_FIELD("SigPnd", SYSCULL_STATUS_SIG_PENDING, PROC_HEX),
	PROC_FIELD("ShdPnd", SYSCULL_STATUS_SHARED_PENDING, PROC_HEX),
	PROC_FIELD("SigBlk", SYSCULL_STATUS_SIG_BLOCKED, PROC_HEX),
	PROC_FIELD("SigIgn", SYSCULL_STATUS_SIG_IGNORED, PROC_HEX),
	PROC_FIELD("SigCgt", SYSCULL_STATUS_SIG_CAUGHT, PROC_HEX),
	PROC_FIELD("CapInh", SYSCULL_STATUS_CAP_INHERITABLE, PROC_HEX),
	PROC_FIELD("CapPrm", SYSCULL_STATUS_CAP_PERMITTED, PROC_HEX),
	PROC_FIELD("CapEff", SYSCULL_STATUS_CAP_EFFECTIVE, PROC_HEX),
	PROC_FIELD("CapBnd", SYSCULL_STATUS_CAP_BOUNDING, PROC_HEX),
	PROC_FIELD("CapAmb", SYSCULL_STATUS_CAP_AMBIENT, PROC_HEX),
	PROC_FIELD("NoNewPrivs", SYSCULL_STATUS_NO_NEW_PRIVS, PROC_DECIMAL),
	PROC_FIELD("Seccomp", SYSCULL_STATUS_SECCOMP, PROC_DECIMAL),
	PROC_FIELD("voluntary_ctxt_switches", SYSCULL_STATUS_VOLUNTARY_SWITCHES, PROC_DECIMAL),
	PROC_FIELD("nonvoluntary_ctxt_switches", SYSCULL_STATUS_INVOLUNTARY_SWITCHES, PROC_DECIMAL),
};

static uint64_t status_bits(const struct proc_field *field)
{
	return (field->kind == PROC_FOUR ? (uint64_t)15 : (uint64_t)1) << field->number;
}

int syscull__proc_parse_status(const struct syscull_text *text, uint64_t wanted, struct syscull_status *status,
			       bool *ret_complete)
{
	struct syscull_text rest = *text;
	struct syscull_text line;
	size_t hint = 0;

	memset(status, 0, sizeof *status);
	*ret_complete = true;
	while ((wanted & ~status->have) != 0) {
		const struct proc_field *field;
		struct proc_cursor value;
		int result = 0;

		if (!syscull_text_next(&rest, '\n', &line)) {
			*ret_complete = !(text->flags & SYSCULL_TEXT_PARTIAL);
			break;
		}
		if (line.flags & SYSCULL_TEXT_UNENDED) {
			/* The end of what fitted, or of a copy that somebody cut. */
			*ret_complete = false;
			return text->flags & SYSCULL_TEXT_PARTIAL ? 0 : SYSCULL_TORN;
		}
		field = syscull__proc_field(status_fields, COUNT(status_fields), &hint, &line, &value);
		if (field == NULL || !(status_bits(field) & wanted) || status_bits(field) & status->have)
			continue;
		if (field->kind != PROC_TEXT)
			result = syscull__proc_value(field, &value, status->numbers);
		else if (field->number == SYSCULL_STATUS_NAME)
			status->name = syscull__proc_ended(value.at, value.end);
		else
			status->groups = syscull__proc_ended(value.at, value.end);
		if (result < 0)
			return result;
		status->have |= status_bits(field);
	}
	return 0;
}

int syscull_proc_status(struct syscull_reader *reader, int process, uint64_t wanted, struct syscull_status *ret_status)
{
	struct syscull_text text;
	struct syscull_status status;
	bool filled = false;
	bool complete;
	int fd = syscull__lines_openat(process, "status", O_RDONLY);
	int result;

	if (fd < 0)
		return fd;
	result = syscull__lines_snapshot(reader, fd, false, false, &text, &filled);
	while (result > 0) {
		int parsed = syscull__proc_parse_status(&text, wanted, &status, &complete);

		if (parsed < 0) {
			result = parsed;
		} else if (complete) {
			*ret_status = status;
			break;
		} else {
			result = syscull__lines_snapshot(reader, fd, true, true, &text, &filled);
		}
	}
	syscull__lines_close(fd);
	return result != 0 ? result : SYSCULL_TORN;
}

int syscull__proc_parse_stat(const struct syscull_text *text, struct syscull_stat *stat)
{
	struct proc_cursor cursor = { text->text, text->text + text->length };
	const char *last = cursor.end;
	const char *comm;
	int result;

	memset(stat, 0, sizeof *stat);
	if (text->length == 0 || cursor.end[-1] != '\n')
		return SYSCULL_TORN;
	cursor.end--;
	result = syscull__proc_number(&cursor, 10, &stat->numbers[SYSCULL_STAT_PID]);
	if (result < 0)
		return result;
	if (!syscull__proc_take(&cursor, ' ') || !syscull__proc_take(&cursor, '('))
		return SYSCULL_TORN;
	comm = cursor.at;
	while (last > comm && last[-1] != ')')
		last--;
	if (last == comm)
		return SYSCULL_TORN;
	cursor.at = last;
	if (!syscull__proc_take(&cursor, ' ') || cursor.at == cursor.end)
		return SYSCULL_TORN;
	stat->numbers[SYSCULL_STAT_STATE] = (unsigned char)*cursor.at++;
	stat->count = SYSCULL_STAT_STATE;
	while (syscull__proc_take(&cursor, ' ') && cursor.at < cursor.end) {
		bool negative = syscull__proc_take(&cursor, '-');
		uint64_t number;

		result = syscull__proc_number(&cursor, 10, &number);
		if (result < 0)
			return result;
		if (negative && number > (uint64_t)1 << 63)
			return -ERANGE;
		if (stat->count + 1 < COUNT(stat->numbers))
			stat->numbers[++stat->count] = negative ? 0 - number : number;
	}
	if (cursor.at != cursor.end || stat->count < SYSCULL_STAT_RSS)
		return SYSCULL_TORN;
	stat->comm = syscull__proc_ended(comm, last - 1);
	return 0;
}

int syscull_proc_stat(struct syscull_reader *reader, int process, struct syscull_stat *ret_stat)
{
	struct syscull_text text;
	struct syscull_stat stat;
	int result = syscull_whole_file(reader, process, "stat", &text);

	if (result > 0)
		result = syscull__proc_parse_stat(&text, &stat);
	else if (result == 0)
		result = SYSCULL_TORN;
	if (result < 0)
		return result;
	*ret_stat = stat;
	return 1;
}

int syscull__proc_parse_statm(const struct syscull_text *text, struct syscull_statm *statm)
{
	struct proc_cursor cursor = { text->text, text->text + text->length };
	uint64_t numbers[7];

	if (text->length == 0 || cursor.end[-1] != '\n')
		return SYSCULL_TORN;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		int result;

		if (i > 0 && !syscull__proc_take(&cursor, ' '))
			return SYSCULL_TORN;
		result = syscull__proc_number(&cursor, 10, &numbers[i]);
		if (result < 0)
			return result;
		if (__builtin_mul_overflow(numbers[i], (uint64_t)syscull__lines_page(), &numbers[i]))
			return -ERANGE;
	}
	*statm = (struct syscull_statm){ numbers[0], numbers[1], numbers[2], numbers[3], numbers[5] };
	return 0;
}

int syscull_proc_statm(struct syscull_reader *reader, int process, struct syscull_statm *ret_statm)
{
	struct syscull_text text;
	struct syscull_statm statm;
	int result = syscull_whole_file(reader, process, "statm", &text);

	if (result > 0)
		result = syscull__proc_parse_statm(&text, &statm);
	else if (result == 0)
		result = SYSCULL_TORN;
	if (result < 0)
		return result;
	*ret_statm = statm;
	return 1;
}

int syscull_proc_cmdline(struct syscull_reader *reader, int process, struct syscull_text *ret_cmdline)
{
	return syscull_whole_file(reader, process, "cmdline", ret_cmdline);
}

int syscull_proc_environ(struct syscull_reader *reader, int process, struct syscull_text *ret_environ)
{
	struct syscull_statm statm;
	int result = syscull_whole_file(reader, process, "environ", ret_environ);

	/* Newer kernels (6.18) say ESRCH where older ones have 0 bytes: without memory, or gone. */
	if (result == -ESRCH && syscull_proc_statm(reader, process, &statm) > 0)
		return 0;
	return result;
}

enum { FDINFO_POS, FDINFO_FLAGS, FDINFO_MOUNT, FDINFO_INODE, FDINFO_FIELDS };

static const struct proc_field fdinfo_fields[] = {
	PROC_FIELD("pos", FDINFO_POS, PROC_DECIMAL),
	PROC_FIELD("flags", FDINFO_FLAGS, PROC_OCTAL),
	PROC_FIELD("mnt_id", FDINFO_MOUNT, PROC_DECIMAL),
	PROC_FIELD("ino", FDINFO_INODE, PROC_DECIMAL),
};

int syscull__proc_parse_fdinfo(const struct syscull_text *text, struct syscull_fdinfo *info)
{
	struct syscull_text rest = *text;
	struct syscull_text line;
	uint64_t numbers[FDINFO_FIELDS] = { 0, 0, 0, 0 };
	unsigned int have = 0;
	size_t hint = 0;

	memset(info, 0, sizeof *info);
	while (have != (1U << FDINFO_FIELDS) - 1 && syscull_text_next(&rest, '\n', &line)) {
		struct proc_cursor value;
		const struct proc_field *field;
		int result;

		if (line.flags & SYSCULL_TEXT_UNENDED)
			return SYSCULL_TORN;
		field = syscull__proc_field(fdinfo_fields, COUNT(fdinfo_fields), &hint, &line, &value);
		if (field == NULL || have & 1U << field->number) {
			if (info->rest.text == NULL)
				info->rest.text = line.text;
			continue;
		}
		result = syscull__proc_value(field, &value, numbers);
		if (result < 0)
			return result;
		have |= 1U << field->number;
	}
	if (!(have & 1U << FDINFO_POS) || !(have & 1U << FDINFO_FLAGS))
		return SYSCULL_TORN;
	if (numbers[FDINFO_FLAGS] > UINT32_MAX || numbers[FDINFO_MOUNT] > UINT32_MAX)
		return -ERANGE;
	if (info->rest.text == NULL)
		info->rest.text = rest.text;
	info->rest.length = (size_t)(text->text + text->length - info->rest.text);
	info->position = numbers[FDINFO_POS];
	info->flags = (uint32_t)numbers[FDINFO_FLAGS];
	info->mount_id = (uint32_t)numbers[FDINFO_MOUNT];
	info->inode = numbers[FDINFO_INODE];
	return 0;
}

int syscull_proc_fdinfo(struct syscull_reader *reader, int process, int fd, struct syscull_fdinfo *ret_fdinfo)
{
	struct syscull_text text;
	struct syscull_fdinfo info;
	char path[64];
	int result;

	if (fd < 0)
		return -EBADF;
	syscull__proc_path(path, "fdinfo/", (uint64_t)fd, "");
	result = syscull_whole_file(reader, process, path, &text);
	if (result > 0)
		result = syscull__proc_parse_fdinfo(&text, &info);
	else if (result == 0)
		result = SYSCULL_TORN;
	if (result < 0)
		return result;
	*ret_fdinfo = info;
	return 1;
}
