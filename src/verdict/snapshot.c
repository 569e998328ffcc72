/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading.  Nothing in the file is believed before it was looked at. */
#include "verdict/snapshot.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "verdict/baseline.h"

#define WORDS_MAX 4096 /* of a command */
#define RULES_MAX 1024

struct reading {
	struct snapshot *into;
	struct error *err;
};

static int odd(const struct reading *reading, const char *what)
{
	return error_set(reading->err, EINVAL, "%s is no report of syscull: %s is missing or odd", reading->into->name,
			 what);
}

/* NULL without a text (bytes that are no UTF-8 are an object). */
static char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? strdup(text) : NULL;
}

static bool count_of(const json_t *object, const char *key, uint64_t *ret)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(value);
	return true;
}

static double ns_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) && json_number_value(value) >= 0 ? json_number_value(value) : -1;
}

static bool limit_of(const json_t *object, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(object, key));

	*ret = UINT64_MAX;
	return (text && strcmp(text, "unlimited") == 0) || count_of(object, key, ret);
}

static int read_head(struct reading *reading, const json_t *root)
{
	struct snapshot *into = reading->into;
	const char *tool = json_string_value(json_object_get(json_object_get(root, "tool"), "name"));
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *accounting = json_object_get(root, "accounting"), *host = json_object_get(root, "host");
	const json_t *environment = json_object_get(root, "environment"), *scope, *word;
	const json_t *command = json_object_get(root, "command");
	uint64_t schema;
	size_t i;

	if (!tool || strcmp(tool, "syscull") != 0 || !count_of(root, "schema", &schema) || !kind)
		return odd(reading, "'tool', 'schema' or 'kind'");
	if (schema != BASELINE_SCHEMA)
		return error_set(reading->err, EPROTO, "%s has schema %llu, this version reads %d", into->name,
				 (unsigned long long)schema, BASELINE_SCHEMA);
	if (strcmp(kind, "run") != 0 && strcmp(kind, "check") != 0)
		return error_set(reading->err, EPROTO, "%s is a report of '%.40s': only runs and checks are compared",
				 into->name, kind);
	if (!json_is_boolean(json_object_get(accounting, "complete")) || !count_of(accounting, "seen", &into->seen))
		return odd(reading, "'accounting'");
	into->complete = json_is_true(json_object_get(accounting, "complete"));
	into->closed = json_is_true(json_object_get(accounting, "closed"));
	scope = json_object_get(accounting, "scope");
	into->scoped = scope && !json_is_null(scope);
	into->kernel = text_of(host, "kernel");
	into->arch = text_of(host, "arch");
	into->libc = text_of(host, "libc");
	into->locale = text_of(environment, "locale");
	into->tz = text_of(environment, "tz");
	into->engine = text_of(json_object_get(root, "engine"), "name");
	into->path_known = count_of(environment, "path_entries", &into->path_entries);
	into->nofile_known = limit_of(environment, "nofile_soft", &into->nofile_soft) &&
			     limit_of(environment, "nofile_hard", &into->nofile_hard);
	into->task_ns = ns_of(root, "task_ns");
	into->untraced_ns = ns_of(root, "untraced_ns_estimate");
	json_array_foreach(command, i, word)
	{
		const char *text = json_string_value(word);
		char *copy = strdup(text ? text : "?");

		if (i == WORDS_MAX)
			return odd(reading, "'command'");
		if (!copy || !vec_push(&into->argv, copy)) {
			free(copy);
			return error_errno(reading->err, ENOMEM, "%s", into->name);
		}
	}
	return 0;
}

static int read_calls(struct reading *reading, const json_t *calls)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(calls) || json_array_size(calls) > BASELINE_ENTRIES_MAX)
		return odd(reading, "'calls'");
	json_array_foreach(calls, i, one)
	{
		struct snapshot_call call = { .name = text_of(one, "name"), .ns = ns_of(one, "time_ns") };
		json_t *errors = json_object_get(one, "errors"), *count;
		const char *name;

		if (!call.name || !count_of(one, "count", &call.count) || !json_is_object(errors)) {
			free(call.name);
			return odd(reading, "a call");
		}
		json_object_foreach(errors, name, count) call.failed +=
			json_is_integer(count) && json_integer_value(count) > 0 ? (uint64_t)json_integer_value(count)
										: 0;
		if (!vec_push(&reading->into->calls, call)) {
			free(call.name);
			return error_errno(reading->err, ENOMEM, "%s", reading->into->name);
		}
	}
	return 0;
}

static void free_finding(struct snapshot_finding *finding)
{
	free(finding->rule);
	free(finding->exe);
	free(finding->what);
	free(finding->object);
	free(finding->where);
}

/* Their order is that of their counts: the sum has none. */
static uint64_t costs_of(const json_t *costs)
{
	const json_t *one;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(costs, i, one)
	{
		const char *call = json_string_value(json_object_get(one, "call"));
		const char *error = json_string_value(json_object_get(one, "error"));

		sum += map_mix(call ? map_hash(call, strlen(call)) : 0, error ? map_hash(error, strlen(error)) : 0);
	}
	return sum;
}

static int read_not_run(struct reading *reading, const json_t *rules)
{
	const json_t *one;
	size_t i;

	json_array_foreach(rules, i, one)
	{
		char *rule = text_of(one, "rule");

		if (!rule || i == RULES_MAX) {
			free(rule);
			return odd(reading, "'rules_not_run'");
		}
		if (!vec_push(&reading->into->not_run, rule)) {
			free(rule);
			return error_errno(reading->err, ENOMEM, "%s", reading->into->name);
		}
	}
	return 0;
}

static int read_findings(struct reading *reading, const json_t *findings)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(findings) || json_array_size(findings) > BASELINE_ENTRIES_MAX)
		return odd(reading, "'findings'");
	json_array_foreach(findings, i, one)
	{
		const char *fingerprint = json_string_value(json_object_get(one, "fingerprint"));
		struct snapshot_finding finding = { .ns = ns_of(one, "cost_ns") };

		if (json_is_true(json_object_get(one, "information")))
			continue;
		finding.rule = text_of(one, "rule");
		finding.exe = text_of(one, "exe");
		finding.what = text_of(one, "what");
		finding.object = text_of(json_object_get(one, "object"), "name");
		finding.where = text_of(json_object_get(one, "object"), "where");
		finding.costs = costs_of(json_object_get(one, "costs"));
		finding.worth = json_is_true(json_object_get(one, "worth"));
		if (!fingerprint || strlen(fingerprint) + 1 != FINGERPRINT_BYTES || !finding.rule || !finding.what ||
		    !count_of(one, "calls", &finding.calls)) {
			free_finding(&finding);
			return odd(reading, "a finding");
		}
		memcpy(finding.fingerprint, fingerprint, FINGERPRINT_BYTES);
		if (!vec_push(&reading->into->findings, finding)) {
			free_finding(&finding);
			return error_errno(reading->err, ENOMEM, "%s", reading->into->name);
		}
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct snapshot_call *)a)->name, ((const struct snapshot_call *)b)->name);
}

static int by_fingerprint(const void *a, const void *b)
{
	return strcmp(((const struct snapshot_finding *)a)->fingerprint,
		      ((const struct snapshot_finding *)b)->fingerprint);
}

static double sum_ns(double a, double b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

/* A name is there once per architecture, a fingerprint once per process. */
static void fold(struct snapshot *into)
{
	size_t used = 0;

	if (into->calls.used > 1)
		qsort(into->calls.at, into->calls.used, sizeof *into->calls.at, by_name);
	for (size_t i = 0; i < into->calls.used; i++) {
		struct snapshot_call *last = used > 0 ? &into->calls.at[used - 1] : NULL;

		if (!last || by_name(last, &into->calls.at[i]) != 0) {
			into->calls.at[used++] = into->calls.at[i];
			continue;
		}
		last->count += into->calls.at[i].count;
		last->failed += into->calls.at[i].failed;
		last->ns = sum_ns(last->ns, into->calls.at[i].ns);
		free(into->calls.at[i].name);
	}
	into->calls.used = used;
	used = 0;
	if (into->findings.used > 1)
		qsort(into->findings.at, into->findings.used, sizeof *into->findings.at, by_fingerprint);
	for (size_t i = 0; i < into->findings.used; i++) {
		struct snapshot_finding *last = used > 0 ? &into->findings.at[used - 1] : NULL;

		if (!last || by_fingerprint(last, &into->findings.at[i]) != 0) {
			into->findings.at[used++] = into->findings.at[i];
			continue;
		}
		last->calls += into->findings.at[i].calls;
		last->ns = sum_ns(last->ns, into->findings.at[i].ns);
		last->worth |= into->findings.at[i].worth;
		free_finding(&into->findings.at[i]);
	}
	into->findings.used = used;
}

int snapshot_parse(struct snapshot *ret, const char *name, const char *text, size_t bytes, struct error *err)
{
	struct reading reading = { ret, err };
	json_t *root;
	int r;

	*ret = (struct snapshot){ .name = strdup(name), .task_ns = -1, .untraced_ns = -1 };
	if (!ret->name)
		return error_errno(err, ENOMEM, "%s", name);
	root = baseline_load(name, text, bytes, err);
	r = root ? read_head(&reading, root) : -EINVAL;
	if (r == 0)
		r = read_calls(&reading, json_object_get(root, "calls"));
	if (r == 0)
		r = read_findings(&reading, json_object_get(root, "findings"));
	if (r == 0)
		r = read_not_run(&reading, json_object_get(root, "rules_not_run"));
	json_decref(root);
	if (r == 0)
		fold(ret);
	else
		snapshot_done(ret);
	return r;
}

void snapshot_done(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->calls.used; i++)
		free(snapshot->calls.at[i].name);
	for (size_t i = 0; i < snapshot->findings.used; i++)
		free_finding(&snapshot->findings.at[i]);
	for (size_t i = 0; i < snapshot->argv.used; i++)
		free(snapshot->argv.at[i]);
	for (size_t i = 0; i < snapshot->not_run.used; i++)
		free(snapshot->not_run.at[i]);
	vec_done(&snapshot->not_run);
	vec_done(&snapshot->calls);
	vec_done(&snapshot->findings);
	vec_done(&snapshot->argv);
	free(snapshot->name);
	free(snapshot->kernel);
	free(snapshot->arch);
	free(snapshot->libc);
	free(snapshot->locale);
	free(snapshot->tz);
	free(snapshot->engine);
	*snapshot = (struct snapshot){ 0 };
}
