/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/price-table.h"

#include "verdict/price.h"

struct table_row {
	uint16_t call; /* enum sys_call_id */
	int16_t err; /* 0, an errno, or PRICE_ANY_FAILURE */
	uint16_t probe; /* enum probe_id */
};

#define OK(call, probe) \
	{ \
		CALL_##call, 0, PROBE_##probe \
	}
#define FAILS(call, probe) \
	{ \
		CALL_##call, PRICE_ANY_FAILURE, PROBE_##probe \
	}
#define FAILS_WITH(call, err, probe) \
	{ \
		CALL_##call, err, PROBE_##probe \
	}

/* The first row that fits is taken: single errnos before "any failure". */
static const struct table_row table[] = {
	FAILS(close, CLOSE_ABSENT),
	OK(close, DUP_CLOSE),
	OK(dup, DUP_CLOSE),
	OK(dup2, DUP_CLOSE),
	OK(dup3, DUP_CLOSE),
	OK(close_range, DUP_CLOSE),

	OK(open, OPEN),
	OK(openat, OPEN),
	OK(openat2, OPEN),
	OK(creat, OPEN),
	OK(memfd_create, OPEN),
	FAILS(open, OPEN_ABSENT),
	FAILS(openat, OPEN_ABSENT),
	FAILS(openat2, OPEN_ABSENT),
	FAILS(creat, OPEN_ABSENT),
	FAILS(execve, OPEN_ABSENT),
	FAILS(execveat, OPEN_ABSENT),

	OK(stat, STAT),
	OK(lstat, STAT),
	OK(newfstatat, STAT),
	OK(statx, STATX),
	OK(fstat, FSTAT),
	FAILS(stat, STAT_ABSENT),
	FAILS(lstat, STAT_ABSENT),
	FAILS(newfstatat, STAT_ABSENT),
	FAILS(statx, STAT_ABSENT),
	OK(statfs, STAT),
	OK(fstatfs, FSTAT),
	FAILS(statfs, STAT_ABSENT),

	OK(access, ACCESS),
	OK(faccessat, ACCESS),
	OK(faccessat2, ACCESS),
	OK(chdir, ACCESS),
	FAILS(access, ACCESS_ABSENT),
	FAILS(faccessat, ACCESS_ABSENT),
	FAILS(faccessat2, ACCESS_ABSENT),
	FAILS(chdir, ACCESS_ABSENT),

	OK(readlink, READLINK),
	OK(readlinkat, READLINK),
	FAILS_WITH(readlink, 22, READLINK_NO_LINK),
	FAILS_WITH(readlinkat, 22, READLINK_NO_LINK),
	FAILS(readlink, STAT_ABSENT),
	FAILS(readlinkat, STAT_ABSENT),

	FAILS_WITH(getxattr, 95, GETXATTR_UNSUPPORTED),
	FAILS_WITH(lgetxattr, 95, GETXATTR_UNSUPPORTED),
	FAILS_WITH(getxattrat, 95, GETXATTR_UNSUPPORTED),
	FAILS_WITH(listxattr, 95, GETXATTR_UNSUPPORTED),
	FAILS_WITH(llistxattr, 95, GETXATTR_UNSUPPORTED),
	FAILS_WITH(getxattr, 2, STAT_ABSENT),
	FAILS_WITH(lgetxattr, 2, STAT_ABSENT),
	FAILS_WITH(getxattrat, 2, STAT_ABSENT),
	FAILS_WITH(listxattr, 2, STAT_ABSENT),
	FAILS_WITH(llistxattr, 2, STAT_ABSENT),
	FAILS(getxattr, GETXATTR_ABSENT),
	FAILS(lgetxattr, GETXATTR_ABSENT),
	FAILS(getxattrat, GETXATTR_ABSENT),
	OK(getxattr, GETXATTR_ABSENT),
	OK(lgetxattr, GETXATTR_ABSENT),
	OK(getxattrat, GETXATTR_ABSENT),
	FAILS(fgetxattr, FGETXATTR_ABSENT),
	OK(fgetxattr, FGETXATTR_ABSENT),
	OK(flistxattr, FGETXATTR_ABSENT),
	FAILS(flistxattr, FGETXATTR_ABSENT),
	OK(listxattr, LISTXATTR),
	OK(llistxattr, LISTXATTR),
	OK(listxattrat, LISTXATTR),
	FAILS(listxattr, LISTXATTR),
	FAILS(llistxattr, LISTXATTR),
	FAILS(listxattrat, LISTXATTR),

	OK(getdents, GETDENTS),
	OK(getdents64, GETDENTS),
	OK(lseek, LSEEK),
	OK(read, READ),
	OK(pread64, READ),
	OK(readv, READ),
	OK(preadv, READ),
	OK(preadv2, READ),
	OK(recvfrom, READ),
	OK(recvmsg, READ),
	OK(write, WRITE),
	OK(pwrite64, WRITE),
	OK(writev, WRITE),
	OK(pwritev, WRITE),
	OK(pwritev2, WRITE),
	OK(sendto, WRITE),
	OK(sendmsg, WRITE),
	OK(ioctl, IOCTL_NO_TTY),
	FAILS(ioctl, IOCTL_NO_TTY),
	OK(fcntl, FCNTL),
	OK(flock, FCNTL),
	OK(fadvise64, FCNTL),

	OK(mmap, MMAP_MUNMAP),
	OK(munmap, MMAP_MUNMAP),
	OK(mremap, MMAP_MUNMAP),
	OK(mprotect, MPROTECT),
	OK(madvise, MPROTECT),
	OK(brk, BRK),

	OK(rt_sigaction, SIGACTION),
	OK(rt_sigprocmask, SIGPROCMASK),
	OK(pipe, PIPE),
	OK(pipe2, PIPE),
	OK(socket, SOCKET),
	OK(socketpair, PIPE),
	OK(eventfd2, SOCKET),
	OK(epoll_create1, SOCKET),
	OK(inotify_init1, SOCKET),
	OK(timerfd_create, SOCKET),
	FAILS(connect, CONNECT_ABSENT),
	OK(poll, POLL),
	OK(ppoll, POLL),
	OK(select, POLL),
	OK(pselect6, POLL),
	OK(epoll_wait, POLL),
	OK(epoll_pwait, POLL),
	OK(epoll_pwait2, POLL),
	OK(epoll_ctl, EPOLL_CTL),
	OK(futex, FUTEX),
	OK(getrandom, GETRANDOM),
	OK(clock_gettime, CLOCK),
	OK(getcwd, GETCWD),
	OK(uname, UNAME),
	OK(prlimit64, PRLIMIT),
	OK(getrlimit, PRLIMIT),
	OK(getrusage, CLOCK),
	OK(times, CLOCK),
	OK(fork, VFORK),
	OK(vfork, VFORK),
	OK(clone, VFORK),
	OK(clone3, VFORK),

	/* What changes a name or an inode cannot be measured without a trace of
	 * it: the walk and the look-up are the least that it costs. */
	OK(unlink, OPEN),
	OK(unlinkat, OPEN),
	OK(rmdir, OPEN),
	OK(mkdir, OPEN),
	OK(mkdirat, OPEN),
	OK(rename, OPEN),
	OK(renameat, OPEN),
	OK(renameat2, OPEN),
	OK(link, OPEN),
	OK(linkat, OPEN),
	OK(symlink, OPEN),
	OK(symlinkat, OPEN),
};

enum probe_id price_table_probe(enum sys_call_id call, int err)
{
	uint64_t classes;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].call == call && (table[i].err == err || (table[i].err == PRICE_ANY_FAILURE && err != 0)))
			return (enum probe_id)table[i].probe;
	classes = sys_call(call)->classes;
	if (classes & SYS_CLASS_file)
		return err ? PROBE_ACCESS_ABSENT : PROBE_ACCESS;
	return PROBE_NULL;
}
