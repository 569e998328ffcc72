/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of rules: what is counted where, which entries are told, in which
 * words, and that nothing of an entry stays.
 */
#include <stdlib.h>
#include <string.h>

#include "rules/law.h"

#include "test.h"

enum { LIMIT_CALLS, LIMIT_SHARE, LIMIT_FEW };
enum { KIND_FILES, KIND_SHARE, KIND_FEW };

struct mine {
	struct law_entry entry; /* first */
	char *own;
};

static unsigned freed, vetoed;
static bool veto;

static bool mine_holds(struct rule_run *run, const struct law_entry *entry)
{
	vetoed += veto;
	return !veto;
}

static void mine_tell(struct rule_run *run, const struct law_entry *entry, struct finding *finding)
{
	finding_add_note(finding, "from tell");
}

static void mine_free(struct law_entry *entry)
{
	freed += ((struct mine *)entry)->own != NULL;
	free(((struct mine *)entry)->own);
}

static void mine_call(struct rule_run *run, const struct model_view *view)
{
}

static const struct law_kind mine_kinds[] = {
	[KIND_FILES] = { .tier = FINDING_LIKELY,
			 .least = LIMIT_CALLS,
			 .what = "wastes",
			 .object = "files",
			 .nameless = "files without a name",
			 .remedy = "less",
			 .text = "waste less",
			 .changes = "all",
			 .note = "from the kind" },
	[KIND_SHARE] = { .tier = FINDING_CERTAIN,
			 .least = LIMIT_CALLS,
			 .share = LIMIT_SHARE,
			 .what = "wastes much",
			 .object = "much",
			 .where = "everywhere",
			 .detail = "detail" },
	[KIND_FEW] = { .least = LIMIT_FEW, .what = "wastes a little", .object = "little", .where = "here" },
	{ 0 },
};

static const struct law mine_law = {
	.kinds = mine_kinds,
	.entries = 8,
	.files = 4,
	.entry_bytes = sizeof(struct mine),
	.followed = 2,
	.followed_bytes = sizeof(struct rule_key),
	.holds = mine_holds,
	.tell = mine_tell,
	.free = mine_free,
};

static const struct rule mine = { .id = "mine", .call = mine_call, LAW_RULE(mine_law) };

static char program[] = "/usr/bin/some";
static struct model_exe exe = { .path = program };
static struct model_process process = { .id = 7, .pid = 100, .exe = &exe };
static struct buf record;

static const struct model_view *view_at(uint64_t time_ns)
{
	static struct model_view view;
	struct event_call *event = event_begin(&record, EVENT_CALL);

	assert_non_null(event);
	event->arch = SYS_ARCH_NATIVE;
	event->nr = sys_call_nr(SYS_ARCH_NATIVE, CALL_lseek);
	event->head.time_ns = time_ns;
	view = (struct model_view){ .id = CALL_lseek, .process = &process };
	view.call = (const struct event_call *)event_end(&record);
	return &view;
}

static int begin(void **state)
{
	static struct rule_run run;

	run = (struct rule_run){ .rule = &mine, .limits = { 10, 50, 3 }, .state = calloc(1, mine.state_bytes) };
	*state = &run;
	freed = vetoed = 0;
	veto = false;
	return run.state ? mine.start(&run) : -1;
}

static int end(void **state)
{
	struct rule_run *run = *state;

	mine.done(run);
	free(run->state);
	return 0;
}

static void count(struct rule_run *run, unsigned kind, unsigned times)
{
	while (times-- > 0)
		law_count(run, law_entry(run, view_at(1), kind), view_at(1));
}

/* Both sides of a limit, each kind by its own. */
static void test_limits(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };

	count(run, KIND_FILES, 9);
	count(run, KIND_FEW, 3);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 1);
	assert_string_equal(list.items.at[0].object, "little");
	assert_int_equal(list.items.at[0].least, 3);
	finding_list_done(&list);
	count(run, KIND_FILES, 1);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 2);
	assert_string_equal(list.items.at[0].object, "files");
	assert_int_equal(list.items.at[0].calls, 10);
	finding_list_done(&list);
	veto = true;
	mine.end(run, &list);
	assert_int_equal(list.items.used, 0);
	assert_int_equal(vetoed, 2);
	finding_list_done(&list);
}

/* A limit may be set to nothing; an entry without a call is none all the same. */
static void test_no_limit(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };

	mine.done(run);
	memset(run->state, 0, mine.state_bytes);
	memset(run->limits, 0, sizeof run->limits);
	assert_int_equal(mine.start(run), 0);
	assert_non_null(law_entry(run, view_at(1), KIND_FILES));
	count(run, KIND_FEW, 1);
	mine.image_end(run, &process);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 1);
	assert_string_equal(list.items.at[0].object, "little");
	finding_list_done(&list);
}

/* The share is that of the whole image, known when it has ended. */
static void test_share(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };

	count(run, KIND_SHARE, 10);
	process.calls = 21;
	mine.image_end(run, &process);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 0);
	process.calls = 20;
	mine.image_end(run, &process);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 1);
	assert_string_equal(list.items.at[0].where, "everywhere");
	assert_string_equal(list.items.at[0].costs.at[0].detail, "detail");
	assert_int_equal(list.items.at[0].tier, FINDING_CERTAIN);
	assert_int_equal(list.items.at[0].remedies.used, 0);
	finding_list_done(&list);
}

static void test_words(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };
	struct model_file file = { .path = (char *)"/w/a", .path_hash = 1 },
			  other = { .path = (char *)"/w/b", .path_hash = 2 };
	struct law_entry *entry = law_entry(run, view_at(1), KIND_FILES);
	const struct finding *finding;

	assert_non_null(entry);
	count(run, KIND_FILES, 10);
	law_file(run, entry, &file);
	law_file(run, entry, &file);
	law_file(run, entry, &other);
	mine.end(run, &list);
	finding = &list.items.at[0];
	assert_string_equal(finding->what, "wastes");
	assert_string_equal(finding->where, "2 files in /w");
	assert_string_equal(finding->place, "/w/");
	assert_string_equal(finding->remedies.at[0].id, "less");
	assert_string_equal(finding->remedies.at[0].text, "waste less");
	assert_string_equal(finding->remedies.at[0].changes, "all");
	assert_int_equal(finding->remedies.at[0].deltas.at[0].count, -10);
	assert_int_equal(finding->notes.used, 2);
	assert_string_equal(finding->notes.at[0], "from the kind");
	assert_string_equal(finding->notes.at[1], "from tell");
	finding_list_done(&list);
	/* A name that is not whole is none, and then nothing is known of the place. */
	file.path = (char *)"a";
	law_file(run, entry, &file);
	mine.end(run, &list);
	assert_string_equal(list.items.at[0].where, "2 files in /w and files without a name");
	assert_null(list.items.at[0].place);
	finding_list_done(&list);
}

static void test_nameless(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };

	count(run, KIND_FILES, 10);
	law_file(run, law_entry(run, view_at(1), KIND_FILES), NULL);
	mine.end(run, &list);
	assert_string_equal(list.items.at[0].where, "files without a name");
	assert_null(list.items.at[0].place);
	finding_list_done(&list);
}

/* What has come to nothing goes with its image; what has not stays. */
static void test_image_end(void **state)
{
	struct rule_run *run = *state;
	struct mine *few, *files;

	assert_null(law_entry_known(run, view_at(1), KIND_FEW));
	count(run, KIND_FEW, 2);
	count(run, KIND_FILES, 10);
	few = law_entry_known(run, view_at(1), KIND_FEW);
	files = law_entry_known(run, view_at(1), KIND_FILES);
	assert_true(few && files && few != files);
	few->own = strdup("few");
	files->own = strdup("files");
	assert_non_null(law_follow(run, view_at(1), 3, NULL));
	mine.image_end(run, &process);
	assert_null(law_entry_known(run, view_at(1), KIND_FEW));
	assert_ptr_equal(law_entry_known(run, view_at(1), KIND_FILES), files);
	assert_null(law_followed(run, view_at(1), 3));
	assert_int_equal(freed, 1);
}

/* What is followed goes when idle and for want of room, and the latter is counted. */
static void test_followed(void **state)
{
	struct rule_run *run = *state;
	bool fresh = false;

	assert_non_null(law_follow(run, view_at(1), 1, &fresh));
	assert_true(fresh);
	assert_non_null(law_follow(run, view_at(1000000000), 1, &fresh));
	assert_false(fresh);
	assert_non_null(law_follow(run, view_at(2500000000), 2, NULL));
	assert_null(law_followed(run, view_at(2500000000), 1));
	assert_int_equal(run->evicted, 0);
	assert_non_null(law_follow(run, view_at(2500000000), 3, NULL));
	assert_non_null(law_follow(run, view_at(2500000000), 4, NULL));
	assert_int_equal(run->evicted, 1);
}

/* Objects of one image are apart; what was counted elsewhere is taken whole. */
static void test_objects(void **state)
{
	struct rule_run *run = *state;
	struct finding_list list = { 0 };
	struct rule_tally tally = { 0 };
	bool fresh = false;
	struct law_entry *one = law_entry_of(run, view_at(1), 1, KIND_FEW, &fresh);

	assert_true(one && fresh);
	assert_ptr_equal(law_entry_of(run, view_at(1), 1, KIND_FEW, &fresh), one);
	assert_false(fresh);
	assert_ptr_not_equal(law_entry_of(run, view_at(1), 2, KIND_FEW, NULL), one);
	for (unsigned i = 0; i < 3; i++)
		(void)rule_tally_add(&tally, run->model, view_at(1));
	law_take(run, one, &tally);
	assert_int_equal(tally.calls, 0);
	mine.end(run, &list);
	assert_int_equal(list.items.used, 1);
	assert_int_equal(list.items.at[0].calls, 3);
	finding_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_no_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_share, begin, end),
		cmocka_unit_test_setup_teardown(test_words, begin, end),
		cmocka_unit_test_setup_teardown(test_nameless, begin, end),
		cmocka_unit_test_setup_teardown(test_image_end, begin, end),
		cmocka_unit_test_setup_teardown(test_followed, begin, end),
		cmocka_unit_test_setup_teardown(test_objects, begin, end),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_done(&record);
	return failed;
}
