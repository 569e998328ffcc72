/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who made a call, as src/stack finds out and findings tell: frames, the
 * instruction of the call first.  What is not known for certain is NULL or
 * missing, never a guess.
 */
#ifndef SYSCULL_MODEL_FRAME_H
#define SYSCULL_MODEL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_LIBC 0x01u /* in the C library or its loader */
#define FRAME_PROGRAM 0x02u /* in the program's own file */
#define FRAME_JIT 0x04u /* code made at run time; symbol as the program itself tells it, foreign text */

/* Texts live as long as what gave them out; all are foreign. */
struct frame {
	const char *module; /* path of the file; NULL: no file is mapped there */
	const char *build_id; /* hexadecimal; NULL: it has none, or was not read */
	const char *symbol; /* NULL: in none that is known, and its end too */
	const char *file; /* of the source; NULL unknown */
	const char *jump; /* between the next inner frame and this one that function was left by a jump: its name */
	uint64_t offset; /* in the file, as the debugger shows it: where a call returns to; address without module */
	uint64_t symbol_offset;
	uint32_t line;
	uint32_t flags; /* FRAME_… */
	bool jumped; /* … or an unnamed one */
};

struct frames {
	const struct frame *at;
	size_t count;
	size_t outer; /* the first outside the C library; count: not known */
	size_t program; /* the first in the program's own file; count: not known */
	bool outer_varies, program_varies; /* other calls of this site had another one */
	/* That all calls of this site had it is not known but of those whose stack was copied. */
	bool outer_sampled, program_sampled;
	bool whole; /* down to where the thread began */
	const char *why; /* why not further; NULL when whole */
};

#endif
