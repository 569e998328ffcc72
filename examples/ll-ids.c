/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users and groups by id, each looked up once per run, also those that do not
 * exist.  Grows with the number of different ids; beyond MOST they are asked
 * each time, and shown all the same.
 */
#include "ll.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256
#define MOST 65536

struct id {
	struct id *next;
	uint32_t number;
	char name[]; /* empty: none */
};

static struct id *users[BUCKETS], *groups[BUCKETS];
static size_t count;

static const char *look_up(struct id **table, uint32_t number, const char *(*ask)(uint32_t))
{
	struct id **bucket = &table[number % BUCKETS], *id;
	const char *name;
	size_t length;

	for (id = *bucket; id != NULL; id = id->next)
		if (id->number == number)
			return id->name[0] != '\0' ? id->name : NULL;
	name = ask(number);
	if (count >= MOST)
		return name;
	length = name != NULL ? strlen(name) : 0;
	id = malloc(sizeof *id + length + 1);
	if (id == NULL)
		return name;
	id->number = number;
	memcpy(id->name, name != NULL ? name : "", length + 1);
	id->next = *bucket;
	*bucket = id;
	count++;
	return length > 0 ? id->name : NULL;
}

static const char *ask_user(uint32_t number)
{
	const struct passwd *user = getpwuid(number);

	return user != NULL ? user->pw_name : NULL;
}

static const char *ask_group(uint32_t number)
{
	const struct group *group = getgrgid(number);

	return group != NULL ? group->gr_name : NULL;
}

const char *ids_user(uint32_t id)
{
	return look_up(users, id, ask_user);
}

const char *ids_group(uint32_t id)
{
	return look_up(groups, id, ask_group);
}

void ids_done(void)
{
	for (size_t i = 0; i < 2 * (size_t)BUCKETS; i++) {
		struct id **bucket = i < BUCKETS ? &users[i] : &groups[i - BUCKETS];

		while (*bucket != NULL) {
			struct id *next = (*bucket)->next;

			free(*bucket);
			*bucket = next;
		}
	}
	count = 0;
}
