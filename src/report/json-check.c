/* SPDX-License-Identifier: BSD-2-Clause */
/* Budgets and verdict of the JSON report; a run has none of the first. */
#include "report/json-parts.h"
#include "verdict/baseline.h"

static void number(struct json *json, const char *key, double value)
{
	if (value >= 0 && value == (double)(uint64_t)value)
		json_member_uint(json, key, (uint64_t)value);
	else
		json_member_double(json, key, value);
}

static void contributors(struct json *json, const struct budget_verdict *verdict)
{
	json_key(json, "top");
	json_array_begin(json);
	for (size_t i = 0; i < verdict->top_count; i++) {
		const struct budget_contributor *top = &verdict->top[i];

		json_object_begin(json);
		json_member_uint(json, "count", top->count);
		json_member_string(json, "name", top->name);
		json_member_string(json, "place", top->place);
		json_member_string(json, "program", top->program);
		json_member_string(json, "site", top->site);
		json_object_end(json);
	}
	json_array_end(json);
}

static void sizes(struct json *json, const struct budget *budget)
{
	json_key(json, "runs");
	json_array_begin(json);
	for (size_t i = 0; i < budget->samples.used; i++) {
		json_object_begin(json);
		json_key(json, "item");
		if (budget->samples.at[i].sized)
			json_uint(json, budget->samples.at[i].item);
		else
			json_none(json);
		json_member_uint(json, "count", budget->samples.at[i].count);
		json_object_end(json);
	}
	json_array_end(json);
}

void json_budgets(struct json *json, const struct analysis_result *result)
{
	const struct check *check = result->check;

	json_key(json, "budgets");
	json_array_begin(json);
	for (size_t i = 0; check && i < check->budget_count; i++) {
		const struct budget_verdict *verdict = &check->budgets[i];

		json_object_begin(json);
		json_member_string(json, "kind", budget_kind_name(verdict->budget->kind));
		json_member_string(json, "what", verdict->budget->what);
		number(json, "limit", verdict->budget->limit);
		if (verdict->seen_known)
			number(json, "seen", verdict->seen);
		else
			json_member_null(json, "seen");
		json_member_string(json, "verdict", budget_state_name(verdict->state));
		json_member_string(json, "why", verdict->why);
		json_member_string(json, "program", verdict->budget->program);
		json_member_string(json, "site", verdict->budget->site);
		json_member_string(json, "region", verdict->budget->region);
		contributors(json, verdict);
		sizes(json, verdict->budget);
		json_object_end(json);
	}
	json_array_end(json);
}

/* There are no budgets in a run: what can fail it is that it cannot be judged. */
static void verdict_of_run(struct json *json, const struct analysis_result *result)
{
	const struct analysis_facts *facts = &result->facts;

	json_member_string(json, "state", result->complete ? "passed" : "cannot-judge");
	json_key(json, "reasons");
	json_array_begin(json);
	if (!result->complete)
		json_printf(json, "the books are not %s: %s", result->closed ? "complete" : "closed",
			    result->books_why[0] ? result->books_why : "reason not known");
	json_array_end(json);
	if (facts->exit_known) {
		int status = facts->exit_signal ? 128 + facts->exit_signal : facts->exit_status;

		json_member_int(json, "command_status", status);
		json_member_int(json, "exit_status", status);
	} else {
		json_member_null(json, "command_status");
		json_member_int(json, "exit_status", 0);
	}
}

/* Names alone: the findings are listed, by the same fingerprints. */
void json_baseline(struct json *json, const struct analysis_result *result)
{
	const struct baseline_report *baseline = result->check ? result->check->baseline : NULL;

	json_key(json, "baseline");
	if (!baseline) {
		json_none(json);
		return;
	}
	json_object_begin(json);
	json_member_string(json, "file", baseline->file);
	json_member_bool(json, "read", baseline->read);
	json_member_bool(json, "written", baseline->written);
	json_member_uint(json, "fewer", baseline->changes.fewer);
	json_key(json, "differences");
	json_array_begin(json);
	for (size_t i = 0; i < baseline->changes.differences.used; i++)
		json_text(json, baseline->changes.differences.at[i]);
	json_array_end(json);
	json_key(json, "changes");
	json_array_begin(json);
	for (size_t i = 0; i < baseline->changes.items.used; i++) {
		const struct baseline_change *change = &baseline->changes.items.at[i];
		bool finding = change->kind == BASELINE_FINDING;

		json_object_begin(json);
		json_member_string(json, "kind", finding ? "finding" : "call");
		json_member_string(json, "name", change->name);
		json_member_string(json, "fingerprint", finding ? change->fingerprint : NULL);
		json_member_uint(json, "before", change->before);
		json_member_uint(json, "after", change->after);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

void json_verdict(struct json *json, const struct analysis_result *result)
{
	const struct check *check = result->check;

	json_key(json, "verdict");
	json_object_begin(json);
	if (!check) {
		verdict_of_run(json, result);
		json_object_end(json);
		return;
	}
	json_member_string(json, "state", check_state_name(check->state));
	json_key(json, "reasons");
	json_array_begin(json);
	for (size_t i = 0; i < check->reasons.used; i++)
		json_text(json, check->reasons.at[i]);
	json_array_end(json);
	json_member_uint(json, "reasons_left_out", check->reasons_left_out);
	if (check->command_known)
		json_member_int(json, "command_status", check->command_status);
	else
		json_member_null(json, "command_status");
	json_member_int(json, "exit_status", check->exit_status);
	json_object_end(json);
}
