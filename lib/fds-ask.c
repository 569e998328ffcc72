/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about the table: the highest descriptor, how many, each of them.
 * Changes nothing; its own list is open while it reads.
 */
#include "fds-internal.h"

/* Up to so many entries are read rather than halved. */
#define FEW 128
/* One record of getdents64(2) with a number of up to 11 digits. */
#define ONE_RECORD 32

static bool may_list(const struct fds_run *run)
{
	return !(run->flags & SYSCULL_FDS_NO_PROCFS);
}

/* How many numbers there can be, where they may be tried. */
static long slots_to_try(struct fds_run *run, long from)
{
	long slots;

	if (run->flags & SYSCULL_FDS_NO_LOOP)
		return -EOPNOTSUPP;
	slots = syscull__fds_slots(run);
	if (slots >= 0 && slots - from > (long)run->ceiling)
		return -EFBIG;
	return slots;
}

/*
 * The first one at `fd` or above, or 0: none.  A position before the first
 * number would be one of the dots.
 */
static int first_from(struct fds_run *run, struct fds_list *list, int fd, int *ret_fd)
{
	int result = syscull__fds_list_seek(run, list, fd);

	if (result == 0)
		result = syscull__fds_list_next(run, list, ONE_RECORD, ret_fd);
	return result;
}

static int highest_by_halves(struct fds_run *run, struct fds_list *list, int *ret_fd)
{
	long low = 0, high = 64;
	int fd, result;

	*ret_fd = -1;
	while ((result = first_from(run, list, (int)high, &fd)) == 1) {
		*ret_fd = fd;
		low = (long)fd + 1;
		if (low > INT_MAX / 2)
			return -EBADMSG;
		high = low * 2 > 64 ? low * 2 : 64;
	}
	/* None is at high or above; what is known is below low. */
	while (result == 0 && low < high) {
		long middle = low + (high - low) / 2;

		result = first_from(run, list, (int)middle, &fd);
		if (result == 1) {
			*ret_fd = fd;
			low = (long)fd + 1;
			result = 0;
		} else {
			high = middle;
		}
	}
	return result;
}

static int highest_by_list(struct fds_run *run, int *ret_fd)
{
	struct fds_list list;
	int highest = -1, fd, result;

	result = syscull__fds_list_open(run, &list);
	if (result < 0)
		return result;
	if (list.count > FEW) {
		result = syscull__fds_list_next(run, &list, ONE_RECORD * 3, &fd);
		if (result == 1 && list.seeks)
			result = highest_by_halves(run, &list, &highest);
		else if (result == 1)
			result = syscull__fds_list_seek(run, &list, -2);
	}
	if (result >= 0 && highest < 0)
		while ((result = syscull__fds_list_next(run, &list, 0, &fd)) == 1)
			highest = fd > highest ? fd : highest;
	syscull__fds_list_close(run, &list);
	if (result < 0)
		return result;
	run->method = SYSCULL_FDS_PROCFS;
	*ret_fd = highest;
	return 1;
}

static int highest(struct fds_run *run, int *ret_fd)
{
	bool bound = (run->flags & SYSCULL_FDS_BOUND) != 0;
	long slots = -EOPNOTSUPP, fd;

	if (!bound && may_list(run) && highest_by_list(run, ret_fd) == 1)
		return 1;
	if (!bound && !(run->flags & SYSCULL_FDS_NO_LOOP)) {
		slots = slots_to_try(run, 0);
		if (slots >= 0) {
			for (fd = slots - 1; fd >= 0 && !syscull__fds_is_open(run, (int)fd);)
				fd--;
			run->method = SYSCULL_FDS_LOOP;
			*ret_fd = (int)fd;
			return 1;
		}
	}
	slots = syscull__fds_slots(run);
	if (slots >= 0) {
		run->method = SYSCULL_FDS_TABLE;
		*ret_fd = (int)(slots - 1 < INT_MAX ? slots - 1 : INT_MAX);
		return 0;
	}
	if (bound && may_list(run) && highest_by_list(run, ret_fd) == 1)
		return 1;
	return (int)slots;
}

int syscull_fds_highest(struct syscull_fds_options *options, int *ret_fd)
{
	struct fds_run run;
	int saved = errno;
	int result = syscull__fds_begin(&run, options);

	if (result < 0)
		return result;
	if (ret_fd == NULL)
		return syscull__fds_end(&run, options, -EINVAL, saved);
	return syscull__fds_end(&run, options, highest(&run, ret_fd), saved);
}

/* visit NULL: only counts.  Returns as syscull_fds_walk(). */
static int walk(struct fds_run *run, int from, int (*visit)(int fd, void *arg), void *arg, int *ret_count)
{
	struct fds_list list;
	int result = -EOPNOTSUPP, fd;
	long slots, next = from;

	*ret_count = 0;
	if (may_list(run) && (result = syscull__fds_list_open(run, &list)) == 0) {
		if (visit == NULL && list.count >= 0) {
			*ret_count = (int)list.count;
			syscull__fds_list_close(run, &list);
			run->method = SYSCULL_FDS_PROCFS;
			return 0;
		}
		while ((result = syscull__fds_list_next(run, &list, 0, &fd)) == 1) {
			if (fd < next)
				continue;
			next = (long)fd + 1;
			(*ret_count)++;
			result = visit != NULL ? visit(fd, arg) : 0;
			if (result != 0) {
				syscull__fds_list_close(run, &list);
				run->method = SYSCULL_FDS_PROCFS;
				return result;
			}
		}
		syscull__fds_list_close(run, &list);
		if (result == 0) {
			run->method = SYSCULL_FDS_PROCFS;
			return 0;
		}
	}
	/* What was visited is not visited again; a count begins anew. */
	if (visit == NULL)
		next = *ret_count = 0;
	slots = slots_to_try(run, next);
	if (slots < 0)
		return (int)slots;
	run->method = SYSCULL_FDS_LOOP;
	for (; next < slots; next++) {
		if (!syscull__fds_is_open(run, (int)next))
			continue;
		(*ret_count)++;
		result = visit != NULL ? visit((int)next, arg) : 0;
		if (result != 0)
			return result;
	}
	return 0;
}

int syscull_fds_walk(int from, int (*visit)(int fd, void *arg), void *arg, struct syscull_fds_options *options)
{
	struct fds_run run;
	int saved = errno, count;
	int result = syscull__fds_begin(&run, options);

	if (result < 0)
		return result;
	if (from < 0 || visit == NULL)
		return syscull__fds_end(&run, options, -EINVAL, saved);
	return syscull__fds_end(&run, options, walk(&run, from, visit, arg, &count), saved);
}

int syscull_fds_count(struct syscull_fds_options *options, int *ret_count)
{
	struct fds_run run;
	int saved = errno, count;
	int result = syscull__fds_begin(&run, options);

	if (result < 0)
		return result;
	if (ret_count == NULL)
		return syscull__fds_end(&run, options, -EINVAL, saved);
	result = walk(&run, 0, NULL, NULL, &count);
	if (result == 0)
		*ret_count = count;
	return syscull__fds_end(&run, options, result, saved);
}
