/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When did a task let time pass on purpose?  By the kind of call and how it
 * ended, never by how long it took: time is stretched while calls are stopped.
 * A poll that something made ready is work, one whose time was over a pause.
 */
#include <errno.h>

#include "model/state.h"

enum sleeps {
	SLEEPS_NOT,
	SLEEPS_ALWAYS,
	SLEEPS_IN_VAIN, /* when nothing was ready, and there was a timeout */
	SLEEPS_TIMED_OUT, /* with an error that says so */
	SLEEPS_READING, /* what tells of times, signals and changes */
};

static const struct {
	uint16_t call;
	uint8_t sleeps;
	int8_t timeout; /* argument that is a number, 0 for no pause; -1: a struct */
} sleeping[] = {
	{ CALL_nanosleep, SLEEPS_ALWAYS, -1 },	     { CALL_clock_nanosleep, SLEEPS_ALWAYS, -1 },
	{ CALL_pause, SLEEPS_ALWAYS, -1 },	     { CALL_rt_sigsuspend, SLEEPS_ALWAYS, -1 },
	{ CALL_rt_sigtimedwait, SLEEPS_ALWAYS, -1 }, { CALL_poll, SLEEPS_IN_VAIN, 2 },
	{ CALL_ppoll, SLEEPS_IN_VAIN, -1 },	     { CALL_select, SLEEPS_IN_VAIN, -1 },
	{ CALL_pselect6, SLEEPS_IN_VAIN, -1 },	     { CALL_epoll_wait, SLEEPS_IN_VAIN, 3 },
	{ CALL_epoll_pwait, SLEEPS_IN_VAIN, 3 },     { CALL_epoll_pwait2, SLEEPS_IN_VAIN, -1 },
	{ CALL_futex, SLEEPS_TIMED_OUT, -1 },	     { CALL_mq_timedreceive, SLEEPS_TIMED_OUT, -1 },
	{ CALL_read, SLEEPS_READING, -1 },
};

void sleeps_init(struct model *model)
{
	for (size_t i = 0; i < sizeof(sleeping) / sizeof(sleeping[0]); i++)
		model->shapes[sleeping[i].call].sleeps = (uint8_t)(i + 1);
}

static bool tells_of_time(const struct model_file *file)
{
	return file && (file->made_by == CALL_timerfd_create || file->made_by == CALL_signalfd ||
			file->made_by == CALL_signalfd4 || file->made_by == CALL_inotify_init ||
			file->made_by == CALL_inotify_init1);
}

static bool is_pause(const struct model_view *view, size_t at)
{
	const struct item_time *time;

	switch ((enum sleeps)sleeping[at].sleeps) {
	case SLEEPS_ALWAYS:
		return !view->err || view->err == EINTR || view->err == EAGAIN;
	case SLEEPS_IN_VAIN:
		if (view->err || view->call->ret != 0)
			return false;
		if (sleeping[at].timeout >= 0)
			return (int32_t)view->call->args[sleeping[at].timeout] != 0;
		time = EVENT_ITEM_AS(struct item_time, event_item(&view->call->head, SYS_ITEM_TIMEOUT));
		return !time || time->sec != 0 || time->nsec != 0;
	case SLEEPS_TIMED_OUT:
		return view->err == ETIMEDOUT;
	case SLEEPS_READING:
		return !view->err && tells_of_time(view->file);
	case SLEEPS_NOT:
		break;
	}
	return false;
}

void sleeps_feed(struct model *model, struct task *task, const struct model_view *view, uint32_t sleeps)
{
	if (!is_pause(view, sleeps - 1))
		return;
	task->slept = model->changes.now;
	task->proc->sleeps = true;
}

void sleeps_end(struct model *model, const struct proc *proc, uint32_t ppid)
{
	struct proc *const *parent = proc->sleeps ? map_get(&model->procs, ppid) : NULL;

	if (!parent)
		return;
	(*parent)->slept = model->changes.now;
	(*parent)->sleeps = true;
}
