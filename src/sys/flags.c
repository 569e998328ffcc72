/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/flags.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What headers of Debian 12 do not have, or for 64 bits have as 0. */
#ifdef __aarch64__
#define KERNEL_O_LARGEFILE 0400000
#else
#define KERNEL_O_LARGEFILE 0100000
#endif

struct name {
	const char *name;
	uint64_t value;
};

#define C(name) \
	{ \
#name, (uint64_t)(uint32_t)(name) \
	}
#define END \
	{ \
		NULL, 0 \
	}

/* Where one contains another the larger comes first. */
static const struct name access_ways[] = { C(O_RDONLY), C(O_WRONLY), C(O_RDWR), END };
static const struct name open_flags[] = { C(O_CREAT),
					  C(O_EXCL),
					  C(O_NOCTTY),
					  C(O_TRUNC),
					  C(O_APPEND),
					  C(O_NONBLOCK),
					  C(O_SYNC),
					  C(O_DSYNC),
					  C(O_ASYNC),
					  C(O_DIRECT),
					  C(O_TMPFILE),
					  C(O_PATH),
					  C(O_DIRECTORY),
					  C(O_NOATIME),
					  C(O_NOFOLLOW),
					  C(O_CLOEXEC),
					  { "O_LARGEFILE", KERNEL_O_LARGEFILE },
					  END };
static const struct name at_flags[] = { C(AT_SYMLINK_NOFOLLOW),
					C(AT_SYMLINK_FOLLOW),
					C(AT_NO_AUTOMOUNT),
					C(AT_EMPTY_PATH),
					{ "AT_STATX_FORCE_SYNC", 0x2000 },
					{ "AT_STATX_DONT_SYNC", 0x4000 },
					END };
static const struct name at_unlink[] = { C(AT_REMOVEDIR), END };
static const struct name at_access[] = { C(AT_EACCESS), C(AT_SYMLINK_NOFOLLOW), C(AT_EMPTY_PATH), END };
static const struct name access_modes[] = { C(R_OK), C(W_OK), C(X_OK), END };
static const struct name access_exists[] = { C(F_OK), END };
static const struct name whences[] = { C(SEEK_SET), C(SEEK_CUR), C(SEEK_END), C(SEEK_DATA), C(SEEK_HOLE), END };
static const struct name fcntl_commands[] = { C(F_DUPFD),
					      C(F_GETFD),
					      C(F_SETFD),
					      C(F_GETFL),
					      C(F_SETFL),
					      C(F_GETLK),
					      C(F_SETLK),
					      C(F_SETLKW),
					      C(F_SETOWN),
					      C(F_GETOWN),
					      C(F_SETSIG),
					      C(F_GETSIG),
					      C(F_SETLEASE),
					      C(F_GETLEASE),
					      C(F_NOTIFY),
					      C(F_DUPFD_CLOEXEC),
					      C(F_SETPIPE_SZ),
					      C(F_GETPIPE_SZ),
					      C(F_ADD_SEALS),
					      C(F_GET_SEALS),
					      { "F_OFD_GETLK", 36 },
					      { "F_OFD_SETLK", 37 },
					      { "F_OFD_SETLKW", 38 },
					      END };
static const struct name protections[] = { C(PROT_READ),      C(PROT_WRITE),   C(PROT_EXEC),
					   C(PROT_GROWSDOWN), C(PROT_GROWSUP), END };
static const struct name protection_none[] = { C(PROT_NONE), END };
static const struct name map_ways[] = { C(MAP_SHARED), C(MAP_PRIVATE), { "MAP_SHARED_VALIDATE", 3 }, END };
static const struct name map_flags[] = { C(MAP_FIXED),
					 C(MAP_ANONYMOUS),
					 C(MAP_GROWSDOWN),
					 C(MAP_DENYWRITE),
					 { "MAP_EXECUTABLE", 0x1000 },
					 C(MAP_LOCKED),
					 C(MAP_NORESERVE),
					 C(MAP_POPULATE),
					 C(MAP_NONBLOCK),
					 C(MAP_STACK),
					 C(MAP_HUGETLB),
					 { "MAP_SYNC", 0x80000 },
					 { "MAP_FIXED_NOREPLACE", 0x100000 },
					 END };
static const struct name remap_flags[] = { C(MREMAP_MAYMOVE), C(MREMAP_FIXED), { "MREMAP_DONTUNMAP", 4 }, END };
static const struct name advices[] = { C(MADV_NORMAL),
				       C(MADV_RANDOM),
				       C(MADV_SEQUENTIAL),
				       C(MADV_WILLNEED),
				       C(MADV_DONTNEED),
				       C(MADV_FREE),
				       C(MADV_REMOVE),
				       C(MADV_DONTFORK),
				       C(MADV_DOFORK),
				       C(MADV_HUGEPAGE),
				       C(MADV_NOHUGEPAGE),
				       C(MADV_DONTDUMP),
				       C(MADV_DODUMP),
				       { "MADV_COLD", 20 },
				       { "MADV_PAGEOUT", 21 },
				       { "MADV_POPULATE_READ", 22 },
				       { "MADV_POPULATE_WRITE", 23 },
				       END };
/* What programs ask of terminals, and of any descriptor. */
static const struct name terminal_requests[] = { C(TCGETS),	 C(TCSETS),   C(TCSETSW),  C(TCSETSF),	  C(TCSBRK),
						 C(TCXONC),	 C(TCFLSH),   C(TIOCEXCL), C(TIOCSCTTY),  C(TIOCGPGRP),
						 C(TIOCSPGRP),	 C(TIOCOUTQ), C(TIOCSTI),  C(TIOCGWINSZ), C(TIOCSWINSZ),
						 C(TIOCMGET),	 C(TIOCMSET), C(FIONREAD), C(TIOCNOTTY),  C(FIONBIO),
						 C(TIOCSETD),	 C(TIOCGETD), C(TIOCGSID), C(TIOCGPTN),	  C(TIOCSPTLCK),
						 C(TIOCGPTPEER), C(FIONCLEX), C(FIOCLEX),  C(FIOASYNC),	  END };
/* What clone has in its lowest byte is a signal. */
static const struct name clone_flags[] = { C(CLONE_VM),
					   C(CLONE_FS),
					   C(CLONE_FILES),
					   C(CLONE_SIGHAND),
					   { "CLONE_PIDFD", 0x1000 },
					   C(CLONE_PTRACE),
					   C(CLONE_VFORK),
					   C(CLONE_PARENT),
					   C(CLONE_THREAD),
					   C(CLONE_NEWNS),
					   C(CLONE_SYSVSEM),
					   C(CLONE_SETTLS),
					   C(CLONE_PARENT_SETTID),
					   C(CLONE_CHILD_CLEARTID),
					   C(CLONE_DETACHED),
					   C(CLONE_UNTRACED),
					   C(CLONE_CHILD_SETTID),
					   C(CLONE_NEWCGROUP),
					   C(CLONE_NEWUTS),
					   C(CLONE_NEWIPC),
					   C(CLONE_NEWUSER),
					   C(CLONE_NEWPID),
					   C(CLONE_NEWNET),
					   C(CLONE_IO),
					   END };
static const struct name families[] = { C(AF_UNSPEC), C(AF_UNIX),  C(AF_INET), C(AF_INET6),	 C(AF_NETLINK),
					C(AF_PACKET), C(AF_VSOCK), C(AF_ALG),  { "AF_XDP", 44 }, END };
static const struct name socket_types[] = { C(SOCK_STREAM),    C(SOCK_DGRAM),  C(SOCK_RAW), C(SOCK_RDM),
					    C(SOCK_SEQPACKET), C(SOCK_PACKET), END };
static const struct name socket_flags[] = { C(SOCK_CLOEXEC), C(SOCK_NONBLOCK), END };
static const struct name message_flags[] = { C(MSG_OOB),
					     C(MSG_PEEK),
					     C(MSG_DONTROUTE),
					     C(MSG_TRUNC),
					     C(MSG_DONTWAIT),
					     C(MSG_EOR),
					     C(MSG_WAITALL),
					     C(MSG_NOSIGNAL),
					     C(MSG_MORE),
					     C(MSG_WAITFORONE),
					     C(MSG_FASTOPEN),
					     C(MSG_CMSG_CLOEXEC),
					     END };
static const struct name shutdowns[] = { C(SHUT_RD), C(SHUT_WR), C(SHUT_RDWR), END };
static const struct name locks[] = { { "LOCK_SH", 1 }, { "LOCK_EX", 2 }, { "LOCK_UN", 8 }, { "LOCK_NB", 4 }, END };
static const struct name wait_options[] = { C(WNOHANG),
					    C(WUNTRACED),
					    C(WEXITED),
					    C(WCONTINUED),
					    C(WNOWAIT),
					    { "__WALL", 0x40000000 },
					    { "__WCLONE", 0x80000000 },
					    END };
static const struct name clocks[] = { C(CLOCK_REALTIME),
				      C(CLOCK_MONOTONIC),
				      C(CLOCK_PROCESS_CPUTIME_ID),
				      C(CLOCK_THREAD_CPUTIME_ID),
				      C(CLOCK_MONOTONIC_RAW),
				      C(CLOCK_REALTIME_COARSE),
				      C(CLOCK_MONOTONIC_COARSE),
				      C(CLOCK_BOOTTIME),
				      C(CLOCK_TAI),
				      END };
static const struct name futex_operations[] = {
	C(FUTEX_WAIT),	      C(FUTEX_WAKE),	    C(FUTEX_REQUEUE),	      C(FUTEX_CMP_REQUEUE),
	C(FUTEX_WAKE_OP),     C(FUTEX_LOCK_PI),	    C(FUTEX_UNLOCK_PI),	      C(FUTEX_TRYLOCK_PI),
	C(FUTEX_WAIT_BITSET), C(FUTEX_WAKE_BITSET), C(FUTEX_WAIT_REQUEUE_PI), END
};
static const struct name futex_flags[] = { C(FUTEX_PRIVATE_FLAG), C(FUTEX_CLOCK_REALTIME), END };
static const struct name mask_changes[] = { C(SIG_BLOCK), C(SIG_UNBLOCK), C(SIG_SETMASK), END };
static const struct name epoll_changes[] = { C(EPOLL_CTL_ADD), C(EPOLL_CTL_DEL), C(EPOLL_CTL_MOD), END };
static const struct name closings[] = { { "CLOSE_RANGE_UNSHARE", 2 }, { "CLOSE_RANGE_CLOEXEC", 4 }, END };
static const struct name memory_files[] = { { "MFD_CLOEXEC", 1 },     { "MFD_ALLOW_SEALING", 2 }, { "MFD_HUGETLB", 4 },
					    { "MFD_NOEXEC_SEAL", 8 }, { "MFD_EXEC", 16 },	  END };
static const struct name random_flags[] = { { "GRND_NONBLOCK", 1 }, { "GRND_RANDOM", 2 }, { "GRND_INSECURE", 4 }, END };
static const struct name renamings[] = {
	{ "RENAME_NOREPLACE", 1 }, { "RENAME_EXCHANGE", 2 }, { "RENAME_WHITEOUT", 4 }, END
};
static const struct name resources[] = { C(RLIMIT_CPU),
					 C(RLIMIT_FSIZE),
					 C(RLIMIT_DATA),
					 C(RLIMIT_STACK),
					 C(RLIMIT_CORE),
					 C(RLIMIT_RSS),
					 C(RLIMIT_NPROC),
					 C(RLIMIT_NOFILE),
					 C(RLIMIT_MEMLOCK),
					 C(RLIMIT_AS),
					 C(RLIMIT_LOCKS),
					 C(RLIMIT_SIGPENDING),
					 C(RLIMIT_MSGQUEUE),
					 C(RLIMIT_NICE),
					 C(RLIMIT_RTPRIO),
					 C(RLIMIT_RTTIME),
					 END };

/* How an argument is read: a choice in some bits, flags in the rest. */
struct words {
	const struct name *choices, *flags;
	uint32_t choice_bits;
	const struct name *zero; /* what the whole 0 is called */
};

#define ALL UINT32_MAX
#define SIGNAL_LAST 64

static const struct words words_open = { access_ways, open_flags, O_ACCMODE, NULL };
static const struct words words_fd = { NULL, open_flags, 0, NULL };
static const struct words words_at = { NULL, at_flags, 0, NULL };
static const struct words words_unlink = { NULL, at_unlink, 0, NULL };
static const struct words words_at_access = { NULL, at_access, 0, NULL };
static const struct words words_access = { NULL, access_modes, 0, access_exists };
static const struct words words_whence = { whences, NULL, ALL, NULL };
static const struct words words_fcntl = { fcntl_commands, NULL, ALL, NULL };
static const struct words words_prot = { NULL, protections, 0, protection_none };
static const struct words words_map = { map_ways, map_flags, 0x3, NULL };
static const struct words words_remap = { NULL, remap_flags, 0, NULL };
static const struct words words_ioctl = { terminal_requests, NULL, ALL, NULL };
static const struct words words_advice = { advices, NULL, ALL, NULL };
static const struct words words_clone = { NULL, clone_flags, 0, NULL };
static const struct words words_family = { families, NULL, ALL, NULL };
static const struct words words_socket = { socket_types, socket_flags, 0xf, NULL };
static const struct words words_accept = { NULL, socket_flags, 0, NULL };
static const struct words words_message = { NULL, message_flags, 0, NULL };
static const struct words words_shutdown = { shutdowns, NULL, ALL, NULL };
static const struct words words_lock = { NULL, locks, 0, NULL };
static const struct words words_wait = { NULL, wait_options, 0, NULL };
static const struct words words_clock = { clocks, NULL, ALL, NULL };
static const struct words words_futex = { futex_operations, futex_flags, 0x7f, NULL };
static const struct words words_mask = { mask_changes, NULL, ALL, NULL };
static const struct words words_epoll = { epoll_changes, NULL, ALL, NULL };
static const struct words words_closing = { NULL, closings, 0, NULL };
static const struct words words_memory_file = { NULL, memory_files, 0, NULL };
static const struct words words_random = { NULL, random_flags, 0, NULL };
static const struct words words_renaming = { NULL, renamings, 0, NULL };
static const struct words words_resource = { resources, NULL, ALL, NULL };

static const struct {
	const char *kind; /* of data/syscalls/kinds.tbl */
	const struct words *words;
} by_kind[] = {
	{ "open_flags", &words_open }, { "at_flags", &words_at },	{ "access_mode", &words_access },
	{ "whence", &words_whence },   { "fcntl_cmd", &words_fcntl },	{ "prot", &words_prot },
	{ "map_flags", &words_map },   { "clone_flags", &words_clone }, { "family", &words_family },
	{ "clock", &words_clock },     { "futex_op", &words_futex },
};

/* Where the same kind, or none, means something else: asked first. */
static const struct {
	uint16_t id, arg;
	const struct words *words;
} by_call[] = {
	{ CALL_pipe2, 1, &words_fd },
	{ CALL_dup3, 2, &words_fd },
	{ CALL_eventfd2, 1, &words_fd },
	{ CALL_epoll_create1, 0, &words_fd },
	{ CALL_timerfd_create, 1, &words_fd },
	{ CALL_inotify_init1, 0, &words_fd },
	{ CALL_signalfd4, 3, &words_fd },
	{ CALL_userfaultfd, 0, &words_fd },
	{ CALL_unlinkat, 2, &words_unlink },
	{ CALL_faccessat2, 3, &words_at_access },
	{ CALL_socket, 1, &words_socket },
	{ CALL_socketpair, 1, &words_socket },
	{ CALL_accept4, 3, &words_accept },
	{ CALL_shutdown, 1, &words_shutdown },
	{ CALL_sendto, 3, &words_message },
	{ CALL_sendmsg, 2, &words_message },
	{ CALL_sendmmsg, 3, &words_message },
	{ CALL_recvfrom, 3, &words_message },
	{ CALL_recvmsg, 2, &words_message },
	{ CALL_recvmmsg, 3, &words_message },
	{ CALL_mremap, 3, &words_remap },
	{ CALL_madvise, 2, &words_advice },
	{ CALL_ioctl, 1, &words_ioctl },
	{ CALL_flock, 1, &words_lock },
	{ CALL_wait4, 2, &words_wait },
	{ CALL_waitid, 3, &words_wait },
	{ CALL_rt_sigprocmask, 0, &words_mask },
	{ CALL_epoll_ctl, 1, &words_epoll },
	{ CALL_close_range, 2, &words_closing },
	{ CALL_memfd_create, 1, &words_memory_file },
	{ CALL_getrandom, 2, &words_random },
	{ CALL_renameat2, 4, &words_renaming },
	{ CALL_prlimit64, 1, &words_resource },
	{ CALL_getrlimit, 0, &words_resource },
	{ CALL_setrlimit, 0, &words_resource },
};

static const struct words *words_of(enum sys_call_id id, unsigned arg, const char *kind)
{
	for (size_t i = 0; i < sizeof by_call / sizeof *by_call; i++)
		if (by_call[i].id == id && by_call[i].arg == arg)
			return by_call[i].words;
	for (size_t i = 0; i < sizeof by_kind / sizeof *by_kind; i++)
		if (strcmp(by_kind[i].kind, kind) == 0)
			return by_kind[i].words;
	return NULL;
}

static const char *name_of(const struct name *names, uint64_t value)
{
	for (; names && names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

static void put_word(struct buf *out, const char *word, bool *after)
{
	(void)buf_printf(out, "%s%s", *after ? "|" : "", word);
	*after = true;
}

static void put_words(struct buf *out, const struct words *words, uint32_t value)
{
	const char *choice = name_of(words->choices, value & words->choice_bits);
	bool after = false;

	if (choice) {
		put_word(out, choice, &after);
		value &= ~words->choice_bits;
	}
	for (const struct name *flag = words->flags; flag && flag->name; flag++) {
		if (flag->value == 0 || (value & flag->value) != flag->value)
			continue;
		put_word(out, flag->name, &after);
		value &= ~(uint32_t)flag->value;
	}
	if (value != 0)
		(void)buf_printf(out, "%s0x%" PRIx32, after ? "|" : "", value);
}

/* The signal that its end sends is in the lowest byte. */
static bool put_clone(struct buf *out, uint64_t value)
{
	char name[SYS_NAME_MAX];
	int sig = (int)(value & 0xff);
	uint32_t flags = (uint32_t)value & ~UINT32_C(0xff);

	if (flags != 0)
		put_words(out, &words_clone, flags);
	if (sig > SIGNAL_LAST)
		(void)buf_printf(out, "%s0x%x", flags ? "|" : "", sig);
	else if (sig != 0)
		(void)buf_printf(out, "%s%s", flags ? "|" : "", sys_signal_print(sig, name));
	return value != 0;
}

bool sys_value_put(struct buf *out, enum sys_call_id id, unsigned arg, uint64_t value)
{
	const struct sys_call *call = sys_call(id);
	const struct sys_kind *kind = arg < call->nargs ? sys_kind(call->args[arg].kind) : NULL;
	const struct words *words;
	char name[SYS_NAME_MAX];
	uint32_t low = (uint32_t)value;

	if (!kind)
		return false;
	if (strcmp(kind->name, "signal") == 0) {
		/* 0 asks whether somebody is there. */
		if (low == 0 || low > SIGNAL_LAST)
			return false;
		(void)buf_puts(out, sys_signal_print((int)low, name));
		return true;
	}
	words = words_of(id, arg, kind->name);
	if (!words)
		return false;
	if (words == &words_clone)
		return put_clone(out, value);
	if (low == 0 && words->zero) {
		(void)buf_puts(out, words->zero->name);
		return true;
	}
	/* A choice without a name, and flags without any, are better numbers. */
	if (words->choice_bits == ALL ? !name_of(words->choices, low) : low == 0 && !name_of(words->choices, 0))
		return false;
	put_words(out, words, low);
	return true;
}

static bool signal_of(const char *name, size_t bytes, uint64_t *ret)
{
	char text[SYS_NAME_MAX];

	/* Scripts ask for each constant of each line. */
	if (bytes < 3 || memcmp(name, "SIG", 3) != 0)
		return false;
	for (int sig = 1; sig <= SIGNAL_LAST; sig++) {
		if (strlen(sys_signal_print(sig, text)) == bytes && memcmp(text, name, bytes) == 0) {
			*ret = (uint64_t)sig;
			return true;
		}
	}
	return false;
}

bool sys_value_of(const char *name, size_t bytes, uint64_t *ret)
{
	static const struct name *const tables[] = {
		access_ways,   open_flags,	 at_flags,	 at_unlink,	    at_access,	     access_modes,
		access_exists, whences,		 fcntl_commands, protections,	    protection_none, map_ways,
		map_flags,     remap_flags,	 advices,	 terminal_requests, clone_flags,     families,
		socket_types,  socket_flags,	 message_flags,	 shutdowns,	    locks,	     wait_options,
		clocks,	       futex_operations, futex_flags,	 mask_changes,	    epoll_changes,   closings,
		memory_files,  random_flags,	 renamings,	 resources,
	};

	if (bytes == 0)
		return false;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		for (const struct name *at = tables[i]; at->name; at++) {
			if (at->name[0] == name[0] && strncmp(at->name, name, bytes) == 0 && at->name[bytes] == '\0') {
				*ret = at->value;
				return true;
			}
		}
	}
	return signal_of(name, bytes, ret);
}
