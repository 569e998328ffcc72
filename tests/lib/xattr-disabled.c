/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that was built without attributes: callers need no #ifdef. */
#include "syscull/xattr.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>

int main(void)
{
	struct syscull_xattr_file file = SYSCULL_XATTR_FILE_INIT(AT_FDCWD, "/");
	struct syscull_xattr_answers answers = SYSCULL_XATTR_ANSWERS_INIT;
	struct syscull_xattr_counters counters = { .size = sizeof counters };
	struct syscull_xattr_memo *memo = syscull_xattr_memo_new(NULL);

	CHECK(memo != NULL);
	errno = 4711;
	for (int i = 0; i < 2; i++) {
		struct syscull_xattr_memo *with = i ? memo : NULL;

		CHECK_EQUAL(syscull_xattr_ask(with, &file, 0x7f, &answers), 0);
		CHECK_EQUAL(answers.absent, 0x7f);
		CHECK_EQUAL(answers.unsupported, 0x7f);
		CHECK_EQUAL(answers.present | answers.unknown, 0);
		CHECK_EQUAL(syscull_xattr_get(with, &file, "user.x", NULL, 0), -EOPNOTSUPP);
	}
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, 0, &answers), -EINVAL);
	file.size = 1;
	CHECK_EQUAL(syscull_xattr_ask(memo, &file, 1, &answers), -EINVAL);
	CHECK_EQUAL(errno, 4711);
	CHECK_EQUAL(syscull_xattr_memo_count(memo, &counters), 0);
	CHECK_EQUAL(counters.asked, 0);
	syscull_xattr_memo_free(memo);
	return check_done();
}
