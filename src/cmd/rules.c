/* SPDX-License-Identifier: BSD-2-Clause */
/* syscull rules: the list of rules.  syscull explain RULE: one rule's page. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "rules/page.h"
#include "rules/rule.h"

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

static int explain_main(const struct command *command, int argc, char **argv)
{
	const struct rule_page *page;
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
	if (first + 1 != argc) {
		log_line("explain wants one rule; 'syscull rules' lists them");
		return EXIT_OURS;
	}
	page = rule_page_by_id(argv[first]);
	if (!page)
		return unknown_rule(argv[first]);
	fputs(page->text, stdout);
	return command_finish();
}

const struct command command_rules = {
	.name = "rules",
	.usage = "rules",
	.help = "list the rules",
	.options = command_help_only,
	.main = rules_main,
};

const struct command command_explain = {
	.name = "explain",
	.usage = "explain RULE",
	.help = "print one rule's page: what it matches, when it is right, what to do",
	.options = command_help_only,
	.main = explain_main,
};
