/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool vec_grow_(void **at, size_t *used, size_t *room, size_t element_bytes)
{
	size_t want = *room ? *room * 2 : 8;
	void *grown;

	if (*used < *room)
		return true;
	if (want > SIZE_MAX / element_bytes)
		return false;
	grown = realloc(*at, want * element_bytes);
	if (!grown)
		return false;
	*at = grown;
	*room = want;
	return true;
}

void *vec_zero_(void *element, size_t bytes)
{
	return memset(element, 0, bytes);
}
