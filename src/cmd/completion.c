/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull completion: what a shell can offer behind "syscull", made from the
 * option tables, so that nothing can be forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "rules/rule.h"

static bool takes_value(const struct opt *option)
{
	return option->argument != NULL;
}

/* In single quotes of any of the shells. */
static void quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static void subcommands(const char *separator)
{
	for (size_t i = 0; command_list[i]; i++)
		printf("%s%s", i ? separator : "", command_list[i]->name);
}

static void rules(const char *separator)
{
	for (size_t i = 0; rule_list[i]; i++)
		printf("%s%s", i ? separator : "", rule_list[i]->id);
}

/* Options of a command that have a value, or all of them. */
static void options(const struct command *command, bool valued, const char *separator)
{
	bool first = true;

	for (const struct opt *option = command->options; option && option->name; option++) {
		if (valued && !takes_value(option))
			continue;
		if (option->letter < 256) {
			printf("%s-%c", first ? "" : separator, option->letter);
			first = false;
		}
		printf("%s--%s", first ? "" : separator, option->name);
		first = false;
	}
}

static const char *const operand_words[] = {
	[COMMAND_OPERANDS_NONE] = "none",
	[COMMAND_OPERANDS_COMMAND] = "command",
	[COMMAND_OPERANDS_FILES] = "file",
	[COMMAND_OPERANDS_RULE] = "rule",
};

static void bash_command(const struct command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	options(command, false, " ");
	printf("'\n\t\tvalued=' ");
	options(command, true, " ");
	printf(" '\n\t\toperands=%s\n\t\t;;\n", operand_words[command->operands]);
}

static void bash(void)
{
	printf("# bash completion of syscull(1)\n"
	       "_syscull()\n"
	       "{\n"
	       "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal subcommands='");
	subcommands(" ");
	printf("'\n"
	       "\tlocal subcommand=run at=1 options valued operands\n"
	       "\tCOMPREPLY=()\n"
	       "\tif [[ $COMP_CWORD -gt 1 && \" $subcommands \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	       "\t\tsubcommand=${COMP_WORDS[1]} at=2\n"
	       "\tfi\n"
	       "\tcase $subcommand in\n");
	for (size_t i = 0; command_list[i]; i++)
		bash_command(command_list[i]);
	printf("\tesac\n"
	       "\twhile [[ $at -lt $COMP_CWORD ]]; do\n"
	       "\t\tcase ${COMP_WORDS[at]} in\n"
	       "\t\t--) at=$((at + 1)); break ;;\n"
	       "\t\t-*) [[ $valued == *\" ${COMP_WORDS[at]} \"* ]] && at=$((at + 1)) ;;\n"
	       "\t\t*) break ;;\n"
	       "\t\tesac\n"
	       "\t\tat=$((at + 1))\n"
	       "\tdone\n"
	       "\tif [[ $at -lt $COMP_CWORD || $previous == -- || ($at -eq $COMP_CWORD && $current != -*) ]]; then\n"
	       "\t\tcase $operands in\n"
	       "\t\tcommand)\n"
	       "\t\t\tif [[ $at -lt $COMP_CWORD ]] && declare -F _command_offset >/dev/null; then\n"
	       "\t\t\t\t_command_offset \"$at\"\n"
	       "\t\t\telif [[ $at -lt $COMP_CWORD ]]; then\n"
	       "\t\t\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	       "\t\t\telse\n"
	       "\t\t\t\tCOMPREPLY=($(compgen -c -- \"$current\"))\n"
	       "\t\t\tfi\n"
	       "\t\t\t;;\n"
	       "\t\tfile) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
	       "\t\trule) COMPREPLY=($(compgen -W '");
	rules(" ");
	printf("' -- \"$current\")) ;;\n"
	       "\t\tesac\n"
	       "\t\t[[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W \"$subcommands\" -- \"$current\"))\n"
	       "\telif [[ $at -gt $COMP_CWORD ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	       "\telse\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
	       "\tfi\n"
	       "}\n"
	       "complete -o filenames -F _syscull syscull\n");
}

/* "-o[write the report to FILE]:FILE:_files" */
static void zsh_option(const struct opt *option)
{
	for (int form = option->letter < 256 ? 0 : 1; form < 2; form++) {
		printf("\t\t\t'%s", form == 0 ? "-" : "--");
		if (form == 0)
			putchar(option->letter);
		else
			fputs(option->name, stdout);
		if (form == 1 && takes_value(option))
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
		if (takes_value(option))
			printf(":%s:%s", option->argument, strstr(option->argument, "FILE") ? "_files" : " ");
		printf("' \\\n");
	}
}

static void zsh(void)
{
	static const char *const operands[] = {
		[COMMAND_OPERANDS_NONE] = "",
		[COMMAND_OPERANDS_COMMAND] = "'(-)1:command: _command_names -e' '*::argument: _normal'",
		[COMMAND_OPERANDS_FILES] = "'*:file:_files'",
		[COMMAND_OPERANDS_RULE] = "\"1:rule:($rules)\"",
	};

	printf("#compdef syscull\n"
	       "_syscull()\n"
	       "{\n"
	       "\tlocal -a subcommands\n"
	       "\tlocal rules='");
	rules(" ");
	printf("'\n\tlocal subcommand=run\n\tsubcommands=(\n");
	for (size_t i = 0; command_list[i]; i++) {
		char text[160];

		(void)snprintf(text, sizeof text, "%s:%s", command_list[i]->name, command_list[i]->help);
		printf("\t\t");
		quoted(text);
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

		printf("\t%s)\n\t\t_arguments -s \\\n", command->name);
		for (const struct opt *option = command->options; option && option->name; option++)
			zsh_option(option);
		printf("\t\t\t%s\n\t\t;;\n", operands[command->operands]);
	}
	printf("\tesac\n"
	       "}\n"
	       "_syscull \"$@\"\n");
}

static void fish(void)
{
	printf("# fish completion of syscull(1)\n"
	       "complete -c syscull -n __fish_use_subcommand -a '(__fish_complete_command)'\n");
	for (size_t i = 0; command_list[i]; i++) {
		const struct command *command = command_list[i];

		printf("complete -c syscull -n __fish_use_subcommand -a %s -d ", command->name);
		quoted(command->help);
		printf("\n");
		for (const struct opt *option = command->options; option && option->name; option++) {
			printf("complete -c syscull -n '__fish_seen_subcommand_from %s' -l %s", command->name,
			       option->name);
			if (option->letter < 256)
				printf(" -s %c", option->letter);
			if (takes_value(option))
				printf(" -r");
			printf(" -d ");
			quoted(option->help);
			printf("\n");
		}
		if (command->operands == COMMAND_OPERANDS_COMMAND)
			printf("complete -c syscull -n '__fish_seen_subcommand_from %s' -a "
			       "'(__fish_complete_subcommand)'\n",
			       command->name);
		if (command->operands == COMMAND_OPERANDS_RULE) {
			printf("complete -c syscull -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
			rules(" ");
			printf("'\n");
		}
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

static int completion_main(const struct command *command, int argc, char **argv)
{
	int first, status;

	if (!command_operands(command, argc, argv, &first, &status))
		return status;
	if (argc - first == 1) {
		for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
			if (strcmp(argv[first], shells[i].name) == 0) {
				shells[i].print();
				return command_finish();
			}
		}
	}
	log_line("completion wants one of bash, zsh, fish");
	return EXIT_OURS;
}

const struct command command_completion = {
	.name = "completion",
	.usage = "completion bash|zsh|fish",
	.help = "print what a shell needs to complete command lines",
	.options = command_help_only,
	.main = completion_main,
};
