/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trivial-process: what is known of programs.  A tool can be done without, or
 * one process of it can do the work of many; or it is right as it is, as what
 * copies to a name of its own each time, waits, or wraps another program.
 */
#include <string.h>

#include "rules/trivial-process.h"

static const struct trivial_tool tools[] = {
	{ "[", TRIVIAL_SINGLE, "", "" },
	{ "echo", TRIVIAL_SINGLE, "", "" },
	{ "false", TRIVIAL_SINGLE, "", "" },
	{ "kill", TRIVIAL_NAMES, "", "" },
	{ "printf", TRIVIAL_SINGLE, "", "" },
	{ "pwd", TRIVIAL_SINGLE, "", "" },
	{ "test", TRIVIAL_SINGLE, "", "" },
	{ "true", TRIVIAL_SINGLE, "", "" },

	{ "basename", TRIVIAL_SINGLE, "${x##*/}", "${x##*/}" },
	{ "dirname", TRIVIAL_NAMES, "${x%/*}", "${x%/*}" },
	{ "expr", TRIVIAL_SINGLE, "$((a + b))", "$((a + b))" },
	{ "seq", TRIVIAL_SINGLE, "$((i + 1))", "for ((i = 1; i <= n; i++))" },
	{ "bc", TRIVIAL_LINES, NULL, NULL },
	{ "dc", TRIVIAL_LINES, NULL, NULL },
	{ "which", TRIVIAL_NAMES, "command -v", "command -v" },
	{ "date", TRIVIAL_SINGLE, NULL, "printf '%(%F %T)T'" },

	{ "cat", TRIVIAL_LINES, "read", "$(< file)" },
	{ "head", TRIVIAL_LINES, "read", "read" },
	{ "cut", TRIVIAL_LINES, "${x%%:*} or read", "${x%%:*} or read" },
	{ "sed", TRIVIAL_LINES, NULL, "${x/a/b}" },
	{ "tr", TRIVIAL_LINES, NULL, "${x//a/b} or ${x^^}" },
	{ "grep", TRIVIAL_LINES, "case", "[[ ]] or case" },
	{ "awk", TRIVIAL_LINES, NULL, NULL },
	{ "mawk", TRIVIAL_LINES, NULL, NULL },
	{ "gawk", TRIVIAL_LINES, NULL, NULL },
	{ "original-awk", TRIVIAL_LINES, NULL, NULL },
	{ "wc", TRIVIAL_LINES, NULL, NULL },
	{ "rev", TRIVIAL_LINES, NULL, NULL },
	{ "tail", TRIVIAL_NAMES, NULL, NULL },
	{ "sort", TRIVIAL_SINGLE, NULL, NULL },
	{ "uniq", TRIVIAL_SINGLE, NULL, NULL },
	{ "od", TRIVIAL_SINGLE, NULL, NULL },
	{ "tac", TRIVIAL_SINGLE, NULL, NULL },

	{ "stat", TRIVIAL_NAMES, NULL, NULL },
	{ "ls", TRIVIAL_NAMES, NULL, NULL },
	{ "readlink", TRIVIAL_NAMES, NULL, NULL },
	{ "realpath", TRIVIAL_NAMES, NULL, NULL },
	{ "touch", TRIVIAL_NAMES, NULL, NULL },
	{ "mkdir", TRIVIAL_NAMES, NULL, NULL },
	{ "rmdir", TRIVIAL_NAMES, NULL, NULL },
	{ "rm", TRIVIAL_NAMES, NULL, NULL },
	{ "chmod", TRIVIAL_NAMES, NULL, NULL },
	{ "chown", TRIVIAL_NAMES, NULL, NULL },
	{ "chgrp", TRIVIAL_NAMES, NULL, NULL },
	{ "cksum", TRIVIAL_NAMES, NULL, NULL },
	{ "md5sum", TRIVIAL_NAMES, NULL, NULL },
	{ "sha1sum", TRIVIAL_NAMES, NULL, NULL },
	{ "sha256sum", TRIVIAL_NAMES, NULL, NULL },
	{ "file", TRIVIAL_NAMES, NULL, NULL },

	{ "id", TRIVIAL_ONCE, NULL, NULL },
	{ "whoami", TRIVIAL_ONCE, NULL, NULL },
	{ "hostname", TRIVIAL_ONCE, NULL, NULL },
	{ "uname", TRIVIAL_ONCE, NULL, NULL },
	{ "nproc", TRIVIAL_ONCE, NULL, NULL },
	{ "tty", TRIVIAL_ONCE, NULL, NULL },
	{ "tput", TRIVIAL_ONCE, NULL, NULL },
	{ "getconf", TRIVIAL_ONCE, NULL, NULL },

	{ "cp", TRIVIAL_OWN, NULL, NULL },
	{ "mv", TRIVIAL_OWN, NULL, NULL },
	{ "ln", TRIVIAL_OWN, NULL, NULL },
	{ "install", TRIVIAL_OWN, NULL, NULL },
	{ "mktemp", TRIVIAL_OWN, NULL, NULL },
	{ "sleep", TRIVIAL_OWN, NULL, NULL },
	{ "sync", TRIVIAL_OWN, NULL, NULL },
	{ "env", TRIVIAL_OWN, NULL, NULL },
	{ "nice", TRIVIAL_OWN, NULL, NULL },
	{ "nohup", TRIVIAL_OWN, NULL, NULL },
	{ "timeout", TRIVIAL_OWN, NULL, NULL },
	{ "tee", TRIVIAL_OWN, NULL, NULL },
	{ "dd", TRIVIAL_OWN, NULL, NULL },
	{ "cmp", TRIVIAL_OWN, NULL, NULL },
	{ "diff", TRIVIAL_OWN, NULL, NULL },
};

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

const struct trivial_tool *trivial_tool(const struct model_process *process)
{
	static const char *const many_in_one[] = { "busybox", "toybox", "coreutils", NULL };
	const char *name = rule_base_name(process->exe->path);

	if (is_one_of(name, many_in_one) && process->argv)
		name = rule_base_name(process->argv);
	for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

bool trivial_is_shell(const struct model_exe *exe)
{
	return rule_shell_remedy(exe) != NULL;
}

bool trivial_is_rich(const struct model_exe *shell)
{
	static const char *const more[] = { "bash", "ksh", "mksh", "zsh", NULL };

	return is_one_of(rule_base_name(shell->path), more);
}

const char *trivial_instead(const struct trivial_tool *tool, const struct model_exe *shell)
{
	return trivial_is_rich(shell) ? tool->bash : tool->posix;
}

bool trivial_by_order(const struct model_exe *exe)
{
	static const char *const names[] = { "make",	 "gmake", "bmake", "ninja", "samu", "ctest",
					     "parallel", "watch", "entr",  "cron",  NULL };

	return is_one_of(rule_base_name(exe->path), names);
}

static const char *next_word(const struct model_process *process, const char *word)
{
	const char *end = process->argv + process->argv_bytes;

	word += strnlen(word, (size_t)(end - word)) + 1;
	return word < end ? word : NULL;
}

/* Up to the command that it is to run; *ret_apart: a value follows as a word. */
static const char *xargs_option(const char *word, bool *ret_apart)
{
	static const struct {
		char letter;
		const char *word, *option;
	} options[] = { { 'n', "--max-args", "-n" },
			{ 'L', "--max-lines", "-L" },
			{ 'l', "--max-lines", "-l" },
			{ 'I', "--replace", "-I" },
			{ 'i', "--replace", "-i" } };

	*ret_apart = false;
	for (size_t i = 0; word[1] == '-' && i < sizeof options / sizeof options[0]; i++)
		if (strncmp(word, options[i].word, strlen(options[i].word)) == 0)
			return options[i].option;
	for (const char *letter = word + 1; word[1] != '-' && *letter; letter++) {
		for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
			if (*letter == options[i].letter)
				return options[i].option;
		if (strchr("PsdaEe", *letter)) {
			*ret_apart = letter[1] == '\0' && *letter != 'e';
			break;
		}
	}
	return NULL;
}

const char *trivial_one_each(const struct model_process *starter)
{
	const char *name = rule_base_name(starter->exe->path), *word, *option;
	bool is_find = strcmp(name, "find") == 0, runs = false, apart = false;

	if ((!is_find && strcmp(name, "xargs") != 0) || !starter->argv || starter->argv_cut)
		return NULL;
	for (word = next_word(starter, starter->argv); word; word = next_word(starter, word)) {
		if (is_find) {
			runs = runs || strcmp(word, "-exec") == 0 || strcmp(word, "-execdir") == 0;
			if (runs && strcmp(word, ";") == 0)
				return ";";
			continue;
		}
		if (apart) {
			apart = false;
			continue;
		}
		if (word[0] != '-' || word[1] == '\0')
			break;
		option = xargs_option(word, &apart);
		if (option)
			return option;
	}
	return NULL;
}
