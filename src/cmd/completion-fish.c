/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fish completes behind "syscull": a function that finds the subcommand
 * and where the command of ours begins, and a line for each option.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/completion-words.h"
#include "cmd/completion.h"

static void fish_value(const struct command *command, const struct opt *option)
{
	struct buf words = BUF_INIT;
	enum completion_kind kind = completion_values(command, option, &words);

	printf(" -r");
	if (kind == COMPLETION_WORDS) {
		printf(" -f -a ");
		completion_put_quoted(buf_text(&words));
	} else if (kind == COMPLETION_LIST) {
		printf(" -f -a '(__syscull_list %s)'", buf_text(&words));
	} else if (kind == COMPLETION_CALLS) {
		printf(" -f -a '(__syscull_list $__syscull_calls)'");
	} else if (kind == COMPLETION_BUDGET) {
		printf(" -f -a '$__syscull_calls $__syscull_rules'");
	}
	buf_done(&words);
}

/* __syscull_state: which subcommand it is, whether its options are over
 * ("command" or "options"), and the words of the command that were typed. */
static const char fish_state[] =
	"\tend\n"
	"\twhile set -q words[1]\n"
	"\t\tswitch $words[1]\n"
	"\t\t\tcase --\n"
	"\t\t\t\tprintf '%s\\n' $subcommand command $words[2..]\n"
	"\t\t\t\treturn\n"
	"\t\t\tcase '-*'\n"
	"\t\t\t\tcontains -- $words[1] $valued; and set -e words[1]\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\tprintf '%s\\n' $subcommand command $words\n"
	"\t\t\t\treturn\n"
	"\t\tend\n"
	"\t\tset -e words[1]\n"
	"\tend\n"
	"\tprintf '%s\\n' $subcommand options\n"
	"end\n"
	"function __syscull_at\n"
	"\tset -l state (__syscull_state)\n"
	"\ttest \"$state[1]\" = $argv[1]; and contains -- \"$state[2]\" $argv[2..]\n"
	"end\n"
	"function __syscull_first\n"
	"\ttest (count (commandline -opc)) -eq 1\n"
	"end\n"
	"# The command of ours, as if it stood alone.\n"
	"function __syscull_command\n"
	"\tset -l state (__syscull_state)\n"
	"\tif set -q state[3]\n"
	"\t\tcomplete -C (string join ' ' -- (string escape -- $state[3..]) (commandline -ct))\n"
	"\telse\n"
	"\t\t__fish_complete_command\n"
	"\tend\n"
	"end\n"
	"# Words behind what of a list with commas was typed.\n"
	"function __syscull_list\n"
	"\tset -l kept (commandline -ct | string replace -r '^--[a-z-]*=' '' | string replace -r '[^,!]*$' '')\n"
	"\tprintf '%s\\n' $kept$argv\n"
	"end\n";

static void fish_operands(const struct command *command)
{
	printf("complete -c syscull -n '__syscull_at %s options command' -", command->name);
	switch (command->operands) {
	case COMMAND_OPERANDS_NONE:
		printf("f\n");
		break;
	case COMMAND_OPERANDS_COMMAND:
		printf("f -a '(__syscull_command)'\n");
		break;
	case COMMAND_OPERANDS_FILES:
		printf("F\n");
		break;
	case COMMAND_OPERANDS_RULE:
		printf("f -a '$__syscull_rules'\n");
		break;
	case COMMAND_OPERANDS_SHELL:
		printf("f -a '");
		completion_put_shells(" ");
		printf("'\n");
		break;
	}
}

void completion_fish(void)
{
	printf("# fish completion of syscull(1)\n"
	       "set -g __syscull_calls ");
	completion_put_calls();
	printf("\nset -g __syscull_rules ");
	completion_put_rules(" ");
	printf("\nfunction __syscull_state\n"
	       "\tset -l words (commandline -opc)\n"
	       "\tset -l subcommand run\n"
	       "\tset -l valued\n"
	       "\tset -e words[1]\n"
	       "\tif contains -- \"$words[1]\" ");
	completion_put_subcommands(" ");
	printf("\n"
	       "\t\tset subcommand $words[1]\n"
	       "\t\tset -e words[1]\n"
	       "\tend\n"
	       "\tswitch $subcommand\n");
	for (size_t i = 0; command_list[i]; i++) {
		printf("\t\tcase %s\n\t\t\tset valued ", command_list[i]->name);
		completion_put_options(command_list[i], true, " ");
		printf("\n");
	}
	fputs(fish_state, stdout);
	for (size_t i = 0; command_list[i]; i++) {
		const struct command *command = command_list[i];
		/* What is no command may have options behind its operands, too. */
		const char *at = command->operands == COMMAND_OPERANDS_COMMAND ? "options" : "options command";

		printf("complete -c syscull -n __syscull_first -a %s -d ", command->name);
		completion_put_quoted(command->help);
		printf("\n");
		for (const struct opt *option = command->options; option && option->name; option++) {
			printf("complete -c syscull -n '__syscull_at %s %s' -l %s", command->name, at, option->name);
			if (option->letter < 256)
				printf(" -s %c", option->letter);
			if (completion_takes_value(option))
				fish_value(command, option);
			printf(" -d ");
			completion_put_quoted(option->help);
			printf("\n");
		}
		fish_operands(command);
	}
}
