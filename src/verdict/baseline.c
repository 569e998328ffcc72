/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading.  Nothing in the file is believed before it was looked at. */
#include "verdict/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* What jansson takes is bounded here: three bytes of a hostile text become
 * 150 of a tree. */
static size_t tree_bytes;
static bool tree_full; /* jansson does not tell everywhere that memory was missing */

static void *tree_malloc(size_t bytes)
{
	void *memory = bytes <= BASELINE_MEMORY_MAX - tree_bytes ? malloc(bytes) : NULL;

	tree_full = tree_full || !memory;
	if (memory) {
		size_t taken = malloc_usable_size(memory);

		tree_bytes += taken < BASELINE_MEMORY_MAX - tree_bytes ? taken : BASELINE_MEMORY_MAX - tree_bytes;
	}
	return memory;
}

static void tree_free(void *memory)
{
	size_t taken = memory ? malloc_usable_size(memory) : 0;

	tree_bytes -= taken < tree_bytes ? taken : tree_bytes;
	free(memory);
}

json_t *baseline_load(const char *name, const char *text, size_t bytes, struct error *err)
{
	json_error_t why;
	json_t *root;

	if (bytes > BASELINE_BYTES_MAX) {
		(void)error_set(err, EFBIG, "%s has more than %d MiB", name, BASELINE_BYTES_MAX >> 20);
		return NULL;
	}
	tree_full = false;
	json_set_alloc_funcs(tree_malloc, tree_free);
	root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
	if (!root && tree_full)
		(void)error_set(err, EFBIG, "%s takes too much memory to be read", name);
	else if (!root)
		(void)error_set(err, EINVAL, "%s is no report of syscull, or torn: line %d: %.100s", name, why.line,
				why.text);
	return root;
}

struct reading {
	const char *name;
	struct baseline *into;
	struct error *err;
};

static int odd(const struct reading *reading, const char *what)
{
	return error_set(reading->err, EINVAL, "%s is no report of syscull: %s is missing or odd", reading->name, what);
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

/* "unlimited" is a text. */
static bool limit_of(const json_t *object, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text && strcmp(text, "unlimited") == 0) {
		*ret = UINT64_MAX;
		return true;
	}
	return count_of(object, key, ret);
}

static int read_head(struct reading *reading, const json_t *root)
{
	const char *tool = json_string_value(json_object_get(json_object_get(root, "tool"), "name"));
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *accounting = json_object_get(root, "accounting"), *scope;
	uint64_t schema;

	if (!tool || strcmp(tool, "syscull") != 0 || !count_of(root, "schema", &schema) || !kind)
		return odd(reading, "'tool', 'schema' or 'kind'");
	if (schema != BASELINE_SCHEMA)
		return error_set(reading->err, EPROTO,
				 "%s has schema %llu, this version compares with %d: make it again (--update-baseline)",
				 reading->name, (unsigned long long)schema, BASELINE_SCHEMA);
	if (strcmp(kind, "run") != 0 && strcmp(kind, "check") != 0)
		return error_set(reading->err, EPROTO, "%s is a report of '%s': a baseline is one of a run or check",
				 reading->name, kind);
	if (!json_is_boolean(json_object_get(accounting, "complete")))
		return odd(reading, "'accounting'");
	if (!json_is_true(json_object_get(accounting, "complete")))
		return error_set(reading->err, EPROTO, "%s is of a run whose books were not complete", reading->name);
	scope = json_object_get(accounting, "scope");
	if (scope && !json_is_null(scope))
		return error_set(reading->err, EPROTO, "%s is of a run that watched some calls only", reading->name);
	return 0;
}

static int read_world(struct reading *reading, const json_t *root)
{
	const json_t *host = json_object_get(root, "host"), *environment = json_object_get(root, "environment");
	struct baseline *into = reading->into;
	const char *program = json_string_value(json_array_get(json_object_get(root, "command"), 0));

	if (!json_is_object(host) || !json_is_object(environment))
		return odd(reading, "'host' or 'environment'");
	into->kernel = text_of(host, "kernel");
	into->arch = text_of(host, "arch");
	into->libc = text_of(host, "libc");
	into->locale = text_of(environment, "locale");
	into->program = program ? strdup(program) : NULL;
	into->nofile_known = limit_of(environment, "nofile_soft", &into->nofile_soft) &&
			     limit_of(environment, "nofile_hard", &into->nofile_hard);
	into->path_known = count_of(environment, "path_entries", &into->path_entries);
	return 0;
}

static int read_selection(struct reading *reading, const json_t *root)
{
	const json_t *list = json_object_get(root, "selection"), *item;
	size_t i;

	if (list && !json_is_null(list) && !json_is_array(list))
		return odd(reading, "'selection'");
	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);
		char *copy = text ? strdup(text) : NULL;

		if (!text || i >= BASELINE_ENTRIES_MAX)
			return odd(reading, "'selection'");
		if (!copy || !vec_push(&reading->into->selection, copy)) {
			free(copy);
			return error_errno(reading->err, ENOMEM, "%s", reading->name);
		}
	}
	return 0;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct baseline_call *)a)->name, ((const struct baseline_call *)b)->name);
}

static int by_fingerprint(const void *a, const void *b)
{
	return strcmp(((const struct baseline_finding *)a)->fingerprint,
		      ((const struct baseline_finding *)b)->fingerprint);
}

/* A name can be there once per architecture. */
static void join_calls(struct baseline *into)
{
	size_t kept = 0;

	if (into->calls.used > 1)
		qsort(into->calls.at, into->calls.used, sizeof *into->calls.at, by_name);
	for (size_t i = 0; i < into->calls.used; i++) {
		struct baseline_call *call = &into->calls.at[i];

		if (kept > 0 && by_name(&into->calls.at[kept - 1], call) == 0) {
			into->calls.at[kept - 1].count = sum_of(into->calls.at[kept - 1].count, call->count);
			free(call->name);
		} else {
			into->calls.at[kept++] = *call;
		}
	}
	into->calls.used = kept;
}

static void join_findings(struct baseline *into)
{
	size_t kept = 0;

	if (into->findings.used > 1)
		qsort(into->findings.at, into->findings.used, sizeof *into->findings.at, by_fingerprint);
	for (size_t i = 0; i < into->findings.used; i++) {
		struct baseline_finding *finding = &into->findings.at[i], *last;

		last = kept > 0 ? &into->findings.at[kept - 1] : NULL;
		if (last && by_fingerprint(last, finding) == 0) {
			last->findings = sum_of(last->findings, finding->findings);
			last->calls = sum_of(last->calls, finding->calls);
			free(finding->rule);
			free(finding->exe);
		} else {
			into->findings.at[kept++] = *finding;
		}
	}
	into->findings.used = kept;
}

static int read_calls(struct reading *reading, const json_t *root)
{
	const json_t *list = json_object_get(root, "calls"), *item;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > BASELINE_ENTRIES_MAX)
		return odd(reading, "'calls'");
	json_array_foreach(list, i, item)
	{
		struct baseline_call *call = vec_add(&reading->into->calls);

		if (!call)
			return error_errno(reading->err, ENOMEM, "%s", reading->name);
		call->name = text_of(item, "name");
		if (!call->name || !count_of(item, "count", &call->count))
			return odd(reading, "'name' or 'count' of a call");
	}
	join_calls(reading->into);
	return 0;
}

static bool is_fingerprint(const char *text)
{
	return text && strlen(text) == FINGERPRINT_BYTES - 1 &&
	       strspn(text, "0123456789abcdef") == FINGERPRINT_BYTES - 1;
}

static int read_findings(struct reading *reading, const json_t *root)
{
	const json_t *list = json_object_get(root, "findings"), *item;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > BASELINE_ENTRIES_MAX)
		return odd(reading, "'findings'");
	json_array_foreach(list, i, item)
	{
		const char *mark = json_string_value(json_object_get(item, "fingerprint"));
		const char *tier = json_string_value(json_object_get(item, "tier"));
		struct baseline_finding *finding;

		if (json_is_true(json_object_get(item, "information")) || (tier && strcmp(tier, "by-design") == 0))
			continue;
		finding = vec_add(&reading->into->findings);
		if (!finding)
			return error_errno(reading->err, ENOMEM, "%s", reading->name);
		finding->findings = 1;
		finding->rule = text_of(item, "rule");
		finding->exe = text_of(item, "exe");
		if (!is_fingerprint(mark) || !tier || !finding->rule || !count_of(item, "calls", &finding->calls))
			return odd(reading, "'rule', 'tier', 'fingerprint' or 'calls' of a finding");
		(void)strcpy(finding->fingerprint, mark);
	}
	join_findings(reading->into);
	return 0;
}

int baseline_parse(struct baseline *ret, const char *name, const char *text, size_t bytes, struct error *err)
{
	static int (*const parts[])(struct reading * reading, const json_t *root) = { read_head, read_world,
										      read_selection, read_calls,
										      read_findings };
	struct reading reading = { .name = name, .into = ret, .err = err };
	json_t *root;
	int r = 0;

	*ret = (struct baseline){ 0 };
	root = baseline_load(name, text, bytes, err);
	if (!root)
		return err && err->code ? -err->code : -EINVAL;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && r == 0; i++)
		r = parts[i](&reading, root);
	json_decref(root);
	if (r < 0)
		baseline_done(ret);
	return r;
}

int baseline_read(struct baseline *ret, const char *path, struct error *err)
{
	struct buf buf = BUF_INIT;
	int r;

	*ret = (struct baseline){ 0 };
	r = buf_read_file(&buf, AT_FDCWD, path, BASELINE_BYTES_MAX);
	if (r == -EFBIG)
		r = error_set(err, EFBIG, "the baseline %s has more than %d MiB", path, BASELINE_BYTES_MAX >> 20);
	else if (r < 0)
		r = error_errno(err, -r, "the baseline %s", path);
	else
		r = baseline_parse(ret, path, buf.data ? buf.data : "", buf.bytes, err);
	buf_done(&buf);
	return r;
}

void baseline_done(struct baseline *baseline)
{
	if (!baseline)
		return;
	free(baseline->kernel);
	free(baseline->arch);
	free(baseline->libc);
	free(baseline->locale);
	free(baseline->program);
	for (size_t i = 0; i < baseline->selection.used; i++)
		free(baseline->selection.at[i]);
	vec_done(&baseline->selection);
	for (size_t i = 0; i < baseline->calls.used; i++)
		free(baseline->calls.at[i].name);
	vec_done(&baseline->calls);
	for (size_t i = 0; i < baseline->findings.used; i++) {
		free(baseline->findings.at[i].rule);
		free(baseline->findings.at[i].exe);
	}
	vec_done(&baseline->findings);
	*baseline = (struct baseline){ 0 };
}
