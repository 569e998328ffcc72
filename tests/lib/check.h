/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks for the tests of the library, which run under other libcs and on
 * other machines, where there is no cmocka.  A failed check says so and ends
 * the program; check_done() says how many there were.
 */
#ifndef SYSCULL_TESTS_LIB_CHECK_H
#define SYSCULL_TESTS_LIB_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static unsigned long check_count;
static const char *check_case = "";

#define CHECK(condition) \
	do { \
		check_count++; \
		if (!(condition)) { \
			(void)fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, check_case, #condition); \
			exit(1); \
		} \
	} while (0)

#define CHECK_EQUAL(is, should) \
	do { \
		long long check_is = (long long)(is), check_should = (long long)(should); \
		check_count++; \
		if (check_is != check_should) { \
			(void)fprintf(stderr, "%s:%d: %s: %s is %lld, should be %lld\n", __FILE__, __LINE__, \
				      check_case, #is, check_is, check_should); \
			exit(1); \
		} \
	} while (0)

#define SKIP(...) \
	do { \
		(void)fprintf(stderr, __VA_ARGS__); \
		(void)fputc('\n', stderr); \
		exit(77); \
	} while (0)

static inline int check_done(void)
{
	printf("%lu checks\n", check_count);
	return check_count > 0 ? 0 : 1;
}

#endif
