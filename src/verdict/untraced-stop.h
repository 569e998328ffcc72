/* SPDX-License-Identifier: BSD-2-Clause */
/* What untraced.c and untraced-stop.c share; nobody else includes it. */
#ifndef SYSCULL_VERDICT_UNTRACED_STOP_H
#define SYSCULL_VERDICT_UNTRACED_STOP_H

#include "verdict/untraced.h"

/* Between two moments of a task's account. */
struct untraced_stretch {
	double run_ns, queue_ns, turns, stops, idle_ns, late_ns;
};

/* A stretch without a sleep: what it was idle, it waited for us. */
void untraced_learn_idle(struct untraced *book, const struct untraced_stretch *stretch);
/* `guess` counts as one of the first values; 0 there is none. */
void untraced_mean_add(struct untraced_mean *mean, double value, double guess);
/* What it was is worth little from now on. */
void untraced_mean_forget(struct untraced_mean *mean);
/* The sampled call was a cheap one: what it took is the stop. */
void untraced_learn(struct untraced *book, struct untraced_task *task, enum sys_call_id id,
		    const struct event_call *call, int err);
/* On the CPU. */
double untraced_stops_ns(const struct untraced *book, double stops);
/* What the sampled calls cost on the average, beyond what was taken for it. */
double untraced_dearer_ns(const struct untraced *book, struct price_book *prices);

#endif
