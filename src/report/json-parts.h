/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of the JSON report; only json*.c include it. */
#ifndef SYSCULL_REPORT_JSON_PARTS_H
#define SYSCULL_REPORT_JSON_PARTS_H

#include "base/json.h"
#include "report/reporter.h"

#define JSON_SCHEMA 1

/* Nanoseconds, rounded; null when unknown (below 0). */
void json_member_ns(struct json *json, const char *key, double ns);
/* "measured" or "estimated": where the times of this run come from. */
const char *json_source(const struct analysis_result *result);

/* "tool" and "host"; "command", NULL an empty one. */
void json_tool_and_host(struct json *json, const struct analysis_host *host);
void json_command(struct json *json, char *const *argv);
/* "exit": a status, or a signal above 0 by which it ended, or nothing known. */
void json_exit(struct json *json, bool known, int status, int signal);

void json_calls(struct json *json, const struct analysis_result *result);
void json_processes(struct json *json, const struct analysis_result *result);
void json_findings(struct json *json, const struct analysis_result *result);
void json_suppressed(struct json *json, const struct analysis_result *result);
void json_regions(struct json *json, const struct analysis_result *result);
/* "frames", and which of them are told in words. */
void json_frames(struct json *json, const struct finding_site *site);
void json_sites(struct json *json, const struct analysis_result *result);
void json_programs(struct json *json, const struct analysis_result *result);
void json_budgets(struct json *json, const struct analysis_result *result);
void json_baseline(struct json *json, const struct analysis_result *result);
void json_verdict(struct json *json, const struct analysis_result *result);
void json_warnings(struct json *json, const struct analysis_result *result);

#endif
