/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memo: a small fixed table of what is known per mount, device, inode type
 * and followed or not.  Readers never wait: a slot that changes while it is
 * read counts as not there, and the kernel is asked.  Writers do not wait
 * either: who finds another one writing does not learn.
 */
#include "xattr-internal.h"

#include <stdlib.h>
#include <time.h>

#define SLOTS 64
#define WINDOW 8
#define DECLARED 16
#define NAME_SIZE 64

struct slot {
	uint32_t seq; /* odd while it is written; 0: never used */
	uint32_t kind;
	uint64_t mount;
	uint64_t dev;
	uint64_t born_ms;
	uint32_t generation;
	uint32_t class;
	uint32_t asked;
	uint32_t unsupported;
	uint32_t labelled;
};

struct declared {
	uint64_t mount;
	uint32_t unique;
	uint32_t generation;
};

struct syscull_xattr_memo {
	uint32_t flags;
	uint32_t max_age_ms;
	uint32_t lock;
	uint32_t generation;
	uint32_t gone; /* the generation in which the calls were found not to exist */
	uint32_t no_at;
	uint32_t declares; /* not 0: look at declared */
	uint32_t name_count;
	struct syscull_xattr_counters count;
	struct declared declared[DECLARED];
	struct slot slots[SLOTS];
	char names[XATTR_NAMES - SYSCULL_XATTR_KINDS][NAME_SIZE];
};

static const char *const kind_names[SYSCULL_XATTR_KINDS] = {
	"system.posix_acl_access", "system.posix_acl_default", "system.nfs4_acl", "security.selinux",
	"security.SMACK64",	   "security.capability",      "user.",
};

#define GET(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)

static uint64_t now_ms(void)
{
	struct timespec now;

	/* No system call: the vdso answers it. */
	if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct syscull_xattr_memo *syscull_xattr_memo_new(const struct syscull_xattr_memo_options *options)
{
	struct syscull_xattr_memo_options take = { .size = sizeof take };
	struct syscull_xattr_memo *memo;
	int r = 0;

	if (options != NULL)
		r = syscull_options_take(&take, sizeof take, options, options->size, sizeof take);
	if (r == 0 && take.flags & ~(SYSCULL_XATTR_SHARED | SYSCULL_XATTR_TRUST_DEVICE))
		r = -EINVAL;
	if (r < 0) {
		errno = -r;
		return NULL;
	}
	memo = calloc(1, sizeof *memo);
	return memo == NULL ? NULL : syscull__xattr_memo_at(memo, sizeof *memo, take.flags, take.max_age_ms);
}

struct syscull_xattr_memo *syscull__xattr_memo_at(void *place, size_t bytes, uint32_t flags, uint32_t max_age_ms)
{
	struct syscull_xattr_memo *memo = place;

	if (bytes < sizeof *memo)
		return NULL;
	memset(memo, 0, sizeof *memo);
	memo->flags = flags;
	memo->max_age_ms = max_age_ms != 0 ? max_age_ms : SYSCULL_XATTR_AGE_MS;
	memo->generation = 1;
	return memo;
}

void syscull_xattr_memo_free(struct syscull_xattr_memo *memo)
{
	int saved = errno;

	free(memo);
	errno = saved;
}

void syscull_xattr_memo_drop(struct syscull_xattr_memo *memo)
{
	(void)__atomic_add_fetch(&memo->generation, 1, __ATOMIC_ACQ_REL);
}

static bool lock(struct syscull_xattr_memo *memo)
{
	return __atomic_exchange_n(&memo->lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static void unlock(struct syscull_xattr_memo *memo)
{
	PUT(memo->lock, 0);
}

/* Whether a place holds a declaration of this generation; it may be written meanwhile, for another generation. */
static bool read_declared(const struct declared *place, uint32_t generation, struct declared *ret_copy)
{
	if (GET(place->generation) != generation)
		return false;
	ret_copy->mount = GET(place->mount);
	ret_copy->unique = GET(place->unique);
	return GET(place->generation) == generation;
}

int syscull_xattr_memo_declare(struct syscull_xattr_memo *memo, uint64_t mount_id, uint32_t have)
{
	uint32_t generation = GET(memo->generation);
	struct declared *room = NULL, copy;
	int r = 0;

	if (have != SYSCULL_XATTR_HAVE_MOUNT && have != SYSCULL_XATTR_HAVE_MOUNT_UNIQUE)
		return -EINVAL;
	if (!lock(memo))
		return -EAGAIN;
	for (size_t i = 0; i < DECLARED; i++) {
		if (!read_declared(&memo->declared[i], generation, &copy))
			room = room != NULL ? room : &memo->declared[i];
		else if (copy.mount == mount_id && copy.unique == have)
			goto out;
	}
	if (room == NULL) {
		r = -ENOSPC;
		goto out;
	}
	PUT(room->generation, 0);
	PUT(room->mount, mount_id);
	PUT(room->unique, have);
	PUT(room->generation, generation);
	PUT(memo->declares, 1);
out:
	unlock(memo);
	return r;
}

bool syscull__xattr_memo_declared(struct syscull_xattr_memo *memo, const struct xattr_key *key)
{
	struct declared copy;
	uint32_t generation;

	if (GET(memo->declares) == 0)
		return false;
	generation = GET(memo->generation);
	for (size_t i = 0; i < DECLARED; i++)
		if (read_declared(&memo->declared[i], generation, &copy) && copy.mount == key->mount &&
		    (key->kind & copy.unique) != 0)
			return true;
	return false;
}

int syscull_xattr_memo_count(const struct syscull_xattr_memo *memo, struct syscull_xattr_counters *ret_counters)
{
	if (ret_counters->size < sizeof memo->count)
		return -EINVAL;
	ret_counters->asked = __atomic_load_n(&memo->count.asked, __ATOMIC_RELAXED);
	ret_counters->skipped = __atomic_load_n(&memo->count.skipped, __ATOMIC_RELAXED);
	ret_counters->learnt = __atomic_load_n(&memo->count.learnt, __ATOMIC_RELAXED);
	ret_counters->other = __atomic_load_n(&memo->count.other, __ATOMIC_RELAXED);
	return 0;
}

static void add(const struct syscull_xattr_memo *memo, uint64_t *counter, uint32_t more)
{
	if (more == 0)
		return;
	if (memo->flags & SYSCULL_XATTR_SHARED)
		(void)__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
	else
		*counter += more;
}

void syscull__xattr_memo_begin(const struct syscull_xattr_memo *memo, struct xattr_tally *ret_tally)
{
	*ret_tally = (struct xattr_tally){ 0 };
	if (memo != NULL)
		ret_tally->no_at = __atomic_load_n(&memo->no_at, __ATOMIC_RELAXED) != 0;
}

void syscull__xattr_memo_end(struct syscull_xattr_memo *memo, const struct xattr_tally *tally, uint32_t skipped)
{
	if (memo == NULL)
		return;
	if (tally->no_at && __atomic_load_n(&memo->no_at, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&memo->no_at, 1, __ATOMIC_RELAXED);
	add(memo, &memo->count.asked, tally->asked);
	add(memo, &memo->count.other, tally->other);
	add(memo, &memo->count.skipped, skipped);
}

bool syscull__xattr_memo_gone(const struct syscull_xattr_memo *memo)
{
	uint32_t gone = __atomic_load_n(&memo->gone, __ATOMIC_RELAXED);

	return gone != 0 && gone == GET(memo->generation);
}

void syscull__xattr_memo_set_gone(struct syscull_xattr_memo *memo)
{
	/* A thread may have a seccomp filter that the others do not have. */
	if (!(memo->flags & SYSCULL_XATTR_SHARED))
		memo->gone = memo->generation;
}

bool syscull__xattr_memo_trusts(const struct syscull_xattr_memo *memo)
{
	return memo->flags & SYSCULL_XATTR_TRUST_DEVICE;
}

void syscull__xattr_key(const struct syscull_xattr_file *file, struct xattr_key *ret_key)
{
	bool follow = file->path == NULL || file->flags & SYSCULL_XATTR_FOLLOW;

	ret_key->mount = file->mount_id;
	ret_key->dev = (uint64_t)file->dev_major << 32 | file->dev_minor;
	ret_key->kind = (file->mode & S_IFMT) | (file->have & XATTR_HAVE_MOUNTS) | (follow ? 1U : 0U);
}

static bool read_slot(struct slot *slot, struct slot *ret_copy)
{
	uint32_t seq = GET(slot->seq);

	if (seq == 0 || seq & 1)
		return false;
	ret_copy->kind = GET(slot->kind);
	ret_copy->mount = GET(slot->mount);
	ret_copy->dev = GET(slot->dev);
	ret_copy->born_ms = GET(slot->born_ms);
	ret_copy->generation = GET(slot->generation);
	ret_copy->class = GET(slot->class);
	ret_copy->asked = GET(slot->asked);
	ret_copy->unsupported = GET(slot->unsupported);
	ret_copy->labelled = GET(slot->labelled);
	return GET(slot->seq) == seq;
}

static void write_slot(struct slot *slot, const struct slot *copy)
{
	uint32_t seq = slot->seq;

	__atomic_store_n(&slot->seq, seq + 1, __ATOMIC_RELAXED);
	PUT(slot->kind, copy->kind);
	PUT(slot->mount, copy->mount);
	PUT(slot->dev, copy->dev);
	PUT(slot->born_ms, copy->born_ms);
	PUT(slot->generation, copy->generation);
	PUT(slot->class, copy->class);
	PUT(slot->asked, copy->asked);
	PUT(slot->unsupported, copy->unsupported);
	PUT(slot->labelled, copy->labelled);
	/* 0 would say that it was never used. */
	PUT(slot->seq, seq + 2 == 0 ? 2 : seq + 2);
}

static bool fresh(const struct syscull_xattr_memo *memo, const struct slot *slot, uint64_t now)
{
	return slot->generation == GET(memo->generation) && now - slot->born_ms <= memo->max_age_ms;
}

static bool same(const struct slot *slot, const struct xattr_key *key)
{
	return slot->kind == key->kind && slot->mount == key->mount && slot->dev == key->dev;
}

static struct slot *window_of(struct syscull_xattr_memo *memo, const struct xattr_key *key, size_t place)
{
	uint64_t hash = key->mount * 0x9e3779b97f4a7c15U ^ key->dev * 0xc2b2ae3d27d4eb4fU ^ key->kind * 0x165667b1U;

	hash ^= hash >> 32;
	return &memo->slots[(hash + place) % SLOTS];
}

bool syscull__xattr_memo_find(struct syscull_xattr_memo *memo, const struct xattr_key *key,
			      struct xattr_known *ret_known)
{
	struct slot copy;

	for (size_t i = 0; i < WINDOW; i++) {
		if (!read_slot(window_of(memo, key, i), &copy) || !same(&copy, key))
			continue;
		if (!fresh(memo, &copy, now_ms()))
			return false;
		*ret_known = (struct xattr_known){ copy.class, copy.asked, copy.unsupported, copy.labelled };
		return true;
	}
	return false;
}

bool syscull__xattr_memo_class(struct syscull_xattr_memo *memo, const struct xattr_key *key, uint32_t *ret_class)
{
	uint64_t now = now_ms();
	struct slot copy;

	for (size_t i = 0; i < SLOTS; i++) {
		if (!read_slot(&memo->slots[i], &copy) || copy.mount != key->mount ||
		    ((copy.kind ^ key->kind) & XATTR_HAVE_MOUNTS) != 0 || !fresh(memo, &copy, now))
			continue;
		*ret_class = copy.class;
		return true;
	}
	return false;
}

void syscull__xattr_memo_learn(struct syscull_xattr_memo *memo, const struct xattr_key *key,
			       const struct xattr_known *more)
{
	struct slot *chosen = NULL, copy, oldest;
	uint64_t now = now_ms();
	uint32_t before = 0;

	if (!lock(memo))
		return;
	/* Nobody else writes, so what is read here is whole. */
	for (size_t i = 0; i < WINDOW; i++) {
		struct slot *slot = window_of(memo, key, i);
		bool used = read_slot(slot, &copy);

		if (used && same(&copy, key)) {
			chosen = slot;
			oldest = copy;
			break;
		}
		if (!used || !fresh(memo, &copy, now))
			copy.born_ms = 0;
		if (chosen == NULL || copy.born_ms < oldest.born_ms) {
			chosen = slot;
			oldest = copy;
		}
	}
	copy = oldest;
	if (chosen->seq == 0 || !same(&copy, key) || !fresh(memo, &copy, now))
		copy = (struct slot){ .kind = key->kind,
				      .mount = key->mount,
				      .dev = key->dev,
				      .born_ms = now,
				      .generation = GET(memo->generation) };
	before = copy.unsupported;
	copy.class = more->class;
	copy.asked |= more->asked;
	copy.unsupported |= more->unsupported;
	copy.labelled |= more->labelled;
	write_slot(chosen, &copy);
	add(memo, &memo->count.learnt, (uint32_t)__builtin_popcount(copy.unsupported & ~before));
	unlock(memo);
}

const char *syscull_xattr_name(uint32_t kind)
{
	for (size_t i = 0; i < SYSCULL_XATTR_KINDS; i++)
		if (kind == 1U << i)
			return kind_names[i];
	return NULL;
}

uint32_t syscull__xattr_memo_name(struct syscull_xattr_memo *memo, const char *name, bool insert)
{
	uint32_t count = GET(memo->name_count), bit = 0;
	size_t length = strlen(name);

	for (uint32_t i = 0; i < SYSCULL_XATTR_KINDS; i++)
		if (strcmp(name, kind_names[i]) == 0)
			return 1U << i;
	if (length >= NAME_SIZE)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(name, memo->names[i]) == 0)
			return 1U << (SYSCULL_XATTR_KINDS + i);
	if (!insert || !lock(memo))
		return 0;
	count = GET(memo->name_count);
	for (uint32_t i = 0; i < count && bit == 0; i++)
		if (strcmp(name, memo->names[i]) == 0)
			bit = 1U << (SYSCULL_XATTR_KINDS + i);
	if (bit == 0 && count < XATTR_NAMES - SYSCULL_XATTR_KINDS) {
		memcpy(memo->names[count], name, length + 1);
		bit = 1U << (SYSCULL_XATTR_KINDS + count);
		PUT(memo->name_count, count + 1);
	}
	unlock(memo);
	return bit;
}
