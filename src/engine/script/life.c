/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines about the lives of tasks: fork, exec, exit, clock.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "engine/script/script.h"

/* fork PARENT CHILD [FLAGS] [unfollowed] */
int script_fork_line(struct scan *scan, uint64_t flags)
{
	struct script *script = scan->script;
	struct event_fork fixed;
	uint32_t parent, child = 0;
	uint64_t more;
	void *begun;
	int r = script_scan_id(scan, &parent);

	if (r == 0)
		r = script_scan_id(scan, &child);
	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_FORK, parent);
	if (!begun)
		return script_no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.clone_flags = flags;
	fixed.child_tid = child;
	fixed.child_pid = flags & CLONE_THREAD ? fixed.head.pid : child;
	fixed.followed = 1;
	while (!scan_done(scan)) {
		if (scan_literal(scan, "unfollowed")) {
			fixed.followed = 0;
			continue;
		}
		r = scan_number(scan, &more);
		if (r < 0)
			return r;
		fixed.clone_flags |= more;
	}
	memcpy(script_record(script)->data, &fixed, sizeof(fixed));
	script->stats.children++;
	if (fixed.followed)
		script->stats.followed++;
	else
		script->stats.not_followed++;
	if (script_set_pid(script, child, fixed.child_pid) < 0)
		return script_no_memory(scan);
	return script_end(scan);
}

/* exec PID PATH ["ARGUMENTS"] [from=TID] [base=HEX] [secure] [NAME=VALUE]… */
int script_exec_line(struct scan *scan)
{
	struct event_exec fixed;
	struct buf env = BUF_INIT;
	uint32_t tid;
	void *begun;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_EXEC, tid);
	if (!begun)
		return script_no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	fixed.former_tid = tid;
	scan_blanks(scan);
	r = script_text_item(scan, SYS_ITEM_EXE, false);
	scan_blanks(scan);
	if (r == 0 && scan->at < scan->end && *scan->at == '"')
		r = script_text_item(scan, SYS_ITEM_ARGV, true);
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "from="))
			r = script_scan_id(scan, &fixed.former_tid);
		else if (scan_literal(scan, "base="))
			r = scan_hex(scan, &fixed.base);
		else if (scan_literal(scan, "secure"))
			fixed.secure = 1;
		else
			r = script_env_variable(scan, &env);
	}
	if (r == 0)
		r = script_env_item(scan, &env);
	buf_done(&env);
	if (r < 0)
		return r;
	memcpy(script_record(scan->script)->data, &fixed, sizeof(fixed));
	return script_end(scan);
}

/* exit TID STATUS|SIGNAL|let-go|lost|replaced [run=TIME] [user=TIME] [gaps=N] */
int script_exit_line(struct scan *scan)
{
	struct script *script = scan->script;
	struct event_exit fixed;
	uint64_t number;
	uint32_t tid;
	void *begun;
	int r = script_scan_id(scan, &tid);

	if (r < 0)
		return r;
	begun = script_begin(scan, EVENT_EXIT, tid);
	if (!begun)
		return script_no_memory(scan);
	memcpy(&fixed, begun, sizeof(fixed));
	scan_blanks(scan);
	if (scan_literal(scan, "let-go")) {
		fixed.how = EVENT_EXIT_LET_GO;
		script->stats.let_go++;
	} else if (scan_literal(scan, "lost")) {
		fixed.how = EVENT_EXIT_LOST;
	} else if (scan_literal(scan, "replaced")) {
		fixed.how = EVENT_EXIT_REPLACED;
	} else {
		fixed.how = scan->at < scan->end && *scan->at == 'S' ? EVENT_EXIT_SIGNAL : EVENT_EXIT_STATUS;
		r = scan_number(scan, &number);
		fixed.status = (uint32_t)number;
	}
	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "run="))
			r = scan_time(scan, &fixed.run_ns);
		else if (scan_literal(scan, "user="))
			r = scan_time(scan, &fixed.user_ns);
		else if (scan_literal(scan, "gaps="))
			r = scan_number(scan, &fixed.user_gaps);
		else
			r = scan_fail(scan, "run=, user= or gaps=");
	}
	if (r < 0)
		return r;
	memcpy(script_record(script)->data, &fixed, sizeof(fixed));
	if (tid == script->first_pid && fixed.how <= EVENT_EXIT_SIGNAL) {
		script->exit.known = true;
		script->exit.status = fixed.how == EVENT_EXIT_STATUS ? (int)fixed.status : 0;
		script->exit.signal = fixed.how == EVENT_EXIT_SIGNAL ? (int)fixed.status : 0;
	}
	return script_end(scan);
}

/* clock TID [at=enter|return|other] [run=TIME] [queue=TIME] [turns=N] [wall=TIME] [stops=N] [late=TIME] */
int script_clock_line(struct scan *scan)
{
	static const char *const ats[] = {
		[EVENT_CLOCK_ENTER] = "enter", [EVENT_CLOCK_RETURN] = "return", [EVENT_CLOCK_OTHER] = "other"
	};
	struct event_clock *event;
	struct event_clock values = { .at = EVENT_CLOCK_OTHER };
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	while (r == 0 && !scan_done(scan)) {
		if (scan_literal(scan, "at=")) {
			uint32_t at = 0;

			while (at < 3 && !scan_literal(scan, ats[at]))
				at++;
			values.at = at;
			r = at < 3 ? 0 : scan_fail(scan, "enter, return or other");
		} else if (scan_literal(scan, "run=")) {
			r = scan_time(scan, &values.run_ns);
		} else if (scan_literal(scan, "queue=")) {
			r = scan_time(scan, &values.queue_ns);
		} else if (scan_literal(scan, "turns=")) {
			r = scan_number(scan, &values.turns);
		} else if (scan_literal(scan, "wall=")) {
			r = scan_time(scan, &values.wall_ns);
		} else if (scan_literal(scan, "stops=")) {
			r = scan_number(scan, &values.stops);
		} else if (scan_literal(scan, "late=")) {
			r = scan_time(scan, &values.late_ns);
		} else {
			r = scan_fail(scan, "at=, run=, queue=, turns=, wall=, stops= or late=");
		}
	}
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_CLOCK, tid);
	if (!event)
		return script_no_memory(scan);
	values.head = event->head;
	*event = values;
	return script_end(scan);
}
