/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct redacted {
	struct analysis_result result; /* its arrays are ours where they differ */
	struct redact_words words;
	struct filter filter;
	struct check check;
	VEC(void *) kept; /* all memory, texts and arrays */
	bool failed;
};

int redact_parse(const char *list, unsigned *set, struct error *err)
{
	static const struct {
		const char *name;
		unsigned bit;
	} names[] = { { "argv", REDACT_ARGV }, { "paths", REDACT_PATHS }, { "users", REDACT_USERS } };

	for (;;) {
		size_t bytes = strcspn(list, ","), i = 0;

		while (i < sizeof names / sizeof names[0] &&
		       (strlen(names[i].name) != bytes || memcmp(names[i].name, list, bytes) != 0))
			i++;
		if (i == sizeof names / sizeof names[0])
			return error_set(err, EINVAL, "--redact wants a list of argv, paths and users, not '%.*s'",
					 (int)(bytes < 80 ? bytes : 80), list);
		*set |= names[i].bit;
		if (list[bytes] == '\0')
			return 0;
		list += bytes + 1;
	}
}

static void *keep(struct redacted *redacted, void *memory)
{
	if (!memory || !vec_push(&redacted->kept, memory)) {
		free(memory);
		redacted->failed = true;
		return NULL;
	}
	return memory;
}

static void *copy(struct redacted *redacted, const void *from, size_t count, size_t bytes)
{
	void *to = keep(redacted, calloc(count ? count : 1, bytes));

	if (to && count > 0)
		memcpy(to, from, count * bytes);
	return to;
}

static char *keep_buf(struct redacted *redacted, struct buf *buf)
{
	char *text = buf_steal(buf);

	buf_done(buf);
	text = keep(redacted, text);
	return text;
}

static char *path(struct redacted *redacted, const char *from)
{
	struct buf buf = BUF_INIT;

	if (!from)
		return NULL;
	/* "(other programs)" is ours. */
	if (redacted->words.set & REDACT_BASELINE)
		redact_strip(&redacted->words, &buf, from);
	else if (*from == '(')
		(void)buf_puts(&buf, from);
	else
		redact_path(&redacted->words, &buf, from, strlen(from));
	return keep_buf(redacted, &buf);
}

typedef void put_text(const struct redact_words *words, struct buf *buf, const char *text);

static char *text(struct redacted *redacted, const char *from, put_text *put)
{
	struct buf buf = BUF_INIT;

	if (!from)
		return NULL;
	(redacted->words.set & REDACT_BASELINE ? redact_strip : put)(&redacted->words, &buf, from);
	return keep_buf(redacted, &buf);
}

static char *sample(struct redacted *redacted, const char *from)
{
	return text(redacted, from, redact_call);
}

static char *prose(struct redacted *redacted, const char *from)
{
	return text(redacted, from, redact_prose);
}

static char *names(struct redacted *redacted, const char *from)
{
	return text(redacted, from, redacted->words.set & REDACT_PATHS ? redact_names : redact_prose);
}

static char **command(struct redacted *redacted, char *const *argv)
{
	size_t count = 0;
	char **to;

	while (argv[count])
		count++;
	to = keep(redacted, calloc(count + 1, sizeof *to));
	for (size_t i = 0; to && i < count; i++) {
		struct buf buf = BUF_INIT;

		if (redacted->words.set & REDACT_BASELINE)
			redact_strip(&redacted->words, &buf, argv[i]);
		else
			redact_argument(&redacted->words, &buf, argv[i], strlen(argv[i]), i == 0);
		to[i] = keep_buf(redacted, &buf);
		if (!to[i])
			return NULL;
	}
	return to;
}

static char *join(char *const *argv)
{
	struct buf buf = BUF_INIT;
	char *text;

	for (size_t i = 0; argv && argv[i]; i++) {
		if (i > 0)
			(void)buf_putc(&buf, ' ');
		(void)text_shell_word(&buf, argv[i], strlen(argv[i]), true);
	}
	text = buf_steal(&buf);
	buf_done(&buf);
	return text;
}

/* "TZ=:/etc/localtime find d1k": only with the command of the run in it is it
 * known which words are whose. */
static char *try_now(struct redacted *redacted, const char *from, char *const *argv)
{
	char *before = join(argv), *after = join(redacted->result.facts.argv);
	const char *at = from && before && *before ? strstr(from, before) : NULL;
	struct buf buf = BUF_INIT;
	char *result = NULL;

	if (at && after) {
		(void)buf_add(&buf, from, (size_t)(at - from));
		(void)buf_puts(&buf, after);
		(void)buf_puts(&buf, at + strlen(before));
		result = keep_buf(redacted, &buf);
	}
	free(before);
	free(after);
	return result;
}

static void remedies(struct redacted *redacted, struct verdict_finding *verdict, const struct finding *from,
		     struct finding *to, char *const *argv)
{
	struct finding_remedy *remedies = copy(redacted, from->remedies.at, from->remedies.used, sizeof *remedies);
	struct verdict_remedy *verdicts = copy(redacted, verdict->remedies, verdict->remedy_count, sizeof *verdicts);

	if (!remedies || !verdicts)
		return;
	to->remedies.at = remedies;
	for (size_t i = 0; i < from->remedies.used; i++) {
		remedies[i].text = prose(redacted, remedies[i].text);
		remedies[i].changes = prose(redacted, remedies[i].changes);
		remedies[i].command = try_now(redacted, remedies[i].command, argv);
	}
	for (size_t i = 0; i < verdict->remedy_count; i++)
		verdicts[i].remedy = &remedies[verdicts[i].remedy - from->remedies.at];
	verdict->remedies = verdicts;
}

/* Names of functions stay, but of what a program says of its own code, where they hold paths. */
static const struct frames *frames(struct redacted *redacted, const struct frames *from)
{
	struct frames *to;
	struct frame *at;

	/* A baseline is compared on other days: what stands in the file is enough. */
	if (!from || (redacted->words.set & REDACT_BASELINE))
		return NULL;
	to = copy(redacted, from, 1, sizeof *to);
	at = copy(redacted, from->at, from->count, sizeof *at);
	if (!to || !at)
		return NULL;
	for (size_t i = 0; i < to->count; i++) {
		at[i].module = path(redacted, at[i].module);
		at[i].file = path(redacted, at[i].file);
		if (at[i].flags & FRAME_JIT)
			at[i].symbol = names(redacted, at[i].symbol);
	}
	to->at = at;
	return to;
}

static void site(struct redacted *redacted, struct finding_site *site)
{
	site->module = path(redacted, site->module);
	site->frames = frames(redacted, site->frames);
}

static void stacks(struct redacted *redacted, struct finding_site *site)
{
	struct finding_stack *at = copy(redacted, site->stacks.at, site->stacks.used, sizeof *at);

	for (size_t i = 0; at && i < site->stacks.used; i++)
		at[i].frames = frames(redacted, at[i].frames);
	if (!at || (redacted->words.set & REDACT_BASELINE))
		site->stacks.used = 0;
	site->stacks.at = at;
}

/* Of all calls, when they were counted. */
static void sites(struct redacted *redacted, const struct analysis_result *from)
{
	struct verdict_site_call *calls = copy(redacted, from->site_calls, from->site_call_count, sizeof *calls);
	struct verdict_site *places = copy(redacted, from->sites, from->site_count, sizeof *places);

	redacted->result.site_calls = NULL;
	redacted->result.sites = NULL;
	redacted->result.site_call_count = redacted->result.site_count = 0;
	if (!calls || !places)
		return;
	for (size_t i = 0; i < from->site_call_count; i++) {
		site(redacted, &calls[i].site);
		calls[i].program = path(redacted, calls[i].program);
	}
	for (size_t i = 0; i < from->site_count; i++) {
		site(redacted, &places[i].site);
		stacks(redacted, &places[i].site);
	}
	redacted->result.site_calls = calls;
	redacted->result.site_call_count = from->site_call_count;
	redacted->result.sites = places;
	redacted->result.site_count = from->site_count;
}

static void finding_parts(struct redacted *redacted, const struct finding *from, struct finding *to)
{
	struct finding_cost *costs = copy(redacted, from->costs.at, from->costs.used, sizeof *costs);
	struct finding_site *places = copy(redacted, from->sites.at, from->sites.used, sizeof *places);
	char **samples = copy(redacted, from->samples.at, from->samples.used, sizeof *samples);
	char **notes = copy(redacted, from->notes.at, from->notes.used, sizeof *notes);
	struct finding_scale *scales = copy(redacted, from->scales.at, from->scales.used, sizeof *scales);

	if (!costs || !places || !samples || !notes || !scales)
		return;
	for (size_t i = 0; i < from->costs.used; i++)
		costs[i].detail = names(redacted, costs[i].detail);
	for (size_t i = 0; i < from->sites.used; i++) {
		site(redacted, &places[i]);
		stacks(redacted, &places[i]);
	}
	for (size_t i = 0; i < from->samples.used; i++)
		samples[i] = sample(redacted, samples[i]);
	for (size_t i = 0; i < from->notes.used; i++)
		notes[i] = prose(redacted, notes[i]);
	for (size_t i = 0; i < from->scales.used; i++)
		scales[i].text = prose(redacted, scales[i].text);
	to->costs.at = costs;
	to->scales.at = scales;
	to->sites.at = places;
	to->samples.at = samples;
	to->notes.at = notes;
}

/* A word of a command line, and mostly a path. */
static char *script(struct redacted *redacted, const struct finding *finding)
{
	struct buf buf = BUF_INIT;

	if (!finding->script)
		return NULL;
	if (redacted->words.set & REDACT_BASELINE)
		redact_strip(&redacted->words, &buf, finding->script);
	else
		redact_argument(&redacted->words, &buf, finding->script, strlen(finding->script), false);
	return keep_buf(redacted, &buf);
}

static struct verdict_finding *findings(struct redacted *redacted, const struct analysis_result *from,
					const struct verdict_finding *list, size_t count)
{
	struct verdict_finding *to = copy(redacted, list, count, sizeof *to);

	for (size_t i = 0; to && i < count; i++) {
		const struct finding *old = list[i].finding;
		struct finding *new = copy(redacted, old, 1, sizeof *new);

		if (!new)
			break;
		new->exe = path(redacted, old->exe);
		new->script = script(redacted, old);
		new->what = prose(redacted, old->what);
		new->where = names(redacted, old->where);
		new->object = names(redacted, old->object);
		finding_parts(redacted, old, new);
		new->place = NULL;
		to[i].costs = copy(redacted, list[i].costs, old->costs.used, sizeof *list[i].costs);
		remedies(redacted, &to[i], old, new, from->facts.argv);
		if ((redacted->words.set & REDACT_BASELINE) && !redacted->failed)
			redact_strip_finding(&to[i], new);
		to[i].finding = new;
		to[i].library = path(redacted, to[i].library);
	}
	return to;
}

static struct suppress_entry *entry(struct redacted *redacted, const struct suppress_entry *from)
{
	struct suppress_entry *to = copy(redacted, from, 1, sizeof *to);

	for (unsigned kind = 0; to && kind < SUPPRESS_KIND_COUNT; kind++) {
		char **patterns =
			copy(redacted, from->patterns[kind].at.at, from->patterns[kind].at.used, sizeof *patterns);

		for (size_t i = 0; patterns && i < from->patterns[kind].at.used; i++)
			patterns[i] = path(redacted, patterns[i]);
		to->patterns[kind].at.at = patterns;
	}
	if (to) {
		to->file = path(redacted, from->file);
		to->reason = prose(redacted, from->reason);
	}
	return to;
}

/* Those that a finding names are those of the list. */
static void suppressed(struct redacted *redacted, const struct analysis_result *from)
{
	struct verdict_suppression *to = copy(redacted, from->suppressions, from->suppression_count, sizeof *to);
	struct verdict_finding *list = findings(redacted, from, from->suppressed, from->suppressed_count);

	redacted->result.suppressions = to;
	redacted->result.suppressed = list;
	for (size_t i = 0; to && i < from->suppression_count; i++) {
		to[i].entry = entry(redacted, from->suppressions[i].entry);
		for (size_t k = 0; list && k < from->suppressed_count; k++)
			if (from->suppressed[k].suppressed_by == from->suppressions[i].entry)
				list[k].suppressed_by = to[i].entry;
	}
}

static void process_argv(struct redacted *redacted, struct verdict_process *process)
{
	const char *at = process->argv, *end = at ? at + process->argv_bytes : NULL;
	struct buf buf = BUF_INIT;
	bool first = true;

	if (!at)
		return;
	while (at < end) {
		size_t bytes = strnlen(at, (size_t)(end - at));

		redact_argument(&redacted->words, &buf, at, bytes, first);
		(void)buf_putc(&buf, '\0');
		at += bytes + 1;
		first = false;
	}
	process->argv_bytes = buf.bytes;
	process->argv = keep_buf(redacted, &buf);
}

static void processes(struct redacted *redacted, const struct analysis_result *from)
{
	struct verdict_process *to = copy(redacted, from->by_process.items, from->by_process.count, sizeof *to);

	redacted->result.by_process.items = to;
	for (size_t i = 0; to && i < from->by_process.count; i++) {
		struct verdict_program *programs =
			copy(redacted, to[i].programs, to[i].program_count, sizeof *programs);

		to[i].exe = path(redacted, to[i].exe);
		process_argv(redacted, &to[i]);
		for (size_t k = 0; programs && k < to[i].program_count; k++)
			programs[k].exe = path(redacted, programs[k].exe);
		to[i].programs = programs;
	}
}

static void programs(struct redacted *redacted, const struct analysis_result *from)
{
	struct verdict_exe *to = copy(redacted, from->by_exe, from->by_exe_count, sizeof *to);

	redacted->result.by_exe = to;
	for (size_t i = 0; to && i < from->by_exe_count; i++)
		to[i].exe = path(redacted, to[i].exe);
}

static void facts(struct redacted *redacted, const struct analysis_result *from)
{
	struct analysis_facts *to = &redacted->result.facts;

	if (from->facts.argv)
		to->argv = command(redacted, from->facts.argv);
	for (size_t i = 0; i < sizeof to->warnings / sizeof to->warnings[0] && to->warnings[i]; i++)
		to->warnings[i] = prose(redacted, to->warnings[i]);
	redacted->result.environment.tz = prose(redacted, from->environment.tz);
	if (!from->filter)
		return;
	redacted->filter = *from->filter;
	redacted->filter.said.at = copy(redacted, from->filter->said.at, from->filter->said.used, sizeof(char *));
	for (size_t i = 0; redacted->filter.said.at && i < from->filter->said.used; i++) {
		char *said = redacted->filter.said.at[i];
		struct buf buf = BUF_INIT;

		if (strncmp(said, "-P ", 3) != 0)
			continue;
		(void)buf_puts(&buf, "-P ");
		redact_path(&redacted->words, &buf, said + 3, strlen(said + 3));
		redacted->filter.said.at[i] = keep_buf(redacted, &buf);
	}
	redacted->result.filter = &redacted->filter;
}

/* What a budget names are the caller's own words, and stay. */
static void check(struct redacted *redacted, const struct check *from)
{
	struct check *to = &redacted->check;
	struct budget_verdict *budgets = copy(redacted, from->budgets, from->budget_count, sizeof *budgets);

	*to = *from;
	to->budgets = budgets;
	for (size_t i = 0; budgets && i < from->budget_count; i++) {
		struct budget_contributor *top = copy(redacted, budgets[i].top, budgets[i].top_count, sizeof *top);

		for (size_t k = 0; top && k < budgets[i].top_count; k++) {
			top[k].place = names(redacted, top[k].place);
			top[k].site = names(redacted, top[k].site);
			top[k].program = path(redacted, top[k].program);
		}
		budgets[i].top = top;
	}
	to->reasons.at = copy(redacted, from->reasons.at, from->reasons.used, sizeof(char *));
	for (size_t i = 0; to->reasons.at && i < from->reasons.used; i++)
		to->reasons.at[i] = prose(redacted, to->reasons.at[i]);
	redacted->result.check = to;
}

/* A run that others are compared with: names and counts. */
static void strip(struct redacted *redacted, const struct analysis_result *from)
{
	struct verdict_call *calls = copy(redacted, from->by_call, from->by_call_count, sizeof *calls);
	struct verdict_region *regions = copy(redacted, from->regions, from->region_count, sizeof *regions);

	redacted->result.by_call = calls;
	redacted->result.regions = regions;
	if (!redacted->failed)
		redact_strip_result(&redacted->result);
}

struct redacted *redact_result(const struct analysis_result *result, unsigned set)
{
	struct redacted *redacted = calloc(1, sizeof *redacted);

	if (!redacted)
		return NULL;
	redact_words_init(&redacted->words, set);
	redacted->result = *result;
	/* It knows all names. */
	redacted->result.model = NULL;
	facts(redacted, result);
	redacted->result.findings = findings(redacted, result, result->findings, result->finding_count);
	if (result->check)
		check(redacted, result->check);
	if (set & REDACT_BASELINE) {
		strip(redacted, result);
	} else {
		suppressed(redacted, result);
		sites(redacted, result);
		processes(redacted, result);
		programs(redacted, result);
	}
	if (redacted->failed) {
		redacted_free(redacted);
		return NULL;
	}
	return redacted;
}

const struct analysis_result *redacted_result(const struct redacted *redacted)
{
	return &redacted->result;
}

void redacted_free(struct redacted *redacted)
{
	if (!redacted)
		return;
	for (size_t i = 0; i < redacted->kept.used; i++)
		free(redacted->kept.at[i]);
	vec_done(&redacted->kept);
	free(redacted);
}
