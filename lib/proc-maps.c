/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings: maps, smaps, smaps_rollup, the totals from whichever is cheapest,
 * and the one that an address is in.
 */
#include "proc-internal.h"

#include <fcntl.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define DELETED " (deleted)"

static const struct proc_field smaps_fields[] = {
	PROC_FIELD("Size", SYSCULL_SMAPS_SIZE, PROC_KIB),
	PROC_FIELD("KernelPageSize", SYSCULL_SMAPS_KERNEL_PAGE, PROC_KIB),
	PROC_FIELD("MMUPageSize", SYSCULL_SMAPS_MMU_PAGE, PROC_KIB),
	PROC_FIELD("Rss", SYSCULL_SMAPS_RSS, PROC_KIB),
	PROC_FIELD("Pss", SYSCULL_SMAPS_PSS, PROC_KIB),
	PROC_FIELD("Pss_Dirty", SYSCULL_SMAPS_PSS_DIRTY, PROC_KIB),
	PROC_FIELD("Pss_Anon", SYSCULL_SMAPS_PSS_ANON, PROC_KIB),
	PROC_FIELD("Pss_File", SYSCULL_SMAPS_PSS_FILE, PROC_KIB),
	PROC_FIELD("Pss_Shmem", SYSCULL_SMAPS_PSS_SHMEM, PROC_KIB),
	PROC_FIELD("Shared_Clean", SYSCULL_SMAPS_SHARED_CLEAN, PROC_KIB),
	PROC_FIELD("Shared_Dirty", SYSCULL_SMAPS_SHARED_DIRTY, PROC_KIB),
	PROC_FIELD("Private_Clean", SYSCULL_SMAPS_PRIVATE_CLEAN, PROC_KIB),
	PROC_FIELD("Private_Dirty", SYSCULL_SMAPS_PRIVATE_DIRTY, PROC_KIB),
	PROC_FIELD("Referenced", SYSCULL_SMAPS_REFERENCED, PROC_KIB),
	PROC_FIELD("Anonymous", SYSCULL_SMAPS_ANONYMOUS, PROC_KIB),
	PROC_FIELD("KSM", SYSCULL_SMAPS_KSM, PROC_KIB),
	PROC_FIELD("LazyFree", SYSCULL_SMAPS_LAZY_FREE, PROC_KIB),
	PROC_FIELD("AnonHugePages", SYSCULL_SMAPS_ANON_HUGE, PROC_KIB),
	PROC_FIELD("ShmemPmdMapped", SYSCULL_SMAPS_SHMEM_PMD, PROC_KIB),
	PROC_FIELD("FilePmdMapped", SYSCULL_SMAPS_FILE_PMD, PROC_KIB),
	PROC_FIELD("Shared_Hugetlb", SYSCULL_SMAPS_SHARED_HUGETLB, PROC_KIB),
	PROC_FIELD("Private_Hugetlb", SYSCULL_SMAPS_PRIVATE_HUGETLB, PROC_KIB),
	PROC_FIELD("Swap", SYSCULL_SMAPS_SWAP, PROC_KIB),
	PROC_FIELD("SwapPss", SYSCULL_SMAPS_SWAP_PSS, PROC_KIB),
	PROC_FIELD("Locked", SYSCULL_SMAPS_LOCKED, PROC_KIB),
	PROC_FIELD("THPeligible", SYSCULL_SMAPS_THP_ELIGIBLE, PROC_DECIMAL),
	PROC_FIELD("ProtectionKey", SYSCULL_SMAPS_PROTECTION_KEY, PROC_DECIMAL),
	PROC_FIELD("VmFlags", 63, PROC_TEXT),
};

/* What a sum over mappings makes no sense of. */
#define NOT_ADDITIVE \
	(SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_KERNEL_PAGE) | SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_MMU_PAGE) | \
	 SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_THP_ELIGIBLE) | SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_PROTECTION_KEY))

static void map_name(struct syscull_map *map)
{
	size_t suffix = sizeof DELETED - 1;

	if (map->path.length > suffix && memcmp(map->path.text + map->path.length - suffix, DELETED, suffix) == 0)
		map->flags |= SYSCULL_MAP_DELETED;
}

/* "rwxp" with '-' for what is not so. */
static int map_flags(struct proc_cursor *cursor, uint32_t *ret_flags)
{
	static const char letters[3] = { 'r', 'w', 'x' };
	const char *at = cursor->at;
	uint32_t flags = 0;

	if (cursor->end - at < 4)
		return SYSCULL_TORN;
	for (unsigned int i = 0; i < COUNT(letters); i++) {
		if (at[i] == letters[i])
			flags |= 1U << i;
		else if (at[i] != '-')
			return SYSCULL_TORN;
	}
	if (at[3] == 's')
		flags |= SYSCULL_MAP_SHARED;
	else if (at[3] != 'p')
		return SYSCULL_TORN;
	cursor->at += 4;
	*ret_flags = flags;
	return 0;
}

/* start-end flags offset major:minor inode path */
int syscull__proc_parse_map(const struct syscull_text *line, struct syscull_map *map)
{
	struct proc_cursor cursor = { line->text, line->text + line->length };
	uint64_t major, minor;
	int result;

	memset(map, 0, sizeof *map);
	result = syscull__proc_number(&cursor, 16, &map->start);
	if (result == 0)
		result = syscull__proc_take(&cursor, '-') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = syscull__proc_number(&cursor, 16, &map->end);
	if (result == 0)
		result = syscull__proc_take(&cursor, ' ') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = map_flags(&cursor, &map->flags);
	if (result == 0)
		result = syscull__proc_take(&cursor, ' ') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = syscull__proc_number(&cursor, 16, &map->offset);
	if (result == 0)
		result = syscull__proc_take(&cursor, ' ') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = syscull__proc_number(&cursor, 16, &major);
	if (result == 0)
		result = syscull__proc_take(&cursor, ':') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = syscull__proc_number(&cursor, 16, &minor);
	if (result == 0)
		result = syscull__proc_take(&cursor, ' ') ? 0 : SYSCULL_TORN;
	if (result == 0)
		result = syscull__proc_number(&cursor, 10, &map->inode);
	if (result < 0)
		return result;
	if (major > UINT32_MAX || minor > UINT32_MAX)
		return -ERANGE;
	if (cursor.at < cursor.end && *cursor.at != ' ')
		return SYSCULL_TORN;
	syscull__proc_blanks(&cursor);
	map->dev_major = (uint32_t)major;
	map->dev_minor = (uint32_t)minor;
	map->path = (struct syscull_text){ cursor.at, (size_t)(cursor.end - cursor.at), 0, 0 };
	map_name(map);
	return 0;
}

int syscull_proc_map_next(struct syscull_reader *reader, struct syscull_map *ret_map)
{
	struct syscull_text line;
	struct syscull_map map;
	int result = syscull_lines_next(reader, &line);

	if (result <= 0)
		return result;
	if (line.flags & SYSCULL_TEXT_UNENDED)
		return SYSCULL_TORN;
	result = syscull__proc_parse_map(&line, &map);
	if (result < 0)
		return result;
	*ret_map = map;
	return 1;
}

/* Field names begin with a capital, addresses never do. */
static bool is_field(const struct syscull_text *line)
{
	return line->length == 0 || (line->text[0] >= 'A' && line->text[0] <= 'Z');
}

static int smaps_field(struct syscull_smaps *smaps, const struct syscull_text *line, size_t *hint)
{
	struct proc_cursor value;
	const struct proc_field *field = syscull__proc_field(smaps_fields, COUNT(smaps_fields), hint, line, &value);
	int result;

	if (field == NULL)
		return 0;
	if (field->kind == PROC_TEXT) {
		smaps->vm_flags = (struct syscull_text){ value.at, (size_t)(value.end - value.at), 0, 0 };
		return 0;
	}
	result = syscull__proc_value(field, &value, smaps->numbers);
	if (result == 0)
		smaps->have |= SYSCULL_SMAPS_BIT(field->number);
	return result;
}

/* The line that a record begins with. */
static int smaps_header(struct syscull_reader *reader, struct syscull_text *ret_line)
{
	for (;;) {
		int result = syscull_lines_next(reader, ret_line);

		if (result <= 0)
			return result;
		if (!is_field(ret_line)) {
			reader->state &= ~LINES_RESYNC;
			return 1;
		}
		if (!(reader->state & LINES_RESYNC)) {
			reader->state |= LINES_RESYNC;
			return SYSCULL_TORN;
		}
	}
}

/*
 * The record ends before the next header or at the end of the file, never at a
 * field that happens to be the last one today.  Texts move with the buffer, so
 * they are kept as distances from the pin.
 */
static int smaps_record(struct syscull_reader *reader, struct syscull_smaps *smaps)
{
	struct syscull_text line;
	size_t path_at, flags_at = 0;
	size_t hint = 0;
	int result = smaps_header(reader, &line);
	int error = 0;

	if (result <= 0)
		return result;
	memset(smaps, 0, sizeof *smaps);
	reader->pin = (size_t)(line.text - reader->buffer);
	error = line.flags & SYSCULL_TEXT_UNENDED ? SYSCULL_TORN : syscull__proc_parse_map(&line, &smaps->map);
	path_at = error == 0 ? (size_t)(smaps->map.path.text - line.text) : 0;
	for (;;) {
		const char *base;
		int field;

		result = syscull_lines_next(reader, &line);
		if (result < 0)
			return result;
		if (result == 0)
			break;
		if (!is_field(&line)) {
			syscull__lines_unread(reader, &line);
			break;
		}
		if (line.flags & SYSCULL_TEXT_UNENDED)
			error = SYSCULL_TORN;
		if (error < 0)
			continue;
		/* A record, too, has a limit. */
		base = reader->buffer + reader->pin;
		if ((size_t)(line.text - base) + line.length > reader->limit)
			return SYSCULL_OVER_LIMIT;
		smaps->vm_flags.text = NULL;
		field = smaps_field(smaps, &line, &hint);
		if (smaps->vm_flags.text != NULL)
			flags_at = (size_t)(smaps->vm_flags.text - base);
		if (field < 0)
			error = field;
	}
	if (error == 0 && smaps->have == 0)
		error = SYSCULL_TORN;
	if (error < 0)
		return error;
	smaps->map.path.text = reader->buffer + reader->pin + path_at;
	smaps->vm_flags.text = flags_at != 0 ? reader->buffer + reader->pin + flags_at : NULL;
	return 1;
}

int syscull_proc_smaps_next(struct syscull_reader *reader, struct syscull_smaps *ret_smaps)
{
	struct syscull_smaps smaps;
	int result = smaps_record(reader, &smaps);

	if (result < 0)
		reader->state |= LINES_RESYNC;
	reader->pin = LINES_NO_PIN;
	if (result > 0)
		*ret_smaps = smaps;
	return result;
}

int syscull__proc_parse_rollup(const struct syscull_text *text, struct syscull_smaps *totals)
{
	struct syscull_text rest = *text;
	struct syscull_text line;
	size_t hint = 0;
	int result;

	memset(totals, 0, sizeof *totals);
	if (!syscull_text_next(&rest, '\n', &line))
		return SYSCULL_TORN;
	result = syscull__proc_parse_map(&line, &totals->map);
	if (result < 0)
		return result;
	totals->map.path = syscull__proc_ended(totals->map.path.text, totals->map.path.text + totals->map.path.length);
	while (syscull_text_next(&rest, '\n', &line)) {
		if (line.flags & SYSCULL_TEXT_UNENDED)
			return SYSCULL_TORN;
		result = smaps_field(totals, &line, &hint);
		if (result < 0)
			return result;
	}
	totals->vm_flags.text = NULL;
	totals->vm_flags.length = 0;
	totals->map.source = SYSCULL_SOURCE_ROLLUP;
	return totals->have != 0 ? 0 : SYSCULL_TORN;
}

int syscull_proc_rollup(struct syscull_reader *reader, int process, struct syscull_smaps *ret_totals)
{
	struct syscull_text text;
	struct syscull_smaps totals;
	int result = syscull_whole_file(reader, process, "smaps_rollup", &text);

	if (result > 0)
		result = syscull__proc_parse_rollup(&text, &totals);
	else if (result == 0)
		result = SYSCULL_TORN;
	if (result < 0)
		return result;
	*ret_totals = totals;
	return 1;
}

/* Adds what can be added. */
static int add_up(struct syscull_smaps *totals, const struct syscull_smaps *smaps)
{
	if (totals->have == 0)
		totals->map.start = smaps->map.start;
	totals->map.end = smaps->map.end;
	totals->have |= smaps->have & ~(uint64_t)NOT_ADDITIVE;
	for (unsigned int i = 0; i < COUNT(smaps->numbers); i++)
		if (smaps->have & ~(uint64_t)NOT_ADDITIVE & SYSCULL_SMAPS_BIT(i) &&
		    __builtin_add_overflow(totals->numbers[i], smaps->numbers[i], &totals->numbers[i]))
			return -ERANGE;
	return 0;
}

static int memory_from_smaps(struct syscull_reader *reader, int process, struct syscull_smaps *totals)
{
	struct syscull_smaps smaps;
	int result = syscull_proc_begin(reader, process, "smaps", '\n');

	if (result < 0)
		return result;
	memset(totals, 0, sizeof *totals);
	while ((result = syscull_proc_smaps_next(reader, &smaps)) > 0) {
		result = add_up(totals, &smaps);
		if (result < 0)
			break;
	}
	syscull_lines_end(reader);
	totals->map.path = (struct syscull_text){ "", 0, 0, 0 };
	return result < 0 ? result : totals->have != 0;
}

int syscull_proc_memory(struct syscull_reader *reader, int process, struct syscull_smaps *ret_totals,
			uint32_t *ret_source)
{
	struct syscull_statm statm;
	struct syscull_smaps totals;
	uint32_t source = SYSCULL_SOURCE_ROLLUP;
	int result = syscull_proc_rollup(reader, process, &totals);

	if (result == -ESRCH)
		/* Gone, or without memory: statm tells. */
		return syscull_proc_statm(reader, process, &statm) < 0 ? -ESRCH : 0;
	if (result == -ENOENT) {
		source = SYSCULL_SOURCE_TEXT;
		result = memory_from_smaps(reader, process, &totals);
	}
	if (result <= 0)
		return result;
	*ret_totals = totals;
	if (ret_source != NULL)
		*ret_source = source;
	return 1;
}

/* The kernel's struct procmap_query of 6.11; headers are older. */
struct map_query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start;
	uint64_t end;
	uint64_t map_flags;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t name_size;
	uint32_t build_id_size;
	uint64_t name;
	uint64_t build_id;
};

/* _IOWR('f', 17, struct map_query): read and write, 104 bytes. */
#define MAP_QUERY_REQUEST (3UL << 30 | 104UL << 16 | 'f' << 8 | 17)

static int map_ask(struct syscull_reader *reader, uint64_t address, struct syscull_map *map)
{
	struct map_query query;
	int saved = errno;
	long result;

	memset(&query, 0, sizeof query);
	query.size = sizeof query;
	query.address = address;
	query.name = (uint64_t)(uintptr_t)reader->buffer;
	query.name_size = (uint32_t)(reader->capacity > 65536 ? 65536 : reader->capacity);
	do
		result = KERNEL(SYS_ioctl, (long)reader->fd, MAP_QUERY_REQUEST, &query);
	while (result == -EINTR);
	errno = saved;
	if (result == -ENOENT)
		return 0;
	if (result < 0)
		return (int)result;
	memset(map, 0, sizeof *map);
	map->start = query.start;
	map->end = query.end;
	map->offset = query.offset;
	map->inode = query.inode;
	map->dev_major = query.dev_major;
	map->dev_minor = query.dev_minor;
	/* The kernel's bits are ours: readable, writable, executable, shared. */
	map->flags = (uint32_t)query.map_flags & 15U;
	map->source = SYSCULL_SOURCE_IOCTL;
	if (query.name_size == 0)
		reader->buffer[0] = '\0';
	map->path.text = reader->buffer;
	map->path.length = query.name_size > 0 ? query.name_size - 1 : 0;
	map_name(map);
	return 1;
}

int syscull_proc_map_find(struct syscull_reader *reader, int process, uint64_t address, struct syscull_map *ret_map)
{
	struct syscull_map map;
	int result = syscull_proc_begin(reader, process, "maps", '\n');

	if (result < 0)
		return result;
	/* The page at ffffffffff600000 is in the text alone (6.18): the question does not look there. */
	result = address >> 63 == 0 ? map_ask(reader, address, &map) : -ENOTTY;
	if (result < 0 && result != -ESRCH && result != -EACCES) {
		while ((result = syscull_proc_map_next(reader, &map)) > 0 && map.end <= address)
			continue;
		/* In order of addresses: beyond it, it is not there. */
		if (result > 0 && map.start > address)
			result = 0;
	}
	/* The texts stay: only the descriptor goes. */
	syscull_lines_end(reader);
	if (result > 0)
		*ret_map = map;
	return result;
}
