/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor FAKE_FD, see fake-reads.h.  Returns as syscall(2) does, with
 * errno set, so that what is tested is what runs.
 */
#include "fake-reads.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fake_reads fake_reads;

static unsigned long counts[1024];

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

void fake_reads_reset(const char *bytes, size_t size)
{
	memset(&fake_reads, 0, sizeof fake_reads);
	memset(counts, 0, sizeof counts);
	fake_reads.bytes = bytes;
	fake_reads.size = size;
	fake_reads.error_at = SIZE_MAX;
	fake_reads.least_asked = SIZE_MAX;
}

unsigned long fake_reads_count(long number)
{
	return number >= 0 && number < 1024 ? counts[number] : 0;
}

static long fail(int error)
{
	errno = error;
	return -1;
}

static size_t whole_lines(const char *from, size_t most)
{
	for (size_t n = most; n > 0; n--)
		if (from[n - 1] == '\n')
			return n;
	return most;
}

static long fake_read(char *into, size_t asked)
{
	size_t most = fake_reads.size - fake_reads.at;

	fake_reads.reads++;
	if (asked < fake_reads.least_asked)
		fake_reads.least_asked = asked;
	if (fake_reads.eintr_every > 0 && fake_reads.reads % fake_reads.eintr_every == 0)
		return fail(EINTR);
	if (fake_reads.at >= fake_reads.error_at) {
		fake_reads.error_at = SIZE_MAX;
		return fail(fake_reads.error);
	}
	if (most > asked)
		most = asked;
	if (fake_reads.error_at != SIZE_MAX && most > fake_reads.error_at - fake_reads.at)
		most = fake_reads.error_at - fake_reads.at;
	if (fake_reads.chunks != NULL) {
		size_t chunk = fake_reads.chunks[fake_reads.chunk_at];

		if (most > chunk)
			most = chunk;
		if (fake_reads.chunks[fake_reads.chunk_at + 1] != 0)
			fake_reads.chunk_at++;
	}
	if (fake_reads.whole_lines)
		most = whole_lines(fake_reads.bytes + fake_reads.at, most);
	memcpy(into, fake_reads.bytes + fake_reads.at, most);
	fake_reads.at += most;
	return (long)most;
}

static long fake_pread(char *into, size_t asked, size_t offset)
{
	size_t most;

	if (fake_reads.preads++ > 0 && fake_reads.second != NULL) {
		fake_reads.bytes = fake_reads.second;
		fake_reads.size = fake_reads.second_size;
	}
	if (offset >= fake_reads.size)
		return 0;
	most = fake_reads.size - offset;
	if (most > asked)
		most = asked;
	memcpy(into, fake_reads.bytes + offset, most);
	return (long)most;
}

static int ends(const char *path, const char *end)
{
	size_t length = strlen(path);
	size_t least = strlen(end);

	return length >= least && strcmp(path + length - least, end) == 0;
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	fake_reads.calls++;
	if (number >= 0 && number < 1024)
		counts[number]++;
	if (number == SYS_read && (int)a[0] == FAKE_FD)
		return fake_read((char *)a[1], (size_t)a[2]);
	if (number == SYS_pread64 && (int)a[0] == FAKE_FD)
		return fake_pread((char *)a[1], (size_t)a[2], (size_t)a[3]);
	if (number == SYS_ioctl && fake_reads.ioctl_error != 0)
		return fail(fake_reads.ioctl_error);
	if (number == SYS_openat && fake_reads.open_end != NULL && ends((const char *)a[1], fake_reads.open_end))
		return fail(fake_reads.open_error);
	if (number == SYS_newfstatat && fake_reads.no_size) {
		long result = __real_syscall(number, a[0], a[1], a[2], a[3]);

		((struct stat *)a[2])->st_size = 0;
		return result;
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

unsigned long __wrap_getauxval(unsigned long type)
{
	if (type == AT_PAGESZ && fake_reads.page != 0)
		return fake_reads.page;
	return __real_getauxval(type);
}
