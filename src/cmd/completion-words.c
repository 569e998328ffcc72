/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/completion-words.h"

#include <string.h>

#include "cmd/remedies.h"
#include "engine/engine.h"
#include "report/diff.h"
#include "report/prove.h"
#include "report/reporter.h"
#include "sys/sys.h"

static void add(struct buf *words, const char *word)
{
	(void)buf_printf(words, "%s%s", words->bytes ? " " : "", word);
}

static void engines(struct buf *words)
{
	add(words, "auto");
	for (size_t i = 0; engine_list[i]; i++)
		if (engine_list[i]->live)
			add(words, engine_list[i]->name);
}

static void reporters(struct buf *words)
{
	for (size_t i = 0; reporter_list[i]; i++)
		if (!reporter_list[i]->verdict)
			add(words, reporter_list[i]->name);
}

static void all_reporters(struct buf *words)
{
	for (size_t i = 0; reporter_list[i]; i++)
		add(words, reporter_list[i]->name);
}

static void diff_reporters(struct buf *words)
{
	for (size_t i = 0; diff_reporter_list[i].name; i++)
		add(words, diff_reporter_list[i].name);
}

static void prove_reporters(struct buf *words)
{
	for (size_t i = 0; prove_reporter_list[i].name; i++)
		add(words, prove_reporter_list[i].name);
}

static void remedies(struct buf *words)
{
	for (const struct remedy *remedy = remedy_table; remedy->name; remedy++)
		if (remedy == remedy_table || strcmp(remedy->name, remedy[-1].name) != 0)
			add(words, remedy->name);
}

/* The first row that fits. */
static const struct {
	const char *command; /* NULL any */
	const char *option;
	enum completion_kind kind;
	const char *words;
	void (*fill)(struct buf *words);
} rows[] = {
	{ NULL, "engine", COMPLETION_WORDS, NULL, engines },
	{ "check", "format", COMPLETION_WORDS, NULL, all_reporters },
	{ "diff", "format", COMPLETION_WORDS, NULL, diff_reporters },
	{ "fix", "format", COMPLETION_WORDS, NULL, prove_reporters },
	{ "show", "format", COMPLETION_WORDS, "strace tsv", NULL },
	{ "run", "format", COMPLETION_WORDS, NULL, reporters },
	{ "report", "format", COMPLETION_WORDS, NULL, reporters },
	{ NULL, "color", COMPLETION_WORDS, "auto always never", NULL },
	{ NULL, "pin", COMPLETION_WORDS, "auto always never", NULL },
	{ NULL, "times", COMPLETION_WORDS, "auto always never", NULL },
	{ NULL, "stacks", COMPLETION_WORDS, "off sites deep", NULL },
	{ NULL, "by", COMPLETION_WORDS, "region exe site", NULL },
	{ NULL, "weight", COMPLETION_WORDS, "calls saving", NULL },
	{ NULL, "redact", COMPLETION_LIST, "argv paths users", NULL },
	{ NULL, "with", COMPLETION_LIST, NULL, remedies },
	{ NULL, "trace", COMPLETION_CALLS, NULL, NULL },
	{ NULL, "max", COMPLETION_BUDGET, NULL, NULL },
	{ NULL, "min", COMPLETION_BUDGET, NULL, NULL },
	{ NULL, "canary", COMPLETION_BUDGET, NULL, NULL },
};

enum completion_kind completion_values(const struct command *command, const struct opt *option, struct buf *words)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strcmp(rows[i].option, option->name) != 0 ||
		    (rows[i].command && strcmp(rows[i].command, command->name) != 0))
			continue;
		if (rows[i].words)
			add(words, rows[i].words);
		if (rows[i].fill)
			rows[i].fill(words);
		return rows[i].kind;
	}
	return COMPLETION_FILES;
}

void completion_calls(struct buf *words)
{
	const char *class;
	uint64_t bit;

	for (size_t n = 0; (class = sys_class_name(n, &bit)); n++)
		add(words, class);
	for (unsigned id = 0; id < CALL_COUNT; id++)
		if (id != CALL_unknown)
			add(words, sys_call((enum sys_call_id)id)->name);
}
