/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define HELP_LEFT_MAX 28
#define HELP_COLUMNS 80

static const struct opt *opt_find(const struct opt *table, int letter)
{
	for (const struct opt *opt = table; opt->name; opt++) {
		if (opt->letter == letter)
			return opt;
	}
	return NULL;
}

/* `word` is a long option as it was typed, with its dashes. */
static int unknown_long(const struct opt *table, const char *word, struct error *err)
{
	const struct opt *nearest = NULL;
	unsigned least, starts = 0;
	char name[64];
	size_t chars;

	chars = strcspn(word + 2, "=");
	if (chars >= sizeof name)
		return error_set(err, EINVAL, "unknown option %.80s...; see --help", word);
	memcpy(name, word + 2, chars);
	name[chars] = '\0';
	least = text_slips(name) + 1;
	for (const struct opt *opt = table; opt->name; opt++) {
		unsigned distance = text_distance(name, opt->name, least);

		if (strncmp(name, opt->name, chars) == 0)
			starts++;
		if (distance < least) {
			least = distance;
			nearest = opt;
		}
	}
	if (starts > 1)
		return error_set(err, EINVAL, "option --%s could be more than one; see --help", name);
	if (nearest)
		return error_set(err, EINVAL, "unknown option --%s; did you mean --%s?", name, nearest->name);
	return error_set(err, EINVAL, "unknown option --%s; see --help", name);
}

static int opt_complain(const struct opt *table, int found, const char *word, struct error *err)
{
	const struct opt *opt = opt_find(table, optopt);

	if (found == ':' && opt && (!word || strncmp(word, "--", 2) == 0))
		return error_set(err, EINVAL, "option --%s needs %s", opt->name, opt->argument);
	if (found == ':' && opt)
		return error_set(err, EINVAL, "option -%c needs %s", opt->letter, opt->argument);
	/* For a long option that is given a value it does not take, optopt is its letter. */
	if (opt && !opt->argument && word && strncmp(word, "--", 2) == 0)
		return error_set(err, EINVAL, "option --%s takes no value", opt->name);
	if (optopt == 0 && word && strncmp(word, "--", 2) == 0)
		return unknown_long(table, word, err);
	return error_set(err, EINVAL, "unknown option -%c; see --help", optopt ? optopt : '-');
}

/* The value of an option that nobody knows, in front of others? Only "--" tells it from the command. */
static bool is_value_of_unknown(int argc, char **argv, int at)
{
	if (at >= argc || strcmp(argv[at], "--") == 0)
		return false;
	for (int i = at + 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return true;
	return false;
}

/* `lenient`: what is wrong is passed over. */
static int walk(int argc, char **argv, const struct opt *table, opt_set *set, void *data, bool lenient, int *ret_first,
		struct error *err)
{
	struct option *longs;
	char *shorts, *to;
	size_t options = 0;
	int found, r = 0;

	while (table[options].name)
		options++;
	longs = calloc(options + 1, sizeof *longs);
	shorts = malloc(2 * options + 3);
	if (!longs || !shorts) {
		r = error_set(err, ENOMEM, "no memory for the options");
		goto out;
	}
	to = shorts;
	*to++ = '+';
	*to++ = ':';
	for (size_t i = 0; i < options; i++) {
		longs[i] = (struct option){
			.name = table[i].name,
			.has_arg = table[i].argument ? required_argument : no_argument,
			.val = table[i].letter,
		};
		if (table[i].letter > 255)
			continue;
		*to++ = (char)table[i].letter;
		if (table[i].argument)
			*to++ = ':';
	}
	*to = '\0';

	optind = 0; /* glibc: start afresh, a subcommand parses a second time */
	opterr = 0;
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		struct error ignored = { 0 };

		if ((found == '?' || found == ':') && !lenient) {
			r = opt_complain(table, found, optind > 0 && optind <= argc ? argv[optind - 1] : NULL, err);
			goto out;
		}
		if (found == '?' || found == ':') {
			if (optopt == 0 && !strchr(argv[optind - 1], '=') && argv[optind] && argv[optind][0] != '-' &&
			    is_value_of_unknown(argc, argv, optind))
				optind++;
			continue;
		}
		r = set(data, found, optarg, lenient ? &ignored : err);
		if (r < 0 && !lenient)
			goto out;
	}
	r = 0;
	*ret_first = optind;
out:
	free(longs);
	free(shorts);
	return r;
}

int opt_parse(int argc, char **argv, const struct opt *table, opt_set *set, void *data, int *ret_first,
	      struct error *err)
{
	return walk(argc, argv, table, set, data, false, ret_first, err);
}

int opt_scan(int argc, char **argv, const struct opt *table, opt_set *set, void *data)
{
	int first = argc;

	return walk(argc, argv, table, set, data, true, &first, NULL) < 0 ? argc : first;
}

/* The columns of "-o, --output FILE". */
static int opt_left_print(const struct opt *opt, char *out, size_t bytes)
{
	char dash[8] = "    ";

	if (opt->letter <= 255)
		(void)snprintf(dash, sizeof dash, "-%c, ", opt->letter);
	return snprintf(out, bytes, "%s--%s%s%s", dash, opt->name, opt->argument ? " " : "",
			opt->argument ? opt->argument : "");
}

/* From column `left` on, in lines that a terminal has room for. */
static void print_wrapped(const char *text, int left)
{
	size_t room = (size_t)(HELP_COLUMNS - left);

	(void)printf("  ");
	while (strlen(text) > room) {
		size_t bytes = room;

		while (bytes > 0 && text[bytes] != ' ')
			bytes--;
		/* A word that has no room is not torn. */
		if (bytes == 0)
			bytes = strcspn(text, " ");
		(void)printf("%.*s\n%*s", (int)bytes, text, text[bytes] ? left : 0, "");
		text += bytes + (text[bytes] == ' ');
	}
	(void)printf("%s\n", text);
}

void opt_print_help(const struct opt *table)
{
	int widest = 0;
	char left[120];

	for (const struct opt *opt = table; opt->name; opt++) {
		int chars = opt_left_print(opt, left, sizeof left);

		if (chars > widest && chars <= HELP_LEFT_MAX)
			widest = chars;
	}
	for (const struct opt *opt = table; opt->name; opt++) {
		int chars = opt_left_print(opt, left, sizeof left);

		(void)printf("  %-*s", widest, left);
		if (chars > widest)
			(void)printf("\n  %*s", widest, "");
		print_wrapped(opt->help, 2 + widest + 2);
	}
}
