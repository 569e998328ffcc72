/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of constants that scripts and logs may use for numbers: those of
 * sys/flags.h, and what is no argument of a call by itself.  Add what a test
 * needs; values come from the headers wherever those have them.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "engine/script/script.h"
#include "sys/flags.h"

struct constant {
	const char *name;
	uint64_t value;
};

#define C(name) \
	{ \
#name, (uint64_t)(int64_t)(name) \
	}

static const struct constant constants[] = {
	{ "NULL", 0 },
	C(AT_FDCWD),
	C(AT_STATX_SYNC_AS_STAT),
	C(F_RDLCK),
	C(F_WRLCK),
	C(F_UNLCK),
	C(FD_CLOEXEC),
	{ "FIOCLEX", 0x5451 },
	{ "FIONCLEX", 0x5450 },
	{ "TCGETS", 0x5401 },
	{ "TIOCGWINSZ", 0x5413 },
	{ "FICLONE", 0x40049409 },
	{ "EFD_CLOEXEC", O_CLOEXEC },
	{ "EPOLL_CLOEXEC", O_CLOEXEC },
	{ "TFD_CLOEXEC", O_CLOEXEC },
	{ "IN_CLOEXEC", O_CLOEXEC },
	C(SOL_SOCKET),
	C(SO_REUSEADDR),
	C(SO_PASSCRED),
	{ "RLIM_INFINITY", UINT64_MAX },
	C(S_IFREG),
	C(S_IFDIR),
	C(S_IFLNK),
	C(S_IFCHR),
	C(S_IFBLK),
	C(S_IFIFO),
	C(S_IFSOCK),
	C(POLLIN),
	C(POLLOUT),
	C(POLLERR),
	C(POLLHUP),
	C(POLLNVAL),
	C(EPOLLIN),
	C(EPOLLOUT),
	C(EPOLLERR),
	C(EPOLLHUP),
	C(EPOLLRDHUP),
	C(EPOLLET),
	C(EPOLLONESHOT),
	{ "SIG_DFL", 0 },
	{ "SIG_IGN", 1 },
	C(SIGIO),
	{ "UTIME_NOW", 0x3fffffff },
	{ "UTIME_OMIT", 0x3ffffffe },
	C(STATX_BASIC_STATS),
	{ "STATX_INO", 0x100 },
	{ "STATX_ALL", 0xfff },
};

bool script_constant(const char *name, size_t bytes, uint64_t *ret)
{
	if (sys_value_of(name, bytes, ret))
		return true;
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (strncmp(constants[i].name, name, bytes) == 0 && constants[i].name[bytes] == '\0') {
			*ret = constants[i].value;
			return true;
		}
	}
	return false;
}
