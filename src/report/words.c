/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/words.h"

#include <string.h>

#include "base/text.h"

const char *word_tier(const struct finding *finding)
{
	if (finding->information)
		return "information";
	switch (finding->tier) {
	case FINDING_CERTAIN:
		return "certain";
	case FINDING_LIKELY:
		return "likely";
	case FINDING_BY_DESIGN:
		return "by-design";
	default:
		return "?";
	}
}

const char *word_remedy(enum finding_remedy_kind kind)
{
	static const char *const names[REMEDY_KIND_COUNT] = {
		[REMEDY_UPGRADE] = "upgrade",	   [REMEDY_SOURCE] = "source",	 [REMEDY_CONFIGURATION] = "settings",
		[REMEDY_ENVIRONMENT] = "variable", [REMEDY_PRELOAD] = "preload", [REMEDY_SECCOMP] = "seccomp",
	};

	return kind < REMEDY_KIND_COUNT ? names[kind] : "?";
}

const char *word_script(const struct finding *finding)
{
	switch (finding->script_kind) {
	case SCRIPT_FILE:
		return finding->script ? "script" : NULL;
	case SCRIPT_MODULE:
		return finding->script ? "module" : NULL;
	case SCRIPT_LINE:
		return "a command line";
	case SCRIPT_NONE:
		break;
	}
	return NULL;
}

const char *word_cost(const struct verdict_cost *cost, char *buffer)
{
	return cost->elsewhere ? "in the fork" : text_ns(cost->ns, buffer);
}

void word_command(struct buf *buf, char *const *argv)
{
	for (char *const *word = argv; word && *word; word++) {
		(void)buf_puts(buf, word == argv ? "" : " ");
		(void)text_shell_word(buf, *word, strlen(*word), true);
	}
}

void word_scale(struct buf *buf, const struct analysis_result *result)
{
	char plural[TEXT_NUMBER_MAX + 16];

	(void)buf_printf(buf, "%s, ", text_plural(result->processes, "process", "processes", plural, sizeof plural));
	if (result->tasks > result->processes)
		(void)buf_printf(buf, "%s, ", text_plural(result->tasks, "thread", "threads", plural, sizeof plural));
	(void)buf_puts(buf, text_plural(result->calls, "call", "calls", plural, sizeof plural));
}

void word_harmless(struct buf *buf, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "\\");

		(void)text_escape(buf, text, plain, '\0', true);
		text += plain;
		if (*text == '\\') {
			(void)buf_putc(buf, '\\');
			text++;
		}
	}
}

static void markup(FILE *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		switch (*p) {
		case '<':
			(void)fputs("&lt;", out);
			break;
		case '>':
			(void)fputs("&gt;", out);
			break;
		case '&':
			(void)fputs("&amp;", out);
			break;
		case '"':
			(void)fputs("&quot;", out);
			break;
		default:
			(void)fputc(*p, out);
		}
	}
}

void word_markup(FILE *out, const char *text)
{
	struct buf shown = BUF_INIT;

	(void)text_escape(&shown, text, strlen(text), '\0', true);
	markup(out, buf_text(&shown));
	buf_done(&shown);
}

void word_markup_harmless(FILE *out, const char *text)
{
	struct buf shown = BUF_INIT;

	word_harmless(&shown, text);
	markup(out, buf_text(&shown));
	buf_done(&shown);
}

void word_code(FILE *out, const char *text, bool cell)
{
	struct buf shown = BUF_INIT;

	word_harmless(&shown, text);
	(void)fputc('`', out);
	for (const char *p = buf_text(&shown); *p; p++) {
		if (*p == '|' && cell)
			(void)fputc('\\', out);
		(void)fputc(*p == '`' ? '\'' : *p, out);
	}
	(void)fputc('`', out);
	buf_done(&shown);
}

void word_markdown(FILE *out, const char *text)
{
	struct buf shown = BUF_INIT;

	word_harmless(&shown, text);
	for (const char *p = buf_text(&shown); *p; p++) {
		if (strchr("\\`*_{}[]<>#|!~&", *p))
			(void)fputc('\\', out);
		(void)fputc(*p, out);
	}
	buf_done(&shown);
}
