/* SPDX-License-Identifier: BSD-2-Clause */
/* What our stops cost a task, found in a sample of cheap calls of the run. */
#include "verdict/untraced-stop.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/price-table.h"

#define MEMORY 64 /* samples that a mean remembers */
#define IDLE_STOPS_MOST 40 /* of one phase of the run */
#define OUTLIER 6 /* times the mean */
#define FAR_OFF_MOST 4 /* in a row */
#define SURE UNTRACED_FIRST /* samples, for a mean to be held against others */
#define GUESS_RUN_NS 3000.0 /* of a stop, on the CPU, on a small machine */
#define SAMPLES_LEAST 32 /* for a quantile */
#define LOW_SHARE 4 /* one quarter from below */
#define CLIP 1.5 /* times the mean: a sample that is beyond has done something else too */
#define GAP_LEAST_NS 30.0 /* of the program's own, from one call to the next */
#define MORE_MOST 0.27 /* of the purest stop at return: what the one at enter may cost more */
#define STEADY_MOST_NS 300 /* a call that costs no more does the same each time */
#define SMALL_BYTES 512 /* a read or write of so few bytes is a cheap call */
#define SMALL_MORE_NS 30 /* than one that does nothing */
#define LARGE_BYTES 16384 /* and one of so many is too dear to stand for anything */
#define STEADY_WITHIN 8 /* samples ago that a call was whose cost is known well */

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The middle one, while there are few; a guess is one more. */
static double middle_of(const struct untraced_mean *mean, double guess)
{
	float sorted[UNTRACED_FIRST + 1];
	uint32_t count = mean->count;

	memcpy(sorted, mean->first, count * sizeof *sorted);
	if (guess > 0)
		sorted[count++] = (float)guess;
	qsort(sorted, count, sizeof *sorted, by_value);
	return (double)sorted[(count - 1) / 2];
}

void untraced_mean_add(struct untraced_mean *mean, double value, double guess)
{
	double sum = 0, most = 0;

	if (mean->count < UNTRACED_FIRST) {
		mean->first[mean->count++] = (float)value;
		mean->value = middle_of(mean, guess);
		if (mean->count < UNTRACED_FIRST)
			return;
		for (unsigned i = 0; i < UNTRACED_FIRST; i++) {
			sum += (double)mean->first[i];
			most = (double)mean->first[i] > most ? (double)mean->first[i] : most;
		}
		mean->value = (sum - most) / (UNTRACED_FIRST - 1);
		return;
	}
	if (mean->count < MEMORY)
		mean->count++;
	mean->value += (value - mean->value) / mean->count;
}

void untraced_mean_forget(struct untraced_mean *mean)
{
	if (mean->count > UNTRACED_FIRST)
		mean->count = UNTRACED_FIRST;
}

/* The one that has `rank` smaller ones before it when sorted; changes their order. */
static float ranked(float *values, uint32_t count, uint32_t rank)
{
	uint32_t low = 0, high = count - 1;

	while (low < high) {
		float pivot = values[low + (high - low) / 2], swapped;
		uint32_t i = low, j = high;

		for (;;) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i >= j)
				break;
			swapped = values[i];
			values[i++] = values[j];
			values[j--] = swapped;
		}
		/* The left part is not larger than the right one; both are shorter than the whole. */
		if (rank <= j)
			high = j;
		else
			low = j + 1;
	}
	return values[low];
}

static double low_of(const float *samples, uint32_t count)
{
	float some[UNTRACED_RESERVOIR];

	/* Not sorted: this is asked again and again. */
	count = count < UNTRACED_RESERVOIR ? count : UNTRACED_RESERVOIR;
	memcpy(some, samples, count * sizeof *samples);
	return (double)ranked(some, count, count / LOW_SHARE);
}

/* The stop at enter is seen at its purest where next to nothing else was done:
 * low in the samples of gaps.  A program that computes between all its calls
 * has no such gap; then it is as much dearer than the one at return as the
 * kernel does more on the way in. */
static void judge_more(struct untraced *book)
{
	double enter_ns, most_ns;

	if (book->gap_count < SAMPLES_LEAST)
		return;
	enter_ns = low_of(book->gap_samples, book->gap_count) - GAP_LEAST_NS;
	if (book->call_count >= SURE) {
		most_ns = low_of(book->call_samples, book->call_count) * (1 + MORE_MOST);
		enter_ns = enter_ns > most_ns ? most_ns : enter_ns;
	}
	book->more_ns = enter_ns - book->run.value;
	if (book->more_ns > book->run.value / 2)
		book->more_ns = book->run.value / 2;
}

double untraced_stops_ns(const struct untraced *book, double stops)
{
	return stops * (book->run.value + book->more_ns / 2);
}

/*
 * The calls whose samples are taken for the stop, with what they cost on a
 * small machine: near enough to go on with, and put right in the end by what
 * they cost here.
 */
static double usual_ns(enum probe_id id)
{
	static const uint16_t usual[PROBE_COUNT] = {
		[PROBE_NULL] = 200,
		[PROBE_CLOSE_ABSENT] = 200,
		[PROBE_DUP_CLOSE] = 250,
		[PROBE_OPEN_ABSENT] = 1000,
		[PROBE_STAT] = 600,
		[PROBE_STAT_ABSENT] = 800,
		[PROBE_STATX] = 700,
		[PROBE_FSTAT] = 300,
		[PROBE_READLINK_NO_LINK] = 700,
		[PROBE_GETXATTR_ABSENT] = 900,
		[PROBE_LSEEK] = 200,

		[PROBE_IOCTL_NO_TTY] = 200,
		[PROBE_FCNTL] = 200,
		[PROBE_SIGACTION] = 200,
		[PROBE_SIGPROCMASK] = 200,
		[PROBE_GETXATTR_UNSUPPORTED] = 700,
		[PROBE_UNAME] = 300,
		[PROBE_FGETXATTR_ABSENT] = 500,
		[PROBE_PRLIMIT] = 250,
	};

	return usual[id];
}

/*
 * What this call costs without us; 0: it stands for nothing.  Reads and writes
 * take as long as what is read does.  Where there is nothing else, a small one
 * is as the cheapest, /dev/null, and a larger one as that of a file.
 */
static double cost_ns(const struct untraced *book, enum probe_id probe, enum sys_call_id id,
		      const struct event_call *call)
{
	if (probe != PROBE_READ && probe != PROBE_WRITE)
		/* A call without a loop of its own is priced like a null call, but is none. */
		return probe == PROBE_NULL && !time_is_cheap(id) ? 0 : usual_ns(probe);
	if (book->since_steady < STEADY_WITHIN || call->ret > LARGE_BYTES)
		return 0;
	if (call->ret <= SMALL_BYTES)
		return usual_ns(PROBE_NULL) + SMALL_MORE_NS;
	return probe == PROBE_READ ? 500 + 0.15 * (double)call->ret : 700 + 0.8 * (double)call->ret;
}

void untraced_learn_idle(struct untraced *book, const struct untraced_stretch *stretch)
{
	double idle_ns = stretch->idle_ns - stretch->late_ns;

	if (stretch->stops < 0.5 || stretch->stops > IDLE_STOPS_MOST || stretch->turns > stretch->stops)
		return;
	idle_ns = idle_ns > 0 ? idle_ns / stretch->stops : 0;
	if (book->idle.count >= SURE && idle_ns > OUTLIER * book->idle.value)
		idle_ns = OUTLIER * book->idle.value;
	untraced_mean_add(&book->idle, idle_ns, GUESS_RUN_NS);
}

/* fstat(3) is newfstatat without a path, which looks up nothing: taken for a
 * look-up, it would make the stop cheaper by what that costs. */
static enum probe_id probe_of(enum sys_call_id id, const struct event_call *call, int err)
{
	if (id == CALL_newfstatat && err == 0 && call->args[3] & AT_EMPTY_PATH)
		return PROBE_FSTAT;
	return price_table_probe(id, err);
}

void untraced_learn(struct untraced *book, struct untraced_task *task, enum sys_call_id id,
		    const struct event_call *call, int err)
{
	enum probe_id probe = probe_of(id, call, err);
	double run_ns = task->sample_run_ns, usual = cost_ns(book, probe, id, call);
	bool steady = probe != PROBE_READ && probe != PROBE_WRITE;

	task->sampled = false;
	book->since_steady++;
	if (usual <= 0)
		return;
	run_ns -= usual;
	/* One that is far off did something else, unless all are from now on. */
	if (book->run.count >= SURE && run_ns > OUTLIER * book->run.value && ++book->far_off < FAR_OFF_MOST)
		return;
	book->far_off = 0;
	if (steady)
		book->since_steady = 0;
	if (usual <= STEADY_MOST_NS)
		book->call_samples[book->call_count++ % UNTRACED_RESERVOIR] = (float)run_ns;
	if (book->run.count >= SURE && run_ns > CLIP * book->run.value)
		run_ns = CLIP * book->run.value;
	untraced_mean_add(&book->run, run_ns > 0 ? run_ns : 0, GUESS_RUN_NS);
	if (steady || call->ret <= SMALL_BYTES)
		book->sampled[steady ? probe : PROBE_NULL]++;
	if (++book->learned % SAMPLES_LEAST == 0)
		judge_more(book);
}

double untraced_dearer_ns(const struct untraced *book, struct price_book *prices)
{
	uint64_t count = 0;
	double sum_ns = 0;

	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		if (book->sampled[id] == 0)
			continue;
		count += book->sampled[id];
		sum_ns += (double)book->sampled[id] *
			  (price_of_probe(prices, (enum probe_id)id).ns - usual_ns((enum probe_id)id));
	}
	return count ? sum_ns / (double)count : 0;
}
