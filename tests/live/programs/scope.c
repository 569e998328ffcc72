/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command with a scope by the ptrace engine alone, without analysis:
 * what scope.py compares with other observers.
 *
 * usage: live-scope [-l N] CALLS FILE COMMAND...
 *
 * FILE gets lines "NAME COUNT FAILED" and "NAME= VALUE" of the books.  Ends as
 * the command did.  -l N: lets go after the N-th record of a call.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "sys/expr.h"

static struct {
	char name[SYS_NAME_MAX];
	unsigned long count, failed;
} rows[4096];

static void count(const struct event_call *call)
{
	char buf[SYS_NAME_MAX];
	const char *name = sys_call_print((enum sys_arch)call->arch, call->nr, buf);
	size_t i = 0;

	while (rows[i].name[0] && strcmp(rows[i].name, name) != 0)
		if (++i == sizeof rows / sizeof rows[0] - 1)
			return;
	(void)snprintf(rows[i].name, sizeof rows[i].name, "%s", name);
	rows[i].count++;
	rows[i].failed += call->ret < 0 && !sys_is_restart(call->ret);
}

static void tell(const char *path, const struct engine_stats *stats)
{
	FILE *out = fopen(path, "w");

	if (!out)
		return;
	for (size_t i = 0; rows[i].name[0]; i++)
		fprintf(out, "%s %lu %lu\n", rows[i].name, rows[i].count, rows[i].failed);
	fprintf(out, "seen= %lu\ndelivered= %lu\nlost= %lu\nin_flight= %lu\nmarks= %lu\nchildren= %lu\nfollowed= %lu\n",
		(unsigned long)stats->seen, (unsigned long)stats->delivered, (unsigned long)stats->lost,
		(unsigned long)stats->in_flight, (unsigned long)stats->marks, (unsigned long)stats->children,
		(unsigned long)stats->followed);
	fprintf(out, "not_followed= %lu\nlet_go= %lu\nstops= %lu\nmet= %u\nscoped= %d\naborted= %d\n",
		(unsigned long)stats->not_followed, (unsigned long)stats->let_go, (unsigned long)stats->stops,
		stats->met, stats->scoped, stats->aborted);
	(void)fclose(out);
}

static int end_as(const struct engine_exit *end)
{
	struct rlimit no_core = { 0, 0 };

	if (!end->known || end->signal == 0)
		return end->status;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(end->signal, SIG_DFL);
	(void)raise(end->signal);
	return 128 + end->signal;
}

int main(int argc, char **argv)
{
	struct engine_scope scope = { .calls = { 0 } };
	struct engine_spec spec = { .scope = &scope, .items = UINT64_MAX };
	const struct event_head *record;
	struct engine_stats stats;
	struct engine_exit end;
	struct engine *engine;
	struct error err = { 0 };
	struct sys_expr expr = { .some = false };
	unsigned long let_go = 0, taken = 0;
	char *program;
	int r;

	if (argc > 2 && strcmp(argv[1], "-l") == 0) {
		let_go = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc < 4 || sys_expr_add(&expr, argv[1], &err) < 0 || engine_find_program(argv[3], &program, &err) < 0) {
		fprintf(stderr, "live-scope: %s\n", err.text);
		return 125;
	}
	for (unsigned id = 1; id < CALL_COUNT; id++)
		if (sys_expr_has(&expr, (enum sys_call_id)id))
			engine_scope_add(&scope, (enum sys_call_id)id);
	scope.regions = getenv("SCOPE_REGIONS") != NULL;
	spec.argv = argv + 3;
	spec.program = program;
	if (engine_ptrace.start(&spec, &engine, &err) < 0) {
		fprintf(stderr, "live-scope: %s\n", err.text);
		return 125;
	}
	for (;;) {
		r = engine->ops->next(engine, &record, &err);
		if (r == ENGINE_RECORD && record->type == EVENT_CALL && !(record->flags & EVENT_F_MARK)) {
			count((const struct event_call *)record);
			if (++taken == let_go)
				engine->ops->let_go(engine);
		}
		if (r != ENGINE_RECORD && r != -EAGAIN)
			break;
	}
	engine->ops->stats(engine, &stats);
	engine->ops->exit_of(engine, &end);
	tell(argv[2], &stats);
	engine->ops->stop(engine);
	free(program);
	return end_as(&end);
}
