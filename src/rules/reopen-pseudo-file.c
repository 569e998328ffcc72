/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reopen-pseudo-file: a file of procfs or sysfs, or the kernel's random
 * numbers, opened anew for each look.  What it says may be new each time; the
 * descriptor need not be.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "rules/reopen.h"

enum { LIMIT_TIMES, LIMIT_GAP };
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

static void add_remedy(const struct reopen_group *group, struct finding *finding)
{
	struct finding_remedy *remedy = finding_add_remedy(finding, REMEDY_SOURCE);

	if (!remedy)
		return;
	if (group->kind == PSEUDO_RANDOM) {
		remedy->id = "getrandom";
		finding_set(&remedy->text, "getrandom, which needs no descriptor");
		finding_remedy_saves_all(remedy, finding);
		finding_add_delta(remedy, CALL_getrandom, 0, (int64_t)group->times, 0);
		return;
	}
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

static void tell(struct rule_run *run, const struct reopen_group *group, struct finding_list *out)
{
	struct finding *finding = rule_key_finding(run, &group->key, FINDING_LIKELY, NULL, out);
	char *places = rule_places_text(&group->places, "file", "files"), number[TEXT_NUMBER_MAX];
	struct buf path = BUF_INIT;

	if (finding) {
		if (group->first && group->files == 1)
			(void)text_escape(&path, group->first, strlen(group->first), 0, true);
		finding_set(&finding->what, "opens %s anew for each look, %s times",
			    group->kind == PSEUDO_RANDOM ? "the source of random numbers"
			    : group->files == 1		 ? "a file of the kernel"
							 : "files of the kernel",
			    text_count(group->times, number));
		finding_set(&finding->where, "%s", path.bytes > 0 ? buf_text(&path) : places ? places : "");
		finding_set(&finding->object, "%s",
			    path.bytes > 0		   ? buf_text(&path)
			    : group->kind == PSEUDO_RANDOM ? "random numbers"
							   : "files of the kernel");
		finding->place = rule_places_place(&group->places);
		add_remedy(group, finding);
		if (group->kind == PSEUDO_FILE)
			finding_add_note(finding,
					 "a descriptor of /proc/self stays that of the process that opened it");
	}
	buf_done(&path);
	free(places);
}

static const struct reopen_calls pseudo = { .kind = pseudo_kind, .repeats = pseudo_repeats, .tell = tell };

static int pseudo_start(struct rule_run *run)
{
	reopen_start(run, &pseudo, run->limits[LIMIT_GAP], run->limits[LIMIT_TIMES]);
	return 0;
}

static const struct rule_limit pseudo_limits[] = {
	[LIMIT_TIMES] = { "times", RULE_COUNT, 10, "that one process opens and reads one file" },
	[LIMIT_GAP] = { "gap", RULE_NS, RULE_BURST_GAP_NS, "openings further apart do not count" },
	{ 0 },
};

const struct rule rule_reopen_pseudo_file = {
	.id = "reopen-pseudo-file",
	.title = "files of the kernel opened anew for each look",
	.items = REOPEN_ITEMS,
	.needs = RULE_NEEDS_PATHS | RULE_NEEDS_DEVICES | RULE_NEEDS_FDS | RULE_NEEDS_TIMES,
	.calls = reopen_subscribed,
	.limits = pseudo_limits,
	.state_bytes = sizeof(struct reopen_state),
	.start = pseudo_start,
	.call = reopen_call,
	.image_end = reopen_image_end,
	.end = reopen_end,
	.done = reopen_done,
};
