/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture table as the programs in the kernel take it: what to copy of
 * each call, for the items that somebody asked for, and which calls need
 * something done beside that.
 */
#include <string.h>

#include "engine/bpf/bpf.h"

static uint16_t flags_of(enum sys_call_id id)
{
	switch ((int)id) {
	case CALL_fork:
		return KERN_MAKES_CHILD | KERN_FORK;
	case CALL_vfork:
		return KERN_MAKES_CHILD | KERN_VFORK;
	case CALL_clone:
		return KERN_MAKES_CHILD | KERN_CLONE;
	case CALL_clone3:
		return KERN_MAKES_CHILD | KERN_CLONE3;
	case CALL_execve:
	case CALL_execveat:
		return KERN_EXECS;
	case CALL_exit:
	case CALL_exit_group:
		return KERN_ENDS;
	case CALL_getppid:
	case CALL_getxattr:
		return KERN_PROBED;
	case CALL_mmap:
		return KERN_MAPS_CODE;
	case CALL_mprotect:
	case CALL_pkey_mprotect:
		return KERN_MAPS_CODE | KERN_MAPS_AT_FIRST;
	default:
		return 0;
	}
}

static uint8_t applies_of(uint8_t kind)
{
	switch (kind) {
	case KIND_pidfd_out:
		return KERN_WITH_PIDFD;
	case KIND_event_in:
		return KERN_NOT_DEL;
	case KIND_flock_in:
		return KERN_LOCKS;
	default:
		return KERN_ALWAYS;
	}
}

/* Counts are int, unsigned int or size_t, see event_kind_count. */
static uint8_t count_of(const struct sys_kind *kind)
{
	if (kind->shape == SYS_FDSET)
		return KERN_COUNT_BITS;
	if (kind->count_off == SYS_COUNT_IS_RESULT)
		return KERN_COUNT_RESULT;
	if (kind->count_off == 0)
		return KERN_ONE;
	if (kind->shape == SYS_SIZED)
		return KERN_COUNT_INT;
	if (kind->item == SYS_ITEM_POLLFDS || kind->item == SYS_ITEM_MSG)
		return KERN_COUNT_UINT;
	return KERN_COUNT_LONG;
}

static struct kern_op op_of(uint8_t kind_id, unsigned arg, uint64_t items)
{
	const struct sys_kind *kind = sys_kind(kind_id);
	struct kern_op op = {
		.item = kind->item,
		.arg = (uint8_t)arg,
		.applies = applies_of(kind_id),
		.count = count_of(kind),
		.bytes = (uint16_t)sys_kind_bytes(SYS_ARCH_NATIVE, kind),
		.max = kind->max,
	};

	if (kind->shape == SYS_FDSET)
		op.count_arg = 0;
	else if (op.count != KERN_ONE && op.count != KERN_COUNT_RESULT)
		op.count_arg = (uint8_t)((int)arg + kind->count_off);
	switch ((int)kind->shape) {
	case SYS_STRING:
		op.shape = KERN_TEXT;
		op.flags = kind->item == SYS_ITEM_CWD ? 0 : KERN_OP_GIVEN;
		break;
	case SYS_MSGHDR:
	case SYS_MMSGHDR:
		op.shape = KERN_MSG;
		op.flags = (items & SYS_ITEM_BIT(RIGHTS) ? KERN_OP_RIGHTS : 0) |
			   (kind->when == SYS_ENTER && (items & SYS_ITEM_BIT(SOCKADDR)) ? KERN_OP_SOCKADDR : 0);
		break;
	case SYS_SIZED:
	case SYS_FDSET:
		op.shape = KERN_BYTES;
		op.bytes = 1;
		break;
	default:
		op.shape = KERN_BYTES;
		break;
	}
	if (op.applies == KERN_ALWAYS &&
	    (op.shape == KERN_TEXT || (op.shape == KERN_BYTES && op.count == KERN_ONE && op.bytes <= KERN_SHORT)))
		op.flags |= KERN_OP_SHORT;
	return op;
}

static void add_ops(struct kern_plan *plan, const struct sys_call *call, uint64_t items, enum sys_when when)
{
	for (unsigned arg = 0; arg < call->nargs; arg++) {
		const struct sys_kind *kind = sys_kind(call->args[arg].kind);
		unsigned used = plan->enter_ops + plan->exit_ops;

		if (kind->when != when || kind->shape == SYS_SCALAR || !(items & (UINT64_C(1) << kind->item)))
			continue;
		if (used == KERN_OPS)
			return;
		plan->op[used] = op_of(call->args[arg].kind, arg, items);
		if (when == SYS_ENTER)
			plan->enter_ops++;
		else
			plan->exit_ops++;
	}
}

void plan_make(struct kern_plan plans[static KERN_NRS], uint64_t items)
{
	memset(plans, 0, KERN_NRS * sizeof *plans);
	for (int32_t nr = 0; nr < KERN_NRS; nr++) {
		enum sys_call_id id = sys_call_id(SYS_ARCH_NATIVE, nr);
		struct kern_plan *plan = &plans[nr];

		if (id == CALL_unknown)
			continue;
		plan->flags = flags_of(id);
		add_ops(plan, sys_call(id), items, SYS_ENTER);
		add_ops(plan, sys_call(id), items, SYS_EXIT);
		/* clone3's pidfd is not behind an argument but behind a member of one. */
		if (id == CALL_clone3 && (items & SYS_ITEM_BIT(PIDFD)) && plan->enter_ops + plan->exit_ops < KERN_OPS) {
			plan->op[plan->enter_ops + plan->exit_ops] = (struct kern_op){
				.shape = KERN_PIDFD,
				.item = SYS_ITEM_PIDFD,
				.bytes = sizeof(int32_t),
			};
			plan->exit_ops++;
		}
	}
}
