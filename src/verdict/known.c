/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/known.h"

#include <fnmatch.h>
#include <string.h>

bool known_fits(const struct known_row *row, const char *rule, const char *path)
{
	return strcmp(row->rule, rule) == 0 && fnmatch(row->path, path, 0) == 0;
}
