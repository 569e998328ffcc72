/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that several subcommands have, and the status of a command that did not start. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

int command_number(const char *what, const char *text, long least, long most, long *ret, struct error *err)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || *ret < least || *ret > most)
		return error_set(err, EINVAL, "%s wants a number from %ld to %ld, not '%s'", what, least, most, text);
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
