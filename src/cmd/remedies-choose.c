/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remedies that nobody named: what the kept last run of the same command asks
 * for, of those that can never give a wrong answer.  The kept run is a file of
 * the user's; a run that cannot be read asks for nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/remedies.h"
#include "cmd/replay.h"
#include "engine/trace/trace.h"
#include "verdict/analysis.h"
#include "verdict/price.h"

#define WORD_MAX 64

static bool same_command(char *const *a, char *const *b)
{
	if (!a)
		return false;
	for (; *a && *b; a++, b++) {
		if (strcmp(*a, *b) != 0)
			return false;
	}
	return !*a && !*b;
}

static int add(struct remedies *remedies, const struct remedy *remedy, const char *value, size_t bytes)
{
	char *owned = NULL;

	if (remedies_has(remedies, remedy) || remedies->count == REMEDIES_MAX)
		return 0;
	if (value) {
		owned = strndup(value, bytes);
		if (!owned)
			return -ENOMEM;
	}
	remedies->at[remedies->count].remedy = remedy;
	remedies->at[remedies->count].value = owned ? owned : remedy->value;
	remedies->at[remedies->count++].owned = owned;
	return 0;
}

/* The value that the rule worked out: of "A=1 B=2" the one behind the name. */
static const char *value_of(const char *text, const char *name, size_t *ret_bytes)
{
	size_t bytes = strlen(name);

	while (text && *text) {
		size_t word = strcspn(text, " ");

		if (word > bytes + 1 && word - bytes <= WORD_MAX && memcmp(text, name, bytes) == 0 &&
		    text[bytes] == '=') {
			*ret_bytes = word - bytes - 1;
			return text + bytes + 1;
		}
		text += word + (text[word] == ' ');
	}
	return NULL;
}

/* What this finding asks for of this remedy. */
static int take(struct remedies *remedies, const struct remedy *remedy, const struct verdict_finding *finding)
{
	for (size_t i = 0; i < finding->remedy_count; i++) {
		const struct finding_remedy *asked = finding->remedies[i].remedy;
		const char *value;
		size_t bytes = 0;

		if (remedy->means == REMEDY_BY_PRELOAD && asked->kind == REMEDY_PRELOAD)
			return add(remedies, remedy, NULL, 0);
		if (remedy->means != REMEDY_BY_VARIABLE || asked->kind != REMEDY_ENVIRONMENT)
			continue;
		value = value_of(asked->text, remedy->name, &bytes);
		if (value)
			return add(remedies, remedy, value, bytes);
	}
	return 0;
}

static int choose(struct remedies *remedies, const struct analysis_result *result, struct buf *rules)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < result->finding_count; i++) {
		const struct verdict_finding *finding = &result->findings[i];
		const char *rule = finding->finding->rule->id;
		unsigned before = remedies->count;

		if (!finding->worth)
			continue;
		for (size_t k = 0; r == 0 && remedy_table[k].name; k++) {
			if (!remedy_table[k].unsafe && remedy_serves(&remedy_table[k], rule))
				r = take(remedies, &remedy_table[k], finding);
		}
		if (remedies->count > before)
			(void)buf_printf(rules, "%s%s", rules->bytes ? ", " : "", rule);
	}
	return r;
}

/* 1: it was this command, and what it asks for is in remedies, with its rules. */
static int ask_kept(struct remedies *remedies, char *const *argv, struct buf *rules)
{
	struct analysis_spec spec = { 0 };
	struct analysis *analysis = NULL;
	struct error ignored = { 0 };
	struct replay replay = REPLAY_INIT;
	int r = replay_open(&replay, NULL, NULL, &ignored);

	if (r < 0)
		return 0;
	if (replay.engine->ops != &engine_trace || !same_command(trace_engine_start(replay.engine)->argv, argv)) {
		replay_close(&replay);
		return 0;
	}
	spec.prices = price_book_new_kept();
	r = analysis_new(&spec, &analysis, &ignored);
	if (r == 0)
		r = replay_analyse(&replay, analysis, &ignored);
	if (r == 0)
		r = analysis_finish(analysis, &replay.facts, &ignored);
	if (r == 0)
		r = choose(remedies, analysis_result(analysis), rules);
	analysis_free(analysis);
	replay_close(&replay);
	return r == -ENOMEM ? r : r == 0;
}

int remedies_choose(struct remedies *remedies, char *const *argv, struct buf *ret_why, struct error *err)
{
	struct buf rules = BUF_INIT;
	int r = ask_kept(remedies, argv, &rules);

	if (r < 0) {
		buf_done(&rules);
		return error_errno(err, ENOMEM, "the kept run");
	}
	if (remedies->count > 0) {
		(void)buf_printf(ret_why, "its kept run asks for it: %s", buf_text(&rules));
	} else {
		remedies_add_always(remedies);
		(void)buf_puts(ret_why, r == 1 ? "always safe; its kept run asks for none that is"
					       : "always safe; it has no kept run");
	}
	buf_done(&rules);
	return 0;
}
