/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps out of code that is made at run time and has no rules, of two makers
 * whose frames are always alike.  What comes out is a proposal: whoever takes
 * it has to see a call before the address, or code of the same maker.
 */
#include <string.h>

#include "stack/book.h"
#include "stack/unwind.h"

#ifdef __x86_64__

#define BP 6

/*
 * Python's own (-X perf): sub $8, %rsp; call *%rcx; add $8, %rsp; ret, and
 * before that endbr64 where it was built so.  It touches no other register.
 */
static bool is_python(const struct jit_symbol *symbol, uint64_t into)
{
	if (strncmp(symbol->name, "py::", 4) != 0)
		return false;
	/* Some are told with what fills them up to the next. */
	return (into == 6 && symbol->bytes >= 11 && symbol->bytes <= 16) ||
	       (into == 10 && symbol->bytes >= 15 && symbol->bytes <= 16);
}

static enum unwind_result step_python(struct unwind *u)
{
	uint64_t sp = u->reg[UNWIND_SP], pc;

	if (!unwind_read(u, sp + 8, &pc))
		return UNWIND_NO_MEMORY;
	u->pc = pc;
	u->reg[UNWIND_SP] = sp + 16;
	return UNWIND_CALLER;
}

/* V8's, made at run time or built into its file: whatever calls has a frame with the
 * caller's frame pointer and the return address at its own; what else it keeps where
 * is not known. */
static enum unwind_result step_v8(struct unwind *u)
{
	uint64_t frame = u->reg[BP], outer, pc;

	if (!(u->known >> BP & 1) || frame < u->reg[UNWIND_SP])
		return UNWIND_NO_RULES;
	if (!unwind_read(u, frame, &outer) || !unwind_read(u, frame + 8, &pc))
		return UNWIND_NO_MEMORY;
	u->pc = pc;
	u->reg[BP] = outer;
	u->reg[UNWIND_SP] = frame + 16;
	u->known = UINT64_C(1) << BP | UINT64_C(1) << UNWIND_SP;
	return UNWIND_CALLER;
}

bool unwind_is_v8(const char *symbol)
{
	return symbol && strncmp(symbol, "Builtins_", 9) == 0;
}

enum unwind_result unwind_made(struct unwind *u, const struct jit_symbol *symbol, bool v8)
{
	if (u->exact)
		return UNWIND_NO_RULES;
	if (symbol && is_python(symbol, u->pc - symbol->start))
		return step_python(u);
	return v8 ? step_v8(u) : UNWIND_NO_RULES;
}

bool unwind_after_call(struct image *image, uint64_t address)
{
	const uint8_t *at = image_bytes(image, address - 7, 7);

	if (!at)
		return false;
	/* call *reg, *disp8(reg), *disp32(reg), and of the upper registers; call near */
	return (at[5] == 0xff && (at[6] & 0xf8) == 0xd0) || (at[4] == 0xff && (at[5] & 0xf8) == 0x50) ||
	       (at[3] == 0xff && at[4] == 0x54) || (at[1] == 0xff && ((at[2] & 0xf8) == 0x90 || at[2] == 0x15)) ||
	       (at[0] == 0xff && at[1] == 0x94) || at[2] == 0xe8;
}

#else

bool unwind_is_v8(const char *symbol)
{
	(void)symbol;
	return false;
}

enum unwind_result unwind_made(struct unwind *u, const struct jit_symbol *symbol, bool v8)
{
	(void)u;
	(void)symbol;
	(void)v8;
	return UNWIND_NO_RULES;
}

bool unwind_after_call(struct image *image, uint64_t address)
{
	(void)image;
	(void)address;
	return false;
}

#endif
