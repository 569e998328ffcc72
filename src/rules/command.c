/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that can be typed again: only what was seen, and only whole. */
#include <string.h>

#include "base/text.h"
#include "rules/keyed.h"

#define COMMAND_MAX 100 /* bytes of a command line worth printing */

char *rule_command(struct model *model, const char *words, const char *unless)
{
	const struct model_process *root = NULL;
	const char *word, *end;
	struct buf text = BUF_INIT;
	char *result = NULL;

	for (size_t n = 0; (root = model_process_at(model, n)); n++)
		if (root->execed)
			break;
	if (!root || root->pid != model_process_at(model, 0)->pid)
		return NULL;
	if (!root->argv || root->argv_bytes == 0 || root->argv_bytes > COMMAND_MAX)
		return NULL;
	if (unless && root->env_known && model_getenv(root, unless))
		return NULL;
	(void)buf_puts(&text, words);
	end = root->argv + root->argv_bytes;
	for (word = root->argv; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
		if (text.bytes > 0)
			(void)buf_putc(&text, ' ');
		(void)text_shell_word(&text, word, strnlen(word, (size_t)(end - word)), true);
	}
	if (!text.failed && text.bytes <= strlen(words) + COMMAND_MAX + 1)
		result = buf_steal(&text);
	buf_done(&text);
	return result;
}
