/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs of any bytes in place of strace's: reading ends, every record that
 * comes out is well formed and can be fed to the model, the books are right,
 * and what could not be read is told in text that steers no terminal.  The
 * first byte chooses whether the working directory is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/strace/strace.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static bool is_tame(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static void read_all(struct engine *engine)
{
	const struct engine_ops *ops = engine->ops;
	struct model *model = model_new();
	const struct event_head *record;
	struct strace_facts facts;
	struct engine_stats stats;
	struct error err = { 0 };
	uint64_t calls = 0;
	int r;

	must(model != NULL);
	while ((r = ops->next(engine, &record, &err)) > 0) {
		struct model_view view;

		must(event_valid(record, record->bytes) && event_fixed_bytes(record->type) > 0);
		calls += record->type == EVENT_CALL;
		(void)model_feed(model, record, &view);
		must(view.process != NULL);
	}
	must(r == 0 || err.code != 0);
	ops->stats(engine, &stats);
	must(stats.delivered + stats.marks == calls);
	must(stats.seen == stats.delivered + stats.lost + stats.in_flight + stats.marks);
	strace_facts_of(engine, &facts);
	must(facts.unparsed <= facts.lines);
	must((facts.unparsed > 0) == (facts.first_unparsed > 0));
	must(facts.unparsed == 0 || (facts.first_text && is_tame(facts.first_text)));
	model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine *engine = NULL;
	struct error err = { 0 };
	char name[64];
	struct engine_spec spec = { .file = name, .items = UINT64_MAX };
	int fd;

	if (size < 1)
		return 0;
	spec.cwd = data[0] & 1 ? "/home/user" : NULL;
	fd = memfd_create("log", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)(size - 1));
	(void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	(void)strace_log_is((const char *)data + 1, size - 1);
	if (engine_strace_log.start(&spec, &engine, &err) == 0) {
		read_all(engine);
		engine_strace_log.stop(engine);
	} else {
		must(err.code != 0);
	}
	(void)close(fd);
	return 0;
}
