/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of a traced program, as the kernel lays it out on x86-64 or aarch64,
 * → items, which look the same everywhere.  The offsets are written out:
 * the structs of this machine's headers are right for one of the two only.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "event/event.h"

#define NS_PER_SEC 1000000000

/* Both architectures are little-endian, and so must the reader be. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw structs are read as they are");

static uint64_t get_u64(const char *raw, size_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

static int64_t get_s64(const char *raw, size_t offset)
{
	return (int64_t)get_u64(raw, offset);
}

static uint32_t get_u32(const char *raw, size_t offset)
{
	uint32_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

static uint16_t get_u16(const char *raw, size_t offset)
{
	uint16_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

/* One time as nanoseconds; the ends of the range when it does not fit (after the year 2262). */
static int64_t time_ns(int64_t sec, int64_t nsec)
{
	int64_t ns;

	if (__builtin_mul_overflow(sec, (int64_t)NS_PER_SEC, &ns) || __builtin_add_overflow(ns, nsec, &ns))
		return sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static void stat_x86_64(const char *raw, struct item_stat *item)
{
	uint64_t rdev = get_u64(raw, 40);

	*item = (struct item_stat){
		.dev = get_u64(raw, 0),
		.ino = get_u64(raw, 8),
		.nlink = (uint32_t)get_u64(raw, 16),
		.mode = get_u32(raw, 24),
		.uid = get_u32(raw, 28),
		.gid = get_u32(raw, 32),
		.rdev_major = major(rdev),
		.rdev_minor = minor(rdev),
		.size = get_u64(raw, 48),
		.mtime_ns = time_ns(get_s64(raw, 88), get_s64(raw, 96)),
		.ctime_ns = time_ns(get_s64(raw, 104), get_s64(raw, 112)),
		.mask = STATX_BASIC_STATS,
	};
}

static void stat_aarch64(const char *raw, struct item_stat *item)
{
	uint64_t rdev = get_u64(raw, 32);

	*item = (struct item_stat){
		.dev = get_u64(raw, 0),
		.ino = get_u64(raw, 8),
		.mode = get_u32(raw, 16),
		.nlink = get_u32(raw, 20),
		.uid = get_u32(raw, 24),
		.gid = get_u32(raw, 28),
		.rdev_major = major(rdev),
		.rdev_minor = minor(rdev),
		.size = get_u64(raw, 48),
		.mtime_ns = time_ns(get_s64(raw, 88), get_s64(raw, 96)),
		.ctime_ns = time_ns(get_s64(raw, 104), get_s64(raw, 112)),
		.mask = STATX_BASIC_STATS,
	};
}

/* The same on every architecture: made so that it would be. */
static void statx_any(const char *raw, struct item_stat *item)
{
	uint32_t mask = get_u32(raw, 0);

	*item = (struct item_stat){
		.mask = mask,
		.nlink = get_u32(raw, 16),
		.uid = get_u32(raw, 20),
		.gid = get_u32(raw, 24),
		.mode = get_u16(raw, 28),
		.ino = get_u64(raw, 32),
		.size = get_u64(raw, 40),
		.ctime_ns = time_ns(get_s64(raw, 96), get_u32(raw, 104)),
		.mtime_ns = time_ns(get_s64(raw, 112), get_u32(raw, 120)),
		.rdev_major = get_u32(raw, 128),
		.rdev_minor = get_u32(raw, 132),
		.dev = makedev(get_u32(raw, 136), get_u32(raw, 140)),
		/* STATX_MNT_ID or STATX_MNT_ID_UNIQUE; older kernels leave the place 0. */
		.mnt_id = mask & 0x5000 ? get_u64(raw, 144) : 0,
	};
}

static struct item_time timespec_at(const char *raw, size_t offset)
{
	return (struct item_time){ get_s64(raw, offset), get_s64(raw, offset + 8) };
}

static struct item_time timeval_at(const char *raw, size_t offset)
{
	struct item_time time = { get_s64(raw, offset), 0 };

	/* An absurd count stays absurd; it must only not wrap around to a good one. */
	if (__builtin_mul_overflow(get_s64(raw, offset + 8), 1000, &time.nsec))
		time.nsec = INT64_MAX;
	return time;
}

static int add_string(struct buf *buf, const struct sys_kind *kind, unsigned arg, unsigned flags, const char *raw,
		      size_t bytes)
{
	const char *end = memchr(raw, '\0', bytes);
	size_t len = end ? (size_t)(end - raw) : bytes;

	if (len > kind->max) {
		len = kind->max;
		flags |= EVENT_ITEM_TRUNCATED;
	}
	return event_item_add(buf, kind->item, arg, flags, raw, len);
}

/* struct epoll_event is packed on x86-64 only. */
static void epoll_event_at(enum sys_arch arch, const char *raw, struct item_epoll_event *item)
{
	*item = (struct item_epoll_event){ .events = get_u32(raw, 0),
					   .data = get_u64(raw, arch == SYS_ARCH_X86_64 ? 4 : 8) };
}

static int add_array(struct buf *buf, enum sys_arch arch, const struct sys_kind *kind, unsigned arg, unsigned flags,
		     const char *raw, size_t bytes)
{
	struct item_epoll_event events[16];
	size_t each = sys_kind_bytes(arch, kind);
	size_t count = each ? bytes / each : 0;

	if (count > kind->max) {
		count = kind->max;
		flags |= EVENT_ITEM_TRUNCATED;
	}
	if (kind->item == SYS_ITEM_POLLFDS) /* the kernel's struct is the item's */
		return event_item_add(buf, kind->item, arg, flags, raw, count * each);
	if (count > sizeof(events) / sizeof(events[0]))
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		epoll_event_at(arch, raw + i * each, &events[i]);
	return event_item_add(buf, kind->item, arg, flags, events, count * sizeof(events[0]));
}

union fixed_item {
	struct item_stat stat;
	struct item_time times[2];
	struct item_sigaction sigaction;
	struct item_epoll_event epoll_event;
	struct item_flock flock;
	struct item_clone clone;
	char raw[64];
};

/* Fills the item and returns its bytes; raw has as many as the kind says. */
static size_t decode_fixed(enum sys_arch arch, uint8_t kind, const char *raw, union fixed_item *item)
{
	switch (kind) {
	case KIND_stat_out:
		if (arch == SYS_ARCH_X86_64)
			stat_x86_64(raw, &item->stat);
		else
			stat_aarch64(raw, &item->stat);
		return sizeof(item->stat);
	case KIND_statx_out:
		statx_any(raw, &item->stat);
		return sizeof(item->stat);
	case KIND_timespec2_in:
	case KIND_itimerspec_in:
		item->times[0] = timespec_at(raw, 0);
		item->times[1] = timespec_at(raw, 16);
		return sizeof(item->times);
	case KIND_timeval2_in:
	case KIND_itimerval_in:
		item->times[0] = timeval_at(raw, 0);
		item->times[1] = timeval_at(raw, 16);
		return sizeof(item->times);
	case KIND_utimbuf_in:
		item->times[0] = (struct item_time){ get_s64(raw, 0), 0 };
		item->times[1] = (struct item_time){ get_s64(raw, 8), 0 };
		return sizeof(item->times);
	case KIND_timespec_in:
		item->times[0] = timespec_at(raw, 0);
		return sizeof(item->times[0]);
	case KIND_timeval_in:
		item->times[0] = timeval_at(raw, 0);
		return sizeof(item->times[0]);
	case KIND_sigaction_in:
		item->sigaction = (struct item_sigaction){
			.handler = get_u64(raw, 0),
			.flags = get_u64(raw, 8),
			.restorer = get_u64(raw, 16),
			.mask = get_u64(raw, 24),
		};
		return sizeof(item->sigaction);
	case KIND_event_in:
		epoll_event_at(arch, raw, &item->epoll_event);
		return sizeof(item->epoll_event);
	case KIND_flock_in:
		item->flock = (struct item_flock){
			.type = (int16_t)get_u16(raw, 0),
			.whence = (int16_t)get_u16(raw, 2),
			.start = get_s64(raw, 8),
			.len = get_s64(raw, 16),
			.pid = (int32_t)get_u32(raw, 24),
		};
		return sizeof(item->flock);
	case KIND_clone_args:
		item->clone = (struct item_clone){ .flags = get_u64(raw, 0), .exit_signal = get_u64(raw, 32) };
		return sizeof(item->clone);
	case KIND_sigset_in:
	case KIND_sigset_out:
	case KIND_rlimit_in:
	case KIND_rlimit_out:
	case KIND_fdpair_out:
	case KIND_offset_out:
	case KIND_pidfd_out:
	case KIND_open_how:
	case KIND_xattr_args: {
		/* The kernel's struct is the item's. */
		size_t bytes = event_kind_bytes(arch, kind);

		memcpy(item->raw, raw, bytes);
		return bytes;
	}
	default:
		return 0;
	}
}

int event_item_decode(struct buf *buf, enum sys_arch arch, uint8_t kind_id, unsigned arg, unsigned flags,
		      const void *raw, size_t bytes)
{
	const struct sys_kind *kind = sys_kind(kind_id);
	size_t needed = sys_kind_bytes(arch, kind);
	union fixed_item item;
	int r;

	if (kind->item == SYS_ITEM_NONE)
		return -EINVAL;
	if (flags & EVENT_ITEM_UNREAD || !raw)
		return event_item_add(buf, kind->item, arg, flags | EVENT_ITEM_UNREAD, NULL, 0);
	switch ((enum sys_shape)kind->shape) {
	case SYS_STRING:
		return add_string(buf, kind, arg, flags, raw, bytes);
	case SYS_SIZED:
	case SYS_FDSET:
		if (bytes > kind->max) {
			bytes = kind->max;
			flags |= EVENT_ITEM_TRUNCATED;
		}
		return event_item_add(buf, kind->item, arg, flags, raw, bytes);
	case SYS_ARRAY:
		if (!needed || (bytes && bytes < needed))
			break;
		return add_array(buf, arch, kind, arg, flags, raw, bytes);
	case SYS_FIXED:
		if (!needed || bytes < needed)
			break;
		bytes = decode_fixed(arch, kind_id, raw, &item);
		if (!bytes)
			break;
		return event_item_add(buf, kind->item, arg, flags, &item, bytes);
	case SYS_SCALAR:
	case SYS_IOVEC:
	case SYS_MSGHDR:
	case SYS_MMSGHDR:
		return -EINVAL;
	}
	r = event_item_add(buf, kind->item, arg, EVENT_ITEM_UNREAD, NULL, 0);
	return r < 0 ? r : -EINVAL;
}

size_t event_kind_count(uint8_t kind_id, unsigned arg, const uint64_t args[6], int64_t ret, bool *ret_cut)
{
	const struct sys_kind *kind = sys_kind(kind_id);
	uint64_t count;
	size_t at;

	*ret_cut = false;
	if (kind->shape == SYS_FDSET) {
		int32_t bits = (int32_t)args[0];

		count = bits > 0 ? ((uint64_t)bits + 7) / 8 : 0;
	} else if (kind->count_off == SYS_COUNT_IS_RESULT) {
		count = ret > 0 ? (uint64_t)ret : 0;
	} else if (kind->count_off) {
		at = (size_t)((int)arg + kind->count_off);
		if (at >= 6)
			return 0;
		/* Counts are int, unsigned int or size_t; a negative int is none. */
		count = args[at];
		if (kind->shape == SYS_SIZED)
			count = (int32_t)count < 0 ? 0 : (uint32_t)count;
		else if (kind->item == SYS_ITEM_POLLFDS || kind->item == SYS_ITEM_MSG)
			count = (uint32_t)count;
	} else {
		return 0;
	}
	if (count > kind->max) {
		count = kind->max;
		*ret_cut = true;
	}
	return (size_t)count;
}

size_t event_fetch_bytes(enum sys_arch arch, uint8_t kind_id, unsigned arg, const uint64_t args[6], enum sys_when when,
			 int64_t ret, bool *ret_cut)
{
	const struct sys_kind *kind = sys_kind(kind_id);
	bool failed = ret < 0 && ret >= -4095;

	*ret_cut = false;
	if (kind->when != when || !kind->item || arg >= 6 || !args[arg] || !sys_kind_applies(kind_id, args))
		return 0;
	/* Only texts that the program gave are still what they were after a failure. */
	if (when == SYS_EXIT && failed && (kind->shape != SYS_STRING || kind->item == SYS_ITEM_CWD))
		return 0;
	switch ((enum sys_shape)kind->shape) {
	case SYS_STRING:
		return (size_t)kind->max + 1;
	case SYS_FIXED:
	case SYS_MSGHDR:
		return sys_kind_bytes(arch, kind);
	case SYS_ARRAY:
	case SYS_IOVEC:
	case SYS_MMSGHDR:
		return event_kind_count(kind_id, arg, args, ret, ret_cut) * sys_kind_bytes(arch, kind);
	case SYS_SIZED:
	case SYS_FDSET:
		return event_kind_count(kind_id, arg, args, ret, ret_cut);
	case SYS_SCALAR:
		break;
	}
	return 0;
}
