/* SPDX-License-Identifier: BSD-2-Clause */
/* Hand-made findings, rows and packages: who gets which upgrade. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/judge.h"
#include "verdict/upgrade.h"

#define LS "/usr/bin/ls"
#define GPGME "/usr/lib/x86_64-linux-gnu/libgpgme.so.11"
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

static const struct rule xattr_probe = { .id = "xattr-probe" }, fd_sweep = { .id = "fd-sweep" };

static const struct known_row rows[] = {
	{ "no-such-rule", "*", "x", "x", "1", "all", "is no rule", "https://example.org" },
	{ "xattr-probe", "*/bin/ls", "coreutils", "coreutils", "9.6", "list-first", "lists once per file", "-" },
	{ "xattr-probe", "*/bin/ls", "coreutils", "coreutils", "8.16", "remember", "remembers", "-" },
	{ "fd-sweep", "*/libgpgme.so.*", "gpgme", "gpgme1.0", "1.10.0", "all", "closes only what is open", "-" },
	{ "fd-sweep", "*/libc.so.6", "glibc", "glibc", "2.40", "unknown", "does something", "-" },
};

struct world {
	struct analysis_result result;
	struct finding_list list;
	struct package_book *packages;
};

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	world->result.prices = price_book_new_fixed(NULL, 0, 100);
	world->result.floor = JUDGE_FLOOR_DEFAULT;
	world->result.complete = world->result.closed = true;
	world->result.task_ns = 10e6;
	world->result.calls = 1000000;
	world->packages = package_book_new(NULL, true);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	judge_done(&world->result);
	finding_list_done(&world->list);
	price_book_free(world->result.prices);
	package_book_free(world->packages);
	free(world);
	return 0;
}

static struct finding *add_ls(struct world *world, const char *remedy_id)
{
	struct finding *finding = finding_add(&world->list, &xattr_probe, FINDING_LIKELY);
	struct finding_remedy *remedy;

	(void)finding_add_cost(finding, CALL_getxattr, ENODATA, 2000, NULL);
	finding->calls = 2000;
	finding_set(&finding->exe, LS);
	remedy = finding_add_remedy(finding, REMEDY_SOURCE);
	remedy->id = remedy_id;
	finding_add_delta(remedy, CALL_getxattr, ENODATA, -2000, 0);
	finding_add_delta(remedy, CALL_llistxattr, 0, 1000, 0);
	return finding;
}

static void add_site(struct finding *finding, const char *module, uint64_t count)
{
	assert_true(vec_push(&finding->sites, (struct finding_site){ .module = strdup(module), .count = count }));
}

static struct finding *add_closes(struct world *world, const char *module, uint64_t count)
{
	struct finding *finding = finding_add(&world->list, &fd_sweep, FINDING_CERTAIN);

	(void)finding_add_cost(finding, CALL_close, EBADF, 5000, NULL);
	finding->calls = 5000;
	finding_set(&finding->exe, "/opt/mail/reader");
	add_site(finding, "/opt/mail/reader", 5000 - count);
	add_site(finding, module, count);
	return finding;
}

static const struct verdict_finding *judged(struct world *world)
{
	size_t count = sizeof rows / sizeof *rows;

	assert_int_equal(upgrade_add(&world->list, world->packages, rows, count), 0);
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	upgrade_tell(&world->result, world->packages, rows, count);
	return &world->result.findings[0];
}

static void assert_no_upgrade(const struct verdict_finding *verdict)
{
	for (size_t i = 0; i < verdict->remedy_count; i++)
		assert_int_not_equal(verdict->remedies[i].remedy->kind, REMEDY_UPGRADE);
}

static void an_older_version_is_upgraded_first(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, LS, "coreutils", "9.1-1", "coreutils", "9.1-1"), 0);
	add_ls(world, "list-first");
	verdict = judged(world);
	assert_int_equal(verdict->remedy_count, 2);
	assert_int_equal(verdict->remedies[0].remedy->kind, REMEDY_UPGRADE);
	assert_string_equal(verdict->remedies[0].remedy->text, "coreutils 9.6 lists once per file");
	assert_int_equal(verdict->remedies[0].saves_calls, 1000);
	assert_true(verdict->remedies[0].saves_ns == verdict->remedies[1].saves_ns);
	assert_string_equal(verdict->package, "coreutils 9.1-1");
	assert_null(verdict->library);
	assert_null(verdict->fixed_by);
	assert_int_equal(verdict->finding->notes.used, 0);
}

static void a_version_with_the_fix_is_not(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, LS, "coreutils", "9.10-2", "coreutils", "9.10-2"), 0);
	add_ls(world, "list-first");
	verdict = judged(world);
	assert_no_upgrade(verdict);
	assert_ptr_equal(verdict->fixed_by, &rows[1]);
}

static void a_version_not_known_is_said_to_be(void **state)
{
	struct world *world = *state;
	struct finding *finding = add_ls(world, "list-first");
	const struct verdict_finding *verdict = judged(world);

	assert_int_equal(verdict->remedies[0].remedy->kind, REMEDY_UPGRADE);
	assert_null(verdict->package);
	assert_null(verdict->fixed_by);
	assert_int_equal(finding->notes.used, 1);
	assert_non_null(strstr(finding->notes.at[0], "coreutils"));
}

static void another_project_has_other_fixes(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, LS, "rust-coreutils", "0.1-1", "rust-coreutils", "0.1-1"),
			 0);
	add_ls(world, "list-first");
	verdict = judged(world);
	assert_no_upgrade(verdict);
	assert_null(verdict->fixed_by);
	assert_string_equal(verdict->package, "rust-coreutils 0.1-1");
}

static void a_fix_of_something_else_is_none(void **state)
{
	struct world *world = *state;

	assert_int_equal(package_book_add(world->packages, LS, "coreutils", "9.1-1", "coreutils", "9.1-1"), 0);
	add_ls(world, NULL);
	assert_no_upgrade(judged(world));
}

static void the_second_row_is_taken_where_it_fits(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, LS, "coreutils", "8.13-3.5", "coreutils", "8.13-3.5"), 0);
	add_ls(world, "remember");
	verdict = judged(world);
	assert_string_equal(verdict->remedies[0].remedy->text, "coreutils 8.16 remembers");
}

static void information_needs_no_upgrade(void **state)
{
	struct world *world = *state;

	add_ls(world, "list-first")->information = true;
	assert_no_upgrade(judged(world));
}

static void a_library_can_be_at_fault(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, GPGME, "libgpgme11", "1.9.0-2+b1", "gpgme1.0", "1.9.0-2"),
			 0);
	add_closes(world, GPGME, 4000);
	verdict = judged(world);
	assert_int_equal(verdict->remedies[0].remedy->kind, REMEDY_UPGRADE);
	assert_string_equal(verdict->remedies[0].remedy->text, "gpgme 1.10.0 closes only what is open");
	assert_int_equal(verdict->remedies[0].saves_calls, 5000);
	assert_string_equal(verdict->library, GPGME);
	assert_string_equal(verdict->library_package, "libgpgme11 1.9.0-2+b1");
	assert_null(verdict->package);
}

static void fewer_than_half_is_not_its_fault(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	add_closes(world, GPGME, 2500);
	verdict = judged(world);
	assert_no_upgrade(verdict);
	assert_null(verdict->library);
}

/* All calls come from it, so only a version that is known says anything. */
static void the_c_library_is_blamed_by_version_only(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	add_closes(world, LIBC, 5000);
	verdict = judged(world);
	assert_no_upgrade(verdict);
	assert_null(verdict->library);
	assert_null(verdict->fixed_by);
}

static void an_old_c_library_is_blamed(void **state)
{
	struct world *world = *state;
	const struct verdict_finding *verdict;

	assert_int_equal(package_book_add(world->packages, LIBC, "libc6", "2.36-9", "glibc", "2.36-9"), 0);
	add_closes(world, LIBC, 5000);
	verdict = judged(world);
	assert_string_equal(verdict->remedies[0].remedy->text, "glibc 2.40 does something");
	assert_int_equal(verdict->remedies[0].saves_calls, 0);
	assert_null(verdict->library);
}

static void without_packages_nothing_is_lost(void **state)
{
	struct world *world = *state;

	add_closes(world, GPGME, 100);
	assert_int_equal(upgrade_add(&world->list, NULL, rows, 0), 0);
	assert_int_equal(judge_findings(&world->result, &world->list), 0);
	upgrade_tell(&world->result, NULL, rows, 0);
	assert_null(world->result.findings[0].package);
}

/* The rows of the project, as they were built in. */
static void every_row_is_whole(void **state)
{
	assert_true(known_row_count >= 10);
	for (size_t i = 0; i < known_row_count; i++) {
		const struct known_row *row = &known_rows[i];

		assert_true(*row->rule && *row->path && *row->name && *row->package && *row->fixed && *row->text);
		assert_int_equal(strncmp(row->source, "https://", 8), 0);
	}
	assert_true(known_fits(&known_rows[0], "xattr-probe", LS));
	assert_true(known_fits(&known_rows[0], "xattr-probe", "/bin/ls"));
	assert_false(known_fits(&known_rows[0], "xattr-probe", "/usr/bin/false"));
	assert_false(known_fits(&known_rows[0], "fd-sweep", LS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_older_version_is_upgraded_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_version_with_the_fix_is_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_version_not_known_is_said_to_be, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_project_has_other_fixes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_fix_of_something_else_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_second_row_is_taken_where_it_fits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(information_needs_no_upgrade, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_library_can_be_at_fault, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fewer_than_half_is_not_its_fault, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_c_library_is_blamed_by_version_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_old_c_library_is_blamed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_packages_nothing_is_lost, set_up, tear_down),
		cmocka_unit_test(every_row_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
