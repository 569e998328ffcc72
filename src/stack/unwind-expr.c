/* SPDX-License-Identifier: BSD-2-Clause */
/* DWARF expressions, as far as unwind rules have them.  What is not here is refused. */
#include <errno.h>

#include "stack/unwind.h"

#define DEPTH 32
#define STEPS_MAX 1024

static int register_value(const struct unwind *u, uint64_t number, uint64_t *ret)
{
	if (number >= UNWIND_COUNT || !(u->known >> number & 1))
		return -EINVAL;
	*ret = u->reg[number];
	return 0;
}

static int binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (atom) {
	case DW_OP_plus:
		*ret = a + b;
		return 0;
	case DW_OP_minus:
		*ret = a - b;
		return 0;
	case DW_OP_mul:
		*ret = a * b;
		return 0;
	case DW_OP_and:
		*ret = a & b;
		return 0;
	case DW_OP_or:
		*ret = a | b;
		return 0;
	case DW_OP_xor:
		*ret = a ^ b;
		return 0;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return 0;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return 0;
	case DW_OP_eq:
		*ret = a == b;
		return 0;
	case DW_OP_ne:
		*ret = a != b;
		return 0;
	case DW_OP_ge:
		*ret = (int64_t)a >= (int64_t)b;
		return 0;
	case DW_OP_gt:
		*ret = (int64_t)a > (int64_t)b;
		return 0;
	case DW_OP_le:
		*ret = (int64_t)a <= (int64_t)b;
		return 0;
	case DW_OP_lt:
		*ret = (int64_t)a < (int64_t)b;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Pushes one value: 0, or -ENOENT when the operation does no such thing. */
static int push(const struct unwind *u, const Dwarf_Op *op, const uint64_t *cfa, uint64_t *ret)
{
	int r;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		*ret = op->atom - DW_OP_lit0;
		return 0;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		r = register_value(u, op->atom - DW_OP_breg0, ret);
		*ret += op->number;
		return r;
	}
	switch (op->atom) {
	case DW_OP_bregx:
		r = register_value(u, op->number, ret);
		*ret += op->number2;
		return r;
	case DW_OP_call_frame_cfa:
		if (!cfa)
			return -EINVAL;
		*ret = *cfa;
		return 0;
	case DW_OP_addr:
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		*ret = op->number;
		return op->atom == DW_OP_addr ? -EINVAL : 0;
	default:
		return -ENOENT;
	}
}

int unwind_expr(const struct unwind *u, const Dwarf_Op *ops, size_t count, const uint64_t *cfa, uint64_t *ret,
		bool *ret_value)
{
	uint64_t stack[DEPTH], value;
	size_t used = 0;

	*ret_value = false;
	if (count > STEPS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];
		int r = push(u, op, cfa, &value);

		if (r == 0) {
			if (used == DEPTH)
				return -EINVAL;
			stack[used++] = value;
			continue;
		}
		if (r != -ENOENT)
			return r;
		if (count == 1 && ((op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) || op->atom == DW_OP_regx)) {
			*ret_value = true;
			value = op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0;
			return register_value(u, value, ret);
		}
		if (used == 0)
			return -EINVAL;
		switch (op->atom) {
		case DW_OP_plus_uconst:
			stack[used - 1] += op->number;
			continue;
		case DW_OP_deref:
			if (!unwind_read(u, stack[used - 1], &stack[used - 1]))
				return -EFAULT;
			continue;
		case DW_OP_neg:
			stack[used - 1] = -stack[used - 1];
			continue;
		case DW_OP_dup:
			if (used == DEPTH)
				return -EINVAL;
			stack[used] = stack[used - 1];
			used++;
			continue;
		case DW_OP_drop:
			used--;
			continue;
		case DW_OP_nop:
			continue;
		case DW_OP_stack_value:
			*ret_value = true;
			continue;
		default:
			break;
		}
		if (used < 2 || binary(op->atom, stack[used - 2], stack[used - 1], &value) < 0)
			return -EINVAL;
		stack[--used - 1] = value;
	}
	if (used == 0)
		return -EINVAL;
	*ret = stack[used - 1];
	return 0;
}
