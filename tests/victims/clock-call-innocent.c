/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work with a clock that the vDSO reads; skips where it does not. */
#include <time.h>

#include "victim.h"

/* Does the machine's clock source need calls? */
static void need_free_clock(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[64] = "";

	if (!file || !fgets(name, sizeof name, file))
		victim_skip("the clock source is not known");
	(void)fclose(file);
	if (strcmp(name, "tsc\n") != 0 && strcmp(name, "kvm-clock\n") != 0 && strcmp(name, "arch_sys_counter\n") != 0 &&
	    strncmp(name, "hyperv_", 7) != 0)
		victim_skip("the clock source may need calls");
}

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct timespec now = { 0 };

	need_free_clock();
	for (unsigned i = 0; i < times; i++)
		if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
			victim_fail("clock_gettime");
	(void)printf("expect-none rule=clock-call\n");
	(void)printf("count clock_gettime=0\n");
	return 0;
}
