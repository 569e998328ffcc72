/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report looks at: calls by name (-e), by path (-P), failed ones
 * (--failed).  Narrows tables, findings and samples, never the books, and
 * never what rules see: a rule must know the calls that excuse others.
 */
#ifndef SYSCULL_VERDICT_FILTER_H
#define SYSCULL_VERDICT_FILTER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "model/model.h"
#include "rules/finding.h"
#include "sys/expr.h"

#define FILTER_PATHS_MAX 64

struct filter_path {
	char *text; /* absolute, without "." and "//" */
	uint64_t hash;
};

struct filter {
	struct sys_expr calls;
	bool by_call, failed;
	VEC(struct filter_path) paths;
	VEC(char *) said; /* the options as given: "-e %file", "-P /etc", "--failed" */
};

void filter_done(struct filter *filter);
int filter_add_calls(struct filter *filter, const char *expression, struct error *err);
/* Relative ones are below our own working directory; what is behind links is looked for too. */
int filter_add_path(struct filter *filter, const char *path, struct error *err);
int filter_set_failed(struct filter *filter, struct error *err);

static inline bool filter_active(const struct filter *filter)
{
	return filter && (filter->by_call || filter->failed || filter->paths.used > 0);
}

/* Without looking at paths. */
bool filter_has_call(const struct filter *filter, enum sys_call_id id, int err);
bool filter_has_view(const struct filter *filter, const struct model_view *view);
/* The file itself, or what lies below a folder, which has a '/' at its end (finding->place). */
bool filter_is_at(const char *place, const char *path);
/* May the finding's calls be on one of the paths?  Where nothing is known of its place, yes. */
bool filter_touches(const struct filter *filter, const struct finding *finding);
/* Are all calls of the finding let through for certain? */
bool filter_has_all_of(const struct filter *filter, const struct finding *finding);
/* A sample as rule_sample writes it. */
bool filter_has_sample(const struct filter *filter, const char *sample);

#endif
