/* SPDX-License-Identifier: BSD-2-Clause */
/* The same by its whole path; and one name asked for in folder after folder of a tree. */
#include <sys/wait.h>

#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 10);
	const char *program = access("/bin/true", X_OK) == 0 ? "/bin/true" : "/usr/bin/true";
	struct victim_dir dir;
	char name[64];

	victim_make_files(&dir, 0);
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			(void)execl(program, "true", (char *)NULL);
			_exit(127);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			victim_fail("true");
	}
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof name, "d%u", i);
		if (mkdirat(dir.fd, name, 0700) < 0)
			victim_fail(name);
		(void)snprintf(name, sizeof name, "d%u/.ignore", i);
		if (openat(dir.fd, name, O_RDONLY) >= 0)
			victim_fail(name);
		(void)snprintf(name, sizeof name, "d%u", i);
		(void)unlinkat(dir.fd, name, AT_REMOVEDIR);
	}
	victim_remove_files(&dir);
	(void)printf("expect-none rule=search-path-miss\n");
	return 0;
}
