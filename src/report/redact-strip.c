/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a baseline does not hold, since it is committed and compared on other
 * machines: where somebody's home is, the machine's name, and what is of one
 * run (process ids, temporary names).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/redact.h"
#include "verdict/fingerprint.h"

#define HOME "~"
#define HOST "HOST"

static bool is_name(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' ||
	       (unsigned char)c >= 0x80;
}

/* Can a path begin here? */
static bool begins(const char *text, const char *at)
{
	return at == text || (!is_name(at[-1]) && at[-1] != '/' && at[-1] != '.' && at[-1] != '~');
}

/* The bytes of somebody's home that is here, 0 none. */
static size_t home_bytes(const struct redact_words *words, const char *at)
{
	static const char *const roots[] = { "/home/", "/var/home/" };
	const char *const homes[] = { words->home, "/root" };

	for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
		size_t bytes = homes[i] ? strlen(homes[i]) : 0;

		if (bytes > 1 && strncmp(at, homes[i], bytes) == 0 && !is_name(at[bytes]) && at[bytes] != '.')
			return bytes;
	}
	for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
		size_t bytes = strlen(roots[i]),
		       more = strcspn(at + (strncmp(at, roots[i], bytes) ? 0 : bytes), "/\"' ,;:)");

		if (strncmp(at, roots[i], bytes) == 0 && more > 0)
			return bytes + more;
	}
	return 0;
}

static size_t host_bytes(const struct redact_words *words, const char *text, const char *at)
{
	size_t bytes = strlen(words->host), first = strcspn(words->host, ".");

	if (bytes == 0 || (at > text && is_name(at[-1])))
		return 0;
	if (strncmp(at, words->host, bytes) == 0 && !is_name(at[bytes]))
		return bytes;
	return strncmp(at, words->host, first) == 0 && !is_name(at[first]) ? first : 0;
}

void redact_strip(const struct redact_words *words, struct buf *buf, const char *text)
{
	struct buf plain = BUF_INIT;

	for (const char *at = text; *at;) {
		size_t home = begins(text, at) ? home_bytes(words, at) : 0;
		size_t host = home ? 0 : host_bytes(words, text, at);

		if (home || host)
			(void)buf_puts(&plain, home ? HOME : HOST);
		else
			(void)buf_putc(&plain, *at);
		at += home ? home : host ? host : 1;
	}
	(void)fingerprint_steady(buf, buf_text(&plain));
	if (plain.failed)
		buf->failed = true;
	buf_done(&plain);
}

#define NOT_KNOWN (-1.0)

void redact_strip_finding(struct verdict_finding *verdict, struct finding *finding)
{
	finding->pid = 0;
	finding->process_id = 0;
	finding->samples.used = 0;
	finding->notes.used = 0;
	finding->scales.used = 0;
	finding->remedies.used = 0;
	verdict->remedy_count = 0;
	verdict->cost_ns = verdict->cost_low_ns = verdict->cost_high_ns = verdict->saves_ns = NOT_KNOWN;
	verdict->share = NAN;
	verdict->source = PRICE_CALIBRATED;
	for (size_t i = 0; i < finding->costs.used; i++)
		verdict->costs[i] = (struct verdict_cost){ NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, PRICE_CALIBRATED, false };
}

static int by_name(const void *a, const void *b)
{
	const struct verdict_call *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->row.nr > y->row.nr) - (x->row.nr < y->row.nr);
}

static int by_fingerprint(const void *a, const void *b)
{
	const struct verdict_finding *x = a, *y = b;
	int order = strcmp(x->fingerprint, y->fingerprint);

	return order ? order : (x->finding->calls > y->finding->calls) - (x->finding->calls < y->finding->calls);
}

static void strip_times(struct analysis_result *result)
{
	double *const times[] = { &result->task_ns,	&result->task_low_ns,	  &result->task_high_ns,
				  &result->untraced_ns, &result->untraced_low_ns, &result->untraced_high_ns,
				  &result->calls_ns,	&result->calls_low_ns,	  &result->calls_high_ns,
				  &result->user_ns,	&result->waiting_ns,	  &result->stop_ns };

	for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
		*times[i] = NOT_KNOWN;
	result->stop_guessed = false;
	result->facts.wall_ns = 0;
}

/* Whichever call took longest this time: files that are compared have an order. */
void redact_strip_result(struct analysis_result *result)
{
	strip_times(result);
	for (size_t i = 0; i < result->by_call_count; i++) {
		struct verdict_call *call = &result->by_call[i];

		call->ns = call->low_ns = call->high_ns = NOT_KNOWN;
		call->source = PRICE_CALIBRATED;
	}
	for (size_t i = 0; i < result->region_count; i++) {
		struct verdict_region *region = &result->regions[i];

		region->calls_ns = region->calls_low_ns = region->calls_high_ns = NOT_KNOWN;
		region->work_ns = region->waiting_ns = NOT_KNOWN;
		region->wall_ns = 0;
		region->source = PRICE_CALIBRATED;
		region->top[0].call = NULL;
	}
	if (result->by_call_count > 1)
		qsort(result->by_call, result->by_call_count, sizeof *result->by_call, by_name);
	if (result->finding_count > 1)
		qsort(result->findings, result->finding_count, sizeof *result->findings, by_fingerprint);
	result->by_process = (struct verdict_processes){ .truncated = result->by_process.count > 0 };
	result->by_exe_count = 0;
	result->site_count = result->site_call_count = 0;
	result->suppressed_count = 0;
	result->suppression_count = 0;
	result->check = NULL;
}
