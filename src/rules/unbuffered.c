/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that were told not to buffer: by an option, a variable, stdbuf, or
 * dd's size of blocks.  Only options that the program has are told.
 */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"
#include "rules/stream.h"

static const struct {
	const char *program; /* the beginning of its name, and no letter behind it */
	const char *option;
	bool input, output;
} options[] = {
	{ "sed", "-u", true, true },
	{ "sed", "--unbuffered", true, true },
	{ "grep", "--line-buffered", false, true },
	{ "python", "-u", false, true },
	{ "jq", "--unbuffered", false, true },
	{ "rg", "--line-buffered", false, true },
	{ "tcpdump", "-l", false, true },
	{ "tcpdump", "-U", false, true },
	{ "tcpdump", "--packet-buffered", false, true },
};

static bool is_program(const struct model_process *process, const char *program)
{
	const char *name = rule_base_name(process->exe->path);
	size_t bytes = strlen(program);

	return strncmp(name, program, bytes) == 0 && strspn(name + bytes, "0123456789.") == strlen(name + bytes);
}

/* The word after this one (NULL: the first behind the program's name), NULL when there is none. */
static const char *next_word(const struct model_process *process, const char *word)
{
	const char *end = process->argv ? process->argv + process->argv_bytes : NULL;

	if (!end)
		return NULL;
	word = word ? word : process->argv;
	word += strnlen(word, (size_t)(end - word)) + 1;
	/* The last one has no end when it was cut. */
	return word < end && memchr(word, '\0', (size_t)(end - word)) ? word : NULL;
}

static const char *option_of(const struct model_process *process, bool output)
{
	bool python = is_program(process, "python");
	const char *word = NULL;

	while ((word = next_word(process, word)) && strcmp(word, "--") != 0) {
		/* What follows is its script's. */
		if (python && (*word != '-' || word[1] == 'c' || word[1] == 'm'))
			break;
		for (size_t i = 0; i < sizeof options / sizeof *options; i++)
			if ((output ? options[i].output : options[i].input) && strcmp(word, options[i].option) == 0 &&
			    is_program(process, options[i].program))
				return word;
	}
	return NULL;
}

/* Where blocks are converted, their size is more than a matter of speed. */
static const char *blocks_of(const struct model_process *process, bool output)
{
	const char *word = NULL, *found = NULL;

	while ((word = next_word(process, word))) {
		if (strncmp(word, "conv=", 5) == 0 || strncmp(word, "cbs=", 4) == 0)
			return NULL;
		if (strncmp(word, "bs=", 3) == 0 || strncmp(word, output ? "obs=" : "ibs=", 4) == 0)
			found = word;
	}
	return found;
}

struct rule_unbuffered rule_unbuffered_of(const struct model_process *process, bool output)
{
	const char *word, *set;

	if (is_program(process, "dd")) {
		word = blocks_of(process, output);
		return (struct rule_unbuffered){ word ? UNBUFFERED_BLOCKS : UNBUFFERED_NOT, word };
	}
	word = option_of(process, output);
	if (word)
		return (struct rule_unbuffered){ UNBUFFERED_OPTION, word };
	if (!process->env_known)
		return (struct rule_unbuffered){ UNBUFFERED_NOT, NULL };
	set = model_getenv(process, "PYTHONUNBUFFERED");
	if (output && set && *set && is_program(process, "python"))
		return (struct rule_unbuffered){ UNBUFFERED_PYTHON, "PYTHONUNBUFFERED" };
	set = model_getenv(process, output ? "_STDBUF_O" : "_STDBUF_I");
	if (set && strcmp(set, "0") == 0)
		return (struct rule_unbuffered){ UNBUFFERED_STDBUF, output ? "stdbuf -o0" : "stdbuf -i0" };
	if (set && output && strcmp(set, "L") == 0)
		return (struct rule_unbuffered){ UNBUFFERED_STDBUF, "stdbuf -oL" };
	return (struct rule_unbuffered){ UNBUFFERED_NOT, NULL };
}

/* Does dd count in blocks? */
static bool counts_blocks(struct model *model, uint64_t process_id)
{
	const struct model_process *process = NULL;
	const char *word = NULL;

	for (size_t n = 0; (process = model_process_at(model, n)) && process->id != process_id; n++)
		;
	while (process && (word = next_word(process, word)))
		if (strncmp(word, "count=", 6) == 0 || strncmp(word, "skip=", 5) == 0 || strncmp(word, "seek=", 5) == 0)
			return true;
	return !process;
}

static void larger_blocks(struct rule_run *run, const struct rule_unbuffered *why, uint64_t process_id,
			  struct finding_remedy *remedy)
{
	const char *equals = strchr(why->word, '=');
	struct buf word = BUF_INIT, with = BUF_INIT;

	remedy->id = "blocks";
	(void)buf_printf(&with, "%.*s=65536", (int)(equals - why->word), why->word);
	(void)text_shell_word(&word, why->word, strlen(why->word), true);
	if (!word.failed && !with.failed) {
		finding_set(&remedy->text, "%s in place of %s", buf_text(&with), buf_text(&word));
		if (!counts_blocks(run->model, process_id))
			remedy->command = rule_command_replaced(run->model, why->word, buf_text(&with), process_id);
	}
	/* The times that dd tells are others each time anyway. */
	if (counts_blocks(run->model, process_id))
		finding_set(&remedy->changes, "count, skip and seek are then in those blocks");
	buf_done(&word);
	buf_done(&with);
}

struct finding_remedy *rule_unbuffered_remedy(struct rule_run *run, const struct rule_unbuffered *why,
					      uint64_t process_id, struct finding *finding)
{
	const struct model_process *root = rule_command_process(run->model);
	struct finding_remedy *remedy;

	if (why->by == UNBUFFERED_NOT)
		return NULL;
	remedy = finding_add_remedy(finding, why->by == UNBUFFERED_PYTHON ? REMEDY_ENVIRONMENT : REMEDY_CONFIGURATION);
	if (!remedy)
		return NULL;
	if (why->by == UNBUFFERED_BLOCKS) {
		larger_blocks(run, why, process_id, remedy);
		return remedy;
	}
	remedy->id = "buffer";
	finding_set(&remedy->text, why->by == UNBUFFERED_PYTHON ? "%s unset" : "without %s", why->word);
	if (why->by == UNBUFFERED_OPTION)
		remedy->command = rule_command_replaced(run->model, why->word, NULL, process_id);
	else if (why->by == UNBUFFERED_PYTHON && root && root->env_known && model_getenv(root, why->word))
		remedy->command = rule_command(run->model, "env -u PYTHONUNBUFFERED", NULL);
	return remedy;
}

void rule_saves_but_blocks(struct finding_remedy *remedy, const struct finding *finding, uint64_t bytes)
{
	uint64_t blocks = (bytes + RULE_BLOCK - 1) / RULE_BLOCK;

	finding_remedy_saves_all(remedy, finding);
	if (finding->costs.used > 0)
		finding_add_delta(remedy, finding->costs.at[0].call, 0, (int64_t)blocks, 0);
}
