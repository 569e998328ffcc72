/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers against libseccomp's tables, both ways round.  libseccomp may
 * be older than our newest calls, never the other way round.
 */
#include <string.h>

#include "sys/sys.h"
#include "test.h"

#if HAVE_SECCOMP
#include <seccomp.h>

/* libseccomp has these under the number they have, our names are the kernel's. */
static bool is_newer(int32_t nr)
{
	return nr >= 447 || nr == 335 || nr == 336;
}

static void compare(enum sys_arch arch, uint32_t token)
{
	for (int id = 1; id < CALL_COUNT; id++) {
		const char *name = sys_call((enum sys_call_id)id)->name;
		int32_t ours = sys_call_nr(arch, (enum sys_call_id)id);
		int theirs = seccomp_syscall_resolve_name_arch(token, name);

		if (ours < 0) {
			/* Negative there too: a call of another architecture. */
			if (theirs >= 0)
				fail_msg("%s: %s is %d in libseccomp", sys_arch_name(arch), name, theirs);
		} else if (theirs != ours && !(is_newer(ours) && theirs < 0)) {
			fail_msg("%s: %s is %d here, %d in libseccomp", sys_arch_name(arch), name, ours, theirs);
		}
	}
	for (int nr = 0; nr < 1024; nr++) {
		char *theirs = seccomp_syscall_resolve_num_arch(token, nr);
		enum sys_call_id id = sys_call_id(arch, nr);

		if (theirs && (!id || strcmp(theirs, sys_call(id)->name) != 0))
			fail_msg("%s: %d is %s in libseccomp, %s here", sys_arch_name(arch), nr, theirs,
				 sys_call(id)->name);
		free(theirs);
	}
}

static void x86_64_agrees(void **state)
{
	(void)state;
	compare(SYS_ARCH_X86_64, SCMP_ARCH_X86_64);
}

static void aarch64_agrees(void **state)
{
	(void)state;
	compare(SYS_ARCH_AARCH64, SCMP_ARCH_AARCH64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_agrees),
		cmocka_unit_test(aarch64_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
	skip_program("no libseccomp here (make deps installs libseccomp-dev): skipped");
}
#endif
