/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ERRORS_MAX 65536

void tally_init(struct tally *tally)
{
	*tally = (struct tally){ 0 };
	map_init(&tally->index, sizeof(uint32_t), TALLY_ROWS_MAX);
	map_init(&tally->errors, sizeof(uint64_t), ERRORS_MAX);
}

void tally_done(struct tally *tally)
{
	vec_done(&tally->rows);
	map_done(&tally->index);
	map_done(&tally->errors);
}

static uint64_t error_key(const struct tally_row *row, int err)
{
	return (uint64_t)row->index << 32 | (uint32_t)err;
}

/* Where the row of a number stands, 0 when it has none yet; NULL without
 * memory or room.  The last row is kept for TALLY_OTHER_NR. */
static uint32_t *row_place(struct tally *tally, uint16_t arch, int32_t nr)
{
	uint64_t key = (uint64_t)arch << 32 | (uint32_t)nr;
	bool full = tally->rows.used >= TALLY_ROWS_MAX - 1;

	if (nr == TALLY_OTHER_NR)
		return &tally->other;
	if (arch == SYS_ARCH_NATIVE && nr >= 0 && nr < TALLY_DIRECT)
		return full && !tally->direct[nr] ? NULL : &tally->direct[nr];
	return full ? map_get(&tally->index, key) : map_put(&tally->index, key, NULL);
}

static struct tally_row *row_of(struct tally *tally, uint16_t arch, int32_t nr)
{
	uint32_t *place = row_place(tally, arch, nr);
	struct tally_row *row;

	if (!place)
		return NULL;
	if (*place)
		return &tally->rows.at[*place - 1];
	row = vec_add(&tally->rows);
	if (!row)
		return NULL;
	row->index = (uint32_t)tally->rows.used - 1;
	row->arch = arch;
	row->nr = nr;
	row->id = sys_call_id((enum sys_arch)arch, nr);
	*place = (uint32_t)tally->rows.used;
	return row;
}

const struct tally_row *tally_add(struct tally *tally, const struct event_call *call, int err, unsigned path_components)
{
	bool known = call->arch == SYS_ARCH_NATIVE && (uint32_t)call->nr < TALLY_DIRECT && tally->direct[call->nr];
	struct tally_row *row =
		known ? &tally->rows.at[tally->direct[call->nr] - 1] : row_of(tally, call->arch, call->nr);
	uint64_t *errors;

	tally->total++;
	tally->failed += err != 0;
	if (!row) {
		tally->lost++;
		row = row_of(tally, SYS_ARCH_NATIVE, TALLY_OTHER_NR);
		if (!row)
			return NULL;
	}
	row->count++;
	row->duration_ns += call->duration_ns;
	row->path_components += path_components;
	if (err) {
		row->failed++;
		errors = map_put(&tally->errors, error_key(row, err), NULL);
		if (errors)
			(*errors)++;
		else
			tally->lost++;
	}
	return row;
}

bool tally_add_lost(struct tally *tally, uint16_t arch, int32_t nr, bool failed, int err, uint64_t count)
{
	struct tally_row *row = nr < 0 ? row_of(tally, SYS_ARCH_NATIVE, TALLY_OTHER_NR) : row_of(tally, arch, nr);
	uint64_t *errors;

	tally->total += count;
	tally->failed += failed ? count : 0;
	if (!row)
		return false;
	row->count += count;
	row->failed += failed ? count : 0;
	errors = failed && err ? map_put(&tally->errors, error_key(row, err), NULL) : NULL;
	if (errors)
		*errors += count;
	return true;
}

uint64_t tally_errors(const struct tally *tally, const struct tally_row *row, int err)
{
	const uint64_t *errors = map_get(&tally->errors, error_key(row, err));

	return errors ? *errors : 0;
}

bool tally_next_error_any(const struct tally *tally, size_t *iter, uint32_t *ret_row, int *ret_err, uint64_t *ret_count)
{
	const uint64_t *errors;
	uint64_t key;

	errors = map_next(&tally->errors, iter, &key);
	if (!errors)
		return false;
	*ret_row = (uint32_t)(key >> 32);
	*ret_err = (int)(uint32_t)key;
	*ret_count = *errors;
	return true;
}

bool tally_next_error(const struct tally *tally, const struct tally_row *row, size_t *iter, int *ret_err,
		      uint64_t *ret_count)
{
	uint32_t index;

	while (tally_next_error_any(tally, iter, &index, ret_err, ret_count))
		if (index == row->index)
			return true;
	return false;
}

static int by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	char x_name[SYS_NAME_MAX], y_name[SYS_NAME_MAX];

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(sys_call_print((enum sys_arch)x->arch, x->nr, x_name),
		      sys_call_print((enum sys_arch)y->arch, y->nr, y_name));
}

int tally_sorted(const struct tally *tally, struct tally_row **ret_rows, size_t *ret_count)
{
	size_t count = tally->rows.used;
	struct tally_row *rows = malloc((count ? count : 1) * sizeof *rows);

	if (!rows)
		return -ENOMEM;
	if (count > 0)
		memcpy(rows, tally->rows.at, count * sizeof *rows);
	qsort(rows, count, sizeof *rows, by_count);
	*ret_rows = rows;
	*ret_count = count;
	return 0;
}
