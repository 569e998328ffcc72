/* SPDX-License-Identifier: BSD-2-Clause */
/* The typed array: order, growth, zeroed elements. */
#include "base/vec.h"

#include "test.h"

struct point {
	int x, y;
};

static void test_pushes(void **state)
{
	VEC(struct point) points = { 0 };

	for (int i = 0; i < 1000; i++)
		assert_true(vec_push(&points, (struct point){ i, -i }));
	assert_int_equal(points.used, 1000);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(points.at[i].x, i);
		assert_int_equal(points.at[i].y, -i);
	}
	vec_done(&points);
	assert_null(points.at);
	assert_int_equal(points.used, 0);
}

static void test_add_is_zeroed(void **state)
{
	VEC(struct point) points = { 0 };
	struct point *point;

	for (int i = 0; i < 20; i++) {
		point = vec_add(&points);
		assert_non_null(point);
		assert_int_equal(point->x, 0);
		point->x = point->y = 7;
	}
	points.used = 0;
	point = vec_add(&points);
	assert_int_equal(point->x, 0);
	assert_int_equal(point->y, 0);
	vec_done(&points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_add_is_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
