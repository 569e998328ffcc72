/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who called: from copies of registers and stacks that came with calls to
 * frames with names and lines.  The book keeps samples while records come, and
 * the mappings as they were at each; unwinding is done once, at the end, by a
 * process without privileges (helper.c), as everything that it reads is foreign.
 * What is not certain is left out.
 */
#ifndef SYSCULL_STACK_STACK_H
#define SYSCULL_STACK_STACK_H

#include "model/frame.h"
#include "model/model.h"

struct stack_book;

struct stack_options {
	/* The records are of this machine; else no file of it is looked at. */
	bool here;
	/* Files that have changed since are not those that ran: nanoseconds since
	 * the epoch; 0: the time of the call counts, it was just now. */
	uint64_t unchanged_since_ns;
};

/* NULL with errno. */
struct stack_book *stack_book_new(const struct stack_options *options);
/* Before the model goes.  Takes NULL. */
void stack_book_free(struct stack_book *book);
/* For each call that carries a stack, before the next record; site is its model_site. */
void stack_book_take(struct stack_book *book, struct model *model, const struct model_view *view, uint32_t site);
/* Before resolve: the frames of this site will be asked for; nothing is done for others. */
void stack_book_want(struct stack_book *book, uint32_t site);
/* After the last record, once.  0, or negative: then sites are known as the records tell them. */
int stack_book_resolve(struct stack_book *book, struct model *model);
/* The frames of a wanted site, at least one; NULL of others, and before resolve. */
const struct frames *stack_book_frames(const struct stack_book *book, uint32_t site);
/* One line on what kept frames from being known, NULL nothing. */
const char *stack_book_trouble(const struct stack_book *book);

/* Was it built with libdw? */
bool stack_can_unwind(void);

#endif
