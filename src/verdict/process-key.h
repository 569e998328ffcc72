/* SPDX-License-Identifier: BSD-2-Clause */
/* How process.c keeps errors for process-list.c; nobody else includes it. */
#ifndef SYSCULL_VERDICT_PROCESS_KEY_H
#define SYSCULL_VERDICT_PROCESS_KEY_H

#include <stdint.h>

/* Rows are below 4096 (TALLY_ROWS_MAX), errnos too. */
static inline uint64_t process_error_key(uint32_t entry, uint32_t row, int err)
{
	return (uint64_t)entry << 24 | (uint64_t)(row & 0xfff) << 12 | ((uint32_t)err & 0xfff);
}

static inline uint32_t process_key_entry(uint64_t key)
{
	return (uint32_t)(key >> 24);
}

static inline uint32_t process_key_row(uint64_t key)
{
	return (uint32_t)(key >> 12) & 0xfff;
}

static inline int process_key_errno(uint64_t key)
{
	return (int)(key & 0xfff);
}

#endif
