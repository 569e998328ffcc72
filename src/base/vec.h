/* SPDX-License-Identifier: BSD-2-Clause */
/* A typed growing array: VEC(struct thing) things; zeroed is empty. */
#ifndef SYSCULL_BASE_VEC_H
#define SYSCULL_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(type) \
	struct { \
		type *at; \
		size_t used, room; \
	}

/* Makes room for one more element; false without memory. */
#define vec_grow(vec) vec_grow_((void **)&(vec)->at, &(vec)->used, &(vec)->room, sizeof *(vec)->at)
/* Appends a copy; false without memory. */
#define vec_push(vec, ...) (vec_grow(vec) && (((vec)->at[(vec)->used++] = (__VA_ARGS__)), true))
/* Appends a zeroed element: its address or NULL. */
#define vec_add(vec) \
	(vec_grow(vec) ? (__typeof__((vec)->at))vec_zero_(&(vec)->at[(vec)->used++], sizeof *(vec)->at) : NULL)
#define vec_done(vec) (free((vec)->at), (vec)->at = NULL, (vec)->used = (vec)->room = 0)

bool vec_grow_(void **at, size_t *used, size_t *room, size_t element_bytes);
void *vec_zero_(void *element, size_t bytes);

#endif
