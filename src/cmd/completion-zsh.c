/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What zsh completes behind "syscull": a list for _arguments for each
 * subcommand.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/completion-words.h"
#include "cmd/completion.h"

/* ":WHEN:(auto always never)" */
static void zsh_value(const struct command *command, const struct opt *option)
{
	struct buf words = BUF_INIT;
	enum completion_kind kind = completion_values(command, option, &words);

	if (kind == COMPLETION_CALLS)
		printf(":%s:_syscull_calls", option->argument);
	else if (kind == COMPLETION_BUDGET)
		printf(":%s:_syscull_budgets", option->argument);
	else if (kind == COMPLETION_LIST)
		printf(":%s:_sequence compadd - %s", option->argument, buf_text(&words));
	else if (kind == COMPLETION_WORDS)
		printf(":%s:(%s)", option->argument, buf_text(&words));
	else
		printf(":%s:%s", option->argument, strstr(option->argument, "FILE") ? "_files" : " ");
	buf_done(&words);
}

/* "-o[write the report to FILE]:FILE:_files" */
static void zsh_option(const struct command *command, const struct opt *option)
{
	for (int form = option->letter < 256 ? 0 : 1; form < 2; form++) {
		printf("\t\t\t'%s", form == 0 ? "-" : "--");
		if (form == 0)
			putchar(option->letter);
		else
			fputs(option->name, stdout);
		if (form == 1 && completion_takes_value(option))
			putchar('=');
		putchar('[');
		for (const char *p = option->help; *p; p++) {
			if (*p == '\'')
				fputs("'\\'", stdout);
			if (*p == '[' || *p == ']' || *p == ':')
				putchar('\\');
			putchar(*p);
		}
		putchar(']');
		if (completion_takes_value(option))
			zsh_value(command, option);
		printf("' \\\n");
	}
}

void completion_zsh(void)
{
	static const char *const operands[] = {
		[COMMAND_OPERANDS_NONE] = "",
		[COMMAND_OPERANDS_COMMAND] = "'(-)1:command: _command_names -e' '*::argument: _syscull_command'",
		[COMMAND_OPERANDS_FILES] = "'*:file:_files'",
		[COMMAND_OPERANDS_RULE] = "\"1:rule:($rules)\"",
		[COMMAND_OPERANDS_SHELL] = "'1:shell:(bash zsh fish)'",
	};

	printf("#compdef syscull\n"
	       "_syscull_calls()\n"
	       "{\n"
	       "\tlocal -a calls=(");
	completion_put_calls();
	printf(")\n"
	       "\tcompset -P '*[,!]'\n"
	       "\tcompadd -S '' -a calls\n"
	       "}\n"
	       "_syscull_budgets()\n"
	       "{\n"
	       "\tlocal -a rules=(");
	completion_put_rules(" ");
	printf(")\n"
	       "\t_syscull_calls\n"
	       "\tcompadd -S '' -a rules\n"
	       "}\n"
	       "_syscull_command()\n"
	       "{\n"
	       "\t[[ $words[1] == -- ]] && shift words && (( CURRENT-- ))\n"
	       "\t_normal\n"
	       "}\n"
	       "_syscull()\n"
	       "{\n"
	       "\tlocal -a subcommands\n"
	       "\tlocal rules='");
	completion_put_rules(" ");
	printf("'\n\tlocal subcommand=run\n\tsubcommands=(\n");
	for (size_t i = 0; command_list[i]; i++) {
		char text[160];

		(void)snprintf(text, sizeof text, "%s:%s", command_list[i]->name, command_list[i]->help);
		printf("\t\t");
		completion_put_quoted(text);
		printf("\n");
	}
	printf("\t)\n"
	       "\tif (( CURRENT == 2 )); then\n"
	       "\t\t_describe subcommand subcommands\n"
	       "\telif (( ${+subcommands[(r)${words[2]}:*]} )) && [[ -n ${subcommands[(r)${words[2]}:*]} ]]; then\n"
	       "\t\tsubcommand=${words[2]}\n"
	       "\t\tshift words\n"
	       "\t\t(( CURRENT-- ))\n"
	       "\tfi\n"
	       "\tcase $subcommand in\n");
	for (size_t i = 0; command_list[i]; i++) {
		const struct command *command = command_list[i];

		printf("\t%s)\n\t\t_arguments -s -S \\\n", command->name);
		for (const struct opt *option = command->options; option && option->name; option++)
			zsh_option(command, option);
		printf("\t\t\t%s\n\t\t;;\n", operands[command->operands]);
	}
	printf("\tesac\n"
	       "}\n"
	       "_syscull \"$@\"\n");
}
