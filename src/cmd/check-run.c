/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs of a check: one, or one for each size of --per-item. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "cmd/check.h"
#include "cmd/host.h"
#include "cmd/signals.h"
#include "engine/engine.h"

static const char *const no_rules[] = { NULL };

static void forget_run(struct check_run *run)
{
	analysis_free(run->analysis);
	call_sites_done(&run->sites);
	for (char **word = run->argv; word && *word; word++)
		free(*word);
	free(run->argv);
	free(run->program);
	run->analysis = NULL;
	run->argv = NULL;
	run->program = NULL;
}

void check_run_done(struct check_run *run)
{
	forget_run(run);
}

/* Every "{name}" of the text becomes the size. */
static char *put_size(const char *text, const struct check_sizes *sizes, uint64_t size)
{
	struct buf buf = BUF_INIT;
	size_t bytes = strlen(sizes->name);
	char *result;

	while (*text) {
		if (bytes > 0 && text[0] == '{' && strncmp(text + 1, sizes->name, bytes) == 0 &&
		    text[bytes + 1] == '}') {
			(void)buf_printf(&buf, "%" PRIu64, size);
			text += bytes + 2;
		} else {
			(void)buf_putc(&buf, *text++);
		}
	}
	result = buf_steal(&buf);
	buf_done(&buf);
	return result;
}

bool check_has_size(const struct check_settings *s, char *const *argv)
{
	char place[sizeof s->sizes.name + 2];

	(void)snprintf(place, sizeof place, "{%s}", s->sizes.name);
	if (s->prepare && strstr(s->prepare, place))
		return true;
	for (; *argv; argv++)
		if (strstr(*argv, place))
			return true;
	return false;
}

static char **put_sizes(char *const *argv, const struct check_sizes *sizes, uint64_t size)
{
	size_t count = 0;
	char **copy;

	while (argv[count])
		count++;
	copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = put_size(argv[i], sizes, size);
		if (!copy[i]) {
			while (i > 0)
				free(copy[--i]);
			free(copy);
			return NULL;
		}
	}
	return copy;
}

/* Only what the budgets need: with call budgets alone no rule, and of the
 * calls those that they name. */
static int begin(struct check_settings *s, struct budgets *budgets, struct engine_scope *scope, struct check_run *run,
		 struct error *err)
{
	bool all = !budgets || s->baseline.path || s->project.generate;
	bool scoped = !all && budgets_scope(budgets, scope->calls, &scope->regions);
	struct analysis_spec spec = {
		.floor = s->floor,
		.only_rules = scoped ? no_rules : NULL,
		.prices = price_book_new_kept(),
		.packages = scoped ? NULL : package_book_new(PACKAGE_DATABASE, package_system_merged()),
		.budgets = budgets,
	};

	project_apply(&s->project, &spec);
	if (!scoped && s->watch.stacks != ENGINE_STACKS_OFF)
		spec.stacks = call_sites_begin(&run->sites, &(struct stack_options){ .here = true });
	run->watch = watch_as_said(&s->watch, run->argv);
	run->watch.program = run->program;
	if (scoped)
		run->watch.scope = scope;
	return analysis_new(&spec, &run->analysis, err);
}

int check_run_once(struct check_settings *s, char *const *argv, struct budgets *budgets, struct check_run *run,
		   struct error *err)
{
	struct engine_scope scope = { 0 };
	int r;

	forget_run(run);
	run->exit = EXIT_OURS;
	run->argv = put_sizes(argv, &s->sizes, s->sizes.at[0]);
	if (!run->argv)
		return error_errno(err, ENOMEM, "cannot begin");
	r = engine_find_program(run->argv[0], &run->program, err);
	if (r < 0) {
		run->exit = command_exit_for(err);
		return r;
	}
	r = begin(s, budgets, &scope, run, err);
	if (r < 0)
		return r;
	r = watch_run(&run->watch, run->analysis, err);
	if (r < 0) {
		run->exit = command_exit_for(err);
		return r;
	}
	signals_give_back();
	project_tell(&s->project, &run->watch.facts);
	r = analysis_finish(run->analysis, &run->watch.facts, err);
	(void)price_book_save(analysis_result(run->analysis)->prices);
	if (r == 0)
		run->exit = 0;
	return r;
}

int check_run_nothing(struct check_settings *s, char *const *argv, struct check_run *run)
{
	struct engine_scope scope = { 0 };
	struct error err = { 0 };
	int r;

	run->argv = put_sizes(argv, &s->sizes, s->sizes.at[0]);
	r = run->argv ? begin(s, &s->budgets, &scope, run, &err) : -ENOMEM;
	run->watch.facts.argv = run->argv;
	run->watch.facts.host = host_of_this();
	return r < 0 ? r : analysis_finish(run->analysis, &run->watch.facts, &err);
}

/* --prepare with the size put in; its output is not the command's. */
static int prepare(const struct check_settings *s, uint64_t size, struct check *check, struct error *err)
{
	char *command = put_size(s->prepare, &s->sizes, size);
	int status;
	pid_t pid;

	if (!command)
		return error_errno(err, ENOMEM, "--prepare");
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* What there is to read is the command's too. */
		(void)close(STDIN_FILENO);
		(void)open("/dev/null", O_RDONLY);
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	free(command);
	if (pid < 0)
		return error_errno(err, errno, "--prepare");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "--prepare");
	if (WIFSIGNALED(status))
		return check_add_reason(check, CHECK_CANNOT_JUDGE,
					"--prepare was ended by signal %d with the size %" PRIu64, WTERMSIG(status),
					size);
	if (WEXITSTATUS(status) != 0)
		return check_add_reason(check, CHECK_CANNOT_JUDGE, "--prepare ended with %d with the size %" PRIu64,
					WEXITSTATUS(status), size);
	return 0;
}

/* How the command ended; of several runs the first that failed. */
static void note_end(const struct check_settings *s, struct check_run *run)
{
	const struct engine_exit *end = &run->watch.end;
	int interrupt = signals_interrupt();

	if (run->failed)
		return;
	run->ended = end->known;
	run->status = end->status;
	run->signal = end->known ? end->signal : interrupt;
	run->failed = run->signal != 0 || !end->known || !s->expected[end->status & 0xff];
}

/* Something in the tree that wanted to trace was refused by our being there:
 * what it did then is not what it does without us. */
static void note_tracer(const struct check_run *run, struct check *check)
{
	if (analysis_result(run->analysis)->facts.other_tracer)
		(void)check_add_reason(check, CHECK_CANNOT_JUDGE,
				       "a program in the tree traces others itself (LeakSanitizer, a debugger), "
				       "which cannot be under us");
}

int check_run_all(struct check_settings *s, char *const *argv, struct check_run *ret, struct check *check,
		  struct error *err)
{
	struct check_sizes all = s->sizes;
	size_t runs = all.count ? all.count : 1;
	int r = 0;

	for (size_t i = 0; i < runs && r == 0 && ret->signal == 0; i++) {
		size_t reasons = check->unjudged_count;

		s->sizes.at[0] = all.at[i];
		if (s->prepare)
			r = prepare(s, all.at[i], check, err);
		if (r < 0 || check->unjudged_count > reasons)
			break;
		r = check_run_once(s, argv, &s->budgets, ret, err);
		/* No engine here: that is no fault of the command's. */
		if (r < 0 && !ret->watch.started && err->code == ENOTSUP) {
			(void)check_add_reason(check, CHECK_CANNOT_JUDGE, "%s", err->text);
			*err = (struct error){ 0 };
			ret->exit = 0;
			r = analysis_finish(ret->analysis, &ret->watch.facts, err);
			break;
		}
		if (r == 0 && budgets_take(&s->budgets, analysis_result(ret->analysis), all.at[i]) < 0) {
			ret->exit = EXIT_OURS;
			r = error_errno(err, ENOMEM, "judging");
		}
		if (r == 0) {
			note_end(s, ret);
			note_tracer(ret, check);
		}
	}
	s->sizes = all;
	return r;
}
