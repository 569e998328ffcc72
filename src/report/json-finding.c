/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings as programs read them, and what a reader of them must be told. */
#include <string.h>

#include "report/json-parts.h"
#include "sys/sys.h"
#include "verdict/scale.h"

static const char *tier_name(enum finding_tier tier)
{
	return tier == FINDING_CERTAIN ? "certain" : tier == FINDING_LIKELY ? "likely" : "by-design";
}

static const char *kind_name(enum finding_remedy_kind kind)
{
	static const char *const names[REMEDY_KIND_COUNT] = {
		[REMEDY_UPGRADE] = "upgrade",
		[REMEDY_SOURCE] = "source",
		[REMEDY_CONFIGURATION] = "configuration",
		[REMEDY_ENVIRONMENT] = "environment",
		[REMEDY_PRELOAD] = "preload",
		[REMEDY_SECCOMP] = "seccomp",
	};

	return kind < REMEDY_KIND_COUNT ? names[kind] : "source";
}

static void texts(struct json *json, const char *key, char *const *at, size_t count)
{
	json_key(json, key);
	json_array_begin(json);
	for (size_t i = 0; i < count; i++)
		json_text(json, at[i]);
	json_array_end(json);
}

static void put_object(struct json *json, const struct finding *finding)
{
	json_key(json, "object");
	json_object_begin(json);
	json_member_string(json, "name", finding->object);
	json_member_string(json, "where", finding->where);
	json_object_end(json);
}

static void put_script(struct json *json, const struct finding *finding)
{
	static const char *const kinds[] = {
		[SCRIPT_FILE] = "file", [SCRIPT_MODULE] = "module", [SCRIPT_LINE] = "command-line"
	};

	if (finding->script_kind == SCRIPT_NONE) {
		json_member_null(json, "script");
		return;
	}
	json_key(json, "script");
	json_object_begin(json);
	json_member_string(json, "kind", kinds[finding->script_kind]);
	json_member_string(json, "name", finding->script);
	json_object_end(json);
}

static void put_owner(struct json *json, const struct verdict_finding *verdict)
{
	json_member_string(json, "owner", verdict->library ? "library" : "application");
	json_member_string(json, "package", verdict->package);
	json_member_string(json, "library", verdict->library);
	json_member_string(json, "library_package", verdict->library_package);
}

static void put_amount(struct json *json, const struct verdict_cost *amount)
{
	json_member_ns(json, "cost_ns", amount->ns);
	json_member_ns(json, "low_ns", amount->low_ns);
	json_member_ns(json, "high_ns", amount->high_ns);
	json_member_string(json, "source", price_source_name(amount->source));
}

static void put_costs(struct json *json, const struct verdict_finding *verdict)
{
	char name[SYS_NAME_MAX];

	json_key(json, "costs");
	json_array_begin(json);
	for (size_t i = 0; i < verdict->finding->costs.used; i++) {
		const struct finding_cost *cost = &verdict->finding->costs.at[i];

		json_object_begin(json);
		json_member_string(json, "call", sys_call(cost->call)->name);
		json_member_string(json, "error", cost->err ? sys_errno_print(cost->err, name) : NULL);
		json_member_uint(json, "count", cost->count);
		json_member_string(json, "detail", cost->detail);
		put_amount(json, &verdict->costs[i]);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_scales(struct json *json, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;
	struct verdict_cost amount;

	json_key(json, "scales");
	json_array_begin(json);
	for (size_t i = 0; i < finding->scales.used; i++) {
		json_object_begin(json);
		json_member_string(json, "text", finding->scales.at[i].text);
		json_member_uint(json, "calls", finding->scales.at[i].count);
		amount = scale_of(verdict, i);
		put_amount(json, &amount);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_sites(struct json *json, const struct finding *finding)
{
	json_key(json, "call_sites");
	json_array_begin(json);
	for (size_t i = 0; i < finding->sites.used; i++) {
		const struct finding_site *site = &finding->sites.at[i];

		json_object_begin(json);
		json_member_uint(json, "count", site->count);
		json_frames(json, site);
		json_object_end(json);
	}
	json_array_end(json);
	json_member_uint(json, "call_sites_other", finding->sites_other);
}

/* A remedy can cost more than it saves. */
static int64_t whole(double ns)
{
	return ns > 9e18 ? INT64_MAX : ns < -9e18 ? INT64_MIN : (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static void put_remedy(struct json *json, const struct verdict_remedy *verdict)
{
	const struct finding_remedy *remedy = verdict->remedy;

	json_object_begin(json);
	json_member_string(json, "kind", kind_name(remedy->kind));
	json_member_string(json, "id", remedy->id);
	json_member_string(json, "text", remedy->text);
	/* Not counted is not zero. */
	if (remedy->deltas.used > 0) {
		json_member_int(json, "saves_calls", verdict->saves_calls);
		json_member_int(json, "saves_ns", whole(verdict->saves_ns));
		json_member_int(json, "low_ns", whole(verdict->low_ns));
		json_member_int(json, "high_ns", whole(verdict->high_ns));
		json_member_string(json, "source", price_source_name(verdict->source));
	} else {
		json_member_null(json, "saves_calls");
		json_member_null(json, "saves_ns");
	}
	json_member_bool(json, "changes_output", remedy->changes != NULL);
	json_member_string(json, "changes", remedy->changes);
	json_member_string(json, "command", remedy->command);
	json_object_end(json);
}

/* NULL: none, or it is not among those that are told. */
static const char *cause_of(const struct analysis_result *result, const struct verdict_finding *verdict)
{
	for (size_t i = 0; verdict->cause && i < result->finding_count; i++)
		if (result->findings[i].finding == verdict->cause)
			return result->findings[i].fingerprint;
	return NULL;
}

static void put_finding(struct json *json, const struct analysis_result *result, const struct verdict_finding *verdict)
{
	const struct finding *finding = verdict->finding;

	json_object_begin(json);
	json_member_string(json, "rule", finding->rule->id);
	json_member_string(json, "fingerprint", verdict->fingerprint);
	json_member_string(json, "same_cause_as", cause_of(result, verdict));
	json_member_string(json, "tier", tier_name(finding->tier));
	json_member_bool(json, "information", finding->information);
	json_member_bool(json, "worth", verdict->worth);
	put_owner(json, verdict);
	json_key(json, "pid");
	if (finding->pid != 0)
		json_uint(json, finding->pid);
	else
		json_none(json);
	json_member_string(json, "exe", finding->exe);
	put_script(json, finding);
	json_member_string(json, "what", finding->what);
	json_member_uint(json, "calls", finding->calls);
	json_member_ns(json, "cost_ns", verdict->cost_ns);
	json_member_ns(json, "low_ns", verdict->cost_low_ns);
	json_member_ns(json, "high_ns", verdict->cost_high_ns);
	json_member_double(json, "share", verdict->share);
	json_member_ns(json, "saves_ns", verdict->saves_ns);
	json_member_string(json, "source", price_source_name(verdict->source));
	put_object(json, finding);
	put_costs(json, verdict);
	put_scales(json, verdict);
	put_sites(json, finding);
	json_key(json, "remedies");
	json_array_begin(json);
	for (size_t i = 0; i < verdict->remedy_count; i++)
		put_remedy(json, &verdict->remedies[i]);
	json_array_end(json);
	texts(json, "samples", finding->samples.at, finding->samples.used);
	texts(json, "notes", finding->notes.at, finding->notes.used);
	json_object_end(json);
}

void json_findings(struct json *json, const struct analysis_result *result)
{
	json_key(json, "findings");
	json_array_begin(json);
	for (size_t i = 0; i < result->finding_count; i++)
		put_finding(json, result, &result->findings[i]);
	json_array_end(json);
}

void json_warnings(struct json *json, const struct analysis_result *result)
{
	const struct analysis_facts *facts = &result->facts;

	json_key(json, "warnings");
	json_array_begin(json);
	for (size_t i = 0; i < sizeof facts->warnings / sizeof facts->warnings[0] && facts->warnings[i]; i++)
		json_text(json, facts->warnings[i]);
	if (facts->not_followed > 0)
		json_printf(json, "%llu of %llu children ran untraced", (unsigned long long)facts->not_followed,
			    (unsigned long long)facts->children);
	if (facts->let_go > 0)
		json_printf(json, "%llu tasks still ran and were let go", (unsigned long long)facts->let_go);
	if (facts->state_errors > 0)
		json_printf(json, "%llu pieces of state could not be read", (unsigned long long)facts->state_errors);
	if (facts->stacks_left_out > 0)
		json_printf(json, "%llu copies of stacks were left out, %llu were made: there was no room for more",
			    (unsigned long long)facts->stacks_left_out, (unsigned long long)facts->stacks);
	if (facts->stacks_unread > 0)
		json_printf(json, "%llu stacks could not be read", (unsigned long long)facts->stacks_unread);
	if (facts->callers_unknown > 0)
		json_printf(json, "of %llu programs callers are known as sampled: too many ran at a time",
			    (unsigned long long)facts->callers_unknown);
	if (result->model_losses > 0)
		json_printf(json, "%llu things could not be kept%s%s", (unsigned long long)result->model_losses,
			    result->model_limit ? ": limit of " : "", result->model_limit ? result->model_limit : "");
	if (result->sites_trouble)
		json_text(json, result->sites_trouble);
	if (result->evicted > 0)
		json_printf(json, "rules gave up %llu keys for want of room", (unsigned long long)result->evicted);
	if (result->by_process.unsplit > 0)
		json_printf(json, "%llu calls of processes found no room to be told apart by call and error",
			    (unsigned long long)result->by_process.unsplit);
	if (result->regions_refused > 0)
		json_printf(json, "%llu marks had names beyond the limit of regions",
			    (unsigned long long)result->regions_refused);
	json_array_end(json);
}
