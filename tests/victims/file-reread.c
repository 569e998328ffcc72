/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads its settings anew for each of 1,000 things that it does. */
#include "victim.h"

int main(int argc, char **argv)
{
	unsigned times = victim_times(argc, argv, 1000);
	struct victim_dir dir;
	char path[4200], text[4096];

	victim_make_files(&dir, 1);
	(void)snprintf(path, sizeof path, "%s/f0", dir.path);
	for (unsigned i = 0; i < times; i++) {
		int fd = open(path, i == 0 ? O_RDWR | O_CLOEXEC : O_RDONLY | O_CLOEXEC);

		if (fd < 0 || (i == 0 && write(fd, "colour = red\n", 13) != 13) ||
		    (i > 0 && (read(fd, text, sizeof text) != 13 || read(fd, text, sizeof text) != 0)))
			victim_fail(path);
		(void)close(fd);
	}
	victim_remove_files(&dir);
	/* The first writes, the second is the first that reads; open, 2 read, close of the others. */
	(void)printf("expect rule=file-reread calls=%u tier=likely\n", 4 * (times - 2));
	(void)printf("expect-none rule=reopen-pseudo-file\n");
	return 0;
}
