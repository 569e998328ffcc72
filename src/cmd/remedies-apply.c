/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a command gets its remedies: variables before fork, limits and the
 * filter in the child.  Nothing here outlives the command.
 */
#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/remedies.h"
#include "sys/sys.h"

#define LIBRARY "libsyscull-preload.so"

#if defined __x86_64__
#define AUDIT_NATIVE AUDIT_ARCH_X86_64
#else
#define AUDIT_NATIVE AUDIT_ARCH_AARCH64
#endif

/* Where the library lies seen from the command: beside it, in meson's tree,
 * installed, there or elsewhere. */
static const char *const places[] = { LIBRARY, "../../preload/" LIBRARY, SYSCULL_LIBDIR_BESIDE "/" LIBRARY,
				      "../lib/" LIBRARY, NULL };

static char *try_place(const char *directory, const char *place)
{
	char *path, *real;

	if (asprintf(&path, "%s/%s", directory, place) < 0)
		return NULL;
	real = realpath(path, NULL);
	free(path);
	return real;
}

static int find_library(char **ret, struct error *err)
{
	char self[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	*ret = NULL;
	if (bytes > 0) {
		self[bytes] = '\0';
		slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
		for (size_t i = 0; !*ret && places[i]; i++)
			*ret = try_place(self, places[i]);
	}
	if (!*ret)
		*ret = try_place(SYSCULL_LIBDIR, LIBRARY);
	if (!*ret)
		return error_set(err, ENOENT, "%s was not found beside syscull nor in %s", LIBRARY, SYSCULL_LIBDIR);
	/* The loader separates names by colons and blanks. */
	if (strpbrk(*ret, ": ")) {
		int r = error_set(err, EINVAL, "%s: a path with a colon or blank cannot be preloaded", *ret);

		free(*ret);
		*ret = NULL;
		return r;
	}
	return 0;
}

static int read_limit(const char *name, const char *value, uint64_t *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '\0' || errno != 0)
		return error_set(err, EINVAL, "--with %s wants a number, not '%s'", name, value);
	return 0;
}

static int prepare_limit(struct remedies_ready *ready, const char *name, const char *value, struct error *err)
{
	struct rlimit limit;
	uint64_t number;
	int r = read_limit(name, value, &number, err);

	if (r < 0)
		return r;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return error_errno(err, errno, "--with %s", name);
	if (number > limit.rlim_max)
		return error_set(err, EINVAL, "--with %s=%s: the hard limit is %llu", name, value,
				 (unsigned long long)limit.rlim_max);
	if (strcmp(name, "nofile-hard") == 0) {
		ready->hard_set = true;
		ready->hard = number;
	} else {
		ready->soft_set = true;
		ready->soft = number;
	}
	return 0;
}

int remedies_prepare(const struct remedies *remedies, struct remedies_ready *ret, struct error *err)
{
	struct buf parts = BUF_INIT;
	const char *before = getenv("LD_PRELOAD");
	char *library = NULL;
	int r = 0;

	*ret = (struct remedies_ready){ 0 };
	for (unsigned i = 0; r == 0 && i < remedies->count; i++) {
		const struct remedy *remedy = remedies->at[i].remedy;

		switch (remedy->means) {
		case REMEDY_BY_PRELOAD:
			(void)buf_printf(&parts, "%s%s", parts.bytes ? "," : "", remedy->name);
			break;
		case REMEDY_BY_LIMIT:
			r = prepare_limit(ret, remedy->name, remedies->at[i].value, err);
			break;
		case REMEDY_BY_FILTER:
			ret->filter = true;
			break;
		case REMEDY_BY_VARIABLE:
		case REMEDY_BY_ABSENCE:
			break;
		}
	}
	if (r == 0 && ret->hard_set && ret->soft_set && ret->soft > ret->hard)
		r = error_set(err, EINVAL, "--with: nofile-soft is above nofile-hard");
	if (r == 0 && parts.bytes > 0) {
		r = find_library(&library, err);
		/* Last: an interposer that has to be first, a sanitizer's, stays so. */
		if (r == 0 && asprintf(&ret->preload, "%s%s%s", before ? before : "", before && *before ? ":" : "",
				       library) < 0) {
			ret->preload = NULL;
			r = error_errno(err, ENOMEM, "--with");
		}
		ret->parts = buf_steal(&parts);
		if (r == 0 && !ret->parts)
			r = error_errno(err, ENOMEM, "--with");
	}
	free(library);
	buf_done(&parts);
	if (r < 0)
		remedies_ready_done(ret);
	return r;
}

void remedies_ready_done(struct remedies_ready *ready)
{
	free(ready->preload);
	free(ready->parts);
	ready->preload = ready->parts = NULL;
}

int remedies_environment(const struct remedies *remedies, const struct remedies_ready *ready, struct error *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < remedies->count; i++) {
		const struct remedy *remedy = remedies->at[i].remedy;

		if (remedy->means == REMEDY_BY_VARIABLE)
			r = setenv(remedy->name, remedies->at[i].value, 1);
		else if (remedy->means == REMEDY_BY_ABSENCE)
			r = unsetenv(remedy->name);
	}
	if (r == 0 && ready->preload) {
		r = setenv("LD_PRELOAD", ready->preload, 1);
		if (r == 0)
			r = setenv("SYSCULL_PRELOAD", ready->parts, 1);
	}
	return r == 0 ? 0 : error_errno(err, errno, "setting the environment");
}

/* The attribute look-ups of the native table; the numbers of foreign tables
 * (32-bit programs) are let through. */
static int install_filter(void)
{
	static const enum sys_call_id calls[] = { CALL_getxattr,   CALL_lgetxattr,  CALL_fgetxattr,  CALL_listxattr,
						  CALL_llistxattr, CALL_flistxattr, CALL_getxattrat, CALL_listxattrat };
	enum { COUNT = sizeof calls / sizeof calls[0] };
	struct sock_filter code[COUNT + 5];
	struct sock_fprog program = { .filter = code };
	unsigned used = 0;

	code[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_NATIVE, 0, COUNT + 1);
	code[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < COUNT; i++)
		code[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    (uint32_t)sys_call_nr(SYS_ARCH_NATIVE, calls[i]),
							    (uint8_t)(COUNT - i), 0);
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP);
	program.len = (unsigned short)used;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, &program) == 0)
		return 0;
	/* Not root here: then only for programs that gain nothing by exec. */
	if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, &program) == 0 ? 0 : -errno;
}

bool remedies_promise(const struct remedies_ready *ready)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return ready->filter && syscall(SYS_capget, &head, caps) == 0 && !(caps[0].effective & 1u << CAP_SYS_ADMIN);
}

int remedies_child(const struct remedies_ready *ready)
{
	if (ready->soft_set || ready->hard_set) {
		struct rlimit limit;

		if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
			return -errno;
		if (ready->hard_set)
			limit.rlim_cur = limit.rlim_max = ready->hard;
		if (ready->soft_set)
			limit.rlim_cur = ready->soft;
		if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
			return -errno;
	}
	return ready->filter ? install_filter() : 0;
}
