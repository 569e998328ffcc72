/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: finds the subcommand, or takes the first word for a
 * program to run.  Everything else is in a file of its own.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "engine/engine.h"

const struct command *const command_list[] = {
	&command_run,  &command_check,	    &command_fix,   &command_record,  &command_report,
	&command_diff, &command_show,	    &command_rules, &command_explain, &command_doctor,
	&command_mark, &command_completion, NULL,
};

void command_print_help(const struct command *command)
{
	printf("usage: syscull %s\n\n%s\n", command->usage, command->help);
	if (command->options) {
		printf("\n");
		opt_print_help(command->options);
	}
}

static void print_usage(FILE *out)
{
	fputs("usage: syscull [run] [options] -- COMMAND...\n"
	      "       syscull SUBCOMMAND [options]\n\n"
	      "Finds the system calls that a program wastes, what they cost and what to do.\n\n",
	      out);
	for (size_t i = 0; command_list[i]; i++)
		fprintf(out, "  %-10s %s\n", command_list[i]->name, command_list[i]->help);
	fputs("\n'syscull SUBCOMMAND --help' lists the options; see also syscull(1).\n", out);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; command_list[i]; i++) {
		if (strcmp(command_list[i]->name, name) == 0)
			return command_list[i];
	}
	return NULL;
}

/* A word that is neither a subcommand nor a program. */
static int unknown_word(const char *word, const struct error *err)
{
	const char *nearest = NULL;
	unsigned best = text_slips(word) + 1;
	struct buf shown = BUF_INIT;

	/* A path, or what is there but cannot run, was not meant for a subcommand. */
	for (size_t i = 0; err->code == ENOENT && !strchr(word, '/') && command_list[i]; i++) {
		unsigned distance = text_distance(word, command_list[i]->name, best);

		if (distance < best) {
			best = distance;
			nearest = command_list[i]->name;
		}
	}
	(void)text_escape(&shown, word, strlen(word), '\0', true);
	if (nearest)
		log_line("'%s' is no subcommand and no program was found; did you mean '%s'?", buf_text(&shown),
			 nearest);
	else
		log_line("%s", err->text);
	buf_done(&shown);
	return err->code == EACCES ? EXIT_NOT_EXECUTABLE : EXIT_NOT_FOUND;
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct error err = { 0 };
	char *program = NULL;

	output_fill_standard();
	/* Which characters a terminal can show; numbers and messages stay ours. */
	(void)setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_OURS;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return command_finish();
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("syscull %s\n", SYSCULL_VERSION);
		return command_finish();
	}
	command = find(argv[1]);
	if (command)
		return command->main(command, argc - 1, argv + 1);
	/* "syscull -- ls", "syscull -q ls", "syscull ls": run is the default. */
	if (argv[1][0] != '-') {
		if (engine_find_program(argv[1], &program, &err) < 0)
			return unknown_word(argv[1], &err);
		free(program);
	}
	return command_run.main(&command_run, argc, argv);
}
