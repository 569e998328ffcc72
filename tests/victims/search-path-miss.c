/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts `true` ten times by its name, along five empty directories. */
#include <sys/wait.h>

#include "victim.h"

#define DIRECTORIES 5

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 10);
	char list[DIRECTORIES * 4200] = "";
	struct victim_dir dir;

	victim_make_files(&dir, 0);
	for (unsigned i = 0; i < DIRECTORIES; i++) {
		size_t used = strlen(list);
		char name[2] = { (char)('a' + (int)i), '\0' };

		if (mkdirat(dir.fd, name, 0700) < 0)
			victim_fail(name);
		(void)snprintf(list + used, sizeof list - used, "%s/%s:", dir.path, name);
	}
	(void)snprintf(list + strlen(list), sizeof list - strlen(list), "/bin:/usr/bin");
	if (setenv("PATH", list, 1) < 0)
		victim_fail("PATH");
	for (unsigned i = 0; i < times; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			(void)execlp("true", "true", (char *)NULL);
			_exit(127);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			victim_fail("true");
	}
	for (unsigned i = 0; i < DIRECTORIES; i++) {
		char name[2] = { (char)('a' + (int)i), '\0' };

		(void)unlinkat(dir.fd, name, AT_REMOVEDIR);
	}
	victim_remove_files(&dir);
	(void)printf("expect rule=search-path-miss calls=%u tier=likely errno=ENOENT\n", times * DIRECTORIES);
	(void)printf("count execve=%u errno=ENOENT\n", times * DIRECTORIES);
	return 0;
}
