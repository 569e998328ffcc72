/* SPDX-License-Identifier: BSD-2-Clause */
/* One region for each row of COST in syscull_fds(3), with just the call of that row in it. */
#include "syscull/fds.h"
#include "syscull/mark.h"

#include "fds/table.h"

#define END "-"
#define WITHOUT(ways) (SYSCULL_FDS_NO_RANGE | (ways))

static struct syscull_fds_options options;
static const int kept[] = { 7, 5, 7, 9, 6 };

static int visit(int fd, void *arg)
{
	(void)fd;
	(void)arg;
	return 0;
}

/* `most` descriptors, and options with flags. */
static void prepare(int most, uint32_t flags)
{
	for (int fd = 3; fd < most; fd++)
		table_open(fd);
	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.flags = flags;
}

static void begin(const char *region)
{
	check_case = region;
	CHECK_EQUAL(syscull_mark(region), 0);
}

static void end(int result, unsigned int method, unsigned int calls)
{
	CHECK_EQUAL(syscull_mark(END), 0);
	CHECK_EQUAL(result, 0);
	CHECK_EQUAL(options.method, method);
	/* What the function says of itself; the kernel's count is the page's. */
	CHECK_EQUAL(options.calls, calls);
}

static void small(void)
{
	int answer = -1, result;

	prepare(13, 0);
	begin("cloexec");
	result = syscull_fds_cloexec(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_RANGE, 1);
	begin("cloexec-keep");
	result = syscull_fds_cloexec(3, kept, 5, &options);
	end(result, SYSCULL_FDS_RANGE, 3);
	options.flags = SYSCULL_FDS_UNSHARE;
	begin("cloexec-unshare");
	result = syscull_fds_cloexec(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_RANGE, 2);
	options.flags = 0;
	begin("count");
	result = syscull_fds_count(&options, &answer);
	end(result, SYSCULL_FDS_PROCFS, 5);
	CHECK_EQUAL(answer, 13);
	begin("highest");
	result = syscull_fds_highest(&options, &answer);
	end(result - 1, SYSCULL_FDS_PROCFS, 7);
	CHECK_EQUAL(answer, 12);
	begin("walk");
	result = syscull_fds_walk(3, visit, NULL, &options);
	end(result, SYSCULL_FDS_PROCFS, 7);
	options.flags = SYSCULL_FDS_BOUND;
	begin("highest-bound");
	result = syscull_fds_highest(&options, &answer);
	end(result, SYSCULL_FDS_TABLE, 5);
	CHECK_EQUAL(answer, 63);
	options.flags = 0;
	begin("close");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_RANGE, 2);
	prepare(13, 0);
	begin("close-keep");
	result = syscull_fds_close(3, kept, 5, &options);
	end(result, SYSCULL_FDS_RANGE, 4);
	begin("close-again");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_RANGE, 1);
	prepare(13, WITHOUT(SYSCULL_FDS_NO_LOOP));
	begin("list");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_PROCFS, 17);
	prepare(13, WITHOUT(SYSCULL_FDS_NO_PROCFS));
	begin("loop");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_LOOP, 66);
}

static void large(void)
{
	int result;

	prepare(1500, 0);
	begin("close-large");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_RANGE, 8);
	prepare(7, 0);
	table_open(9999);
	begin("close-sparse");
	result = syscull_fds_close(3, NULL, 0, &options);
	end(result, SYSCULL_FDS_PROCFS, 16);
}

int main(void)
{
	if (table_limit() < 10000)
		SKIP("fewer than 10,000 descriptors may be open");
	/* A table never shrinks, but a child's is as large as it must be. */
	table_clear(3, table_limit());
	table_case("small", small);
	table_case("large", large);
	return check_done();
}
