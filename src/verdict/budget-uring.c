/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls that io_uring does without their being made, by the operations of
 * include/uapi/linux/io_uring.h up to Linux 6.16.  A call that has an
 * operation for the same work is here too: a program that moved from open to
 * IORING_OP_OPENAT makes no open any more.
 */
#include "verdict/budget-state.h"

static const uint16_t can[] = {
	CALL_read,
	CALL_readv,
	CALL_pread64,
	CALL_preadv,
	CALL_preadv2, /* READ, READV, READ_FIXED, READ_MULTISHOT */
	CALL_write,
	CALL_writev,
	CALL_pwrite64,
	CALL_pwritev,
	CALL_pwritev2, /* WRITE, WRITEV, WRITE_FIXED */
	CALL_fsync,
	CALL_fdatasync,
	CALL_sync_file_range, /* FSYNC, SYNC_FILE_RANGE */
	CALL_poll,
	CALL_ppoll,
	CALL_select,
	CALL_pselect6,
	CALL_epoll_ctl,
	CALL_epoll_wait,
	CALL_epoll_pwait,
	CALL_epoll_pwait2, /* POLL_ADD, EPOLL_CTL, EPOLL_WAIT */
	CALL_sendmsg,
	CALL_sendto,
	CALL_sendmmsg,
	CALL_recvmsg,
	CALL_recvfrom,
	CALL_recvmmsg, /* SENDMSG, SEND, RECV… */
	CALL_nanosleep,
	CALL_clock_nanosleep, /* TIMEOUT */
	CALL_accept,
	CALL_accept4,
	CALL_connect,
	CALL_bind,
	CALL_listen,
	CALL_shutdown,
	CALL_socket,
	CALL_getsockopt,
	CALL_setsockopt, /* URING_CMD on sockets */
	CALL_fallocate,
	CALL_ftruncate,
	CALL_fadvise64,
	CALL_madvise,
	CALL_open,
	CALL_creat,
	CALL_openat,
	CALL_openat2,
	CALL_close, /* OPENAT, OPENAT2, CLOSE */
	CALL_stat,
	CALL_lstat,
	CALL_fstat,
	CALL_newfstatat,
	CALL_statx, /* STATX */
	CALL_splice,
	CALL_tee,
	CALL_sendfile, /* SPLICE, TEE */
	CALL_rename,
	CALL_renameat,
	CALL_renameat2,
	CALL_unlink,
	CALL_unlinkat,
	CALL_rmdir,
	CALL_mkdir,
	CALL_mkdirat,
	CALL_symlink,
	CALL_symlinkat,
	CALL_link,
	CALL_linkat,
	CALL_getxattr,
	CALL_fgetxattr,
	CALL_setxattr,
	CALL_fsetxattr,
	CALL_lgetxattr,
	CALL_lsetxattr,
	CALL_getxattrat,
	CALL_setxattrat, /* GETXATTR, FGETXATTR, SETXATTR, FSETXATTR */
	CALL_waitid,
	CALL_wait4, /* WAITID */
	CALL_futex,
	CALL_futex_wait,
	CALL_futex_wake,
	CALL_futex_waitv, /* FUTEX_WAIT, _WAKE, _WAITV */
	CALL_pipe,
	CALL_pipe2, /* PIPE */
};

bool budget_uring_can(enum sys_call_id id)
{
	for (size_t i = 0; i < sizeof can / sizeof can[0]; i++)
		if (can[i] == id)
			return true;
	return false;
}
