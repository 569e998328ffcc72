/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rules about memory share: whose allocator it is, and settings of
 * glibc's that a remedy names (malloc/malloc.c, manual "Malloc Tunable
 * Parameters").
 */
#ifndef SYSCULL_RULES_MEMORY_H
#define SYSCULL_RULES_MEMORY_H

#include "rules/keyed.h"

/* Pages are counted in these, whatever the kernel's are. */
#define MEMORY_PAGE UINT64_C(4096)
/* Blocks from this size on are mapped until the threshold moves, and what is
 * mapped is a page larger at most; so much is asked for ahead of the need. */
#define MEMORY_THRESHOLD UINT64_C(131072)
#define MEMORY_PAD UINT64_C(131072)
/* No larger block can be told to come from the heap. */
#define MEMORY_THRESHOLD_MOST (UINT64_C(32) << 20)

/* The length as the kernel takes it. */
uint64_t memory_pages(uint64_t bytes);
/* The next larger number of the form 1, 2 or 5 and zeros; UINT64_MAX for
 * none. */
uint64_t memory_round(uint64_t bytes);
/* Were all these calls made in glibc's own libc?  Then its settings count,
 * as long as no other allocator was put in front of it. */
bool memory_by_glibc(const struct rule_sites *sites);
/* So many page faults come with the finding's calls of this kind, `least` to
 * `most`, depending on how much was used: "one page to all of each".  Before
 * remedies are added. */
void memory_tell_faults(struct finding *finding, enum sys_call_id call, uint64_t least, uint64_t most,
			const char *used);

#endif
