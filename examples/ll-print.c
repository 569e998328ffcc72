/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a long listing, byte for byte those of GNU ls in the C locale.
 * Asks nothing of the file system.
 */
#include "ll.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Half a Gregorian year: older times are shown with their year. */
#define HALF_YEAR_S (31556952 / 2)
#define TIME_WIDTH 12

struct widths {
	int links, user, group, size, major, minor;
	bool marks;
};

static struct print_options options;
static struct timespec now;
static bool terminal;

/* printf takes more time than all the calls for a file; these take none worth telling. */
static void put(const char *bytes, size_t length)
{
	(void)fwrite_unlocked(bytes, 1, length, stdout);
}

static void put_blanks(int count)
{
	while (count-- > 0)
		(void)putc_unlocked(' ', stdout);
}

/* Right-aligned, with `end` behind it. */
static void put_number(uint64_t number, int width, char end)
{
	char text[24];
	size_t place = sizeof text;

	text[--place] = end;
	do
		text[--place] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	put_blanks(width - (int)(sizeof text - place - 1));
	put(text + place, sizeof text - place);
}

static void put_unknown(int width)
{
	put_blanks(width - 1);
	put("? ", 2);
}

static int digits(uint64_t number)
{
	int n = 1;

	while (number >= 10) {
		number /= 10;
		n++;
	}
	return n;
}

static int at_least(int width, int other)
{
	return other > width ? other : width;
}

void print_init(const struct print_options *wanted)
{
	options = *wanted;
	terminal = isatty(STDOUT_FILENO);
	tzset();
}

void print_bytes(const char *name)
{
	if (!terminal) {
		put(name, strlen(name));
		return;
	}
	/* Names are foreign: they do not steer the terminal. */
	for (; *name != '\0'; name++)
		(void)putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

void print_quoted(const char *name)
{
	bool quote = strchr(name, '\'') != NULL;

	(void)fputc(quote ? '"' : '\'', stderr);
	for (; *name != '\0'; name++)
		(void)fputc((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name, stderr);
	(void)fputc(quote ? '"' : '\'', stderr);
}

static char type_letter(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return '-';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	default:
		return '?';
	}
}

static char of_dirent(unsigned char type)
{
	return type == DT_UNKNOWN ? '?' : type_letter(DTTOIF(type));
}

static char bit3(uint32_t mode, uint32_t execute, uint32_t special, char letter)
{
	if (mode & special)
		return (char)(mode & execute ? letter : letter - 'a' + 'A');
	return mode & execute ? 'x' : '-';
}

static void print_mode(const struct entry *entry, bool marks)
{
	uint32_t mode = entry->st.mode;
	char text[] = "??????????? ";

	if (entry->stat_ok) {
		text[0] = type_letter(mode);
		text[1] = mode & S_IRUSR ? 'r' : '-';
		text[2] = mode & S_IWUSR ? 'w' : '-';
		text[3] = bit3(mode, S_IXUSR, S_ISUID, 's');
		text[4] = mode & S_IRGRP ? 'r' : '-';
		text[5] = mode & S_IWGRP ? 'w' : '-';
		text[6] = bit3(mode, S_IXGRP, S_ISGID, 's');
		text[7] = mode & S_IROTH ? 'r' : '-';
		text[8] = mode & S_IWOTH ? 'w' : '-';
		text[9] = bit3(mode, S_IXOTH, S_ISVTX, 't');
		text[10] = entry->mark != 0 ? entry->mark : ' ';
	} else {
		text[0] = of_dirent(entry->d_type);
	}
	if (!marks)
		text[10] = ' ';
	put(text, marks ? 12 : 11);
}

static void print_id(const struct entry *entry, const char *(*name_of)(uint32_t), uint32_t id, int width)
{
	const char *name = !entry->stat_ok ? "?" : options.numeric ? NULL : name_of(id);

	if (name == NULL) {
		put_number(id, width, ' ');
		return;
	}
	put(name, strlen(name));
	put_blanks(width + 1 - (int)strlen(name));
}

static int id_width(const struct entry *entry, const char *(*name_of)(uint32_t), uint32_t id)
{
	const char *name = options.numeric ? NULL : name_of(id);

	if (!entry->stat_ok)
		return 1;
	return name != NULL ? (int)strlen(name) : digits(id);
}

static bool device(const struct entry *entry)
{
	return entry->stat_ok && (S_ISCHR(entry->st.mode) || S_ISBLK(entry->st.mode));
}

static void widen(struct widths *widths, const struct entry *entry)
{
	const struct entry_stat *st = &entry->st;

	widths->marks = widths->marks || entry->mark != 0;
	if (!entry->stat_ok) {
		/* Each column has its "?". */
		widths->links = at_least(widths->links, 1);
		widths->user = at_least(widths->user, 1);
		widths->group = at_least(widths->group, 1);
		widths->size = at_least(widths->size, 1);
		return;
	}
	widths->links = at_least(widths->links, digits(st->nlink));
	widths->user = at_least(widths->user, id_width(entry, ids_user, st->uid));
	widths->group = at_least(widths->group, id_width(entry, ids_group, st->gid));
	if (device(entry)) {
		widths->major = at_least(widths->major, digits(st->rdev_major));
		widths->minor = at_least(widths->minor, digits(st->rdev_minor));
		widths->size = at_least(widths->size, widths->major + 2 + widths->minor);
	} else {
		widths->size = at_least(widths->size, digits(st->size));
	}
}

static bool before(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec < other->tv_sec || (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

/* The date and a blank; returns what it took of the line. */
static size_t print_time(const struct entry *entry)
{
	static char text[64];
	static time_t text_minute;
	static size_t text_length;
	static bool text_recent;
	struct timespec when = { .tv_sec = (time_t)entry->st.mtime_s, .tv_nsec = (long)entry->st.mtime_ns };
	struct timespec old;
	struct tm tm;
	bool recent;

	if (!entry->stat_ok) {
		put_unknown(TIME_WIDTH);
		return TIME_WIDTH + 1;
	}
	/* A time in the future may be of a moment after the clock was read. */
	if (before(&now, &when))
		(void)clock_gettime(CLOCK_REALTIME, &now);
	old = (struct timespec){ .tv_sec = now.tv_sec - HALF_YEAR_S, .tv_nsec = now.tv_nsec };
	recent = before(&old, &when) && before(&when, &now);
	/* Files of one folder are often of one minute. */
	if (text_length == 0 || text_recent != recent || when.tv_sec < text_minute || when.tv_sec > text_minute + 59) {
		text_length = localtime_r(&when.tv_sec, &tm) == NULL
				      ? 0
				      : strftime(text, sizeof text, recent ? "%b %e %H:%M " : "%b %e  %Y ", &tm);
		if (text_length == 0)
			return (size_t)printf("%*lld ", TIME_WIDTH, (long long)when.tv_sec);
		text_minute = when.tv_sec - tm.tm_sec;
		text_recent = recent;
	}
	put(text, text_length);
	return text_length;
}

static size_t print_size(const struct entry *entry, const struct widths *widths)
{
	int blanks = widths->size - (widths->major + 2 + widths->minor);
	size_t length = (size_t)widths->size + 1;

	if (!entry->stat_ok) {
		put_unknown(widths->size);
	} else if (!device(entry)) {
		put_number(entry->st.size, widths->size, ' ');
	} else {
		put_number(entry->st.rdev_major, widths->major + at_least(0, blanks), ',');
		put(" ", 1);
		put_number(entry->st.rdev_minor, widths->minor, ' ');
	}
	return length;
}

static void print_name(const struct entry *entry, bool target, size_t column)
{
	if (options.color)
		colors_name(entry, target, column);
	else
		print_bytes(target ? entry->link : entry->name);
}

static void print_entry(const struct entry *entry, const struct widths *widths)
{
	size_t column;

	if (options.color)
		colors_line();
	print_mode(entry, widths->marks);
	if (entry->stat_ok)
		put_number(entry->st.nlink, widths->links, ' ');
	else
		put_unknown(widths->links);
	print_id(entry, ids_user, entry->st.uid, widths->user);
	print_id(entry, ids_group, entry->st.gid, widths->group);
	/* ls counts the column from after the ids; it decides where a wrapped name's line is cleared. */
	column = print_size(entry, widths);
	column += print_time(entry);
	print_name(entry, false, column);
	if (entry->link != NULL) {
		put(" -> ", 4);
		print_name(entry, true, column + strlen(entry->name) + 4);
	}
	put("\n", 1);
}

void print_entries(const struct entries *entries, const struct entries *all)
{
	struct widths widths = { 0 };

	for (size_t i = 0; i < all->count; i++)
		widen(&widths, all->order[i]);
	for (size_t i = 0; i < entries->count; i++)
		print_entry(entries->order[i], &widths);
}
