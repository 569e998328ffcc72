/* SPDX-License-Identifier: BSD-2-Clause */
/* From a signal handler, and, on a stack of its own, from another one. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;
static char stack[65536];

static void handler(int number)
{
	sum += getgid() + number; /*@ handler */
}

static void apart(int number)
{
	sum += getgid() + number; /*@ apart */
}

int main(void)
{
	struct sigaction action;
	stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };

	sum = getgid(); /* the first answer is no repeat */
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = apart;
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 230; i++) {
		raise(SIGUSR1); /*@ raise */
		if (i % 2)
			raise(SIGUSR2); /*@ other */
	}
	return sum == 1;
}
