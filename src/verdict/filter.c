/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/filter.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"

void filter_done(struct filter *filter)
{
	for (size_t i = 0; i < filter->paths.used; i++)
		free(filter->paths.at[i].text);
	for (size_t i = 0; i < filter->said.used; i++)
		free(filter->said.at[i]);
	vec_done(&filter->paths);
	vec_done(&filter->said);
}

static int say(struct filter *filter, const char *option, const char *value, struct error *err)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)buf_puts(&buf, option);
	if (value)
		(void)buf_printf(&buf, " %s", value);
	text = buf_steal(&buf);
	if (!text || !vec_push(&filter->said, text)) {
		free(text);
		return error_errno(err, ENOMEM, "%s", option);
	}
	return 0;
}

int filter_add_calls(struct filter *filter, const char *expression, struct error *err)
{
	struct error why = { 0 };

	if (sys_expr_add(&filter->calls, expression, &why) < 0)
		return error_set(err, EINVAL, "-e: %s", why.text);
	filter->by_call = true;
	return say(filter, "-e", expression, err);
}

/* As the model writes paths: "." and double slashes go, ".." stays. */
static char *absolute(const char *path)
{
	char here[PATH_MAX];
	struct buf buf = BUF_INIT;
	const char *part;

	if (*path != '/') {
		if (!getcwd(here, sizeof here))
			return NULL;
		(void)buf_puts(&buf, strcmp(here, "/") == 0 ? "" : here);
	}
	for (part = path; *(part += strspn(part, "/"));) {
		size_t bytes = strcspn(part, "/");

		if (bytes != 1 || *part != '.') {
			(void)buf_putc(&buf, '/');
			(void)buf_add(&buf, part, bytes);
		}
		part += bytes;
	}
	if (buf.bytes == 0)
		(void)buf_putc(&buf, '/');
	return buf_steal(&buf);
}

/* Takes the text over. */
static int add_text(struct filter *filter, char *text)
{
	struct filter_path path = { .text = text };

	if (!text)
		return -ENOMEM;
	path.hash = map_hash(text, strlen(text));
	for (size_t i = 0; i < filter->paths.used; i++) {
		if (strcmp(filter->paths.at[i].text, text) == 0) {
			free(text);
			return 0;
		}
	}
	if (vec_push(&filter->paths, path))
		return 0;
	free(text);
	return -ENOMEM;
}

int filter_add_path(struct filter *filter, const char *path, struct error *err)
{
	char *real;

	if (*path == '\0')
		return error_set(err, EINVAL, "-P wants a path");
	if (filter->paths.used + 2 > FILTER_PATHS_MAX)
		return error_set(err, E2BIG, "-P: at most %d paths", FILTER_PATHS_MAX / 2);
	if (add_text(filter, absolute(path)) < 0)
		return error_errno(err, ENOMEM, "-P %s", path);
	real = realpath(path, NULL);
	if (real && add_text(filter, real) < 0)
		return error_errno(err, ENOMEM, "-P %s", path);
	return say(filter, "-P", path, err);
}

int filter_set_failed(struct filter *filter, struct error *err)
{
	if (filter->failed)
		return 0;
	filter->failed = true;
	return say(filter, "--failed", NULL, err);
}

bool filter_has_call(const struct filter *filter, enum sys_call_id id, int err)
{
	return sys_expr_has(&filter->calls, id) && (!filter->failed || err != 0);
}

static bool has_text(const struct filter *filter, const char *text, uint64_t hash)
{
	for (size_t i = 0; i < filter->paths.used; i++)
		if (filter->paths.at[i].hash == hash && strcmp(filter->paths.at[i].text, text) == 0)
			return true;
	return false;
}

static bool has_path(const struct filter *filter, const struct model_path *path)
{
	return path && path->absolute && has_text(filter, path->text, path->hash);
}

static bool has_file(const struct filter *filter, const struct model_file *file)
{
	return file && file->path && has_text(filter, file->path, file->path_hash);
}

/* Calls without a name are told apart by their number. */
static bool has_number(const struct filter *filter, const struct event_call *call, int err)
{
	return sys_expr_has_number(&filter->calls, (enum sys_arch)call->arch, call->nr) &&
	       (!filter->failed || err != 0);
}

bool filter_has_view(const struct filter *filter, const struct model_view *view)
{
	if (view->call ? !has_number(filter, view->call, view->err) : !filter_has_call(filter, view->id, view->err))
		return false;
	if (filter->paths.used == 0)
		return true;
	return has_path(filter, view->path) || has_path(filter, view->path2) || has_file(filter, view->file) ||
	       has_file(filter, view->file2);
}

bool filter_is_at(const char *place, const char *path)
{
	size_t bytes = strlen(place);

	if (bytes > 0 && place[bytes - 1] == '/')
		return strncmp(path, place, bytes) == 0 ||
		       (strlen(path) == bytes - 1 && strncmp(path, place, bytes - 1) == 0);
	return strcmp(path, place) == 0;
}

bool filter_touches(const struct filter *filter, const struct finding *finding)
{
	if (filter->paths.used == 0 || !finding->place || *finding->place != '/')
		return true;
	for (size_t i = 0; i < filter->paths.used; i++)
		if (filter_is_at(finding->place, filter->paths.at[i].text))
			return true;
	return false;
}

bool filter_has_all_of(const struct filter *filter, const struct finding *finding)
{
	for (size_t i = 0; i < finding->costs.used; i++)
		if (!filter_has_call(filter, finding->costs.at[i].call, finding->costs.at[i].err))
			return false;
	if (filter->paths.used == 0)
		return true;
	for (size_t i = 0; finding->place && i < filter->paths.used; i++)
		if (strcmp(finding->place, filter->paths.at[i].text) == 0)
			return true;
	return false;
}

bool filter_has_sample(const struct filter *filter, const char *sample)
{
	size_t bytes = strcspn(sample, "(");
	char name[SYS_NAME_MAX];

	if (bytes >= sizeof name)
		return false;
	memcpy(name, sample, bytes);
	name[bytes] = '\0';
	if (!sys_expr_has(&filter->calls, sys_call_by_name(name)))
		return false;
	if (filter->failed && !strstr(sample, ") = -1 "))
		return false;
	if (filter->paths.used == 0)
		return true;
	/* It shows paths as the program wrote them: relative ones end alike. */
	for (size_t i = 0; i < filter->paths.used; i++) {
		const char *slash = strrchr(filter->paths.at[i].text, '/');
		struct buf last = BUF_INIT;
		bool found;

		(void)text_escape(&last, slash + 1, strlen(slash + 1), '"', true);
		found = strstr(sample, buf_text(&last)) != NULL;
		buf_done(&last);
		if (found)
			return true;
	}
	return false;
}
