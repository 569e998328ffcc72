/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs and lists as strace prints them become items in the layouts of
 * event/record.h.  One that is printed as an address, or in a form that is
 * not known, makes no item: then the evidence is missing, and not wrong.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "engine/strace/strace.h"

#define ELEMENTS_MAX 64

static bool add(struct buf *record, enum sys_item item, unsigned arg, unsigned flags, const void *data, size_t bytes)
{
	return event_item_add(record, item, arg, flags, data, bytes) == 0;
}

static bool text_item(struct buf *record, enum sys_item item, unsigned arg, struct strace_at text)
{
	struct buf out = BUF_INIT;
	bool truncated, ok = strace_string(&text, &out, &truncated);

	if (ok)
		ok = add(record, item, arg, truncated ? EVENT_ITEM_TRUNCATED : 0, out.data, out.bytes);
	buf_done(&out);
	return ok;
}

/* "makedev(0x8, 0x1)" */
static bool device(struct strace_at text, uint64_t *ret)
{
	uint64_t high, low;

	if (!strace_literal(&text, "makedev(") || !strace_number(&text, &high) || !strace_literal(&text, ",") ||
	    !strace_number(&text, &low))
		return false;
	*ret = makedev((unsigned)high, (unsigned)low);
	return true;
}

static void stamp(struct strace_at text, const char *seconds, const char *rest, int64_t *ret)
{
	uint64_t sec, nsec = 0;

	if (!strace_field_number(text, seconds, &sec))
		return;
	(void)strace_field_number(text, rest, &nsec);
	/* Of a log of any text: they may be too large, and negative. */
	*ret = (int64_t)(sec * UINT64_C(1000000000) + nsec);
}

static bool stat_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_stat st = { 0 };
	struct strace_at value;
	uint64_t number, low;
	bool x = strace_field_number(text, "stx_mode", &number);

	if (!x && !strace_field_number(text, "st_mode", &number))
		return false;
	st.mode = (uint32_t)number;
	st.mask = STATX_TYPE | STATX_MODE;
	if (strace_field_number(text, x ? "stx_size" : "st_size", &number)) {
		st.size = number;
		st.mask |= STATX_SIZE;
	}
	if (strace_field_number(text, x ? "stx_ino" : "st_ino", &number)) {
		st.ino = number;
		st.mask |= STATX_INO;
	}
	if (!x && strace_field(text, "st_dev", &value))
		(void)device(value, &st.dev);
	if (x && strace_field_number(text, "stx_dev_major", &number) &&
	    strace_field_number(text, "stx_dev_minor", &low))
		st.dev = makedev((unsigned)number, (unsigned)low);
	if (strace_field_number(text, x ? "stx_nlink" : "st_nlink", &number)) {
		st.nlink = (uint32_t)number;
		st.mask |= STATX_NLINK;
	}
	if (strace_field_number(text, x ? "stx_uid" : "st_uid", &number)) {
		st.uid = (uint32_t)number;
		st.mask |= STATX_UID;
	}
	if (strace_field_number(text, x ? "stx_gid" : "st_gid", &number)) {
		st.gid = (uint32_t)number;
		st.mask |= STATX_GID;
	}
	if (!x) {
		stamp(text, "st_mtime", "st_mtime_nsec", &st.mtime_ns);
		stamp(text, "st_ctime", "st_ctime_nsec", &st.ctime_ns);
		if (st.mtime_ns && st.ctime_ns)
			st.mask |= STATX_MTIME | STATX_CTIME;
	}
	return add(record, SYS_ITEM_STAT, arg, 0, &st, sizeof st);
}

static bool time_of(struct strace_at text, struct item_time *ret)
{
	uint64_t sec, rest;

	if (strace_literal(&text, "UTIME_NOW") || strace_literal(&text, "UTIME_OMIT")) {
		*ret = (struct item_time){ 0, text.at[-1] == 'W' ? 0x3fffffff : 0x3ffffffe };
		return true;
	}
	if (!strace_field_number(text, "tv_sec", &sec))
		return false;
	ret->sec = (int64_t)sec;
	if (strace_field_number(text, "tv_nsec", &rest))
		ret->nsec = (int64_t)rest;
	else if (strace_field_number(text, "tv_usec", &rest))
		ret->nsec = (int64_t)rest * 1000;
	else
		return false;
	return true;
}

static bool times_item(struct buf *record, enum sys_item item, unsigned arg, struct strace_at text)
{
	struct item_time times[2] = { { 0 } };
	struct strace_at one;

	for (unsigned i = 0; i < 2; i++) {
		if (item == SYS_ITEM_ITIMER) {
			if (!strace_field(text, i == 0 ? "it_interval" : "it_value", &one))
				return false;
		} else if (!strace_element(&text, &one)) {
			return false;
		}
		if (!time_of(one, &times[i]))
			return false;
	}
	return add(record, item, arg, 0, times, sizeof times);
}

/* "[INT RT_1]", "~[RTMIN]" */
static bool signals_of(struct strace_at text, uint64_t *ret)
{
	bool all_but = strace_literal(&text, "~");
	uint64_t set = 0;

	if (!strace_literal(&text, "["))
		return false;
	for (;;) {
		char name[24] = "SIG";
		struct strace_at one;
		uint64_t number;
		size_t bytes;

		strace_blanks(&text);
		if (strace_literal(&text, "]"))
			break;
		one.at = text.at;
		while (text.at < text.end && (isalnum((unsigned char)*text.at) || *text.at == '_'))
			text.at++;
		bytes = (size_t)(text.at - one.at);
		if (bytes == 0 || bytes > 15)
			return false;
		memcpy(name + 3, one.at, bytes);
		name[3 + bytes] = '\0';
		if (strncmp(name + 3, "RT_", 3) == 0)
			number = 32 + strtoul(name + 6, NULL, 10);
		else if (strcmp(name + 3, "RTMIN") == 0)
			number = 32;
		else if (isdigit((unsigned char)name[3]))
			number = strtoul(name + 3, NULL, 10);
		else if (one = (struct strace_at){ name, name + 3 + bytes }, !strace_number(&one, &number))
			return false;
		if (number < 1 || number > 64)
			return false;
		set |= UINT64_C(1) << (number - 1);
	}
	*ret = all_but ? ~set : set;
	return true;
}

static bool sigaction_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_sigaction action = { 0 };
	struct strace_at mask;

	if (!strace_field_number(text, "sa_handler", &action.handler) &&
	    !strace_field_number(text, "sa_sigaction", &action.handler))
		return false;
	if (!strace_field(text, "sa_mask", &mask) || !signals_of(mask, &action.mask))
		return false;
	(void)strace_field_number(text, "sa_flags", &action.flags);
	(void)strace_field_number(text, "sa_restorer", &action.restorer);
	return add(record, SYS_ITEM_SIGACTION, arg, 0, &action, sizeof action);
}

/* "1024", "8192*1024", "RLIM64_INFINITY" */
static bool limit_of(struct strace_at text, const char *name, uint64_t *ret)
{
	struct strace_at value;
	uint64_t times;

	if (!strace_field(text, name, &value))
		return false;
	if (strace_literal(&value, "RLIM")) {
		*ret = UINT64_MAX;
		return true;
	}
	if (!strace_number(&value, ret))
		return false;
	if (strace_literal(&value, "*") && strace_number(&value, &times))
		*ret *= times;
	return true;
}

static bool limit_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_rlimit limit;

	return limit_of(text, "rlim_cur", &limit.soft) && limit_of(text, "rlim_max", &limit.hard) &&
	       add(record, SYS_ITEM_RLIMIT, arg, 0, &limit, sizeof limit);
}

static bool fdpair_item(struct buf *record, unsigned arg, struct strace_at text)
{
	int32_t fds[2];
	struct strace_at one;
	uint64_t number;

	for (unsigned i = 0; i < 2; i++) {
		if (!strace_element(&text, &one) || !strace_number(&one, &number))
			return false;
		fds[i] = (int32_t)number;
	}
	return add(record, SYS_ITEM_FDPAIR, arg, 0, fds, sizeof fds);
}

static bool pollfds_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_pollfd fds[ELEMENTS_MAX];
	struct strace_at one;
	size_t count = 0;

	while (count < ELEMENTS_MAX && strace_element(&text, &one)) {
		uint64_t fd, events = 0;

		if (!strace_field_number(one, "fd", &fd))
			return false;
		(void)strace_field_number(one, "events", &events);
		fds[count++] = (struct item_pollfd){ (int32_t)fd, (int16_t)events, 0 };
	}
	return add(record, SYS_ITEM_POLLFDS, arg, 0, fds, count * sizeof *fds);
}

static bool fdset_item(struct buf *record, unsigned arg, struct strace_at text)
{
	uint8_t bits[8192 / 8] = { 0 };
	uint64_t fd, most = 0;

	if (!strace_literal(&text, "["))
		return false;
	for (strace_blanks(&text); !strace_literal(&text, "]"); strace_blanks(&text)) {
		struct strace_at path;

		if (!strace_number(&text, &fd) || fd >= 8192)
			return false;
		(void)strace_annotation(&text, &path);
		bits[fd / 8] |= (uint8_t)(1u << fd % 8);
		most = fd + 1 > most ? fd + 1 : most;
	}
	return add(record, SYS_ITEM_FDSET, arg, 0, bits, (most + 7) / 8);
}

static bool epoll_of(struct strace_at text, struct item_epoll_event *ret)
{
	struct strace_at data;
	uint64_t events;

	if (!strace_field_number(text, "events", &events) || !strace_field(text, "data", &data))
		return false;
	*ret = (struct item_epoll_event){ .events = (uint32_t)events };
	if (!strace_field_number(data, "u64", &ret->data))
		(void)strace_number(&data, &ret->data);
	return true;
}

static bool epoll_items(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_epoll_event events[16];
	struct strace_at one;
	size_t count = 0;

	while (count < 16 && strace_element(&text, &one)) {
		if (!epoll_of(one, &events[count++]))
			return false;
	}
	return add(record, SYS_ITEM_EPOLL_EVENTS, arg, 0, events, count * sizeof *events);
}

static bool flock_item(struct buf *record, unsigned arg, struct strace_at text)
{
	static const char *const types[] = { "F_RDLCK", "F_WRLCK", "F_UNLCK" };
	static const char *const places[] = { "SEEK_SET", "SEEK_CUR", "SEEK_END" };
	struct item_flock lock = { .type = -1 };
	struct strace_at value;
	uint64_t number;

	if (!strace_field(text, "l_type", &value))
		return false;
	for (int16_t i = 0; i < 3; i++) {
		if (strace_literal(&value, types[i]))
			lock.type = i;
	}
	if (lock.type < 0 || !strace_field(text, "l_whence", &value))
		return false;
	for (int16_t i = 0; i < 3; i++) {
		if (strace_literal(&value, places[i]))
			lock.whence = i;
	}
	if (!strace_field_number(text, "l_start", &number))
		return false;
	lock.start = (int64_t)number;
	if (!strace_field_number(text, "l_len", &number))
		return false;
	lock.len = (int64_t)number;
	return add(record, SYS_ITEM_FLOCK, arg, 0, &lock, sizeof lock);
}

static bool vector_of(struct strace_at text, struct item_iovec *ret)
{
	struct strace_at one;
	uint64_t bytes;

	*ret = (struct item_iovec){ 0 };
	if (text.at == text.end || *text.at != '[')
		return false;
	while (strace_element(&text, &one)) {
		if (!strace_field_number(one, "iov_len", &bytes))
			return false;
		ret->count++;
		ret->total += bytes;
	}
	return true;
}

static bool message_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_msg message = { .messages = 1 };
	struct item_iovec vector;
	struct strace_at value;
	uint64_t number;

	if (!strace_field(text, "msg_iov", &value) || !vector_of(value, &vector))
		return false;
	message.count = vector.count;
	message.total = vector.total;
	(void)strace_field_number(text, "msg_controllen", &message.control);
	if (strace_field_number(text, "msg_flags", &number))
		message.flags = (uint32_t)number;
	return add(record, SYS_ITEM_MSG, arg, 0, &message, sizeof message);
}

static bool unix_address(struct strace_at text, struct sockaddr_un *ret, size_t *ret_bytes)
{
	struct buf path = BUF_INIT;
	struct strace_at value;
	bool truncated, ok = strace_field(text, "sun_path", &value);
	/* "@name" is the abstract one. */
	bool abstract = ok && strace_literal(&value, "@");

	ok = ok && strace_string(&value, &path, &truncated) && !truncated &&
	     path.bytes + abstract < sizeof ret->sun_path;
	if (ok) {
		*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
		if (path.bytes > 0)
			memcpy(ret->sun_path + abstract, path.data, path.bytes);
		*ret_bytes = offsetof(struct sockaddr_un, sun_path) + abstract + path.bytes + !abstract;
	}
	buf_done(&path);
	return ok;
}

static bool inet_address(struct strace_at text, struct sockaddr_in *ret)
{
	struct strace_at value;
	struct buf digits = BUF_INIT;
	uint64_t port;
	bool ok, truncated;

	*ret = (struct sockaddr_in){ .sin_family = AF_INET };
	ok = strace_field(text, "sin_port", &value) && strace_literal(&value, "htons(") && strace_number(&value, &port);
	if (ok)
		ret->sin_port = htons((uint16_t)port);
	ok = ok && strace_field(text, "sin_addr", &value) && strace_literal(&value, "inet_addr(") &&
	     strace_string(&value, &digits, &truncated) && inet_pton(AF_INET, buf_text(&digits), &ret->sin_addr) == 1;
	buf_done(&digits);
	return ok;
}

static bool address_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct sockaddr_un local;
	struct sockaddr_in inet;
	struct strace_at family;
	size_t bytes;

	if (!strace_field(text, "sa_family", &family))
		return false;
	if (strace_literal(&family, "AF_UNIX") || strace_literal(&family, "AF_LOCAL"))
		return unix_address(text, &local, &bytes) && add(record, SYS_ITEM_SOCKADDR, arg, 0, &local, bytes);
	if (strace_literal(&family, "AF_INET") && family.at == family.end)
		return inet_address(text, &inet) && add(record, SYS_ITEM_SOCKADDR, arg, 0, &inet, sizeof inet);
	return false;
}

static bool clone_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_clone clone = { 0 };

	if (!strace_field_number(text, "flags", &clone.flags))
		return false;
	(void)strace_field_number(text, "exit_signal", &clone.exit_signal);
	return add(record, SYS_ITEM_CLONE, arg, 0, &clone, sizeof clone);
}

static bool how_item(struct buf *record, unsigned arg, struct strace_at text)
{
	struct item_open_how how = { 0 };

	if (!strace_field_number(text, "flags", &how.flags))
		return false;
	(void)strace_field_number(text, "mode", &how.mode);
	(void)strace_field_number(text, "resolve", &how.resolve);
	return add(record, SYS_ITEM_OPEN_HOW, arg, 0, &how, sizeof how);
}

/* "[5]", "[0] => [5]" */
static bool numbers_item(struct buf *record, enum sys_item item, unsigned arg, struct strace_at text)
{
	struct strace_at one;
	uint64_t number;
	int32_t small;

	for (const char *p = text.end; p > text.at; p--) {
		if (p[-1] == '[') {
			text.at = p - 1;
			break;
		}
	}
	if (!strace_element(&text, &one) || !strace_number(&one, &number))
		return false;
	small = (int32_t)number;
	if (item == SYS_ITEM_OFFSET)
		return add(record, item, arg, 0, &number, sizeof number);
	return add(record, item, arg, 0, &small, sizeof small);
}

bool strace_value(struct strace_log *log, struct buf *record, uint8_t kind, unsigned arg, struct strace_at text,
		  uint64_t args[6])
{
	enum sys_item item = (enum sys_item)sys_kind(kind)->item;
	struct item_iovec vector;
	struct item_time timeout;
	struct item_epoll_event event;
	uint64_t set;

	(void)args;
	if (item == SYS_ITEM_NONE || !(log->items >> item & 1))
		return true;
	switch ((int)item) {
	case SYS_ITEM_PATH:
	case SYS_ITEM_NAME:
	case SYS_ITEM_CWD:
		return text_item(record, item, arg, text);
	case SYS_ITEM_STAT:
		return stat_item(record, arg, text);
	case SYS_ITEM_TIMES:
	case SYS_ITEM_ITIMER:
		return times_item(record, item, arg, text);
	case SYS_ITEM_TIMEOUT:
		return time_of(text, &timeout) && add(record, item, arg, 0, &timeout, sizeof timeout);
	case SYS_ITEM_SIGSET:
		return signals_of(text, &set) && add(record, item, arg, 0, &set, sizeof set);
	case SYS_ITEM_SIGACTION:
		return sigaction_item(record, arg, text);
	case SYS_ITEM_RLIMIT:
		return limit_item(record, arg, text);
	case SYS_ITEM_FDPAIR:
		return fdpair_item(record, arg, text);
	case SYS_ITEM_POLLFDS:
		return pollfds_item(record, arg, text);
	case SYS_ITEM_FDSET:
		return fdset_item(record, arg, text);
	case SYS_ITEM_EPOLL_EVENT:
		return epoll_of(text, &event) && add(record, item, arg, 0, &event, sizeof event);
	case SYS_ITEM_EPOLL_EVENTS:
		return epoll_items(record, arg, text);
	case SYS_ITEM_FLOCK:
		return flock_item(record, arg, text);
	case SYS_ITEM_IOVEC:
		return vector_of(text, &vector) && add(record, item, arg, 0, &vector, sizeof vector);
	case SYS_ITEM_MSG:
		return message_item(record, arg, text);
	case SYS_ITEM_SOCKADDR:
		return address_item(record, arg, text);
	case SYS_ITEM_CLONE:
		return clone_item(record, arg, text);
	case SYS_ITEM_OPEN_HOW:
		return how_item(record, arg, text);
	case SYS_ITEM_OFFSET:
	case SYS_ITEM_PIDFD:
	case SYS_ITEM_SOCKOPT:
		return numbers_item(record, item, arg, text);
	default:
		return false;
	}
}
