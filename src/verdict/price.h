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
enum price_source {
	PRICE_CALIBRATED, /* a timed loop, on this machine */
	PRICE_MEASURED, /* in this run */
};
const char *price_source_name(enum price_source source);

struct price {
	double ns; /* of one call */
	double low_ns, high_ns;
	enum price_source source;
	const char *probe; /* which loop: "getxattr-absent" */
};

struct price_book *price_book_new(void);
/* The same with what earlier runs have kept (price-cache.h).  A run measures
 * only what it needs and nobody has kept, some 60 us a loop, when the command
 * has ended: a full calibration, 0.1 s, would be longer than most commands. */
struct price_book *price_book_new_kept(void);
/* What earlier runs have left. */
enum price_state {
	PRICE_STATE_NONE, /* nothing yet, or nothing is to be kept */
	PRICE_STATE_KEPT, /* good: they are used */
	PRICE_STATE_STALE, /* of another machine, boot or kernel */
	PRICE_STATE_DRIFTED, /* the machine was faster or slower then */
	PRICE_STATE_BROKEN, /* not what we had written */
	PRICE_STATE_REFUSED, /* the folder cannot be used */
};
enum price_state price_book_state(struct price_book *book);
/* "kept by earlier runs" */
const char *price_state_name(enum price_state state);
/* Keeps what was measured: 0 also when there was nothing new; else why not. */
int price_book_save(struct price_book *book);
/* All loops, over and over for so long, whatever was kept. */
void price_book_calibrate(struct price_book *book, uint64_t budget_ns);
/* How many loops have a price: kept, and measured here. */
void price_book_count(const struct price_book *book, unsigned *ret_kept, unsigned *ret_measured);
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
/* Touching a page for the first time: what memory costs beside its calls, where
 * one call brings so many pages.  The first of them is dearer than the others. */
struct price price_of_page(struct price_book *book, double pages);
/* A child that forks and ends, without what it runs. */
struct price price_of_fork(struct price_book *book);
/* What an exec brings with it: another memory, the loader's work, first touches of
 * pages, the end; of the smallest program, without what it and its loader call. */
struct price price_of_start(struct price_book *book);
/* The price of the call that a loop stands for (verdict/probe.h), on its own path. */
struct price price_of_probe(struct price_book *book, enum probe_id id);

#endif
