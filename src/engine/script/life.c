/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines about the lives of tasks: fork, exec, exit, clock.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "engine/script/script.h"

static int more_flags(struct scan *scan, void *data)
{
	uint64_t *flags = data, more;
	int r = scan_number(scan, &more);

	*flags |= r == 0 ? more : 0;
	return r;
}

/* fork PARENT CHILD [FLAGS] [unfollowed] */
int script_fork_line(struct scan *scan, uint64_t flags)
{
	static const struct script_field fields[] = {
		SCRIPT_SET("unfollowed", 0, struct event_fork, followed),
		SCRIPT_END,
	};
	struct script *script = scan->script;
	struct event_fork fixed;
	uint32_t parent, child = 0;
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
	r = script_fields(scan, fields, &fixed, more_flags, &fixed.clone_flags);
	if (r < 0)
		return r;
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

static int exec_variable(struct scan *scan, void *data)
{
	return script_env_variable(scan, data);
}

/* exec PID PATH ["ARGUMENTS"] [from=TID] [base=HEX] [secure] [NAME=VALUE]… */
int script_exec_line(struct scan *scan)
{
	static const struct script_field fields[] = {
		SCRIPT_FIELD("from=", ID, struct event_exec, former_tid),
		SCRIPT_FIELD("base=", HEX, struct event_exec, base),
		SCRIPT_SET("secure", 1, struct event_exec, secure),
		SCRIPT_END,
	};
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
	if (r == 0)
		r = script_fields(scan, fields, &fixed, exec_variable, &env);
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
	static const struct script_field fields[] = {
		SCRIPT_FIELD("run=", TIME, struct event_exit, run_ns),
		SCRIPT_FIELD("user=", TIME, struct event_exit, user_ns),
		SCRIPT_FIELD("gaps=", NUMBER, struct event_exit, user_gaps),
		SCRIPT_END,
	};
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
	if (r == 0)
		r = script_fields(scan, fields, &fixed, NULL, NULL);
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
	static const struct script_field fields[] = {
		SCRIPT_SET("at=enter", EVENT_CLOCK_ENTER, struct event_clock, at),
		SCRIPT_SET("at=return", EVENT_CLOCK_RETURN, struct event_clock, at),
		SCRIPT_SET("at=other", EVENT_CLOCK_OTHER, struct event_clock, at),
		SCRIPT_FIELD("run=", TIME, struct event_clock, run_ns),
		SCRIPT_FIELD("queue=", TIME, struct event_clock, queue_ns),
		SCRIPT_FIELD("turns=", NUMBER, struct event_clock, turns),
		SCRIPT_FIELD("wall=", TIME, struct event_clock, wall_ns),
		SCRIPT_FIELD("stops=", NUMBER, struct event_clock, stops),
		SCRIPT_FIELD("late=", TIME, struct event_clock, late_ns),
		SCRIPT_END,
	};
	struct event_clock *event;
	struct event_clock values = { .at = EVENT_CLOCK_OTHER };
	uint32_t tid;
	int r = script_scan_id(scan, &tid);

	if (r == 0)
		r = script_fields(scan, fields, &values, NULL, NULL);
	if (r < 0)
		return r;
	event = script_begin(scan, EVENT_CLOCK, tid);
	if (!event)
		return script_no_memory(scan);
	values.head = event->head;
	*event = values;
	return script_end(scan);
}
