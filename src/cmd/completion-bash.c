/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What bash completes behind "syscull": a function that splits the line by
 * itself, since bash splits it elsewhere.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/completion-words.h"
#include "cmd/completion.h"

static const char *const operand_words[] = {
	[COMMAND_OPERANDS_NONE] = "none", [COMMAND_OPERANDS_COMMAND] = "command", [COMMAND_OPERANDS_FILES] = "file",
	[COMMAND_OPERANDS_RULE] = "rule", [COMMAND_OPERANDS_SHELL] = "shell",
};

static void bash_command(const struct command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	completion_put_options(command, false, " ");
	printf("'\n\t\tvalued=' ");
	completion_put_options(command, true, " ");
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
			completion_put_quoted(buf_text(&words));
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

void completion_bash(void)
{
	printf("# bash completion of syscull(1)\n%s"
	       "# OPTION, what stays of its value, what is to be completed.\n"
	       "_syscull_value()\n"
	       "{\n"
	       "\tlocal words='' list='' open='' kept=$2 value=$3 calls='",
	       bash_head);
	completion_put_calls();
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
	completion_put_subcommands(" ");
	printf("'\n\tlocal rules='");
	completion_put_rules(" ");
	printf("'\n\tlocal shells='");
	completion_put_shells(" ");
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
