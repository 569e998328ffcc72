/* SPDX-License-Identifier: BSD-2-Clause */
/* CLOCK_MONOTONIC in nanoseconds (the vDSO's, no system call). */
#ifndef SYSCULL_BASE_CLOCK_H
#define SYSCULL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
