/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

#define ALL_KEYS "[budget], [rule NAME] or [suppress]"

/* In [budget]; what they mean is the budgets' business. */
static const char *const budget_keys[] = { "max", "min", "canary", "strict" };

enum section { SECTION_NONE, SECTION_BUDGET, SECTION_RULE, SECTION_SUPPRESS };

struct parser {
	struct conf *conf;
	const char *name;
	const char *at, *end;
	unsigned line;
	bool only_suppressions;
	enum section section;
	const struct rule *rule; /* of SECTION_RULE */
	struct error first; /* with file and line */
	unsigned first_line;
};

/* The first one stays. */
static void fail(struct parser *parser, unsigned line, const struct error *why)
{
	if (parser->first.code != 0)
		return;
	(void)error_set(&parser->first, why->code, "%s:%u: %s", parser->name, line, why->text);
	parser->first_line = line;
}

static int unknown(const char *what, const char *word, const char *const *names, size_t count, struct error *err)
{
	const char *nearest = NULL;
	unsigned best = text_slips(word) + 1;

	for (size_t i = 0; i < count; i++) {
		unsigned distance = text_distance(word, names[i], best);

		if (distance < best) {
			best = distance;
			nearest = names[i];
		}
	}
	if (nearest)
		return error_set(err, EINVAL, "%s '%s' is not known; did you mean '%s'?", what, word, nearest);
	return error_set(err, EINVAL, "%s '%s' is not known", what, word);
}

/* Each [suppress] is an entry; it is whole when something else begins. */
static int end_section(struct parser *parser, struct error *err)
{
	if (parser->section != SECTION_SUPPRESS)
		return 0;
	return suppress_check(&parser->conf->suppressions, err);
}

static int begin_section(struct parser *parser, const char *name, struct error *err)
{
	static const char *const names[] = { "budget", "rule", "suppress" };

	parser->section = SECTION_NONE;
	if (strcmp(name, "suppress") == 0) {
		parser->section = SECTION_SUPPRESS;
		return suppressions_add(&parser->conf->suppressions, parser->name, parser->line, err);
	}
	if (parser->only_suppressions)
		return error_set(err, EINVAL, "only [suppress] can stand here, not [%s]", name);
	if (strcmp(name, "budget") == 0) {
		parser->section = SECTION_BUDGET;
		return 0;
	}
	if (strncmp(name, "rule", 4) != 0 || (name[4] != ' ' && name[4] != '\t' && name[4] != '\0'))
		return unknown("the section", name, names, sizeof names / sizeof names[0], err);
	name += 4;
	name += strspn(name, " \t");
	if (*name == '\0')
		return error_set(err, EINVAL, "[rule NAME]: the name is missing");
	parser->rule = settings_rule(name, err);
	parser->section = parser->rule ? SECTION_RULE : SECTION_NONE;
	return parser->rule ? 0 : -EINVAL;
}

/* inih shortens names and ignores what follows the bracket; here is seen
 * that a section began even when it has no keys. */
static int read_section(struct parser *parser, const char *line, size_t bytes, struct error *err)
{
	const char *close = memchr(line, ']', bytes), *rest = close ? close + 1 : NULL;
	struct buf name = BUF_INIT;
	int r;

	if (!close)
		return error_set(err, EINVAL, "the ']' is missing");
	while (rest < line + bytes && strchr(" \t\r\n", *rest))
		rest++;
	if (rest < line + bytes && *rest != ';' && *rest != '#')
		return error_set(err, EINVAL, "something stands behind the ']'");
	(void)buf_add(&name, line + 1, (size_t)(close - line - 1));
	r = begin_section(parser, buf_text(&name), err);
	buf_done(&name);
	return r;
}

/* Lines for inih: one each time, whole, not indented (an indented one would
 * be a second value of the key before). */
static char *next_line(char *line, int room, void *data)
{
	struct parser *parser = data;
	const char *from = parser->at, *newline;
	size_t bytes;
	struct error why = { 0 };
	int r = 0;

	if (from >= parser->end || room < 2)
		return NULL;
	parser->line++;
	newline = memchr(from, '\n', (size_t)(parser->end - from));
	parser->at = newline ? newline + 1 : parser->end;
	while (from < parser->at && (*from == ' ' || *from == '\t'))
		from++;
	bytes = (size_t)(parser->at - from);
	if (memchr(from, '\0', bytes))
		r = error_set(&why, EINVAL, "a NUL byte: this is no text");
	else if (bytes >= (size_t)room)
		r = error_set(&why, EINVAL, "a line of more than %d bytes", room - 1);
	else if (bytes > 0 && *from == '[')
		r = end_section(parser, &why) < 0 ? -EINVAL : read_section(parser, from, bytes, &why);
	if (r < 0) {
		fail(parser, parser->line, &why);
		return NULL;
	}
	memcpy(line, from, bytes);
	line[bytes] = '\0';
	return line;
}

static int set_budget(struct parser *parser, const char *key, const char *value, struct error *err)
{
	size_t count = sizeof budget_keys / sizeof budget_keys[0], i = 0;
	struct error why = { 0 };

	while (i < count && strcmp(budget_keys[i], key) != 0)
		i++;
	if (i == count)
		return unknown("the key", key, budget_keys, count, err);
	if (*value == '\0')
		return error_set(err, EINVAL, "%s is empty", key);
	if (!parser->conf->budget || parser->conf->budget(parser->conf->data, key, value, &why) >= 0)
		return 0;
	return error_set(err, why.code ? why.code : EINVAL, "%s", why.text);
}

/* inih's: 1 to go on. */
static int take_value(void *data, const char *section, const char *key, const char *value)
{
	struct parser *parser = data;
	struct error why = { 0 };
	int r = 0;

	(void)section;
	if (parser->first.code != 0)
		return 1;
	switch (parser->section) {
	case SECTION_BUDGET:
		r = set_budget(parser, key, value, &why);
		break;
	case SECTION_RULE:
		r = settings_set(&parser->conf->settings, parser->rule, key, value, &why);
		break;
	case SECTION_SUPPRESS:
		r = suppress_set(&parser->conf->suppressions, key, value, &why);
		break;
	case SECTION_NONE:
	default:
		r = error_set(&why, EINVAL, "'%s' stands before any section: " ALL_KEYS, key);
		break;
	}
	if (r < 0)
		fail(parser, parser->line, &why);
	return 1;
}

static int parse(struct parser *parser, const char *text, size_t bytes, struct error *err)
{
	struct error why = { 0 };
	int bad;

	parser->at = text;
	parser->end = text + bytes;
	if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		parser->at += 3;
	bad = ini_parse_stream(next_line, parser, take_value, parser);
	if (bad > 0 && (parser->first.code == 0 || (unsigned)bad < parser->first_line)) {
		parser->first = (struct error){ 0 };
		(void)error_set(&why, EINVAL, "neither KEY = VALUE, nor a [section], nor a comment");
		fail(parser, (unsigned)bad, &why);
	} else if (bad < 0) {
		(void)error_errno(&parser->first, ENOMEM, "%s", parser->name);
	}
	if (parser->first.code == 0 && end_section(parser, &why) < 0)
		fail(parser, parser->line, &why);
	if (parser->first.code == 0)
		return 0;
	return error_set(err, parser->first.code, "%s", parser->first.text);
}

int conf_parse(struct conf *conf, const char *name, const char *text, size_t bytes, struct error *err)
{
	struct parser parser = { .conf = conf, .name = name };

	return parse(&parser, text, bytes, err);
}

/* One that was not asked for must not make us wait: it may be a pipe. */
static int read_file(const char *path, bool asked, struct buf *buf, struct error *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (asked ? 0 : O_NONBLOCK));
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT && !asked)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, errno, "%s", path);
	if (S_ISDIR(st.st_mode) || (!asked && !S_ISREG(st.st_mode)))
		return error_set(err, EINVAL, "%s is no regular file", path);
	r = buf_read_fd(buf, fd, CONF_BYTES_MAX);
	if (r == -EFBIG)
		return error_set(err, EFBIG, "%s has more than 1 MiB: this is no configuration", path);
	return r < 0 ? error_errno(err, -r, "%s", path) : 0;
}

int conf_load(struct conf *conf, const char *path, struct error *err)
{
	struct buf buf = BUF_INIT;
	int r = read_file(path ? path : CONF_NAME, path, &buf, err);

	if (r == 0) {
		conf->path = path ? path : CONF_NAME;
		r = conf_parse(conf, conf->path, buf.data ? buf.data : "", buf.bytes, err);
	} else if (r == -ENOENT && !path) {
		r = 0;
	}
	buf_done(&buf);
	return r;
}

int conf_load_suppressions(struct conf *conf, const char *path, struct error *err)
{
	struct parser parser = { .conf = conf, .name = path, .only_suppressions = true };
	struct buf buf = BUF_INIT;
	int r = read_file(path, true, &buf, err);

	if (r == 0)
		r = parse(&parser, buf.data ? buf.data : "", buf.bytes, err);
	buf_done(&buf);
	return r;
}

void conf_done(struct conf *conf)
{
	settings_done(&conf->settings);
	suppressions_done(&conf->suppressions);
}
