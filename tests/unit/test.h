/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmocka with the headers that it forgets to include, and two ways to skip.
 * skip_program() is for main, before any test has run: it exits with 77, which
 * would hide the failures of tests that ran before it.  skip_part() leaves out
 * one test of a group.  Both say why on stderr.
 */
#ifndef SYSCULL_TESTS_UNIT_TEST_H
#define SYSCULL_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEST_SKIPPED 77

#define skip_program(...) \
	do { \
		(void)fprintf(stderr, __VA_ARGS__); \
		(void)fputc('\n', stderr); \
		exit(TEST_SKIPPED); \
	} while (0)

#define skip_part(...) \
	do { \
		(void)fprintf(stderr, __VA_ARGS__); \
		(void)fputc('\n', stderr); \
		skip(); \
	} while (0)

#endif
