/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads settings that change each time, and 1,000 files once. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	char path[4200], text[4096];

	victim_make_files(&dir, times);
	for (unsigned i = 0; i < times; i++) {
		int fd;

		(void)snprintf(path, sizeof path, "%s/f0", dir.path);
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		if (fd < 0 || write(fd, "x", 1) != 1)
			victim_fail(path);
		(void)close(fd);
		for (unsigned n = 0; n < 2; n++) {
			(void)snprintf(path, sizeof path, "%s/f%u", dir.path, n ? i : 0);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd < 0 || read(fd, text, sizeof text) < 0)
				victim_fail(path);
			(void)close(fd);
		}
	}
	victim_remove_files(&dir);
	(void)printf("expect-none rule=file-reread\n");
	return 0;
}
