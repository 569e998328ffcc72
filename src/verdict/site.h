/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call sites in results: which frames a finding's calls came from, and where
 * all calls did.  How frames are found out is not known here: somebody who can
 * is handed to the analysis as struct analysis_stacks.
 */
#ifndef SYSCULL_VERDICT_SITE_H
#define SYSCULL_VERDICT_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "model/frame.h"
#include "model/model.h"
#include "rules/finding.h"

struct analysis_stacks {
	void *data;
	/* A call that carries a stack. */
	void (*take)(void *data, struct model *model, const struct model_view *view, uint32_t site);
	/* Its frames will be asked for. */
	void (*want)(void *data, uint32_t site);
	/* After the last record, once. */
	void (*resolve)(void *data, struct model *model);
	/* By model_site; NULL not known. */
	const struct frames *(*frames)(const void *data, uint32_t site);
	/* One line on what kept them from being known; NULL nothing. */
	const char *(*trouble)(const void *data);
};

/* Sites that a finding keeps. */
#define SITE_MOST 16

void site_want_findings(const struct finding_list *list, const struct analysis_stacks *stacks);
/* Frames into the sites of all findings, none without stacks: those that are told
 * alike become one, most calls first. */
void site_tell_findings(struct finding_list *list, const struct analysis_stacks *stacks);

/* Of a site's stacks so many are kept; its count has the calls of all. */
#define SITE_STACKS_MOST 64
/* Calls came by these frames: those that have equal ones become one. */
void site_add_stack(struct finding_site *site, const struct frames *frames, uint64_t count);
/* When all are there: the site's own frames are the best of them, and one alone is none. */
void site_order_stacks(struct finding_site *site);

/* The frame that a call is told by: the first outside the C library; NULL not known. */
const struct frame *site_outer(const struct frames *frames);
/* The first in the program itself, when it is another one; NULL not known. */
const struct frame *site_program(const struct frames *frames);
/* Are calls told in the same words? */
bool site_equal(const struct frames *a, const struct frames *b);

/*
 * "lgetfilecon_raw+0x49", "+0x171cc" without a symbol, then " (label.c:12)" where
 * the line is known.  Foreign text, not made printable.
 */
void site_put_place(struct buf *buf, const struct frame *frame, bool line);
/* Behind it " and others" when it varies, " (as sampled)" when not all calls were seen to have it. */
/* "libselinux.so.1 lgetfilecon_raw+0x49, called by ls+0x171cc": the same, foreign. */
void site_put(struct buf *buf, const struct finding_site *site);

#endif
