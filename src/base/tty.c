/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/tty.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_LEAST 60
#define COLUMNS_MOST 120

static bool color_wanted(bool terminal)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!terminal || (no_color && no_color[0] != '\0'))
		return false;
	return term && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

struct tty tty_of(int fd, enum tty_color color)
{
	struct tty tty = { .columns = 80 };
	struct winsize size;

	tty.terminal = isatty(fd) == 1;
	tty.color = color == TTY_COLOR_ALWAYS || (color == TTY_COLOR_AUTO && color_wanted(tty.terminal));
	tty.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (tty.terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		tty.columns = size.ws_col;
	if (tty.columns < COLUMNS_LEAST)
		tty.columns = COLUMNS_LEAST;
	if (tty.columns > COLUMNS_MOST)
		tty.columns = COLUMNS_MOST;
	return tty;
}
