/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIM 10 /* one tenth at either end */
#define FLAGS_WITHOUT_TIME \
	(EVENT_F_UNFINISHED | EVENT_F_KILLED | EVENT_F_NO_ENTER | EVENT_F_BEFORE_ATTACH | EVENT_F_RESTARTED)

bool time_is_cheap(enum sys_call_id id)
{
	static const uint16_t cheap[] = { CALL_close,	  CALL_lseek,	CALL_fstat,	     CALL_rt_sigaction,
					  CALL_fcntl,	  CALL_getpid,	CALL_rt_sigprocmask, CALL_mprotect,
					  CALL_mmap,	  CALL_getppid, CALL_gettid,	     CALL_getuid,
					  CALL_geteuid,	  CALL_getgid,	CALL_getegid,	     CALL_dup,
					  CALL_prlimit64, CALL_uname };

	for (size_t i = 0; i < sizeof cheap / sizeof cheap[0]; i++)
		if (cheap[i] == id)
			return true;
	return false;
}

bool time_can_block(enum sys_call_id id)
{
	static const uint16_t others[] = { CALL_sendfile,	 CALL_splice,	    CALL_tee,
					   CALL_vmsplice,	 CALL_fcntl,	    CALL_ioctl,
					   CALL_copy_file_range, CALL_io_getevents, CALL_io_pgetevents,
					   CALL_io_uring_enter };
	const uint64_t families = SYS_FAMILY_read | SYS_FAMILY_write | SYS_FAMILY_poll | SYS_FAMILY_send |
				  SYS_FAMILY_recv | SYS_FAMILY_accept | SYS_FAMILY_connect | SYS_FAMILY_sleep |
				  SYS_FAMILY_wait | SYS_FAMILY_futex | SYS_FAMILY_lock | SYS_FAMILY_sync |
				  SYS_FAMILY_fork | SYS_CLASS_ipc | SYS_CLASS_signal | SYS_FAMILY_sched;

	if (id == CALL_unknown || (sys_call(id)->classes & families) != 0)
		return true;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (others[i] == id)
			return true;
	return false;
}

/* Half octaves: 1, 2, 3, 4, 6, 8, 12, 16, … */
static unsigned class_of(uint64_t ns)
{
	unsigned octave, class;

	if (ns < 2)
		return 0;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	class = octave * 2 + (unsigned)(ns >> (octave - 1) & 1);
	return class < TIME_CLASSES ? class : TIME_CLASSES - 1;
}

void time_init(struct time_book *book)
{
	memset(book, 0, sizeof *book);
	book->sample_stride = 1;
}

void time_done(struct time_book *book)
{
	vec_done(&book->rows);
}

/* When the samples are full every second goes and from then on only every
 * second comes: they stay spread over the whole run. */
static void add_sample(struct time_book *book, enum sys_call_id id, int err, uint64_t duration_ns)
{
	if (book->sample_skip > 0) {
		book->sample_skip--;
		return;
	}
	if (book->sample_count == TIME_SAMPLES_MAX) {
		for (uint32_t i = 0; i < TIME_SAMPLES_MAX / 2; i++)
			book->samples[i] = book->samples[i * 2];
		book->sample_count = TIME_SAMPLES_MAX / 2;
		book->sample_stride *= 2;
	}
	book->sample_skip = book->sample_stride - 1;
	book->samples[book->sample_count++] = (struct time_sample){
		.duration_ns = duration_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)duration_ns,
		.call = (uint16_t)id,
		.err = (uint16_t)err,
	};
}

int time_add_call(struct time_book *book, const struct tally_row *row, const struct event_call *call, int err)
{
	unsigned class;

	if (book->root_tid == 0)
		book->root_tid = call->head.tid;
	book->root_calls += call->head.tid == book->root_tid;
	if (call->head.flags & FLAGS_WITHOUT_TIME)
		return 0;
	while (book->rows.used <= row->index)
		if (!vec_add(&book->rows))
			return -ENOMEM;
	class = class_of(call->duration_ns);
	book->rows.at[row->index].count[class]++;
	book->rows.at[row->index].sum_ns[class] += call->duration_ns;
	book->timed++;
	if (time_is_cheap(row->id))
		add_sample(book, row->id, err, call->duration_ns);
	return 0;
}

void time_add_exit(struct time_book *book, const struct event_exit *end)
{
	book->user_ns += end->user_ns;
	book->user_gaps += end->user_gaps;
	book->tasks_ended++;
	if (end->head.tid == book->root_tid) {
		book->root_user_ns += end->user_ns;
		book->root_gaps += end->user_gaps;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* With too few cheap calls: the shortest class of durations that there is. */
static double shortest_ns(const struct time_book *book)
{
	for (unsigned class = 0; class < TIME_CLASSES; class ++) {
		uint64_t count = 0, sum_ns = 0;

		for (size_t i = 0; i < book->rows.used; i++) {
			count += book->rows.at[i].count[class];
			sum_ns += book->rows.at[i].sum_ns[class];
		}
		if (count > 0)
			return (double)sum_ns / (double)count;
	}
	return 0;
}

double time_stop_ns(const struct time_book *book, struct price_book *prices, bool *ret_guessed)
{
	uint32_t count = book->sample_count, cut = count / TRIM;
	double *over, sum = 0, stop_ns;

	*ret_guessed = count < TIME_SAMPLES_LEAST;
	over = *ret_guessed ? NULL : malloc(count * sizeof *over);
	if (!over) {
		*ret_guessed = true;
		stop_ns = shortest_ns(book) - price_of(prices, CALL_getppid, 0, 0).ns;
		return stop_ns > 0 ? stop_ns : 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct time_sample *sample = &book->samples[i];

		over[i] = sample->duration_ns - price_of(prices, (enum sys_call_id)sample->call, sample->err, 0).ns;
	}
	qsort(over, count, sizeof *over, by_value);
	for (uint32_t i = cut; i < count - cut; i++)
		sum += over[i];
	stop_ns = sum / (count - 2 * cut);
	free(over);
	return stop_ns > 0 ? stop_ns : 0;
}

static double priced_ns(const struct tally *tally, const struct tally_row *row, struct price_book *prices)
{
	double components = row->count ? (double)row->path_components / (double)row->count : 0, ns;
	uint64_t count, failed = 0;
	size_t iter = 0;
	int err;

	ns = 0;
	while (row->failed > 0 && failed < row->failed && tally_next_error(tally, row, &iter, &err, &count)) {
		ns += (double)count * price_of(prices, row->id, err, components).ns;
		failed += count;
	}
	if (row->count > failed)
		ns += (double)(row->count - failed) * price_of(prices, row->id, 0, components).ns;
	return ns;
}

double time_of_row(const struct time_book *book, const struct tally *tally, const struct tally_row *row,
		   struct price_book *prices, double stop_ns, double *waiting_ns)
{
	double ns = priced_ns(tally, row, prices), price_ns = row->count ? ns / (double)row->count : 0;
	double far_ns = TIME_FAR * (stop_ns > price_ns ? stop_ns : price_ns), slow_sum_ns = 0;
	const struct time_row *times;
	uint64_t slow = 0;

	if (row->index >= book->rows.used)
		return ns;
	times = &book->rows.at[row->index];
	for (unsigned class = 0; class < TIME_CLASSES; class ++) {
		if (times->count[class] == 0 || (double)times->sum_ns[class] <= far_ns * (double)times->count[class])
			continue;
		slow += times->count[class];
		slow_sum_ns += (double)times->sum_ns[class];
	}
	if (slow == 0)
		return ns;
	if (time_can_block(row->id)) {
		*waiting_ns += slow_sum_ns - (double)slow * (stop_ns + price_ns);
		return ns;
	}
	/* A few slow ones among many: the task lost its CPU; that is nobody's work. */
	if (!(sys_call(row->id)->classes & SYS_FAMILY_exec) && slow * TRIM <= row->count)
		return ns;
	return ns + slow_sum_ns - (double)slow * (stop_ns + price_ns);
}

void time_judge(const struct time_book *book, const struct tally *tally, struct price_book *prices,
		struct time_result *ret, double *row_ns)
{
	double root_user_ns;

	*ret = (struct time_result){ 0 };
	ret->stop_ns = time_stop_ns(book, prices, &ret->stop_guessed);
	for (size_t i = 0; i < tally->rows.used; i++) {
		double ns = time_of_row(book, tally, &tally->rows.at[i], prices, ret->stop_ns, &ret->waiting_ns);

		ret->calls_ns += ns;
		if (row_ns)
			row_ns[i] = ns;
	}
	ret->user_ns = (double)book->user_ns - (double)book->user_gaps * ret->stop_ns;
	root_user_ns = (double)book->root_user_ns - (double)book->root_gaps * ret->stop_ns;
	ret->user_ns = ret->user_ns > 0 ? ret->user_ns : 0;
	ret->task_ns = ret->user_ns + ret->calls_ns;
	ret->root_ns = root_user_ns > 0 ? root_user_ns : 0;
	if (tally->total > 0)
		ret->root_ns += ret->calls_ns * (double)book->root_calls / (double)tally->total;
	ret->stops_ns = (double)(book->timed + book->user_gaps) * ret->stop_ns;
}
