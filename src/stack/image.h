/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One ELF file and the debug information that belongs to it.  For the process
 * without privileges alone: the files are foreign, and to read them may end it.
 * Addresses are those of the file's own segments, not of any process.
 */
#ifndef SYSCULL_STACK_IMAGE_H
#define SYSCULL_STACK_IMAGE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_MAX 41

struct image;

/* NULL: no ELF file of this machine's kind.  The fd stays the caller's, and open. */
struct image *image_open(int fd);
/* The address of a byte of the file that is mapped there executable. */
bool image_address(const struct image *image, uint64_t file_offset, uint64_t *ret_address);
/* And back. */
bool image_offset(const struct image *image, uint64_t address, uint64_t *ret_file_offset);
const char *image_build_id(const struct image *image); /* NULL none */
/* So many bytes of code from an address, NULL when they are not in the file. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t bytes);

struct image_symbol {
	const char *name;
	uint64_t start, end;
};
/* The function that covers the address with its size. */
bool image_symbol(struct image *image, uint64_t address, struct image_symbol *ret);
/* Where the function begins: by symbol, else by its unwind information. */
bool image_function(struct image *image, uint64_t address, uint64_t *ret_start);
/* Does a function of this name begin there?  *ret_choice: or may one, as it is chosen at run time. */
bool image_has_name(struct image *image, uint64_t start, const char *name, bool *ret_choice);
/* Has it a function of this name, wherever it begins? */
bool image_exports(struct image *image, const char *name);
/* Does it lie in one of the linker's tables of jumps? */
bool image_is_stub(const struct image *image, uint64_t address);
/* The name of what the loader puts into this place; NULL none. */
const char *image_slot(struct image *image, uint64_t address);

/* The unwind rules at an address, kept: NULL none. */
Dwarf_Frame *image_cfi(struct image *image, uint64_t address);
/* The source line of an instruction; *ret_file lives as long as the image. */
bool image_line(struct image *image, uint64_t address, const char **ret_file, uint32_t *ret_line);

/* image-line.c */
Elf *image_debug_open(const char *build_id, int *ret_fd);
bool image_line_of(Dwarf *dwarf, uint64_t address, const char **ret_file, uint32_t *ret_line);

#endif
