/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call costs on this machine when nobody watches: plain timed loops,
 * one per kind of call, each run only when its price is asked for.  A price
 * is the whole cost of one call to the program: wrapper, entry, kernel, exit.
 *
 * To add a price: a loop and its row in probe.c (the row says how many calls
 * one turn makes and what else is in it), the name in enum probe_id
 * (probe.h), and a row in price-table.c for each call and result that it
 * stands for.  A loop must leave nothing behind and must never block.
 */
#ifndef SYSCULL_VERDICT_PRICE_H
#define SYSCULL_VERDICT_PRICE_H

#include <stdint.h>

#include "sys/sys.h"
#include "verdict/probe.h"

struct price_book;

/* Where an amount comes from; printed and written into JSON. */
enum price_source { PRICE_CALIBRATED, PRICE_MEASURED };

struct price {
	double ns; /* of one call */
	double low_ns, high_ns;
	enum price_source source;
	const char *probe; /* which loop: "getxattr-absent" */
};

struct price_book *price_book_new(void);
/* For tests: runs nothing.  Calls that no row names cost other_ns. */
#define PRICE_ANY_FAILURE (-1)
struct price_fixed {
	enum sys_call_id call;
	int err; /* 0, an errno or PRICE_ANY_FAILURE */
	double ns, component_ns;
};
struct price_book *price_book_new_fixed(const struct price_fixed *rows, size_t count, double other_ns);
void price_book_free(struct price_book *book);

/*
 * The price of one call with this result.  `components` is the average
 * number of path components (0: no path or unknown).  Calls without a loop
 * of their own are priced by the loop of their kind (see price.c's table),
 * at last by a null call.  Blocking time is never part of a price.
 */
struct price price_of(struct price_book *book, enum sys_call_id call, int err, double components);
/* The price of the call that a loop stands for (verdict/probe.h), on its own path. */
struct price price_of_probe(struct price_book *book, enum probe_id id);

#endif
