/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run-case FILE|DIRECTORY…: feeds the records of a script to the model and
 * all rules, and compares what they find with the lines of the file that begin
 * with "#> ".  A directory stands for all files NAME.case in it.  Exits with 1
 * when anything differs.  With --print it prints the findings in that form
 * instead.  With --no-limits all limits are 0, as a user may set them, and it
 * compares nothing: no rule may then tell of no call.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/engine.h"
#include "model/model.h"
#include "rules/claims.h"
#include "rules/rule.h"

#define RULES_MAX 64
#define FILE_MAX (1u << 20)

static struct rule_run runs[RULES_MAX];
static size_t run_count;
static struct rule_claims claims;
static bool print, no_limits;

static const char *const tiers[] = {
	[FINDING_CERTAIN] = "certain",
	[FINDING_LIKELY] = "likely",
	[FINDING_BY_DESIGN] = "by-design",
};

static const char *const kinds[REMEDY_KIND_COUNT] = {
	[REMEDY_UPGRADE] = "upgrade",	      [REMEDY_SOURCE] = "source",   [REMEDY_CONFIGURATION] = "configuration",
	[REMEDY_ENVIRONMENT] = "environment", [REMEDY_PRELOAD] = "preload", [REMEDY_SECCOMP] = "seccomp",
};

static void start_rules(struct model *model)
{
	claims = (struct rule_claims){ .model = model };
	for (size_t i = 0; rule_list[i] && i < RULES_MAX; i++) {
		struct rule_run *run = &runs[run_count++];

		*run = (struct rule_run){ .rule = rule_list[i], .model = model, .claims = &claims };
		run->state = calloc(1, rule_list[i]->state_bytes ? rule_list[i]->state_bytes : 1);
		for (size_t n = 0; rule_list[i]->limits[n].name; n++)
			run->limits[n] = no_limits ? 0 : rule_list[i]->limits[n].value;
		if (!run->state || (run->rule->start && run->rule->start(run) < 0))
			exit(2);
	}
}

static void feed(const struct model_view *view)
{
	for (size_t i = 0; i < run_count; i++) {
		const uint16_t *id = runs[i].rule->calls;

		while (view->call && *id && *id != (uint16_t)view->id)
			id++;
		if (view->call && *id && !(view->call->head.flags & EVENT_F_MARK))
			runs[i].rule->call(&runs[i], view);
		if (view->ended && runs[i].rule->image_end)
			runs[i].rule->image_end(&runs[i], view->ended);
	}
}

static void finish(struct model *model, struct finding_list *list)
{
	struct model_process *process;

	for (size_t i = 0; i < run_count; i++) {
		for (size_t n = 0; (process = model_process_at(model, n)); n++)
			if (!process->ended && runs[i].rule->image_end)
				runs[i].rule->image_end(&runs[i], process);
		runs[i].rule->end(&runs[i], list);
	}
	finding_list_settle(list);
}

static void put_delta(struct buf *out, enum sys_call_id call, int err, const char *lead, long long count,
		      unsigned long long components, unsigned long long pages_low, unsigned long long pages_high)
{
	char name[SYS_NAME_MAX];

	(void)buf_printf(out, "%s%+lld %s%s%s", lead, count, sys_call(call)->name, err ? " " : "",
			 err ? sys_errno_print(err, name) : "");
	if (components > 0)
		(void)buf_printf(out, " (%llu components)", components);
	if (pages_high > 0)
		(void)buf_printf(out, " (%llu to %llu pages)", pages_low, pages_high);
}

static void put_finding(struct buf *out, const struct finding *finding)
{
	(void)buf_printf(out, "%s %s%s%s pid %u %s: %llu calls\n", finding->rule->id, tiers[finding->tier],
			 finding->information ? " information" : "", finding->minor ? " minor" : "", finding->pid,
			 finding->exe, (unsigned long long)finding->calls);
	(void)buf_printf(out, "  what %s\n", finding->what);
	for (size_t i = 0; i < finding->costs.used; i++) {
		const struct finding_cost *cost = &finding->costs.at[i];

		put_delta(out, cost->call, cost->err, "  cost ", (long long)cost->count, cost->components,
			  cost->pages_low, cost->pages_high);
		(void)buf_printf(out, " %s\n", cost->detail ? cost->detail : "-");
	}
	for (size_t i = 0; i < finding->scales.used; i++)
		(void)buf_printf(out, "  scale %s: %llu calls\n", finding->scales.at[i].text,
				 (unsigned long long)finding->scales.at[i].count);
	(void)buf_printf(out, "  where %s\n  object %s\n", finding->where, finding->object);
	for (size_t i = 0; i < finding->sites.used; i++)
		(void)buf_printf(out, "  site %llu %s+0x%llx\n", (unsigned long long)finding->sites.at[i].count,
				 finding->sites.at[i].module ? finding->sites.at[i].module : "?",
				 (unsigned long long)finding->sites.at[i].offset);
	for (size_t i = 0; i < finding->remedies.used; i++) {
		const struct finding_remedy *remedy = &finding->remedies.at[i];

		(void)buf_printf(out, "  %s: %s\n", kinds[remedy->kind], remedy->text);
		if (remedy->command)
			(void)buf_printf(out, "    try %s\n", remedy->command);
		if (remedy->changes)
			(void)buf_printf(out, "    changes %s\n", remedy->changes);
		for (size_t j = 0; j < remedy->deltas.used; j++) {
			const struct finding_delta *delta = &remedy->deltas.at[j];

			put_delta(out, delta->call, delta->err, "    ", (long long)delta->count, delta->components,
				  delta->pages_low, delta->pages_high);
			(void)buf_putc(out, '\n');
		}
	}
	for (size_t i = 0; i < finding->notes.used; i++)
		(void)buf_printf(out, "  note %s\n", finding->notes.at[i]);
	for (size_t i = 0; i < finding->samples.used; i++)
		(void)buf_printf(out, "  proof %s\n", finding->samples.at[i]);
}

/* What the file wants: its "#> " lines without that. */
static void read_wanted(struct buf *out, const char *path)
{
	struct buf file = BUF_INIT;
	const char *line;

	if (buf_read_file(&file, AT_FDCWD, path, FILE_MAX) < 0) {
		(void)fprintf(stderr, "%s: cannot be read\n", path);
		exit(2);
	}
	for (line = buf_text(&file); *line;) {
		size_t bytes = strcspn(line, "\n");

		if (strncmp(line, "#> ", 3) == 0) {
			(void)buf_add(out, line + 3, bytes - 3);
			(void)buf_putc(out, '\n');
		}
		line += bytes + (line[bytes] == '\n');
	}
	buf_done(&file);
}

static void exit_empty(const char *path, const struct rule *rule)
{
	(void)fprintf(stderr, "%s: %s tells of no call\n", path, rule->id);
	exit(1);
}

static void run_script(const char *path, struct buf *out)
{
	struct engine_spec spec = { .script = path };
	struct finding_list list = { 0 };
	const struct event_head *record;
	struct error err = { 0 };
	struct model *model = model_new();
	struct engine *engine = NULL;
	int r;

	if (!model)
		exit(2);
	start_rules(model);
	r = engine_script.start(&spec, &engine, &err);
	while (r >= 0 && (r = engine_script.next(engine, &record, &err)) == ENGINE_RECORD) {
		struct model_view view;

		if (model_feed(model, record, &view) < 0)
			exit(2);
		feed(&view);
	}
	if (r < 0) {
		(void)fprintf(stderr, "%s: %s\n", path, err.text);
		exit(1);
	}
	finish(model, &list);
	for (size_t i = 0; i < list.items.used; i++) {
		if (no_limits && list.items.at[i].calls == 0)
			exit_empty(path, list.items.at[i].rule);
		put_finding(out, &list.items.at[i]);
	}
	for (size_t i = 0; i < run_count; i++)
		if (runs[i].evicted > 0)
			(void)buf_printf(out, "%s evicted %llu\n", runs[i].rule->id,
					 (unsigned long long)runs[i].evicted);
	if (out->bytes == 0)
		(void)buf_puts(out, "nothing\n");
	finding_list_done(&list);
	for (size_t i = 0; i < run_count; i++) {
		if (runs[i].rule->done)
			runs[i].rule->done(&runs[i]);
		free(runs[i].state);
	}
	run_count = 0;
	engine_script.stop(engine);
	rule_claims_done(&claims);
	model_free(model);
}

/* 0, or 1 when the file fails. */
static int run_file(const char *path)
{
	struct buf found = BUF_INIT, wanted = BUF_INIT;
	int failed = 0;

	run_script(path, &found);
	read_wanted(&wanted, path);
	if (print) {
		(void)fputs(buf_text(&found), stdout);
	} else if (no_limits) {
		failed = 0;
	} else if (wanted.bytes == 0) {
		(void)fprintf(stderr, "%s: has no lines that begin with \"#> \"\n", path);
		failed = 1;
	} else if (strcmp(buf_text(&found), buf_text(&wanted)) != 0) {
		(void)fprintf(stderr, "%s: wanted\n%s%s: found\n%s", path, buf_text(&wanted), path, buf_text(&found));
		failed = 1;
	}
	buf_done(&found);
	buf_done(&wanted);
	return failed;
}

static int is_case(const struct dirent *entry)
{
	size_t bytes = strlen(entry->d_name);

	return bytes > 5 && strcmp(entry->d_name + bytes - 5, ".case") == 0;
}

static int run_path(const char *path)
{
	struct dirent **entries;
	int failed = 0, count = scandir(path, &entries, is_case, alphasort);

	if (count < 0)
		return run_file(path);
	if (count == 0) {
		(void)fprintf(stderr, "%s: no cases in it\n", path);
		failed = 1;
	}
	for (int i = 0; i < count; i++) {
		struct buf file = BUF_INIT;

		(void)buf_printf(&file, "%s/%s", path, entries[i]->d_name);
		failed |= run_file(buf_text(&file));
		buf_done(&file);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	int first = 1, failed = 0;

	print = argc > 1 && strcmp(argv[1], "--print") == 0;
	no_limits = argc > 1 && strcmp(argv[1], "--no-limits") == 0;
	first += print || no_limits;
	if (argc <= first) {
		(void)fprintf(stderr, "usage: run-case [--print|--no-limits] FILE|DIRECTORY...\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		failed |= run_path(argv[i]);
	return failed;
}
