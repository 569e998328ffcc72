/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: golden-report CASE FILE — writes the report of a case and compares
 * it with the file; says what differs, and which lines are too long. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "golden-cases.h"

static int fail(const char *what, const char *detail)
{
	(void)fprintf(stderr, "%s: %s\n", what, detail);
	return 1;
}

/* Bytes of a line that a terminal does not show as characters: our own colours. */
static size_t without_colors(const char *line, size_t bytes, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (line[i] == '\033') {
			while (i < bytes && line[i] != 'm')
				i++;
			continue;
		}
		out[used++] = line[i];
	}
	return used;
}

static int check_lines(const char *text, const struct golden *golden)
{
	unsigned number = 0, most = golden->options.tty.columns < 80 ? golden->options.tty.columns : 80;
	int bad = 0;

	while (*text) {
		size_t bytes = strcspn(text, "\n");
		char *shown = malloc(bytes + 1);
		size_t used = shown ? without_colors(text, bytes, shown) : 0;

		number++;
		if (!shown)
			return 1;
		if (text_columns(shown, used) > most)
			bad |= fprintf(stderr, "line %u has %zu columns\n", number, text_columns(shown, used)) > 0;
		if (used > 0 && shown[used - 1] == ' ')
			bad |= fprintf(stderr, "line %u ends in a space\n", number) > 0;
		for (size_t i = 0; i < used; i++)
			if ((unsigned char)shown[i] < 0x20 || shown[i] == 0x7f ||
			    ((unsigned char)shown[i] > 0x7e && !golden->options.tty.utf8))
				bad |= fprintf(stderr, "line %u has byte 0x%02x\n", number, (unsigned char)shown[i]) >
				       0;
		free(shown);
		text += bytes;
		if (*text != '\n')
			bad |= fprintf(stderr, "the last line does not end\n") > 0;
		else
			text++;
	}
	return bad;
}

static int compare(const char *path, const char *text, size_t bytes)
{
	struct buf wanted = BUF_INIT;
	FILE *file;
	int r;

	if (getenv("SYSCULL_GOLDEN_UPDATE")) {
		file = fopen(path, "w");
		if (!file || fwrite(text, 1, bytes, file) != bytes || fclose(file) != 0)
			return fail(path, "cannot write");
		return 0;
	}
	r = buf_read_file(&wanted, -100 /* AT_FDCWD */, path, 1 << 20);
	if (r < 0)
		return fail(path, strerror(-r));
	r = wanted.bytes != bytes || memcmp(wanted.data ? wanted.data : "", text, bytes) != 0;
	if (r)
		(void)fprintf(stderr, "%s differs; written now:\n%s", path, text);
	buf_done(&wanted);
	return r;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t bytes = 0;
	struct golden *golden;
	FILE *out;
	int r;

	if (argc != 3)
		return fail("usage", "golden-report CASE FILE");
	if (!setlocale(LC_ALL, "")) {
		(void)fprintf(stderr, "no such locale here\n");
		return 77;
	}
	golden = golden_new(argv[1]);
	out = open_memstream(&text, &bytes);
	if (!golden || !out)
		return fail(argv[1], "no such case");
	r = reporter_by_name("text")->write(out, &golden->result, &golden->options);
	if (fclose(out) != 0 || r < 0)
		return fail("write", strerror(-r));
	r = check_lines(text, golden) | compare(argv[2], text, bytes);
	free(text);
	golden_free(golden);
	return r;
}
