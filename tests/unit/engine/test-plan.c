/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs in the kernel are to copy, held against the capture table. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/bpf/bpf.h"

static struct kern_plan plans[KERN_NRS];

/* The op of an argument; NULL when nothing is copied of it. */
static const struct kern_op *op_of(const struct kern_plan *plan, unsigned arg, enum sys_item item, bool *ret_enter)
{
	for (unsigned i = 0; i < (unsigned)plan->enter_ops + plan->exit_ops; i++) {
		if (plan->op[i].arg == arg && plan->op[i].item == item) {
			*ret_enter = i < plan->enter_ops;
			return &plan->op[i];
		}
	}
	return NULL;
}

static void every_kind_is_copied_at_its_time(void **state)
{
	unsigned copied = 0;

	plan_make(plans, UINT64_MAX);
	for (int32_t nr = 0; nr < KERN_NRS; nr++) {
		const struct sys_call *call = sys_call(sys_call_id(SYS_ARCH_NATIVE, nr));

		assert_true(plans[nr].enter_ops + plans[nr].exit_ops <= KERN_OPS);
		for (unsigned arg = 0; arg < call->nargs; arg++) {
			const struct sys_kind *kind = sys_kind(call->args[arg].kind);
			bool at_enter = false;
			const struct kern_op *op = op_of(&plans[nr], arg, kind->item, &at_enter);

			if (kind->shape == SYS_SCALAR) {
				assert_null(op);
				continue;
			}
			assert_non_null(op);
			assert_true(at_enter == (kind->when == SYS_ENTER));
			assert_int_equal(op->max, kind->max);
			copied++;
		}
	}
	assert_true(copied > 100);
}

static void only_what_was_asked_for(void **state)
{
	bool at_enter;

	plan_make(plans, 0);
	for (int32_t nr = 0; nr < KERN_NRS; nr++)
		assert_int_equal(plans[nr].enter_ops + plans[nr].exit_ops, 0);
	plan_make(plans, SYS_ITEM_BIT(NAME));
	for (int32_t nr = 0; nr < KERN_NRS; nr++)
		for (unsigned i = 0; i < (unsigned)plans[nr].enter_ops + plans[nr].exit_ops; i++)
			assert_int_equal(plans[nr].op[i].item, SYS_ITEM_NAME);
	assert_non_null(op_of(&plans[sys_call_nr(SYS_ARCH_NATIVE, CALL_getxattr)], 1, SYS_ITEM_NAME, &at_enter));
}

/* The kernel's side counts as event_kind_count does. */
static void sizes_are_those_of_the_table(void **state)
{
	srand(5);
	plan_make(plans, UINT64_MAX);
	for (int32_t nr = 0; nr < KERN_NRS; nr++) {
		const struct sys_call *call = sys_call(sys_call_id(SYS_ARCH_NATIVE, nr));

		for (unsigned arg = 0; arg < call->nargs; arg++) {
			uint8_t id = call->args[arg].kind;
			const struct sys_kind *kind = sys_kind(id);
			bool at_enter, cut;
			const struct kern_op *op = op_of(&plans[nr], arg, kind->item, &at_enter);
			uint64_t args[6], count;

			if (!op || op->shape != KERN_BYTES || op->count == KERN_ONE)
				continue;
			for (unsigned i = 0; i < 6; i++)
				args[i] = (uint64_t)rand() % 40;
			count = args[op->count_arg];
			if (op->count == KERN_COUNT_RESULT)
				count = 7;
			if (op->count == KERN_COUNT_BITS)
				count = (args[0] + 7) / 8;
			count = count > op->max ? op->max : count;
			assert_int_equal(count, event_kind_count(id, arg, args, 7, &cut));
			assert_int_equal(op->bytes, kind->shape == SYS_SIZED || kind->shape == SYS_FDSET
							    ? 1
							    : sys_kind_bytes(SYS_ARCH_NATIVE, kind));
		}
	}
}

/* Where this machine's kernel tells its types, all is found that is not left out on purpose. */
static void fields_are_found(void **state)
{
	struct kern_offsets offsets;
	const char *missing;

	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		skip_part("no /sys/kernel/btf/vmlinux");
	assert_int_equal(fields_find(&offsets, &missing), 0);
	assert_true(offsets.task_pid != KERN_NO_FIELD && offsets.task_tgid > offsets.task_pid);
	assert_true(offsets.path_mnt == 0 && offsets.path_dentry == 8);
	assert_true(offsets.mm_arg_end == offsets.mm_arg_start + 8 && offsets.mm_env_end == offsets.mm_env_start + 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_is_copied_at_its_time),
		cmocka_unit_test(only_what_was_asked_for),
		cmocka_unit_test(sizes_are_those_of_the_table),
		cmocka_unit_test(fields_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
