/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of counting: waits for the end, and in short windows looks at how
 * many calls there are, to say whether they are timed: all of them, one window
 * of several when there are very many, or none when that costs too much.  When
 * counting by itself costs too much it lets go.
 */
#include "engine/bpf/count.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define WINDOW_NS UINT64_C(10000000)
#define WINDOWS 8 /* one of so many is timed … */
#define MANY_CALLS 100000 /* … from so many calls a second on, but the first so many are all timed */
#define OVERHEAD_NS UINT64_C(250000000) /* how often the cost is looked at */
#define OVER_MOST 2 /* so many times it may be too much, one behind the other */

static uint64_t calls_of(const struct counting *c)
{
	uint32_t used = c->live->rows_used;
	uint64_t calls = 0;

	for (uint32_t i = 0; i < used && i < c->row_room; i++)
		calls += c->rows[i].used ? c->rows[i].count : 0;
	for (uint32_t cpu = 0; cpu < c->cpus; cpu++)
		calls += c->books[cpu].plain_calls;
	return calls;
}

static uint64_t others_of(const struct counting *c)
{
	uint64_t others = 0;

	for (uint32_t cpu = 0; cpu < c->cpus; cpu++)
		others += c->books[cpu].others;
	return others;
}

void counting_probe(struct engine_probe *ret)
{
	probe_bpf(ret);
}

int counting_start(const struct counting_spec *spec, struct counting **ret, struct error *err)
{
	struct counting *c = calloc(1, sizeof *c);
	int r;

	if (!c)
		return error_errno(err, ENOMEM, "counting in the kernel");
	c->spec = *spec;
	c->root_fd = c->exit_fd = -1;
	r = count_load(c, err);
	if (r == 0 && count_names_init(c) < 0)
		r = error_errno(err, ENOMEM, "counting in the kernel");
	if (r == 0)
		r = count_begin(c, err);
	if (r < 0) {
		counting_stop(c);
		return r;
	}
	c->looked_ns = clock_now_ns();
	*ret = c;
	return 0;
}

static void look_at_root(struct counting *c)
{
	int status;

	if (c->root == 0 || c->root_ended || waitpid(c->root, &status, WNOHANG | __WALL) != c->root)
		return;
	c->root_ended = true;
	if (c->end_ns == 0)
		c->end_ns = clock_now_ns();
	c->exit = (struct engine_exit){ .known = true };
	if (WIFSIGNALED(status)) {
		c->exit.signal = WTERMSIG(status);
		c->exit.core = WCOREDUMP(status);
	} else {
		c->exit.status = WEXITSTATUS(status);
	}
}

static void say_over(struct counting *c, const char *what, double cost, double rate, const char *from_here)
{
	char share[TEXT_NUMBER_MAX], calls[TEXT_NUMBER_MAX];

	(void)snprintf(c->note, sizeof c->note, "--max-overhead: %s takes about %s at %s calls a second: %s", what,
		       text_share(cost, share), text_count((uint64_t)rate, calls), from_here);
	c->noted = true;
}

/* True when it was judged. */
static void judge_cost(struct counting *c, double calls, double others, double seconds)
{
	double cpus = is_wide(c) ? (double)sysconf(_SC_NPROCESSORS_ONLN) : 1;
	double least = (calls * c->cost_ns + others * c->other_ns) / 1e9 / seconds / cpus;
	double timed = least + (calls * c->timed_ns) / 1e9 / seconds / cpus;
	bool times = c->spec.times != COUNTING_TIMES_NEVER && !c->untimed;

	if ((times ? timed : least) <= c->spec.overhead) {
		c->over = 0;
		return;
	}
	if (++c->over < OVER_MOST)
		return;
	c->over = 0;
	if (times && least <= c->spec.overhead) {
		(void)count_time(c, false);
		c->untimed = true;
		c->untimed_ns = clock_now_ns();
		say_over(c, "taking times", timed, (calls + others) / seconds, "from here on calls are only counted");
		return;
	}
	count_detach(c);
	c->let_go_ns = clock_now_ns();
	say_over(c, "counting", least, (calls + others) / seconds, "let go");
}

static void look_at_cost(struct counting *c, uint64_t now)
{
	uint64_t calls, others;

	if (c->spec.overhead <= 0 || !c->attached || now < c->looked_ns + OVERHEAD_NS)
		return;
	calls = calls_of(c);
	others = others_of(c);
	judge_cost(c, (double)(calls - c->looked_calls), (double)(others - c->looked_others),
		   (double)(now - c->looked_ns) / 1e9);
	c->looked_calls = calls;
	c->looked_others = others;
	c->looked_ns = now;
}

/* Rates are those of the window that has just passed. */
static void choose_window(struct counting *c, uint64_t now)
{
	uint64_t calls;
	bool many;

	if (c->spec.times != COUNTING_TIMES_AUTO || c->untimed || !c->attached)
		return;
	if (c->spec.overhead <= 0) {
		calls = calls_of(c);
		many = calls > MANY_CALLS &&
		       (double)(calls - c->looked_calls) * 1e9 > (double)MANY_CALLS * (double)(now - c->looked_ns);
		c->looked_calls = calls;
		c->looked_ns = now;
	} else {
		many = false; /* it is asked for what it may cost */
	}
	c->window++;
	(void)count_time(c, !many || c->window % WINDOWS == 0);
}

static bool is_over(struct counting *c)
{
	if (c->letting_go)
		return true;
	if (c->spec.argv)
		return c->root_ended;
	/* Nobody is left of those that we attached to, or nothing to wait for. */
	return c->let_go_ns || (c->spec.pid_count > 0 && c->attached && c->live->tasks <= 0);
}

int counting_wait(struct counting *c, unsigned ms)
{
	uint64_t end_ns = clock_now_ns() + (uint64_t)ms * 1000000, now;

	do {
		struct pollfd fd = { .fd = c->root_fd, .events = POLLIN };
		uint64_t left;

		now = clock_now_ns();
		left = end_ns > now ? end_ns - now : 0;
		if (left > WINDOW_NS)
			left = WINDOW_NS;
		if (poll(&fd, 1, (int)((left + 999999) / 1000000)) < 0 && errno == EINTR)
			return 1;
		look_at_root(c);
		now = clock_now_ns();
		if (is_over(c))
			return 0;
		look_at_cost(c, now);
		choose_window(c, now);
		count_names_look(c);
	} while (now < end_ns);
	return 1;
}

void counting_let_go(struct counting *c)
{
	c->letting_go = true;
}

void counting_forward(struct counting *c, int signal)
{
	if (c->root != 0 && !c->root_ended)
		(void)kill(c->root, signal);
}

void counting_exit_of(const struct counting *c, struct engine_exit *ret)
{
	*ret = c->exit;
}

void counting_end(struct counting *c)
{
	if (c->end_ns == 0)
		c->end_ns = clock_now_ns();
	count_detach(c);
	c->names.looked_ns = 0;
	count_names_look(c);
}

void counting_stats(const struct counting *c, struct counting_stats *ret)
{
	*ret = (struct counting_stats){
		.calls = calls_of(c),
		.tasks = c->first_tasks,
		.processes = c->first_processes,
		.misses = c->misses + (c->attached ? count_misses(c) : 0),
		.running = c->live->tasks > 0 && !is_wide(c) ? (uint64_t)c->live->tasks : 0,
		.wall_ns = (c->end_ns ? c->end_ns : clock_now_ns()) - c->begin_ns,
		.floor_ns = c->live->floor_ns,
		.untimed = c->untimed,
		.untimed_ns = c->untimed ? c->untimed_ns - c->begin_ns : 0,
		.let_go = c->let_go_ns != 0,
		.let_go_ns = c->let_go_ns ? c->let_go_ns - c->begin_ns : 0,
	};
	for (uint32_t cpu = 0; cpu < c->cpus; cpu++) {
		const struct count_books *book = &c->books[cpu];

		ret->plain_calls += book->plain_calls;
		ret->errors_lost += book->errors_lost;
		ret->tasks += book->made;
		ret->processes += book->processes;
		ret->not_followed += book->not_followed;
		ret->failed_tasks += book->storage_failed + book->awaited_failed;
	}
}

const char *counting_note(struct counting *c)
{
	if (!c->noted)
		return NULL;
	c->noted = false;
	return c->note;
}

size_t counting_rows(const struct counting *c)
{
	uint32_t used = __atomic_load_n(&c->live->rows_used, __ATOMIC_ACQUIRE);

	return used < c->row_room ? used : c->row_room;
}

const struct count_row *counting_row(const struct counting *c, size_t n)
{
	return n < c->row_room && c->rows[n].used ? &c->rows[n] : NULL;
}

void counting_flip(struct counting *c)
{
	(void)__atomic_fetch_add(&c->live->epoch, 1, __ATOMIC_SEQ_CST);
	if (c->attached)
		load_settle();
}

uint64_t counting_take_max(struct counting *c, size_t n)
{
	unsigned former = (c->live->epoch + 1) & 1;
	uint64_t max;

	if (n >= c->row_room)
		return 0;
	max = c->rows[n].max_ns[former];
	c->rows[n].max_ns[former] = 0;
	return max;
}

bool counting_next_error(const struct counting *c, uint64_t *iter, uint32_t *ret_row, uint32_t *ret_err,
			 uint64_t *ret_count)
{
	struct count_error_key former = { .row = (uint32_t)((*iter - 1) >> 32), .err = (uint32_t)(*iter - 1) }, key;
	int fd = count_errors_fd(c);

	if (bpf_map_get_next_key(fd, *iter ? &former : NULL, &key) != 0 ||
	    bpf_map_lookup_elem(fd, &key, ret_count) != 0)
		return false;
	*ret_row = key.row;
	*ret_err = key.err;
	*iter = ((uint64_t)key.row << 32 | key.err) + 1;
	return true;
}

static void place_name(size_t place, struct counting_plain *ret)
{
#if defined __x86_64__
	static const uint16_t archs[KERN_TABLES] = { SYS_ARCH_X86_64, SYS_ARCH_I386, SYS_ARCH_X32, SYS_ARCH_X86_64 };
#else
	static const uint16_t archs[KERN_TABLES] = { SYS_ARCH_AARCH64, SYS_ARCH_ARM, SYS_ARCH_AARCH64,
						     SYS_ARCH_AARCH64 };
#endif
	size_t table = place / KERN_NRS;

	ret->arch = archs[table];
	ret->nr = table == KERN_TABLE_OTHER ? -1 : (int32_t)(place % KERN_NRS);
	if (table == KERN_TABLE_X32)
		ret->nr |= 0x40000000;
}

bool counting_next_plain(const struct counting *c, size_t *iter, struct counting_plain *ret)
{
	while (*iter < KERN_PLACES * 2) {
		size_t place = *iter / 2, unreturned = (*iter)++ % 2;

		*ret = (struct counting_plain){ .unreturned = (uint16_t)unreturned };
		for (uint32_t cpu = 0; cpu < c->cpus; cpu++) {
			const uint64_t *sums = c->books[cpu].plain[place];

			if (unreturned) {
				ret->count += sums[KERN_UNRETURNED];
			} else {
				ret->count += sums[KERN_OK] + sums[KERN_FAILED];
				ret->failed += sums[KERN_FAILED];
			}
		}
		if (ret->count > 0) {
			place_name(place, ret);
			return true;
		}
	}
	return false;
}

void counting_stop(struct counting *c)
{
	if (!c)
		return;
	count_detach(c);
	count_names_done(c);
	count_unload(c);
	if (c->root_fd >= 0)
		(void)close(c->root_fd);
	free(c);
}
