/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our signals while a command runs: what must reach it, what ends the
 * watching, and a tick that gets blocking waits to look around.  The command
 * itself starts with exactly the mask and dispositions that we were given.
 */
#ifndef SYSCULL_CMD_SIGNALS_H
#define SYSCULL_CMD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Takes over; `attached` decides what INT means. */
void signals_take(bool attached);
/* In the child before exec: everything as it was. */
void signals_restore_child(void *unused);
/* Back to what was there before signals_take. */
void signals_give_back(void);

/* The next signal to hand on to the command, 0 none. */
int signals_next_forward(void);
/* True once INT came often enough to let go: twice within half a second for a
 * command that we launched, once when attached. */
bool signals_let_go(void);
/* An INT or QUIT that ended the watching, 0 none. */
int signals_interrupt(void);

#endif
