/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where processes have code when the programs in the kernel do not see it come:
 * a child of ours before its execve, and what ran before us.  The slots are
 * shared with the kernel's side, which goes on from what stands here.
 */
#include "engine/bpf/bpf.h"

static uint32_t slot_new(const struct loaded *loaded)
{
	uint64_t index;

	if (!loaded->codes || loaded->live->codes >= KERN_CODES - 1)
		return 0;
	index = __atomic_fetch_add(&loaded->live->codes, 1, __ATOMIC_SEQ_CST) + 1;
	if (index >= KERN_CODES)
		return 0;
	loaded->codes[index] = (struct kern_code){ .refs = 1 };
	return (uint32_t)index;
}

uint32_t code_of_child(const struct loaded *loaded)
{
	uint32_t index = slot_new(loaded);
	struct kern_code *code = index ? &loaded->codes[index] : NULL;

	/* No sites of its calls are asked for, but they are to take as long as others. */
	if (code) {
		code->range[0].start = (uint64_t)(uintptr_t)code_of_child & ~UINT64_C(0xffff);
		code->range[0].bytes = 0x10000;
		code->used = 1;
	}
	return index;
}
