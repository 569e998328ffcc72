/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF 39

/* Nobody of the name, but a number, as chown and setpriv take it.  With no entry of its own it has no groups. */
static int find_number(const char *text, struct user *ret)
{
	const struct passwd *entry;
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	/* -1 is "leave it alone". */
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number >= UINT32_MAX)
		return -ENOENT;
	entry = getpwuid((uid_t)number);
	*ret = (struct user){ .uid = (uid_t)number,
			      .gid = entry ? entry->pw_gid : (gid_t)number,
			      .group_count = entry ? USER_GROUPS_MAX : 0 };
	if (entry && getgrouplist(entry->pw_name, entry->pw_gid, ret->groups, &ret->group_count) < 0)
		return -E2BIG;
	return 0;
}

int user_find(const char *name, struct user *ret, struct error *err)
{
	const struct passwd *entry;

	if (geteuid() != 0)
		return error_set(err, EPERM, "--user: only root can run a command as somebody else");
	errno = 0;
	entry = getpwnam(name);
	if (!entry) {
		int code = errno, r = find_number(name, ret);

		if (r == 0)
			return 0;
		if (r == -E2BIG)
			return error_set(err, E2BIG, "--user: '%s' is in more than %d groups", name, USER_GROUPS_MAX);
		errno = code;
	}
	if (!entry)
		return error_set(err, errno ? errno : ENOENT, "--user: there is no user '%s'", name);
	*ret = (struct user){ .uid = entry->pw_uid, .gid = entry->pw_gid, .group_count = USER_GROUPS_MAX };
	if (getgrouplist(name, entry->pw_gid, ret->groups, &ret->group_count) < 0)
		return error_set(err, E2BIG, "--user: '%s' is in more than %d groups", name, USER_GROUPS_MAX);
	return 0;
}

int user_become(const struct user *user)
{
	if (setgroups((size_t)user->group_count, user->groups) != 0 ||
	    setresgid(user->gid, user->gid, user->gid) != 0 || setresuid(user->uid, user->uid, user->uid) != 0)
		return -errno;
	return 0;
}

int user_drop(const struct user *user)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { 0 }, { 0 } };
	const uint32_t kept = 1u << (CAPABILITY_BPF - 32) | 1u << (CAPABILITY_PERFMON - 32);
	int r;

	(void)prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	r = user_become(user);
	if (r < 0)
		return r;
	sets[1].effective = sets[1].permitted = kept;
	if (syscall(SYS_capset, &head, sets) == 0)
		return 0;
	/* A root that has not got them either: then with none. */
	sets[1].effective = sets[1].permitted = 0;
	return syscall(SYS_capset, &head, sets) == 0 ? 0 : -errno;
}
