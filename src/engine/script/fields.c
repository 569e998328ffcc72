/* SPDX-License-Identifier: BSD-2-Clause */
/* What lines about state have in common: KEY=VALUE in any order, and words. */
#include <string.h>

#include "engine/script/script.h"

/* In the width that the member has. */
static void put(void *member, size_t bytes, uint64_t value)
{
	uint32_t value32 = (uint32_t)value;
	uint16_t value16 = (uint16_t)value;

	if (bytes == sizeof value)
		memcpy(member, &value, bytes);
	else if (bytes == sizeof value32)
		memcpy(member, &value32, bytes);
	else
		memcpy(member, &value16, bytes);
}

static int take(struct scan *scan, const struct script_field *field, void *values)
{
	char *member = (char *)values + field->offset;
	uint64_t number = 0;
	uint32_t id = 0;
	int r = 0;

	switch (field->shape) {
	case SCRIPT_NUMBER:
		r = scan_number(scan, &number);
		break;
	case SCRIPT_ID:
		r = script_scan_id(scan, &id);
		number = id;
		break;
	case SCRIPT_TIME:
		r = scan_time(scan, &number);
		break;
	case SCRIPT_HEX:
		r = scan_hex(scan, &number);
		break;
	case SCRIPT_DEVICE:
		r = scan_device(scan, &number);
		break;
	case SCRIPT_WORD:
		number = field->value;
		break;
	case SCRIPT_BUF:
		return scan_text(scan, (struct buf *)(void *)member, false);
	case SCRIPT_ITEM:
		return script_text_item(scan, (enum sys_item)field->value, false);
	case SCRIPT_ITEM_SPLIT:
		return script_text_item(scan, (enum sys_item)field->value, true);
	}
	if (r == 0)
		put(member, field->bytes, number);
	return r;
}

/* "run=, user= or gaps=" */
static int fail(struct scan *scan, const struct script_field *fields)
{
	struct buf text = BUF_INIT;
	int r;

	for (const struct script_field *field = fields; field->key; field++)
		(void)buf_printf(&text, "%s%s", field == fields ? "" : field[1].key ? ", " : " or ", field->key);
	r = text.failed ? script_no_memory(scan) : scan_fail(scan, buf_text(&text));
	buf_done(&text);
	return r;
}

int script_fields(struct scan *scan, const struct script_field *fields, void *values, script_other *other, void *data)
{
	int r = 0;

	while (r == 0 && !scan_done(scan)) {
		const struct script_field *field = fields;

		while (field->key && !scan_literal(scan, field->key))
			field++;
		if (field->key)
			r = take(scan, field, values);
		else
			r = other ? other(scan, data) : fail(scan, fields);
	}
	return r;
}
