/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stream can show: colour, width, UTF-8. */
#ifndef SYSCULL_BASE_TTY_H
#define SYSCULL_BASE_TTY_H

#include <stdbool.h>

enum tty_color { TTY_COLOR_AUTO, TTY_COLOR_ALWAYS, TTY_COLOR_NEVER };

struct tty {
	bool terminal;
	bool color;
	bool utf8; /* the locale is UTF-8 */
	unsigned columns; /* 80 when it is no terminal; at least 60, at most 120 */
};

/* Asks about an fd; honours NO_COLOR and TERM=dumb unless `always`. */
struct tty tty_of(int fd, enum tty_color color);

#endif
