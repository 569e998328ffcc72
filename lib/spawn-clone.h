/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child that shares memory with its parent and runs a function on another
 * stack, by the raw calls: no libc has a function for clone3(2), and a child
 * on its parent's stack would overwrite it.  The function must not return.
 */
#ifndef SYSCULL_SPAWN_CLONE_H
#define SYSCULL_SPAWN_CLONE_H

#include "internal.h"

#include <sched.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif
#define CLEAR_SIGHAND 0x100000000ULL

/* clone3(2)'s struct as of Linux 5.3. */
struct spawn_clone {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

#if defined(__x86_64__) && defined(__LP64__)
#define SPAWN_OWN_CLONE 1
static inline long spawn_call(long number, long a, long b, long c, void (*run)(void *), void *arg)
{
	register long d __asm__("r10") = 0;
	register long e __asm__("r8") = 0;
	register void (*function)(void *) __asm__("r12") = run;
	register void *argument __asm__("r13") = arg;
	long result;

	__asm__ volatile("sys"
			 "call\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "movq %[argument], %%rdi\n\t"
			 "call *%[function]\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d),
			   "r"(e), [function] "r"(function), [argument] "r"(argument)
			 : "rcx", "r11", "memory", "cc");
	return result;
}
#elif defined(__aarch64__) && defined(__LP64__)
#define SPAWN_OWN_CLONE 1
static inline long spawn_call(long number, long a, long b, long c, void (*run)(void *), void *arg)
{
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;
	register long x8 __asm__("x8") = number;
	register void (*function)(void *) __asm__("x21") = run;
	register void *argument __asm__("x22") = arg;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x30, xzr\n\t"
			 "mov x0, %[argument]\n\t"
			 "blr %[function]\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			   "r"(x8), [function] "r"(function), [argument] "r"(argument)
			 : "memory", "cc");
	return x0;
}
#endif

#ifdef SPAWN_OWN_CLONE
/* `stack` is the highest address, of 16 bytes' alignment; the argument is that of clone(2). */
static inline long spawn_clone(unsigned long flags, void *stack, int *pidfd, void (*run)(void *), void *arg)
{
	return spawn_call(SYS_clone, (long)flags, (long)stack, (long)pidfd, run, arg);
}

static inline long spawn_clone3(struct spawn_clone *clone, void (*run)(void *), void *arg)
{
	return spawn_call(SYS_clone3, (long)clone, (long)sizeof *clone, 0, run, arg);
}
#else
/* Other machines: the libc's function, and no clone3(2). */
struct spawn_start {
	void (*run)(void *);
	void *arg;
};

static inline int spawn_begin(void *arg)
{
	struct spawn_start *start = (struct spawn_start *)arg;

	start->run(start->arg);
	return 127;
}

static inline long spawn_clone(unsigned long flags, void *stack, int *pidfd, void (*run)(void *), void *arg)
{
	struct spawn_start start = { run, arg };
	int result = clone(spawn_begin, stack, (int)flags, &start, pidfd, NULL, NULL);

	return result < 0 ? -errno : result;
}

static inline long spawn_clone3(struct spawn_clone *clone, void (*run)(void *), void *arg)
{
	(void)clone;
	(void)run;
	(void)arg;
	return -ENOSYS;
}
#endif

#endif
