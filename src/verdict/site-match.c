/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/site-match.h"

#include <inttypes.h>
#include <string.h>

#include "base/glob.h"

static const char *part_of(const char *pattern, const char *text)
{
	const char *slash = strchr(pattern, '/') ? NULL : strrchr(text, '/');

	return slash ? slash + 1 : text;
}

bool site_path_matches(const char *pattern, const char *text)
{
	return glob_matches(pattern, part_of(pattern, text));
}

/* A function without a name: which patterns name it whatever it is called, or may do so? */
static enum site_match match_nameless(const char *pattern, const char *module)
{
	struct buf buf = BUF_INIT;
	size_t bytes = strlen(pattern);
	enum site_match match = SITE_NO;

	(void)buf_printf(&buf, "%s:", part_of(pattern, module));
	if (buf.failed || glob_may_begin(pattern, buf_text(&buf)))
		match = SITE_UNKNOWN;
	if (!buf.failed && bytes > 1 && pattern[bytes - 1] == '*' && pattern[bytes - 2] != '\\' &&
	    glob_matches(pattern, buf_text(&buf)))
		match = SITE_YES;
	buf_done(&buf);
	return match;
}

static enum site_match match_frame(const char *pattern, const struct frame *frame)
{
	struct buf buf = BUF_INIT;
	bool matches;

	/* Code made at run time is in no file. */
	if (!frame->module)
		return SITE_NO;
	matches = site_path_matches(pattern, frame->module);
	(void)buf_printf(&buf, "%s+0x%" PRIx64, frame->module, frame->offset);
	matches = matches || site_path_matches(pattern, buf_text(&buf));
	if (frame->symbol && !matches) {
		buf_clear(&buf);
		(void)buf_printf(&buf, "%s:%s", frame->module, frame->symbol);
		matches = site_path_matches(pattern, buf_text(&buf));
	}
	buf_done(&buf);
	if (matches)
		return SITE_YES;
	return frame->symbol ? SITE_NO : match_nameless(pattern, frame->module);
}

enum site_match site_match_alone(const char *pattern, const struct finding_site *site)
{
	struct frame leaf = { .module = site->module, .offset = site->offset };

	return match_frame(pattern, site->frames && site->frames->count > 0 ? &site->frames->at[0] : &leaf);
}

/* One of the frames that calls are told by: `at` is count when nobody knows it. */
static enum site_match match_told(const char *pattern, const struct frames *frames, size_t at, bool doubtful)
{
	enum site_match match;

	if (at >= frames->count)
		return frames->whole ? SITE_NO : SITE_UNKNOWN;
	match = match_frame(pattern, &frames->at[at]);
	return doubtful ? SITE_UNKNOWN : match;
}

enum site_match site_match(const char *pattern, const struct finding_site *site, const char *program, bool exact)
{
	const struct frames *frames = site->frames;
	enum site_match alone = site_match_alone(pattern, site), outer, own;

	if (alone == SITE_YES)
		return SITE_YES;
	if (!frames)
		return SITE_UNKNOWN;
	outer = match_told(pattern, frames, frames->outer, frames->outer_varies || (exact && frames->outer_sampled));
	own = match_told(pattern, frames, frames->program,
			 frames->program_varies || (exact && frames->program_sampled));
	/* What cannot be a place in the program does not need to be known to be none. */
	if (own == SITE_UNKNOWN && program && !glob_may_begin(pattern, part_of(pattern, program)))
		own = SITE_NO;
	if (outer == SITE_YES || own == SITE_YES)
		return SITE_YES;
	return alone == SITE_NO && outer == SITE_NO && own == SITE_NO ? SITE_NO : SITE_UNKNOWN;
}
