/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step from a frame to its caller, by the rules that compilers write
 * (CFI), never by guessing at frame pointers; of V8's code, which has no rules and
 * always has them, by those.  For the process without
 * privileges alone.
 */
#ifndef SYSCULL_STACK_UNWIND_H
#define SYSCULL_STACK_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack/image.h"

#define UNWIND_REGISTERS 40

/* Registers by their numbers in DWARF; pc in a place of its own. */
struct unwind {
	uint64_t reg[UNWIND_REGISTERS];
	uint64_t known; /* bit N: reg[N] is */
	uint64_t pc;
	bool exact; /* pc is where it stopped, not behind a call */
	const char *memory; /* a copy of the stack */
	uint64_t memory_start;
	size_t memory_bytes;
};

#if defined(__aarch64__)
#define UNWIND_SP 31
#define UNWIND_PC 32 /* in struct item_stack */
#define UNWIND_COUNT 32
#define UNWIND_POINTER(value) ((value)&UINT64_C(0xffffffffffff)) /* without a signature */
#else
#define UNWIND_SP 7
#define UNWIND_PC 16
#define UNWIND_COUNT 16
#define UNWIND_POINTER(value) (value)
#endif

enum unwind_result {
	UNWIND_CALLER, /* *u is the caller now */
	UNWIND_END, /* it has none: the thread began here */
	UNWIND_NO_RULES,
	UNWIND_NO_MEMORY, /* the copy of the stack ends before it */
	UNWIND_BROKEN,
};

bool unwind_read(const struct unwind *u, uint64_t address, uint64_t *ret);
/* Address of the code is pc - bias in the image. */
enum unwind_result unwind_step(struct unwind *u, struct image *image, uint64_t bias);
/* Without rules: by the rest of the function's own instructions, as far as they
 * are plain.  The result is only a proposal: whoever takes it has to see that
 * the caller's instruction really calls this function. */
enum unwind_result unwind_scan(struct unwind *u, struct image *image, uint64_t bias);

/* unwind-made.c: out of code without rules, by the frames that its maker always makes; symbol NULL,
 * it was not made at run time. */
struct jit_symbol;
enum unwind_result unwind_made(struct unwind *u, const struct jit_symbol *symbol, bool v8);
/* Is a function of this name V8's, built into the file? */
bool unwind_is_v8(const char *symbol);
/* Is a call before this address, as far as bytes can tell? */
bool unwind_after_call(struct image *image, uint64_t address);

/* unwind-expr.c: 0, -EFAULT no memory, -EINVAL.  *ret_value: the result is the value itself, else where it is. */
int unwind_expr(const struct unwind *u, const Dwarf_Op *ops, size_t count, const uint64_t *cfa, uint64_t *ret,
		bool *ret_value);

#endif
