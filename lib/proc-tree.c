/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process tree from one stat per process.  Snapshots of different moments
 * are put together here, so nothing is taken for granted: parents may be
 * missing or younger than their children, and links may go in circles.
 */
#include "proc-internal.h"

#include <fcntl.h>
#include <stdlib.h>

#define TREE_MOST 4194304U
#define TREE_FIRST 256U
#define NOBODY UINT32_MAX

/* Size in the first version. */
#define TREE_OPTIONS_LEAST sizeof(struct syscull_proc_tree_options)

struct tree {
	struct syscull_proc_node *nodes;
	size_t room;
	uint32_t count;
	uint32_t most;
	uint32_t gone;
};

static int tree_add(struct tree *tree, uint64_t pid)
{
	struct syscull_proc_node *nodes;
	size_t room;

	if (pid == 0 || pid > INT32_MAX)
		return 0;
	if (tree->count == tree->most)
		return SYSCULL_OVER_LIMIT;
	if (tree->count == tree->room) {
		room = tree->room != 0 ? tree->room * 2 : TREE_FIRST;
		nodes = realloc(tree->nodes, room * sizeof *nodes);
		if (nodes == NULL)
			return -ENOMEM;
		tree->nodes = nodes;
		tree->room = room;
	}
	memset(&tree->nodes[tree->count], 0, sizeof tree->nodes[0]);
	tree->nodes[tree->count++].pid = (pid_t)pid;
	return 0;
}

static int tree_list(struct tree *tree, struct syscull_reader *reader, int procfd)
{
	uint64_t pid;
	int result = procfd == SYSCULL_PROC_DEFAULT ? syscull_proc_list_begin(reader, AT_FDCWD, "/proc")
						    : syscull_proc_list_begin(reader, procfd, ".");

	if (result < 0)
		return result;
	while ((result = syscull_proc_list_next(reader, &pid)) > 0) {
		result = tree_add(tree, pid);
		if (result < 0)
			break;
	}
	syscull_lines_end(reader);
	return result;
}

/* 1, 0 when it is gone, negative. */
static int node_read(struct syscull_proc_node *node, struct syscull_reader *reader, int procfd,
		     const struct syscull_proc_tree_options *options)
{
	struct syscull_stat stat;
	int process = syscull_proc_hold(procfd, node->pid);
	int result;

	if (process < 0)
		return syscull_lines_trouble(process) == SYSCULL_TROUBLE_GONE ? 0 : process;
	result = syscull_proc_stat(reader, process, &stat);
	if (result > 0) {
		size_t length = stat.comm.length < sizeof node->comm ? stat.comm.length : sizeof node->comm - 1;

		memcpy(node->comm, stat.comm.text, length);
		node->comm[length] = '\0';
		node->ppid = (pid_t)stat.numbers[SYSCULL_STAT_PPID];
		node->start = stat.numbers[SYSCULL_STAT_START];
		node->state = (char)stat.numbers[SYSCULL_STAT_STATE];
		if (options->visit != NULL)
			result = options->visit(options->context, process, node);
		if (result == 0)
			result = 1;
	} else if (result != -ESRCH && syscull_lines_trouble(result) == SYSCULL_TROUBLE_GONE) {
		result = -ESRCH;
	}
	syscull__lines_close(process);
	return result == -ESRCH ? 0 : result;
}

static int tree_stats(struct tree *tree, struct syscull_reader *reader, int procfd,
		      const struct syscull_proc_tree_options *options)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tree->count; i++) {
		struct syscull_proc_node node = tree->nodes[i];
		int result;

		node.order = kept;
		result = node_read(&node, reader, procfd, options);
		if (result < 0)
			return result;
		if (result == 0)
			tree->gone++;
		else
			tree->nodes[kept++] = node;
	}
	tree->count = kept;
	return 0;
}

static int by_pid(const void *one, const void *two)
{
	const struct syscull_proc_node *a = one;
	const struct syscull_proc_node *b = two;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Links between nodes in order of pid: places in the unordered tree. */
struct links {
	uint32_t *parent;
	uint32_t *child; /* the first one */
	uint32_t *brother; /* the next one */
	uint32_t *place; /* where it goes; NOBODY: nowhere yet */
};

static uint32_t find_parent(const struct tree *tree, const struct syscull_proc_node *node)
{
	struct syscull_proc_node key;
	const struct syscull_proc_node *found;

	key.pid = node->ppid;
	found = tree->count > 0 ? bsearch(&key, tree->nodes, tree->count, sizeof key, by_pid) : NULL;
	if (found == NULL || found == node || found->start > node->start)
		return NOBODY;
	return (uint32_t)(found - tree->nodes);
}

static void tree_link(const struct tree *tree, struct links *links)
{
	for (uint32_t i = 0; i < tree->count; i++)
		links->child[i] = links->brother[i] = links->place[i] = NOBODY;
	/* From the last to the first: each goes before those that are there. */
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t parent = find_parent(tree, &tree->nodes[i]);

		links->parent[i] = parent;
		if (parent == NOBODY)
			continue;
		links->brother[i] = links->child[parent];
		links->child[parent] = i;
	}
}

/* One top and all below it, in order.  Whoever has a place already keeps it: circles end there. */
static void tree_place(const struct tree *tree, struct links *links, uint32_t top, struct syscull_proc_node *into,
		       uint32_t *used)
{
	uint32_t at = top;
	uint32_t depth = 0;

	for (;;) {
		uint32_t next = links->child[at];

		if (links->place[at] == NOBODY) {
			links->place[at] = *used;
			into[*used] = tree->nodes[at];
			into[*used].depth = depth;
			into[*used].parent = at == top ? *used : links->place[links->parent[at]];
			(*used)++;
		}
		while (next != NOBODY && links->place[next] != NOBODY)
			next = links->brother[next];
		if (next != NOBODY) {
			/* What is before it needs no second look. */
			links->child[at] = links->brother[next];
			at = next;
			depth++;
			continue;
		}
		links->child[at] = NOBODY;
		if (at == top)
			return;
		at = links->parent[at];
		depth--;
	}
}

/* Into preorder, in new memory. */
static int tree_order(struct tree *tree, pid_t root)
{
	struct links links;
	struct syscull_proc_node *into = malloc((tree->count + 1U) * sizeof *into);
	uint32_t *memory = malloc((tree->count + 1U) * 4 * sizeof *memory);
	uint32_t used = 0;

	if (into == NULL || memory == NULL) {
		free(into);
		free(memory);
		return -ENOMEM;
	}
	links.parent = memory;
	links.child = links.parent + tree->count;
	links.brother = links.child + tree->count;
	links.place = links.brother + tree->count;
	tree_link(tree, &links);
	for (uint32_t i = 0; i < tree->count; i++)
		if (root != 0 ? tree->nodes[i].pid == root : links.parent[i] == NOBODY)
			tree_place(tree, &links, i, into, &used);
	/* What is left goes in circles: its first one becomes a top. */
	for (uint32_t i = 0; root == 0 && i < tree->count; i++)
		if (links.place[i] == NOBODY)
			tree_place(tree, &links, i, into, &used);
	for (uint32_t i = 0; i < used; i++)
		into[i].below = 0;
	for (uint32_t i = used; i-- > 0;)
		if (into[i].parent != i)
			into[into[i].parent].below += into[i].below + 1;
	free(memory);
	free(tree->nodes);
	tree->nodes = into;
	tree->count = used;
	return root != 0 && used == 0 ? -ESRCH : 0;
}

int syscull_proc_tree_read(struct syscull_reader *reader, int procfd, const struct syscull_proc_tree_options *options,
			   struct syscull_proc_tree *ret_tree)
{
	struct syscull_proc_tree_options taken = { sizeof taken, 0, 0, NULL, NULL };
	struct tree tree = { NULL, 0, 0, 0, 0 };
	int saved = errno;
	int result = 0;

	if (options != NULL)
		result = syscull_options_take(&taken, sizeof taken, options, options->size, TREE_OPTIONS_LEAST);
	if (result == 0 && taken.root < 0)
		result = -EINVAL;
	if (result < 0)
		return result;
	tree.most = taken.most != 0 && taken.most < TREE_MOST ? taken.most : TREE_MOST;
	result = tree_list(&tree, reader, procfd);
	if (result == 0)
		result = tree_stats(&tree, reader, procfd, &taken);
	if (result == 0) {
		qsort(tree.nodes, tree.nodes != NULL ? tree.count : 0, sizeof tree.nodes[0], by_pid);
		result = tree_order(&tree, taken.root);
	}
	if (result < 0) {
		free(tree.nodes);
	} else {
		memset(ret_tree, 0, sizeof *ret_tree);
		ret_tree->nodes = tree.nodes;
		ret_tree->count = tree.count;
		ret_tree->gone = tree.gone;
	}
	errno = saved;
	return result;
}

void syscull_proc_tree_free(struct syscull_proc_tree *tree)
{
	int saved = errno;

	free(tree->nodes);
	memset(tree, 0, sizeof *tree);
	errno = saved;
}
