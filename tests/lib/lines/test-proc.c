/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of /proc on frozen files: hostile names, giants, torn records,
 * numbers that do not fit, other page sizes.
 */
#include "check.h"
#include "fake-reads.h"
#include "syscull/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test-proc-XXXXXX";
static int process = -1;
static struct syscull_reader reader;
static char big[2 << 20];

static void put(const char *name, const char *text, size_t size)
{
	int fd = openat(process, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQUAL(write(fd, text, size), (ssize_t)size);
	CHECK_EQUAL(close(fd), 0);
}

#define PUT(name, text) put(name, text, sizeof(text) - 1)

static int is(const struct syscull_text *text, const char *expected)
{
	return text->length == strlen(expected) && strcmp(text->text, expected) == 0;
}

#define STAT_TAIL " S 7 8 9 34816 -1 4194560 100 200 3 4 5 6 7 8 20 -5 1 0 12345 4096000 345 18446744073709551615 1 1"

static void stats(void)
{
	struct syscull_stat stat;

	check_case = "stat";
	PUT("stat", "42 (a) R 1 (\n)" STAT_TAIL "\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), 1);
	CHECK(is(&stat.comm, "a) R 1 (\n"));
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_PID], 42);
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_STATE], 'S');
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_PPID], 7);
	CHECK_EQUAL((int64_t)stat.numbers[SYSCULL_STAT_TPGID], -1);
	CHECK_EQUAL((int64_t)stat.numbers[SYSCULL_STAT_NICE], -5);
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_START], 12345);
	CHECK_EQUAL(stat.numbers[SYSCULL_STAT_RSS], 345);
	CHECK(stat.numbers[25] == UINT64_MAX);
	CHECK_EQUAL(stat.count, 27);
	PUT("stat", "42 ()" STAT_TAIL "\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), 1);
	CHECK_EQUAL(stat.comm.length, 0);
	PUT("stat", "42 (a)" STAT_TAIL);
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), SYSCULL_TORN);
	PUT("stat", "42 (a) S 1 2\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), SYSCULL_TORN);
	PUT("stat", "42 (a S 1 2\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), SYSCULL_TORN);
	PUT("stat", "42 (a)" STAT_TAIL " 18446744073709551616\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), -ERANGE);
	PUT("stat", "42 (a)" STAT_TAIL " -9223372036854775809\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), -ERANGE);
	PUT("stat", "42 (a)" STAT_TAIL " x\n");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), SYSCULL_TORN);
	PUT("stat", "");
	CHECK_EQUAL(syscull_proc_stat(&reader, process, &stat), SYSCULL_TORN);
}

static void statms(void)
{
	struct syscull_statm statm;

	check_case = "statm";
	PUT("statm", "100 50 20 10 0 30 0\n");
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), 1);
	CHECK_EQUAL(statm.resident, 50 * sysconf(_SC_PAGESIZE));
	fake_reads.page = 65536;
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), 1);
	CHECK_EQUAL(statm.size, 100 * 65536);
	CHECK_EQUAL(statm.shared, 20 * 65536);
	CHECK_EQUAL(statm.text, 10 * 65536);
	CHECK_EQUAL(statm.data, 30 * 65536);
	fake_reads.page = 0;
	PUT("statm", "100 18446744073709551615 20 10 0 30 0\n");
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), -ERANGE);
	PUT("statm", "100 50 20 10 0 30\n");
	CHECK_EQUAL(syscull_proc_statm(&reader, process, &statm), SYSCULL_TORN);
}

#define BIT(name) SYSCULL_STATUS_BIT(SYSCULL_STATUS_##name)

static void status(void)
{
	char small[128];
	struct syscull_reader_options options = { sizeof options, small, sizeof small, NULL, 0, 0, 0 };
	struct syscull_reader narrow;
	struct syscull_status status;
	unsigned long reads;
	size_t used;

	check_case = "status";
	PUT("status", "Name:\ta\\nb: c\nUmask:\t0022\nState:\tZ (zombie)\nNew:\tyes\nPid:\t12\nUid:\t1\t2\t3\t4\n"
		      "Groups:\t \nVmRSS:\t    1708 kB\nSigBlk:\t00000000000100ff\nnonvoluntary_ctxt_switches:\t3\n");
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CHECK(is(&status.name, "a\\nb: c"));
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_UMASK], 022);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_STATE], 'Z');
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_PID], 12);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_UID], 1);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_FSUID], 4);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_VM_RSS], 1708 * 1024);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_SIG_BLOCKED], 0x100ff);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_INVOLUNTARY_SWITCHES], 3);
	CHECK(is(&status.groups, ""));
	CHECK(status.have & BIT(VM_RSS) && !(status.have & BIT(TGID)));
	/* Only what is wanted is looked at, and it is found in what fits. */
	PUT("status", "Name:\tx\nPid:\t12\nVmRSS:\tbad\n");
	CHECK_EQUAL(syscull_proc_status(&reader, process, BIT(PID), &status), 1);
	CHECK(status.have == BIT(PID));
	CHECK_EQUAL(syscull_proc_status(&reader, process, BIT(VM_RSS), &status), SYSCULL_TORN);
	PUT("status", "Name:\tx\nVmRSS:\t18014398509481984 kB\n");
	CHECK_EQUAL(syscull_proc_status(&reader, process, BIT(VM_RSS), &status), -ERANGE);
	PUT("status", "Name:\tx\nPid:\t1");
	CHECK_EQUAL(syscull_proc_status(&reader, process, BIT(PID), &status), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_status(&reader, process, BIT(NAME), &status), 1);

	/* 65,536 groups. */
	used = (size_t)sprintf(big, "Name:\tmany\nPid:\t77\nGroups:\t");
	for (unsigned int i = 0; i < 65536; i++)
		used += (size_t)sprintf(big + used, "%u ", i + 100000);
	CHECK(used > 458761);
	used += (size_t)sprintf(big + used, "\nThreads:\t5\n");
	put("status", big, used);
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CHECK_EQUAL(status.groups.length, 65536 * 7);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_THREADS], 5);
	reads = reader.reads;
	CHECK_EQUAL(syscull_proc_status(&reader, process, SYSCULL_STATUS_ALL, &status), 1);
	CHECK_EQUAL(reader.reads, reads + 1);
	CHECK_EQUAL(syscull_reader_init(&narrow, &options), 0);
	CHECK_EQUAL(syscull_proc_status(&narrow, process, BIT(PID), &status), 1);
	CHECK_EQUAL(status.numbers[SYSCULL_STATUS_PID], 77);
	CHECK_EQUAL(syscull_proc_status(&narrow, process, BIT(PID) | BIT(THREADS), &status), SYSCULL_OVER_LIMIT);
	syscull_reader_done(&narrow);
}

static void strings(void)
{
	struct syscull_text all, part;
	size_t count = 0;

	check_case = "strings";
	PUT("cmdline", "prog\0\0a b\nc\0");
	CHECK_EQUAL(syscull_proc_cmdline(&reader, process, &all), 1);
	while (syscull_text_next(&all, '\0', &part))
		count++;
	CHECK_EQUAL(count, 3);
	CHECK(is(&part, "a b\nc"));
	PUT("environ", "");
	CHECK_EQUAL(syscull_proc_environ(&reader, process, &all), 0);
}

static void maps(void)
{
	static const char text[] =
		"00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/db us\n"
		"7f0-800 rw-s ffff0000 fe:1f 9999999999 /tmp/new\\012line (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
		"1000-2000 ---p 00000000 00:00 0\n"
		"nonsense\n"
		"2000-3000 r--p 00000000 00:00 0 \n"
		"10000000000000000-2 r--p 00000000 00:00 0 \n"
		"1-2 r--p 0 0:100000000 0 \n"
		"1-2 r--p 0 0:0 0 /cut";
	struct syscull_map map;

	check_case = "maps";
	PUT("maps", text);
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "maps", '\n'), 0);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	CHECK(map.start == 0x400000 && map.end == 0x452000 && map.offset == 0x1000 && map.inode == 173521);
	CHECK(map.dev_major == 8 && map.dev_minor == 2 && map.flags == (SYSCULL_MAP_READ | SYSCULL_MAP_EXEC));
	CHECK(is(&map.path, "/usr/bin/db us"));
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	CHECK(map.dev_major == 0xfe && map.dev_minor == 0x1f && map.inode == 9999999999);
	CHECK(map.flags == (SYSCULL_MAP_READ | SYSCULL_MAP_WRITE | SYSCULL_MAP_SHARED | SYSCULL_MAP_DELETED));
	CHECK(is(&map.path, "/tmp/new\\012line (deleted)"));
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	CHECK(map.start == 0xffffffffff600000);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	CHECK_EQUAL(map.path.length, 0);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 1);
	CHECK_EQUAL(map.start, 0x2000);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), -ERANGE);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), -ERANGE);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_map_next(&reader, &map), 0);
	syscull_lines_end(&reader);

	/* By text: a frozen file answers no question. */
	PUT("maps", "1000-2000 r--p 00000000 00:00 0 /a\n3000-4000 r--p 00000000 00:00 0 /b\n");
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0x3fff, &map), 1);
	CHECK(is(&map.path, "/b"));
	CHECK_EQUAL(map.source, SYSCULL_SOURCE_TEXT);
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0x2000, &map), 0);
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0x4000, &map), 0);
	CHECK_EQUAL(syscull_proc_map_find(&reader, process, 0x1000, &map), 1);
}

#define RECORD(range, path, rss) \
	range " rw-p 00000000 00:00 0 " path "\n" \
	      "Size:                 64 kB\nKernelPageSize:        4 kB\nRss:      " rss \
	      " kB\nNewField:   7 parrots\n" \
	      "THPeligible:           1\nVmFlags: rd wr mr \nAfterwards: 3 kB\nSwap:                  2 kB\n"

static void smaps(void)
{
	struct syscull_smaps smaps;
	uint32_t source = 9;

	check_case = "smaps";
	PUT("smaps", RECORD("1000-2000", "/a", "10")
			     RECORD("3000-4000", "", "20") "bad\nRss: 1 kB\n" RECORD("5000-6000", "/c", "30"));
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "smaps", '\n'), 0);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 1);
	CHECK(is(&smaps.map.path, "/a"));
	CHECK(is(&smaps.vm_flags, "rd wr mr "));
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_RSS], 10240);
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_SWAP], 2048);
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_THP_ELIGIBLE], 1);
	CHECK(!(smaps.have & SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_PSS)));
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 1);
	CHECK_EQUAL(smaps.map.start, 0x3000);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 1);
	CHECK(is(&smaps.map.path, "/c"));
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 0);
	syscull_lines_end(&reader);

	/* No rollup here: the sum. */
	PUT("smaps", RECORD("1000-2000", "/a", "10") RECORD("3000-4000", "", "20"));
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, &source), 1);
	CHECK_EQUAL(source, SYSCULL_SOURCE_TEXT);
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_RSS], 30 * 1024);
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_SWAP], 4096);
	CHECK(!(smaps.have & SYSCULL_SMAPS_BIT(SYSCULL_SMAPS_KERNEL_PAGE)));
	CHECK(smaps.map.start == 0x1000 && smaps.map.end == 0x4000);
	PUT("smaps", "");
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, &source), 0);
	PUT("smaps_rollup", "1000-4000 ---p 00000000 00:00 0  [rollup]\nRss:   33 kB\nPss_Anon:  3 kB\n");
	CHECK_EQUAL(syscull_proc_memory(&reader, process, &smaps, &source), 1);
	CHECK_EQUAL(source, SYSCULL_SOURCE_ROLLUP);
	CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_PSS_ANON], 3072);
	PUT("smaps_rollup", "1000-4000 ---p 00000000 00:00 0  [rollup]\nRss:   33 k");
	CHECK_EQUAL(syscull_proc_rollup(&reader, process, &smaps), SYSCULL_TORN);

	/* Cut in the middle of a record: what there is of it is not a record. */
	PUT("smaps", RECORD("1000-2000", "/a", "10") "3000-4000 rw-p 0 0:0 0 /b\nRss:  1 kB\nPss: 1");
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "smaps", '\n'), 0);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 1);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_smaps_next(&reader, &smaps), 0);
	syscull_lines_end(&reader);
}

/* Records through buffers of every size from too small to large, with a long path in the middle. */
static void smaps_buffers(void)
{
	static char own[8192];
	static char text[8192];
	size_t size = 0;

	check_case = "smaps buffers";
	for (int i = 0; i < 8; i++)
		size += (size_t)sprintf(text + size, RECORD("%d000-%dfff", "/path%0*d", "%d"), i + 1, i + 1,
					i == 4 ? 400 : 1, i, i);
	put("smaps", text, size);
	for (size_t room = 1; room < sizeof own; room += room < 900 ? 1 : 511) {
		struct syscull_reader_options options = { sizeof options, own, room, NULL, 0, 0, 0 };
		struct syscull_reader narrow;
		struct syscull_smaps smaps;
		int good = 0, bad = 0, result;

		CHECK_EQUAL(syscull_reader_init(&narrow, &options), 0);
		CHECK_EQUAL(syscull_proc_begin(&narrow, process, "smaps", '\n'), 0);
		while ((result = syscull_proc_smaps_next(&narrow, &smaps)) != 0) {
			if (result < 0) {
				CHECK_EQUAL(result, SYSCULL_OVER_LIMIT);
				bad++;
				CHECK(bad <= 300);
				continue;
			}
			/* The number in the path says which one it is. */
			CHECK_EQUAL(smaps.map.start >> 12, strtol(smaps.map.path.text + 5, NULL, 10) + 1);
			CHECK_EQUAL(smaps.numbers[SYSCULL_SMAPS_RSS], ((smaps.map.start >> 12) - 1) * 1024);
			CHECK(is(&smaps.vm_flags, "rd wr mr "));
			good++;
		}
		if (room >= 900)
			CHECK(good == 8 && bad == 0);
		if (room < 100)
			CHECK_EQUAL(good, 0);
		syscull_reader_done(&narrow);
	}
}

static void fdinfo(void)
{
	struct syscull_fdinfo info;

	check_case = "fdinfo";
	CHECK(mkdirat(process, "fdinfo", 0700) == 0);
	PUT("fdinfo/3",
	    "pos:\t18446744073709551615\nflags:\t02100002\nmnt_id:\t25\nino:\t77\ntfd: 5 events: 19 pos:0 ino:3\n");
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 3, &info), 1);
	CHECK(info.position == UINT64_MAX && info.flags == 02100002 && info.mount_id == 25 && info.inode == 77);
	CHECK(is(&info.rest, "tfd: 5 events: 19 pos:0 ino:3\n"));
	PUT("fdinfo/3", "pos:\t0\nflags:\t0\n");
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 3, &info), 1);
	CHECK_EQUAL(info.rest.length, 0);
	PUT("fdinfo/3", "pos:\t0\n");
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 3, &info), SYSCULL_TORN);
	PUT("fdinfo/3", "pos:\t0\nflags:\t40000000000\n");
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 3, &info), -ERANGE);
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, 4, &info), -ENOENT);
	CHECK_EQUAL(syscull_proc_fdinfo(&reader, process, -4, &info), -EBADF);
}

static void mounts(void)
{
	struct syscull_mount mount;
	size_t used;
	int count = 0;

	check_case = "mountinfo";
	PUT("mountinfo",
	    "36 35 98:0 /mnt1 /mnt\\0402\\134x\\012 rw,noatime master:1 propagate_from:4 - ext3 /dev/r\\043oot rw\n"
	    "37 1 0:5 / /n rw shared:9 new:1 unbindable - tmpfs  rw\n"
	    "38 1 0:5 / /bad\\999 rw - tmpfs none rw\n"
	    "39 1 0:5 / /short\n"
	    "40 4294967296 0:5 / /n rw - tmpfs none rw\n"
	    "41 1 0:5 / /n rw - tmpfs none r");
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "mountinfo", '\n'), 0);
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), 1);
	CHECK(mount.id == 36 && mount.parent == 35 && mount.dev_major == 98 && mount.dev_minor == 0);
	CHECK(mount.shared == 0 && mount.master == 1 && mount.propagate_from == 4 && mount.unbindable == 0);
	CHECK(is(&mount.root, "/mnt1") && is(&mount.point, "/mnt 2\\x\n") && is(&mount.options, "rw,noatime"));
	CHECK(is(&mount.type, "ext3") && is(&mount.source, "/dev/r#oot") && is(&mount.super_options, "rw"));
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), 1);
	CHECK(mount.shared == 9 && mount.unbindable == 1 && is(&mount.source, "") && is(&mount.super_options, "rw"));
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), 1);
	CHECK(is(&mount.point, "/bad\\999"));
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), -ERANGE);
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_mount_next(&reader, &mount), 0);
	syscull_lines_end(&reader);

	/* 1,000 overlay layers: one line of some 60 KB between two small ones. */
	used = (size_t)sprintf(big, "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:50 / /o rw - overlay overlay rw,lowerdir=");
	for (int i = 0; i < 1000; i++)
		used += (size_t)sprintf(big + used, "/var/lib/layers/a-rather-long-name-of-a-layer/%04d/diff:", i);
	used += (size_t)sprintf(big + used, "/end\n3 1 8:1 / /z rw - ext4 /dev/a rw\n");
	put("mountinfo", big, used);
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "mountinfo", '\n'), 0);
	while (syscull_proc_mount_next(&reader, &mount) > 0) {
		count++;
		CHECK_EQUAL(mount.id, count);
		if (count == 2)
			CHECK(mount.super_options.length > 50000 &&
			      strcmp(mount.super_options.text + mount.super_options.length - 4, "/end") == 0);
	}
	CHECK_EQUAL(count, 3);
	syscull_lines_end(&reader);
}

static void cgroups(void)
{
	struct syscull_cgroup cgroup;

	check_case = "cgroup";
	PUT("cgroup", "12:cpu,cpuacct:/a:b (deleted)\n1:name=systemd:/\n0::/user.slice\nx::/\n3:none\n");
	CHECK_EQUAL(syscull_proc_begin(&reader, process, "cgroup", '\n'), 0);
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 1);
	CHECK(cgroup.hierarchy == 12 && is(&cgroup.controllers, "cpu,cpuacct") && is(&cgroup.path, "/a:b (deleted)"));
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 1);
	CHECK(is(&cgroup.controllers, "name=systemd"));
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 1);
	CHECK(cgroup.hierarchy == 0 && is(&cgroup.controllers, "") && is(&cgroup.path, "/user.slice"));
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_cgroup_next(&reader, &cgroup), 0);
	syscull_lines_end(&reader);
}

static void lists(void)
{
	char small[200];
	struct syscull_reader_options options = { sizeof options, small, sizeof small, NULL, 0, 0, 0 };
	struct syscull_reader narrow;
	uint64_t number, count, sum = 0;
	uint32_t source;
	pid_t pid;

	check_case = "lists";
	CHECK(mkdirat(process, "task", 0700) == 0);
	CHECK(mkdirat(process, "task/12", 0700) == 0);
	CHECK(mkdirat(process, "task/345", 0700) == 0);
	CHECK(mkdirat(process, "task/12x", 0700) == 0);
	CHECK(mkdirat(process, "task/99999999999999999999", 0700) == 0);
	CHECK_EQUAL(syscull_proc_list_begin(&reader, process, "task"), 0);
	while (syscull_proc_list_next(&reader, &number) > 0)
		sum += number;
	CHECK_EQUAL(sum, 357);
	CHECK_EQUAL(syscull_proc_list_next(&reader, &number), 0);
	syscull_lines_end(&reader);
	PUT("task/12/children", "5 67 890 ");
	CHECK_EQUAL(syscull_proc_children_begin(&reader, process, 12), 0);
	for (sum = 0; syscull_proc_child_next(&reader, &pid) > 0;)
		sum += (uint64_t)pid;
	CHECK_EQUAL(sum, 962);
	syscull_lines_end(&reader);
	PUT("task/12/children", "5 67 89");
	CHECK_EQUAL(syscull_proc_children_begin(&reader, process, 12), 0);
	CHECK_EQUAL(syscull_proc_child_next(&reader, &pid), 1);
	CHECK_EQUAL(syscull_proc_child_next(&reader, &pid), 1);
	CHECK_EQUAL(syscull_proc_child_next(&reader, &pid), SYSCULL_TORN);
	syscull_lines_end(&reader);
	PUT("task/12/children", "5x 4294967296 ");
	CHECK_EQUAL(syscull_proc_children_begin(&reader, process, 12), 0);
	CHECK_EQUAL(syscull_proc_child_next(&reader, &pid), SYSCULL_TORN);
	CHECK_EQUAL(syscull_proc_child_next(&reader, &pid), -ERANGE);
	syscull_lines_end(&reader);
	CHECK_EQUAL(syscull_proc_children_begin(&reader, process, 345), -ENOENT);

	/* Counted by reading, also in a buffer that holds a few entries at a time. */
	CHECK(mkdirat(process, "fd", 0700) == 0);
	for (int i = 0; i < 40; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "fd/%d", i);
		put(name, "", 0);
	}
	CHECK_EQUAL(syscull_reader_init(&narrow, &options), 0);
	fake_reads.no_size = 1;
	CHECK_EQUAL(syscull_proc_fd_count(&narrow, process, &count, &source), 1);
	fake_reads.no_size = 0;
	CHECK_EQUAL(count, 40);
	CHECK_EQUAL(source, SYSCULL_SOURCE_TEXT);
	syscull_reader_done(&narrow);
}

static void holds(void)
{
	check_case = "hold";
	CHECK_EQUAL(syscull_proc_hold(SYSCULL_PROC_DEFAULT, -5), -ESRCH);
	CHECK_EQUAL(syscull_proc_hold(process, 4711), -ENOENT);
	CHECK_EQUAL(syscull_proc_hold_task(process, 0), -ESRCH);
}

int main(void)
{
	char command[64];

	CHECK(mkdtemp(folder) != NULL);
	process = open(folder, O_RDONLY | O_DIRECTORY);
	CHECK(process >= 0);
	CHECK_EQUAL(syscull_reader_init(&reader, NULL), 0);
	errno = 31337;
	stats();
	statms();
	status();
	strings();
	maps();
	smaps();
	smaps_buffers();
	fdinfo();
	mounts();
	cgroups();
	lists();
	holds();
	syscull_reader_done(&reader);
	(void)snprintf(command, sizeof command, "rm -rf %s", folder);
	CHECK_EQUAL(system(command), 0);
	return check_done();
}
