/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs in the kernel are to copy, held against the capture table. */
#include "test.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static char folder[] = "/tmp/syscull-plan-XXXXXX";

static char *cache_path(void)
{
	static char path[128];

	(void)snprintf(path, sizeof path, "%s/syscull/kernel-fields", folder);
	return path;
}

static void rewrite(const char *text, size_t bytes)
{
	FILE *file = fopen(cache_path(), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

/* What is kept of the fields is used, and only when it is whole, of this boot and our own. */
static void fields_are_kept(void **state)
{
	struct kern_offsets found, again;
	char text[8192], forged[8192];
	struct fields_types types, types_again;
	const char *missing;
	size_t bytes;
	char *at;
	FILE *file;

	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		skip_part("no /sys/kernel/btf/vmlinux");
	assert_int_equal(fields_find_types(&found, &types, &missing), 0);
	assert_int_equal(fields_cache_read(&again, &types_again), 0);
	assert_memory_equal(&found, &again, sizeof found);
	assert_memory_equal(&types, &types_again, sizeof types);
	assert_int_not_equal(types.registers, 0);
	file = fopen(cache_path(), "r");
	assert_non_null(file);
	bytes = fread(text, 1, sizeof text - 1, file);
	text[bytes] = '\0';
	(void)fclose(file);

	/* Another offset of one digit less, more or else: it is what is believed. */
	memcpy(forged, text, bytes + 1);
	at = strstr(forged, "task_struct.pid ");
	assert_non_null(at);
	at = strchr(at, '\n') - 1;
	*at = *at == '4' ? '5' : '4';
	rewrite(forged, bytes);
	assert_int_equal(fields_find(&again, &missing), 0);
	assert_true(again.task_pid != found.task_pid && again.task_tgid == found.task_tgid);

	/* … but not when others may write it. */
	assert_int_equal(chmod(cache_path(), 0666), 0);
	assert_int_equal(fields_find(&again, &missing), 0);
	assert_memory_equal(&found, &again, sizeof found);

	/* Cut anywhere, or longer, it is not there. */
	for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 97) {
		rewrite(text, cut);
		assert_int_equal(fields_cache_read(&again, &types_again), -ENOENT);
	}
	memcpy(forged, text, bytes);
	memcpy(forged + bytes, "x 1\n", 4);
	rewrite(forged, bytes + 4);
	assert_int_equal(fields_cache_read(&again, &types_again), -ENOENT);
	/* Of another boot. */
	memcpy(forged, text, bytes + 1);
	at = strchr(forged, '\n') + 1;
	*at = *at == '0' ? '1' : '0';
	rewrite(forged, bytes);
	assert_int_equal(fields_cache_read(&again, &types_again), -ENOENT);
	/* Far away. */
	memcpy(forged, text, bytes + 1);
	at = strstr(forged, "task_struct.tgid ");
	assert_non_null(at);
	at += strlen("task_struct.tgid ");
	memmove(at + 4, at, strlen(at) + 1);
	memcpy(at, "9999", 4);
	rewrite(forged, strlen(forged));
	assert_int_equal(fields_cache_read(&again, &types_again), -ENOENT);
	/* All that is mended by looking anew. */
	assert_int_equal(fields_find(&again, &missing), 0);
	assert_memory_equal(&found, &again, sizeof found);
	assert_int_equal(fields_cache_read(&again, &types_again), 0);
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
		cmocka_unit_test(fields_are_kept),
	};
	int failed;

	if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) != 0)
		return 1;
	(void)unsetenv("SUDO_UID");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(cache_path());
	(void)rmdir(dirname(cache_path()));
	(void)rmdir(folder);
	return failed;
}
