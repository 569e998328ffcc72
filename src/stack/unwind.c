/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/unwind.h"

#include <errno.h>
#include <string.h>

bool unwind_read(const struct unwind *u, uint64_t address, uint64_t *ret)
{
	if (address < u->memory_start || u->memory_bytes < sizeof *ret ||
	    address - u->memory_start > u->memory_bytes - sizeof *ret)
		return false;
	memcpy(ret, u->memory + (address - u->memory_start), sizeof *ret);
	return true;
}

enum found { FOUND, FOUND_NONE, FOUND_NO_MEMORY, FOUND_BROKEN };

static enum found value_of(const struct unwind *u, Dwarf_Frame *frame, int number, uint64_t cfa, uint64_t *ret)
{
	Dwarf_Op memory[3], *ops;
	size_t count;
	bool value;
	int r;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return FOUND_BROKEN;
	if (count == 0 && ops == memory)
		return FOUND_NONE;
	if (count == 0) {
		if (number >= UNWIND_COUNT || !(u->known >> number & 1))
			return FOUND_NONE;
		*ret = u->reg[number];
		return FOUND;
	}
	r = unwind_expr(u, ops, count, &cfa, ret, &value);
	if (r == 0 && !value && !unwind_read(u, *ret, ret))
		r = -EFAULT;
	return r == 0 ? FOUND : r == -EFAULT ? FOUND_NO_MEMORY : FOUND_BROKEN;
}

enum unwind_result unwind_step(struct unwind *u, struct image *image, uint64_t bias)
{
	Dwarf_Frame *frame = image_cfi(image, u->pc - bias - (u->exact ? 0 : 1));
	struct unwind next = *u;
	bool is_signal, value;
	uint64_t cfa;
	Dwarf_Op *ops;
	size_t count;
	int link, r;

	if (!frame)
		return UNWIND_NO_RULES;
	link = dwarf_frame_info(frame, NULL, NULL, &is_signal);
	if (link < 0 || dwarf_frame_cfa(frame, &ops, &count) != 0)
		return UNWIND_BROKEN;
	r = unwind_expr(u, ops, count, NULL, &cfa, &value);
	if (r < 0)
		return r == -EFAULT ? UNWIND_NO_MEMORY : UNWIND_BROKEN;
	next.known = 0;
	for (int i = 0; i < UNWIND_COUNT; i++) {
		/* What is not restored is merely unknown; a later rule may not need it. */
		if (value_of(u, frame, i, cfa, &next.reg[i]) == FOUND)
			next.known |= UINT64_C(1) << i;
	}
	switch (value_of(u, frame, link, cfa, &next.pc)) {
	case FOUND_NONE:
		return UNWIND_END;
	case FOUND_NO_MEMORY:
		return UNWIND_NO_MEMORY;
	case FOUND_BROKEN:
		return UNWIND_BROKEN;
	case FOUND:
		break;
	}
	next.pc = UNWIND_POINTER(next.pc);
	if (next.pc == 0)
		return UNWIND_END;
	if (!(next.known >> UNWIND_SP & 1)) {
		next.reg[UNWIND_SP] = cfa;
		next.known |= UINT64_C(1) << UNWIND_SP;
	}
	/* A handler can have a stack of its own; all others only grow. */
	if (!is_signal &&
	    (next.reg[UNWIND_SP] < u->reg[UNWIND_SP] || (next.reg[UNWIND_SP] == u->reg[UNWIND_SP] && next.pc == u->pc)))
		return UNWIND_BROKEN;
	next.exact = is_signal;
	*u = next;
	return UNWIND_CALLER;
}

#ifdef __x86_64__

#define SCAN_MOST 48
#define RBP 6
/* What a function gives back as it was: the others mean nothing behind a call. */
#define SAVED (UINT64_C(1) << 3 | UINT64_C(1) << RBP | UINT64_C(0xf) << 12)

/* Register numbers of instructions are not those of DWARF. */
static unsigned dwarf_register(unsigned encoded)
{
	static const uint8_t names[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return encoded < 8 ? names[encoded] : encoded;
}

static bool pop(struct unwind *u, uint64_t *ret)
{
	if (!unwind_read(u, u->reg[UNWIND_SP], ret))
		return false;
	u->reg[UNWIND_SP] += 8;
	return true;
}

/* Instructions between registers alone, and comparisons: their length, 0 for any other. */
static unsigned plain(const uint8_t *at, struct unwind *u)
{
	unsigned rex = (at[0] & 0xf0) == 0x40 ? 1 : 0, wide = rex ? at[0] & 8 : 0, modrm = at[rex + 1], target;

	switch (at[rex]) {
	case 0x90:
	case 0x98: /* cltq */
	case 0x99:
		return rex + 1;
	case 0x3d: /* cmp $n, %eax */
		return rex + 5;
	case 0x89: /* mov reg, reg */
	case 0x31: /* xor reg, reg */
	case 0x63: /* movslq */
	case 0x8b:
		if (modrm >> 6 != 3)
			return 0;
		target = at[rex] == 0x63 || at[rex] == 0x8b ? (modrm >> 3 & 7) | (rex ? (at[0] & 4) << 1 : 0)
							    : (modrm & 7) | (rex ? (at[0] & 1) << 3 : 0);
		if (target == 4)
			return 0;
		u->known &= ~(UINT64_C(1) << dwarf_register(target));
		return rex + 2;
	case 0x85: /* test */
	case 0x39: /* cmp */
	case 0x3b:
		return modrm >> 6 == 3 ? rex + 2 : 0;
	case 0xf7: /* neg */
		if (modrm >> 3 != (0xd8 >> 3) || (modrm & 7) == 4)
			return 0;
		u->known &= ~(UINT64_C(1) << dwarf_register((modrm & 7) | (rex ? (at[0] & 1) << 3 : 0)));
		return rex + 2;
	case 0x83: /* cmp $n, reg */
		return modrm >> 3 == (0xf8 >> 3) ? rex + 3 : 0;
	case 0xb8: /* mov $n, %eax */
		return wide ? 0 : rex + 5;
	case 0xc7: /* mov $n, %rax */
		return modrm == 0xc0 ? rex + 6 : 0;
	default:
		return 0;
	}
}

/* The rest of a small wrapper, up to its return. */
enum unwind_result unwind_scan(struct unwind *u, struct image *image, uint64_t bias)
{
	struct unwind next = *u;
	uint64_t address = u->pc - bias;

	for (unsigned n = 0; n < SCAN_MOST; n++) {
		const uint8_t *at = image_bytes(image, address, 8);
		unsigned rex, length;
		int32_t near;

		if (!at)
			return UNWIND_NO_RULES;
		rex = at[0] == 0x41;
		if (at[0] == 0xc3 || (at[0] == 0xf3 && at[1] == 0xc3)) {
			if (!pop(&next, &next.pc))
				return UNWIND_NO_MEMORY;
			next.known &= SAVED | UINT64_C(1) << UNWIND_SP;
			next.exact = false;
			*u = next;
			return UNWIND_CALLER;
		}
		if ((at[rex] & 0xf8) == 0x58) {
			unsigned number = dwarf_register((at[rex] & 7u) | rex << 3);

			if (number == UNWIND_SP || !pop(&next, &next.reg[number]))
				return UNWIND_NO_RULES;
			next.known |= UINT64_C(1) << number;
			address += rex + 1;
		} else if (at[0] == 0x48 && at[1] == 0x83 && at[2] == 0xc4 && at[3] < 0x80) {
			next.reg[UNWIND_SP] += at[3];
			address += 4;
		} else if (at[0] == 0x48 && at[1] == 0x81 && at[2] == 0xc4) {
			memcpy(&near, at + 3, sizeof near);
			if (near < 0)
				return UNWIND_NO_RULES;
			next.reg[UNWIND_SP] += (uint64_t)near;
			address += 7;
		} else if (at[0] == 0xe8) {
			next.known &= SAVED | UINT64_C(1) << UNWIND_SP;
			address += 5;
		} else if (at[0] == 0xe9) {
			memcpy(&near, at + 1, sizeof near);
			address += 5 + (uint64_t)(int64_t)near;
		} else if (at[0] == 0xeb) {
			address += 2 + (uint64_t)(int64_t)(int8_t)at[1];
		} else if ((at[0] & 0xf0) == 0x70) {
			address += 2;
		} else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80) {
			address += 6;
		} else {
			length = plain(at, &next);
			if (length == 0)
				return UNWIND_NO_RULES;
			address += length;
		}
	}
	return UNWIND_NO_RULES;
}

#else

enum unwind_result unwind_scan(struct unwind *u, struct image *image, uint64_t bias)
{
	(void)u;
	(void)image;
	(void)bias;
	return UNWIND_NO_RULES;
}

#endif
