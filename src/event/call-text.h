/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call as strace would write it.  There is one renderer: what a report
 * shows as proof, and what `show` lists.  Printable and bounded by the record.
 */
#ifndef SYSCULL_EVENT_CALL_TEXT_H
#define SYSCULL_EVENT_CALL_TEXT_H

#include "base/buf.h"
#include "event/event.h"

struct event_call_style {
	/* Everything, as a log has it: addresses, whole strings, names of errors
	 * in words.  Else what is good for one line of a report: strings are cut,
	 * memory that was not copied is "...". */
	bool full;
	/* With full: the file behind the first descriptor, and the one that the
	 * call made; NULL none.  Foreign text. */
	const char *file, *made;
	/* With full: the words of the program that an execve has begun, each with a NUL
	 * at its end; NULL not known. */
	const char *argv;
	size_t argv_bytes;
	bool argv_cut; /* there are more */
};

/* Appends name, arguments and result; -ENOMEM.  id: event_call_id. */
int event_call_text(struct buf *out, const struct event_call *call, enum sys_call_id id,
		    const struct event_call_style *style);

#endif
