/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a call site have the name that somebody wrote?  "MODULE", "MODULE:FUNCTION"
 * or "MODULE+0xOFFSET", patterns of base/glob.h; a module by its last component,
 * or by its path when the pattern has a '/'.  What is not known is not guessed.
 */
#ifndef SYSCULL_VERDICT_SITE_MATCH_H
#define SYSCULL_VERDICT_SITE_MATCH_H

#include "verdict/site.h"

enum site_match { SITE_NO, SITE_YES, SITE_UNKNOWN };

/* Of a text that may be a path: the last component, when the pattern has no '/'. */
bool site_path_matches(const char *pattern, const char *text);

/*
 * The instruction itself, who called there, and who in the program did; not when
 * calls counted with them came from elsewhere.  `exact`: nor when that is only known
 * of those whose stack was copied.  program: path of the file that ran, NULL unknown.
 */
enum site_match site_match(const char *pattern, const struct finding_site *site, const char *program, bool exact);
/* By the instruction alone: nobody called there. */
enum site_match site_match_alone(const char *pattern, const struct finding_site *site);

#endif
