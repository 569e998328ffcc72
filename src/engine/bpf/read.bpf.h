/* SPDX-License-Identifier: BSD-2-Clause */
/* What both kernel sides need: reads of the kernel's memory, 0 where there is nothing. */
#ifndef SYSCULL_ENGINE_BPF_READ_BPF_H
#define SYSCULL_ENGINE_BPF_READ_BPF_H

#include <bpf/bpf_helpers.h>
#include <stdint.h>

/* The verifier loses bounds that the compiler proves away. */
#define KEEP(variable) asm volatile("" : "+r"(variable))

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
