/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which way is taken, and what is promised of it.  The numbers in the choices
 * were measured (docs/benchmarks.md): a slot of the table costs close_range(2)
 * 6.5 ns before Linux 7.0, a list in /proc 0.75 ns and 1 us for each entry,
 * and a number that is tried costs 120 ns.
 */
#include "fds-internal.h"

#define KNOWN_FLAGS \
	(SYSCULL_FDS_UNSHARE | SYSCULL_FDS_NO_RANGE | SYSCULL_FDS_NO_PROCFS | SYSCULL_FDS_NO_LOOP | SYSCULL_FDS_BOUND)

/* A table up to this size is closed at once, whatever is in it. */
#define SMALL_SLOTS 1024
/* A list pays from this many slots of the table for each entry, the list itself counted as so many entries. */
#define SPARSE_SLOTS 256
#define SPARSE_FIXED 10
/* As the answer of a way: not taken. */
#define NOT_TAKEN 1

int syscull__fds_begin(struct fds_run *run, const struct syscull_fds_options *options)
{
	struct syscull_fds_options taken;
	int result;

	memset(run, 0, sizeof *run);
	run->ceiling = SYSCULL_FDS_CEILING;
	if (options == NULL)
		return 0;
	result = syscull_options_take(&taken, sizeof taken, options, options->size, sizeof taken);
	if (result < 0)
		return result;
	if (taken.flags & ~KNOWN_FLAGS)
		return -EINVAL;
	run->flags = taken.flags;
	run->hints = taken.hints;
	if (taken.ceiling > 0)
		run->ceiling = taken.ceiling < INT_MAX ? taken.ceiling : INT_MAX;
	return 0;
}

int syscull__fds_end(const struct fds_run *run, struct syscull_fds_options *options, int result, int saved)
{
	if (options != NULL) {
		options->hints = run->hints;
		options->method = run->method;
		options->calls = run->calls;
	}
	errno = saved;
	return result;
}

/* close_range(2) once for each gap. */
static int sweep_ranges(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep, enum fds_do what)
{
	unsigned int low = (unsigned int)from;
	int kept, result;

	syscull__fds_keep_init(keep, from);
	do {
		kept = syscull__fds_keep_next(keep);
		if (kept >= 0 && (unsigned int)kept > last)
			kept = -1;
		if (kept < 0 || (unsigned int)kept > low) {
			result = syscull__fds_range(run, low, kept < 0 ? last : (unsigned int)kept - 1, what, false);
			if (result < 0)
				return result;
		}
		low = (unsigned int)kept + 1;
	} while (kept >= 0 && low <= last && low <= (unsigned int)INT_MAX);
	run->method = SYSCULL_FDS_RANGE;
	return 0;
}

/*
 * By the list.  Closing while reading leaves nothing out: the position is a
 * number.  An error may come when part is done.
 */
static int sweep_list(struct fds_run *run, struct fds_list *list, int from, unsigned int last, struct fds_keep *keep,
		      enum fds_do what)
{
	int kept, before = -1, fd, result;

	syscull__fds_keep_init(keep, from);
	kept = syscull__fds_keep_next(keep);
	while ((result = syscull__fds_list_next(run, list, 0, &fd)) == 1) {
		bool keeps;

		if (fd < from || (unsigned int)fd > last)
			continue;
		while (kept >= 0 && kept < fd)
			kept = syscull__fds_keep_next(keep);
		keeps = fd > before ? kept == fd : syscull__fds_keep_has(keep, fd);
		before = fd > before ? fd : before;
		if (keeps)
			continue;
		result = syscull__fds_one(run, fd, what);
		if (result < 0)
			break;
	}
	if (result == 0)
		run->method = SYSCULL_FDS_PROCFS;
	return result;
}

/* Whether a list of so many is cheaper than looking at each slot of the table. */
static bool list_is_cheaper(struct fds_run *run, long count)
{
	long needed = (count + SPARSE_FIXED) * SPARSE_SLOTS;
	int result;

	if (count <= 0 || needed > (long)SYSCULL_FDS_CEILING)
		return false;
	result = syscull__fds_larger(run, needed < FDS_SLOTS_ASKED ? (int)needed - 1 : FDS_SLOTS_ASKED);
	if (result == 1 && needed > FDS_SLOTS_ASKED) {
		long slots = syscull__fds_slots(run);

		result = slots == -EFBIG || slots >= needed;
	}
	return result == 1;
}

/* Whether the table is worth a look at its list; a small one is remembered. */
static bool is_large(struct fds_run *run)
{
	int result = syscull__fds_larger_at_once(run, SMALL_SLOTS);

	if (result == 0)
		run->hints |= SYSCULL_FDS_HINT_SMALL;
	run->large = result > 0;
	return run->large;
}

/* Closes by the list where that is cheaper than at once, which depends on the table. */
static int sweep_sparse(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep)
{
	struct fds_list list;
	int result;

	if (run->flags & (SYSCULL_FDS_NO_PROCFS | SYSCULL_FDS_UNSHARE))
		return NOT_TAKEN;
	if (run->hints & (SYSCULL_FDS_HINT_SMALL | SYSCULL_FDS_HINT_PROCFS))
		return NOT_TAKEN;
	if (!run->large && !is_large(run))
		return NOT_TAKEN;
	result = syscull__fds_list_begin(run, &list);
	if (result == 0) {
		if (!list_is_cheaper(run, list.count)) {
			syscull__fds_list_close(run, &list);
			return NOT_TAKEN;
		}
		result = syscull__fds_list_check(run, &list);
	}
	if (result < 0) {
		/* A full table is not refused for ever. */
		if (result != -EMFILE && result != -ENFILE)
			run->hints |= SYSCULL_FDS_HINT_PROCFS;
		return NOT_TAKEN;
	}
	result = sweep_list(run, &list, from, last, keep, FDS_CLOSE);
	syscull__fds_list_close(run, &list);
	return result < 0 ? NOT_TAKEN : 0;
}

/* A full table: one of those that are to be closed makes room for the list. */
static int list_open_closing(struct fds_run *run, struct fds_list *list, int from, struct fds_keep *keep,
			     enum fds_do what)
{
	int result = syscull__fds_list_open(run, list);
	int kept, low = from;

	if ((result != -EMFILE && result != -ENFILE) || what != FDS_CLOSE)
		return result;
	syscull__fds_keep_init(keep, from);
	for (int tries = 0; tries < FDS_BATCH && low < INT_MAX; tries++) {
		kept = syscull__fds_keep_next(keep);
		if (kept != low && syscull__fds_one(run, low, FDS_CLOSE) == 1)
			return syscull__fds_list_open(run, list);
		low = kept < 0 ? low + 1 : kept + 1;
	}
	return result;
}

static int sweep_procfs(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep, enum fds_do what)
{
	struct fds_list list;
	int result = list_open_closing(run, &list, from, keep, what);

	if (result == 0) {
		result = sweep_list(run, &list, from, last, keep, what);
		syscull__fds_list_close(run, &list);
	}
	if (result < 0 && result != -EMFILE && result != -ENFILE)
		run->hints |= SYSCULL_FDS_HINT_PROCFS;
	return result;
}

/* Number by number, as far as the table goes and no further than the ceiling. */
static int sweep_loop(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep, enum fds_do what)
{
	long slots = syscull__fds_slots(run);
	bool known = slots != -ENODATA;
	int kept;

	if (!known)
		slots = syscull__fds_limit(run);
	if (slots < 0)
		return (int)slots;
	if (slots - 1 > (long)last)
		slots = (long)last + 1;
	if (slots - from > (long)run->ceiling)
		return -EFBIG;
	syscull__fds_keep_init(keep, from);
	kept = syscull__fds_keep_next(keep);
	for (long fd = from; fd < slots; fd++) {
		int result;

		if (fd == kept) {
			kept = syscull__fds_keep_next(keep);
			continue;
		}
		result = syscull__fds_one(run, (int)fd, what);
		if (result < 0)
			return result;
	}
	run->method = SYSCULL_FDS_LOOP;
	return known ? 0 : -ENODATA;
}

/* Whether trying all the numbers of this table is cheaper than its list. */
static bool loop_is_cheaper(struct fds_run *run)
{
	long count = syscull__fds_about(run);
	long worth = 8 * count + 80;

	if (run->hints & SYSCULL_FDS_HINT_PROCFS)
		return true;
	if (count <= 0)
		worth = 128;
	return syscull__fds_larger(run, worth < FDS_SLOTS_ASKED ? (int)worth : FDS_SLOTS_ASKED) == 0;
}

static int sweep_without_range(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep,
			       enum fds_do what)
{
	bool lists = !(run->flags & SYSCULL_FDS_NO_PROCFS), loops = !(run->flags & SYSCULL_FDS_NO_LOOP);
	bool looped = false;
	int result = -EOPNOTSUPP;

	if (loops && (!lists || loop_is_cheaper(run))) {
		looped = true;
		result = sweep_loop(run, from, last, keep, what);
		if (result != -ENODATA && result != -EFBIG)
			return result;
	}
	if (lists && sweep_procfs(run, from, last, keep, what) == 0)
		return 0;
	if (loops && !looped)
		result = sweep_loop(run, from, last, keep, what);
	return result;
}

int syscull__fds_sweep(struct fds_run *run, int from, unsigned int last, struct fds_keep *keep, enum fds_do what)
{
	uint32_t hint = what == FDS_CLOSE ? SYSCULL_FDS_HINT_CLOSE : SYSCULL_FDS_HINT_CLOEXEC;
	bool ranges = !(run->flags & SYSCULL_FDS_NO_RANGE), refused = (run->hints & hint) != 0;
	int result;

	if (ranges && !refused) {
		if (what == FDS_CLOSE) {
			result = sweep_sparse(run, from, last, keep);
			if (result != NOT_TAKEN)
				return result;
		}
		if (sweep_ranges(run, from, last, keep, what) == 0)
			return 0;
		run->hints |= hint;
	}
	result = sweep_without_range(run, from, last, keep, what);
	if (result < 0 && ranges && refused && sweep_ranges(run, from, last, keep, what) == 0) {
		run->hints &= ~hint;
		result = 0;
	}
	return result;
}

/*
 * A table of our own: close_range(2) copies no more of the old one than is
 * below the highest gap, which is then done as well.
 */
static int unshare_first(struct fds_run *run, int from, const struct fds_keep *keep, enum fds_do what)
{
	int highest = from - 1;

	for (size_t i = 0; i < keep->lists[0].count; i++)
		if (keep->lists[0].first[i] > highest)
			highest = keep->lists[0].first[i];
	if (!(run->flags & SYSCULL_FDS_NO_RANGE) && highest < INT_MAX) {
		int result = syscull__fds_range(run, (unsigned int)highest + 1, UINT_MAX, what, true);

		if (result == 0 || result == -EMFILE || result == -ENOMEM)
			return result;
	}
	return syscull__fds_unshare(run);
}

static int sweep(struct fds_run *run, int from, const int *keep, size_t keep_count, enum fds_do what)
{
	struct fds_keep kept;
	int result = 0;

	if (from < 0 || (keep == NULL && keep_count > 0))
		return -EINVAL;
	memset(kept.lists, 0, sizeof kept.lists);
	kept.lists[0].first = keep;
	kept.lists[0].count = keep_count;
	kept.lists[0].stride = 1;
	if (run->flags & SYSCULL_FDS_UNSHARE)
		result = unshare_first(run, from, &kept, what);
	return result < 0 ? result : syscull__fds_sweep(run, from, UINT_MAX, &kept, what);
}

/*
 * The usual question has a short way: no list to keep, nothing said or known
 * that speaks against close_range(2), and it works.  All the rest is a frame
 * of several KiB and three layers of choices, which a small table would feel.
 */
static bool swept_at_once(struct fds_run *run, int from, size_t keep_count, enum fds_do what)
{
	if (keep_count > 0 || from < 0 || run->flags != 0 || (run->hints & ~SYSCULL_FDS_HINT_SMALL) != 0)
		return false;
	if (what == FDS_CLOSE && run->hints == 0 && is_large(run))
		return false;
	if (syscull__fds_range(run, (unsigned int)from, UINT_MAX, what, false) == 0) {
		run->method = SYSCULL_FDS_RANGE;
		return true;
	}
	run->hints |= what == FDS_CLOSE ? SYSCULL_FDS_HINT_CLOSE : SYSCULL_FDS_HINT_CLOEXEC;
	return false;
}

static int request(int from, const int *keep, size_t keep_count, struct syscull_fds_options *options, enum fds_do what)
{
	struct fds_run run;
	int saved = errno;
	int result = syscull__fds_begin(&run, options);

	if (result < 0)
		return result;
	if (!swept_at_once(&run, from, keep_count, what))
		result = sweep(&run, from, keep, keep_count, what);
	return syscull__fds_end(&run, options, result, saved);
}

int syscull_fds_close(int from, const int *keep, size_t keep_count, struct syscull_fds_options *options)
{
	return request(from, keep, keep_count, options, FDS_CLOSE);
}

int syscull_fds_cloexec(int from, const int *keep, size_t keep_count, struct syscull_fds_options *options)
{
	return request(from, keep, keep_count, options, FDS_CLOEXEC);
}
