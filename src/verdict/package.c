/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The book of paths and packages.  dpkg's database is read in
 * package-dpkg.c; here is what was asked and what came out.
 */
#include "verdict/package.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "verdict/package-book.h"

struct package_book *package_book_new(const char *database, bool merged)
{
	struct package_book *book = calloc(1, sizeof *book);

	if (!book)
		return NULL;
	book->merged = merged;
	book->database = database ? strdup(database) : NULL;
	if (database && !book->database) {
		free(book);
		return NULL;
	}
	return book;
}

static void entry_done(struct package_entry *entry)
{
	free(entry->path);
	free(entry->owner);
	free(entry->name);
	free(entry->version);
	free(entry->source);
	free(entry->source_version);
	free(entry->label);
	free(entry->only);
	free(entry->never);
	for (size_t i = 0; i < PACKAGE_SPELLINGS; i++)
		free(entry->spelling[i]);
}

void package_book_free(struct package_book *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->entries.used; i++)
		entry_done(&book->entries.at[i]);
	vec_done(&book->entries);
	free(book->database);
	free(book);
}

bool package_system_merged(void)
{
	char target[8];

	return readlink("/bin", target, sizeof target) > 0;
}

static struct package_entry *find(const struct package_book *book, const char *path)
{
	for (size_t i = 0; i < book->entries.used; i++)
		if (strcmp(book->entries.at[i].path, path) == 0)
			return &book->entries.at[i];
	return NULL;
}

int package_book_want(struct package_book *book, const char *path)
{
	struct package_entry *entry;

	if (!book || !path || path[0] != '/' || find(book, path) || book->entries.used == PACKAGE_PATHS_MAX)
		return 0;
	entry = vec_add(&book->entries);
	if (!entry)
		return -ENOMEM;
	entry->path = strdup(path);
	if (!entry->path) {
		book->entries.used--;
		return -ENOMEM;
	}
	return 0;
}

int package_entry_set(struct package_entry *entry, const char *name, const char *version, const char *source,
		      const char *source_version)
{
	struct buf label = BUF_INIT;

	(void)text_escape(&label, name, strlen(name), 0, false);
	(void)buf_putc(&label, ' ');
	(void)text_escape(&label, version, strlen(version), 0, false);
	entry->name = strdup(name);
	entry->version = strdup(version);
	entry->source = strdup(source);
	entry->source_version = strdup(source_version);
	entry->label = buf_steal(&label);
	buf_done(&label);
	if (!entry->name || !entry->version || !entry->source || !entry->source_version || !entry->label)
		return -ENOMEM;
	entry->package = (struct package){ .name = entry->name,
					   .version = entry->version,
					   .source = entry->source,
					   .source_version = entry->source_version,
					   .label = entry->label };
	entry->known = true;
	return 0;
}

int package_book_add(struct package_book *book, const char *path, const char *name, const char *version,
		     const char *source, const char *source_version)
{
	struct package_entry *entry;
	int r = package_book_want(book, path);

	if (r < 0)
		return r;
	entry = find(book, path);
	if (!entry)
		return -E2BIG;
	entry->looked_up = true;
	return entry->known ? -EEXIST : package_entry_set(entry, name, version, source, source_version);
}

const struct package *package_book_get(const struct package_book *book, const char *path)
{
	const struct package_entry *entry = book && path ? find(book, path) : NULL;

	return entry && entry->known ? &entry->package : NULL;
}
