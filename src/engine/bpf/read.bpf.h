/* SPDX-License-Identifier: BSD-2-Clause */
/* What both kernel sides need: reads of the kernel's memory, 0 where there is nothing. */
#ifndef SYSCULL_ENGINE_BPF_READ_BPF_H
#define SYSCULL_ENGINE_BPF_READ_BPF_H

#include <bpf/bpf_helpers.h>
#include <stdint.h>

/* The verifier loses bounds that the compiler proves away. */
#define KEEP(variable) asm volatile("" : "+r"(variable))

/* Fields of the running task are ordinary loads: the offset is a constant to
 * the verifier, and the pointer one that it knows.  Not so for pointers: for
 * each of them it looks through all the kernel's types, since 6.2.  A helper,
 * however little it does, takes about 6 ns where returns are guarded: what comes
 * with each call asks once for the task. */
static __always_inline uint64_t field_u64(const struct task_struct *current, uint32_t offset)
{
	return *(const volatile uint64_t *)((const char *)current + offset);
}

static __always_inline uint32_t field_u32(const struct task_struct *current, uint32_t offset)
{
	return *(const volatile uint32_t *)((const char *)current + offset);
}

static __always_inline uint64_t kernel_u64(uint64_t address, uint32_t offset)
{
	uint64_t value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof value, (void *)(address + offset));
	return value;
}

static __always_inline uint32_t kernel_u32(uint64_t address, uint32_t offset)
{
	uint32_t value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof value, (void *)(address + offset));
	return value;
}

#endif
