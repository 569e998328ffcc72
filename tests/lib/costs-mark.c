/* SPDX-License-Identifier: BSD-2-Clause */
/* The row of COST in syscull_mark(3): marks are known to syscull, so this one is a name that is not ours to see. */
#include "syscull/mark.h"

#include "check.h"

#include <errno.h>
#include <string.h>

int main(void)
{
	char name[2 * SYSCULL_MARK_NAME_MAX];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	errno = 4711;
	CHECK_EQUAL(syscull_mark("mark"), 0);
	CHECK_EQUAL(syscull_mark("a/b"), 0);
	CHECK_EQUAL(syscull_mark(name), 0);
	CHECK_EQUAL(syscull_mark(NULL), -EINVAL);
	CHECK_EQUAL(syscull_mark(""), -EINVAL);
	CHECK_EQUAL(syscull_mark("-"), 0);
	CHECK_EQUAL(errno, 4711);
	return check_done();
}
