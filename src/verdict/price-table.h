/* SPDX-License-Identifier: BSD-2-Clause */
/* Which timed loop stands for which call and result. */
#ifndef SYSCULL_VERDICT_PRICE_TABLE_H
#define SYSCULL_VERDICT_PRICE_TABLE_H

#include "sys/sys.h"
#include "verdict/probe.h"

/* Never fails: what no row names is priced by its kind, at last as a null call. */
enum probe_id price_table_probe(enum sys_call_id call, int err);

#endif
