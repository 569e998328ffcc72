/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan of a proof: a first run to compare with, a second one that has to
 * say the same, then all sides in turn, and one traced run of each.
 */
#include "cmd/prove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/cmd.h"
#include "cmd/signals.h"
#include "cmd/watch.h"
#include "verdict/analysis.h"

#define TASK_LIMIT 4096

/* One way to run the command. */
struct side {
	struct remedies remedies;
	struct remedies_ready ready;
	char **environment; /* a whole one */
	double *wall_ns, *cpu_ns; /* of each run */
	struct analysis *analysis; /* of the traced run */
	struct watch watch;
};

/* Without, with all, and with each alone where there are several. */
#define SIDES_MAX (2 + REMEDIES_MAX)
enum { WITHOUT, WITH, ALONE };

struct prove {
	struct prove_plan plan;
	struct side sides[SIDES_MAX];
	unsigned side_count;
	struct prove_result result;
	struct buf with, differs;
	struct buf names[REMEDIES_MAX];
	VEC(struct prove_call) calls;
	/* What the first run left: stdout, and the compared files. */
	struct prove_once first;
	bool errors_vary; /* stderr is not the same without a remedy either (times, process ids) */
	int first_files[PROVE_COMPARED_MAX];
};

extern char **environ;

static unsigned sides_of(const struct prove_plan *plan)
{
	return plan->remedies->count > 1 ? 2 + plan->remedies->count : 2;
}

unsigned prove_total(const struct prove_plan *plan)
{
	return 2 + plan->warmup + sides_of(plan) * (plan->runs + 1);
}

/* One block, its texts included: free() is all that it takes. */
static char **copy_environment(void)
{
	size_t count = 0, bytes = 0;
	char **copy, *text;

	for (; environ[count]; count++)
		bytes += strlen(environ[count]) + 1;
	copy = malloc((count + 1) * sizeof *copy + bytes);
	if (!copy)
		return NULL;
	text = (char *)(copy + count + 1);
	for (size_t i = 0; i < count; i++) {
		copy[i] = strcpy(text, environ[i]);
		text += strlen(text) + 1;
	}
	copy[count] = NULL;
	return copy;
}

/* With a copy as the environment, which setenv and unsetenv may take apart. */
static int make_side(struct side *side, const struct remedies *remedies, unsigned runs, struct error *err)
{
	char **ours = environ, **scratch = copy_environment();
	int r;

	if (remedies)
		side->remedies = *remedies;
	for (unsigned i = 0; i < side->remedies.count; i++)
		side->remedies.at[i].owned = NULL;
	side->wall_ns = calloc(runs, sizeof *side->wall_ns);
	side->cpu_ns = calloc(runs, sizeof *side->cpu_ns);
	if (!scratch || !side->wall_ns || !side->cpu_ns) {
		free(scratch);
		return error_errno(err, ENOMEM, "--prove");
	}
	environ = scratch;
	r = remedies_prepare(&side->remedies, &side->ready, err);
	if (r == 0)
		r = remedies_environment(&side->remedies, &side->ready, err);
	side->environment = copy_environment();
	environ = ours;
	free(scratch);
	if (r == 0 && !side->environment)
		r = error_errno(err, ENOMEM, "--prove");
	return r;
}

static int make_sides(struct prove *prove, struct error *err)
{
	int r;

	prove->side_count = sides_of(&prove->plan);
	r = make_side(&prove->sides[WITHOUT], NULL, prove->plan.runs, err);
	if (r == 0)
		r = make_side(&prove->sides[WITH], prove->plan.remedies, prove->plan.runs, err);
	for (unsigned i = ALONE; r == 0 && i < prove->side_count; i++) {
		struct remedies one = remedies_one(prove->plan.remedies, i - ALONE);

		r = make_side(&prove->sides[i], &one, prove->plan.runs, err);
	}
	return r;
}

/* What a run left against what the first one left: 1 when that differs. */
static int compare(const struct prove *prove, const struct prove_once *once, struct buf *text, struct error *err)
{
	int r;

	if (once->status != prove->first.status) {
		(void)buf_printf(text, "the status is %d, not %d", once->status, prove->first.status);
		return 1;
	}
	r = prove_compare("stdout", prove->first.out, once->out, text, err);
	if (r == 0 && !prove->errors_vary)
		r = prove_compare_errors(prove->first.errors, once->errors, text, err);
	for (unsigned i = 0; r == 0 && i < prove->plan.compared_count; i++) {
		int copy;

		r = prove_copy(prove->plan.compared[i], &copy, err);
		if (r == 0)
			r = prove_compare(prove->plan.compared[i], prove->first_files[i], copy, text, err);
		if (copy >= 0)
			(void)close(copy);
	}
	return r;
}

/* One run of a side; what it left is compared unless it is the first.  `timed`:
 * the number of its times, -1 none. */
static int run_side(struct prove *prove, unsigned side, bool first, int timed, struct error *err)
{
	const struct prove_plan *plan = &prove->plan;
	/* The second run without a remedy tells what changes anyway. */
	bool again = !first && timed < 0 && side == WITHOUT;
	struct prove_once once;
	struct buf text = BUF_INIT;
	char **ours = environ;
	int r = prove_shell("--prepare", plan->prepare, err);

	if (r < 0)
		return r;
	environ = prove->sides[side].environment;
	r = prove_once(plan, &prove->sides[side].ready, first, &once, err);
	environ = ours;
	if (r < 0)
		return r;
	if (first) {
		prove->first = once;
		for (unsigned i = 0; r == 0 && i < plan->compared_count; i++)
			r = prove_copy(plan->compared[i], &prove->first_files[i], err);
	} else {
		if (again)
			r = prove_compare_errors(prove->first.errors, once.errors, NULL, err);
		prove->errors_vary = prove->errors_vary || r > 0;
		if (r >= 0)
			r = compare(prove, &once, &text, err);
		if (r > 0 && prove->result.same_output) {
			prove->result.same_output = false;
			if (side != WITHOUT) {
				(void)buf_puts(&prove->differs, "with ");
				remedies_print_all(&prove->sides[side].remedies, &prove->differs);
				(void)buf_puts(&prove->differs, ": ");
			}
			(void)buf_puts(&prove->differs, buf_text(&text));
		}
		prove_once_done(&once);
	}
	buf_done(&text);
	if (timed >= 0) {
		prove->sides[side].wall_ns[timed] = once.wall_ns;
		prove->sides[side].cpu_ns[timed] = once.cpu_ns;
	}
	return r < 0 ? r : prove_shell("--cleanup", plan->cleanup, err);
}

struct child {
	const struct remedies_ready *ready;
	int out, null;
};

/* In the traced child, before exec. */
static int prepare_child(void *data)
{
	const struct child *child = data;

	if (dup2(child->null, STDIN_FILENO) < 0 || dup2(child->out, STDOUT_FILENO) < 0 ||
	    dup2(child->null, STDERR_FILENO) < 0)
		return -errno;
	return remedies_child(child->ready);
}

static int trace(struct prove *prove, struct side *side, struct child *child, struct error *err)
{
	char **ours = environ;
	int r;

	side->watch = (struct watch){
		.argv = prove->plan.argv,
		.program = prove->plan.program,
		/* What starts a program with privileges, or kept apart from us, has
		 * to be the same on both sides. */
		.engine = "auto",
		.task_limit = TASK_LIMIT,
		.prepare = prepare_child,
		.prepare_data = child,
	};
	r = analysis_new(&(struct analysis_spec){ .prices = price_book_new_kept() }, &side->analysis, err);
	if (r < 0)
		return r;
	environ = side->environment;
	r = watch_run(&side->watch, side->analysis, err);
	environ = ours;
	if (r == 0)
		signals_give_back();
	return r == 0 ? analysis_finish(side->analysis, &side->watch.facts, err) : r;
}

static int trace_side(struct prove *prove, struct side *side, struct error *err)
{
	struct child child = { .ready = &side->ready, .out = -1, .null = -1 };
	int r = prove_shell("--prepare", prove->plan.prepare, err);

	if (r == 0) {
		child.null = open("/dev/null", O_RDWR | O_CLOEXEC);
		child.out = prove_sink(err);
		r = child.null < 0 ? error_errno(err, errno, "/dev/null") : child.out < 0 ? child.out : 0;
	}
	if (r == 0)
		r = trace(prove, side, &child, err);
	if (child.out >= 0)
		(void)close(child.out);
	if (child.null >= 0)
		(void)close(child.null);
	return r < 0 ? r : prove_shell("--cleanup", prove->plan.cleanup, err);
}

static const struct verdict_call *call_of(const struct analysis_result *result, const char *name)
{
	for (size_t i = 0; i < result->all_call_count; i++) {
		if (strcmp(result->all_calls[i].name, name) == 0)
			return &result->all_calls[i];
	}
	return NULL;
}

static int by_change(const void *a, const void *b)
{
	const struct prove_call *left = a, *right = b;
	int64_t l = llabs((int64_t)left->before - (int64_t)left->after);
	int64_t r = llabs((int64_t)right->before - (int64_t)right->after);

	return l != r ? (l < r) - (l > r) : strcmp(left->name, right->name);
}

static int add_call(struct prove *prove, const struct verdict_call *call, uint64_t before, uint64_t after)
{
	struct prove_call *row;

	if (before == after)
		return 0;
	row = vec_add(&prove->calls);
	if (!row)
		return -ENOMEM;
	memcpy(row->name, call->name, sizeof row->name);
	row->before = before;
	row->after = after;
	return 0;
}

static int ended_with(const struct watch *watch)
{
	return watch->end.signal ? 128 + watch->end.signal : watch->end.status;
}

static int count_calls(struct prove *prove, struct error *err)
{
	const struct analysis_result *before = analysis_result(prove->sides[WITHOUT].analysis);
	const struct analysis_result *after = analysis_result(prove->sides[WITH].analysis);
	struct prove_result *result = &prove->result;
	int r = 0;

	result->counted = before->closed && after->closed;
	result->count_why = !before->closed ? before->books_why : after->books_why;
	/* Programs that refuse to be traced end otherwise. */
	if (ended_with(&prove->sides[WITHOUT].watch) != result->status ||
	    (result->same_output && ended_with(&prove->sides[WITH].watch) != result->status)) {
		result->counted = false;
		result->count_why = "traced, the command ends with another status";
	}
	result->calls_before = before->calls;
	result->calls_after = after->calls;
	for (size_t i = 0; r == 0 && i < before->all_call_count; i++) {
		const struct verdict_call *other = call_of(after, before->all_calls[i].name);

		r = add_call(prove, &before->all_calls[i], before->all_calls[i].row.count,
			     other ? other->row.count : 0);
	}
	for (size_t i = 0; r == 0 && i < after->all_call_count; i++) {
		if (!call_of(before, after->all_calls[i].name))
			r = add_call(prove, &after->all_calls[i], 0, after->all_calls[i].row.count);
	}
	if (r < 0)
		return error_errno(err, -r, "--prove");
	if (prove->calls.used > 0)
		qsort(prove->calls.at, prove->calls.used, sizeof *prove->calls.at, by_change);
	result->calls = prove->calls.at;
	result->call_count = prove->calls.used;
	return 0;
}

/* What a report of the run without remedies says that this one saves: of each
 * finding that it serves the saving of a remedy of its kind, and of no other. */
static double estimate(const struct analysis_result *result, const struct remedy *remedy)
{
	static const enum finding_remedy_kind kinds[] = {
		[REMEDY_BY_VARIABLE] = REMEDY_ENVIRONMENT, [REMEDY_BY_ABSENCE] = REMEDY_ENVIRONMENT,
		[REMEDY_BY_LIMIT] = REMEDY_CONFIGURATION,  [REMEDY_BY_PRELOAD] = REMEDY_PRELOAD,
		[REMEDY_BY_FILTER] = REMEDY_SECCOMP,
	};
	double sum = 0;
	bool found = false;

	for (size_t i = 0; i < result->finding_count; i++) {
		const struct verdict_finding *finding = &result->findings[i];
		double own = -1;

		if (!remedy_serves(remedy, finding->finding->rule->id))
			continue;
		for (size_t k = 0; k < finding->remedy_count; k++) {
			const struct verdict_remedy *one = &finding->remedies[k];

			if (one->remedy->kind == kinds[remedy->means] && one->saves_ns > own)
				own = one->saves_ns;
		}
		found = found || own >= 0;
		sum += own >= 0 ? own : 0;
	}
	return found ? sum : -1;
}

static void tell_remedies(struct prove *prove)
{
	const struct remedies *remedies = prove->plan.remedies;
	const struct analysis_result *before = analysis_result(prove->sides[WITHOUT].analysis);
	struct prove_result *result = &prove->result;

	for (unsigned i = 0; i < remedies->count; i++) {
		struct prove_remedy *told = &result->remedies[i];
		struct side *side = &prove->sides[remedies->count > 1 ? ALONE + i : WITH];
		struct prove_times times, cpu;

		prove_judge(prove->sides[WITHOUT].wall_ns, side->wall_ns, prove->plan.runs, &times);
		prove_judge(prove->sides[WITHOUT].cpu_ns, side->cpu_ns, prove->plan.runs, &cpu);
		remedies_print(remedies, i, &prove->names[i]);
		told->name = buf_text(&prove->names[i]);
		told->unsafe = remedies->at[i].remedy->unsafe;
		told->output = remedies->at[i].remedy->output;
		told->estimated_ns = estimate(before, remedies->at[i].remedy);
		told->saves_calls = (int64_t)before->calls - (int64_t)analysis_result(side->analysis)->calls;
		told->saves_ns = times.before.median - times.after.median;
		told->saves_cpu_ns = cpu.before.median - cpu.after.median;
		told->shown = times.word != PROVE_NO_DIFFERENCE;
		told->cpu_shown = cpu.word != PROVE_NO_DIFFERENCE;
	}
	result->remedy_count = remedies->count;
}

static int measure(struct prove *prove, struct error *err)
{
	int r = 0;

	for (unsigned run = 0; r == 0 && run < prove->plan.warmup; run++)
		r = run_side(prove, run % prove->side_count, false, -1, err);
	/* Each side comes first in its turn, so that none has it warmer. */
	for (unsigned run = 0; r == 0 && run < prove->plan.runs; run++) {
		for (unsigned i = 0; r == 0 && i < prove->side_count; i++) {
			unsigned side = (run + i) % prove->side_count;

			r = run_side(prove, side, false, (int)run, err);
		}
	}
	for (unsigned i = 0; r == 0 && i < prove->side_count; i++)
		r = trace_side(prove, &prove->sides[i], err);
	if (r < 0)
		return r;
	prove_judge(prove->sides[WITHOUT].wall_ns, prove->sides[WITH].wall_ns, prove->plan.runs, &prove->result.times);
	prove_judge(prove->sides[WITHOUT].cpu_ns, prove->sides[WITH].cpu_ns, prove->plan.runs, &prove->result.cpu);
	tell_remedies(prove);
	return count_calls(prove, err);
}

int prove_run(const struct prove_plan *plan, struct prove **ret, const struct prove_result **ret_result,
	      struct error *err)
{
	struct prove *prove = calloc(1, sizeof *prove);
	int r;

	*ret = prove;
	if (!prove)
		return error_errno(err, ENOMEM, "--prove");
	prove->plan = *plan;
	prove->first.out = prove->first.errors = -1;
	for (unsigned i = 0; i < PROVE_COMPARED_MAX; i++)
		prove->first_files[i] = -1;
	remedies_print_all(plan->remedies, &prove->with);
	prove->result = (struct prove_result){
		.argv = plan->argv,
		.with = buf_text(&prove->with),
		.runs = plan->runs,
		.warmup = plan->warmup,
		.same_output = true,
		.steady = true,
	};
	r = make_sides(prove, err);
	if (r == 0)
		r = run_side(prove, WITHOUT, true, -1, err);
	if (r == 0)
		r = run_side(prove, WITHOUT, false, -1, err);
	if (r < 0)
		return r;
	prove->result.status = prove->first.status;
	prove->result.steady = prove->result.same_output;
	if (prove->result.steady)
		r = measure(prove, err);
	if (!prove->result.same_output)
		prove->result.differs = buf_text(&prove->differs);
	*ret_result = &prove->result;
	return r;
}

void prove_free(struct prove *prove)
{
	if (!prove)
		return;
	for (unsigned i = 0; i < prove->side_count; i++) {
		remedies_ready_done(&prove->sides[i].ready);
		free(prove->sides[i].environment);
		free(prove->sides[i].wall_ns);
		free(prove->sides[i].cpu_ns);
		analysis_free(prove->sides[i].analysis);
	}
	for (unsigned i = 0; i < REMEDIES_MAX; i++)
		buf_done(&prove->names[i]);
	for (unsigned i = 0; i < PROVE_COMPARED_MAX; i++) {
		if (prove->first_files[i] >= 0)
			(void)close(prove->first_files[i]);
	}
	prove_once_done(&prove->first);
	buf_done(&prove->with);
	buf_done(&prove->differs);
	vec_done(&prove->calls);
	free(prove);
}
