/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of mountinfo and cgroup.  Escapes are decoded in place: the text only
 * gets shorter.
 */
#include "proc-internal.h"

static bool is_octal(const char *at, const char *end)
{
	if (end - at < 4 || at[0] != '\\' || at[1] < '0' || at[1] > '3')
		return false;
	return at[2] >= '0' && at[2] <= '7' && at[3] >= '0' && at[3] <= '7';
}

/* A word up to the next space, decoded.  False: there is none. */
static bool word_take(struct proc_cursor *cursor, struct syscull_text *ret_word)
{
	const char *from = cursor->at;
	const char *space = memchr(from, ' ', (size_t)(cursor->end - from));
	const char *to = space != NULL ? space : cursor->end;
	char *into;

	into = memchr(from, '\\', (size_t)(to - from));
	cursor->at = space != NULL ? space + 1 : cursor->end;
	if (into == NULL) {
		*ret_word = syscull__proc_ended(from, to);
		return space != NULL || to > from;
	}
	for (const char *at = into; at < to;) {
		if (is_octal(at, to)) {
			*into++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 4;
		} else {
			*into++ = *at++;
		}
	}
	*ret_word = syscull__proc_ended(from, into);
	return true;
}

static int number_take(struct proc_cursor *cursor, char after, uint32_t *ret_number)
{
	uint64_t number;
	int result = syscull__proc_number(cursor, 10, &number);

	if (result < 0)
		return result;
	if (!syscull__proc_take(cursor, after))
		return SYSCULL_TORN;
	if (number > UINT32_MAX)
		return -ERANGE;
	*ret_number = (uint32_t)number;
	return 0;
}

/* "shared:5" and the like; an unknown one is passed over. */
static int optional_field(struct syscull_mount *mount, const struct syscull_text *word)
{
	static const char *const names[3] = { "shared:", "master:", "propagate_from:" };
	uint32_t *const numbers[3] = { &mount->shared, &mount->master, &mount->propagate_from };

	for (unsigned int i = 0; i < 3; i++) {
		size_t length = strlen(names[i]);
		struct proc_cursor cursor;
		uint64_t number;
		int result;

		if (word->length <= length || memcmp(word->text, names[i], length) != 0)
			continue;
		cursor = (struct proc_cursor){ word->text + length, word->text + word->length };
		result = syscull__proc_number(&cursor, 10, &number);
		if (result < 0)
			return result;
		if (cursor.at != cursor.end)
			return SYSCULL_TORN;
		if (number > UINT32_MAX)
			return -ERANGE;
		*numbers[i] = (uint32_t)number;
		return 0;
	}
	if (word->length == 10 && memcmp(word->text, "unbindable", 10) == 0)
		mount->unbindable = 1;
	return 0;
}

/* id parent major:minor root point options optional... - type source super_options */
int syscull__proc_parse_mount(const struct syscull_text *line, struct syscull_mount *mount)
{
	struct proc_cursor cursor = { line->text, line->text + line->length };
	struct syscull_text word;
	int result;

	memset(mount, 0, sizeof *mount);
	result = number_take(&cursor, ' ', &mount->id);
	if (result == 0)
		result = number_take(&cursor, ' ', &mount->parent);
	if (result == 0)
		result = number_take(&cursor, ':', &mount->dev_major);
	if (result == 0)
		result = number_take(&cursor, ' ', &mount->dev_minor);
	if (result < 0)
		return result;
	if (!word_take(&cursor, &mount->root) || !word_take(&cursor, &mount->point) ||
	    !word_take(&cursor, &mount->options))
		return SYSCULL_TORN;
	for (;;) {
		if (!word_take(&cursor, &word))
			return SYSCULL_TORN;
		if (word.length == 1 && word.text[0] == '-')
			break;
		result = optional_field(mount, &word);
		if (result < 0)
			return result;
	}
	if (!word_take(&cursor, &mount->type) || !word_take(&cursor, &mount->source) ||
	    !word_take(&cursor, &mount->super_options))
		return SYSCULL_TORN;
	return 0;
}

int syscull_proc_mount_next(struct syscull_reader *reader, struct syscull_mount *ret_mount)
{
	struct syscull_text line;
	struct syscull_mount mount;
	int result = syscull_lines_next(reader, &line);

	if (result <= 0)
		return result;
	if (line.flags & SYSCULL_TEXT_UNENDED)
		return SYSCULL_TORN;
	result = syscull__proc_parse_mount(&line, &mount);
	if (result < 0)
		return result;
	*ret_mount = mount;
	return 1;
}

/* hierarchy:controllers:path; the path may have colons */
int syscull__proc_parse_cgroup(const struct syscull_text *line, struct syscull_cgroup *cgroup)
{
	struct proc_cursor cursor = { line->text, line->text + line->length };
	const char *colon;
	int result;

	memset(cgroup, 0, sizeof *cgroup);
	result = number_take(&cursor, ':', &cgroup->hierarchy);
	if (result < 0)
		return result;
	colon = memchr(cursor.at, ':', (size_t)(cursor.end - cursor.at));
	if (colon == NULL)
		return SYSCULL_TORN;
	cgroup->controllers = syscull__proc_ended(cursor.at, colon);
	cgroup->path = syscull__proc_ended(colon + 1, cursor.end);
	return 0;
}

int syscull_proc_cgroup_next(struct syscull_reader *reader, struct syscull_cgroup *ret_cgroup)
{
	struct syscull_text line;
	struct syscull_cgroup cgroup;
	int result = syscull_lines_next(reader, &line);

	if (result <= 0)
		return result;
	if (line.flags & SYSCULL_TEXT_UNENDED)
		return SYSCULL_TORN;
	result = syscull__proc_parse_cgroup(&line, &cgroup);
	if (result < 0)
		return result;
	*ret_cgroup = cgroup;
	return 1;
}
