/* SPDX-License-Identifier: BSD-2-Clause */
/* Built twice, with WHO for a name. */
#include <unistd.h>

int ask_here(void);

static __attribute__((noinline)) int WHO(void)
{
	return getgid() + 1; /*@ who */
}

int ask_here(void)
{
	return WHO() + 1; /*@ here */
}
