/* SPDX-License-Identifier: BSD-2-Clause */
/* The hashing of single texts.  The arithmetic never changes: reports of
 * different versions are compared. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/redact.h"
#include "sys/sys.h"

/* In descriptions of places these are ours or the kernel's (tests/house/test_redact_words.py). */
static const char *const known_words[] = {
	"?",	       "9p",	    "a",	   "about",    "ADD",	    "all",	"and",	     "another",
	"are",	       "around",    "as",	   "asked",    "at",	    "average",	"before",    "below",
	"between",     "btrfs",	    "but",	   "builtin",  "builtins",  "by",	"byte",	     "bytes",
	"call",	       "called",    "calls",	   "cgroup2",  "children",  "cifs",	"code",	     "data",
	"debugfs",     "DEL",	    "descriptors", "device",   "devices",   "devpts",	"devtmpfs",  "different",
	"directories", "directory", "each",	   "else",     "epoll",	    "equal",	"error",     "events",
	"exfat",       "ext2",	    "ext3",	   "ext4",     "f2fs",	    "few",	"file",	     "files",
	"folder",      "folders",   "for",	   "from",     "function",  "fuse",	"fuseblk",   "getrandom",
	"headers",     "heap",	    "hugetlbfs",   "ids",      "if",	    "in",	"is",	     "iso9660",
	"it",	       "item",	    "its",	   "itself",   "kernel",    "known",	"least",     "likely",
	"limit",       "lists",	    "locks",	   "looked",   "made",	    "malloc",	"many",	     "mappings",
	"masks",       "meanwhile", "memory",	   "metadata", "mkdir",	    "MOD",	"mqueue",    "name",
	"names",       "nfs",	    "nfs4",	   "no",       "none",	    "not",	"nothing",   "numbers",
	"of",	       "offsets",   "on",	   "once",     "one",	    "open",	"opened",    "or",
	"other",       "others",    "output",	   "over",     "overlay",   "own",	"path",	     "paths",
	"per",	       "pipe",	    "pipes",	   "place",    "proc",	    "process",	"processes", "program",
	"questions",   "ramfs",	    "random",	   "readlink", "reads",	    "ready",	"remove",    "rootfs",
	"run",	       "runs",	    "same",	   "sampled",  "seen",	    "set",	"several",   "shared",
	"signals",     "size",	    "small",	   "sockets",  "squashfs",  "standard", "start-up",  "starts",
	"stayed",      "stream",    "streams",	   "subshell", "subshells", "syncs",	"sysfs",     "takes",
	"than",	       "that",	    "the",	   "their",    "them",	    "thread",	"threads",   "time",
	"times",       "tmpfs",	    "to",	   "tools",    "tracefs",   "unknown",	"up",	     "vain",
	"vfat",	       "virtiofs",  "was",	   "way",      "whatever",  "which",	"with",	     "without",
	"writes",      "xfs",	    "zfs",
};

/* Of every system and nobody's secret: what our remedies and words name. */
static const char *const system_paths[] = {
	"/dev/random", "/dev/urandom", "/etc/localtime", "/proc/self", "/sys/devices/system/clocksource/clocksource0",
};

void redact_words_init(struct redact_words *words, unsigned set)
{
	static const char *const variables[] = { "USER", "LOGNAME", "SUDO_USER" };
	const char *home = getenv("HOME"), *slash = home ? strrchr(home, '/') : NULL;
	size_t used = 0;

	*words = (struct redact_words){ .set = set, .home = home && *home == '/' ? home : NULL };
	if (gethostname(words->host, sizeof words->host - 1) < 0 || strcmp(words->host, "localhost") == 0)
		words->host[0] = '\0';
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *name = getenv(variables[i]);

		/* root is nobody's secret, and a folder. */
		if (name && *name && strcmp(name, "root") != 0)
			words->users[used++] = name;
	}
	if (slash && slash[1] != '\0' && strcmp(slash + 1, "root") != 0)
		words->users[used++] = slash + 1;
}

static void put_hash(struct buf *buf, const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	hash ^= hash >> 32;
	(void)buf_printf(buf, "_%08" PRIx32, (uint32_t)hash);
}

static bool is(const char *text, size_t bytes, const char *word)
{
	return strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

static bool is_user(const struct redact_words *words, const char *text, size_t bytes)
{
	for (size_t i = 0; i < REDACT_USERS_MAX && words->users[i]; i++)
		if (is(text, bytes, words->users[i]))
			return true;
	return false;
}

static bool ends_with(const char *path, const char *at, const char *tail)
{
	size_t bytes = strlen(tail);

	return (size_t)(at - path) >= bytes && memcmp(at - bytes, tail, bytes) == 0;
}

static void put_component(const struct redact_words *words, struct buf *buf, const char *path, const char *at,
			  size_t bytes)
{
	bool user = is_user(words, at, bytes) || ends_with(path, at, "/home/") || ends_with(path, at, "/run/user/");

	if (is(at, bytes, ".") || is(at, bytes, "..") || is(at, bytes, "?"))
		(void)buf_add(buf, at, bytes);
	else if ((words->set & REDACT_PATHS) || (user && (words->set & REDACT_USERS)))
		put_hash(buf, at, bytes);
	else
		(void)buf_add(buf, at, bytes);
}

/* "/etc/localtime", also in "TZ=:/etc/localtime". */
static bool is_system_path(const char *path, size_t bytes)
{
	const char *slash = memchr(path, '/', bytes);

	if (!slash)
		return false;
	for (const char *at = path; at < slash; at++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ_=:", *at))
			return false;
	bytes -= (size_t)(slash - path);
	for (size_t i = 0; i < sizeof system_paths / sizeof system_paths[0]; i++)
		if (is(slash, bytes, system_paths[i]))
			return true;
	return false;
}

void redact_path(const struct redact_words *words, struct buf *buf, const char *path, size_t bytes)
{
	const char *at = path, *end = path + bytes;

	if (is_system_path(path, bytes)) {
		(void)buf_add(buf, path, bytes);
		return;
	}
	while (at < end) {
		size_t part = 0;

		while (at + part < end && at[part] != '/')
			part++;
		if (part > 0)
			put_component(words, buf, path, at, part);
		at += part;
		if (at < end)
			(void)buf_putc(buf, *at++);
	}
}

void redact_argument(const struct redact_words *words, struct buf *buf, const char *word, size_t bytes, bool first)
{
	const char *slash = memchr(word, '/', bytes), *equals = memchr(word, '=', bytes);

	if (first) {
		redact_path(words, buf, word, bytes);
	} else if (words->set & REDACT_ARGV) {
		put_hash(buf, word, bytes);
	} else if (bytes > 0 && word[0] == '-' && equals) {
		(void)buf_add(buf, word, (size_t)(equals + 1 - word));
		redact_path(words, buf, equals + 1, bytes - (size_t)(equals + 1 - word));
	} else if (bytes > 0 && word[0] == '-' && !slash) {
		(void)buf_add(buf, word, bytes);
	} else {
		redact_path(words, buf, word, bytes);
	}
}

/* Names of attributes that systems use, and what is no name. */
static bool is_attribute(const char *text, size_t bytes)
{
	static const char *const spaces[] = { "security.", "system.", "trusted." };

	if (bytes == 0 || (bytes == 1 && strchr("+-*.:,", *text)))
		return true;
	if (memchr(text, '/', bytes))
		return false;
	for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
		if (bytes > strlen(spaces[i]) && memcmp(text, spaces[i], strlen(spaces[i])) == 0)
			return true;
	return false;
}

/* Up to the quote that ends the string; its beginning is at text[-1]. */
static size_t quoted_bytes(const char *text)
{
	size_t bytes = 0;

	while (text[bytes] && text[bytes] != '"')
		bytes += text[bytes] == '\\' && text[bytes + 1] ? 2 : 1;
	return bytes;
}

static size_t word_bytes(const char *text)
{
	size_t bytes = strcspn(text, " \t\"();");

	/* What ends a sentence or stands in a list is no part of a name. */
	while (bytes > 1 && strchr(",:.", text[bytes - 1]))
		bytes--;
	return bytes;
}

static bool is_number(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!strchr("0123456789,.%", text[i]))
			return false;
	return bytes > 0;
}

/* "openat", "ENOENT", "CLOCK_REALTIME" */
static bool is_constant(const char *text, size_t bytes)
{
	char name[64];

	if (bytes >= sizeof name)
		return false;
	memcpy(name, text, bytes);
	name[bytes] = '\0';
	return sys_call_by_name(name) != CALL_unknown || sys_errno_by_name(name) > 0 || strncmp(name, "CLOCK_", 6) == 0;
}

static bool is_known(const char *text, size_t bytes)
{
	if (is_number(text, bytes) || is_attribute(text, bytes) || is_constant(text, bytes))
		return true;
	for (size_t i = 0; i < sizeof known_words / sizeof known_words[0]; i++)
		if (is(text, bytes, known_words[i]))
			return true;
	return false;
}

static void put_word(const struct redact_words *words, struct buf *buf, const char *word, size_t bytes, bool guarded)
{
	bool foreign = memchr(word, '/', bytes) || (guarded && !is_known(word, bytes)) || is_user(words, word, bytes);

	if (foreign)
		redact_path(words, buf, word, bytes);
	else
		(void)buf_add(buf, word, bytes);
}

/* `quoted`: what stands in quotes is a name or an attribute; else it is our own phrase. */
static void put_text(const struct redact_words *words, struct buf *buf, const char *text, bool guarded, bool quoted)
{
	while (*text) {
		size_t bytes;

		if (*text == '"' && quoted) {
			bytes = quoted_bytes(text + 1);
			(void)buf_putc(buf, *text++);
			if (is_attribute(text, bytes))
				(void)buf_add(buf, text, bytes);
			else
				redact_path(words, buf, text, bytes);
			text += bytes;
			if (*text)
				(void)buf_putc(buf, *text++);
			continue;
		}
		bytes = word_bytes(text);
		if (bytes == 0) {
			(void)buf_putc(buf, *text++);
			continue;
		}
		put_word(words, buf, text, bytes, guarded);
		text += bytes;
	}
}

void redact_prose(const struct redact_words *words, struct buf *buf, const char *text)
{
	put_text(words, buf, text, false, false);
}

void redact_call(const struct redact_words *words, struct buf *buf, const char *text)
{
	put_text(words, buf, text, false, true);
}

void redact_names(const struct redact_words *words, struct buf *buf, const char *text)
{
	put_text(words, buf, text, true, true);
}
