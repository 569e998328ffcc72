/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the memo learns, what it must not learn, and how often it asks, on a
 * kernel of the test's own.  Runs with any libc, on any machine, and against
 * the amalgamation.
 */
#include "syscull/xattr.h"

#include "check.h"
#include "fake-kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#define FILES 100
#define ACL SYSCULL_XATTR_ACL_ACCESS
#define CAP SYSCULL_XATTR_CAPABILITY
#define LABEL SYSCULL_XATTR_SELINUX
#define WANTED (LABEL | ACL | CAP)
#define ALL 0x7fU

static struct fake_file files[FILES];
static time_t clock_offset_s;

static unsigned long allocations;

int __wrap_clock_gettime(clockid_t id, struct timespec *now);
void *__wrap_realloc(void *old, size_t size);
void *__real_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	(void)id;
	now->tv_sec = 1000 + clock_offset_s;
	now->tv_nsec = 0;
	return 0;
}

static int find(const char *path)
{
	int file = atoi(path);

	return *path != '\0' && file >= 0 && file < FILES ? file : -1;
}

static const struct fake_file ext4 = { .mode = S_IFREG | 0644,
				       .dev_major = 8,
				       .dev_minor = 1,
				       .mount = 30,
				       .magic = MAGIC_EXT4,
				       .unsupported = "system.nfs4_acl" };
static const struct fake_file ramfs = {
	.mode = S_IFREG | 0644, .dev_major = 0, .dev_minor = 0, .mount = 31, .magic = MAGIC_RAMFS, .unsupported = ""
};

static void all_files(const struct fake_file *like)
{
	for (int i = 0; i < FILES; i++)
		files[i] = *like;
	fake_reset(files, find);
	clock_offset_s = 0;
}

static struct syscull_xattr_memo *memo_with(uint32_t flags)
{
	struct syscull_xattr_memo_options options = { .size = sizeof options, .flags = flags };
	struct syscull_xattr_memo *memo = syscull_xattr_memo_new(&options);

	CHECK(memo != NULL);
	return memo;
}

/* What a caller knows who made a statx of his own. */
static void told(struct syscull_xattr_file *file, int n)
{
	file->have = SYSCULL_XATTR_HAVE_STAT | SYSCULL_XATTR_HAVE_MOUNT_UNIQUE;
	file->mode = files[n].mode;
	file->dev_major = files[n].dev_major;
	file->dev_minor = files[n].dev_minor;
	file->mount_id = files[n].mount;
}

static struct syscull_xattr_answers ask(struct syscull_xattr_memo *memo, int n, uint32_t wanted)
{
	char path[16];
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, path);
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;

	(void)snprintf(path, sizeof path, "%d", n);
	told(&file, n);
	errno = 4711;
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, wanted, &answers), 0);
	CHECK_EQUAL(errno, 4711);
	CHECK_EQUAL(answers.present | answers.absent | answers.unknown, wanted);
	CHECK_EQUAL(answers.present & answers.absent, 0);
	CHECK_EQUAL((answers.present | answers.absent) & answers.unknown, 0);
	CHECK_EQUAL(answers.unsupported & ~answers.absent, 0);
	CHECK_EQUAL(fake.open_fds, 0);
	return answers;
}

static long get(struct syscull_xattr_memo *memo, int n, const char *name, char *value, size_t size)
{
	char path[16];
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, path);
	long result;

	(void)snprintf(path, sizeof path, "%d", n);
	told(&file, n);
	errno = 4711;
	result = syscull_xattr_get(memo, &file, name, value, size);
	CHECK_EQUAL(errno, 4711);
	CHECK_EQUAL(fake.open_fds, 0);
	return result;
}

static unsigned long asked(void)
{
	return fake.counts[FAKE_GET] + fake.counts[FAKE_LIST];
}

static void check_learnt(struct syscull_xattr_memo *memo, uint64_t learnt)
{
	struct syscull_xattr_counters counters = { .size = sizeof counters };

	CHECK_EQUAL(syscull_xattr_memo_count(memo, &counters), 0);
	CHECK_EQUAL(counters.learnt, learnt);
}

static void check_counters(struct syscull_xattr_memo *memo, uint64_t learnt)
{
	struct syscull_xattr_counters counters = { .size = sizeof counters };

	CHECK_EQUAL(syscull_xattr_memo_count(memo, &counters), 0);
	CHECK_EQUAL(counters.asked, asked());
	CHECK_EQUAL(counters.other, fake.counts[FAKE_OPEN] + fake.counts[FAKE_STATX] + fake.counts[FAKE_STATFS] +
					    fake.counts[FAKE_CLOSE] + fake.counts[FAKE_ACCESS]);
	CHECK_EQUAL(counters.learnt, learnt);
}

/* Asks all files with and without a memo: the answers are the same. */
static void check_same(struct syscull_xattr_memo *memo, uint32_t wanted)
{
	for (int i = 0; i < FILES; i++) {
		struct syscull_xattr_answers with = ask(memo, i, wanted);
		struct syscull_xattr_answers without = ask(NULL, i, wanted);

		CHECK_EQUAL(with.present, without.present);
		CHECK_EQUAL(with.absent, without.absent);
		CHECK_EQUAL(with.unknown, without.unknown);
		CHECK_EQUAL(memcmp(with.errors, without.errors, sizeof with.errors), 0);
		CHECK_EQUAL(with.unsupported & ~without.unsupported, 0);
	}
}

static void without_memo(void)
{
	struct syscull_xattr_answers answers;

	all_files(&ext4);
	files[1].has = "system.posix_acl_access user.x";
	files[2].unsupported = "security. system.";
	answers = ask(NULL, 0, ALL);
	CHECK_EQUAL(answers.absent, ALL);
	CHECK_EQUAL(answers.unsupported, SYSCULL_XATTR_ACL_NFS4);
	CHECK_EQUAL(fake.counts[FAKE_GET], 6);
	CHECK_EQUAL(fake.counts[FAKE_LIST], 1);
	answers = ask(NULL, 1, ALL);
	CHECK_EQUAL(answers.present, ACL | SYSCULL_XATTR_USER);
	answers = ask(NULL, 2, WANTED);
	CHECK_EQUAL(answers.unsupported, WANTED);
	CHECK_EQUAL(fake.counts[FAKE_OPEN] + fake.counts[FAKE_STATX] + fake.counts[FAKE_STATFS], 0);
	fake.error_file = 3;
	fake.error = EACCES;
	answers = ask(NULL, 3, WANTED);
	CHECK_EQUAL(answers.unknown, WANTED);
	CHECK_EQUAL(answers.errors[0], EACCES);
	CHECK_EQUAL(answers.errors[5], EACCES);
	CHECK_EQUAL(answers.errors[6], 0);
}

static void counts(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);
	struct syscull_xattr_answers answers;

	all_files(&ramfs);
	for (int i = 0; i < FILES; i++) {
		answers = ask(memo, i, WANTED);
		CHECK_EQUAL(answers.absent, WANTED);
		CHECK_EQUAL(answers.unsupported, WANTED);
	}
	CHECK_EQUAL(asked(), 3);
	CHECK_EQUAL(fake.counts[FAKE_STATFS], 1);
	check_counters(memo, 3);
	/* What is added later is asked once as well. */
	for (int i = 0; i < FILES; i++)
		(void)ask(memo, i, ALL);
	CHECK_EQUAL(asked(), 7);
	CHECK_EQUAL(fake.counts[FAKE_STATFS], 1);
	syscull_xattr_memo_drop(memo);
	(void)ask(memo, 5, WANTED);
	CHECK_EQUAL(asked(), 10);
	syscull_xattr_memo_free(memo);

	memo = memo_with(0);
	all_files(&ext4);
	for (int i = 0; i < FILES; i++) {
		answers = ask(memo, i, WANTED | SYSCULL_XATTR_ACL_NFS4);
		CHECK_EQUAL(answers.absent, WANTED | SYSCULL_XATTR_ACL_NFS4);
		CHECK_EQUAL(answers.unsupported, SYSCULL_XATTR_ACL_NFS4);
	}
	CHECK_EQUAL(fake.counts[FAKE_GET], 4);
	CHECK_EQUAL(fake.counts[FAKE_LIST], FILES - 1);
	check_counters(memo, 1);
	/* One name alone is asked by name: the same single call, and it brings the value. */
	(void)ask(memo, 7, LABEL);
	CHECK_EQUAL(fake.counts[FAKE_GET], 5);
	/* Only a list that is larger than most allocates. */
	CHECK_EQUAL(allocations, 0);
	files[8].list_padding = 5000;
	(void)ask(memo, 8, WANTED);
	CHECK(allocations > 0);
	syscull_xattr_memo_free(memo);
}

static void names_in_lists(void)
{
	static const char *const sets[] = {
		"system.posix_acl_access",
		"system.posix_acl_default",
		"security.selinux security.capability",
		"user.x",
		"trusted.x user.posix_acl_access",
		"system.posix_acl_accessx xsystem.posix_acl_access security.selinux.x",
		"system.nfs4_acl system.posix_acl_access",
		"security.SMACK64 system.posix_acl_default user.",
	};
	struct syscull_xattr_memo *memo = memo_with(0);

	all_files(&ext4);
	for (int i = 3; i < FILES; i++) {
		files[i].mode = S_IFDIR | 0755;
		files[i].has = sets[(unsigned int)i % (sizeof sets / sizeof sets[0])];
		files[i].list_padding = i % 5 == 0   ? 0
					: i % 5 == 1 ? 16
					: i % 5 == 2 ? 1000
					: i % 5 == 3 ? 5000
						     : 60000;
		files[i].unsupported = NULL;
	}
	files[FILES - 1].list_padding = 65536 - 23;
	check_same(memo, ALL);
	check_same(memo, WANTED);
	syscull_xattr_memo_free(memo);
}

/* Point 4: the error of one file is that file's, for each errno, call and place. */
static void errors_teach_nothing(void)
{
	static const int errors[] = { EBUSY, EINVAL, ENOENT, EACCES, EPERM,	   EIO,	    ESTALE,    E2BIG, ERANGE,
				      EINTR, ENOMEM, ELOOP,  ENOSYS, ENAMETOOLONG, ENOTDIR, EOVERFLOW, EAGAIN };
	static const struct fake_file *const kinds[] = { &ext4, &ramfs };

	for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
		for (int family = FAKE_GET; family <= FAKE_STATFS; family++) {
			for (size_t kind = 0; kind < 2; kind++) {
				for (int k = 0; k < 6; k++) {
					struct syscull_xattr_memo *memo = memo_with(0);
					uint32_t wanted = WANTED | SYSCULL_XATTR_USER;
					struct syscull_xattr_answers answers;

					all_files(kinds[kind]);
					if (kind == 0)
						files[k].has = "system.posix_acl_access";
					fake.error = errors[e];
					fake.error_family = (enum fake_family)family;
					fake.error_file = k;
					for (int i = 0; i < 8; i++) {
						answers = ask(memo, i, wanted);
						if (i != k) {
							CHECK_EQUAL(answers.absent, wanted);
							CHECK_EQUAL(answers.unsupported, kind == 0 ? 0 : wanted);
							continue;
						}
						if (kind == 0 && family != FAKE_GET)
							CHECK(answers.present & ACL);
						if (kind == 0)
							CHECK(!(answers.absent & ACL));
						for (int bit = 0; bit < 7; bit++)
							if (answers.unknown & 1U << bit)
								CHECK_EQUAL(answers.errors[bit],
									    family == FAKE_LIST && errors[e] == ERANGE
										    ? E2BIG
										    : errors[e]);
						if (family != FAKE_GET && family != FAKE_LIST)
							CHECK_EQUAL(answers.unknown, 0);
					}
					/* Nor does it come back when the file answers again. */
					fake.error = 0;
					answers = ask(memo, k, wanted);
					CHECK_EQUAL(answers.unknown, 0);
					CHECK_EQUAL(answers.present, kind == 0 ? ACL : 0);
					syscull_xattr_memo_free(memo);
				}
			}
		}
	}
}

static void get_errors(void)
{
	static const int errors[] = { EBUSY,  EINVAL, ENOENT, EACCES, EPERM,  EIO,
				      ESTALE, E2BIG,  ERANGE, EINTR,  ENOMEM, ELOOP };
	struct syscull_xattr_memo *memo;
	char value[8];

	for (size_t e = 0; e < sizeof errors / sizeof errors[0]; e++) {
		memo = memo_with(0);
		all_files(&ext4);
		files[4].has = "security.capability";
		fake.error_file = 0;
		fake.error = errors[e];
		CHECK_EQUAL(get(memo, 0, "security.capability", value, sizeof value), -errors[e]);
		CHECK_EQUAL(get(memo, 1, "security.capability", value, sizeof value), -ENODATA);
		CHECK_EQUAL(get(memo, 0, "security.capability", value, sizeof value), -errors[e]);
		CHECK_EQUAL(get(memo, 4, "security.capability", value, sizeof value), 5);
		CHECK_EQUAL(memcmp(value, "value", 5), 0);
		CHECK_EQUAL(get(memo, 4, "security.capability", value, 2), -ERANGE);
		CHECK_EQUAL(get(memo, 4, "security.capability", NULL, 0), 5);
		syscull_xattr_memo_free(memo);
	}
}

static void single_names(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);
	char name[80];

	all_files(&ramfs);
	for (int i = 0; i < FILES; i++) {
		CHECK_EQUAL(get(memo, i, "security.ima", NULL, 0), -EOPNOTSUPP);
		CHECK_EQUAL(get(memo, i, "trusted.x", NULL, 0), -EOPNOTSUPP);
		CHECK_EQUAL(get(memo, i, "security.selinux", NULL, 0), -EOPNOTSUPP);
	}
	CHECK_EQUAL(asked(), 3);
	/* The full name: another one is not known by these. */
	CHECK_EQUAL(get(memo, 1, "security.im", NULL, 0), -EOPNOTSUPP);
	CHECK_EQUAL(get(memo, 1, "security.imaa", NULL, 0), -EOPNOTSUPP);
	CHECK_EQUAL(asked(), 5);
	/* The answer to user.* depends on who asks, and foreign prefixes are not known. */
	for (int i = 0; i < 10; i++) {
		CHECK_EQUAL(get(memo, i, "user.x", NULL, 0), -EOPNOTSUPP);
		CHECK_EQUAL(get(memo, i, "foreign.x", NULL, 0), -EOPNOTSUPP);
	}
	CHECK_EQUAL(asked(), 25);
	/* More names than there is room for, and one that is too long: asked each time, and right. */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 60; i++) {
			(void)snprintf(name, sizeof name, "security.%d", i);
			CHECK_EQUAL(get(memo, i, name, NULL, 0), -EOPNOTSUPP);
		}
		CHECK_EQUAL(
			get(memo, 0, "security.0123456789012345678901234567890123456789012345678901234567890", NULL, 0),
			-EOPNOTSUPP);
	}
	files[50].has = "security.30 security.59";
	files[50].mount = 77;
	CHECK_EQUAL(get(memo, 50, "security.30", NULL, 0), 5);
	CHECK_EQUAL(get(memo, 50, "security.59", NULL, 0), 5);
	check_counters(memo, 3 + 2 + 21);
	syscull_xattr_memo_free(memo);
}

/* SELinux: a label on every file, and lists that know nothing of it. */
static void labels_are_not_listed(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);

	all_files(&ext4);
	for (int i = 0; i < FILES; i++)
		files[i].hides = "security.selinux";
	files[60].has = "system.posix_acl_access";
	check_same(memo, WANTED);
	syscull_xattr_memo_free(memo);

	memo = memo_with(0);
	all_files(&ramfs);
	for (int i = 0; i < FILES; i++)
		files[i].hides = "security.selinux";
	for (int i = 0; i < FILES; i++)
		CHECK_EQUAL(ask(memo, i, WANTED).present, LABEL);
	/* Two are unsupported; the label is one call for each. */
	CHECK_EQUAL(asked(), 2 + FILES);
	CHECK_EQUAL(fake.counts[FAKE_LIST], 0);
	syscull_xattr_memo_free(memo);
}

static void label_values(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, "5");
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	struct syscull_xattr_memo *memo = memo_with(0);
	char label[8] = "";

	all_files(&ext4);
	files[5].has = "security.selinux";
	for (int round = 0; round < 3; round++) {
		told(&file, 5);
		answers.label = label;
		answers.label_size = sizeof label;
		memset(label, 0, sizeof label);
		CHECK_EQUAL(syscull_xattr_ask(round == 0 ? NULL : memo, &file, WANTED, &answers), 0);
		CHECK_EQUAL(answers.present, LABEL);
		CHECK_EQUAL(answers.label_length, 5);
		CHECK_EQUAL(strcmp(label, "value"), 0);
		CHECK(answers.label == label);
		memset(label, 0, sizeof label);
		answers.label_size = 2;
		CHECK_EQUAL(syscull_xattr_ask(round == 0 ? NULL : memo, &file, WANTED, &answers), 0);
		CHECK_EQUAL(answers.present, LABEL);
		CHECK_EQUAL(answers.label_length, 5);
		CHECK_EQUAL(label[0], 0);
	}
	syscull_xattr_memo_free(memo);
}

/* On these the files of one mount differ: every name of every file is asked. */
static void stacked(void)
{
	static const unsigned long magics[] = { MAGIC_OVERLAY, MAGIC_FUSE,   0xf15fUL,
						0x2fc12fc1UL,  0x01021997UL, 0x6a656a63UL,
						0x6969UL,      0xff534d42UL, 1 };
	struct syscull_xattr_memo *memo;

	for (size_t m = 0; m < sizeof magics / sizeof magics[0]; m++) {
		memo = memo_with(0);
		all_files(&ramfs);
		for (int i = 0; i < FILES; i++) {
			files[i].magic = magics[m];
			if (i % 3 == 1)
				files[i].unsupported = NULL;
			if (i % 3 == 2) {
				files[i].unsupported = NULL;
				files[i].hides = "system.posix_acl_access security.capability";
			}
		}
		check_same(memo, WANTED);
		check_same(memo, ALL);
		check_learnt(memo, 0);
		CHECK_EQUAL(fake.counts[FAKE_STATFS], 1);
		syscull_xattr_memo_free(memo);
	}
	/* Trusted, it learns there: as wrong as the page says. */
	memo = memo_with(SYSCULL_XATTR_TRUST_DEVICE);
	all_files(&ramfs);
	for (int i = 0; i < FILES; i++)
		files[i].magic = MAGIC_FUSE;
	files[9].unsupported = NULL;
	files[9].hides = "system.posix_acl_access";
	for (int i = 0; i < FILES; i++)
		CHECK_EQUAL(ask(memo, i, WANTED).absent, WANTED);
	CHECK_EQUAL(asked(), 3);
	check_counters(memo, 3);
	syscull_xattr_memo_free(memo);
	/* It makes no list a proof. */
	memo = memo_with(SYSCULL_XATTR_TRUST_DEVICE);
	all_files(&ext4);
	for (int i = 0; i < FILES; i++) {
		files[i].magic = MAGIC_FUSE;
		files[i].hides = i % 2 ? "system.posix_acl_access" : "";
	}
	check_same(memo, WANTED);
	syscull_xattr_memo_free(memo);
}

static void inode_types(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);

	/* Links of ext4 have no ACLs; the files beside them may. */
	all_files(&ext4);
	for (int i = 0; i < FILES; i++) {
		if (i % 2 == 0) {
			files[i].mode = S_IFLNK | 0777;
			files[i].unsupported = "system.";
		} else {
			files[i].has = "system.posix_acl_access";
		}
	}
	check_same(memo, WANTED);
	check_same(memo, LABEL | ACL | SYSCULL_XATTR_ACL_NFS4);
	CHECK_EQUAL(fake.counts[FAKE_STATFS], 1);
	syscull_xattr_memo_free(memo);

	/* Directories without handlers among those that take labels: sysfs, btrfs. */
	for (int type = 0; type < 2; type++) {
		memo = memo_with(0);
		all_files(&ext4);
		for (int i = 0; i < FILES; i++) {
			files[i].mode = S_IFDIR | 0755;
			files[i].magic = type ? MAGIC_SYSFS : MAGIC_BTRFS;
			files[i].unsupported = i % 4 == 0 ? "" : type ? "system." : NULL;
			if (i % 4 != 0)
				files[i].has = type || i % 2 ? "security.selinux" : "system.posix_acl_default";
		}
		check_same(memo, WANTED | SYSCULL_XATTR_ACL_DEFAULT);
		check_learnt(memo, type ? 2 : 0);
		for (int i = 0; i < 8; i++)
			CHECK_EQUAL(get(memo, i, "security.ima", NULL, 0), i % 4 == 0 ? -EOPNOTSUPP : -ENODATA);
		syscull_xattr_memo_free(memo);
	}
}

static void many_mounts(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);

	/* Two devices in turn, one of them 0:0. */
	all_files(&ramfs);
	for (int i = 1; i < FILES; i += 2) {
		files[i] = ramfs;
		files[i].dev_major = 7;
		files[i].mount = 99;
	}
	for (int i = 0; i < 1000; i++)
		(void)ask(memo, i % 2, WANTED);
	CHECK_EQUAL(asked(), 6);
	/* The same device on two mounts, and two devices on one. */
	files[2].mount = 100;
	(void)ask(memo, 2, WANTED);
	CHECK_EQUAL(asked(), 9);
	files[4].dev_minor = 9;
	(void)ask(memo, 4, WANTED);
	CHECK_EQUAL(asked(), 12);
	syscull_xattr_memo_free(memo);

	/* More than there is room for: slower, never wrong. */
	memo = memo_with(0);
	all_files(&ramfs);
	for (int i = 0; i < FILES; i++) {
		files[i].mount = (uint64_t)i;
		if (i % 2)
			files[i] = ext4;
		files[i].mount = (uint64_t)i * 1000003;
		files[i].has = i % 2 ? "security.capability" : NULL;
	}
	for (int round = 0; round < 3; round++)
		check_same(memo, WANTED);
	syscull_xattr_memo_free(memo);
}

static int open_finds;

static int find_replaced(const char *path)
{
	return find(path) == 3 ? open_finds : find(path);
}

/* The file was another one when it was stat'ed. */
static void replaced(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);

	all_files(&ext4);
	files[50] = ramfs;
	files[51].mode = S_IFLNK | 0777;
	files[51].unsupported = "system.";
	fake.find_open = find_replaced;
	for (open_finds = 50; open_finds <= 52; open_finds++) {
		syscull_xattr_memo_drop(memo);
		if (open_finds == 52)
			open_finds = -1;
		CHECK_EQUAL(ask(memo, 3, WANTED).absent, WANTED);
		if (open_finds == -1)
			open_finds = 52;
	}
	files[7].has = "system.posix_acl_access";
	CHECK_EQUAL(ask(memo, 7, WANTED).present, ACL);
	check_counters(memo, 0);
	syscull_xattr_memo_free(memo);
}

static void hostile_lists(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);
	struct syscull_xattr_answers answers;

	all_files(&ext4);
	for (int i = 0; i < FILES; i++) {
		files[i].grows = true;
		files[i].magic = i % 2 ? MAGIC_EXT4 : MAGIC_FUSE;
		files[i].mount = (uint64_t)(i % 2);
		files[i].has = i % 3 ? NULL : "system.posix_acl_access user.x";
	}
	for (int i = 0; i < FILES; i++) {
		unsigned long before = fake.counts[FAKE_LIST];

		answers = ask(memo, i, ALL);
		CHECK(fake.counts[FAKE_LIST] - before <= 4);
		CHECK_EQUAL(answers.unknown, SYSCULL_XATTR_USER);
		CHECK_EQUAL(answers.errors[6], E2BIG);
		CHECK_EQUAL(answers.present, i % 3 ? 0 : ACL);
	}
	syscull_xattr_memo_free(memo);
}

static void missing_calls(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(5, "7");
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	static const int at_errors[] = { ENOSYS, EPERM };
	struct syscull_xattr_memo *memo = memo_with(0);
	char value[8];

	all_files(&ext4);
	fake.no_calls = true;
	for (int i = 0; i < FILES; i++) {
		CHECK_EQUAL(ask(memo, i, ALL).unsupported, ALL);
		CHECK_EQUAL(get(memo, i, "user.x", NULL, 0), -EOPNOTSUPP);
	}
	CHECK(asked() < 20);
	CHECK_EQUAL(ask(NULL, 1, ALL).unsupported, ALL);
	CHECK_EQUAL(get(NULL, 1, "user.x", NULL, 0), -EOPNOTSUPP);
	syscull_xattr_memo_free(memo);
	/* One thread's filter is not another's. */
	memo = memo_with(SYSCULL_XATTR_SHARED);
	all_files(&ext4);
	fake.no_calls = true;
	CHECK_EQUAL(ask(memo, 1, WANTED).unsupported, WANTED);
	fake.no_calls = false;
	files[2].has = "system.posix_acl_access";
	files[2].mount = 5;
	CHECK_EQUAL(ask(memo, 2, WANTED).present, ACL);
	syscull_xattr_memo_free(memo);

	/* Below a directory, without getxattrat. */
	for (size_t i = 0; i < 2; i++) {
		memo = memo_with(0);
		all_files(&ext4);
		files[7].has = "system.posix_acl_access";
		fake.at_error = at_errors[i];
		for (int round = 0; round < 5; round++) {
			CHECK_EQUAL(syscull_xattr_get(memo, &file, "system.posix_acl_access", value, sizeof value), 5);
			CHECK_EQUAL(syscull_xattr_get(NULL, &file, "system.posix_acl_default", value, sizeof value),
				    -ENODATA);
		}
		CHECK_EQUAL(fake.at_counts, 1 + 5);
		/* And without /proc: neither absent nor unsupported. */
		fake.no_proc = true;
		CHECK_EQUAL(syscull_xattr_get(memo, &file, "system.posix_acl_access", value, sizeof value), -ENXIO);
		told(&file, 7);
		CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
		CHECK_EQUAL(answers.unknown, WANTED);
		CHECK_EQUAL(answers.errors[0], ENXIO);
		syscull_xattr_memo_free(memo);
	}
	memo = memo_with(0);
	all_files(&ext4);
	files[7].has = "system.posix_acl_access";
	for (int round = 0; round < 5; round++) {
		CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
		CHECK_EQUAL(answers.present, ACL);
	}
	CHECK_EQUAL(fake.at_counts, 4 * 2);
	syscull_xattr_memo_free(memo);
}

static void no_evidence(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, "7");
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	struct syscull_xattr_memo *memo = memo_with(0);
	struct stat st;

	/* A stat has no mount id: nothing is skipped. */
	memset(&st, 0, sizeof st);
	st.st_mode = S_IFREG | 0644;
	st.st_dev = makedev(8, 1);
	all_files(&ramfs);
	syscull_xattr_file_stat(&file, &st);
	CHECK_EQUAL(file.dev_major, 8);
	for (int i = 0; i < 10; i++)
		CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
	CHECK_EQUAL(asked(), 30);
	CHECK_EQUAL(fake.counts[FAKE_STATX], 0);
	/* Unless the caller says it. */
	file.have |= SYSCULL_XATTR_HAVE_MOUNT;
	file.mount_id = 31;
	file.dev_major = 0;
	file.dev_minor = 0;
	fake.no_unique = true;
	for (int i = 0; i < 10; i++)
		CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
	CHECK_EQUAL(asked(), 33);
	/* The other sort of mount id is another key. */
	fake.no_unique = false;
	CHECK_EQUAL(ask(memo, 7, WANTED).absent, WANTED);
	CHECK_EQUAL(asked(), 36);
	/* Nothing told: one statx of our own, for more than one name. */
	file.have = 0;
	for (int i = 0; i < 10; i++)
		CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
	CHECK_EQUAL(asked(), 36);
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, ACL, &answers), 0);
	CHECK_EQUAL(asked(), 37);
	fake.no_mount_ids = true;
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
	CHECK_EQUAL(asked(), 40);
	syscull_xattr_memo_free(memo);

	/* Files cannot be held without /proc: nothing is learnt, and that is not tried for each file. */
	memo = memo_with(0);
	all_files(&ramfs);
	fake.no_proc = true;
	for (int i = 0; i < FILES; i++)
		CHECK_EQUAL(ask(memo, i, WANTED).unsupported, WANTED);
	CHECK_EQUAL(asked(), 3 * FILES);
	CHECK_EQUAL(fake.counts[FAKE_OPEN], 1);
	check_counters(memo, 0);
	syscull_xattr_memo_free(memo);
}

static void declared(void)
{
	struct syscull_xattr_memo *memo = memo_with(0);

	all_files(&ext4);
	files[3].mount = 900;
	CHECK_EQUAL(syscull_xattr_memo_declare(memo, 30, 0), -EINVAL);
	CHECK_EQUAL(syscull_xattr_memo_declare(memo, 30, SYSCULL_XATTR_HAVE_STAT), -EINVAL);
	for (int i = 0; i < 20; i++)
		CHECK_EQUAL(syscull_xattr_memo_declare(memo, 30, SYSCULL_XATTR_HAVE_MOUNT_UNIQUE), 0);
	for (int i = 0; i < FILES; i++) {
		CHECK_EQUAL(ask(memo, i, WANTED).absent, WANTED);
		CHECK_EQUAL(ask(memo, i, WANTED).unsupported, 0);
		if (i != 3)
			CHECK_EQUAL(get(memo, i, "user.x", NULL, 0), -ENODATA);
	}
	CHECK_EQUAL(asked(), 4);
	for (int i = 1; i < 16; i++)
		CHECK_EQUAL(syscull_xattr_memo_declare(memo, 1000 + (uint64_t)i, SYSCULL_XATTR_HAVE_MOUNT), 0);
	CHECK_EQUAL(syscull_xattr_memo_declare(memo, 2000, SYSCULL_XATTR_HAVE_MOUNT), -ENOSPC);
	/* Of the other sort, and so another mount. */
	files[4].mount = 1001;
	files[4].has = "system.posix_acl_access";
	CHECK_EQUAL(ask(memo, 4, WANTED).present, ACL);
	syscull_xattr_memo_drop(memo);
	CHECK_EQUAL(syscull_xattr_memo_declare(memo, 2000, SYSCULL_XATTR_HAVE_MOUNT), 0);
	files[5].has = "system.posix_acl_access";
	CHECK_EQUAL(ask(memo, 5, WANTED).present, ACL);
	syscull_xattr_memo_free(memo);
}

static void age(void)
{
	struct syscull_xattr_memo_options options = { .size = sizeof options, .max_age_ms = 5000 };
	struct syscull_xattr_memo *memo = syscull_xattr_memo_new(&options);

	all_files(&ramfs);
	for (clock_offset_s = 0; clock_offset_s < 100; clock_offset_s++)
		(void)ask(memo, 1, WANTED);
	/* Asked anew every sixth second, however often it is used. */
	CHECK_EQUAL(asked(), 3 * 17);
	files[1].unsupported = NULL;
	files[1].has = "system.posix_acl_access";
	clock_offset_s += 10;
	CHECK_EQUAL(ask(memo, 1, WANTED).present, ACL);
	syscull_xattr_memo_free(memo);
}

static void structs(void)
{
	struct {
		struct syscull_xattr_file file;
		uint64_t more;
	} large = { .file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, "1") };
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT, before;
	struct {
		struct syscull_xattr_memo_options options;
		uint64_t more;
	} options = { .options = { .size = sizeof options } };
	struct syscull_xattr_counters counters = { .size = 4 };
	struct syscull_xattr_memo *memo;

	all_files(&ext4);
	answers.present = 99;
	before = answers;
	large.file.size = 8;
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, ACL, &answers), -EINVAL);
	CHECK_EQUAL(syscull_xattr_get(NULL, &large.file, "user.x", NULL, 0), -EINVAL);
	large.file.size = sizeof large;
	large.more = 1;
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, ACL, &answers), -E2BIG);
	CHECK_EQUAL(syscull_xattr_get(NULL, &large.file, "user.x", NULL, 0), -E2BIG);
	CHECK_EQUAL(memcmp(&answers, &before, sizeof answers), 0);
	large.more = 0;
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, 0, &answers), -EINVAL);
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, 0x80, &answers), -EINVAL);
	CHECK_EQUAL(memcmp(&answers, &before, sizeof answers), 0);
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, ACL, &answers), 0);
	answers.size = 8;
	CHECK_EQUAL(syscull_xattr_ask(NULL, &large.file, ACL, &answers), -EINVAL);

	options.more = 1;
	CHECK(syscull_xattr_memo_new(&options.options) == NULL);
	CHECK_EQUAL(errno, E2BIG);
	options.more = 0;
	options.options.flags = 4;
	CHECK(syscull_xattr_memo_new(&options.options) == NULL);
	CHECK_EQUAL(errno, EINVAL);
	options.options.flags = 3;
	memo = syscull_xattr_memo_new(&options.options);
	CHECK(memo != NULL);
	CHECK_EQUAL(syscull_xattr_memo_count(memo, &counters), -EINVAL);
	syscull_xattr_memo_free(memo);
	memo = syscull_xattr_memo_new(NULL);
	CHECK(memo != NULL);
	syscull_xattr_memo_free(memo);
	syscull_xattr_memo_free(NULL);

	CHECK_EQUAL(strcmp(syscull_xattr_name(CAP), "security.capability"), 0);
	CHECK_EQUAL(strcmp(syscull_xattr_name(SYSCULL_XATTR_USER), "user."), 0);
	CHECK(syscull_xattr_name(0) == NULL);
	CHECK(syscull_xattr_name(0x80) == NULL);
	CHECK(syscull_xattr_name(ACL | CAP) == NULL);
}

/* By descriptor instead of by path. */
static void by_descriptor(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(-1, NULL);
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	struct syscull_xattr_memo *memo = memo_with(0);

	all_files(&ext4);
	files[0].has = "security.capability";
	file.dirfd = 5;
	CHECK_EQUAL(syscull_xattr_ask(NULL, &file, WANTED, &answers), 0);
	CHECK_EQUAL(answers.present, CAP);
	CHECK_EQUAL(fake.counts[FAKE_OPEN], 0);
	/* The caller's descriptor stays open. */
	told(&file, 0);
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, WANTED, &answers), 0);
	CHECK_EQUAL(answers.present, CAP);
	CHECK_EQUAL(fake.counts[FAKE_CLOSE], 0);
	syscull_xattr_memo_free(memo);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "without_memo", without_memo },
		{ "counts", counts },
		{ "names_in_lists", names_in_lists },
		{ "errors_teach_nothing", errors_teach_nothing },
		{ "get_errors", get_errors },
		{ "single_names", single_names },
		{ "labels_are_not_listed", labels_are_not_listed },
		{ "label_values", label_values },
		{ "stacked", stacked },
		{ "inode_types", inode_types },
		{ "many_mounts", many_mounts },
		{ "replaced", replaced },
		{ "hostile_lists", hostile_lists },
		{ "missing_calls", missing_calls },
		{ "no_evidence", no_evidence },
		{ "declared", declared },
		{ "age", age },
		{ "structs", structs },
		{ "by_descriptor", by_descriptor },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		check_case = cases[i].name;
		cases[i].run();
	}
	return check_done();
}
