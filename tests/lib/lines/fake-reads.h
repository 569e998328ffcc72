/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors of the test's own behind -Wl,--wrap=syscall: bytes that come in
 * chunks as scripted, with errors between.  All other calls reach the kernel.
 * Everything is counted.  -Wl,--wrap=getauxval makes pages as large as wished.
 */
#ifndef SYSCULL_TESTS_LIB_LINES_FAKE_READS_H
#define SYSCULL_TESTS_LIB_LINES_FAKE_READS_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_FD 100000

struct fake_reads {
	const char *bytes;
	size_t size;
	size_t at;
	/* How many bytes each read may give, 0 ends the list; the last one goes on. */
	const size_t *chunks;
	size_t chunk_at;
	/* Every N-th read answers EINTR; 0: none. */
	unsigned int eintr_every;
	/* Once `at` has come to error_at, one read answers this errno. */
	size_t error_at;
	int error;
	/* Reads stop at the ends of records that a newline ends, as procfs does. */
	int whole_lines;
	/* The file says other things from the second pread on. */
	const char *second;
	size_t second_size;
	unsigned long preads;
	/* Counts since fake_reads_reset. */
	unsigned long reads;
	size_t least_asked;
	/* ioctl answers this errno; 0: it reaches the kernel. */
	int ioctl_error;
	/* newfstatat says a size of 0. */
	int no_size;
	/* openat of a path with this end answers this errno. */
	const char *open_end;
	int open_error;
	unsigned long page;
	unsigned long calls;
};

extern struct fake_reads fake_reads;

void fake_reads_reset(const char *bytes, size_t size);
unsigned long fake_reads_count(long number);

#endif
