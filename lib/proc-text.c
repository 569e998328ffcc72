/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and named fields in text.  Everything is checked: a number that does
 * not fit is -ERANGE, anything else that is not as expected SYSCULL_TORN.
 */
#include "proc-internal.h"

static inline unsigned int proc_digit(char c, unsigned int base)
{
	unsigned int digit = (unsigned int)(unsigned char)c - '0';

	if (digit < 10 || base <= 10)
		return digit;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 99;
}

/* Made once for each base, which is most of its speed. */
static inline __attribute__((always_inline)) int number_of(struct proc_cursor *cursor, unsigned int base,
							   uint64_t *ret_number)
{
	const char *at = cursor->at;
	uint64_t number = 0;

	for (; at < cursor->end; at++) {
		unsigned int digit = proc_digit(*at, base);

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

int syscull__proc_number(struct proc_cursor *cursor, unsigned int base, uint64_t *ret_number)
{
	switch (base) {
	case 10:
		return number_of(cursor, 10, ret_number);
	case 16:
		return number_of(cursor, 16, ret_number);
	default:
		return number_of(cursor, base, ret_number);
	}
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
	/* Values of smaps stand in a column. */
	while (cursor->end - cursor->at >= 8 && memcmp(cursor->at, "        ", 8) == 0)
		cursor->at += 8;
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

/* Whether the line begins with this name and a colon, which no name has in it. */
static bool is_named(const struct syscull_text *line, const struct proc_field *field)
{
	return line->length > field->length && line->text[field->length] == ':' &&
	       memcmp(field->name, line->text, field->length) == 0;
}

const struct proc_field *syscull__proc_field(const struct proc_field *table, size_t count, size_t *hint,
					     const struct syscull_text *line, struct proc_cursor *ret_value)
{
	/* Fields come in the table's order as a rule, so the first look finds them. */
	size_t at = *hint < count ? *hint : 0;

	for (size_t looks = 0; looks < count; looks++) {
		if (is_named(line, &table[at])) {
			*hint = at + 1;
			ret_value->at = line->text + table[at].length + 1;
			ret_value->end = line->text + line->length;
			syscull__proc_blanks(ret_value);
			return &table[at];
		}
		at = at + 1 < count ? at + 1 : 0;
	}
	return NULL;
}

/* One number of a value, which ends there or at a blank. */
static int one_number(struct proc_cursor *value, unsigned int base, uint64_t *ret)
{
	int result = syscull__proc_number(value, base, ret);

	if (result == 0 && value->at < value->end && *value->at != ' ' && *value->at != '\t')
		return SYSCULL_TORN;
	return result;
}

static int four_numbers(struct proc_cursor *value, uint64_t *ret)
{
	uint64_t found[4];

	for (unsigned int i = 0; i < 4; i++) {
		int result;

		syscull__proc_blanks(value);
		result = one_number(value, 10, &found[i]);
		if (result < 0)
			return result;
	}
	memcpy(ret, found, sizeof found);
	return 0;
}

int syscull__proc_value(const struct proc_field *field, struct proc_cursor *value, uint64_t *numbers)
{
	unsigned int base = field->kind == PROC_HEX ? 16 : field->kind == PROC_OCTAL ? 8 : 10;
	uint64_t found;
	int result;

	if (field->kind == PROC_FOUR)
		return four_numbers(value, &numbers[field->number]);
	if (field->kind == PROC_LETTER) {
		if (value->at == value->end)
			return SYSCULL_TORN;
		numbers[field->number] = (unsigned char)*value->at;
		return 0;
	}
	syscull__proc_blanks(value);
	result = one_number(value, base, &found);
	if (result < 0)
		return result;
	if (field->kind == PROC_KIB) {
		if (value->end - value->at != 3 || memcmp(value->at, " kB", 3) != 0)
			return SYSCULL_TORN;
		if (__builtin_mul_overflow(found, (uint64_t)1024, &found))
			return -ERANGE;
	}
	numbers[field->number] = found;
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
