/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A made-up world for tests of the virtual clock.  In it a stop takes 1,000 ns
 * of CPU, the one at the enter no more than the other, and 3,000 ns of waiting
 * for us; a cheap call takes 200 ns.
 */
#ifndef SYSCULL_TESTS_UNTRACED_WORLD_H
#define SYSCULL_TESTS_UNTRACED_WORLD_H

#include "test.h"

#include <errno.h>
#include <string.h>

#include "verdict/untraced.h"

#define STOP 1000
#define IDLE 3000
#define CHEAP 200
#define GAP 30 /* from one call to the next, at the least */
#define MS 1000000
#define NEAR(a, b) ((a) - (b) < 1 && (b) - (a) < 1)

/* One task as the kernel accounts it. */
struct body {
	uint32_t tid;
	uint64_t run_ns, queue_ns, turns, wall_ns, stops;
};

struct world {
	struct untraced book;
	struct price_book *prices;
	uint64_t now, late_ns, flags; /* the fourth argument of all calls */
	struct body bodies[8];
};

static inline void feed(struct world *world, const void *record, enum sys_call_id id, int err)
{
	untraced_feed(&world->book, record, id, err);
}

static inline struct body *body_of(struct world *world, uint32_t tid)
{
	struct body *body = world->bodies;

	while (body->tid != tid && body->tid != 0)
		body++;
	body->tid = tid;
	return body;
}

static inline void tell_clock(struct world *world, uint32_t tid, enum event_clock_at at)
{
	const struct body *body = body_of(world, tid);
	struct event_clock clock = { .head = { .bytes = sizeof clock, .type = EVENT_CLOCK, .pid = tid, .tid = tid } };

	clock.head.time_ns = world->now;
	clock.run_ns = body->run_ns;
	clock.queue_ns = body->queue_ns;
	clock.turns = body->turns;
	clock.wall_ns = body->wall_ns;
	clock.stops = body->stops;
	clock.late_ns = world->late_ns;
	clock.at = at;
	feed(world, &clock, CALL_unknown, 0);
}

/* It ran for so long, slept for so long, and then stopped for us. */
static inline void passes(struct world *world, uint32_t tid, uint64_t ran_ns, uint64_t slept_ns)
{
	struct body *body = body_of(world, tid);

	body->run_ns += ran_ns + STOP;
	body->wall_ns += ran_ns + slept_ns + STOP + IDLE;
	body->turns += 1 + (slept_ns > 0);
	body->stops++;
	world->now += ran_ns + slept_ns + STOP + IDLE;
}

struct asked {
	enum sys_call_id id;
	int64_t ret;
	bool quiet; /* no clocks */
};

static inline void enters(struct world *world, uint32_t tid, uint64_t user_ns, const struct asked *asked)
{
	passes(world, tid, user_ns, 0);
	if (!asked->quiet)
		tell_clock(world, tid, EVENT_CLOCK_ENTER);
}

static inline void returns(struct world *world, uint32_t tid, uint64_t began, uint64_t ran_ns, uint64_t slept_ns,
			   const struct asked *asked)
{
	struct event_call call = { .head = { .bytes = sizeof call, .type = EVENT_CALL, .pid = tid, .tid = tid } };

	passes(world, tid, ran_ns, slept_ns);
	if (!asked->quiet)
		tell_clock(world, tid, EVENT_CLOCK_RETURN);
	call.head.time_ns = began;
	call.duration_ns = world->now - began;
	call.ret = asked->ret;
	call.args[3] = world->flags;
	call.arch = SYS_ARCH_NATIVE;
	feed(world, &call, asked->id, asked->ret < 0 ? (int)-asked->ret : 0);
}

static inline void calls(struct world *world, uint32_t tid, uint64_t user_ns, uint64_t ran_ns, uint64_t slept_ns,
			 struct asked asked)
{
	uint64_t began;

	enters(world, tid, user_ns, &asked);
	began = world->now;
	returns(world, tid, began, ran_ns, slept_ns, &asked);
}

/* Enough cheap calls to know what a stop costs; next to nothing is between them. */
static inline void teach(struct world *world, uint32_t tid)
{
	for (int i = 0; i < 64; i++)
		calls(world, tid, GAP, CHEAP, 0, (struct asked){ CALL_getppid, 1, false });
}

static inline void forks(struct world *world, uint32_t tid, uint32_t child)
{
	struct event_fork fork = { .head = { .bytes = sizeof fork, .type = EVENT_FORK, .pid = tid, .tid = tid } };

	tell_clock(world, tid, EVENT_CLOCK_OTHER);
	fork.head.time_ns = world->now;
	fork.child_tid = fork.child_pid = child;
	fork.followed = 1;
	feed(world, &fork, CALL_unknown, 0);
}

static inline void ends(struct world *world, uint32_t tid, uint64_t teardown_ns)
{
	struct event_exit end = { .head = { .bytes = sizeof end, .type = EVENT_EXIT, .pid = tid, .tid = tid } };

	end.head.time_ns = world->now;
	end.how = EVENT_EXIT_STATUS;
	end.run_ns = body_of(world, tid)->run_ns + teardown_ns;
	feed(world, &end, CALL_unknown, 0);
}

static inline struct untraced_result judged(struct world *world)
{
	struct untraced_result result;

	untraced_judge(&world->book, world->prices, &result);
	return result;
}

/* Where the root stands now: a difference of two is exact, while the begin is
 * not, because a stop's cost was not known yet. */
static inline double now_of(struct world *world)
{
	const struct untraced_task *root = map_get(&world->book.tasks, 1);

	return root ? root->at.ns : world->book.root_end.ns;
}

static inline int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);

	untraced_init(&world->book);
	world->prices = price_book_new_fixed(NULL, 0, CHEAP);
	world->now = 1000 * MS;
	tell_clock(world, 1, EVENT_CLOCK_ENTER);
	teach(world, 1);
	*state = world;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *world = *state;

	untraced_done(&world->book);
	price_book_free(world->prices);
	free(world);
	return 0;
}

#endif
