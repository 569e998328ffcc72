/* SPDX-License-Identifier: BSD-2-Clause */
/* Suppressions as programs read them: all of them, used or not. */
#include <string.h>

#include "report/json-parts.h"

static void patterns(struct json *json, const char *key, const struct suppress_patterns *patterns)
{
	json_key(json, key);
	json_array_begin(json);
	for (size_t i = 0; i < patterns->at.used; i++)
		json_text(json, patterns->at.at[i]);
	json_array_end(json);
}

/* The fingerprints of what an entry took. */
static void findings(struct json *json, const struct analysis_result *result, const struct suppress_entry *entry)
{
	json_key(json, "fingerprints");
	json_array_begin(json);
	for (size_t i = 0; i < result->suppressed_count; i++)
		if (result->suppressed[i].suppressed_by == entry)
			json_text(json, result->suppressed[i].fingerprint);
	json_array_end(json);
}

void json_suppressed(struct json *json, const struct analysis_result *result)
{
	json_key(json, "suppressed");
	json_array_begin(json);
	for (size_t i = 0; i < result->suppression_count; i++) {
		const struct verdict_suppression *suppression = &result->suppressions[i];
		const struct suppress_entry *entry = suppression->entry;

		json_object_begin(json);
		json_member_string(json, "rule", entry->rule->id);
		patterns(json, "exe", &entry->patterns[SUPPRESS_EXE]);
		patterns(json, "path", &entry->patterns[SUPPRESS_PATH]);
		patterns(json, "site", &entry->patterns[SUPPRESS_SITE]);
		json_member_string(json, "reason", entry->reason);
		json_member_string(json, "file", entry->file);
		json_member_uint(json, "line", entry->line);
		json_member_bool(json, "used", suppression->findings > 0);
		json_member_uint(json, "findings", suppression->findings);
		json_member_uint(json, "calls", suppression->calls);
		findings(json, result, entry);
		json_object_end(json);
	}
	json_array_end(json);
}
