/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/signals.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#include "base/clock.h"

#define TICK_US 100000
#define TWICE_NS UINT64_C(500000000)

/* TERM, HUP, USR1 and USR2 are for the command and are handed on.  A
 * terminal sends INT and QUIT to the whole group: the command has them. */
static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
static const int watched[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGXFSZ, SIGCHLD };

#define FORWARDED (sizeof forwarded / sizeof forwarded[0])
#define WATCHED (sizeof watched / sizeof watched[0])

static struct sigaction before[WATCHED];
static sigset_t mask_before;
static struct itimerval timer_before;
static bool is_attached;
static volatile sig_atomic_t pending[FORWARDED];
static volatile sig_atomic_t interrupts, let_go;
static uint64_t interrupt_ns; /* only the handler uses it */
static volatile sig_atomic_t interrupted_by;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	for (size_t i = 0; i < FORWARDED; i++) {
		if (forwarded[i] == signal)
			pending[i] = 1;
	}
	/* Nothing is handed on to what we attached to: TERM and HUP end the
	 * watching, as INT does. */
	if (is_attached ? signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP
			: signal == SIGINT) {
		uint64_t now_ns = clock_now_ns();

		/* A program that lives with interrupts, a shell or an
		 * interpreter say, gets many in its life. */
		interrupts = now_ns - interrupt_ns < TWICE_NS ? interrupts + 1 : 1;
		interrupt_ns = now_ns;
		interrupted_by = signal;
		if (interrupts >= (is_attached ? 1 : 2))
			let_go = 1;
	}
}

void signals_take(bool attached)
{
	struct itimerval timer = { { 0, TICK_US }, { 0, TICK_US } };
	struct sigaction action = { 0 };
	sigset_t mask;

	is_attached = attached;
	(void)sigprocmask(SIG_SETMASK, NULL, &mask_before);
	for (size_t i = 0; i < WATCHED; i++) {
		(void)sigaction(watched[i], NULL, &before[i]);
		(void)sigemptyset(&action.sa_mask);
		/* No SA_RESTART: waits shall end. */
		action.sa_flags = SA_SIGINFO;
		action.sa_sigaction = on_signal;
		if (watched[i] == SIGPIPE || watched[i] == SIGXFSZ) {
			/* A closed report, or one over the limit of
			 * files, must be an error, not our death. */
			action.sa_flags = 0;
			action.sa_handler = SIG_IGN;
		} else if (watched[i] == SIGCHLD) {
			/* Ignored by our parent, it would hide every end. */
			action.sa_flags = 0;
			action.sa_handler = SIG_DFL;
		}
		(void)sigaction(watched[i], &action, NULL);
	}
	mask = mask_before;
	for (size_t i = 0; i < WATCHED; i++)
		(void)sigdelset(&mask, watched[i]);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)setitimer(ITIMER_REAL, &timer, &timer_before);
}

void signals_restore_child(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < WATCHED; i++)
		(void)sigaction(watched[i], &before[i], NULL);
	(void)sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void signals_give_back(void)
{
	(void)setitimer(ITIMER_REAL, &timer_before, NULL);
	signals_restore_child(NULL);
}

int signals_next_forward(void)
{
	for (size_t i = 0; i < FORWARDED; i++) {
		if (pending[i]) {
			pending[i] = 0;
			return forwarded[i];
		}
	}
	return 0;
}

bool signals_let_go(void)
{
	return let_go != 0;
}

int signals_interrupt(void)
{
	return interrupted_by;
}
