/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a log, line by line.  One that went to a terminal's stream has
 * other text in the middle of its calls: what strace itself had to say, and
 * what the program wrote there.  Both are taken out, and the call is whole.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/strace/strace.h"

/* What a program wrote into a log at once, at most. */
#define WRITTEN_MAX (1u << 16)

static bool get_line(struct strace_file *file, char **line, size_t *room, size_t *ret_bytes)
{
	ssize_t bytes = getline(line, room, file->stream);

	if (bytes < 0)
		return false;
	if (file->lines++ == 0 && bytes >= 3 && memcmp(*line, "\xef\xbb\xbf", 3) == 0) {
		/* The mark of an editor. */
		bytes -= 3;
		memmove(*line, *line + 3, (size_t)bytes + 1);
	}
	while (bytes > 0 && ((*line)[bytes - 1] == '\n' || (*line)[bytes - 1] == '\r'))
		bytes--;
	*ret_bytes = (size_t)bytes;
	return true;
}

/* Puts the next line behind what is there, after a line break or nothing. */
static bool append_line(struct strace_file *file, const char *between)
{
	size_t gap = strlen(between), bytes;
	char *next = NULL, *both;
	size_t room = 0;
	bool ok = false;

	if (file->bytes > STRACE_LINE_MAX || !get_line(file, &next, &room, &bytes)) {
		free(next);
		return false;
	}
	both = realloc(file->line, file->bytes + gap + bytes + 1);
	if (both) {
		memcpy(both + file->bytes, between, gap);
		memcpy(both + file->bytes + gap, next, bytes);
		file->line = both;
		file->room = file->bytes + gap + bytes + 1;
		file->bytes += gap + bytes;
		file->line[file->bytes] = '\0';
		ok = true;
	}
	free(next);
	return ok;
}

/* "strace: Process 5 attached" at the line's end and behind something: where
 * it begins; the line's length when there is none. */
static size_t message_at(const struct strace_file *file)
{
	static const char word[] = "strace: Process ";
	const char *line = file->line, *end = line + file->bytes, *found = NULL, *p = line;
	struct strace_at at;
	uint64_t tid;

	while ((p = memmem(p, (size_t)(end - p), word, sizeof word - 1)) != NULL)
		found = p++;
	if (!found || found == line)
		return file->bytes;
	at = (struct strace_at){ found + sizeof word - 1, end };
	if (!strace_tid(&at, &tid) || !(strace_literal(&at, " attached") || strace_literal(&at, " detached")) ||
	    at.at != at.end)
		return file->bytes;
	return (size_t)(found - line);
}

/* write(2, "ls: ", 4ls: ) = 4: where what was written stands in it, and how
 * much it is. */
static bool written_at(const struct strace_file *file, size_t *ret_at, size_t *ret_bytes)
{
	struct strace_at at = { file->parts.text, file->parts.end };
	uint64_t bytes = 0;

	if (!strace_literal(&at, "write(") || !strace_skip_argument(&at) || !strace_literal(&at, ", \"") ||
	    (at.at--, !strace_skip_argument(&at)) || !strace_literal(&at, ", "))
		return false;
	if (at.at == at.end || !isdigit((unsigned char)*at.at))
		return false;
	while (at.at < at.end && isdigit((unsigned char)*at.at) && bytes <= WRITTEN_MAX)
		bytes = bytes * 10 + (uint64_t)(*at.at++ - '0');
	*ret_at = (size_t)(at.at - file->line);
	*ret_bytes = (size_t)bytes;
	return bytes > 0 && bytes <= WRITTEN_MAX && !(at.at < at.end && *at.at == ')') && !strace_literal(&at, " <");
}

/* The line's parts; false: nothing that strace writes. */
static bool split(struct strace_file *file)
{
	return strace_line_split(file->line, file->bytes, file->tid == 0, &file->parts);
}

static bool take_out_message(struct strace_file *file)
{
	size_t at = message_at(file), all = file->bytes;

	if (at == all)
		return false;
	file->detached |= file->line[all - 8] == 'd';
	file->bytes = at;
	/* Only the beginning of a line: a message of its own. */
	if (!split(file) || !append_line(file, "")) {
		file->bytes = all;
		return false;
	}
	return true;
}

static void take_out_written(struct strace_file *file)
{
	size_t at, bytes;

	if (!written_at(file, &at, &bytes))
		return;
	while (file->bytes - at < bytes) {
		if (!append_line(file, "\n"))
			return;
	}
	if (file->bytes - at == bytes && file->line[file->bytes - 1] == '\n' && !append_line(file, ""))
		return;
	if (at + bytes < file->bytes && file->line[at + bytes] == ')') {
		memmove(file->line + at, file->line + at + bytes, file->bytes - at - bytes);
		file->bytes -= bytes;
	}
}

/* Of strace -c or -C: the names of its columns alone (the last one is no word of ours). */
static bool is_table_head(const char *text, size_t bytes)
{
	static const char *const columns[] = { "% time",
					       "seconds",
					       "usecs/call",
					       "shortest",
					       "longest",
					       "calls",
					       "errors",
					       "sys"
					       "call",
					       NULL };
	struct strace_at at = { text, text + bytes };
	unsigned count = 0;

	for (;;) {
		size_t i = 0;

		strace_blanks(&at);
		if (at.at == at.end)
			return count > 1;
		while (columns[i] && !strace_literal(&at, columns[i]))
			i++;
		if (!columns[i] || (at.at < at.end && *at.at != ' '))
			return false;
		count++;
	}
}

/* Lines of a table, which hold no calls: its head, a rule of dashes, rows, a
 * rule, the sums. */
static bool in_table(struct strace_file *file)
{
	bool dashes = strspn(file->line, "- ") == file->bytes && file->line[0] == '-';

	if (file->table == STRACE_TABLE_NONE) {
		static const char title[] = "System call usage summary for ";

		if (is_table_head(file->line, file->bytes))
			file->table = STRACE_TABLE_HEAD;
		return file->table != STRACE_TABLE_NONE || strncmp(file->line, title, sizeof title - 1) == 0;
	}
	/* A table that was torn ends where calls go on. */
	if (memchr(file->line, '(', file->bytes) || memchr(file->line, '=', file->bytes))
		file->table = STRACE_TABLE_NONE;
	else if (dashes && file->table < STRACE_TABLE_SUMS)
		file->table++;
	else if (file->table == STRACE_TABLE_HEAD)
		file->table = STRACE_TABLE_NONE;
	else if (file->table == STRACE_TABLE_SUMS) {
		file->table = STRACE_TABLE_NONE;
		return true;
	}
	return file->table != STRACE_TABLE_NONE;
}

bool strace_table_is(const char *text, size_t bytes)
{
	const char *stop = memchr(text, '\n', bytes);

	return stop && is_table_head(text, (size_t)(stop - text));
}

bool strace_read_line(struct strace_file *file)
{
	if (file->ended)
		return false;
	for (;;) {
		if (!get_line(file, &file->line, &file->room, &file->bytes)) {
			file->ended = true;
			return false;
		}
		if (file->bytes == 0)
			continue;
		if (!in_table(file))
			break;
		file->tables = true;
	}
	while (take_out_message(file))
		;
	if (split(file))
		take_out_written(file);
	return true;
}

void strace_rewind(struct strace_file *file)
{
	rewind(file->stream);
	file->lines = 0;
	file->last_ns = 0;
	file->table = STRACE_TABLE_NONE;
	file->ended = file->ready = file->begun = false;
}

/* A stream of its own on what is open already. */
static FILE *again(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *stream = copy >= 0 ? fdopen(copy, "r") : NULL;

	if (!stream && copy >= 0)
		(void)close(copy);
	return stream;
}

static int open_file(struct strace_log *log, const char *path, const int *fd, struct error *err)
{
	struct strace_file *file = &log->files[log->file_count];
	const char *dot = strrchr(path, '.');

	file->name = strdup(path);
	file->stream = !file->name ? NULL : fd ? again(*fd) : fopen(path, "re");
	if (!file->stream)
		return error_errno(err, file->name ? errno : ENOMEM, "%s", path);
	log->file_count++;
	/* The first pass needs a second look. */
	if (fseek(file->stream, 0, SEEK_SET) != 0)
		return error_set(err, ESPIPE, "%s: a log has to be in a file, this cannot be read twice", path);
	/* log.123 of a set */
	if (!fd && dot && dot[1] >= '1' && dot[1] <= '9' && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	    strlen(dot + 1) < 10) {
		struct strace_line line;

		if (strace_read_line(file) && strace_line_split(file->line, file->bytes, true, &line) && line.tid == 0)
			file->tid = (uint32_t)strtoul(dot + 1, NULL, 10);
		strace_rewind(file);
	}
	return 0;
}

/* Those with a number alone behind the dot, to the front; how many they are. */
static size_t keep_numbered(glob_t *found, size_t stem)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->gl_pathc; i++) {
		char *name = found->gl_pathv[i];
		const char *number = name + stem + 1;

		if (number[strspn(number, "0123456789")] != '\0')
			continue;
		found->gl_pathv[i] = found->gl_pathv[kept];
		found->gl_pathv[kept++] = name;
	}
	return kept;
}

/* FILE, or when there is none FILE.1, FILE.2, … of strace -ff. */
int strace_open(struct strace_log *log, const char *path, const int *fd, struct error *err)
{
	struct stat st;
	struct buf pattern = BUF_INIT;
	glob_t found = { 0 };
	size_t count = 0;
	int r = 0;

	if (fd || stat(path, &st) == 0) {
		log->files = calloc(1, sizeof *log->files);
		return log->files ? open_file(log, path, fd, err) : error_errno(err, ENOMEM, "%s", path);
	}
	for (const char *p = path; *p; p++)
		(void)buf_printf(&pattern, "%s%c", strchr("*?[\\", *p) ? "\\" : "", *p);
	(void)buf_puts(&pattern, ".[0-9]*");
	if (!pattern.failed && glob(buf_text(&pattern), 0, NULL, &found) == 0)
		count = keep_numbered(&found, strlen(path));
	if (count == 0)
		r = error_errno(err, ENOENT, "%s", path);
	else if (count > STRACE_FILES_MAX)
		r = error_set(err, E2BIG, "%s: %zu files of one log; at most %d", path, count, STRACE_FILES_MAX);
	if (r == 0) {
		log->files = calloc(count, sizeof *log->files);
		r = log->files ? 0 : error_errno(err, ENOMEM, "%s", path);
	}
	for (size_t i = 0; r == 0 && i < count; i++)
		r = open_file(log, found.gl_pathv[i], NULL, err);
	globfree(&found);
	buf_done(&pattern);
	return r;
}
