/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One analysis: takes the records of one run in order, keeps the model, the
 * counts and the rules, and in the end says what was wasted and what that
 * costs.  Knows no engine: what the engine knows of its books is handed over
 * as struct analysis_facts at the end.
 */
#ifndef SYSCULL_VERDICT_ANALYSIS_H
#define SYSCULL_VERDICT_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "event/event.h"
#include "model/model.h"
#include "rules/rule.h"
#include "verdict/budget.h"
#include "verdict/filter.h"
#include "verdict/fingerprint.h"
#include "verdict/known.h"
#include "verdict/package.h"
#include "verdict/price.h"
#include "verdict/process.h"
#include "verdict/programs.h"
#include "verdict/settings.h"
#include "verdict/site-table.h"
#include "verdict/site.h"
#include "verdict/suppress.h"
#include "verdict/tally.h"

/* Findings below this are listed but not worth fixing; both are printed. */
struct analysis_floor {
	double share; /* of the task time: 0.01 */
	uint64_t least_ns; /* and at least: 100,000 */
	uint64_t enough_ns; /* or at least, whatever the share: 100,000,000 */
	bool set; /* false: the defaults */
};

struct analysis_spec {
	struct analysis_floor floor;
	const char *const *only_rules; /* NULL: all; else NULL-ended ids */
	struct price_book *prices; /* NULL: measured here; else belongs to the analysis */
	const struct filter *filter; /* NULL: all; has to outlive the analysis */
	struct package_book *packages; /* NULL: not looked up; else belongs to the analysis */
	struct budgets *budgets; /* NULL: none; fed from here on, has to outlive the analysis */
	/* Of a configuration; NULL: none.  Both have to outlive the analysis. */
	const struct settings *settings;
	const struct suppressions *suppressions;
	/* NULL: who called is told as records tell it; has to outlive the analysis. */
	const struct analysis_stacks *stacks;
	bool sites; /* count all calls by where they came from */
};

/* The machine of the run; what is not known is NULL or 0. */
struct analysis_host {
	const char *kernel, *arch, *libc; /* "6.1.0-18-amd64", "x86_64", "glibc 2.36" */
	unsigned cpus;
};

/* Calls that the engine saw and could not deliver. */
struct analysis_loss {
	int32_t nr; /* -1 not known */
	uint16_t arch;
	bool failed;
	int err; /* 0: not failed, or with what is not known */
	uint64_t count;
};

/* What is known when the run is over, from engine and command line. */
struct analysis_facts {
	const char *engine; /* "ptrace" */
	const char *engine_why; /* why this one */
	char *const *argv; /* the command, NULL when attached */
	const int *pids; /* what we attached to */
	size_t pid_count;
	struct analysis_host host;
	bool exit_known;
	int exit_status, exit_signal;
	uint64_t wall_ns;
	/* The books; see struct engine_stats. */
	uint64_t seen, delivered, lost, in_flight, marks;
	uint64_t children, followed, not_followed, let_go;
	const struct analysis_loss *losses; /* which calls `lost` are, as far as that is known */
	size_t loss_count;
	uint64_t lost_from_ns, lost_to_ns; /* since the begin: the first and the last of them */
	uint64_t lost_state; /* forks, execs and ends that were not told of */
	uint64_t state_errors;
	uint64_t stacks, stacks_left_out, stacks_unread, callers_unknown;
	/* The calls that were watched, NULL-ended; NULL: all.  With a scope the
	 * books are of these alone (and of calls without a name, and of foreign
	 * architectures), a call outside is not watched and never 0, rules have
	 * seen too little to be judged, and no time can be estimated. */
	const char *const *scope;
	/* RULE_NEEDS_… that the source of the records does not have: rules that
	 * need them are not judged.  How it could have it, by bit; NULL entries
	 * where it never has. */
	uint32_t lacks;
	const char *const *lack_hints;
	bool calls_only; /* nothing is known of the time outside calls: shares are of theirs */
	bool pinned;
	bool aborted;
	bool file_cut; /* of a file that is not whole; else we let go early */
	const char *abort_reason;
	const char *warnings[16]; /* blind spots met, NULL-ended */
	size_t altered; /* so many of them, the first, say how the command behaved otherwise because of us */
	bool io_uring; /* was set up in the tree */
	bool foreign_calls; /* of another architecture, counted by number */
	bool other_tracer; /* something in the tree wanted to trace */
	bool refused_unseen; /* with a scope: seccomp may have refused calls that were not seen */
};

/* One more, if there is room; the text has to outlive the facts. */
void analysis_add_warning(struct analysis_facts *facts, const char *text);

/* A finding with its price. */
struct verdict_remedy {
	const struct finding_remedy *remedy;
	int64_t saves_calls; /* calls fewer */
	double saves_ns, low_ns, high_ns;
	enum price_source source; /* where most of it comes from */
};

struct verdict_cost {
	double ns, low_ns, high_ns;
	enum price_source source;
	bool elsewhere; /* in the price of the forks among the costs, not in its own */
};

struct verdict_finding {
	const struct finding *finding;
	double cost_ns, cost_low_ns, cost_high_ns;
	double share; /* of task_ns */
	enum price_source source; /* where most of the cost comes from */
	struct verdict_cost *costs; /* in the order of finding->costs */
	struct verdict_remedy *remedies; /* in the order to be printed: best first */
	size_t remedy_count;
	double saves_ns; /* best remedy that keeps the output */
	bool worth;
	const struct finding *cause; /* what ends that one ends this one too; NULL: it stands by itself */
	char fingerprint[FINGERPRINT_BYTES];
	const char *package; /* of the program, "coreutils 9.1-1"; NULL not known */
	const char *library; /* whose calls they are, when not the program's own; foreign text */
	const char *library_package; /* as package */
	const struct known_row *fixed_by; /* the version here has this fix already */
	const struct suppress_entry *suppressed_by; /* NULL: it is told */
};

/* An entry of the suppressions and what it took: unused when that is nothing. */
struct verdict_suppression {
	const struct suppress_entry *entry;
	uint64_t findings, calls;
};

/* A call with its time, for tables. */
struct verdict_call {
	struct tally_row row;
	char name[SYS_NAME_MAX];
	double ns; /* all of them together, untraced, waiting left out */
	double low_ns, high_ns;
	double usual_ns; /* of one of them: what a quarter took at most; 0 not known */
	double most_ns; /* of one of them, where prices by paths are more than they took; 0 they are not */
	enum price_source source; /* where most of it comes from */
};

/* What happened between marks. */
#define VERDICT_REGION_TOP 3
struct verdict_region {
	const char *name; /* "" before the first mark */
	uint64_t marks, calls, failed;
	double calls_ns, calls_low_ns, calls_high_ns; /* price of its calls */
	enum price_source source; /* where most of it comes from */
	uint64_t wall_ns; /* as traced */
	double work_ns, waiting_ns; /* without us: something of the tree ran, or nothing did; NAN not known */
	struct {
		const struct verdict_call *call; /* NULL: no more */
		uint64_t count;
	} top[VERDICT_REGION_TOP]; /* most time first */
};

/* "@xattr" and the limit: what would keep the first finding fixed. */
struct verdict_budget {
	char what[64]; /* "" none */
	uint64_t limit;
};

struct analysis;

int analysis_new(const struct analysis_spec *spec, struct analysis **ret, struct error *err);
void analysis_free(struct analysis *analysis);

/* What the engine has to capture for the rules that are on and the model. */
uint64_t analysis_items(const struct analysis *analysis);
/* NULL-ended, owned by the analysis. */
const char *const *analysis_env(const struct analysis *analysis);

int analysis_feed(struct analysis *analysis, const struct event_head *head);
/* After the last record; facts are copied but for what they point at. */
int analysis_finish(struct analysis *analysis, const struct analysis_facts *facts, struct error *err);

/* How the command began; what was not seen is not known. */
struct analysis_environment {
	bool nofile_known;
	uint64_t nofile_soft, nofile_hard; /* UINT64_MAX no limit */
	bool env_known;
	const char *locale; /* as LC_ALL, LC_CTYPE or LANG say; NULL: none set */
	const char *tz; /* NULL unset */
	uint64_t path_entries; /* of PATH */
};

/* The result, as reporters read it; valid until analysis_free. */
struct analysis_result {
	struct analysis_facts facts;
	struct analysis_floor floor;
	struct model *model;
	const struct tally *tally;
	uint64_t processes; /* distinct processes seen */
	uint64_t calls; /* all but marks */
	double calls_ns, calls_low_ns, calls_high_ns; /* price of all calls, untraced */
	double user_ns; /* outside calls, stops taken out */
	double waiting_ns; /* blocked in calls beyond their price */
	double task_ns, task_low_ns, task_high_ns; /* user + system over all tasks, stops taken out */
	/* Estimated wall time without us.  One task: its task and waiting time.
	 * A tree: the wall time less all stops, as if they had stood in each
	 * other's way; at least what the first process needs by itself. */
	double untraced_ns, untraced_low_ns, untraced_high_ns;
	double firm_fit; /* the same for prices that do not depend on what is asked (time_is_firm) */
	double price_fit; /* prices are times this: what this run's account leaves of them */
	double stop_ns; /* our cost of one call, as found in this run */
	bool closed, complete;
	char books_why[160]; /* when not closed or not complete */
	struct verdict_finding *findings; /* by best saving, largest first */
	size_t finding_count;
	struct verdict_finding *suppressed; /* not among the findings, nor in any sum below */
	size_t suppressed_count;
	struct verdict_suppression *suppressions; /* in the order in which they were read */
	size_t suppression_count;
	const struct settings *settings; /* NULL: every rule has its own limits */
	double waste_ns; /* sum of the costs of findings that are waste */
	uint64_t waste_calls;
	size_t worth_count, below_count;
	uint64_t evicted; /* keys that rules gave up for want of room */
	struct price_book *prices;
	const struct program_book *programs; /* NULL: no account of the tasks, or not of all */
	double dearer_ns; /* of each call in what it says */
	struct verdict_exe *by_exe; /* dearest first; of the calls that a filter lets through */
	size_t by_exe_count;
	struct verdict_region *regions; /* in the order of their first mark */
	size_t region_count; /* 0: no marks were seen */
	uint64_t regions_refused; /* marks beyond the limit of names */
	struct verdict_call *by_call; /* most time first */
	size_t by_call_count;
	const struct verdict_call *all_calls; /* the same of the whole tree, whatever the filter */
	size_t all_call_count;
	uint64_t tasks; /* threads and processes seen */
	bool in_kernel; /* durations were taken in the kernel: no stops, prices are measured */
	bool stop_guessed; /* stop_ns: too few calls to find it by */
	uint64_t model_losses; /* records that the model could not keep */
	const char *model_limit; /* which limit, NULL none */
	struct verdict_site_call *site_calls; /* when asked for: dearest first */
	size_t site_call_count;
	struct verdict_site *sites; /* the same by what they are told as */
	size_t site_count;
	uint64_t sites_unknown; /* calls in none of them */
	double sites_waste_ns; /* what can be saved, and of which of them is not certain */
	const struct analysis_stacks *stacks; /* who knows frames of sites; NULL nobody */
	const char *sites_trouble; /* what kept call sites from being known, NULL nothing */
	/* With a filter by_call, by_process and findings are what it lets through. */
	const struct filter *filter; /* NULL: nothing is left out */
	const struct tally *shown; /* whose rows by_call has: tally, or that of the calls let through */
	struct verdict_processes by_process;
	struct analysis_environment environment;
	struct verdict_budget next_budget;
	const struct check *check; /* what `check` says of it; NULL in a run */
};
const struct analysis_result *analysis_result(const struct analysis *analysis);
/* The check has to outlive what reads the result. */
void analysis_set_check(struct analysis *analysis, const struct check *check);

#endif
