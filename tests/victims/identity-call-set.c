/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets the ids that it has, 1,000 times. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	uid_t uid = geteuid();

	for (unsigned i = 0; i < times; i++)
		if (seteuid(uid) != 0)
			victim_fail("seteuid");
	(void)printf("expect rule=identity-call calls=%u tier=certain\n", times - 1);
	(void)printf("count setresuid+setreuid=%u\n", times);
	return 0;
}
