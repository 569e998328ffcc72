/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that several subcommands have, and the status of a command that did not start. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

#define SECONDS_MAX 31536000.0

#define RING_MOST (256u << 20)

int command_number(const char *what, const char *text, long least, long most, long *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || *ret < least || *ret > most)
		return error_set(err, EINVAL, "%s wants a number from %ld to %ld, not '%s'", what, least, most, text);
	return 0;
}

int command_ring(const char *text, uint64_t *ret, struct error *err)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *end;
	unsigned long long bytes;

	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (end != text && (*end == 'K' || *end == 'k' || *end == 'M' || *end == 'm')) {
		bytes *= *end == 'K' || *end == 'k' ? 1024 : 1024 * 1024;
		end++;
	}
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || bytes < (unsigned long long)page ||
	    bytes > RING_MOST || (bytes & (bytes - 1)) != 0)
		return error_set(err, EINVAL, "--ring wants a power of two from %ldK to 256M, not '%s'", page / 1024,
				 text);
	*ret = bytes;
	return 0;
}

int command_when(const char *what, const char *text, int *ret, struct error *err)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "%s wants auto, always or never, not '%s'", what, text);
}

int command_exit_for(const struct error *err)
{
	if (err->code == ENOENT || err->code == ENOTDIR)
		return EXIT_NOT_FOUND;
	switch (err->code) {
	case EACCES:
	case ENOEXEC:
	case EISDIR:
	case EPERM:
	case E2BIG:
	case ETXTBSY:
	case ELOOP:
	case ENAMETOOLONG:
	case ELIBBAD:
		return EXIT_NOT_EXECUTABLE;
	default:
		return EXIT_OURS;
	}
}

int command_seconds(const char *what, const char *text, uint64_t *ret_ns, struct error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "s") != 0) || !(value >= 0.1) || value > SECONDS_MAX)
		return error_set(err, EINVAL, "%s wants a number of seconds, at least 0.1, not '%s'", what, text);
	*ret_ns = (uint64_t)(value * 1e9);
	return 0;
}
