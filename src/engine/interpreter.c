/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why execve(2) could not start a file that is there: what the file itself
 * needs is missing.  Reads the file's head only, and only to explain.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"

#define HEAD_BYTES 256 /* as much as the kernel reads of a script */
#define NAME_BYTES 256
#define DEPTH_MAX 4 /* interpreters that are scripts themselves */
#define SEGMENTS_MAX 128
#define RETURN_HINT "; the line that names it ends with a carriage return"

/* What follows "#!": false when the line names nothing. */
static bool script_interpreter(const char *head, size_t bytes, char ret_name[static NAME_BYTES])
{
	size_t from = 2, length;

	while (from < bytes && (head[from] == ' ' || head[from] == '\t'))
		from++;
	for (length = 0; from + length < bytes && !strchr(" \t\n", head[from + length]); length++)
		;
	if (length == 0 || length >= NAME_BYTES)
		return false;
	memcpy(ret_name, head + from, length);
	ret_name[length] = '\0';
	return true;
}

/* Where the segment with the loader's name is; files of the other word size have other fields. */
static bool find_segment(int fd, const char *head, uint64_t *ret_offset, uint64_t *ret_bytes)
{
	bool wide = head[EI_CLASS] == ELFCLASS64;
	Elf64_Ehdr wide_head;
	Elf32_Ehdr small_head;
	uint64_t table;
	unsigned count;

	memcpy(&wide_head, head, sizeof wide_head);
	memcpy(&small_head, head, sizeof small_head);
	table = wide ? wide_head.e_phoff : small_head.e_phoff;
	count = wide ? wide_head.e_phnum : small_head.e_phnum;
	for (unsigned i = 0; i < count && i < SEGMENTS_MAX; i++) {
		size_t bytes = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
		union {
			Elf64_Phdr wide;
			Elf32_Phdr small;
		} segment;

		if (pread(fd, &segment, bytes, (off_t)(table + i * bytes)) != (ssize_t)bytes)
			return false;
		if ((wide ? segment.wide.p_type : segment.small.p_type) != PT_INTERP)
			continue;
		*ret_offset = wide ? segment.wide.p_offset : segment.small.p_offset;
		*ret_bytes = wide ? segment.wide.p_filesz : segment.small.p_filesz;
		return true;
	}
	return false;
}

static bool elf_loader(int fd, const char *head, char ret_name[static NAME_BYTES])
{
	uint64_t offset, bytes;

	if (!find_segment(fd, head, &offset, &bytes) || bytes < 2 || bytes > NAME_BYTES)
		return false;
	if (pread(fd, ret_name, bytes, (off_t)offset) != (ssize_t)bytes)
		return false;
	return ret_name[bytes - 1] == '\0';
}

/* "interpreter" or "loader" and its name, NULL when the file names none. */
static const char *needed_by(const char *path, char ret_name[static NAME_BYTES])
{
	char head[HEAD_BYTES] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t bytes = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	const char *what = NULL;

	if (bytes > 2 && memcmp(head, "#!", 2) == 0 && script_interpreter(head, (size_t)bytes, ret_name))
		what = "interpreter";
	else if (bytes >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
		 elf_loader(fd, head, ret_name))
		what = "loader";
	if (fd >= 0)
		(void)close(fd);
	return what;
}

int engine_exec_error(struct error *err, int code, const char *program)
{
	char names[2][NAME_BYTES];
	const char *path = program;

	for (int depth = 0; depth < DEPTH_MAX && (code == ENOENT || code == EACCES || code == ENOTDIR); depth++) {
		char *name = names[depth % 2];
		const char *what = needed_by(path, name);
		size_t length;

		if (!what || *name == '\0')
			break;
		length = strlen(name);
		if (access(name, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
			return error_set(err, code, "%s: its %s %s is missing%s", program, what, name,
					 name[length - 1] == '\r' ? RETURN_HINT : "");
		if (code == EACCES && faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) != 0)
			return error_errno(err, code, "%s: its %s %s", program, what, name);
		path = name;
	}
	return error_errno(err, code, "%s", program);
}
