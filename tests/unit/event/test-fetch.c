/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an engine is told to fetch: by time, address, count and result.
 */
#include "event/event.h"
#include "test.h"

#define X86 SYS_ARCH_X86_64
#define ARM SYS_ARCH_AARCH64
#define AT 0x1000 /* some address */

static const struct {
	const char *what;
	enum sys_arch arch;
	uint8_t kind;
	unsigned arg;
	uint64_t args[6];
	enum sys_when when;
	int64_t ret;
	size_t wanted;
	bool cut;
} cases[] = {
	{ "a path at exit", X86, KIND_path, 1, { 3, AT }, SYS_EXIT, 3, 4096, false },
	{ "a path of a failed call", X86, KIND_path, 1, { 3, AT }, SYS_EXIT, -2, 4096, false },
	{ "a path not at enter", X86, KIND_path, 1, { 3, AT }, SYS_ENTER, 0, 0, false },
	{ "no path", X86, KIND_path, 1, { 3, 0 }, SYS_EXIT, 0, 0, false },
	{ "exec's path", X86, KIND_path_enter, 0, { AT }, SYS_ENTER, 0, 4096, false },
	{ "a name", X86, KIND_attr, 1, { AT, AT }, SYS_EXIT, -61, 256, false },
	{ "a cwd", X86, KIND_cwd_out, 0, { AT, 100 }, SYS_EXIT, 5, 4096, false },
	{ "a cwd that failed", X86, KIND_cwd_out, 0, { AT, 1 }, SYS_EXIT, -34, 0, false },
	{ "a scalar", X86, KIND_fd, 0, { AT }, SYS_NEVER, 0, 0, false },
	{ "a buffer", X86, KIND_buf, 1, { 0, AT, 10 }, SYS_EXIT, 10, 0, false },
	{ "stat", X86, KIND_stat_out, 1, { AT, AT }, SYS_EXIT, 0, 144, false },
	{ "stat on aarch64", ARM, KIND_stat_out, 1, { AT, AT }, SYS_EXIT, 0, 128, false },
	{ "stat that failed", X86, KIND_stat_out, 1, { AT, AT }, SYS_EXIT, -2, 0, false },
	{ "stat that was interrupted", X86, KIND_stat_out, 1, { AT, AT }, SYS_EXIT, -512, 0, false },
	{ "stat without names", SYS_ARCH_I386, KIND_stat_out, 1, { AT, AT }, SYS_EXIT, 0, 0, false },
	{ "a timeout of a failed call", X86, KIND_timespec_in, 0, { AT }, SYS_ENTER, 0, 16, false },
	{ "pollfds", X86, KIND_pollfds, 0, { AT, 3 }, SYS_ENTER, 0, 24, false },
	{ "no pollfds", X86, KIND_pollfds, 0, { AT, 0 }, SYS_ENTER, 0, 0, false },
	{ "64 pollfds", X86, KIND_pollfds, 0, { AT, 64 }, SYS_ENTER, 0, 512, false },
	{ "65 pollfds", X86, KIND_pollfds, 0, { AT, 65 }, SYS_ENTER, 0, 512, true },
	{ "an int with noise above", X86, KIND_pollfds, 0, { AT, UINT64_C(0xdead00000001) }, SYS_ENTER, 0, 8, false },
	{ "events", X86, KIND_events_out, 1, { 3, AT, 9 }, SYS_EXIT, 2, 24, false },
	{ "events on aarch64", ARM, KIND_events_out, 1, { 3, AT, 9 }, SYS_EXIT, 2, 32, false },
	{ "many events", X86, KIND_events_out, 1, { 3, AT, 99 }, SYS_EXIT, 17, 192, true },
	{ "no events", X86, KIND_events_out, 1, { 3, AT, 9 }, SYS_EXIT, 0, 0, false },
	{ "events that failed", X86, KIND_events_out, 1, { 3, AT, 9 }, SYS_EXIT, -4, 0, false },
	{ "an fd_set", X86, KIND_fdset, 1, { 9, AT }, SYS_ENTER, 0, 2, false },
	{ "an fd_set of 8", X86, KIND_fdset, 1, { 8, AT }, SYS_ENTER, 0, 1, false },
	{ "an fd_set of -1", X86, KIND_fdset, 1, { UINT64_MAX, AT }, SYS_ENTER, 0, 0, false },
	{ "an fd_set of all", X86, KIND_fdset, 1, { INT32_MAX, AT }, SYS_ENTER, 0, 8192, true },
	{ "an option", X86, KIND_sockopt_in, 3, { 3, 1, 2, AT, 4 }, SYS_ENTER, 0, 4, false },
	{ "a long option", X86, KIND_sockopt_in, 3, { 3, 1, 2, AT, 400 }, SYS_ENTER, 0, 16, true },
	{ "an option of length -1", X86, KIND_sockopt_in, 3, { 3, 1, 2, AT, UINT32_MAX }, SYS_ENTER, 0, 0, false },
	{ "an address", X86, KIND_sockaddr_in, 1, { 3, AT, 16 }, SYS_ENTER, 0, 16, false },
	{ "a long address", X86, KIND_sockaddr_in, 1, { 3, AT, 129 }, SYS_ENTER, 0, 128, true },
	{ "a lock", X86, KIND_flock_in, 2, { 3, 6, AT }, SYS_ENTER, 0, 32, false },
	{ "no lock", X86, KIND_flock_in, 2, { 3, 2, 1 }, SYS_ENTER, 0, 0, false },
	{ "a pidfd", X86, KIND_pidfd_out, 2, { 0x1000, 0, AT }, SYS_EXIT, 77, 4, false },
	{ "no pidfd", X86, KIND_pidfd_out, 2, { 0x100000, 0, AT }, SYS_EXIT, 77, 0, false },
	{ "a vector", X86, KIND_iovec, 1, { 3, AT, 2 }, SYS_ENTER, 0, 32, false },
	{ "a long vector", X86, KIND_iovec, 1, { 3, AT, UINT64_MAX }, SYS_ENTER, 0, 16384, true },
	{ "a message", X86, KIND_msg_out, 1, { 3, AT }, SYS_EXIT, 5, 56, false },
	{ "a message that failed", X86, KIND_msg_out, 1, { 3, AT }, SYS_EXIT, -11, 0, false },
	{ "messages to send", X86, KIND_mmsg_in, 1, { 3, AT, 4 }, SYS_ENTER, 0, 256, false },
	{ "messages received", X86, KIND_mmsg_out, 1, { 3, AT, 4 }, SYS_EXIT, 2, 128, false },
	{ "a kind that is none", X86, 255, 1, { AT, AT, 4 }, SYS_EXIT, 2, 0, false },
	{ "an argument that is none", X86, KIND_path, 6, { AT, AT, 4 }, SYS_EXIT, 2, 0, false },
	{ "a count that is none", X86, KIND_iovec, 5, { 0, 0, 0, 0, 0, AT }, SYS_ENTER, 0, 0, false },
};

static void engines_fetch_what_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool cut = !cases[i].cut;
		size_t bytes = event_fetch_bytes(cases[i].arch, cases[i].kind, cases[i].arg, cases[i].args,
						 cases[i].when, cases[i].ret, &cut);

		if (bytes != cases[i].wanted || cut != cases[i].cut)
			fail_msg("%s: %zu bytes, cut %d; not %zu, %d", cases[i].what, bytes, cut, cases[i].wanted,
				 cases[i].cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_fetch_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
