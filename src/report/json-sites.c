/* SPDX-License-Identifier: BSD-2-Clause */
/* Call sites as programs read them: of a finding, and of all calls when they were asked for. */
#include "report/json-parts.h"
#include "verdict/site-table.h"

static void put_frame(struct json *json, const struct frame *frame)
{
	json_object_begin(json);
	json_member_string(json, "module", frame->module);
	json_key(json, "offset");
	json_hex(json, frame->offset);
	json_member_string(json, "build_id", frame->build_id);
	json_member_string(json, "symbol", frame->symbol);
	if (frame->symbol) {
		json_key(json, "symbol_offset");
		json_hex(json, frame->symbol_offset);
	}
	json_member_string(json, "file", frame->file);
	if (frame->file)
		json_member_uint(json, "line", frame->line);
	json_member_bool(json, "libc", frame->flags & FRAME_LIBC);
	json_member_bool(json, "program", frame->flags & FRAME_PROGRAM);
	if (frame->flags & FRAME_JIT)
		json_member_bool(json, "jit", true);
	if (frame->jumped)
		json_member_string(json, "by_way_of", frame->jump ? frame->jump : "?");
	json_object_end(json);
}

/* Which frame a person is told, -1 not known. */
static void put_index(struct json *json, const char *key, const struct frames *frames, size_t at)
{
	json_key(json, key);
	if (at < frames->count)
		json_uint(json, at);
	else
		json_none(json);
}

#define STACKS_MOST 8

/* Those who called in the same words by ways of their own, each with its calls. */
static void put_stacks(struct json *json, const struct finding_site *site)
{
	uint64_t others = site->count;

	if (site->stacks.used == 0)
		return;
	json_key(json, "stacks");
	json_array_begin(json);
	for (size_t i = 0; i < site->stacks.used && i < STACKS_MOST; i++) {
		const struct frames *frames = site->stacks.at[i].frames;

		json_object_begin(json);
		others -= site->stacks.at[i].count;
		json_member_uint(json, "count", site->stacks.at[i].count);
		json_key(json, "frames");
		json_array_begin(json);
		for (size_t n = 0; n < frames->count; n++)
			put_frame(json, &frames->at[n]);
		json_array_end(json);
		json_member_bool(json, "whole", frames->whole);
		json_member_string(json, "why", frames->why);
		json_object_end(json);
	}
	json_array_end(json);
	json_member_uint(json, "stacks_other", others);
}

void json_frames(struct json *json, const struct finding_site *site)
{
	const struct frame leaf = { .module = site->module, .offset = site->offset };

	json_key(json, "frames");
	json_array_begin(json);
	if (!site->frames) {
		json_object_begin(json);
		json_member_string(json, "module", leaf.module);
		json_key(json, "offset");
		json_hex(json, leaf.offset);
		json_object_end(json);
	}
	for (size_t i = 0; site->frames && i < site->frames->count; i++)
		put_frame(json, &site->frames->at[i]);
	json_array_end(json);
	if (!site->frames)
		return;
	put_index(json, "caller", site->frames, site->frames->outer);
	put_index(json, "program", site->frames, site->frames->program);
	json_member_bool(json, "caller_varies", site->frames->outer_varies);
	json_member_bool(json, "program_varies", site->frames->program_varies);
	json_member_bool(json, "caller_sampled", site->frames->outer_sampled);
	json_member_bool(json, "program_sampled", site->frames->program_sampled);
	json_member_bool(json, "whole", site->frames->whole);
	json_member_string(json, "why", site->frames->why);
	put_stacks(json, site);
}

void json_sites(struct json *json, const struct analysis_result *result)
{
	json_key(json, "sites");
	json_array_begin(json);
	for (size_t i = 0; i < result->site_count; i++) {
		const struct verdict_site *site = &result->sites[i];

		json_object_begin(json);
		json_member_uint(json, "count", site->calls);
		json_member_uint(json, "failed", site->failed);
		json_member_ns(json, "time_ns", site->ns);
		json_member_ns(json, "saves_ns", site->waste_ns);
		json_member_string(json, "most", site->most->name);
		json_member_uint(json, "most_count", site->most_count);
		json_frames(json, &site->site);
		json_object_end(json);
	}
	json_array_end(json);
	/* Not counted is not zero. */
	if (result->site_count > 0) {
		json_member_uint(json, "sites_unknown", result->sites_unknown);
		json_member_ns(json, "sites_saves_ns", result->sites_waste_ns);
	} else {
		json_member_null(json, "sites_unknown");
		json_member_null(json, "sites_saves_ns");
	}
}
