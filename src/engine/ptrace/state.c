/* SPDX-License-Identifier: BSD-2-Clause */
/* State records of a stopped task, made by tell.c; exec.c tells of a new image. */
#include "engine/ptrace/proc.h"

static void emit(void *data)
{
	struct engine_pt *e = data;
	const struct event_map *map = (const struct event_map *)(const void *)e->record.data;

	if (e->maps_of && map && map->head.type == EVENT_MAP)
		code_add(e->maps_of->code, map->start, map->end - map->start);
	(void)engine_emit(e);
}

static struct teller teller_of(struct engine_pt *e)
{
	return (struct teller){ .record = &e->record,
				.files = &e->files,
				.env_names = e->env_names,
				.errors = &e->stats.state_errors,
				.emit = emit,
				.data = e };
}

void *state_begin(struct engine_pt *e, enum event_type type, const struct task *task, uint64_t time_ns)
{
	struct event_head *head = event_begin(&e->record, type);

	if (!head) {
		e->stats.state_errors++;
		return NULL;
	}
	engine_head(e, head, task, time_ns);
	return head;
}

const char *proc_text(struct engine_pt *e, pid_t tid, const char *name, size_t most)
{
	struct teller teller = teller_of(e);

	return tell_text(&teller, tid, name, most);
}

pid_t state_tgid(struct engine_pt *e, pid_t tid)
{
	struct teller teller = teller_of(e);

	return tell_tgid(&teller, tid);
}

void state_ns_ids(struct engine_pt *e, pid_t tid, uint32_t *ret_tid, uint32_t *ret_pid)
{
	struct teller teller = teller_of(e);

	tell_ns_ids(&teller, tid, ret_tid, ret_pid);
}

bool state_pidns_differs(pid_t pid)
{
	return proc_pidns_differs(pid);
}

uint64_t state_run_ns(pid_t tid)
{
	return proc_run_ns(tid);
}

void state_add_env(struct engine_pt *e, const char *env, size_t bytes)
{
	struct teller teller = teller_of(e);

	tell_env(&teller, env, bytes);
}

void state_task(struct engine_pt *e, struct task *task, bool attached)
{
	struct teller teller = teller_of(e);

	tell_task(&teller, task->tid, task->pid, task->starting, attached);
}

void state_dirs(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	tell_dirs(&teller, task->tid, task->pid);
}

void state_mounts(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	tell_mounts(&teller, task->tid, task->pid);
}

void state_ids(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	tell_ids(&teller, task->tid, task->pid);
}

void state_limits(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	tell_limits(&teller, task->tid, task->pid);
}

void state_fds(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	tell_fds(&teller, task->tid, task->pid);
}

void state_maps(struct engine_pt *e, struct task *task)
{
	struct teller teller = teller_of(e);

	e->maps_of = task;
	tell_maps(&teller, task->tid, task->pid);
	e->maps_of = NULL;
}
