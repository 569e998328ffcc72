/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull rules: the list of rules.  syscull explain RULE: one rule's page. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/project.h"
#include "rules/page.h"
#include "rules/rule.h"

#define COLUMNS 80

static int rules_main(const struct command *command, int argc, char **argv)
{
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
	if (first < argc) {
		log_line("rules takes no operand; for one rule's page: syscull explain %s", argv[first]);
		return EXIT_OURS;
	}
	for (size_t i = 0; rule_list[i]; i++)
		printf("%-20s %s\n", rule_list[i]->id, rule_list[i]->title);
	return command_finish();
}

static int unknown_rule(const char *name)
{
	struct buf shown = BUF_INIT;
	const char *nearest = rule_nearest(name);

	(void)text_escape(&shown, name, strlen(name), '\0', true);
	if (nearest)
		log_line("no rule is called '%s'; did you mean '%s'?", buf_text(&shown), nearest);
	else
		log_line("no rule is called '%s'; 'syscull rules' lists them", buf_text(&shown));
	buf_done(&shown);
	return EXIT_OURS;
}

/* Limits that this project has set, after the page with the rule's own. */
static void print_settings(const struct conf *conf, const struct rule *rule)
{
	const struct analysis_floor none = { .set = false };
	struct analysis_floor floor = settings_floor(&conf->settings, rule, &none);
	struct buf buf = BUF_INIT;

	for (size_t n = 0; rule->limits && rule->limits[n].name; n++) {
		uint64_t value = settings_limit(&conf->settings, rule, n);

		if (!settings_has(&conf->settings, rule, n))
			continue;
		(void)buf_printf(&buf, "| `%s` | ", rule->limits[n].name);
		settings_print(&buf, rule->limits[n].unit, value);
		(void)buf_puts(&buf, " | ");
		settings_print(&buf, rule->limits[n].unit, rule->limits[n].value);
		(void)buf_puts(&buf, " |\n");
	}
	if (floor.set) {
		char share[TEXT_NUMBER_MAX], least[TEXT_NUMBER_MAX], enough[TEXT_NUMBER_MAX];

		(void)buf_printf(&buf, "| `floor` | %s and %s, or %s | that of the run |\n",
				 text_share(floor.share, share), text_ns((double)floor.least_ns, least),
				 text_ns((double)floor.enough_ns, enough));
	}
	if (buf.bytes > 0) {
		struct buf path = BUF_INIT;

		(void)text_escape(&path, conf->path, strlen(conf->path), '\0', true);
		printf("\n## Set here, in %s\n\n| limit | value | default |\n| --- | --- | --- |\n%s", buf_text(&path),
		       buf_text(&buf));
		buf_done(&path);
	}
	buf_done(&buf);
}

struct explain_settings {
	struct project project;
	bool help;
};

static int set_option(void *data, int letter, const char *value, struct error *err)
{
	struct explain_settings *s = data;

	if (letter != 'h')
		return project_option(&s->project, letter, value, err);
	s->help = true;
	return 0;
}

/* How far the next lines of a point in a list are indented; SIZE_MAX: this line is no text. */
static size_t indent_of(const char *line, size_t bytes)
{
	size_t blanks = 0;

	while (blanks < bytes && line[blanks] == ' ')
		blanks++;
	if (blanks >= 4 || blanks == bytes || line[blanks] == '|' || line[blanks] == '#')
		return SIZE_MAX;
	return blanks + (bytes - blanks > 1 && line[blanks] == '-' && line[blanks + 1] == ' ' ? 2 : 0);
}

/* Text in at most 80 columns, which it is not always written in; tables and code as they are. */
static void print_page(const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, "\n"), indent = indent_of(text, bytes), lead = 0;
		bool broken = indent != SIZE_MAX;

		while (broken && bytes + lead > COLUMNS) {
			size_t at = COLUMNS - lead;

			while (at > indent && text[at] != ' ')
				at--;
			broken = at > indent;
			if (!broken)
				break;
			printf("%*s%.*s\n", (int)lead, "", (int)at, text);
			text += at + 1;
			bytes -= at + 1;
			lead = indent;
		}
		printf("%*s%.*s", (int)lead, "", (int)bytes, text);
		text += bytes;
		if (*text)
			putchar(*text++);
	}
}

static int explain(struct project *project, const char *name)
{
	const struct rule_page *page = rule_page_by_id(name);
	struct error err = { 0 };

	if (!page)
		return unknown_rule(name);
	if (project_load(project, true, &err) < 0) {
		log_error(&err);
		return EXIT_OURS;
	}
	print_page(page->text);
	print_settings(&project->conf, rule_by_id(name));
	return command_finish();
}

static int explain_main(const struct command *command, int argc, char **argv)
{
	struct explain_settings s = { .help = false };
	int first, status = EXIT_OURS;

	if (command_parse(command, argc, argv, set_option, &s, &s.help, &first, &status)) {
		if (first + 1 != argc)
			log_line("explain wants one rule; 'syscull rules' lists them");
		else
			status = explain(&s.project, argv[first]);
	}
	project_done(&s.project);
	return status;
}

static const struct opt explain_options[] = {
	{ PROJECT_CONFIG, "config", "FILE", "read FILE instead of .syscull.conf" },
	{ 'h', "help", NULL, "this text" },
	{ 0, NULL, NULL, NULL },
};

const struct command command_rules = {
	.name = "rules",
	.usage = "rules",
	.help = "list the rules",
	.options = command_help_only,
	.main = rules_main,
};

const struct command command_explain = {
	.name = "explain",
	.usage = "explain [options] RULE",
	.help = "print one rule's page: what it matches, when it is right, what to do",
	.options = explain_options,
	.operands = COMMAND_OPERANDS_RULE,
	.main = explain_main,
};
