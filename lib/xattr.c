/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions and single look-ups.  What cannot be learnt from one file for
 * another is decided here, and errs on the side of asking: only EOPNOTSUPP
 * teaches, only on file systems where it holds for all, and only from a file
 * that was held while it was asked.
 */
#include "xattr-internal.h"

#include <stdlib.h>

#define LIST_SMALL 1024
#define LIST_LARGEST 65536

/* Sizes in the first version. */
#define FILE_LEAST sizeof(struct syscull_xattr_file)
#define ANSWERS_LEAST sizeof(struct syscull_xattr_answers)

#ifndef SYSCULL_NO_XATTR

/* Asked where support for any user attribute is wanted: support belongs to the prefix in the classes that are known. */
#define USER_PROBE "user.syscull"

struct question {
	struct syscull_xattr_memo *memo;
	struct syscull_xattr_file file;
	struct syscull_xattr_answers answers;
	struct xattr_key key;
	struct xattr_known known;
	struct xattr_tally tally;
	uint32_t skipped;
};

static uint32_t count(uint32_t bits)
{
	return (uint32_t)__builtin_popcount(bits);
}

/* The calls do not exist: that is how every file answers. */
static bool gone(struct question *q)
{
	if (!syscull__xattr_missing(&q->tally))
		return false;
	if (q->memo != NULL)
		syscull__xattr_memo_set_gone(q->memo);
	return true;
}

static void settle(struct question *q, uint32_t bit, long result)
{
	struct syscull_xattr_answers *answers = &q->answers;

	if (result == -ENOSYS && gone(q))
		result = -EOPNOTSUPP;
	if (result >= 0) {
		answers->present |= bit;
	} else if (result == -ENODATA) {
		answers->absent |= bit;
	} else if (result == -EOPNOTSUPP) {
		answers->absent |= bit;
		answers->unsupported |= bit;
	} else {
		answers->unknown |= bit;
		answers->errors[__builtin_ctz(bit)] = (int)-result;
	}
}

/* One name of one file, with its value where that is wanted. */
static long ask_name(struct question *q, const struct syscull_xattr_file *file, uint32_t bit)
{
	struct syscull_xattr_answers *answers = &q->answers;
	const char *name = bit == SYSCULL_XATTR_USER ? USER_PROBE : syscull_xattr_name(bit);
	bool label = bit & XATTR_LABELS && answers->label != NULL && answers->label_length == 0;
	long result;

	if (!label)
		return syscull__xattr_get(file, name, NULL, 0, &q->tally);
	result = syscull__xattr_get(file, name, answers->label, answers->label_size, &q->tally);
	if (result == -ERANGE)
		result = syscull__xattr_get(file, name, NULL, 0, &q->tally);
	if (result > 0)
		answers->label_length = (size_t)result;
	return result;
}

static bool has_key(struct question *q, uint32_t wanted)
{
	if (q->memo == NULL)
		return false;
	/* For a single name a stat costs what it might spare. */
	if (q->file.have == 0 && count(wanted) > 1)
		syscull__xattr_stat(&q->file, &q->tally);
	if (!(q->file.have & SYSCULL_XATTR_HAVE_STAT) || !(q->file.have & XATTR_HAVE_MOUNTS))
		return false;
	syscull__xattr_key(&q->file, &q->key);
	return true;
}

static uint32_t learnable(const struct question *q)
{
	uint32_t bits = syscull__xattr_learnable(q->known.class, q->file.mode);

	if (q->known.class == 0 && syscull__xattr_memo_trusts(q->memo))
		bits = UINT32_MAX & ~SYSCULL_XATTR_USER;
	return bits;
}

/* Holds the file and finds out the class of its mount.  False: ask it as if there were no memo. */
static bool hold(struct question *q, bool found, struct xattr_pin *ret_pin)
{
	int r = syscull__xattr_pin(&q->file, ret_pin, &q->tally);

	if (r == 0 && !found && !syscull__xattr_memo_class(q->memo, &q->key, &q->known.class)) {
		r = syscull__xattr_class(ret_pin, &q->tally, &q->known.class);
		if (r < 0)
			syscull__xattr_unpin(ret_pin, &q->tally);
	}
	/* No file can be held here: do not try it for each. */
	if (r == -ENXIO && !found)
		syscull__xattr_memo_learn(q->memo, &q->key, &q->known);
	return r == 0;
}

static void learn(struct question *q, uint32_t bit, long result)
{
	if (result == -EOPNOTSUPP) {
		q->known.asked |= bit;
		q->known.unsupported |= bit;
	} else if (result >= 0 || result == -ENODATA) {
		q->known.asked |= bit;
		if (result >= 0)
			q->known.labelled |= bit & XATTR_LABELS;
	}
}

/* Asks each of the names that nobody asked yet of such a file; returns those that are answered. */
static uint32_t probe(struct question *q, bool found, uint32_t names)
{
	struct xattr_pin pin;
	uint32_t done = 0, open;

	if (!hold(q, found, &pin))
		return 0;
	open = names & learnable(q);
	while (open != 0) {
		uint32_t bit = open & -open;
		long result = ask_name(q, &pin.file, bit);

		open &= ~bit;
		learn(q, bit, result);
		/* Another name of "user." may be there even so. */
		if (bit == SYSCULL_XATTR_USER && result != -EOPNOTSUPP)
			continue;
		settle(q, bit, result);
		done |= bit;
	}
	syscull__xattr_unpin(&pin, &q->tally);
	syscull__xattr_memo_learn(q->memo, &q->key, &q->known);
	return done;
}

/* Which of the names a list holds; a last name without its NUL counts for nothing. */
static uint32_t names_in(const char *list, size_t length)
{
	uint32_t found = 0;

	while (length > 0) {
		const char *end = memchr(list, '\0', length);

		if (end == NULL)
			break;
		for (uint32_t bit = 1; bit < SYSCULL_XATTR_USER; bit <<= 1)
			if (strcmp(list, syscull_xattr_name(bit)) == 0)
				found |= bit;
		if (strncmp(list, "user.", 5) == 0)
			found |= SYSCULL_XATTR_USER;
		length -= (size_t)(end + 1 - list);
		list = end + 1;
	}
	return found;
}

static long list_names(struct question *q, uint32_t *ret_found)
{
	char small[LIST_SMALL], *large = NULL;
	long result = syscull__xattr_list(&q->file, small, sizeof small, &q->tally);

	/* Somebody may be adding names all the time: there is an end to growing. */
	for (size_t size = 8 * LIST_SMALL; result == -ERANGE && size <= LIST_LARGEST; size *= 8) {
		char *larger = realloc(large, size);

		if (larger == NULL) {
			free(large);
			return -ENOMEM;
		}
		large = larger;
		result = syscull__xattr_list(&q->file, large, size, &q->tally);
	}
	if (result == -ERANGE)
		result = -E2BIG;
	if (result >= 0)
		*ret_found = names_in(large != NULL ? large : small, (size_t)result);
	free(large);
	return result;
}

/* Answers by one list; returns the names that are left to be asked one by one. */
static uint32_t ask_list(struct question *q, uint32_t names)
{
	bool complete = q->known.class & XATTR_LIST;
	uint32_t found = 0, absent;
	long result = list_names(q, &found);

	if (names & SYSCULL_XATTR_USER)
		settle(q, SYSCULL_XATTR_USER, result >= 0 && !(found & SYSCULL_XATTR_USER) ? -ENODATA : result);
	names &= ~SYSCULL_XATTR_USER;
	if (result < 0 || !complete)
		return names;
	/* A security module answers for its label whether or not there is anything to list. */
	absent = names & ~found & ~q->known.labelled;
	q->answers.absent |= absent;
	q->answers.unsupported |= absent & q->known.unsupported;
	return names & ~absent;
}

static void answer(struct question *q, uint32_t wanted)
{
	uint32_t todo = wanted, skip, unasked;
	bool found;

	if (q->memo != NULL && syscull__xattr_memo_gone(q->memo)) {
		q->answers.absent = q->answers.unsupported = wanted;
		q->skipped += count(wanted);
		return;
	}
	if (has_key(q, wanted)) {
		if (syscull__xattr_memo_declared(q->memo, &q->key)) {
			q->answers.absent = wanted;
			q->skipped += count(wanted);
			return;
		}
		found = syscull__xattr_memo_find(q->memo, &q->key, &q->known);
		skip = todo & q->known.unsupported;
		q->answers.absent |= skip;
		q->answers.unsupported |= skip;
		q->skipped += count(skip);
		todo &= ~skip;
		unasked = todo & ~q->known.asked;
		if (found)
			unasked &= learnable(q);
		if (unasked != 0)
			todo &= ~probe(q, found, unasked);
	}
	if (todo & SYSCULL_XATTR_USER || (q->known.class & XATTR_LIST && count(todo & ~q->known.labelled) > 1))
		todo = ask_list(q, todo);
	while (todo != 0) {
		uint32_t bit = todo & -todo;

		settle(q, bit, ask_name(q, &q->file, bit));
		todo &= ~bit;
	}
}

static void begin(struct question *q, struct syscull_xattr_memo *memo)
{
	q->memo = memo;
	q->skipped = 0;
	q->known = (struct xattr_known){ 0 };
	syscull__xattr_memo_begin(memo, &q->tally);
}

int syscull_xattr_ask(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, uint32_t wanted,
		      struct syscull_xattr_answers *ret_answers)
{
	int saved = errno, r;
	struct question q;

	r = syscull_options_take(&q.file, sizeof q.file, file, file->size, FILE_LEAST);
	if (r < 0)
		return r;
	if (ret_answers->size < ANSWERS_LEAST || wanted == 0 || wanted & ~XATTR_KINDS)
		return -EINVAL;
	begin(&q, memo);
	q.answers = (struct syscull_xattr_answers){ .size = ret_answers->size,
						    .label = ret_answers->label,
						    .label_size = ret_answers->label_size };
	answer(&q, wanted);
	syscull__xattr_memo_end(memo, &q.tally, q.skipped);
	*ret_answers = q.answers;
	errno = saved;
	return 0;
}

/* Whether what one file says of a name may be kept: user.* also depends on permissions. */
static bool keeps(const char *name)
{
	return strncmp(name, "security.", 9) == 0 || strncmp(name, "system.", 7) == 0 ||
	       strncmp(name, "trusted.", 8) == 0;
}

/* True when the look-up is done. */
static bool get_known(struct question *q, const char *name, void *value, size_t size, long *ret_result)
{
	struct xattr_pin pin;
	uint32_t bit;
	bool found;

	if (syscull__xattr_memo_gone(q->memo)) {
		*ret_result = -EOPNOTSUPP;
		q->skipped++;
		return true;
	}
	if (!has_key(q, 1))
		return false;
	if (syscull__xattr_memo_declared(q->memo, &q->key)) {
		*ret_result = -ENODATA;
		q->skipped++;
		return true;
	}
	if (!keeps(name))
		return false;
	found = syscull__xattr_memo_find(q->memo, &q->key, &q->known);
	bit = syscull__xattr_memo_name(q->memo, name, !found || learnable(q) != 0);
	if (bit & q->known.unsupported) {
		*ret_result = -EOPNOTSUPP;
		q->skipped++;
		return true;
	}
	if (bit == 0 || bit & q->known.asked || (found && !(bit & learnable(q))) || !hold(q, found, &pin))
		return false;
	if (bit & learnable(q)) {
		*ret_result = syscull__xattr_get(&pin.file, name, value, size, &q->tally);
		/* The value is there, and too large for the caller. */
		learn(q, bit, *ret_result == -ERANGE ? 0 : *ret_result);
		found = true;
	} else {
		found = false;
	}
	syscull__xattr_unpin(&pin, &q->tally);
	syscull__xattr_memo_learn(q->memo, &q->key, &q->known);
	return found;
}

ssize_t syscull_xattr_get(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, const char *name,
			  void *value, size_t size)
{
	int saved = errno, r;
	struct question q;
	long result = 0;

	r = syscull_options_take(&q.file, sizeof q.file, file, file->size, FILE_LEAST);
	if (r < 0)
		return r;
	begin(&q, memo);
	if (memo == NULL || !get_known(&q, name, value, size, &result))
		result = syscull__xattr_get(&q.file, name, value, size, &q.tally);
	if (result == -ENOSYS && gone(&q))
		result = -EOPNOTSUPP;
	syscull__xattr_memo_end(memo, &q.tally, q.skipped);
	errno = saved;
	return (ssize_t)result;
}

#else

int syscull_xattr_ask(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, uint32_t wanted,
		      struct syscull_xattr_answers *ret_answers)
{
	struct syscull_xattr_file take;
	int r = syscull_options_take(&take, sizeof take, file, file->size, FILE_LEAST);

	(void)memo;
	if (r < 0)
		return r;
	if (ret_answers->size < ANSWERS_LEAST || wanted == 0 || wanted & ~XATTR_KINDS)
		return -EINVAL;
	*ret_answers = (struct syscull_xattr_answers){ .size = ret_answers->size,
						       .absent = wanted,
						       .unsupported = wanted,
						       .label = ret_answers->label,
						       .label_size = ret_answers->label_size };
	return 0;
}

ssize_t syscull_xattr_get(struct syscull_xattr_memo *memo, const struct syscull_xattr_file *file, const char *name,
			  void *value, size_t size)
{
	struct syscull_xattr_file take;
	int r = syscull_options_take(&take, sizeof take, file, file->size, FILE_LEAST);

	(void)memo;
	(void)name;
	(void)value;
	(void)size;
	return r < 0 ? r : -EOPNOTSUPP;
}

#endif
