/* SPDX-License-Identifier: BSD-2-Clause */
/* Destructors at the end of a scope, for what is freed in one way. */
#ifndef SYSCULL_BASE_CLEANUP_H
#define SYSCULL_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define AUTO_FREE CLEANUP(cleanup_free)
#define AUTO_CLOSE CLEANUP(cleanup_close)
#define AUTO_FCLOSE CLEANUP(cleanup_fclose)

#endif
