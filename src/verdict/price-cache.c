/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/price-cache.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/user-dir.h"

#define VARIABLE "XDG_CACHE_HOME"
#define FALLBACK ".cache"
#define NAME "prices"
#define HEADER "syscull prices 1"
#define BYTES_MAX 65536
#define MOST_NS 1e9 /* no loop is longer: who wrote that was not us */
#define COMPONENTS_MAX 64
#define QUICK_ROUNDS 8
#define QUICK_CALLS 16

/* The first word of a file, or the rest of the line that begins so. */
static bool word_of(const char *path, const char *begin, char *ret, size_t room)
{
	struct buf text = BUF_INIT;
	const char *at;
	size_t bytes = 0;

	if (buf_read_file(&text, AT_FDCWD, path, 1u << 20) == 0) {
		at = begin ? strstr(buf_text(&text), begin) : buf_text(&text);
		at = at && begin ? strchr(at, ':') : at;
		bytes = at ? strcspn(at, "\n") : 0;
		bytes = bytes < room ? bytes : room - 1;
		if (bytes > 0)
			memcpy(ret, at, bytes);
	}
	ret[bytes] = '\0';
	buf_done(&text);
	return bytes > 0;
}

static void without_space(char *text)
{
	for (; *text; text++)
		if (!isgraph((unsigned char)*text))
			*text = '-';
}

int price_key_read(struct price_key *ret)
{
	char machine[256];
	struct utsname host;

	*ret = (struct price_key){ 0 };
	if (uname(&host) < 0 || host.release[0] == '\0')
		return -ENOENT;
	(void)snprintf(ret->kernel, sizeof ret->kernel, "%s", host.release);
	if (!word_of("/etc/machine-id", NULL, machine, sizeof machine) &&
	    !word_of("/proc/cpuinfo", "model name", machine, sizeof machine))
		(void)snprintf(machine, sizeof machine, "%s", host.machine);
	/* The id itself is nobody's business: machine-id(5). */
	(void)snprintf(ret->machine, sizeof ret->machine, "%016" PRIx64, map_hash(machine, strlen(machine)));
	if (!word_of("/proc/sys/kernel/random/boot_id", NULL, ret->boot, sizeof ret->boot))
		(void)strcpy(ret->boot, "-");
	without_space(ret->kernel);
	without_space(ret->boot);
	return 0;
}

double price_quick_ns(void)
{
	double best = 0;

	for (unsigned round = 0; round < QUICK_ROUNDS; round++) {
		uint64_t begin = clock_now_ns();
		double ns;

		for (unsigned call = 0; call < QUICK_CALLS; call++)
			(void)syscall(SYS_getppid);
		ns = (double)(clock_now_ns() - begin) / QUICK_CALLS;
		if (round == 0 || ns < best)
			best = ns;
	}
	return best;
}

bool price_drifted(double then_ns, double now_ns)
{
	return now_ns > then_ns * (1 + PRICE_CACHE_DRIFT) || now_ns < then_ns * (1 - PRICE_CACHE_DRIFT);
}

/* "1234" picoseconds; whole numbers, so that no locale can matter. */
static bool take_ns(const char **at, double *ret)
{
	unsigned long long value;
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	value = strtoull(*at, &end, 10);
	if (errno != 0 || (*end != ' ' && *end != '\0'))
		return false;
	*at = *end ? end + 1 : end;
	*ret = (double)value / 1000;
	return *ret <= MOST_NS;
}

static bool take_row(const char *line, struct price_kept *kept)
{
	size_t name = strcspn(line, " ");
	double components;
	const char *at;

	if (line[name] != ' ')
		return false;
	at = line + name + 1;
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		const char *wanted = probe_name((enum probe_id)id);

		if (strlen(wanted) != name || memcmp(wanted, line, name) != 0)
			continue;
		if (!take_ns(&at, &kept->rows[id].ns) || !take_ns(&at, &kept->rows[id].low_ns) ||
		    !take_ns(&at, &kept->rows[id].high_ns) || !take_ns(&at, &components) || *at != '\0')
			return false;
		kept->rows[id].components = (unsigned)(components * 1000 + 0.5);
		kept->rows[id].known = true;
		return kept->rows[id].ns > 0 && kept->rows[id].low_ns > 0 &&
		       kept->rows[id].low_ns <= kept->rows[id].ns && kept->rows[id].ns <= kept->rows[id].high_ns &&
		       kept->rows[id].components <= COMPONENTS_MAX;
	}
	return true; /* a loop of another version */
}

static const char *next_line(char **at)
{
	char *line = *at, *end;

	if (!line || *line == '\0')
		return NULL;
	end = strchr(line, '\n');
	if (!end)
		return NULL; /* the end is missing: somebody else's writing */
	*end = '\0';
	*at = end + 1;
	return line;
}

static int parse(char *text, size_t bytes, const struct price_key *key, struct price_kept *ret)
{
	char wanted[sizeof *key + 8];
	const char *line;
	char *at = text;

	if (strlen(text) != bytes)
		return -EBADMSG;
	line = next_line(&at);
	if (!line || strcmp(line, HEADER) != 0)
		return -EBADMSG;
	(void)snprintf(wanted, sizeof wanted, "%s %s %s", key->machine, key->boot, key->kernel);
	line = next_line(&at);
	if (!line)
		return -EBADMSG;
	if (strcmp(line, wanted) != 0)
		return -ESTALE;
	line = next_line(&at);
	if (!line || !take_ns(&line, &ret->quick_ns) || *line != '\0' || ret->quick_ns <= 0)
		return -EBADMSG;
	while ((line = next_line(&at)))
		if (!take_row(line, ret))
			return -EBADMSG;
	return *at == '\0' ? 0 : -EBADMSG;
}

static int read_in(const struct user_dir *dir, const struct price_key *key, struct price_kept *ret)
{
	struct buf text = BUF_INIT;
	int r = user_dir_read(dir, NAME, &text, BYTES_MAX);

	*ret = (struct price_kept){ 0 };
	if (r == 0 && buf_putc(&text, '\0') < 0)
		r = -ENOMEM;
	if (r == 0)
		r = parse(text.data, text.bytes - 1, key, ret);
	if (r < 0)
		*ret = (struct price_kept){ 0 };
	buf_done(&text);
	return r;
}

int price_cache_read(const struct price_key *key, struct price_kept *ret)
{
	struct user_dir dir;
	int r;

	*ret = (struct price_kept){ 0 };
	r = user_dir_open(&dir, VARIABLE, FALLBACK, false);
	if (r < 0)
		return r;
	r = read_in(&dir, key, ret);
	user_dir_close(&dir);
	return r;
}

static void put_ns(struct buf *text, double ns)
{
	(void)buf_printf(text, " %.0f", ns * 1000);
}

int price_cache_write(const struct price_key *key, const struct price_kept *kept)
{
	struct buf text = BUF_INIT;
	struct price_kept there;
	struct user_dir dir;
	int r = user_dir_open(&dir, VARIABLE, FALLBACK, true);

	if (r < 0)
		return r;
	if (read_in(&dir, key, &there) < 0 || price_drifted(there.quick_ns, kept->quick_ns))
		there = (struct price_kept){ 0 };
	(void)buf_printf(&text, "%s\n%s %s %s\n%.0f\n", HEADER, key->machine, key->boot, key->kernel,
			 kept->quick_ns * 1000);
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		bool ours = kept->rows[id].known;

		if (!ours && !there.rows[id].known)
			continue;
		(void)buf_puts(&text, probe_name((enum probe_id)id));
		put_ns(&text, ours ? kept->rows[id].ns : there.rows[id].ns);
		put_ns(&text, ours ? kept->rows[id].low_ns : there.rows[id].low_ns);
		put_ns(&text, ours ? kept->rows[id].high_ns : there.rows[id].high_ns);
		(void)buf_printf(&text, " %u\n", ours ? kept->rows[id].components : there.rows[id].components);
	}
	r = text.failed ? -ENOMEM : user_dir_write(&dir, NAME, text.data, text.bytes);
	buf_done(&text);
	user_dir_close(&dir);
	return r;
}
