/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull completion: what a shell can offer behind "syscull", made from the
 * option tables, so that nothing can be forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/completion-words.h"
#include "rules/rule.h"

static void shell_names(const char *separator);

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
	[COMMAND_OPERANDS_NONE] = "none", [COMMAND_OPERANDS_COMMAND] = "command", [COMMAND_OPERANDS_FILES] = "file",
	[COMMAND_OPERANDS_RULE] = "rule", [COMMAND_OPERANDS_SHELL] = "shell",
};

static void bash_command(const struct command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	options(command, false, " ");
	printf("'\n\t\tvalued=' ");
	options(command, true, " ");
	printf(" '\n\t\toperands=%s\n\t\t;;\n", operand_words[command->operands]);
}

/* "run:-e|run:--trace) words=$calls list=1 ;;" */
static void bash_values(const struct command *command, const struct opt *option)
{
	static const char *const behind[] = {
		[COMPLETION_WORDS] = "",
		[COMPLETION_LIST] = " list=1",
		[COMPLETION_CALLS] = " list=1",
		[COMPLETION_BUDGET] = " open=1",
	};
	struct buf words = BUF_INIT;
	enum completion_kind kind = completion_values(command, option, &words);

	if (kind != COMPLETION_FILES) {
		printf("\t");
		if (option->letter < 256)
			printf("%s:-%c|", command->name, option->letter);
		printf("%s:--%s) words=", command->name, option->name);
		if (words.bytes)
			quoted(buf_text(&words));
		else
			fputs(kind == COMPLETION_BUDGET ? "\"$calls $rules\"" : "$calls", stdout);
		printf("%s ;;\n", behind[kind]);
	}
	buf_done(&words);
}

/* Words are split anew, since bash splits them at "@" and "=" too; and what it
 * took for another word is not in what it is told, but for "@" and "$", which
 * readline keeps at the beginning of one. */
static const char bash_head[] =
	"# Answers with those of the words that begin like $current from $at on, behind $kept.\n"
	"_syscull_offer()\n"
	"{\n"
	"\tlocal kept=$1 typed=$2 word broken=${current%\"${current##*[$COMP_WORDBREAKS]}\"}\n"
	"\tbroken=${broken%[@$]}\n"
	"\tfor word in $(compgen -W \"$3\" -- \"$typed\"); do\n"
	"\t\tword=$kept$word\n"
	"\t\tCOMPREPLY+=(\"${word#\"$broken\"}\")\n"
	"\tdone\n"
	"}\n"
	"_syscull_files()\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
	"}\n"
	"_syscull_programs()\n"
	"{\n"
	"\tlocal name\n"
	"\tfor name in $(compgen -c -- \"$current\" | sort -u); do\n"
	"\t\ttype -P -- \"$name\" >/dev/null && COMPREPLY+=(\"$name\")\n"
	"\tdone\n"
	"\t[[ $current == */* ]] && _syscull_files \"$current\"\n"
	"}\n";

static const char bash_body[] =
	"\tesac\n"
	"\twhile [[ $at -lt $last ]]; do\n"
	"\t\tcase ${typed[at]} in\n"
	"\t\t--) at=$((at + 1)); break ;;\n"
	"\t\t-*) [[ $valued == *\" ${typed[at]} \"* ]] && option=${typed[at]} at=$((at + 1)) ;;\n"
	"\t\t*) break ;;\n"
	"\t\tesac\n"
	"\t\tat=$((at + 1))\n"
	"\tdone\n"
	"\tif [[ $at -gt $last ]]; then\n"
	"\t\t_syscull_value \"$option\" '' \"$current\"\n"
	"\telif [[ $at -eq $last && $current == --*=* && ${typed[last-1]} != -- ]]; then\n"
	"\t\t_syscull_value \"${current%%=*}\" \"${current%%=*}=\" \"${current#*=}\"\n"
	"\telif [[ $at -eq $last && $current == -* && ${typed[last-1]} != -- ]]; then\n"
	"\t\t_syscull_offer '' \"$current\" \"$options\"\n"
	"\telif [[ $last -eq 1 ]]; then\n"
	"\t\t_syscull_offer '' \"$current\" \"$subcommands\"\n"
	"\t\t[[ ${#COMPREPLY[@]} -eq 0 ]] && _syscull_programs\n"
	"\telif [[ $operands == command && $at -lt $last ]]; then\n"
	"\t\twhile [[ $word -lt $COMP_CWORD && ${COMP_WORDS[word]} != \"${typed[at]}\" ]]; do\n"
	"\t\t\tword=$((word + 1))\n"
	"\t\tdone\n"
	"\t\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t\t_command_offset \"$word\"\n"
	"\t\telse\n"
	"\t\t\t_syscull_files \"$current\"\n"
	"\t\tfi\n"
	"\telse\n"
	"\t\tcase $operands in\n"
	"\t\tcommand) _syscull_programs ;;\n"
	"\t\tfile) _syscull_files \"$current\" ;;\n"
	"\t\trule) _syscull_offer '' \"$current\" \"$rules\" ;;\n"
	"\t\tshell) _syscull_offer '' \"$current\" \"$shells\" ;;\n"
	"\t\tesac\n"
	"\tfi\n"
	"}\n"
	"complete -F _syscull syscull\n";

static void calls(void)
{
	struct buf words = BUF_INIT;

	completion_calls(&words);
	fputs(buf_text(&words), stdout);
	buf_done(&words);
}

static void bash(void)
{
	printf("# bash completion of syscull(1)\n%s"
	       "# OPTION, what stays of its value, what is to be completed.\n"
	       "_syscull_value()\n"
	       "{\n"
	       "\tlocal words='' list='' open='' kept=$2 value=$3 calls='",
	       bash_head);
	calls();
	printf("'\n\tcase $subcommand:$1 in\n");
	for (size_t i = 0; command_list[i]; i++)
		for (const struct opt *option = command_list[i]->options; option && option->name; option++)
			bash_values(command_list[i], option);
	printf("\tesac\n"
	       "\tif [[ -z $words ]]; then\n"
	       "\t\t_syscull_files \"$value\"\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tif [[ -n $list && $value == *[,!]* ]]; then\n"
	       "\t\tkept=$kept${value%%\"${value##*[,!]}\"} value=${value##*[,!]}\n"
	       "\tfi\n"
	       "\t[[ -n $list$open ]] && compopt -o nospace 2>/dev/null\n"
	       "\t_syscull_offer \"$kept\" \"$value\" \"$words\"\n"
	       "}\n"
	       "_syscull()\n"
	       "{\n"
	       "\tlocal subcommands='");
	subcommands(" ");
	printf("'\n\tlocal rules='");
	rules(" ");
	printf("'\n\tlocal shells='");
	shell_names(" ");
	printf("'\n"
	       "\tlocal typed line=${COMP_LINE:0:COMP_POINT}\n"
	       "\tread -ra typed <<<\"$line\"\n"
	       "\t[[ $line == *[[:space:]] ]] && typed+=('')\n"
	       "\tlocal last=$((${#typed[@]} - 1)) word=1\n"
	       "\tlocal current=${typed[last]}\n"
	       "\tlocal subcommand=run at=1 option options valued operands\n"
	       "\tCOMPREPLY=()\n"
	       "\tif [[ $last -gt 1 && \" $subcommands \" == *\" ${typed[1]} \"* ]]; then\n"
	       "\t\tsubcommand=${typed[1]} at=2\n"
	       "\tfi\n"
	       "\tcase $subcommand in\n");
	for (size_t i = 0; command_list[i]; i++)
		bash_command(command_list[i]);
	fputs(bash_body, stdout);
}

/* ":WHEN:(auto always never)" */
static void zsh_value(const struct command *command, const struct opt *option)
{
	struct buf words = BUF_INIT;
	enum completion_kind kind = completion_values(command, option, &words);

	if (kind == COMPLETION_CALLS || kind == COMPLETION_BUDGET)
		printf(":%s:_syscull_calls", option->argument);
	else if (kind != COMPLETION_FILES)
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
			zsh_value(command, option);
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
		[COMMAND_OPERANDS_SHELL] = "'1:shell:(bash zsh fish)'",
	};

	printf("#compdef syscull\n"
	       "_syscull_calls()\n"
	       "{\n"
	       "\tlocal -a calls=(");
	calls();
	printf(")\n"
	       "\tcompset -P '*[,!]'\n"
	       "\tcompadd -S '' -a calls\n"
	       "}\n"
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
			zsh_option(command, option);
		printf("\t\t\t%s\n\t\t;;\n", operands[command->operands]);
	}
	printf("\tesac\n"
	       "}\n"
	       "_syscull \"$@\"\n");
}

static void fish_value(const struct command *command, const struct opt *option)
{
	struct buf words = BUF_INIT;
	enum completion_kind kind = completion_values(command, option, &words);

	if (kind == COMPLETION_CALLS || kind == COMPLETION_BUDGET)
		completion_calls(&words);
	printf(" -r");
	if (kind != COMPLETION_FILES) {
		printf(" -f -a ");
		quoted(buf_text(&words));
	}
	buf_done(&words);
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
				fish_value(command, option);
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
		if (command->operands == COMMAND_OPERANDS_SHELL) {
			printf("complete -c syscull -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
			shell_names(" ");
			printf("'\n");
		}
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

static void shell_names(const char *separator)
{
	for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
		printf("%s%s", i ? separator : "", shells[i].name);
}

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
	.operands = COMMAND_OPERANDS_SHELL,
	.main = completion_main,
};
