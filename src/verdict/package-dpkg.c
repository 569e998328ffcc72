/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dpkg's database: diversions say which names to look for, info/NAME.list
 * which package has them, status which version that is.  A database that
 * cannot be read, or is broken, means that nothing is known.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "verdict/package-book.h"

#define DIVERSIONS_MAX (4u << 20)

struct lookup {
	struct package_book *book;
	int database; /* directory */
	struct map names; /* hash of a spelling → uint32_t entry + 1 */
	uint64_t lengths[64]; /* bits: some spelling is so long, mod 4,096 */
	size_t open; /* entries without an owner */
};

/* A text of `bytes`, read line by line. */
struct lines {
	const char *at, *end;
};

static bool next_line(struct lines *lines, const char **ret_line, size_t *ret_bytes)
{
	const char *newline;

	if (lines->at >= lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	*ret_line = lines->at;
	*ret_bytes = (size_t)((newline ? newline : lines->end) - lines->at);
	lines->at = newline ? newline + 1 : lines->end;
	return true;
}

/* The first component is one that merging moves below /usr. */
static bool is_moved(const char *path)
{
	static const char *const roots[] = { "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/libo32/" };

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
		if (strncmp(path, roots[i], strlen(roots[i])) == 0)
			return true;
	return false;
}

/* The other name of the same file where /usr is merged, malloc'ed; NULL: none. */
static char *other_name(const struct package_book *book, const char *path)
{
	struct buf name = BUF_INIT;
	char *ret;

	if (!book->merged)
		return NULL;
	if (strncmp(path, "/usr/", 5) == 0 && is_moved(path + 4))
		return strdup(path + 4);
	if (!is_moved(path))
		return NULL;
	(void)buf_printf(&name, "/usr%s", path);
	ret = buf_steal(&name);
	buf_done(&name);
	return ret;
}

static void spell(struct package_book *book, struct package_entry *entry, const char *path)
{
	for (size_t i = 0; i < PACKAGE_SPELLINGS; i++)
		free(entry->spelling[i]);
	entry->spelling[0] = strdup(path);
	entry->spelling[1] = other_name(book, path);
}

static bool is_name(const struct package_entry *entry, const char *path, const char *other)
{
	return strcmp(entry->path, path) == 0 || (other && strcmp(entry->path, other) == 0);
}

/* One diversion: `by` has its own file at `from`; everybody else's is at `to`. */
static void divert(struct package_book *book, const char *from, const char *to, const char *by)
{
	char *other_from = other_name(book, from), *other_to = other_name(book, to);

	for (size_t i = 0; i < book->entries.used; i++) {
		struct package_entry *entry = &book->entries.at[i];

		if (entry->looked_up)
			continue;
		if (is_name(entry, from, other_from)) {
			free(entry->only);
			entry->only = strdup(strcmp(by, ":") == 0 ? "" : by);
		} else if (is_name(entry, to, other_to)) {
			free(entry->never);
			entry->never = strdup(by);
			spell(book, entry, from);
		}
	}
	free(other_from);
	free(other_to);
}

static int read_diversions(struct lookup *lookup)
{
	struct buf text = BUF_INIT;
	struct lines lines;
	const char *line[3];
	size_t bytes[3];
	int r = buf_read_file(&text, lookup->database, "diversions", DIVERSIONS_MAX);

	lines = (struct lines){ text.data, text.data + text.bytes };
	while (r == 0 && next_line(&lines, &line[0], &bytes[0]) && next_line(&lines, &line[1], &bytes[1]) &&
	       next_line(&lines, &line[2], &bytes[2])) {
		char *from = strndup(line[0], bytes[0]), *to = strndup(line[1], bytes[1]),
		     *by = strndup(line[2], bytes[2]);

		if (from && to && by)
			divert(lookup->book, from, to, by);
		else
			r = -ENOMEM;
		free(from);
		free(to);
		free(by);
	}
	buf_done(&text);
	return r == -ENOENT ? 0 : r;
}

static int index_names(struct lookup *lookup)
{
	struct package_book *book = lookup->book;

	for (size_t i = 0; i < book->entries.used; i++) {
		struct package_entry *entry = &book->entries.at[i];

		if (entry->looked_up)
			continue;
		lookup->open++;
		for (size_t j = 0; j < PACKAGE_SPELLINGS; j++) {
			size_t bytes = entry->spelling[j] ? strlen(entry->spelling[j]) : 0;
			uint32_t *slot;

			if (bytes == 0)
				continue;
			slot = map_put(&lookup->names, map_hash(entry->spelling[j], bytes), NULL);
			if (!slot)
				return -ENOMEM;
			*slot = (uint32_t)i + 1;
			lookup->lengths[bytes / 64 % 64] |= UINT64_C(1) << bytes % 64;
		}
	}
	return 0;
}

/* Lists name packages as "libc6:amd64", diversions as "libc6". */
static bool is_package(const char *owner, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(owner, name, bytes) == 0 && (owner[bytes] == '\0' || owner[bytes] == ':');
}

static void found(struct lookup *lookup, struct package_entry *entry, const char *owner)
{
	if (entry->owner || (entry->only && !is_package(owner, entry->only)) ||
	    (entry->never && is_package(owner, entry->never)))
		return;
	entry->owner = strdup(owner);
	if (entry->owner)
		lookup->open--;
}

static void search_list(struct lookup *lookup, const struct buf *text, const char *owner)
{
	struct lines lines = { text->data, text->data + text->bytes };
	const char *line;
	size_t bytes;

	while (next_line(&lines, &line, &bytes)) {
		const uint32_t *slot;
		struct package_entry *entry;

		if (!(lookup->lengths[bytes / 64 % 64] >> bytes % 64 & 1))
			continue;
		slot = map_get(&lookup->names, map_hash(line, bytes));
		if (!slot)
			continue;
		entry = &lookup->book->entries.at[*slot - 1];
		for (size_t i = 0; i < PACKAGE_SPELLINGS; i++)
			if (entry->spelling[i] && strlen(entry->spelling[i]) == bytes &&
			    memcmp(entry->spelling[i], line, bytes) == 0)
				found(lookup, entry, owner);
	}
}

/* Does the package's name begin as that of a file that is looked for, or has it what everybody runs? */
static bool is_likely(const struct lookup *lookup, const char *package)
{
	static const char *const often[] = { "coreutils.", "libc6:", "bash.",	    "dash.",  "findutils.",
					     "grep.",	   "sed.",   "util-linux.", "procps." };

	for (size_t i = 0; i < sizeof often / sizeof *often; i++)
		if (strncmp(package, often[i], strlen(often[i])) == 0)
			return true;
	for (size_t i = 0; i < lookup->book->entries.used; i++) {
		const struct package_entry *entry = &lookup->book->entries.at[i];
		const char *slash = strrchr(entry->path, '/'), *base = slash ? slash + 1 : entry->path;

		if (!entry->looked_up && !entry->owner &&
		    strncmp(package, base, strncmp(base, "lib", 3) == 0 ? 5 : 3) == 0)
			return true;
	}
	return false;
}

static void search_lists(struct lookup *lookup)
{
	int fd = openat(lookup->database, "info", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t begin_ns = clock_now_ns();
	struct buf text = BUF_INIT;
	struct dirent *item;
	size_t total = 0;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	/* There are a thousand lists and more, and a file is mostly in a likely one; the second time
	 * all are read, these few too, for what is likely changes with what was found. */
	for (int all = 0; all < 2 && lookup->open > 0; all++) {
		rewinddir(dir);
		while (lookup->open > 0 && (item = readdir(dir))) {
			size_t bytes = strlen(item->d_name);

			if (bytes < 6 || strcmp(item->d_name + bytes - 5, ".list") != 0 ||
			    (!all && !is_likely(lookup, item->d_name)))
				continue;
			buf_clear(&text);
			if (buf_read_file(&text, fd, item->d_name, PACKAGE_LIST_MAX) < 0)
				continue;
			total += text.bytes;
			item->d_name[bytes - 5] = '\0';
			search_list(lookup, &text, item->d_name);
			if (total > PACKAGE_LISTS_MAX || clock_now_ns() - begin_ns > PACKAGE_READ_NS)
				break;
		}
	}
	buf_done(&text);
	(void)closedir(dir);
}

enum field { FIELD_PACKAGE, FIELD_STATUS, FIELD_ARCHITECTURE, FIELD_SOURCE, FIELD_VERSION, FIELD_COUNT };

/* The fields that matter of one stanza, as pieces of the file. */
struct stanza {
	struct {
		const char *at;
		size_t bytes;
	} field[FIELD_COUNT];
};

static void read_field(struct stanza *stanza, const char *line, size_t bytes)
{
	static const char *const names[FIELD_COUNT] = { "Package:", "Status:", "Architecture:", "Source:", "Version:" };

	for (size_t i = 0; i < FIELD_COUNT; i++) {
		size_t skip = strlen(names[i]);

		/* Most lines are of others: their first letter tells. */
		if (bytes <= skip || (line[0] | 0x20) != (names[i][0] | 0x20) || strncasecmp(line, names[i], skip) != 0)
			continue;
		while (skip < bytes && (line[skip] == ' ' || line[skip] == '\t'))
			skip++;
		while (bytes > skip && (line[bytes - 1] == ' ' || line[bytes - 1] == '\t'))
			bytes--;
		stanza->field[i].at = line + skip;
		stanza->field[i].bytes = bytes - skip;
		return;
	}
}

static char *field_text(const struct stanza *stanza, enum field field)
{
	return stanza->field[field].at ? strndup(stanza->field[field].at, stanza->field[field].bytes) : NULL;
}

static bool is_owner(const struct stanza *stanza, const char *owner)
{
	size_t name = stanza->field[FIELD_PACKAGE].bytes, arch = stanza->field[FIELD_ARCHITECTURE].bytes;

	if (!stanza->field[FIELD_PACKAGE].at || strncmp(owner, stanza->field[FIELD_PACKAGE].at, name) != 0)
		return false;
	if (owner[name] == '\0')
		return true;
	return owner[name] == ':' && stanza->field[FIELD_ARCHITECTURE].at && strlen(owner + name + 1) == arch &&
	       memcmp(owner + name + 1, stanza->field[FIELD_ARCHITECTURE].at, arch) == 0;
}

/* Source is left out where it is the package's own name, and its version, in
 * brackets, where that is the package's. */
static int fill(struct package_entry *entry, const struct stanza *stanza)
{
	char *name = field_text(stanza, FIELD_PACKAGE), *version = field_text(stanza, FIELD_VERSION);
	char *source = field_text(stanza, FIELD_SOURCE), *bracket = source ? strchr(source, '(') : NULL;
	int r = name && version ? 0 : -ENOMEM;

	if (bracket) {
		char *end = strchr(bracket, ')');

		if (end)
			*end = '\0';
		*bracket++ = '\0';
		source[strcspn(source, " ")] = '\0';
	}
	if (r == 0)
		r = package_entry_set(entry, name, version, source ? source : name,
				      bracket && *bracket ? bracket : version);
	free(name);
	free(version);
	free(source);
	return r;
}

static bool is_installed(const struct stanza *stanza)
{
	static const char *const not_there[] = { " not-installed", " config-files" };
	const char *status = stanza->field[FIELD_STATUS].at;
	size_t bytes = stanza->field[FIELD_STATUS].bytes;

	for (size_t i = 0; status && i < sizeof not_there / sizeof *not_there; i++) {
		size_t end = strlen(not_there[i]);

		if (bytes >= end && memcmp(status + bytes - end, not_there[i], end) == 0)
			return false;
	}
	return status && stanza->field[FIELD_VERSION].at;
}

static int use_stanza(struct package_book *book, const struct stanza *stanza)
{
	int r = 0;

	for (size_t i = 0; i < book->entries.used && r == 0; i++) {
		struct package_entry *entry = &book->entries.at[i];

		if (entry->owner && !entry->known && is_owner(stanza, entry->owner) && is_installed(stanza))
			r = fill(entry, stanza);
	}
	return r;
}

static int read_status(struct lookup *lookup)
{
	struct stanza stanza = { 0 };
	struct buf text = BUF_INIT;
	struct lines lines;
	const char *line;
	size_t bytes;
	int r = buf_read_file(&text, lookup->database, "status", PACKAGE_STATUS_MAX);

	lines = (struct lines){ text.data, text.data + text.bytes };
	while (r == 0 && next_line(&lines, &line, &bytes)) {
		read_field(&stanza, line, bytes);
		if (bytes > 0 && lines.at < lines.end)
			continue;
		r = use_stanza(lookup->book, &stanza);
		stanza = (struct stanza){ 0 };
	}
	buf_done(&text);
	return r == -ENOMEM ? r : 0;
}

static int look_up(struct lookup *lookup)
{
	struct package_book *book = lookup->book;
	int r;

	for (size_t i = 0; i < book->entries.used; i++)
		if (!book->entries.at[i].looked_up)
			spell(book, &book->entries.at[i], book->entries.at[i].path);
	/* Not to know the diversions would be to name the wrong owner. */
	r = read_diversions(lookup);
	if (r == 0)
		r = index_names(lookup);
	if (r == 0 && lookup->open > 0) {
		search_lists(lookup);
		r = read_status(lookup);
	}
	return r == -ENOMEM ? r : 0;
}

int package_book_read(struct package_book *book)
{
	struct lookup lookup = { .book = book };
	bool any = false;
	int r = 0;

	for (size_t i = 0; book && i < book->entries.used; i++)
		any = any || !book->entries.at[i].looked_up;
	if (!any)
		return 0;
	map_init(&lookup.names, sizeof(uint32_t), 0);
	lookup.database = book->database ? open(book->database, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (lookup.database >= 0) {
		r = look_up(&lookup);
		(void)close(lookup.database);
	}
	for (size_t i = 0; i < book->entries.used; i++)
		book->entries.at[i].looked_up = true;
	map_done(&lookup.names);
	return r;
}
