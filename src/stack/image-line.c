/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines, where debug information is installed: found by build-id on this machine, never asked for elsewhere. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stack/image.h"

#define DEBUG_DIR "/usr/lib/debug/.build-id"
#define UNITS_MAX 100000

Elf *image_debug_open(const char *build_id, int *ret_fd)
{
	char path[sizeof DEBUG_DIR + IMAGE_BUILD_ID_MAX + 16];
	struct stat st;
	Elf *elf;
	int fd;

	(void)snprintf(path, sizeof path, DEBUG_DIR "/%.2s/%s.debug", build_id, build_id + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (!elf) {
		(void)close(fd);
		return NULL;
	}
	*ret_fd = fd;
	return elf;
}

/* Compilers that write no table of ranges: every unit is asked. */
static bool unit_of(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_CU *unit = NULL;

	if (dwarf_addrdie(dwarf, address, ret))
		return true;
	for (unsigned n = 0; n < UNITS_MAX; n++) {
		uint8_t type;

		if (dwarf_get_units(dwarf, unit, &unit, NULL, &type, ret, NULL) != 0)
			return false;
		if (type != DW_UT_type && dwarf_haspc(ret, address) == 1)
			return true;
	}
	return false;
}

bool image_line_of(Dwarf *dwarf, uint64_t address, const char **ret_file, uint32_t *ret_line)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	Dwarf_Addr start;
	bool ended = true;
	int number;

	if (!unit_of(dwarf, address, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, address);
	if (!line || dwarf_lineaddr(line, &start) != 0 || start > address || dwarf_lineendsequence(line, &ended) != 0 ||
	    ended)
		return false;
	*ret_file = dwarf_linesrc(line, NULL, NULL);
	/* 0: the compiler says that it stands for no line. */
	if (!*ret_file || dwarf_lineno(line, &number) != 0 || number <= 0)
		return false;
	*ret_line = (uint32_t)number;
	return true;
}
