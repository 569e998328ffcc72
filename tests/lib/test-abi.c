/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes, offsets and values that programs were built with, on 64-bit machines.
 * A row changes only when a field is added at the end; then it gets company.
 */
#include "syscull/mark.h"
#include "syscull/proc.h"
#include "syscull/xattr.h"

#include "check.h"

#define AT(type, field, offset) CHECK_EQUAL(offsetof(struct type, field), offset)

int main(void)
{
	if (sizeof(void *) != 8)
		SKIP("the rows are of 64-bit machines");
	CHECK_EQUAL(SYSCULL_MARK_NAME_MAX, 200);

	CHECK_EQUAL(sizeof(struct syscull_xattr_memo_options), 16);
	AT(syscull_xattr_memo_options, flags, 8);
	AT(syscull_xattr_memo_options, max_age_ms, 12);
	CHECK_EQUAL(sizeof(struct syscull_xattr_file), 48);
	AT(syscull_xattr_file, path, 8);
	AT(syscull_xattr_file, dirfd, 16);
	AT(syscull_xattr_file, flags, 20);
	AT(syscull_xattr_file, have, 24);
	AT(syscull_xattr_file, mode, 28);
	AT(syscull_xattr_file, dev_major, 32);
	AT(syscull_xattr_file, dev_minor, 36);
	AT(syscull_xattr_file, mount_id, 40);
	CHECK_EQUAL(sizeof(struct syscull_xattr_answers), 80);
	AT(syscull_xattr_answers, present, 8);
	AT(syscull_xattr_answers, absent, 12);
	AT(syscull_xattr_answers, unknown, 16);
	AT(syscull_xattr_answers, unsupported, 20);
	AT(syscull_xattr_answers, errors, 24);
	AT(syscull_xattr_answers, label, 56);
	AT(syscull_xattr_answers, label_size, 64);
	AT(syscull_xattr_answers, label_length, 72);
	CHECK_EQUAL(sizeof(struct syscull_xattr_counters), 40);
	CHECK_EQUAL(SYSCULL_XATTR_ACL_ACCESS, 1);
	CHECK_EQUAL(SYSCULL_XATTR_ACL_DEFAULT, 2);
	CHECK_EQUAL(SYSCULL_XATTR_ACL_NFS4, 4);
	CHECK_EQUAL(SYSCULL_XATTR_SELINUX, 8);
	CHECK_EQUAL(SYSCULL_XATTR_SMACK, 16);
	CHECK_EQUAL(SYSCULL_XATTR_CAPABILITY, 32);
	CHECK_EQUAL(SYSCULL_XATTR_USER, 64);

	CHECK_EQUAL(sizeof(struct syscull_reader_options), 48);
	AT(syscull_reader_options, limit, 32);
	AT(syscull_reader_options, flags, 40);
	CHECK_EQUAL(sizeof(struct syscull_reader), 136);
	AT(syscull_reader, reads, 8);
	AT(syscull_reader, spare, 104);
	CHECK_EQUAL(sizeof(struct syscull_text), 24);
	AT(syscull_text, flags, 16);
	CHECK_EQUAL(sizeof(struct syscull_pool_options), 24);
	AT(syscull_pool_options, most, 20);
	CHECK_EQUAL(sizeof(struct syscull_status), 584);
	AT(syscull_status, numbers, 8);
	AT(syscull_status, name, 504);
	AT(syscull_status, groups, 528);
	CHECK_EQUAL(sizeof(struct syscull_stat), 544);
	AT(syscull_stat, numbers, 8);
	AT(syscull_stat, comm, 520);
	CHECK_EQUAL(sizeof(struct syscull_statm), 40);
	CHECK_EQUAL(sizeof(struct syscull_map), 88);
	AT(syscull_map, path, 48);
	AT(syscull_map, flags, 40);
	CHECK_EQUAL(sizeof(struct syscull_smaps), 504);
	AT(syscull_smaps, numbers, 96);
	AT(syscull_smaps, vm_flags, 480);
	CHECK_EQUAL(sizeof(struct syscull_fdinfo), 64);
	AT(syscull_fdinfo, rest, 24);
	CHECK_EQUAL(sizeof(struct syscull_mount), 192);
	AT(syscull_mount, root, 32);
	AT(syscull_mount, super_options, 152);
	CHECK_EQUAL(sizeof(struct syscull_cgroup), 56);
	CHECK_EQUAL(sizeof(struct syscull_ids), 72);
	AT(syscull_ids, cgroup_id, 48);
	CHECK_EQUAL(sizeof(struct syscull_proc_node), 112);
	AT(syscull_proc_node, comm, 33);
	CHECK_EQUAL(sizeof(struct syscull_proc_tree), 48);
	AT(syscull_proc_tree, nodes, 8);
	CHECK_EQUAL(sizeof(struct syscull_proc_tree_options), 32);
	AT(syscull_proc_tree_options, visit, 16);
	CHECK_EQUAL(SYSCULL_STATUS_INVOLUNTARY_SWITCHES, 48);
	CHECK_EQUAL(SYSCULL_SMAPS_PROTECTION_KEY, 26);
	CHECK_EQUAL(SYSCULL_SMAPS_PSS, 4);
	CHECK_EQUAL(SYSCULL_STATUS_VM_RSS, 22);
	return check_done();
}
