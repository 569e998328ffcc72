/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls by number and by name, classes and families.
 */
#include <string.h>

#include "sys/sys.h"
#include "test.h"

static void numbers_have_names(void **state)
{
	(void)state;
	assert_int_equal(sys_call_id(SYS_ARCH_X86_64, 0), CALL_read);
	assert_int_equal(sys_call_id(SYS_ARCH_X86_64, 257), CALL_openat);
	assert_int_equal(sys_call_id(SYS_ARCH_AARCH64, 56), CALL_openat);
	assert_int_equal(sys_call_id(SYS_ARCH_X86_64, 464), CALL_getxattrat);
	assert_int_equal(sys_call_id(SYS_ARCH_AARCH64, 464), CALL_getxattrat);
	assert_int_equal(sys_call_id(SYS_ARCH_X86_64, 469), CALL_file_setattr);
	assert_int_equal(sys_call_id(SYS_ARCH_X86_64, 335), CALL_uretprobe);
	assert_int_equal(sys_call_nr(SYS_ARCH_X86_64, CALL_stat), 4);
	assert_int_equal(sys_call_nr(SYS_ARCH_AARCH64, CALL_stat), -1);
	assert_int_equal(sys_call_nr(SYS_ARCH_AARCH64, CALL_newfstatat), 79);
	assert_int_equal(sys_call_nr(SYS_ARCH_I386, CALL_read), -1);
	assert_int_equal(sys_call_nr(SYS_ARCH_X86_64, CALL_unknown), -1);
}

static void odd_numbers_are_unknown(void **state)
{
	static const int32_t odd[] = { -1, INT32_MIN, INT32_MAX, 0x40000000, 0x40000000 + 1, 400, 1023, 1024, 9999 };

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (int arch = 0; arch < SYS_ARCH_COUNT; arch++)
			assert_int_equal(sys_call_id((enum sys_arch)arch, odd[i]), CALL_unknown);
	assert_int_equal(sys_call_id(SYS_ARCH_I386, 5), CALL_unknown);
	assert_int_equal(sys_call_id((enum sys_arch)77, 5), CALL_unknown);
	assert_string_equal(sys_call((enum sys_call_id)9999)->name, "unknown");
	assert_int_equal(sys_call(CALL_unknown)->nargs, 0);
	assert_non_null(sys_kind(255));
}

static void every_number_goes_both_ways(void **state)
{
	static const enum sys_arch arches[] = { SYS_ARCH_X86_64, SYS_ARCH_AARCH64 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		unsigned count = 0;

		for (int32_t nr = 0; nr < 1024; nr++) {
			enum sys_call_id id = sys_call_id(arches[i], nr);

			if (!id)
				continue;
			count++;
			assert_int_equal(sys_call_nr(arches[i], id), nr);
			assert_int_equal(sys_call_by_name(sys_call(id)->name), id);
		}
		assert_true(count > 310);
	}
	for (int id = 1; id < CALL_COUNT; id++)
		assert_int_equal(sys_call_by_name(sys_call((enum sys_call_id)id)->name), id);
}

static void names_are_found(void **state)
{
	(void)state;
	assert_int_equal(sys_call_by_name("openat"), CALL_openat);
	assert_int_equal(sys_call_by_name("_sysctl"), CALL__sysctl);
	assert_int_equal(sys_call_by_name("write"), CALL_write);
	assert_int_equal(sys_call_by_name("unknown"), CALL_unknown);
	assert_int_equal(sys_call_by_name(""), CALL_unknown);
	assert_int_equal(sys_call_by_name("Openat"), CALL_unknown);
}

static void slips_find_the_nearest(void **state)
{
	(void)state;
	assert_string_equal(sys_call_nearest("opneat"), "openat");
	assert_string_equal(sys_call_nearest("lgetxatr"), "lgetxattr");
	assert_string_equal(sys_call_nearest("fstt"), "fstat");
	assert_string_equal(sys_call_nearest("openat"), "openat");
	assert_null(sys_call_nearest("hippopotamus"));
	assert_null(sys_call_nearest(""));
	assert_null(sys_call_nearest("zz"));
}

static void calls_print(void **state)
{
	char buf[SYS_NAME_MAX];
	int32_t openat = sys_call_nr(SYS_ARCH_NATIVE, CALL_openat);

	(void)state;
	assert_string_equal(sys_call_print(SYS_ARCH_NATIVE, openat, buf), "openat");
	assert_string_equal(sys_call_print(SYS_ARCH_NATIVE, 999, buf), "call_999");
	assert_string_equal(sys_call_print(SYS_ARCH_NATIVE, -1, buf), "call_-1");
	assert_string_equal(sys_call_print(SYS_ARCH_I386, 5, buf), "call_5 (i386)");
	assert_string_equal(sys_call_print(SYS_ARCH_X32, 0x40000201, buf), "call_1073742337 (x32)");
	assert_string_equal(sys_call_print(SYS_ARCH_AARCH64, 56, buf), "openat");
	assert_string_equal(sys_call_print((enum sys_arch)99, INT32_MIN, buf),
			    "call_-2147483648 (unknown architecture)");
}

static void arguments_have_names_and_kinds(void **state)
{
	const struct sys_call *call = sys_call(CALL_getxattrat);

	(void)state;
	assert_int_equal(call->nargs, 6);
	assert_string_equal(call->args[1].name, "path");
	assert_int_equal(call->args[0].kind, KIND_dirfd);
	assert_int_equal(call->args[1].kind, KIND_path);
	assert_int_equal(call->args[3].kind, KIND_attr);
	assert_int_equal(call->args[4].kind, KIND_xattr_args);
	assert_int_equal(sys_call(CALL_getpid)->nargs, 0);
	assert_string_equal(sys_kind(KIND_stat_out)->name, "stat_out");
	assert_int_equal(sys_kind_bytes(SYS_ARCH_X86_64, sys_kind(KIND_stat_out)), 144);
	assert_int_equal(sys_kind_bytes(SYS_ARCH_AARCH64, sys_kind(KIND_stat_out)), 128);
	assert_int_equal(sys_kind_bytes(SYS_ARCH_I386, sys_kind(KIND_stat_out)), 0);
}

static void some_addresses_depend_on_others(void **state)
{
	uint64_t args[6] = { 0 };

	(void)state;
	assert_false(sys_kind_applies(KIND_flock_in, args));
	args[1] = 6; /* F_SETLK */
	assert_true(sys_kind_applies(KIND_flock_in, args));
	args[1] = 38; /* F_OFD_SETLKW */
	assert_true(sys_kind_applies(KIND_flock_in, args));
	args[1] = 4; /* F_SETFL */
	assert_false(sys_kind_applies(KIND_flock_in, args));
	args[1] = 2; /* EPOLL_CTL_DEL */
	assert_false(sys_kind_applies(KIND_event_in, args));
	args[1] = 1; /* EPOLL_CTL_ADD; the upper half of an int is noise */
	assert_true(sys_kind_applies(KIND_event_in, args));
	args[1] = UINT64_C(0xffffffff00000002);
	assert_false(sys_kind_applies(KIND_event_in, args));
	assert_false(sys_kind_applies(KIND_pidfd_out, args));
	args[0] = 0x1000;
	assert_true(sys_kind_applies(KIND_pidfd_out, args));
	assert_true(sys_kind_applies(KIND_path, args));
}

static void classes_are_found(void **state)
{
	(void)state;
	assert_true(sys_class("%file") == SYS_CLASS_file);
	assert_true(sys_class("file") == SYS_CLASS_file);
	assert_true(sys_class("@xattr") == SYS_FAMILY_xattr);
	assert_true(sys_class("%net") == SYS_CLASS_network);
	assert_true(sys_class("%%stat") == SYS_FAMILY_stat);
	/* Without a sign it is a class, never a family. */
	assert_true(sys_class("xattr") == 0);
	assert_true(sys_class("stat") == SYS_CLASS_stat);
	assert_true(sys_class("@stat") == SYS_FAMILY_stat);
	assert_true(sys_class("%magic") == 0);
	assert_true(sys_class("") == 0);
	assert_true(sys_class("%") == 0);
}

static void classes_can_be_listed(void **state)
{
	uint64_t all = 0, bit;
	const char *name;
	size_t n = 0;

	(void)state;
	while ((name = sys_class_name(n, &bit))) {
		assert_true(bit && !(bit & (bit - 1)));
		assert_false(all & bit);
		assert_true(sys_class(name) == bit);
		all |= bit;
		n++;
	}
	assert_true(n > 40 && n <= 64);
	assert_null(sys_class_name(1000, &bit));
	/* None is empty. */
	for (int id = 1; id < CALL_COUNT; id++)
		all &= ~sys_call((enum sys_call_id)id)->classes;
	assert_true(all == 0);
}

/* Exactly these calls and no others are in the family. */
static void family_is(const char *family, const char *const *names)
{
	uint64_t bit = sys_class(family);
	unsigned count = 0, wanted = 0;

	assert_true(bit != 0);
	for (; names[wanted]; wanted++) {
		enum sys_call_id id = sys_call_by_name(names[wanted]);

		if (!id || !(sys_call(id)->classes & bit))
			fail_msg("%s is not in %s", names[wanted], family);
	}
	for (int id = 1; id < CALL_COUNT; id++)
		count += !!(sys_call((enum sys_call_id)id)->classes & bit);
	if (count != wanted)
		fail_msg("%s has %u calls, not %u", family, count, wanted);
}

#define FAMILY(name, ...) family_is(name, (const char *const[]){ __VA_ARGS__, NULL })

static void families_are_whole(void **state)
{
	(void)state;
	FAMILY("@xattr", "getxattr", "lgetxattr", "fgetxattr", "getxattrat", "setxattr", "lsetxattr", "fsetxattr",
	       "setxattrat", "listxattr", "llistxattr", "flistxattr", "listxattrat", "removexattr", "lremovexattr",
	       "fremovexattr", "removexattrat");
	FAMILY("@getxattr", "getxattr", "lgetxattr", "fgetxattr", "getxattrat");
	FAMILY("@listxattr", "listxattr", "llistxattr", "flistxattr", "listxattrat");
	FAMILY("@close", "close", "close_range");
	FAMILY("@stat", "stat", "lstat", "fstat", "newfstatat", "statx");
	FAMILY("@statfs", "statfs", "fstatfs", "ustat");
	FAMILY("@open", "open", "openat", "openat2", "creat", "open_by_handle_at");
	FAMILY("@access", "access", "faccessat", "faccessat2");
	FAMILY("@read", "read", "pread64", "readv", "preadv", "preadv2");
	FAMILY("@write", "write", "pwrite64", "writev", "pwritev", "pwritev2");
	FAMILY("@readlink", "readlink", "readlinkat");
	FAMILY("@unlink", "unlink", "unlinkat", "rmdir");
	FAMILY("@rename", "rename", "renameat", "renameat2");
	FAMILY("@link", "link", "linkat", "symlink", "symlinkat");
	FAMILY("@seek", "lseek");
	FAMILY("@getdents", "getdents", "getdents64");
	FAMILY("@poll", "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2");
	FAMILY("@epoll", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2");
	FAMILY("@exec", "execve", "execveat");
	FAMILY("@fork", "fork", "vfork", "clone", "clone3");
	FAMILY("@wait", "wait4", "waitid");
	FAMILY("@exit", "exit", "exit_group");
	FAMILY("@sync", "sync", "syncfs", "fsync", "fdatasync", "sync_file_range", "msync");
	FAMILY("@lock", "flock");
	FAMILY("@kill", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal");
	FAMILY("@gettime", "time", "gettimeofday", "clock_gettime", "clock_getres", "times");
	FAMILY("@sleep", "nanosleep", "clock_nanosleep");
	FAMILY("@futex", "futex", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue");
	FAMILY("@recv", "recvfrom", "recvmsg", "recvmmsg");
	FAMILY("@send", "sendto", "sendmsg", "sendmmsg");
	FAMILY("%pure", "getpid", "gettid", "getppid", "getpgrp", "getuid", "geteuid", "getgid", "getegid");
	FAMILY("%fstat", "fstat", "newfstatat", "statx");
	FAMILY("%creds", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "setuid",
	       "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups",
	       "capget", "capset", "prctl");
}

/* A name behind a path argument is what %file means. */
static void calls_with_a_path_are_in_file(void **state)
{
	(void)state;
	for (int id = 1; id < CALL_COUNT; id++) {
		const struct sys_call *call = sys_call((enum sys_call_id)id);

		for (unsigned arg = 0; arg < call->nargs; arg++) {
			bool path = call->args[arg].kind == KIND_path || call->args[arg].kind == KIND_path_enter;
			bool fd = call->args[arg].kind == KIND_dirfd;

			if (path && !(call->classes & SYS_CLASS_file))
				fail_msg("%s has a path and is not in %%file", call->name);
			if (fd && !(call->classes & SYS_CLASS_desc))
				fail_msg("%s has a descriptor and is not in %%desc", call->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_names),
		cmocka_unit_test(odd_numbers_are_unknown),
		cmocka_unit_test(every_number_goes_both_ways),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(slips_find_the_nearest),
		cmocka_unit_test(calls_print),
		cmocka_unit_test(arguments_have_names_and_kinds),
		cmocka_unit_test(some_addresses_depend_on_others),
		cmocka_unit_test(classes_are_found),
		cmocka_unit_test(classes_can_be_listed),
		cmocka_unit_test(families_are_whole),
		cmocka_unit_test(calls_with_a_path_are_in_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
