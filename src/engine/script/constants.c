/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of constants that scripts may use for numbers.  Add what a test
 * needs; values come from the headers wherever those have them.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/script/script.h"

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
	C(AT_EMPTY_PATH),
	C(AT_SYMLINK_NOFOLLOW),
	C(AT_SYMLINK_FOLLOW),
	C(AT_REMOVEDIR),
	C(AT_EACCESS),
	C(AT_NO_AUTOMOUNT),
	C(AT_STATX_SYNC_AS_STAT),
	C(O_RDONLY),
	C(O_WRONLY),
	C(O_RDWR),
	C(O_CREAT),
	C(O_EXCL),
	C(O_TRUNC),
	C(O_APPEND),
	C(O_NONBLOCK),
	C(O_CLOEXEC),
	C(O_DIRECTORY),
	C(O_NOFOLLOW),
	C(O_PATH),
	C(O_TMPFILE),
	C(O_NOATIME),
	C(O_DIRECT),
	C(O_SYNC),
	C(O_DSYNC),
	C(O_NOCTTY),
	C(F_DUPFD),
	C(F_GETFD),
	C(F_SETFD),
	C(F_GETFL),
	C(F_SETFL),
	C(F_GETLK),
	C(F_SETLK),
	C(F_SETLKW),
	{ "F_DUPFD_CLOEXEC", 1030 },
	C(F_RDLCK),
	C(F_WRLCK),
	C(F_UNLCK),
	C(FD_CLOEXEC),
	C(F_OK),
	C(R_OK),
	C(W_OK),
	C(X_OK),
	C(SEEK_SET),
	C(SEEK_CUR),
	C(SEEK_END),
	{ "FIOCLEX", 0x5451 },
	{ "FIONCLEX", 0x5450 },
	{ "TCGETS", 0x5401 },
	{ "TIOCGWINSZ", 0x5413 },
	{ "FICLONE", 0x40049409 },
	{ "CLOSE_RANGE_UNSHARE", 2 },
	{ "CLOSE_RANGE_CLOEXEC", 4 },
	{ "MFD_CLOEXEC", 1 },
	{ "EFD_CLOEXEC", O_CLOEXEC },
	{ "EPOLL_CLOEXEC", O_CLOEXEC },
	{ "TFD_CLOEXEC", O_CLOEXEC },
	{ "IN_CLOEXEC", O_CLOEXEC },
	C(SOCK_CLOEXEC),
	C(SOCK_NONBLOCK),
	C(SOCK_STREAM),
	C(SOCK_DGRAM),
	C(SOCK_SEQPACKET),
	C(AF_UNIX),
	C(AF_INET),
	C(AF_INET6),
	C(AF_NETLINK),
	C(SOL_SOCKET),
	C(SO_REUSEADDR),
	C(SO_PASSCRED),
	C(MSG_CMSG_CLOEXEC),
	C(MSG_DONTWAIT),
	C(MSG_PEEK),
	C(MSG_NOSIGNAL),
	C(MSG_TRUNC),
	C(PROT_NONE),
	C(PROT_READ),
	C(PROT_WRITE),
	C(PROT_EXEC),
	C(MAP_PRIVATE),
	C(MAP_SHARED),
	C(MAP_FIXED),
	C(MAP_ANONYMOUS),
	C(MAP_DENYWRITE),
	C(MAP_STACK),
	C(MAP_NORESERVE),
	C(MREMAP_MAYMOVE),
	C(MREMAP_FIXED),
	C(CLONE_VM),
	C(CLONE_FS),
	C(CLONE_FILES),
	C(CLONE_SIGHAND),
	C(CLONE_VFORK),
	C(CLONE_PARENT),
	C(CLONE_THREAD),
	C(CLONE_NEWNS),
	C(CLONE_NEWUSER),
	C(CLONE_NEWPID),
	C(CLONE_NEWNET),
	C(CLONE_UNTRACED),
	{ "CLONE_PIDFD", 0x1000 },
	C(RLIMIT_NOFILE),
	C(RLIMIT_STACK),
	C(RLIMIT_CORE),
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
	C(EPOLL_CTL_ADD),
	C(EPOLL_CTL_DEL),
	C(EPOLL_CTL_MOD),
	{ "SIG_DFL", 0 },
	{ "SIG_IGN", 1 },
	C(SIG_BLOCK),
	C(SIG_UNBLOCK),
	C(SIG_SETMASK),
	C(SIGHUP),
	C(SIGINT),
	C(SIGQUIT),
	C(SIGILL),
	C(SIGTRAP),
	C(SIGABRT),
	C(SIGBUS),
	C(SIGFPE),
	C(SIGKILL),
	C(SIGUSR1),
	C(SIGSEGV),
	C(SIGUSR2),
	C(SIGPIPE),
	C(SIGALRM),
	C(SIGTERM),
	C(SIGCHLD),
	C(SIGCONT),
	C(SIGSTOP),
	C(SIGTSTP),
	C(SIGTTIN),
	C(SIGTTOU),
	C(SIGWINCH),
	C(SIGSYS),
	C(SIGIO),
	{ "UTIME_NOW", 0x3fffffff },
	{ "UTIME_OMIT", 0x3ffffffe },
	C(CLOCK_REALTIME),
	C(CLOCK_MONOTONIC),
	C(CLOCK_PROCESS_CPUTIME_ID),
	C(CLOCK_THREAD_CPUTIME_ID),
	C(FUTEX_WAIT),
	C(FUTEX_WAKE),
	C(FUTEX_PRIVATE_FLAG),
	C(STATX_BASIC_STATS),
	{ "STATX_INO", 0x100 },
	{ "STATX_ALL", 0xfff },
};

bool script_constant(const char *name, size_t bytes, uint64_t *ret)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (strncmp(constants[i].name, name, bytes) == 0 && constants[i].name[bytes] == '\0') {
			*ret = constants[i].value;
			return true;
		}
	}
	return false;
}
