/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tools/gen-syscalls makes of data/syscalls/ for the files of this
 * folder.  Nobody else includes it.
 */
#ifndef SYSCULL_SYS_TABLES_H
#define SYSCULL_SYS_TABLES_H

#include "sys/sys.h"

struct sys_class_row {
	const char *name; /* with its % or @ */
	uint64_t bit;
};

extern const struct sys_kind sys_kinds[KIND_COUNT];
/* Sorted by name behind CALL_unknown. */
extern const struct sys_call sys_calls[CALL_COUNT];

/* By number; holes are CALL_unknown. */
extern const uint16_t sys_ids_x86_64[], sys_ids_aarch64[];
extern const uint16_t sys_ids_x86_64_count, sys_ids_aarch64_count;
/* By call; -1 where the architecture lacks it. */
extern const int16_t sys_nrs_x86_64[CALL_COUNT], sys_nrs_aarch64[CALL_COUNT];

/* Each ends with a row without a name. */
extern const struct sys_class_row sys_class_rows[], sys_class_aliases[];

#endif
