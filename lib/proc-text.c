/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and named fields in text.  Everything is checked: a number that does
 * not fit is -ERANGE, anything else that is not as expected SYSCULL_TORN.
 */
#include "proc-internal.h"

static unsigned int proc_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return 99;
}

int syscull__proc_number(struct proc_cursor *cursor, unsigned int base, uint64_t *ret_number)
{
	const char *at = cursor->at;
	uint64_t number = 0;

	for (; at < cursor->end; at++) {
		unsigned int digit = proc_digit(*at);

		if (digit >= base)
			break;
		/* Far from the edge, no need to look. */
		if (number >> 59 == 0)
			number = number * base + digit;
		else if (__builtin_mul_overflow(number, (uint64_t)base, &number) ||
			 __builtin_add_overflow(number, (uint64_t)digit, &number))
			return -ERANGE;
	}
	if (at == cursor->at)
		return SYSCULL_TORN;
	cursor->at = at;
	*ret_number = number;
	return 0;
}

bool syscull__proc_take(struct proc_cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

void syscull__proc_blanks(struct proc_cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

const struct proc_field *syscull__proc_field(const struct proc_field *table, size_t count, size_t *hint,
					     const struct syscull_text *line, struct proc_cursor *ret_value)
{
	const char *colon = memchr(line->text, ':', line->length);
	size_t length;

	if (colon == NULL)
		return NULL;
	length = (size_t)(colon - line->text);
	/* Fields come in the table's order as a rule, so the first look finds them. */
	for (size_t i = 0; i < count; i++) {
		const struct proc_field *field = &table[(*hint + i) % count];

		if (field->length == length && memcmp(field->name, line->text, length) == 0) {
			*hint = (size_t)(field - table) + 1;
			ret_value->at = colon + 1;
			ret_value->end = line->text + line->length;
			syscull__proc_blanks(ret_value);
			return field;
		}
	}
	return NULL;
}

int syscull__proc_value(const struct proc_field *field, struct proc_cursor *value, uint64_t *numbers)
{
	unsigned int base = field->kind == PROC_HEX ? 16 : field->kind == PROC_OCTAL ? 8 : 10;
	uint64_t found[4] = { 0, 0, 0, 0 };
	unsigned int count = field->kind == PROC_FOUR ? 4 : 1;

	if (field->kind == PROC_LETTER) {
		if (value->at == value->end)
			return SYSCULL_TORN;
		numbers[field->number] = (unsigned char)*value->at;
		return 0;
	}
	for (unsigned int i = 0; i < count; i++) {
		int result;

		syscull__proc_blanks(value);
		result = syscull__proc_number(value, base, &found[i]);
		if (result < 0)
			return result;
		if (value->at < value->end && *value->at != ' ' && *value->at != '\t')
			return SYSCULL_TORN;
	}
	if (field->kind == PROC_KIB) {
		if (value->end - value->at != 3 || memcmp(value->at, " kB", 3) != 0)
			return SYSCULL_TORN;
		if (__builtin_mul_overflow(found[0], (uint64_t)1024, &found[0]))
			return -ERANGE;
	}
	memcpy(&numbers[field->number], found, count * sizeof found[0]);
	return 0;
}

struct syscull_text syscull__proc_ended(const char *from, const char *to)
{
	struct syscull_text text = { from, (size_t)(to - from), 0, 0 };

	*(char *)to = '\0';
	return text;
}

void syscull__proc_path(char *path, const char *prefix, uint64_t number, const char *suffix)
{
	char digits[20];
	size_t count = 0;
	size_t used = strlen(prefix);

	memcpy(path, prefix, used);
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (count > 0)
		path[used++] = digits[--count];
	memcpy(path + used, suffix, strlen(suffix) + 1);
}
