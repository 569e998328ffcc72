/* SPDX-License-Identifier: BSD-2-Clause */
#include "golden-cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/books.h"
#include "verdict/judge.h"
#include "verdict/upgrade.h"

static const struct rule xattr_probe = { .id = "xattr-probe" }, localtime_stat = { .id = "localtime-stat" },
			 fd_sweep = { .id = "fd-sweep" }, long_rule = { .id = "a-rule-with-quite-a-long-name" };

static const struct price_fixed prices[] = {
	{ CALL_lgetxattr, ENODATA, 940, 100 }, { CALL_getxattr, ENODATA, 940, 100 }, { CALL_llistxattr, 0, 940, 100 },
	{ CALL_newfstatat, 0, 1240, 0 },       { CALL_close, EBADF, 160, 0 },
};

static const struct known_row known[] = {
	{ "xattr-probe", "*/bin/ls", "coreutils", "coreutils", "9.6", "list-first", "lists once per file", "" },
	{ "fd-sweep", "*/libgpgme.so.*", "gpgme", "gpgme1.0", "1.10.0", "all", "closes only what is open", "" },
};

#define KNOWN (sizeof known / sizeof *known)

static const char *const ls_words[] = { "ls", "-l", "d1k", NULL };

static void add_call(struct golden *golden, enum sys_call_id id, uint64_t count, uint64_t failed, double ns)
{
	size_t n = golden->result.by_call_count++;
	struct verdict_call *call;

	golden->result.by_call = realloc(golden->result.by_call, (n + 1) * sizeof *golden->result.by_call);
	call = &golden->result.by_call[n];
	*call = (struct verdict_call){ .ns = ns };
	call->row.id = id;
	call->row.count = count;
	call->row.failed = failed;
	(void)strcpy(call->name, sys_call(id)->name);
	golden->result.calls += count;
	golden->result.calls_ns += ns;
}

/* What `ls -l` of 1,000 files does. */
static void run_of_ls(struct golden *golden)
{
	struct analysis_result *result = &golden->result;

	add_call(golden, CALL_statx, 1001, 0, 1300e3);
	add_call(golden, CALL_lgetxattr, 1001, 1001, 1140e3);
	add_call(golden, CALL_getxattr, 1002, 1002, 1140e3);
	add_call(golden, CALL_write, 199, 0, 410e3);
	add_call(golden, CALL_openat, 47, 12, 130e3);
	add_call(golden, CALL_mmap, 32, 0, 61e3);
	add_call(golden, CALL_read, 22, 0, 9e3);
	add_call(golden, CALL_close, 38, 0, 8e3);
	add_call(golden, CALL_exit_group, 15, 0, 2e3);
	result->facts = (struct analysis_facts){ .engine = "ptrace",
						 .engine_why = "needs no privileges",
						 .argv = (char *const *)ls_words,
						 .exit_known = true,
						 .wall_ns = 65000000,
						 .seen = result->calls,
						 .delivered = result->calls };
	result->processes = result->tasks = 1;
	result->user_ns = 10.8e6;
	result->task_ns = 15e6;
	result->untraced_ns = 15e6;
	result->stop_ns = 6500;
}

static struct finding *add_xattr(struct golden *golden)
{
	struct finding *finding = finding_add(&golden->list, &xattr_probe, FINDING_LIKELY);
	struct finding_remedy *remedy;

	finding_add_cost(finding, CALL_lgetxattr, ENODATA, 1001, "security.selinux")->components = 2002;
	finding_add_cost(finding, CALL_getxattr, ENODATA, 1002, "system.posix_acl_access")->components = 2004;
	finding->calls = 2003;
	finding_set(&finding->what, "attribute look-ups that found nothing (ENODATA), one per name and file");
	finding_set(&finding->where, "1,000 files in d1k and d1k itself; ext4 on /dev/vda");
	finding_set(&finding->exe, "/usr/bin/ls");
	if (vec_grow(&finding->sites))
		finding->sites.at[finding->sites.used++] = (struct finding_site){
			.module = strdup("/usr/lib/x86_64-linux-gnu/libselinux.so.1"), .offset = 0xc1e9, .count = 1001
		};
	if (vec_grow(&finding->sites))
		finding->sites.at[finding->sites.used++] =
			(struct finding_site){ .module = strdup("/usr/bin/ls"), .offset = 0xf074, .count = 1002 };
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	remedy->id = "list-first";
	finding_set(&remedy->text, "llistxattr first, get what it names");
	finding_add_delta(remedy, CALL_lgetxattr, ENODATA, -1001, 2002);
	finding_add_delta(remedy, CALL_getxattr, ENODATA, -1002, 2004);
	finding_add_delta(remedy, CALL_llistxattr, 0, 1001, 2002);
	remedy = finding_add_remedy(finding, REMEDY_PRELOAD);
	finding_set(&remedy->text, "answer look-ups without asking");
	finding_set(&remedy->changes, "no \"+\" on files that have an ACL");
	finding_remedy_saves_all(remedy, finding);
	finding_add_sample(finding, strdup("lgetxattr(\"d1k/f312\", \"security.selinux\", 0x55d5c8a1b2e0, 255) = -1 "
					   "ENODATA (No data available)"));
	finding_add_note(finding, "unchanged as far as seen");
	return finding;
}

static struct finding *add_localtime(struct golden *golden, const struct rule *rule, uint64_t count)
{
	struct finding *finding = finding_add(&golden->list, rule, FINDING_CERTAIN);
	struct finding_remedy *remedy;

	(void)finding_add_cost(finding, CALL_newfstatat, 0, count, NULL);
	finding->calls = count;
	finding_set(&finding->what, "looks at the time zone file again for each time it prints (TZ is unset)");
	finding_set(&finding->where, "/etc/localtime");
	finding_set(&finding->exe, "/usr/bin/find");
	remedy = finding_add_remedy(finding, REMEDY_ENVIRONMENT);
	finding_set(&remedy->text, "TZ=:/etc/localtime");
	finding_set(&remedy->command, "TZ=:/etc/localtime find d1k -ls");
	finding_remedy_saves_all(remedy, finding);
	finding_add_sample(finding, strdup("newfstatat(AT_FDCWD, \"/etc/localtime\", {...}, 0) = 0"));
	return finding;
}

static void case_full(struct golden *golden)
{
	run_of_ls(golden);
	(void)add_xattr(golden);
}

static void add_package(struct golden *golden, const char *path, const char *name, const char *version,
			const char *source)
{
	if (!golden->packages)
		golden->packages = package_book_new(NULL, true);
	(void)package_book_add(golden->packages, path, name, version, source, version);
}

/* A version that makes the waste, and a library that does. */
static void case_upgrade(struct golden *golden)
{
	static const char library[] = "/usr/lib/x86_64-linux-gnu/libgpgme.so.11";
	struct finding *finding;

	run_of_ls(golden);
	(void)add_xattr(golden);
	add_package(golden, "/usr/bin/ls", "coreutils", "9.1-1", "coreutils");
	finding = finding_add(&golden->list, &fd_sweep, FINDING_CERTAIN);
	(void)finding_add_cost(finding, CALL_close, EBADF, 1200, NULL);
	finding->calls = 1200;
	finding_set(&finding->what, "closes numbers that are not open (EBADF)");
	finding_set(&finding->exe, "/usr/bin/reader");
	if (vec_grow(&finding->sites))
		finding->sites.at[finding->sites.used++] =
			(struct finding_site){ .module = strdup(library), .offset = 0x1234, .count = 1200 };
	add_package(golden, library, "libgpgme11", "1.9.0-6", "gpgme1.0");
}

static void case_upgraded(struct golden *golden)
{
	run_of_ls(golden);
	(void)add_xattr(golden);
	add_package(golden, "/usr/bin/ls", "coreutils", "9.7-3", "coreutils");
	golden->options.verbose = true;
}

static void case_clean(struct golden *golden)
{
	run_of_ls(golden);
}

static void case_below(struct golden *golden)
{
	run_of_ls(golden);
	(void)add_localtime(golden, &localtime_stat, 24);
}

static void case_not_closed(struct golden *golden)
{
	case_full(golden);
	golden->result.facts.seen += 12;
	golden->result.facts.children = 2;
	golden->result.facts.followed = 1;
}

static void case_not_complete(struct golden *golden)
{
	case_full(golden);
	golden->result.facts.seen += 1200;
	golden->result.facts.lost = 1200;
	golden->result.facts.aborted = true;
	golden->result.facts.abort_reason = "out of memory";
}

static void case_many(struct golden *golden)
{
	run_of_ls(golden);
	(void)add_localtime(golden, &localtime_stat, 1050);
	(void)add_xattr(golden);
	(void)add_localtime(golden, &fd_sweep, 900);
	(void)add_localtime(golden, &long_rule, 850);
	(void)add_localtime(golden, &localtime_stat, 21);
	add_localtime(golden, &xattr_probe, 200)->information = true;
}

static void case_many_verbose(struct golden *golden)
{
	case_many(golden);
	golden->options.verbose = true;
}

#define HOSTILE \
	"\033]0;owned\007\033[31m\xff\xfe\r\n\tFindings: none\x7f\xe2\x80\xae" \
	"evil"

static void case_hostile(struct golden *golden)
{
	static const char *const words[] = {
		"sh\033[2J", "-c", "echo \"$HOME\"\nrm *", HOSTILE, "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97", NULL
	};
	struct finding *finding;

	case_full(golden);
	golden->result.facts.argv = (char *const *)words;
	golden->result.facts.warnings[0] = "a warning with " HOSTILE;
	finding = &golden->list.items.at[0];
	/* Rules escape these; a rule that forgets must do no harm. */
	finding_set(&finding->what, "what %s", HOSTILE);
	finding_set(&finding->where, "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 in %s and \\33 escaped already", HOSTILE);
	finding_set(&finding->exe, "/tmp/%s/caf\xc3\xa9/back\\slash", HOSTILE);
	free(finding->costs.at[0].detail);
	finding->costs.at[0].detail = strdup(HOSTILE);
	free(finding->sites.at[0].module);
	finding->sites.at[0].module = strdup("/lib/" HOSTILE ".so");
	finding->sites_other = 12345;
	finding->script_kind = SCRIPT_FILE;
	finding->script = strdup("/srv/" HOSTILE ".py");
	finding_set(&finding->remedies.at[0].command, "TZ=%s ls", HOSTILE);
	finding_set(&finding->remedies.at[1].changes, "%s", HOSTILE);
	free(finding->samples.at[0]);
	finding->samples.at[0] = strdup("lgetxattr(\"" HOSTILE "\\n\\377\")");
	finding_add_note(finding, "%s", HOSTILE);
}

static void case_hostile_utf8(struct golden *golden)
{
	golden->options.tty.utf8 = true;
	case_hostile(golden);
}

static void case_long(struct golden *golden)
{
	static char name[301];
	static const char *const words[] = { name, name, NULL };
	struct finding *finding;

	memset(name, 'n', 300);
	case_full(golden);
	golden->result.facts.argv = (char *const *)words;
	finding = &golden->list.items.at[0];
	finding->rule = &long_rule;
	finding->tier = FINDING_BY_DESIGN;
	finding_set(&finding->what, "what %s what", name);
	finding_set(&finding->where, "1,000 files in /%s/%s/%s and more", name, name, name);
	finding_set(&finding->exe, "/%s", name);
	free(finding->costs.at[1].detail);
	finding->costs.at[1].detail = strdup(name);
	free(finding->sites.at[1].module);
	finding->sites.at[1].module = strdup(name);
	finding_set(&finding->remedies.at[0].text, "a remedy that takes many words to say, for instance this %s here",
		    name);
	finding_set(&finding->remedies.at[0].command, "env TZ=:/etc/localtime %s %s %s", name, name, name);
	free(finding->samples.at[0]);
	finding->samples.at[0] = strdup(name);
	finding_add_note(finding, "%s", name);
	golden->result.by_call[0].row.count = UINT64_MAX / 10;
	golden->result.by_call[3].row.failed = UINT64_MAX / 10;
	(void)strcpy(golden->result.by_call[1].name, "call_1234567890 (aarch64)");
}

static void case_signal(struct golden *golden)
{
	run_of_ls(golden);
	golden->result.facts.exit_signal = 11;
	golden->result.facts.in_flight = 1;
	golden->result.facts.delivered -= 1;
	golden->result.calls -= 1;
}

static void case_one(struct golden *golden)
{
	static const char *const words[] = { "./one", NULL };

	add_call(golden, CALL_exit_group, 1, 0, 170);
	golden->result.facts = (struct analysis_facts){ .engine = "ptrace",
							.argv = (char *const *)words,
							.exit_known = true,
							.exit_status = 3,
							.wall_ns = 150000,
							.seen = 1,
							.delivered = 1 };
	golden->result.processes = golden->result.tasks = 1;
	golden->result.task_ns = golden->result.untraced_ns = 9170;
	golden->result.stop_guessed = true;
}

static void case_attached(struct golden *golden)
{
	run_of_ls(golden);
	golden->result.facts.argv = NULL;
	golden->result.facts.exit_known = false;
	golden->result.facts.let_go = 1;
	golden->result.facts.in_flight = 1;
	golden->result.facts.seen += 1;
	golden->result.facts.marks = 2;
	golden->result.facts.seen += 2;
}

static void case_tree(struct golden *golden)
{
	static const char *const words[] = { "make", "-j2", NULL };

	run_of_ls(golden);
	golden->result.facts.argv = (char *const *)words;
	golden->result.facts.exit_status = 2;
	golden->result.facts.children = golden->result.facts.followed = 47;
	golden->result.processes = 41;
	golden->result.tasks = 48;
	golden->result.waiting_ns = 1.25e9;
	golden->result.untraced_ns = 0.9e9;
	golden->result.task_ns = 1.4e9;
}

static void case_waiting(struct golden *golden)
{
	run_of_ls(golden);
	golden->result.waiting_ns = 1.25e9;
	golden->result.untraced_ns = 1.27e9;
	golden->result.facts.wall_ns = 1300000000;
}

static void case_color(struct golden *golden)
{
	case_many(golden);
	golden->options.tty.color = true;
}

static void case_quiet(struct golden *golden)
{
	case_full(golden);
	golden->options.quiet = true;
}

static void case_quiet_clean(struct golden *golden)
{
	case_below(golden);
	golden->options.quiet = true;
}

static void case_narrow(struct golden *golden)
{
	case_many(golden);
	golden->options.tty.columns = 60;
}

static void case_notes(struct golden *golden)
{
	struct analysis_result *result = &golden->result;

	run_of_ls(golden);
	result->facts.children = 5;
	result->facts.followed = 3;
	result->facts.not_followed = 2;
	result->facts.let_go = 2;
	result->facts.state_errors = 1;
	result->facts.warnings[0] = "a setuid program ran without its privileges";
	result->facts.warnings[1] =
		"io_uring was used: its operations are not seen as calls, and what they wasted is not counted";
	result->model_losses = 3;
	result->model_limit = "descriptors";
	result->evicted = 1;
	golden->options.verbose = true;
	result->facts.pinned = true;
}

static void case_information(struct golden *golden)
{
	run_of_ls(golden);
	add_localtime(golden, &xattr_probe, 200)->information = true;
}

static void suppress(struct golden *golden, const struct rule *rule, const char *path, const char *reason)
{
	struct suppress_entry *entry;

	(void)suppressions_add(&golden->suppressions, "/home/me/.syscull.conf", 12, NULL);
	entry = &golden->suppressions.entries.at[golden->suppressions.entries.used - 1];
	entry->rule = rule;
	(void)suppress_set(&golden->suppressions, "reason", reason, NULL);
	(void)suppress_set(&golden->suppressions, "exe", "*/l?", NULL);
	if (path)
		(void)suppress_set(&golden->suppressions, "path", path, NULL);
}

/* One of two findings; more entries than are listed without -v. */
static void case_suppressed(struct golden *golden)
{
	run_of_ls(golden);
	(void)add_xattr(golden);
	(void)add_localtime(golden, &localtime_stat, 200);
	finding_set(&golden->list.items.at[0].place, "/home/me/d1k/");
	suppress(golden, &fd_sweep, NULL, "unused and with a reason that goes on and on and does not fit into a line");
	suppress(golden, &xattr_probe, "/home/me/*", "waiting \033[31mfor \342\200\256 coreutils 9.6");
	for (int i = 0; i < 5; i++)
		suppress(golden, &localtime_stat, "/nowhere", "unused");
}

static void case_suppressed_verbose(struct golden *golden)
{
	case_suppressed(golden);
	golden->options.verbose = true;
}

static const struct {
	const char *name;
	void (*make)(struct golden *golden);
} cases[] = {
	{ "full", case_full },
	{ "clean", case_clean },
	{ "below", case_below },
	{ "not-closed", case_not_closed },
	{ "not-complete", case_not_complete },
	{ "many", case_many },
	{ "many-verbose", case_many_verbose },
	{ "hostile", case_hostile },
	{ "hostile-utf8", case_hostile_utf8 },
	{ "long", case_long },
	{ "signal", case_signal },
	{ "one", case_one },
	{ "attached", case_attached },
	{ "tree", case_tree },
	{ "waiting", case_waiting },
	{ "color", case_color },
	{ "quiet", case_quiet },
	{ "quiet-clean", case_quiet_clean },
	{ "narrow", case_narrow },
	{ "notes", case_notes },
	{ "information", case_information },
	{ "upgrade", case_upgrade },
	{ "upgraded", case_upgraded },
	{ "suppressed", case_suppressed },
	{ "suppressed-verbose", case_suppressed_verbose },
};

struct golden *golden_new(const char *name)
{
	struct golden *golden = calloc(1, sizeof *golden);

	for (size_t i = 0; golden && i < sizeof cases / sizeof cases[0]; i++) {
		if (strcmp(cases[i].name, name) != 0)
			continue;
		tally_init(&golden->tally);
		golden->options.tty.columns = 80;
		golden->result.floor = JUDGE_FLOOR_DEFAULT;
		golden->result.prices = price_book_new_fixed(prices, sizeof prices / sizeof prices[0], 200);
		golden->result.tally = &golden->tally;
		cases[i].make(golden);
		books_judge(&golden->result, golden->result.facts.delivered, 0);
		if (golden->packages)
			(void)upgrade_add(&golden->list, golden->packages, known, KNOWN);
		if (judge_findings(&golden->result, &golden->list) < 0)
			break;
		if (golden->packages)
			upgrade_tell(&golden->result, golden->packages, known, KNOWN);
		if (suppress_apply(&golden->result, &golden->suppressions) < 0)
			break;
		return golden;
	}
	golden_free(golden);
	return NULL;
}

void golden_free(struct golden *golden)
{
	if (!golden)
		return;
	judge_done(&golden->result);
	suppressions_done(&golden->suppressions);
	finding_list_done(&golden->list);
	price_book_free(golden->result.prices);
	package_book_free(golden->packages);
	tally_done(&golden->tally);
	free(golden->result.by_call);
	free(golden);
}
