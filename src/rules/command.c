/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that can be typed again: only what was seen, and only whole. */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define COMMAND_MAX 100 /* bytes of a command line worth printing */

const struct model_process *rule_command_process(struct model *model)
{
	const struct model_process *root = NULL;

	for (size_t n = 0; (root = model_process_at(model, n)); n++)
		if (root->execed)
			break;
	return root && root->pid == model_process_at(model, 0)->pid ? root : NULL;
}

static char *command_with(const struct model_process *root, const char *words, const char *option)
{
	const char *word, *end;
	struct buf text = BUF_INIT;
	char *result = NULL;

	if (!root || !root->argv || root->argv_cut || root->argv_bytes == 0 || root->argv_bytes > COMMAND_MAX)
		return NULL;
	(void)buf_puts(&text, words);
	end = root->argv + root->argv_bytes;
	for (word = root->argv; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
		if (text.bytes > 0)
			(void)buf_putc(&text, ' ');
		(void)text_shell_word(&text, word, strnlen(word, (size_t)(end - word)), true);
		if (word == root->argv && *option)
			(void)buf_printf(&text, " %s", option);
	}
	if (!text.failed && text.bytes <= strlen(words) + strlen(option) + COMMAND_MAX + 2)
		result = buf_steal(&text);
	buf_done(&text);
	return result;
}

char *rule_command(struct model *model, const char *words, const char *unless)
{
	const struct model_process *root = rule_command_process(model);

	if (root && unless && root->env_known && model_getenv(root, unless))
		return NULL;
	return command_with(root, words, "");
}

char *rule_command_option(struct model *model, const char *option, uint64_t process_id)
{
	const struct model_process *root = rule_command_process(model);

	return root && root->id == process_id ? command_with(root, "", option) : NULL;
}

char *rule_command_replaced(struct model *model, const char *word, const char *with, uint64_t process_id)
{
	const struct model_process *root = rule_command_process(model);
	struct buf text = BUF_INIT;
	char *result = NULL;
	const char *at, *end;

	if (!root || root->id != process_id || !root->argv || root->argv_cut || root->argv_bytes == 0 ||
	    root->argv_bytes > COMMAND_MAX)
		return NULL;
	end = root->argv + root->argv_bytes;
	for (at = root->argv; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
		size_t bytes = strnlen(at, (size_t)(end - at));
		bool is_word = at > root->argv && strlen(word) == bytes && memcmp(at, word, bytes) == 0;

		if (is_word && !with)
			continue;
		if (text.bytes > 0)
			(void)buf_putc(&text, ' ');
		(void)text_shell_word(&text, is_word ? with : at, is_word ? strlen(with) : bytes, true);
	}
	if (!text.failed)
		result = buf_steal(&text);
	buf_done(&text);
	return result;
}
