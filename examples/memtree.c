/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: memtree [PID]
 * The process tree with memory and open descriptors, per process and summed
 * over each subtree, the largest first.  One smaps_rollup per process (smaps
 * where the kernel has none), read relative to the held process.  Made for 80
 * columns; nothing that a process calls itself reaches the terminal unescaped.
 */
#include "syscull/proc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 37
#define INDENT_MOST 14

enum { RSS, PSS, PRIVATE, SHARED, SWAP, FDS, NUMBERS };

struct usage {
	uint64_t numbers[NUMBERS];
	unsigned int processes;
	unsigned int denied; /* whose memory or descriptors we may not see */
	unsigned int users; /* that have memory at all: no kernel threads */
};

struct program {
	struct syscull_reader reader;
	struct usage *seen; /* by order */
	size_t room;
	struct syscull_proc_tree tree;
	struct usage *own; /* by place in the tree */
	struct usage *below; /* own and all below */
	uint32_t *sorted; /* places, brothers together, largest first */
	uint32_t *first; /* where the brothers below a place begin in sorted */
	uint32_t kernel;
	uint32_t by_smaps;
	bool rooted;
};

static int read_usage(struct program *program, int process, struct usage *usage)
{
	struct syscull_smaps totals;
	struct syscull_statm statm;
	uint32_t source = SYSCULL_SOURCE_ROLLUP;
	int result = syscull_proc_memory(&program->reader, process, &totals, &source);

	usage->processes = 1;
	if (syscull_lines_trouble(result) == SYSCULL_TROUBLE_DENIED) {
		/* Anybody may see the resident size, and that there is none. */
		result = syscull_proc_statm(&program->reader, process, &statm);
		if (result < 0)
			return result;
		usage->denied = usage->users = statm.size > 0;
		usage->numbers[RSS] = statm.resident;
	} else if (result < 0) {
		return result;
	} else if (result > 0) {
		usage->users = 1;
		usage->numbers[RSS] = totals.numbers[SYSCULL_SMAPS_RSS];
		usage->numbers[PSS] = totals.numbers[SYSCULL_SMAPS_PSS];
		usage->numbers[PRIVATE] =
			totals.numbers[SYSCULL_SMAPS_PRIVATE_CLEAN] + totals.numbers[SYSCULL_SMAPS_PRIVATE_DIRTY];
		usage->numbers[SHARED] =
			totals.numbers[SYSCULL_SMAPS_SHARED_CLEAN] + totals.numbers[SYSCULL_SMAPS_SHARED_DIRTY];
		usage->numbers[SWAP] = totals.numbers[SYSCULL_SMAPS_SWAP];
		program->by_smaps += source == SYSCULL_SOURCE_TEXT;
	}
	result = syscull_proc_fd_count(&program->reader, process, &usage->numbers[FDS], NULL);
	if (syscull_lines_trouble(result) == SYSCULL_TROUBLE_DENIED)
		usage->denied = usage->users;
	else if (result < 0)
		return result;
	return 0;
}

static int visit(void *context, int process, const struct syscull_proc_node *node)
{
	struct program *program = context;
	int result;

	if (node->order >= program->room) {
		size_t room = program->room != 0 ? program->room * 2 : 256;
		struct usage *larger = realloc(program->seen, room * sizeof *larger);

		if (larger == NULL)
			return -ENOMEM;
		program->seen = larger;
		program->room = room;
	}
	memset(&program->seen[node->order], 0, sizeof program->seen[0]);
	result = read_usage(program, process, &program->seen[node->order]);
	return syscull_lines_trouble(result) == SYSCULL_TROUBLE_GONE ? -ESRCH : result;
}

static void add(struct usage *to, const struct usage *from)
{
	for (unsigned int i = 0; i < NUMBERS; i++)
		to->numbers[i] += from->numbers[i];
	to->processes += from->processes;
	to->denied += from->denied;
	to->users += from->users;
}

static const struct program *sorting;

/* Brothers together, in the order of their parents; among them the largest first. */
static int by_size(const void *one, const void *two)
{
	const struct syscull_proc_node *nodes = sorting->tree.nodes;
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
	int64_t parent_a = nodes[a].parent == a ? -1 : (int64_t)nodes[a].parent;
	int64_t parent_b = nodes[b].parent == b ? -1 : (int64_t)nodes[b].parent;
	uint64_t size_a = sorting->below[a].numbers[PSS], size_b = sorting->below[b].numbers[PSS];

	if (parent_a != parent_b)
		return parent_a < parent_b ? -1 : 1;
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return (nodes[a].pid > nodes[b].pid) - (nodes[a].pid < nodes[b].pid);
}

static int sum_up(struct program *program)
{
	uint32_t count = program->tree.count;
	struct syscull_proc_node *nodes = program->tree.nodes;

	program->own = calloc(count + 1U, sizeof program->own[0]);
	program->below = calloc(count + 1U, sizeof program->below[0]);
	program->sorted = calloc(count + 1U, sizeof program->sorted[0]);
	program->first = calloc(count + 1U, sizeof program->first[0]);
	if (program->own == NULL || program->below == NULL || program->sorted == NULL || program->first == NULL)
		return -ENOMEM;
	for (uint32_t i = count; i-- > 0;) {
		program->own[i] = program->seen[nodes[i].order];
		add(&program->below[i], &program->own[i]);
		if (nodes[i].parent != i)
			add(&program->below[nodes[i].parent], &program->below[i]);
		program->sorted[i] = i;
		program->first[i] = count;
	}
	sorting = program;
	qsort(program->sorted, count, sizeof program->sorted[0], by_size);
	for (uint32_t i = count; i-- > 0;) {
		uint32_t place = program->sorted[i];

		if (nodes[place].parent != place)
			program->first[nodes[place].parent] = i;
	}
	return 0;
}

/* At most five characters. */
static void show_bytes(uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes / 1024;
	unsigned int unit = 0;

	while (value >= 999.5 && units[unit + 1] != '\0') {
		value /= 1024;
		unit++;
	}
	if (bytes == 0)
		printf(" %5s", "0");
	else
		printf(" %4.*f%c", unit > 0 && value < 99.95 ? 1 : 0, value, units[unit]);
}

static void show_usage(const struct usage *usage, bool sum)
{
	if (!sum && usage->denied) {
		show_bytes(usage->numbers[RSS]);
		printf(" %5s %5s %5s %5s", "?", "?", "?", "?");
	} else {
		for (unsigned int i = 0; i < FDS; i++)
			show_bytes(usage->numbers[i]);
	}
	printf(" %5llu  ", (unsigned long long)usage->numbers[FDS]);
}

/* At most `room` columns; what is no plain letter becomes \xNN. */
static void show_name(const char *name, int room)
{
	for (; *name != '\0'; name++) {
		unsigned char c = (unsigned char)*name;
		bool plain = c >= ' ' && c < 0x7f && c != '\\';

		if (room < (plain ? 1 : 4))
			return;
		room -= plain ? 1 : 4;
		if (plain)
			(void)putchar(c);
		else
			printf("\\x%02x", c);
	}
}

static void show_node(const struct program *program, uint32_t place)
{
	const struct syscull_proc_node *node = &program->tree.nodes[place];
	const struct usage *below = &program->below[place];
	int indent = node->depth < INDENT_MOST ? (int)node->depth : INDENT_MOST;

	printf("%7ld", (long)node->pid);
	show_usage(&program->own[place], false);
	printf("%*s", indent, "");
	show_name(node->comm, NAME_WIDTH - 10 - indent);
	if (node->state == 'Z')
		printf(" (zombie)");
	(void)putchar('\n');
	if (below->processes == 1)
		return;
	printf("%7s", "sum");
	show_usage(below, true);
	printf("%*s= %u processes%s\n", indent, "", below->processes, below->denied ? " and more" : "");
}

/* From parents to children, brothers in their order, without recursion: trees may be deep. */
static void show_tree(struct program *program)
{
	const struct syscull_proc_node *nodes = program->tree.nodes;
	uint32_t count = program->tree.count;
	uint32_t at = 0;

	printf("%7s %5s %5s %5s %5s %5s %5s  %s\n", "PID", "RSS", "PSS", "PRIV", "SHARE", "SWAP", "FDS", "NAME");
	while (at < count) {
		uint32_t place = program->sorted[at];
		uint32_t parent;

		/* Kernel threads have no memory of their own, nor anybody below them. */
		if (program->below[place].users == 0 && program->below[place].denied == 0 &&
		    nodes[place].state != 'Z') {
			program->kernel += program->below[place].processes;
		} else {
			show_node(program, place);
			if (program->first[place] < count) {
				/* Where to go on afterwards is kept in the place of the first child. */
				uint32_t next = program->first[place];

				program->first[place] = at;
				at = next;
				continue;
			}
		}
		for (;;) {
			place = program->sorted[at];
			parent = nodes[place].parent == place ? count : nodes[place].parent;
			at++;
			if (at < count) {
				uint32_t other = program->sorted[at];
				uint32_t its = nodes[other].parent == other ? count : nodes[other].parent;

				if (its == parent)
					break;
			}
			if (parent == count) {
				at = count;
				break;
			}
			at = program->first[parent];
		}
	}
}

static void show_note(unsigned int count, const char *what, const char *note)
{
	if (count > 0)
		printf("(%u %s%s %s)\n", count, what, count == 1 ? "" : what[0] == 'p' ? "es" : "s", note);
}

static void show_notes(const struct program *program)
{
	unsigned int denied = 0;

	for (uint32_t i = 0; i < program->tree.count; i++)
		denied += program->own[i].denied;
	show_note(program->kernel, "kernel thread", "left out");
	show_note(denied, "process", "of other people: PSS, swap and the like are missing in the sums");
	show_note(program->by_smaps, "process", "summed from smaps: this kernel has no smaps_rollup");
	if (!program->rooted)
		show_note(program->tree.gone, "process", "ended meanwhile");
}

static int run(struct program *program, pid_t root)
{
	struct syscull_proc_tree_options options;
	struct syscull_reader reader;
	int result = syscull_reader_init(&reader, NULL);

	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.root = root;
	program->rooted = root != 0;
	options.visit = visit;
	options.context = program;
	if (result == 0)
		result = syscull_reader_init(&program->reader, NULL);
	if (result == 0)
		result = syscull_proc_tree_read(&reader, SYSCULL_PROC_DEFAULT, &options, &program->tree);
	if (result == 0)
		result = sum_up(program);
	if (result == 0) {
		show_tree(program);
		show_notes(program);
	}
	syscull_reader_done(&program->reader);
	syscull_reader_done(&reader);
	return result;
}

int main(int argc, char **argv)
{
	struct program program;
	char *end = NULL;
	long root = 0;
	int result;

	if (argc == 2) {
		errno = 0;
		root = strtol(argv[1], &end, 10);
	}
	if (argc > 2 ||
	    (argc == 2 && (errno != 0 || end == argv[1] || *end != '\0' || root < 1 || root > 0x7fffffff))) {
		(void)fprintf(stderr, "usage: memtree [PID]\n");
		return 2;
	}
	memset(&program, 0, sizeof program);
	result = run(&program, (pid_t)root);
	free(program.seen);
	free(program.own);
	free(program.below);
	free(program.sorted);
	free(program.first);
	syscull_proc_tree_free(&program.tree);
	if (result == 0 && fflush(stdout) != 0)
		result = -errno;
	if (result < 0)
		(void)fprintf(stderr, "memtree: %s\n",
			      result == -ESRCH ? "there is no such process" : strerror(-result));
	return result < 0;
}
