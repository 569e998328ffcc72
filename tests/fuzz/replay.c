/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: TARGET FILE...
 * Gives each file to a fuzz target, where there is no libFuzzer.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (1 << 20)

int main(int argc, char **argv)
{
	uint8_t *data = malloc(MOST);
	int done = 0;

	for (int i = 1; i < argc && data != NULL; i++) {
		FILE *file = fopen(argv[i], "r");
		size_t size;

		if (file == NULL) {
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, MOST, file);
		(void)fclose(file);
		(void)LLVMFuzzerTestOneInput(data, size);
		done++;
	}
	free(data);
	printf("%d inputs\n", done);
	return done > 0 ? 0 : 1;
}
