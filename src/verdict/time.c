/* SPDX-License-Identifier: BSD-2-Clause */
#include "verdict/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIM 10 /* one tenth at either end */
#define OUTLIER 6 /* times the mean */
#define QUARTER 4
#define USUAL_MOST 2 /* times what a quarter of the calls is below */
#define CLEARLY 1.5 /* times the price */
#define MEASURED_SPREAD 0.2
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
	static const uint16_t others[] = {
		CALL_sendfile,	      CALL_splice,	    CALL_tee,	       CALL_vmsplice,	   CALL_fcntl,
		CALL_ioctl,	      CALL_copy_file_range, CALL_io_getevents, CALL_io_pgetevents, CALL_io_uring_enter,
		CALL_rt_sigtimedwait, CALL_rt_sigsuspend,   CALL_pause,	       CALL_sched_yield,
	};
	const uint64_t families = SYS_FAMILY_read | SYS_FAMILY_write | SYS_FAMILY_poll | SYS_FAMILY_send |
				  SYS_FAMILY_recv | SYS_FAMILY_accept | SYS_FAMILY_connect | SYS_FAMILY_sleep |
				  SYS_FAMILY_wait | SYS_FAMILY_futex | SYS_FAMILY_lock | SYS_FAMILY_sync |
				  SYS_FAMILY_fork | SYS_CLASS_ipc;

	if (id == CALL_unknown || (sys_call(id)->classes & families) != 0)
		return true;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (others[i] == id)
			return true;
	return false;
}

bool time_can_work(enum sys_call_id id)
{
	static const uint16_t others[] = {
		CALL_getrandom,	    CALL_ioctl,	    CALL_fallocate,	   CALL_sendfile,
		CALL_splice,	    CALL_tee,	    CALL_vmsplice,	   CALL_copy_file_range,
		CALL_readahead,	    CALL_fadvise64, CALL_process_vm_readv, CALL_process_vm_writev,
		CALL_io_submit,	    CALL_bpf,	    CALL_init_module,	   CALL_finit_module,
		CALL_io_uring_enter
	};
	const uint64_t classes = SYS_CLASS_file | SYS_CLASS_memory | SYS_FAMILY_exec | SYS_FAMILY_fork |
				 SYS_FAMILY_read | SYS_FAMILY_write | SYS_FAMILY_send | SYS_FAMILY_recv |
				 SYS_FAMILY_accept | SYS_FAMILY_connect | SYS_FAMILY_sync | SYS_FAMILY_close |
				 SYS_FAMILY_getdents | SYS_FAMILY_getxattr | SYS_FAMILY_listxattr | SYS_FAMILY_xattr |
				 SYS_FAMILY_truncate | SYS_FAMILY_mount | SYS_FAMILY_unlink | SYS_FAMILY_rename |
				 SYS_FAMILY_statfs;

	if (id == CALL_unknown || (sys_call(id)->classes & classes) != 0)
		return true;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (others[i] == id)
			return true;
	return false;
}

bool time_is_firm(enum sys_call_id id)
{
	const uint64_t asked =
		SYS_FAMILY_stat | SYS_FAMILY_access | SYS_FAMILY_readlink | SYS_FAMILY_getxattr | SYS_FAMILY_listxattr;

	if (id == CALL_unknown)
		return false;
	return time_is_cheap(id) || (sys_call(id)->classes & asked) != 0;
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
	vec_done(&book->root_counts);
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

static uint64_t whole_ns(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* One that is far off must not stand for the others. */
static void add_measured(struct time_row *times, const struct time_account *account)
{
	double ns = account->ran_ns, most;

	if (times->sample_count >= TIME_MEASURED_LEAST) {
		most = OUTLIER * (times->sample_ns + times->sample_stop_ns) / times->sample_count;
		ns = ns > most ? most : ns;
	}
	times->sample_ns += ns;
	times->sample_stop_ns += account->run_stop_ns;
	times->sample_count++;
}

static void add_duration(struct time_row *times, uint64_t duration_ns, const struct time_account *account)
{
	uint64_t slept_ns = 0, own_ns = duration_ns;
	unsigned class;

	if (account && account->known) {
		slept_ns = whole_ns(account->slept_ns);
		slept_ns = slept_ns < duration_ns ? slept_ns : duration_ns;
		own_ns = whole_ns(account->ran_ns) + slept_ns + whole_ns(account->stop_ns);
		own_ns = own_ns < duration_ns ? own_ns : duration_ns;
		if (account->whole && slept_ns == 0 && duration_ns < TIME_SAMPLE_MOST_NS)
			add_measured(times, account);
	}
	class = class_of(own_ns);
	times->count[class]++;
	times->sum_ns[class] += own_ns;
	if (account && account->known) {
		times->known[class]++;
		times->known_ns[class] += own_ns;
		times->slept_ns[class] += slept_ns;
	}
}

static void add_in_kernel(struct time_row *times, const struct event_call *call)
{
	if (call->head.flags & EVENT_F_SLEPT) {
		times->slept++;
		times->asleep_ns += call->duration_ns;
	} else {
		unsigned class = class_of(call->duration_ns);

		times->awake++;
		times->awake_ns += call->duration_ns;
		times->count[class]++;
		times->sum_ns[class] += call->duration_ns;
	}
}

static int count_root(struct time_book *book, const struct tally_row *row)
{
	while (book->root_counts.used <= row->index)
		if (!vec_add(&book->root_counts))
			return -ENOMEM;
	book->root_counts.at[row->index]++;
	return 0;
}

int time_add_call(struct time_book *book, const struct tally_row *row, const struct event_call *call, int err,
		  const struct time_account *account)
{
	int r = 0;

	if (book->root_tid == 0)
		book->root_tid = call->head.tid;
	if (call->head.tid == book->root_tid)
		r = count_root(book, row);
	if (r < 0 || call->head.flags & FLAGS_WITHOUT_TIME)
		return r;
	while (book->rows.used <= row->index)
		if (!vec_add(&book->rows))
			return -ENOMEM;
	book->timed++;
	if (book->in_kernel) {
		add_in_kernel(&book->rows.at[row->index], call);
		return 0;
	}
	add_duration(&book->rows.at[row->index], call->duration_ns, account);
	if (time_is_cheap(row->id))
		add_sample(book, row->id, err, call->duration_ns);
	return 0;
}

void time_add_floor(struct time_book *book, const struct event_floor *floor)
{
	book->in_kernel = true;
	book->call_floor_ns = (double)floor->call_ns;
	book->gap_floor_ns = (double)floor->gap_ns;
}

void time_settle(struct time_book *book)
{
	double ns = (double)book->run_ns - (double)book->user_ns - (double)book->user_gaps * book->gap_floor_ns -
		    (double)book->timed * book->call_floor_ns;
	uint64_t slept = 0;

	for (size_t i = 0; i < book->rows.used; i++) {
		ns -= (double)book->rows.at[i].awake_ns;
		slept += book->rows.at[i].slept;
	}
	book->asleep_work_ns = book->in_kernel && slept > 0 && ns > 0 ? ns / (double)slept : 0;
}

void time_add_exit(struct time_book *book, const struct event_exit *end)
{
	book->user_ns += end->user_ns;
	book->user_gaps += end->user_gaps;
	book->run_ns += end->run_ns;
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

static void add_price(struct time_amount *amount, uint64_t count, const struct price *price)
{
	amount->ns += (double)count * price->ns;
	amount->low_ns += (double)count * price->low_ns;
	amount->high_ns += (double)count * price->high_ns;
}

static void priced(const struct tally *tally, const struct tally_row *row, struct price_book *prices,
		   struct time_amount *ret)
{
	double components = row->count ? (double)row->path_components / (double)row->count : 0;
	uint64_t count, failed = 0;
	struct price price;
	size_t iter = 0;
	int err;

	*ret = (struct time_amount){ .source = PRICE_CALIBRATED };
	while (row->failed > 0 && failed < row->failed && tally_next_error(tally, row, &iter, &err, &count)) {
		price = price_of(prices, row->id, err, components);
		add_price(ret, count, &price);
		failed += count;
	}
	if (row->count > failed) {
		price = price_of(prices, row->id, 0, components);
		add_price(ret, row->count - failed, &price);
	}
}

/* What its samples took, where that is clearly more than the price: beyond
 * what we may be wrong about our own side of them. */
static double sampled_ns(const struct time_row *times, double price_ns)
{
	double ns, stop_ns;

	if (times->sample_count < TIME_MEASURED_LEAST)
		return 0;
	ns = times->sample_ns / times->sample_count;
	stop_ns = times->sample_stop_ns / times->sample_count;
	return ns > CLEARLY * price_ns && ns - price_ns > stop_ns / 2 ? ns : 0;
}

/* Of one call, with our stop: a few that take long, those that make a file among
 * those that open one, do not show in it.  0: none has a duration. */
static double quarter_ns(const struct time_row *times)
{
	uint64_t count = 0, at = 0;

	for (unsigned class = 0; class < TIME_CLASSES; class ++)
		count += times->count[class];
	for (unsigned class = 0; class < TIME_CLASSES; class ++) {
		at += times->count[class];
		if (times->count[class] > 0 && at * QUARTER >= count)
			return (double)times->sum_ns[class] / (double)times->count[class];
	}
	return 0;
}

/* What calls with paths took at most, where their price is clearly more; else 0.
 * `ret_ns`: what they took, without what we may be wrong about our own side. */
static double most_ns(const struct time_row *times, double price_ns, double stop_ns, double *ret_ns)
{
	double ns = quarter_ns(times);

	if (times->sample_count >= TIME_MEASURED_LEAST) {
		ns = times->sample_ns / times->sample_count;
		stop_ns = times->sample_stop_ns / times->sample_count;
	} else if (ns > 0) {
		ns -= stop_ns;
	} else {
		return 0;
	}
	*ret_ns = ns > 0 ? ns : 0;
	return price_ns > CLEARLY * (*ret_ns + stop_ns / 2) ? *ret_ns + stop_ns / 2 : 0;
}

/* A look-up that failed may have ended long before the end of its path. */
static void lower_to_measured(const struct time_row *times, const struct tally_row *row, struct price_book *prices,
			      double stop_ns, struct time_amount *ret)
{
	double count = (double)row->count, least_ns, ns;

	if (row->path_components <= row->count)
		return;
	ret->most_ns = most_ns(times, ret->ns / count, stop_ns, &ns);
	if (ret->most_ns <= 0)
		return;
	least_ns = price_of(prices, row->id, 0, 1).ns;
	ns = ns < least_ns ? least_ns : ns;
	ret->most_ns = ret->most_ns < ns ? ns : ret->most_ns;
	ret->ns = count * ns;
	ret->low_ns = ret->low_ns < count * least_ns ? ret->low_ns : count * least_ns;
	ret->high_ns = count * ret->most_ns;
	ret->source = PRICE_MEASURED;
}

struct far {
	uint64_t count, known;
	double ns, known_ns, slept_ns;
};

static struct far find_far(const struct time_row *times, double far_ns)
{
	struct far far = { 0 };

	for (unsigned class = 0; class < TIME_CLASSES; class ++) {
		if (times->count[class] == 0 || (double)times->sum_ns[class] <= far_ns * (double)times->count[class])
			continue;
		far.count += times->count[class];
		far.ns += (double)times->sum_ns[class];
		far.known += times->known[class];
		far.known_ns += (double)times->known_ns[class];
		far.slept_ns += (double)times->slept_ns[class];
	}
	return far;
}

/* A file system far away lets nearly all calls sleep for about as long; a
 * lock or a disk lets some, and those for as long as it takes. */
static double usual_sleep_ns(const struct time_row *times, const struct far *far, double far_ns)
{
	uint64_t count = 0, at = 0;
	double usual_ns = 0;

	for (unsigned class = 0; class < TIME_CLASSES; class ++)
		count += times->count[class];
	for (unsigned class = 0; class < TIME_CLASSES && at * QUARTER <= count; class ++) {
		at += times->count[class];
		if (times->count[class] > 0)
			usual_ns = (double)times->sum_ns[class] / (double)times->count[class];
	}
	if (usual_ns <= far_ns)
		return 0;
	usual_ns *= USUAL_MOST * (double)count;
	return far->slept_ns < usual_ns ? far->slept_ns : usual_ns;
}

/* Of a call that may have been killed or refused there is no time: as the
 * others.  Where all have slept, as vfork does, it is the price. */
static void of_row_in_kernel(const struct time_row *times, double asleep_work_ns, const struct tally *tally,
			     const struct tally_row *row, struct price_book *prices, struct time_amount *ret)
{
	struct price entry = price_of(prices, CALL_getppid, 0, 0);
	double count = (double)row->count, mean_ns, ns, waited_ns, worked_ns;

	if (times->awake > 0) {
		mean_ns = (double)times->awake_ns / (double)times->awake;
	} else {
		priced(tally, row, prices, ret);
		mean_ns = ret->ns > count * entry.ns ? ret->ns / count - entry.ns : 0;
		*ret = (struct time_amount){ 0 };
	}
	ns = (double)times->awake_ns + mean_ns * (count - (double)times->awake);
	waited_ns = (double)times->asleep_ns - mean_ns * (double)times->slept;
	waited_ns = waited_ns > 0 ? waited_ns : 0;
	/* A file system far away lets nearly all calls sleep: that is their way. */
	if (!time_can_block(row->id) && times->slept * QUARTER > row->count)
		ns += waited_ns;
	else
		ret->waiting_ns = waited_ns;
	ret->usual_ns = quarter_ns(times) + entry.ns;
	if (sys_call(row->id)->classes & SYS_FAMILY_sync && asleep_work_ns > mean_ns) {
		worked_ns = (asleep_work_ns - mean_ns) * (double)times->slept;
		worked_ns = worked_ns < ret->waiting_ns ? worked_ns : ret->waiting_ns;
		ret->waiting_ns -= worked_ns;
		ns += worked_ns;
		if (times->slept > times->awake)
			ret->usual_ns = ns / count + entry.ns;
	}
	ret->ns = ns + count * entry.ns;
	ret->low_ns = ns * (1 - MEASURED_SPREAD) + count * entry.low_ns;
	ret->high_ns = ns * (1 + MEASURED_SPREAD) + count * entry.high_ns;
	ret->source = PRICE_MEASURED;
}

void time_of_row(const struct time_book *book, const struct tally *tally, const struct tally_row *row,
		 struct price_book *prices, double stop_ns, struct time_amount *ret)
{
	bool works = time_can_work(row->id), blocks = time_can_block(row->id);
	double each_ns, sampled, measured_ns = 0, rest_ns, slept_ns, far_ns;
	const struct time_row *times;
	struct far far;

	if (book->in_kernel && row->index < book->rows.used && row->count > 0) {
		*ret = (struct time_amount){ 0 };
		of_row_in_kernel(&book->rows.at[row->index], book->asleep_work_ns, tally, row, prices, ret);
		return;
	}
	priced(tally, row, prices, ret);
	if (row->index >= book->rows.used || row->count == 0)
		return;
	times = &book->rows.at[row->index];
	lower_to_measured(times, row, prices, stop_ns, ret);
	if (!works && !blocks)
		return;
	ret->usual_ns = quarter_ns(times) - stop_ns;
	ret->usual_ns = ret->usual_ns > 0 ? ret->usual_ns : 0;
	each_ns = ret->ns / (double)row->count;
	sampled = works ? sampled_ns(times, each_ns) : 0;
	if (sampled > 0) {
		each_ns = sampled;
		ret->ns = ret->low_ns = ret->high_ns = 0;
		measured_ns = each_ns * (double)row->count;
	}
	far_ns = TIME_FAR * (stop_ns > each_ns ? stop_ns : each_ns);
	far = find_far(times, far_ns);
	/* Of those without an account there is only the duration. */
	rest_ns = far.ns - far.known_ns - (double)(far.count - far.known) * (stop_ns + each_ns);
	if (rest_ns > 0 && blocks)
		ret->waiting_ns += rest_ns;
	else if (rest_ns > 0 && works &&
		 (sys_call(row->id)->classes & SYS_FAMILY_exec || (far.count - far.known) * TRIM > row->count))
		measured_ns += rest_ns;
	rest_ns = far.known_ns - far.slept_ns - (double)far.known * (stop_ns + each_ns);
	slept_ns = blocks ? 0 : usual_sleep_ns(times, &far, far_ns);
	ret->waiting_ns += far.slept_ns - slept_ns;
	rest_ns += slept_ns;
	if (works && rest_ns > 0)
		measured_ns += rest_ns;
	if (measured_ns > ret->ns)
		ret->source = PRICE_MEASURED;
	ret->ns += measured_ns;
	ret->low_ns += measured_ns * (1 - MEASURED_SPREAD);
	ret->high_ns += measured_ns * (1 + MEASURED_SPREAD);
}

void time_judge(const struct time_book *book, const struct tally *tally, struct price_book *prices,
		struct time_result *ret, struct time_amount *amounts)
{
	double root_user_ns;

	*ret = (struct time_result){ 0 };
	if (!book->in_kernel)
		ret->stop_ns = time_stop_ns(book, prices, &ret->stop_guessed);
	for (size_t i = 0; i < tally->rows.used; i++) {
		const struct tally_row *row = &tally->rows.at[i];
		struct time_amount amount;

		time_of_row(book, tally, row, prices, ret->stop_ns, &amount);
		ret->calls_ns += amount.ns;
		ret->waiting_ns += amount.waiting_ns;
		if (i < book->root_counts.used && row->count > 0)
			ret->root_calls_ns += amount.ns * (double)book->root_counts.at[i] / (double)row->count;
		if (amounts)
			amounts[i] = amount;
	}
	ret->user_ns = (double)book->user_ns - (double)book->user_gaps * ret->stop_ns;
	root_user_ns = (double)book->root_user_ns - (double)book->root_gaps * ret->stop_ns;
	ret->user_ns = ret->user_ns > 0 ? ret->user_ns : 0;
	ret->task_ns = ret->user_ns + ret->calls_ns;
	ret->root_ns = (root_user_ns > 0 ? root_user_ns : 0) + ret->root_calls_ns;
	ret->stops_ns = (double)(book->timed + book->user_gaps) * ret->stop_ns;
}
