/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reopen-pseudo-file: a file of procfs or sysfs, or the kernel's random
 * numbers, opened anew for each look.  What it says may be new each time; the
 * descriptor need not be.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "rules/reopen.h"

enum { PSEUDO_RANDOM = 1, PSEUDO_FILE };

/* Files of processes and threads that come and go: a look at each is right. */
static bool is_of_another(const char *path, const struct model_process *process)
{
	char *end = NULL;
	unsigned long pid;

	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	if (strstr(path, "/task/"))
		return true;
	if (path[6] < '0' || path[6] > '9')
		return false;
	pid = strtoul(path + 6, &end, 10);
	return *end != '/' || pid != process->pid;
}

static unsigned pseudo_kind(struct rule_run *run, const struct model_view *view)
{
	const char *path = view->path->text, *type;

	if (view->made->open_flags & O_DIRECTORY)
		return 0;
	if (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0)
		return PSEUDO_RANDOM;
	type = reopen_pseudo_type(run, view);
	if (!type || (strcmp(type, "proc") != 0 && strcmp(type, "sysfs") != 0))
		return 0;
	return is_of_another(path, view->process) ? 0 : PSEUDO_FILE;
}

static bool pseudo_repeats(struct rule_run *run, const struct reopen_file *file, const struct reopen_round *round,
			   const struct model_process *process)
{
	return round->bytes > 0;
}

static void pseudo_tell(struct rule_run *run, const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy;

	if (group->kind == PSEUDO_RANDOM) {
		remedy = finding_add_remedy_all(finding, REMEDY_SOURCE, "getrandom",
						"getrandom, which needs no descriptor");
		if (remedy)
			finding_add_delta(remedy, CALL_getrandom, 0, (int64_t)group->times, 0);
		return;
	}
	finding_add_note(finding, "a descriptor of /proc/self stays that of the process that opened it");
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	if (!remedy)
		return;
	remedy->id = "keep-descriptor";
	finding_set(&remedy->text, "keep the descriptor and pread from 0; read once what does not change");
	for (size_t i = 0; i < group->key.tally.lines.used; i++) {
		const struct rule_line *line = &group->key.tally.lines.at[i];
		bool reads = line->err == 0 && (line->call == CALL_read || line->call == CALL_pread64);
		uint64_t still = reads ? group->brought : 0;

		/* What the kernel does to make the text stays. */
		if (line->count > still)
			finding_add_delta(remedy, line->call, line->err, -(int64_t)(line->count - still),
					  line->components);
	}
}

static const struct reopen_words pseudo_words[] = {
	[PSEUDO_RANDOM] = { "opens", "the source of random numbers", "the source of random numbers",
			    "anew for each look", .object = "random numbers" },
	[PSEUDO_FILE] = { "opens", "a file of the kernel", "files of the kernel", "anew for each look",
			  .object = "files of the kernel" },
};

static const struct reopen_calls pseudo = {
	.words = pseudo_words, .kind = pseudo_kind, .repeats = pseudo_repeats, .tell = pseudo_tell
};

static int pseudo_start(struct rule_run *run)
{
	return reopen_start(run, &pseudo);
}

static const struct rule_limit pseudo_limits[] = {
	[REOPEN_TIMES] = { "times", RULE_COUNT, 10, "that one process opens and reads one file" },
	[REOPEN_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "openings further apart do not count" },
	{ 0 },
};

const struct rule rule_reopen_pseudo_file = {
	.id = "reopen-pseudo-file",
	.title = "files of the kernel opened anew for each look",
	.limits = pseudo_limits,
	.start = pseudo_start,
	REOPEN_RULE,
};
