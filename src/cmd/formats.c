/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/formats.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/text.h"

static int unknown_format(const char *name, struct error *err)
{
	struct buf names = BUF_INIT;
	const char *nearest = NULL;
	unsigned least = 3;
	int r;

	for (size_t i = 0; reporter_list[i]; i++) {
		unsigned distance = text_distance(name, reporter_list[i]->name, least);

		if (distance < least) {
			least = distance;
			nearest = reporter_list[i]->name;
		}
		(void)buf_printf(&names, "%s%s", i ? ", " : "", reporter_list[i]->name);
	}
	if (nearest)
		r = error_set(err, EINVAL, "--format: no format is called '%s'; did you mean '%s'?", name, nearest);
	else
		r = error_set(err, EINVAL, "--format: no format is called '%s'; there are %s", name, buf_text(&names));
	buf_done(&names);
	return r;
}

int formats_add(struct formats *formats, const char *value, struct error *err)
{
	const char *equals = strchr(value, '=');
	size_t bytes = equals ? (size_t)(equals - value) : strlen(value);
	struct format *format = &formats->at[formats->count];
	char name[64];

	if (formats->count == FORMATS_MAX)
		return error_set(err, E2BIG, "--format: at most %d", FORMATS_MAX);
	if (bytes >= sizeof name)
		return error_set(err, EINVAL, "--format: no format has a name like '%.40s...'", value);
	memcpy(name, value, bytes);
	name[bytes] = '\0';
	*format = (struct format){ .reporter = reporter_by_name(name) };
	if (!format->reporter)
		return unknown_format(name, err);
	if (equals && equals[1] == '\0')
		return error_set(err, EINVAL, "--format %s=: the name of a file is missing", name);
	format->target = equals ? equals + 1 : NULL;
	formats->count++;
	return 0;
}

char *formats_expand(const char *target, const char *name, struct error *err)
{
	char host[HOST_NAME_MAX + 1] = "";
	struct buf buf = BUF_INIT;

	for (const char *at = target; *at; at++) {
		if (*at != '%') {
			(void)buf_putc(&buf, *at);
			continue;
		}
		switch (*++at) {
		case 'p':
			(void)buf_printf(&buf, "%d", (int)getpid());
			break;
		case 'n':
			(void)buf_puts(&buf, name && *name ? name : "attached");
			break;
		case 'h':
			if (gethostname(host, sizeof host - 1) < 0 || strchr(host, '/'))
				(void)strcpy(host, "unknown");
			(void)buf_puts(&buf, host);
			break;
		case '%':
			(void)buf_putc(&buf, '%');
			break;
		default:
			(void)error_set(err, EINVAL, "'%s': after '%%' comes p, n, h or %%", target);
			buf_done(&buf);
			return NULL;
		}
	}
	if (buf.failed)
		(void)error_errno(err, ENOMEM, "%s", target);
	return buf_steal(&buf);
}

static int open_one(struct format *format, const char *name, struct error *err)
{
	char *path;
	int r;

	if (format->literal)
		return output_open(&format->output, format->target, err);
	if (!format->target)
		return output_open(&format->output, NULL, err);
	path = formats_expand(format->target, name, err);
	if (!path)
		return err->code ? -err->code : -ENOMEM;
	r = output_open(&format->output, path, err);
	free(path);
	return r;
}

/* Of two reports renamed to one name only the last would be left. */
static int check_places(const struct formats *formats, struct error *err)
{
	for (unsigned i = 0; i < formats->count; i++) {
		const struct output *one = &formats->at[i].output;

		for (unsigned k = i + 1; k < formats->count; k++) {
			const struct output *other = &formats->at[k].output;

			if (one->temporary && other->temporary && strcmp(one->path, other->path) == 0)
				return error_set(err, EINVAL, "two reports would go to %s", one->path);
		}
	}
	return 0;
}

bool formats_has(const struct formats *formats, const char *name)
{
	for (unsigned i = 0; i < formats->count; i++)
		if (strcmp(formats->at[i].reporter->name, name) == 0)
			return true;
	return false;
}

bool formats_bare(const struct formats *formats)
{
	for (unsigned i = 0; i < formats->count; i++) {
		if (!formats->at[i].target)
			return true;
	}
	return formats->count == 0;
}

/* What GitHub shows beside a step is asked for with its annotations. */
static void add_summary(struct formats *formats)
{
	const char *path = output_summary();
	bool wanted = false;

	for (unsigned i = 0; i < formats->count; i++) {
		const struct format *format = &formats->at[i];

		wanted = wanted || strcmp(format->reporter->name, "github") == 0;
		if (path && format->target && strcmp(format->target, path) == 0)
			return;
	}
	if (wanted && path && formats->count < FORMATS_MAX)
		formats->at[formats->count++] =
			(struct format){ .reporter = reporter_by_name("markdown"), .target = path, .literal = true };
}

static int open_all(struct formats *formats, const char *name, struct error *err)
{
	for (unsigned i = 0; i < formats->count; i++) {
		struct format *format = &formats->at[i];
		struct error why = { 0 };
		int r = open_one(format, name, &why);

		if (r < 0 && format->literal) {
			log_line("no summary: %s", why.text);
			output_discard(&format->output);
			*format = formats->at[--formats->count];
			break;
		}
		if (r < 0) {
			*err = why;
			return r;
		}
	}
	return 0;
}

int formats_open(struct formats *formats, const char *output, bool live, const char *name, struct error *err)
{
	struct format *bare = NULL;
	int r;

	if (formats->count == 0 && formats_add(formats, "text", err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < formats->count; i++) {
		struct format *format = &formats->at[i];

		if (format->reporter->verdict && !formats->verdict)
			return error_set(err, EINVAL, "--format %s tells a verdict, which syscull check alone has",
					 format->reporter->name);
		if (format->target)
			continue;
		if (bare)
			return error_set(err, EINVAL,
					 "--format %s and --format %s would go to the same place; "
					 "give one a file: --format %s=FILE",
					 bare->reporter->name, format->reporter->name, format->reporter->name);
		bare = format;
	}
	if (output && !bare)
		return error_set(err, EINVAL, "-o %s: every --format has a file already", output);
	if (bare)
		bare->target = output;
	if (bare && live && bare->reporter->machine && (!output || strcmp(output, "-") == 0))
		return error_set(err, EINVAL, "--format %s needs a file here: --format %s=FILE or -o FILE (or fd:N)",
				 bare->reporter->name, bare->reporter->name);
	add_summary(formats);
	r = open_all(formats, name, err);
	return r < 0 ? r : check_places(formats, err);
}

void formats_open_rest(struct formats *formats, const char *output, const char *name)
{
	unsigned kept = 0;

	add_summary(formats);
	for (unsigned i = 0; i < formats->count; i++) {
		struct format *format = &formats->at[i];
		struct error ignored = { 0 };

		if (!format->target && output && strcmp(output, "-") != 0) {
			format->target = output;
			output = NULL;
		}
		if (!format->target && (format->reporter->machine || !format->reporter->verdict))
			continue;
		if (!format->output.stream && open_one(format, name, &ignored) < 0) {
			output_discard(&format->output);
			continue;
		}
		formats->at[kept++] = *format;
	}
	formats->count = kept;
}

/* "ls-attributes" of "reports/ls-attributes.xml"; "" of what has no name. */
static char *report_name(const struct output *output)
{
	const char *path = output->path && strncmp(output->path, "fd:", 3) != 0 ? output->path : "";
	const char *base = rule_base_name(path), *dot = strrchr(base, '.');

	return strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static int write_one(struct format *format, const struct analysis_result *result, struct report_options *options,
		     enum tty_color color, struct error *err)
{
	struct output *output = &format->output;
	char *name = report_name(output);
	int r;

	options->tty = tty_of(output_fd(output), color);
	options->name = name;
	r = name ? format->reporter->write(output_stream(output), result, options) : -ENOMEM;
	options->name = NULL;
	free(name);
	if (r < 0)
		return error_errno(err, -r, "writing the report%s%s", output->path ? " to " : "",
				   !output->path		       ? ""
				   : strcmp(output->path, "fd:1") == 0 ? "stdout"
								       : output->path);
	return output_close(output, err);
}

int formats_write(struct formats *formats, const struct analysis_result *result, struct report_options *options,
		  enum tty_color color, struct error *err)
{
	struct redacted *redacted = NULL;
	int first = 0;

	if (formats->redact) {
		redacted = redact_result(result, formats->redact);
		/* Rather no report than one that tells. */
		if (!redacted)
			return error_errno(err, ENOMEM, "redacting the report");
		result = redacted_result(redacted);
	}
	for (unsigned i = 0; i < formats->count; i++) {
		struct error why = { 0 };
		int r;

		if (formats->told && !formats->at[i].reporter->machine && !formats->at[i].reporter->verdict)
			continue;
		r = write_one(&formats->at[i], result, options, color, &why);

		if (r == 0)
			continue;
		if (first == 0)
			*err = why;
		else
			log_error(&why);
		first = first ? first : r;
	}
	redacted_free(redacted);
	return first;
}

void formats_discard(struct formats *formats)
{
	for (unsigned i = 0; i < formats->count; i++)
		output_discard(&formats->at[i].output);
}
