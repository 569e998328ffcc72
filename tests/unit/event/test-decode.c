/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw memory → items: hand-made structs of both architectures (any machine
 * must decode both), and live ones of this machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include "event/event.h"
#include "test.h"

static const enum sys_arch arches[] = { SYS_ARCH_X86_64, SYS_ARCH_AARCH64 };

static struct buf buf;

static int finish(void **state)
{
	(void)state;
	buf_done(&buf);
	return 0;
}

/* The item that these raw bytes become; the record must be valid. */
static const struct event_item *decode_flags(enum sys_arch arch, uint8_t kind, unsigned flags, const void *raw,
					     size_t bytes, int wanted)
{
	struct event_head *head;

	assert_non_null(event_begin(&buf, EVENT_CALL));
	assert_int_equal(event_item_decode(&buf, arch, kind, 2, flags, raw, bytes), wanted);
	head = event_end(&buf);
	assert_non_null(head);
	assert_true(event_valid(head, head->bytes));
	return event_item_next(head, NULL);
}

static const void *decode(enum sys_arch arch, uint8_t kind, const void *raw, size_t bytes)
{
	const struct event_item *item = decode_flags(arch, kind, 0, raw, bytes, 0);

	assert_non_null(item);
	assert_int_equal(item->type, sys_kind(kind)->item);
	assert_int_equal(item->arg, 2);
	assert_int_equal(item->flags, 0);
	return event_item_data(item);
}

/* Writes a number of so many bytes at an offset, low byte first. */
static void put(unsigned char *raw, size_t offset, size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++)
		raw[offset + i] = (unsigned char)(value >> (8 * i));
}

static void check_made_stat(const struct item_stat *stat)
{
	assert_int_equal(stat->dev, 0x801);
	assert_int_equal(stat->ino, 0x1122334455667788);
	assert_int_equal(stat->nlink, 7);
	assert_int_equal(stat->mode, 0100644);
	assert_int_equal(stat->uid, 1000);
	assert_int_equal(stat->gid, 2000);
	assert_int_equal(stat->rdev_major, 4);
	assert_int_equal(stat->rdev_minor, 300);
	assert_int_equal(stat->size, 0x123456789a);
	assert_int_equal(stat->mtime_ns, INT64_C(1700000000123456789));
	assert_int_equal(stat->ctime_ns, INT64_C(-1999999999));
	assert_int_equal(stat->mask, STATX_BASIC_STATS);
	assert_int_equal(stat->mnt_id, 0);
}

static void made_stats_of_both(void **state)
{
	unsigned char x86[144], arm[128];

	(void)state;
	/* What is not asserted is noise. */
	memset(x86, 0xa5, sizeof(x86));
	memset(arm, 0xa5, sizeof(arm));
	put(x86, 0, 8, 0x801);
	put(x86, 8, 8, 0x1122334455667788);
	put(x86, 16, 8, 7);
	put(x86, 24, 4, 0100644);
	put(x86, 28, 4, 1000);
	put(x86, 32, 4, 2000);
	put(x86, 40, 8, makedev(4, 300));
	put(x86, 48, 8, 0x123456789a);
	put(x86, 88, 8, 1700000000);
	put(x86, 96, 8, 123456789);
	put(x86, 104, 8, (uint64_t)-2);
	put(x86, 112, 8, 1);
	check_made_stat(decode(SYS_ARCH_X86_64, KIND_stat_out, x86, sizeof(x86)));
	put(arm, 0, 8, 0x801);
	put(arm, 8, 8, 0x1122334455667788);
	put(arm, 16, 4, 0100644);
	put(arm, 20, 4, 7);
	put(arm, 24, 4, 1000);
	put(arm, 28, 4, 2000);
	put(arm, 32, 8, makedev(4, 300));
	put(arm, 48, 8, 0x123456789a);
	put(arm, 88, 8, 1700000000);
	put(arm, 96, 8, 123456789);
	put(arm, 104, 8, (uint64_t)-2);
	put(arm, 112, 8, 1);
	check_made_stat(decode(SYS_ARCH_AARCH64, KIND_stat_out, arm, sizeof(arm)));
}

static void times_beyond_the_range(void **state)
{
	unsigned char raw[144] = { 0 };
	const struct item_stat *stat;

	(void)state;
	put(raw, 88, 8, INT64_MAX);
	put(raw, 104, 8, (uint64_t)INT64_MIN);
	put(raw, 112, 8, (uint64_t)INT64_MIN);
	stat = decode(SYS_ARCH_X86_64, KIND_stat_out, raw, sizeof(raw));
	assert_true(stat->mtime_ns == INT64_MAX);
	assert_true(stat->ctime_ns == INT64_MIN);
}

static void same_as_stat(const struct item_stat *item, const struct stat *stat)
{
	assert_int_equal(item->dev, stat->st_dev);
	assert_int_equal(item->ino, stat->st_ino);
	assert_int_equal(item->size, stat->st_size);
	assert_int_equal(item->mode, stat->st_mode);
	assert_int_equal(item->nlink, stat->st_nlink);
	assert_int_equal(item->uid, stat->st_uid);
	assert_int_equal(item->gid, stat->st_gid);
	assert_int_equal(item->rdev_major, major(stat->st_rdev));
	assert_int_equal(item->rdev_minor, minor(stat->st_rdev));
	assert_true(item->mtime_ns == (int64_t)stat->st_mtim.tv_sec * 1000000000 + stat->st_mtim.tv_nsec);
	assert_true(item->ctime_ns == (int64_t)stat->st_ctim.tv_sec * 1000000000 + stat->st_ctim.tv_nsec);
}

static void live_stats(void **state)
{
	static const char *const names[] = { "/proc/self/exe", "/dev/null", "/etc" };
	unsigned char raw[256];
	struct statx statx_live;
	struct stat live;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct item_stat *item;
		size_t bytes = event_kind_bytes(SYS_ARCH_NATIVE, KIND_stat_out);

		assert_int_equal(stat(names[i], &live), 0);
		memset(raw, 0xa5, sizeof(raw));
		assert_int_equal(syscall(SYS_newfstatat, AT_FDCWD, names[i], raw, 0), 0);
		/* The kernel writes just what the table says. */
		assert_int_equal(raw[bytes], 0xa5);
		item = decode(SYS_ARCH_NATIVE, KIND_stat_out, raw, bytes);
		same_as_stat(item, &live);
		assert_int_equal(item->mask, STATX_BASIC_STATS);
		assert_int_equal(syscall(SYS_statx, AT_FDCWD, names[i], 0, STATX_BASIC_STATS | 0x1000, raw), 0);
		memcpy(&statx_live, raw, sizeof(statx_live));
		item = decode(SYS_ARCH_NATIVE, KIND_statx_out, raw, sizeof(raw));
		same_as_stat(item, &live);
		assert_int_equal(item->mask, statx_live.stx_mask);
		if (item->mask & 0x1000)
			assert_true(item->mnt_id != 0);
	}
}

static void made_statx(void **state)
{
	unsigned char raw[256];
	const struct item_stat *stat;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		memset(raw, 0xa5, sizeof(raw));
		put(raw, 0, 4, STATX_SIZE);
		put(raw, 28, 2, 0100600);
		put(raw, 40, 8, 77);
		put(raw, 96, 8, 5);
		put(raw, 104, 4, 999999999);
		put(raw, 136, 4, 259);
		put(raw, 140, 4, 1);
		stat = decode(arches[i], KIND_statx_out, raw, sizeof(raw));
		assert_int_equal(stat->mask, STATX_SIZE);
		assert_int_equal(stat->mode, 0100600);
		assert_int_equal(stat->size, 77);
		assert_int_equal(stat->ctime_ns, INT64_C(5999999999));
		assert_int_equal(stat->dev, makedev(259, 1));
		/* Not asked for: what is there is not believed. */
		assert_int_equal(stat->mnt_id, 0);
	}
}

static void epoll_events_of_both(void **state)
{
	unsigned char x86[24] = { 0 }, arm[32] = { 0 };
	const struct event_item *item;
	const struct item_epoll_event *events;
	struct epoll_event live[2] = { { EPOLLIN, { .u64 = 0x1111222233334444 } }, { EPOLLOUT, { .u64 = 9 } } };

	(void)state;
	put(x86, 0, 4, 1);
	put(x86, 4, 8, 0x1111222233334444);
	put(x86, 12, 4, 4);
	put(x86, 16, 8, 9);
	put(arm, 0, 4, 1);
	put(arm, 8, 8, 0x1111222233334444);
	put(arm, 16, 4, 4);
	put(arm, 24, 8, 9);
	for (unsigned round = 0; round < 3; round++) {
		item = round == 0   ? decode_flags(SYS_ARCH_X86_64, KIND_events_out, 0, x86, 24, 0)
		       : round == 1 ? decode_flags(SYS_ARCH_AARCH64, KIND_events_out, 0, arm, 32, 0)
				    : decode_flags(SYS_ARCH_NATIVE, KIND_events_out, 0, live, sizeof(live), 0);
		assert_int_equal(item->bytes, 32);
		events = event_item_data(item);
		assert_int_equal(events[0].events, 1);
		assert_true(events[0].data == 0x1111222233334444);
		assert_int_equal(events[1].events, 4);
		assert_int_equal(events[1].data, 9);
	}
	events = decode(SYS_ARCH_X86_64, KIND_event_in, x86, 12);
	assert_true(events->events == 1 && events->data == 0x1111222233334444);
	events = decode(SYS_ARCH_AARCH64, KIND_event_in, arm, 16);
	assert_true(events->events == 1 && events->data == 0x1111222233334444);
}

static void too_many_events_are_cut(void **state)
{
	static unsigned char raw[16 * 17];
	const struct event_item *item;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		item = decode_flags(arches[i], KIND_events_out, 0, raw,
				    event_kind_bytes(arches[i], KIND_events_out) * 17, 0);
		assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
		assert_int_equal(item->bytes, 16 * sizeof(struct item_epoll_event));
		item = decode_flags(arches[i], KIND_events_out, 0, raw, 0, 0);
		assert_int_equal(item->bytes, 0);
	}
}

static void pollfds(void **state)
{
	struct pollfd live[65] = { { 3, POLLIN, 0 }, { -1, POLLOUT, POLLHUP } };
	const struct event_item *item = decode_flags(SYS_ARCH_NATIVE, KIND_pollfds, 0, live, 16, 0);
	const struct item_pollfd *fds = event_item_data(item);

	(void)state;
	assert_int_equal(item->bytes, 16);
	assert_int_equal(fds[0].fd, 3);
	assert_int_equal(fds[1].fd, -1);
	assert_int_equal(fds[1].events, POLLOUT);
	assert_int_equal(fds[1].revents, POLLHUP);
	item = decode_flags(SYS_ARCH_NATIVE, KIND_pollfds, 0, live, sizeof(live), 0);
	assert_int_equal(item->bytes, 64 * 8);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
}

static void times_of_every_kind(void **state)
{
	int64_t raw[4] = { 1, 500, -2, INT64_MAX };
	const struct item_time *times;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		times = decode(arches[i], KIND_timespec2_in, raw, 32);
		assert_true(times[0].sec == 1 && times[0].nsec == 500);
		assert_true(times[1].sec == -2 && times[1].nsec == INT64_MAX);
		times = decode(arches[i], KIND_itimerspec_in, raw, 32);
		assert_true(times[0].nsec == 500 && times[1].sec == -2);
		times = decode(arches[i], KIND_timeval2_in, raw, 32);
		assert_true(times[0].sec == 1 && times[0].nsec == 500000);
		assert_true(times[1].sec == -2 && times[1].nsec == INT64_MAX);
		times = decode(arches[i], KIND_itimerval_in, raw, 32);
		assert_true(times[0].nsec == 500000);
		times = decode(arches[i], KIND_utimbuf_in, raw, 16);
		assert_true(times[0].sec == 1 && times[0].nsec == 0 && times[1].sec == 500 && times[1].nsec == 0);
		times = decode(arches[i], KIND_timespec_in, raw, 16);
		assert_true(times[0].sec == 1 && times[0].nsec == 500);
		times = decode(arches[i], KIND_timeval_in, raw, 16);
		assert_true(times[0].sec == 1 && times[0].nsec == 500000);
	}
	raw[1] = UTIME_OMIT;
	times = decode(SYS_ARCH_X86_64, KIND_timespec2_in, raw, 32);
	assert_int_equal(times[0].nsec, UTIME_OMIT);
}

static void other_structs(void **state)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -5, .l_len = 9, .l_pid = 42 };
	struct clone_args clone = { .flags = CLONE_VM | CLONE_PIDFD, .exit_signal = SIGCHLD, .stack = 1 };
	struct open_how how = { .flags = O_CLOEXEC, .mode = 0600, .resolve = RESOLVE_BENEATH };
	struct rlimit limit = { 1024, RLIM_INFINITY };
	uint64_t sigaction[4] = { 0x401000, SA_RESTART, 0x402000, 1u << (SIGCHLD - 1) };
	unsigned char args[16] = { 0 };

	(void)state;
	assert_int_equal(sizeof(lock), 32);
	put(args, 0, 8, 0x7fff0000);
	put(args, 8, 4, 64);
	put(args, 12, 4, 1);
	for (size_t i = 0; i < 2; i++) {
		const struct item_flock *flock = decode(arches[i], KIND_flock_in, &lock, sizeof(lock));
		const struct item_sigaction *act;
		const struct item_xattr_args *xattr;
		const struct item_open_how *open_how;
		const struct item_rlimit *rlimit;
		const struct item_clone *cloned;

		assert_true(flock->type == F_WRLCK && flock->whence == SEEK_END && flock->start == -5);
		assert_true(flock->len == 9 && flock->pid == 42);
		act = decode(arches[i], KIND_sigaction_in, sigaction, 32);
		assert_true(act->handler == 0x401000 && act->flags == SA_RESTART && act->restorer == 0x402000);
		assert_true(act->mask == 1u << (SIGCHLD - 1));
		cloned = decode(arches[i], KIND_clone_args, &clone, 64);
		assert_true(cloned->flags == (CLONE_VM | CLONE_PIDFD) && cloned->exit_signal == SIGCHLD);
		open_how = decode(arches[i], KIND_open_how, &how, sizeof(how));
		assert_true(open_how->flags == O_CLOEXEC && open_how->mode == 0600);
		assert_true(open_how->resolve == RESOLVE_BENEATH);
		xattr = decode(arches[i], KIND_xattr_args, args, sizeof(args));
		assert_true(xattr->value == 0x7fff0000 && xattr->size == 64 && xattr->flags == 1);
		rlimit = decode(arches[i], KIND_rlimit_out, &limit, sizeof(limit));
		assert_true(rlimit->soft == 1024 && rlimit->hard == UINT64_MAX);
		assert_int_equal(*(const uint64_t *)decode(arches[i], KIND_sigset_in, (uint64_t[]){ 5 }, 8), 5);
		assert_int_equal(*(const int64_t *)decode(arches[i], KIND_offset_out, (int64_t[]){ -5 }, 8), -5);
		assert_int_equal(*(const int32_t *)decode(arches[i], KIND_pidfd_out, (int32_t[]){ 5 }, 4), 5);
		assert_int_equal(((const int32_t *)decode(arches[i], KIND_fdpair_out, (int32_t[]){ 5, 6 }, 8))[1], 6);
	}
}

static void live_structs(void **state)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} act = { SIG_IGN, SA_NODEFER, NULL, 1 }, old = { 0 };
	const struct item_sigaction *item;
	const struct item_rlimit *limit;
	struct rlimit live;
	uint64_t raw[2];
	int fds[2];

	(void)state;
	/* What the kernel took is what it gives back, in 32 bytes. */
	assert_int_equal(sizeof(act), 32);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, &act, NULL, 8), 0);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &old, 8), 0);
	item = decode(SYS_ARCH_NATIVE, KIND_sigaction_in, &old, sizeof(old));
	assert_int_equal(item->handler, (uintptr_t)SIG_IGN);
	assert_true(item->flags & SA_NODEFER);
	assert_int_equal(item->mask & 1, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &live), 0);
	assert_int_equal(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, raw), 0);
	limit = decode(SYS_ARCH_NATIVE, KIND_rlimit_out, raw, sizeof(raw));
	assert_true(limit->soft == live.rlim_cur && limit->hard == live.rlim_max);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_memory_equal(decode(SYS_ARCH_NATIVE, KIND_fdpair_out, fds, sizeof(fds)), fds, sizeof(fds));
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void strings_end_at_their_nul(void **state)
{
	static char big[5000];
	const struct event_item *item;

	(void)state;
	item = decode_flags(SYS_ARCH_X86_64, KIND_path, 0, "/etc\0behind", 11, 0);
	assert_int_equal(item->bytes, 4);
	assert_memory_equal(event_item_data(item), "/etc", 4);
	assert_int_equal(decode_flags(SYS_ARCH_X86_64, KIND_path, 0, "/etc", 4, 0)->bytes, 4);
	item = decode_flags(SYS_ARCH_X86_64, KIND_path, 0, "", 1, 0);
	assert_int_equal(item->bytes, 0);
	assert_int_equal(item->flags, 0);
	item = decode_flags(SYS_ARCH_X86_64, KIND_path, EVENT_ITEM_TRUNCATED, "/etc", 4, 0);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	memset(big, 'x', sizeof(big));
	item = decode_flags(SYS_ARCH_X86_64, KIND_path, 0, big, 4096, 0);
	assert_int_equal(item->bytes, 4095);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	/* The longest that is whole. */
	big[4095] = '\0';
	item = decode_flags(SYS_ARCH_X86_64, KIND_path, 0, big, 4096, 0);
	assert_int_equal(item->bytes, 4095);
	assert_int_equal(item->flags, 0);
	item = decode_flags(SYS_ARCH_X86_64, KIND_attr, 0, big, 256, 0);
	assert_int_equal(item->bytes, 255);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	/* Strings need no layout. */
	assert_int_equal(decode_flags(SYS_ARCH_I386, KIND_path, 0, "/x", 3, 0)->bytes, 2);
}

static void sized_things_are_copied(void **state)
{
	char raw[200] = "0123456789abcdefghij";
	const struct event_item *item = decode_flags(SYS_ARCH_X86_64, KIND_sockopt_in, 0, raw, 4, 0);

	(void)state;
	assert_int_equal(item->bytes, 4);
	item = decode_flags(SYS_ARCH_X86_64, KIND_sockopt_in, 0, raw, 20, 0);
	assert_int_equal(item->bytes, 16);
	assert_int_equal(item->flags, EVENT_ITEM_TRUNCATED);
	item = decode_flags(SYS_ARCH_X86_64, KIND_sockaddr_in, 0, raw, sizeof(raw), 0);
	assert_int_equal(item->bytes, 128);
	item = decode_flags(SYS_ARCH_X86_64, KIND_fdset, 0, raw, 3, 0);
	assert_int_equal(item->bytes, 3);
}

static void too_few_bytes_are_unread(void **state)
{
	unsigned char raw[256] = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
			size_t bytes = event_kind_bytes(arches[i], (uint8_t)kind);
			const struct event_item *item;

			if (sys_kind((uint8_t)kind)->shape != SYS_FIXED)
				continue;
			assert_in_range(bytes, 1, sizeof(raw));
			item = decode_flags(arches[i], (uint8_t)kind, 0, raw, bytes - 1, -EINVAL);
			assert_int_equal(item->flags, EVENT_ITEM_UNREAD);
			assert_int_equal(item->bytes, 0);
			/* Whole, every fixed kind can be decoded, and no item is empty. */
			item = decode_flags(arches[i], (uint8_t)kind, 0, raw, bytes, 0);
			assert_true(item->bytes > 0);
		}
	assert_int_equal(decode_flags(SYS_ARCH_X86_64, KIND_events_out, 0, raw, 11, -EINVAL)->flags, EVENT_ITEM_UNREAD);
	assert_int_equal(decode_flags(SYS_ARCH_I386, KIND_stat_out, 0, raw, 144, -EINVAL)->flags, EVENT_ITEM_UNREAD);
	assert_int_equal(decode_flags(SYS_ARCH_X86_64, KIND_path, 0, NULL, 0, 0)->flags, EVENT_ITEM_UNREAD);
	assert_int_equal(decode_flags(SYS_ARCH_X86_64, KIND_path, EVENT_ITEM_UNREAD, raw, 9, 0)->bytes, 0);
	/* Nothing to decode: a scalar, and what has a function of its own. */
	assert_null(decode_flags(SYS_ARCH_X86_64, KIND_fd, 0, raw, 8, -EINVAL));
	assert_null(decode_flags(SYS_ARCH_X86_64, KIND_iovec, 0, raw, 16, -EINVAL));
	assert_null(decode_flags(SYS_ARCH_X86_64, KIND_msg_in, 0, raw, 56, -EINVAL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, finish)
	const struct CMUnitTest tests[] = {
		TEST(made_stats_of_both),
		TEST(times_beyond_the_range),
		TEST(live_stats),
		TEST(made_statx),
		TEST(epoll_events_of_both),
		TEST(too_many_events_are_cut),
		TEST(pollfds),
		TEST(times_of_every_kind),
		TEST(other_structs),
		TEST(live_structs),
		TEST(strings_end_at_their_nul),
		TEST(sized_things_are_copied),
		TEST(too_few_bytes_are_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
