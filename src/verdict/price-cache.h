/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prices kept between runs, in $XDG_CACHE_HOME/syscull/prices of the invoking
 * user.  They are good for one machine, one boot and one kernel, as long as a
 * quick loop takes what it took then.  Whatever is wrong with the file, it is
 * as if it were not there; a folder that cannot be written is no error.
 */
#ifndef SYSCULL_VERDICT_PRICE_CACHE_H
#define SYSCULL_VERDICT_PRICE_CACHE_H

#include <stdbool.h>

#include "verdict/probe.h"

#define PRICE_CACHE_DRIFT 0.25 /* of the quick loop: then all is measured anew */

/* What prices depend on; texts without white space. */
struct price_key {
	char machine[24]; /* a hash of the machine's id, else of its CPU's name */
	char boot[40];
	char kernel[72];
};

struct price_kept {
	double quick_ns; /* the quick loop, when the first of them was measured */
	struct {
		bool known;
		double ns, low_ns, high_ns;
		unsigned components;
	} rows[PROBE_COUNT];
};

/* -ENOENT: not even the kernel's name is known. */
int price_key_read(struct price_key *ret);
/* A cheap call, at its fastest: some microseconds in all. */
double price_quick_ns(void);
bool price_drifted(double then_ns, double now_ns);

/* *ret is empty after a failure.  -ENOENT: no file; -ESTALE: of another
 * machine, boot or kernel; -EBADMSG: no file of ours; others as from
 * user_dir_open. */
int price_cache_read(const struct price_key *key, struct price_kept *ret);
/* Rows that another process has kept meanwhile stay. */
int price_cache_write(const struct price_key *key, const struct price_kept *kept);

#endif
