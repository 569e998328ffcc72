/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/project.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

int project_option(struct project *project, int letter, const char *value, struct error *err)
{
	switch (letter) {
	case PROJECT_CONFIG:
		project->config = value;
		return 0;
	case PROJECT_GENERATE:
		project->generate = true;
		return 0;
	case PROJECT_SUPPRESSIONS:
		if (project->files.used == PROJECT_FILES_MAX)
			return error_set(err, E2BIG, "--suppressions: at most %d files", PROJECT_FILES_MAX);
		return vec_push(&project->files, value) ? 0 : error_errno(err, ENOMEM, "--suppressions");
	default:
		return 1;
	}
}

static void forget(struct conf *conf)
{
	conf_done(conf);
	*conf = (struct conf){ .budget = conf->budget, .data = conf->data };
}

int project_load(struct project *project, bool lenient, struct error *err)
{
	struct error why = { 0 };
	int r = conf_load(&project->conf, project->config, &why);

	if (r < 0) {
		forget(&project->conf);
		if (!lenient || project->config)
			return error_set(err, why.code, "%s", why.text);
		log_line("not used: %s", why.text);
	}
	for (size_t i = 0; i < project->files.used; i++) {
		r = conf_load_suppressions(&project->conf, project->files.at[i], err);
		if (r < 0) {
			forget(&project->conf);
			return r;
		}
	}
	return 0;
}

void project_apply(const struct project *project, struct analysis_spec *spec)
{
	spec->settings = &project->conf.settings;
	spec->suppressions = &project->conf.suppressions;
}

void project_tell(struct project *project, struct analysis_facts *facts)
{
	const struct settings *settings = &project->conf.settings;
	const char *last = NULL;

	if (settings->items.used == 0)
		return;
	(void)buf_printf(&project->said, "%s sets limits of", project->conf.path);
	for (size_t i = 0; i < settings->items.used; i++) {
		const char *id = settings->items.at[i].rule->id;

		if (last != id)
			(void)buf_printf(&project->said, "%s %s", last ? "," : "", id);
		last = id;
	}
	analysis_add_warning(facts, buf_text(&project->said));
}

void project_generate(const struct project *project, const struct analysis_result *result)
{
	struct buf all = BUF_INIT;

	for (size_t i = 0; project->generate && i < result->finding_count; i++) {
		struct buf one = BUF_INIT;

		if (!result->findings[i].finding->information &&
		    suppress_print(&one, result->findings[i].finding) == 0 && !strstr(buf_text(&all), buf_text(&one)))
			(void)buf_printf(&all, "%s%s", all.bytes ? "\n" : "", buf_text(&one));
		buf_done(&one);
	}
	if (all.bytes > 0)
		(void)fputs(buf_text(&all), stderr);
	buf_done(&all);
}

void project_done(struct project *project)
{
	conf_done(&project->conf);
	vec_done(&project->files);
	buf_done(&project->said);
}
