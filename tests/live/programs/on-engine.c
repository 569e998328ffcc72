/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands for the command in the live tests: the same with one engine, and
 * nothing else changed, as a shell would change the environment.  Where the
 * engine cannot be used "doctor" fails, and so the tests are skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends like doctor, and with 1 when the engine is not usable. */
static int doctor(void)
{
	char line[512];
	int usable = 0;
	FILE *out = popen("'" SYSCULL_PATH "' doctor", "r");

	while (out && fgets(line, sizeof line, out)) {
		(void)fputs(line, stdout);
		usable |= strncmp(line, SYSCULL_ENGINE " ", sizeof SYSCULL_ENGINE) == 0 && strstr(line, " ok:") != NULL;
	}
	if (!out || pclose(out) != 0)
		return 1;
	return !usable;
}

int main(int argc, char **argv)
{
	char **words;
	int used = 0;

	if (argc > 1 && strcmp(argv[1], "doctor") == 0)
		return doctor();
	words = calloc((size_t)argc + 3, sizeof *words);
	if (!words)
		return 125;
	words[used++] = (char *)SYSCULL_PATH;
	for (int i = 1; i < argc; i++) {
		words[used++] = argv[i];
		if (i == 1 &&
		    (strcmp(argv[i], "run") == 0 || strcmp(argv[i], "record") == 0 || strcmp(argv[i], "check") == 0)) {
			words[used++] = (char *)"--engine";
			words[used++] = (char *)SYSCULL_ENGINE;
		}
	}
	(void)execv(SYSCULL_PATH, words);
	perror(SYSCULL_PATH);
	return 125;
}
