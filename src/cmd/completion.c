/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull completion: what a shell can offer behind "syscull", made from the
 * option tables, so that nothing can be forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/completion-words.h"
#include "cmd/completion.h"
#include "rules/rule.h"

void completion_put_quoted(const char *text)
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

void completion_put_subcommands(const char *separator)
{
	for (size_t i = 0; command_list[i]; i++)
		printf("%s%s", i ? separator : "", command_list[i]->name);
}

void completion_put_rules(const char *separator)
{
	for (size_t i = 0; rule_list[i]; i++)
		printf("%s%s", i ? separator : "", rule_list[i]->id);
}

void completion_put_options(const struct command *command, bool valued, const char *separator)
{
	bool first = true;

	for (const struct opt *option = command->options; option && option->name; option++) {
		if (valued && !completion_takes_value(option))
			continue;
		if (option->letter < 256) {
			printf("%s-%c", first ? "" : separator, option->letter);
			first = false;
		}
		printf("%s--%s", first ? "" : separator, option->name);
		first = false;
	}
}

void completion_put_calls(void)
{
	struct buf words = BUF_INIT;

	completion_calls(&words);
	fputs(buf_text(&words), stdout);
	buf_done(&words);
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = { { "bash", completion_bash }, { "zsh", completion_zsh }, { "fish", completion_fish } };

void completion_put_shells(const char *separator)
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
