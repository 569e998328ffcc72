/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: dump-proc FOLDER FILE
 * Prints what the typed readers make of FOLDER/FILE, as lines of words, for
 * compare_proc.py, which reads the same with Python.  Texts are hexadecimal.
 */
#include "syscull/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static struct syscull_reader reader;

static void text(const struct syscull_text *text)
{
	(void)putchar('=');
	for (size_t i = 0; i < text->length; i++)
		printf("%02x", (unsigned char)text->text[i]);
	(void)putchar(' ');
}

static void number(uint64_t number)
{
	printf("%llu ", (unsigned long long)number);
}

static void map(const struct syscull_map *map)
{
	number(map->start);
	number(map->end);
	number(map->flags & 15U);
	number(map->offset);
	number(map->dev_major);
	number(map->dev_minor);
	number(map->inode);
	text(&map->path);
}

static int maps(int folder, const char *name)
{
	struct syscull_map record;
	int result = syscull_proc_begin(&reader, folder, name, '\n');

	while (result >= 0 && (result = syscull_proc_map_next(&reader, &record)) > 0) {
		map(&record);
		(void)putchar('\n');
	}
	return result;
}

static void fields(const struct syscull_smaps *smaps)
{
	for (unsigned int i = 0; i < 48; i++)
		if (smaps->have & SYSCULL_SMAPS_BIT(i))
			printf("%u:%llu ", i, (unsigned long long)smaps->numbers[i]);
}

static int smaps(int folder, const char *name)
{
	struct syscull_smaps record;
	int result = syscull_proc_begin(&reader, folder, name, '\n');

	while (result >= 0 && (result = syscull_proc_smaps_next(&reader, &record)) > 0) {
		map(&record.map);
		text(&record.vm_flags);
		fields(&record);
		(void)putchar('\n');
	}
	return result;
}

static int rollup(int folder)
{
	struct syscull_smaps totals;
	int result = syscull_proc_rollup(&reader, folder, &totals);

	if (result > 0) {
		fields(&totals);
		(void)putchar('\n');
	}
	return result;
}

static int mounts(int folder, const char *name)
{
	struct syscull_mount mount;
	int result = syscull_proc_begin(&reader, folder, name, '\n');

	while (result >= 0 && (result = syscull_proc_mount_next(&reader, &mount)) > 0) {
		printf("%u %u %u %u %u %u ", mount.id, mount.parent, mount.dev_major, mount.dev_minor, mount.shared,
		       mount.master);
		text(&mount.root);
		text(&mount.point);
		text(&mount.options);
		text(&mount.type);
		text(&mount.source);
		text(&mount.super_options);
		(void)putchar('\n');
	}
	return result;
}

static int cgroups(int folder, const char *name)
{
	struct syscull_cgroup cgroup;
	int result = syscull_proc_begin(&reader, folder, name, '\n');

	while (result >= 0 && (result = syscull_proc_cgroup_next(&reader, &cgroup)) > 0) {
		number(cgroup.hierarchy);
		text(&cgroup.controllers);
		text(&cgroup.path);
		(void)putchar('\n');
	}
	return result;
}

static int stats(int folder)
{
	struct syscull_stat stat;
	int result = syscull_proc_stat(&reader, folder, &stat);

	if (result > 0) {
		text(&stat.comm);
		number(stat.numbers[SYSCULL_STAT_PID]);
		for (unsigned int i = SYSCULL_STAT_PPID; i <= stat.count; i++)
			number(stat.numbers[i]);
		(void)putchar('\n');
	}
	return result;
}

static int statms(int folder)
{
	struct syscull_statm statm;
	int result = syscull_proc_statm(&reader, folder, &statm);

	if (result > 0) {
		number(statm.size);
		number(statm.resident);
		number(statm.shared);
		number(statm.text);
		number(statm.data);
		(void)putchar('\n');
	}
	return result;
}

static int status(int folder)
{
	struct syscull_status status;
	int result = syscull_proc_status(&reader, folder, SYSCULL_STATUS_ALL, &status);

	if (result > 0) {
		text(&status.name);
		for (unsigned int i = 0; i < 62; i++)
			if (status.have & SYSCULL_STATUS_BIT(i))
				printf("%u:%llu ", i, (unsigned long long)status.numbers[i]);
		(void)putchar('\n');
	}
	return result;
}

static int strings(int folder, const char *name)
{
	struct syscull_text all, part;
	int result = strcmp(name, "environ") == 0 ? syscull_proc_environ(&reader, folder, &all)
						  : syscull_proc_cmdline(&reader, folder, &all);

	while (result > 0 && syscull_text_next(&all, '\0', &part)) {
		text(&part);
		(void)putchar('\n');
	}
	return result;
}

int main(int argc, char **argv)
{
	int folder = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	const char *name = argc == 3 ? argv[2] : "";
	int result = -1;

	if (folder < 0 || syscull_reader_init(&reader, NULL) < 0)
		return 2;
	if (strcmp(name, "maps") == 0)
		result = maps(folder, name);
	else if (strcmp(name, "smaps") == 0)
		result = smaps(folder, name);
	else if (strcmp(name, "smaps_rollup") == 0)
		result = rollup(folder);
	else if (strcmp(name, "mountinfo") == 0)
		result = mounts(folder, name);
	else if (strcmp(name, "cgroup") == 0)
		result = cgroups(folder, name);
	else if (strcmp(name, "stat") == 0)
		result = stats(folder);
	else if (strcmp(name, "statm") == 0)
		result = statms(folder);
	else if (strcmp(name, "status") == 0)
		result = status(folder);
	else
		result = strings(folder, name);
	if (result < 0)
		(void)fprintf(stderr, "%s: %s\n", name, strerror(-result));
	syscull_reader_done(&reader);
	return result < 0;
}
