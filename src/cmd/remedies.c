/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of remedies, and what a user names of it. */
#include "cmd/remedies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct remedy remedy_table[] = {
	{
		.name = "xattr",
		.only = "off",
		.value = "off",
		.wants_value = true,
		.means = REMEDY_BY_FILTER,
		.rules = "xattr-probe",
		.does = "all attribute look-ups are answered EOPNOTSUPP at once",
		.unsafe = "the program sees no ACL, label, capability or user attribute",
		.output = "ACLs, labels and capabilities are not seen",
	},
	{
		.name = "xattr",
		.means = REMEDY_BY_PRELOAD,
		.rules = "xattr-probe",
		.does = "attributes that a file system cannot have are not asked for again",
		.always = true,
	},
	{
		.name = "closefrom",
		.means = REMEDY_BY_PRELOAD,
		.rules = "fd-sweep",
		.does = "closefrom(3) closes what is open and cannot abort",
		.always = true,
	},
	{
		.name = "nofile",
		.means = REMEDY_BY_PRELOAD,
		.rules = "fd-sweep",
		.does = "questions for the limit of descriptors get highest open one + 1",
		.unsafe = "a program that plans by them, or opens higher ones as it sweeps, is misled",
	},
	{
		.name = "procfs-stdio",
		.means = REMEDY_BY_PRELOAD,
		.rules = "procfs-small-read",
		.does = "streams on procfs and sysfs read a page at a time, not 1,024 bytes",
		.unsafe = "a program that reads the descriptor beside the stream finds it further on",
	},
	{
		.name = "unsupported",
		.means = REMEDY_BY_PRELOAD,
		.rules = "unsupported-retry",
		.does = "copy_file_range, FICLONE, statx refused once are not tried again",
		.unsafe = "a refusal that would have ended (a remount) is still believed",
	},
	{
		.name = "TZ",
		.value = ":/etc/localtime",
		.wants_value = true,
		.means = REMEDY_BY_VARIABLE,
		.rules = "localtime-stat",
		.does = "the time zone is read once",
		.unsafe = "a change of the system's time zone is not seen before the next start",
	},
	{
		.name = "MALLOC_TOP_PAD_",
		.value = "1000000",
		.wants_value = true,
		.means = REMEDY_BY_VARIABLE,
		.rules = "brk-churn",
		.does = "malloc takes and keeps so many bytes more",
	},
	{
		.name = "MALLOC_MMAP_THRESHOLD_",
		.value = "4194304",
		.wants_value = true,
		.means = REMEDY_BY_VARIABLE,
		.rules = "mmap-churn brk-churn",
		.does = "malloc maps only blocks larger than so many bytes on their own",
	},
	{
		.name = "GLIBC_TUNABLES",
		.wants_value = true,
		.means = REMEDY_BY_VARIABLE,
		.rules = "mmap-churn brk-churn",
		.does = "tunables of glibc as given",
		.unsafe = "tunables can do anything",
	},
	{
		.name = "LC_ALL",
		.value = "C",
		.wants_value = true,
		.means = REMEDY_BY_VARIABLE,
		.rules = "exec-startup",
		.does = "no locale is loaded",
		.unsafe = "text is handled as bytes",
		.output = "messages, order and dates are those of that locale",
	},
	{
		.name = "PYTHONUNBUFFERED",
		.means = REMEDY_BY_ABSENCE,
		.rules = "tiny-write",
		.does = "the variable is removed: Python buffers what it prints",
		.unsafe = "whoever waits for single lines gets them later",
	},
	{
		.name = "nofile-soft",
		.value = "1024",
		.wants_value = true,
		.means = REMEDY_BY_LIMIT,
		.rules = "fd-sweep",
		.does = "the soft limit of descriptors (ulimit -Sn)",
		.unsafe = "a program that opens more without raising it fails",
	},
	{
		.name = "nofile-hard",
		.value = "1024",
		.wants_value = true,
		.means = REMEDY_BY_LIMIT,
		.rules = "fd-sweep",
		.does = "both limits of descriptors (ulimit -n)",
		.unsafe = "a program that opens more fails",
	},
	{ .name = NULL },
};

static int unknown(const char *name, struct error *err)
{
	const char *nearest = NULL;
	unsigned least = text_slips(name) + 1;

	for (size_t i = 0; remedy_table[i].name; i++) {
		unsigned distance = text_distance(name, remedy_table[i].name, least);

		if (distance < least) {
			least = distance;
			nearest = remedy_table[i].name;
		}
	}
	if (nearest)
		return error_set(err, EINVAL, "--with: no remedy is called '%s'; did you mean '%s'?", name, nearest);
	return error_set(err, EINVAL, "--with: no remedy is called '%s'; syscull fix --list tells them", name);
}

static const struct remedy *find(const char *name, const char *value)
{
	const struct remedy *any = NULL;

	for (size_t i = 0; remedy_table[i].name; i++) {
		const struct remedy *row = &remedy_table[i];

		if (strcmp(row->name, name) != 0)
			continue;
		if (row->only && value && strcmp(row->only, value) == 0)
			return row;
		if (!row->only)
			any = row;
	}
	return any;
}

static int add_one(struct remedies *remedies, const char *name, const char *value, struct error *err)
{
	const struct remedy *remedy = find(name, value);
	char *owned = NULL;

	if (!remedy)
		return unknown(name, err);
	if (value && !remedy->wants_value)
		return error_set(err, EINVAL, "--with %s: it takes no value '%s'", name, value);
	if (!value && remedy->wants_value && !remedy->value)
		return error_set(err, EINVAL, "--with %s: it wants a value: %s=VALUE", name, name);
	if (remedies_has(remedies, remedy))
		return error_set(err, EINVAL, "--with: '%s' is named twice", name);
	if (remedies->count == REMEDIES_MAX)
		return error_set(err, E2BIG, "--with: at most %d remedies", REMEDIES_MAX);
	if (value) {
		owned = strdup(value);
		if (!owned)
			return error_errno(err, ENOMEM, "--with %s", name);
	}
	remedies->at[remedies->count].remedy = remedy;
	remedies->at[remedies->count].value = owned ? owned : remedy->value;
	remedies->at[remedies->count++].owned = owned;
	return 0;
}

int remedies_add(struct remedies *remedies, const char *list, struct error *err)
{
	char *copy = strdup(list), *rest = copy, *word;
	int r = 0;

	if (!copy)
		return error_errno(err, ENOMEM, "--with");
	if (!*list)
		r = error_set(err, EINVAL, "--with: a name is missing; syscull fix --list tells them");
	while (r == 0 && (word = strsep(&rest, ",")) != NULL) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		r = add_one(remedies, word, value, err);
	}
	free(copy);
	return r;
}

void remedies_add_always(struct remedies *remedies)
{
	for (size_t i = 0; remedy_table[i].name && remedies->count < REMEDIES_MAX; i++) {
		if (!remedy_table[i].always || remedies_has(remedies, &remedy_table[i]))
			continue;
		remedies->at[remedies->count].remedy = &remedy_table[i];
		remedies->at[remedies->count].value = remedy_table[i].value;
		remedies->at[remedies->count++].owned = NULL;
	}
}

bool remedy_serves(const struct remedy *remedy, const char *rule)
{
	const char *at = strstr(remedy->rules, rule);
	size_t bytes = strlen(rule);

	return at && (at == remedy->rules || at[-1] == ' ') && (at[bytes] == '\0' || at[bytes] == ' ');
}

bool remedies_has(const struct remedies *remedies, const struct remedy *remedy)
{
	for (unsigned i = 0; i < remedies->count; i++) {
		if (remedies->at[i].remedy == remedy)
			return true;
	}
	return false;
}

void remedies_done(struct remedies *remedies)
{
	for (unsigned i = 0; i < remedies->count; i++)
		free(remedies->at[i].owned);
	remedies->count = 0;
}

struct remedies remedies_one(const struct remedies *remedies, unsigned index)
{
	struct remedies one = { .count = 1 };

	one.at[0].remedy = remedies->at[index].remedy;
	one.at[0].value = remedies->at[index].value;
	return one;
}

void remedies_print(const struct remedies *remedies, unsigned index, struct buf *text)
{
	(void)buf_puts(text, remedies->at[index].remedy->name);
	if (remedies->at[index].value) {
		(void)buf_putc(text, '=');
		(void)text_shell_word(text, remedies->at[index].value, strlen(remedies->at[index].value), true);
	}
}

void remedies_print_all(const struct remedies *remedies, struct buf *text)
{
	for (unsigned i = 0; i < remedies->count; i++) {
		if (i > 0)
			(void)buf_puts(text, ", ");
		remedies_print(remedies, i, text);
	}
}
