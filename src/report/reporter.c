/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reporter.h"

#include <string.h>

#define REPORTER(name) extern const struct reporter reporter_##name;
#include "report/reporters.def"
#undef REPORTER

const struct reporter *const reporter_list[] = {
#define REPORTER(name) &reporter_##name,
#include "report/reporters.def"
#undef REPORTER
	NULL,
};

const struct reporter *reporter_by_name(const char *name)
{
	for (const struct reporter *const *reporter = reporter_list; *reporter; reporter++)
		if (strcmp((*reporter)->name, name) == 0)
			return *reporter;
	return NULL;
}
