/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/view.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

int view_option(struct view *view, int letter, const char *value, struct error *err)
{
	struct error why = { 0 };
	int when = 0, r;

	switch (letter) {
	case 'e':
		return filter_add_calls(&view->filter, value, err);
	case 'P':
		return filter_add_path(&view->filter, value, err);
	case 'o':
		view->output = value;
		return 0;
	case 'q':
		view->quiet = true;
		return 0;
	case 'v':
		view->verbose = true;
		return 0;
	case VIEW_BY:
		if (strcmp(value, "region") == 0)
			view->by_region = true;
		else if (strcmp(value, "exe") == 0)
			view->by_exe = true;
		else if (strcmp(value, "site") == 0)
			view->by_site = true;
		else
			return error_set(err, EINVAL, "--by wants region, exe or site, not '%s'", value);
		return 0;
	case VIEW_WEIGHT:
		view->weight_given = true;
		view->weigh_savings = strcmp(value, "saving") == 0;
		if (!view->weigh_savings && strcmp(value, "calls") != 0)
			return error_set(err, EINVAL, "--weight wants calls or saving, not '%s'", value);
		return 0;
	case VIEW_COLOR:
		r = command_when("--color", value, &when, err);
		view->color = (enum tty_color)when;
		return r;
	case VIEW_FINDING:
		return command_number("--finding", value, 1, 1000000, &view->finding, err);
	case VIEW_FAILED:
		return filter_set_failed(&view->filter, err);
	case VIEW_FLOOR:
		if (judge_floor_parse(value, &view->floor, &why) < 0)
			return error_set(err, EINVAL, "--floor: %s", why.text);
		return 0;
	case VIEW_FORMAT:
		return formats_add(&view->formats, value, err);
	case VIEW_REDACT:
		return redact_parse(value, &view->formats.redact, err);
	default:
		r = project_option(&view->project, letter, value, err);
		return r > 0 ? error_set(err, EINVAL, "unknown option") : r;
	}
}

int view_analysis(struct view *view, struct analysis **ret, struct error *err)
{
	struct analysis_spec spec = { .filter = &view->filter, .floor = view->floor };
	int r = project_load(&view->project, true, err);

	if (r < 0)
		return r;
	project_apply(&view->project, &spec);
	spec.sites = view->by_site || formats_has(&view->formats, "collapsed");
	if (view->stack_options)
		spec.stacks = call_sites_begin(&view->sites, view->stack_options);
	spec.prices = price_book_new_kept();
	spec.packages = package_book_new(PACKAGE_DATABASE, package_system_merged());
	return analysis_new(&spec, ret, err);
}

int view_no_finding(long number, const struct analysis_result *result, struct error *err)
{
	return error_set(err, ENOENT, "--finding %ld: the report of this run has %zu finding%s", number,
			 result->finding_count, result->finding_count == 1 ? "" : "s");
}

int view_check(const struct view *view, struct error *err)
{
	if (view->finding > 0 && !formats_has(&view->formats, "issue"))
		return error_set(err, EINVAL, "--finding goes with --format issue");
	if (view->weight_given && !formats_has(&view->formats, "collapsed"))
		return error_set(err, EINVAL, "--weight goes with --format collapsed");
	return 0;
}

/* What the report leaves out. */
static void add_selection(struct view *view, struct analysis_facts *facts)
{
	const struct filter *filter = &view->filter;

	if (!filter_active(filter))
		return;
	(void)buf_puts(&view->selection, "calls and findings are narrowed by");
	for (size_t i = 0; i < filter->said.used; i++)
		(void)buf_printf(&view->selection, "%s %s", i ? "," : "", filter->said.at[i]);
	analysis_add_warning(facts, buf_text(&view->selection));
}

int view_finish(struct view *view, struct analysis *analysis, struct analysis_facts *facts, struct error *err)
{
	struct report_options options = { .finding = (size_t)view->finding,
					  .verbose = view->verbose,
					  .quiet = view->quiet,
					  .by_site = view->by_site,
					  .weigh_savings = view->weigh_savings,
					  .by_exe = view->by_exe,
					  .by_region = view->by_region };
	int r;

	add_selection(view, facts);
	project_tell(&view->project, facts);
	r = analysis_finish(analysis, facts, err);
	if (r == 0 && (size_t)view->finding > analysis_result(analysis)->finding_count)
		r = view_no_finding(view->finding, analysis_result(analysis), err);
	if (r == 0)
		r = formats_write(&view->formats, analysis_result(analysis), &options, view->color, err);
	if (r == 0)
		project_generate(&view->project, analysis_result(analysis));
	/* What cannot be kept is measured again. */
	(void)price_book_save(analysis_result(analysis)->prices);
	return r;
}

void view_done(struct view *view)
{
	formats_discard(&view->formats);
	filter_done(&view->filter);
	project_done(&view->project);
	call_sites_done(&view->sites);
	buf_done(&view->selection);
}
