/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LS_COLORS as GNU ls reads and applies it in a long listing.  Decides which
 * attribute and link look-ups colours need, and makes none.
 */
#include "ll.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum color {
	C_LEFT,
	C_RIGHT,
	C_END,
	C_RESET,
	C_NORMAL,
	C_FILE,
	C_DIR,
	C_LINK,
	C_FIFO,
	C_SOCK,
	C_BLOCK,
	C_CHAR,
	C_MISSING,
	C_ORPHAN,
	C_EXEC,
	C_DOOR,
	C_SETUID,
	C_SETGID,
	C_STICKY,
	C_OTHER_WRITABLE,
	C_STICKY_OTHER_WRITABLE,
	C_CAPABILITY,
	C_LINKS,
	C_CLEAR,
	C_COUNT
};

struct sequence {
	const char *bytes; /* NULL: none */
	size_t length;
};

struct suffix {
	struct suffix *next;
	struct sequence name, color;
};

#define SEQUENCE(text) \
	{ \
		text, sizeof(text) - 1 \
	}

static const char keys[C_COUNT][3] = { "lc", "rc", "ec", "rs", "no", "fi", "di", "ln", "pi", "so", "bd", "cd",
				       "mi", "or", "ex", "do", "su", "sg", "st", "ow", "tw", "ca", "mh", "cl" };

static struct sequence colors[C_COUNT] = {
	[C_LEFT] = SEQUENCE("\033["),
	[C_RIGHT] = SEQUENCE("m"),
	[C_RESET] = SEQUENCE("0"),
	[C_DIR] = SEQUENCE("01;34"),
	[C_LINK] = SEQUENCE("01;36"),
	[C_FIFO] = SEQUENCE("33"),
	[C_SOCK] = SEQUENCE("01;35"),
	[C_BLOCK] = SEQUENCE("01;33"),
	[C_CHAR] = SEQUENCE("01;33"),
	[C_EXEC] = SEQUENCE("01;32"),
	[C_DOOR] = SEQUENCE("01;35"),
	[C_SETUID] = SEQUENCE("37;41"),
	[C_SETGID] = SEQUENCE("30;43"),
	[C_STICKY] = SEQUENCE("37;44"),
	[C_OTHER_WRITABLE] = SEQUENCE("34;42"),
	[C_STICKY_OTHER_WRITABLE] = SEQUENCE("30;42"),
	[C_CLEAR] = SEQUENCE("\033[K"),
};

static struct suffix *suffixes;
static char *buffer; /* what the sequences point into */
static bool links_as_targets, used;
static size_t line_width = 80;

static bool colored(enum color color)
{
	const struct sequence *s = &colors[color];

	return !(s->length == 0 || (s->length == 1 && s->bytes[0] == '0') ||
		 (s->length == 2 && memcmp(s->bytes, "00", 2) == 0));
}

static int digit(char c, unsigned int base)
{
	unsigned int value = c >= '0' && c <= '9'   ? (unsigned int)(c - '0')
			     : c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10
			     : c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10
						    : 99;

	return value < base ? (int)value : -1;
}

/* What stands behind a backslash or a '^'; *p is behind that, and is left behind the whole. */
static bool read_escape(const char **p, char *ret_byte)
{
	static const char from[] = "abefnrtv?_", to[] = "\a\b\033\f\n\r\t\v\177 ";
	unsigned int base = **p == 'x' || **p == 'X' ? 16 : 8, value = 0;
	const char *known;

	if (**p == '\0')
		return false;
	if (base == 16 || digit(**p, 8) >= 0) {
		for (*p += base == 16; digit(**p, base) >= 0; (*p)++)
			value = value * base + (unsigned int)digit(**p, base);
		*ret_byte = (char)value;
		return true;
	}
	known = strchr(from, **p);
	*ret_byte = known != NULL ? to[known - from] : **p;
	(*p)++;
	return true;
}

static bool read_control(const char **p, char *ret_byte)
{
	if (**p == '?')
		*ret_byte = 0177;
	else if (**p >= '@' && **p <= '~')
		*ret_byte = (char)(**p & 037);
	else
		return false;
	(*p)++;
	return true;
}

/* One key or sequence, up to ':' or the end, and for keys also '='.  Returns false when it cannot be read. */
static bool read_sequence(const char **p, bool key, char **write, struct sequence *ret_sequence)
{
	char *begin = *write;

	while (**p != '\0' && **p != ':' && !(key && **p == '=')) {
		char c = *(*p)++;

		if (c == '\\' ? !read_escape(p, &c) : c == '^' && !read_control(p, &c))
			return false;
		*(*write)++ = c;
	}
	*ret_sequence = (struct sequence){ begin, (size_t)(*write - begin) };
	return true;
}

/* One element, "*.c=01" or "di=01".  Returns false when it cannot be read. */
static bool read_element(const char **p, char **write)
{
	struct suffix *suffix;
	const char *key;

	if (**p == '*') {
		suffix = malloc(sizeof *suffix);
		if (suffix == NULL)
			return false;
		suffix->next = suffixes;
		suffixes = suffix;
		suffix->color = (struct sequence){ 0 };
		(*p)++;
		return read_sequence(p, true, write, &suffix->name) && *(*p)++ == '=' &&
		       read_sequence(p, false, write, &suffix->color);
	}
	if ((*p)[0] == '\0' || (*p)[1] == '\0' || (*p)[2] != '=')
		return false;
	key = *p;
	*p += 3;
	for (int color = 0; color < C_COUNT; color++) {
		if (memcmp(key, keys[color], 2) == 0) {
			if (read_sequence(p, false, write, &colors[color]))
				return true;
			break;
		}
	}
	(void)fprintf(stderr, "ll: unrecognized prefix: '%.2s'\n", key);
	return false;
}

static void find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
		line_width = size.ws_col;
	} else if (columns != NULL && *columns != '\0') {
		char *end;
		unsigned long width = strtoul(columns, &end, 10);

		if (*end == '\0')
			line_width = width;
	}
}

bool colors_init(void)
{
	const char *text = getenv("LS_COLORS"), *terminal = getenv("TERM"), *other = getenv("COLORTERM");
	char *write;

	find_width();
	if (text == NULL || *text == '\0')
		return (other != NULL && *other != '\0') ||
		       (terminal != NULL && *terminal != '\0' && strcmp(terminal, "dumb") != 0);
	buffer = write = malloc(strlen(text) + 1);
	if (buffer == NULL)
		return false;
	while (*text != '\0') {
		if (*text == ':') {
			text++;
		} else if (!read_element(&text, &write)) {
			(void)fputs("ll: unparsable value for LS_COLORS environment variable\n", stderr);
			return false;
		}
	}
	links_as_targets = colors[C_LINK].length == 6 && memcmp(colors[C_LINK].bytes, "target", 6) == 0;
	return true;
}

bool colors_want_links(void)
{
	return colored(C_ORPHAN) || (colored(C_EXEC) && links_as_targets) || colored(C_MISSING);
}

bool colors_want_capabilities(void)
{
	return colored(C_CAPABILITY);
}

static void put(const struct sequence *s)
{
	if (s->bytes != NULL)
		(void)fwrite(s->bytes, 1, s->length, stdout);
}

static void put_around(const struct sequence *s)
{
	put(&colors[C_LEFT]);
	put(s);
	put(&colors[C_RIGHT]);
}

static void put_reset(void)
{
	if (colors[C_END].bytes != NULL)
		put(&colors[C_END]);
	else
		put_around(&colors[C_RESET]);
}

/* The very first color of a run comes after a reset. */
static void begin(void)
{
	if (!used)
		put_reset();
	used = true;
}

void colors_line(void)
{
	if (!colored(C_NORMAL))
		return;
	begin();
	put_around(&colors[C_NORMAL]);
}

static enum color of_regular(const struct entry *entry, uint32_t mode)
{
	if (mode & S_ISUID && colored(C_SETUID))
		return C_SETUID;
	if (mode & S_ISGID && colored(C_SETGID))
		return C_SETGID;
	if (colored(C_CAPABILITY) && entry->capability)
		return C_CAPABILITY;
	if (mode & (S_IXUSR | S_IXGRP | S_IXOTH) && colored(C_EXEC))
		return C_EXEC;
	if (entry->st.nlink > 1 && colored(C_LINKS))
		return C_LINKS;
	return C_FILE;
}

static enum color of_directory(uint32_t mode)
{
	if (mode & S_ISVTX && mode & S_IWOTH && colored(C_STICKY_OTHER_WRITABLE))
		return C_STICKY_OTHER_WRITABLE;
	if (mode & S_IWOTH && colored(C_OTHER_WRITABLE))
		return C_OTHER_WRITABLE;
	if (mode & S_ISVTX && colored(C_STICKY))
		return C_STICKY;
	return C_DIR;
}

static enum color of_mode(const struct entry *entry, uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return of_regular(entry, mode);
	case S_IFDIR:
		return of_directory(mode);
	case S_IFLNK:
		return C_LINK;
	case S_IFIFO:
		return C_FIFO;
	case S_IFSOCK:
		return C_SOCK;
	case S_IFBLK:
		return C_BLOCK;
	case S_IFCHR:
		return C_CHAR;
	default:
		return C_ORPHAN;
	}
}

static enum color of_dirent(unsigned char type)
{
	switch (type) {
	case DT_FIFO:
		return C_FIFO;
	case DT_CHR:
		return C_CHAR;
	case DT_DIR:
		return C_DIR;
	case DT_BLK:
		return C_BLOCK;
	case DT_REG:
		return C_FILE;
	case DT_LNK:
		return C_LINK;
	case DT_SOCK:
		return C_SOCK;
	default:
		return C_ORPHAN;
	}
}

static const struct sequence *sequence_of(const struct entry *entry, bool target)
{
	const char *name = target ? entry->link : entry->name;
	bool missing = target && !entry->link_ok;
	uint32_t mode = target || (links_as_targets && entry->link_ok) ? entry->link_mode : entry->st.mode;
	enum color color;

	if (missing && colored(C_MISSING))
		color = C_MISSING;
	else if (!entry->stat_ok)
		color = of_dirent(entry->d_type);
	else
		color = of_mode(entry, mode);
	if (color == C_FILE) {
		size_t length = strlen(name);

		for (const struct suffix *suffix = suffixes; suffix != NULL; suffix = suffix->next)
			if (suffix->name.length <= length && strncasecmp(name + length - suffix->name.length,
									 suffix->name.bytes, suffix->name.length) == 0)
				return suffix->color.bytes != NULL ? &suffix->color : NULL;
	}
	if (color == C_LINK && !target && !entry->link_ok && (links_as_targets || colored(C_ORPHAN)))
		color = C_ORPHAN;
	return colors[color].bytes != NULL ? &colors[color] : NULL;
}

void colors_name(const struct entry *entry, bool target, size_t column)
{
	const struct sequence *color = sequence_of(entry, target);
	const char *name = target ? entry->link : entry->name;

	if (color != NULL) {
		begin();
		if (colored(C_NORMAL))
			put_around(&(struct sequence){ 0 });
		put_around(color);
	}
	print_bytes(name);
	if (color == NULL && !colored(C_NORMAL))
		return;
	begin();
	put_reset();
	/* A line that wraps keeps the background of the color without this. */
	if (line_width > 0 && column / line_width != (column + strlen(name) - 1) / line_width)
		put(&colors[C_CLEAR]);
}

void colors_done(void)
{
	bool plain = colors[C_LEFT].length == 2 && memcmp(colors[C_LEFT].bytes, "\033[", 2) == 0 &&
		     colors[C_RIGHT].length == 1 && colors[C_RIGHT].bytes[0] == 'm';

	if (used && !plain)
		put_around(&(struct sequence){ 0 });
	while (suffixes != NULL) {
		struct suffix *next = suffixes->next;

		free(suffixes);
		suffixes = next;
	}
	free(buffer);
}
