/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which programs a preloaded library does not reach, by their files alone.
 * The files are anybody's: what does not fit is not told.
 */
#include "cmd/reach.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SEGMENTS_MAX 64
#define NOTES_MAX 4096
#define SCRIPTS_MAX 4

static bool read_at(int fd, void *data, size_t bytes, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, data, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Go's linker marks what it made. */
static bool has_go_note(int fd, const Elf64_Phdr *segment)
{
	char notes[NOTES_MAX];
	size_t bytes = segment->p_filesz < sizeof notes ? (size_t)segment->p_filesz : sizeof notes, at = 0;

	if (!read_at(fd, notes, bytes, segment->p_offset))
		return false;
	while (bytes - at >= sizeof(Elf64_Nhdr) + 4) {
		Elf64_Nhdr note;
		uint64_t next;

		memcpy(&note, notes + at, sizeof note);
		if (note.n_namesz == 4 && memcmp(notes + at + sizeof note, "Go\0\0", 4) == 0)
			return true;
		next = at + sizeof note + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3)) +
		       (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));
		if (next >= bytes)
			break;
		at = (size_t)next;
	}
	return false;
}

static const char *of_elf(int fd)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Ehdr head;
	bool interpreter = false, go = false;

	if (!read_at(fd, &head, sizeof head, 0))
		return NULL;
	if (head.e_ident[EI_CLASS] == ELFCLASS32)
		return "a 32-bit program";
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof segments[0] || head.e_phnum == 0 ||
	    head.e_phnum > SEGMENTS_MAX || !read_at(fd, segments, head.e_phnum * sizeof segments[0], head.e_phoff))
		return NULL;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		interpreter |= segments[i].p_type == PT_INTERP;
		go |= segments[i].p_type == PT_NOTE && has_go_note(fd, &segments[i]);
	}
	if (go)
		return "a Go program, which makes its calls without libc";
	return interpreter ? NULL : "linked statically";
}

/* Called by its name it has no interpreter either, and loads what it starts. */
static bool is_loader(const char *program)
{
	const char *name = strrchr(program, '/');

	return strncmp(name ? name + 1 : program, "ld", 2) == 0 && strstr(program, ".so") != NULL;
}

/* The interpreter of a script; false: it is none. */
static bool interpreter_of(const char *head, size_t bytes, char *ret, size_t size)
{
	size_t begin = 2, end;

	if (bytes < 3 || memcmp(head, "#!", 2) != 0)
		return false;
	while (begin < bytes && (head[begin] == ' ' || head[begin] == '\t'))
		begin++;
	for (end = begin; end < bytes && !strchr(" \t\n", head[end]); end++)
		;
	if (end == begin || end == bytes || end - begin >= size)
		return false;
	memcpy(ret, head + begin, end - begin);
	ret[end - begin] = '\0';
	return true;
}

static const char *privileges(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if ((st.st_mode & S_ISUID && st.st_uid != getuid()) || (st.st_mode & S_ISGID && st.st_gid != getgid()))
		return "a set-user-id program";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "a program that gains capabilities";
	return NULL;
}

const char *reach_obstacle(const char *program)
{
	char name[PATH_MAX], head[512];
	const char *obstacle = NULL;
	bool script = true;

	if (strlen(program) >= sizeof name)
		return NULL;
	(void)strcpy(name, program);
	for (unsigned i = 0; script && i < SCRIPTS_MAX; i++) {
		int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		ssize_t bytes;

		if (fd < 0)
			return NULL;
		bytes = read(fd, head, sizeof head);
		script = bytes > 0 && interpreter_of(head, (size_t)bytes, name, sizeof name);
		if (!script && bytes >= EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0 && !is_loader(name)) {
			obstacle = privileges(fd);
			obstacle = obstacle ? obstacle : of_elf(fd);
		}
		(void)close(fd);
	}
	return obstacle;
}
