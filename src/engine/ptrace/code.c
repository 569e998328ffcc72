/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a process has code, as far as its calls tell, so that of two stacks it
 * can be said whether they hold the same return addresses.  Told as the how
 * manieth range and how far into it, which is the same in all runs of a program
 * wherever it is loaded.
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine/ptrace/ptrace.h"

#define RANGES_MAX 96

struct code {
	unsigned refs;
	unsigned used;
	bool full; /* there were more: nothing can be said */
	uint64_t least, most;
	struct {
		uint64_t start, end;
	} range[RANGES_MAX];
};

void code_unref(struct code *code)
{
	if (code && --code->refs == 0)
		free(code);
}

void code_exec(struct engine_pt *e, struct task *task)
{
	code_unref(task->code);
	task->code = e->stacks_seen ? calloc(1, sizeof *task->code) : NULL;
	if (task->code)
		*task->code = (struct code){ .refs = 1, .least = UINT64_MAX };
}

void code_share(struct task *from, struct task *to)
{
	if (!from->code || to->code)
		return;
	from->code->refs++;
	to->code = from->code;
}

void code_fork(struct task *parent, struct task *child)
{
	if (parent->clone_flags & CLONE_VM) {
		code_share(parent, child);
	} else if (parent->code && !child->code) {
		child->code = malloc(sizeof *child->code);
		if (!child->code)
			return;
		*child->code = *parent->code;
		child->code->refs = 1;
	}
}

void code_add(struct code *code, uint64_t start, uint64_t bytes)
{
	if (!code || bytes == 0 || start + bytes < start)
		return;
	for (unsigned i = 0; i < code->used; i++)
		if (code->range[i].start <= start && code->range[i].end >= start + bytes)
			return;
	if (code->used == RANGES_MAX) {
		code->full = true;
		return;
	}
	code->range[code->used].start = start;
	code->range[code->used].end = start + bytes;
	code->used++;
	if (start < code->least)
		code->least = start;
	if (start + bytes > code->most)
		code->most = start + bytes;
}

void code_call(const struct task *task, int64_t ret)
{
	if (ret < 0 || !task->code || task->arch != SYS_ARCH_NATIVE)
		return;
	if (task->id == CALL_mmap && (task->args[2] & PROT_EXEC))
		code_add(task->code, (uint64_t)ret, task->args[1]);
	else if ((task->id == CALL_mprotect || task->id == CALL_pkey_mprotect) && (task->args[2] & PROT_EXEC))
		code_add(task->code, task->args[0], task->args[1]);
}

uint64_t code_hash(const struct code *code, const uint64_t *words, size_t count)
{
	uint64_t hash = 1;

	if (!code || code->used == 0 || code->full)
		return 0;
	for (size_t i = 0; i < count; i++) {
		unsigned n = 0;

		if (words[i] < code->least || words[i] >= code->most)
			continue;
		while (n < code->used && (words[i] < code->range[n].start || words[i] >= code->range[n].end))
			n++;
		if (n < code->used)
			hash = map_mix(map_mix(hash, words[i] - code->range[n].start), i << 32 | n);
	}
	return hash | (hash == 0);
}
