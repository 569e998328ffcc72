/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new image, as the kernel's side has copied it while its task could not
 * run: name, arguments, environment, auxiliary vector.  What is done here may
 * come long after the task has ended.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "engine/bpf/bpf.h"

#define KERNEL_MINOR_BITS 20

void exec_environment(struct engine_bpf *e, const struct kern_env *part)
{
	/* Parts come one behind the other, but those of another task between. */
	if (e->env_tid != part->head.tid) {
		buf_clear(&e->env);
		e->env_tid = part->head.tid;
		e->env_cut = false;
	}
	if (part->unread || e->env.bytes + part->bytes > EXEC_ENV_MAX || buf_add(&e->env, part + 1, part->bytes) != 0)
		e->env_cut = true;
}

void exec_join_names(struct buf *path, const char *names, size_t bytes, bool cut, bool deleted)
{
	const char *end = names + bytes;

	buf_clear(path);
	if (cut)
		(void)buf_puts(path, "...");
	while (end > names) {
		const char *begin = end - 1;

		while (begin > names && begin[-1] != '\0')
			begin--;
		(void)buf_putc(path, '/');
		(void)buf_puts(path, begin);
		end = begin;
	}
	if (deleted)
		(void)buf_puts(path, " (deleted)");
}

/* Words of 32 bits look like one tag with a value in its upper half. */
static void read_auxv(const struct kern_exec *exec, struct exec_auxv *ret)
{
	*ret = (struct exec_auxv){ .compat = exec->auxv[0] >> 32 != 0 };
	if (ret->compat)
		return;
	for (size_t i = 0; i + 1 < KERN_AUXV_WORDS && exec->auxv[i] != AT_NULL; i += 2) {
		uint64_t value = exec->auxv[i + 1];

		switch (exec->auxv[i]) {
		case AT_BASE:
			ret->base = value;
			break;
		case AT_PHDR:
			ret->phdr = value;
			break;
		case AT_ENTRY:
			ret->entry = value;
			break;
		case AT_SECURE:
			ret->secure = value != 0;
			break;
		case AT_SYSINFO_EHDR:
			ret->vdso = value;
			break;
		default:
			break;
		}
	}
}

static uint32_t count_strings(const struct buf *strings)
{
	uint32_t count = 0;

	for (size_t i = 0; i < strings->bytes; i++)
		count += strings->data[i] == '\0';
	return count;
}

static void rename_task(struct engine_bpf *e, const struct kern_exec *exec)
{
	struct follow *former = follow_find(e, exec->former_tid);
	struct follow kept = former ? *former : (struct follow){ 0 };
	struct follow *task;

	if (former && exec->former_tid != exec->head.tid) {
		/* Of the call that it is in. */
		former->stack = NULL;
		follow_remove(e, exec->former_tid);
		task = follow_add(e, exec->head.tid, exec->head.pid, kept.parent);
		if (task) {
			task->mounts_ino = kept.mounts_ino;
			task->stack = kept.stack;
		} else {
			free(kept.stack);
		}
	}
}

static void keep_filename(struct engine_bpf *e, const struct kern_exec *exec, const char *filename)
{
	struct follow *task = follow_find(e, exec->head.tid);

	if (!task || exec->filename_bytes == 0)
		return;
	free(task->filename);
	task->filename = strndup(filename, exec->filename_bytes - 1);
}

static void add_fds(struct engine_bpf *e)
{
	if (buf_add(&e->out, e->fds.data, e->fds.bytes) != 0)
		e->stats.state_errors++;
	buf_done(&e->fds);
}

void exec_tell(struct engine_bpf *e, const struct kern_exec *exec)
{
	const char *argv = (const char *)(exec + 1);
	const char *filename = argv + ((exec->argv_bytes + 7) & ~7u);
	const char *names = filename + ((exec->filename_bytes + 7) & ~7u);
	struct teller teller = bpf_teller(e);
	struct buf path = BUF_INIT;
	struct event_exec *record;
	struct exec_auxv auxv;
	bool own_env = e->env_tid == exec->head.tid;

	rename_task(e, exec);
	keep_filename(e, exec, filename);
	read_auxv(exec, &auxv);
	exec_join_names(&path, names, exec->names_bytes, exec->names_cut, exec->deleted);
	record = event_begin(&e->record, EVENT_EXEC);
	if (record) {
		record->head.pid = exec->head.pid;
		record->head.tid = exec->head.tid;
		record->head.time_ns = exec->head.time_ns;
		record->former_tid = exec->former_tid;
		record->secure = auxv.secure;
		record->base = auxv.base;
		record->phdr = auxv.phdr;
		record->entry = auxv.entry;
		record->dev = makedev((unsigned)(exec->dev >> KERNEL_MINOR_BITS),
				      (unsigned)(exec->dev & ((1u << KERNEL_MINOR_BITS) - 1)));
		record->ino = exec->ino;
		record->env_count = own_env ? count_strings(&e->env) : 0;
		record->compat = auxv.compat;
		(void)event_item_add(&e->record, SYS_ITEM_EXE, 0, 0, path.data, path.bytes);
		(void)event_item_add(&e->record, SYS_ITEM_ARGV, 0,
				     exec->argv_whole > exec->argv_bytes ? EVENT_ITEM_TRUNCATED : 0, argv,
				     exec->argv_bytes);
		if (exec->env_whole == 0)
			tell_env(&teller, "", 0);
		else if (own_env && !e->env_cut && e->env.bytes == exec->env_whole)
			tell_env(&teller, e->env.data, e->env.bytes);
		else
			e->stats.state_errors++;
	}
	(void)bpf_emit(e);
	exec_files_tell(e, &exec->head, buf_text(&path), exec->ino, &auxv);
	if (!e->started && e->root != 0 && exec->head.tid == (uint32_t)e->root) {
		e->started = true;
		add_fds(e);
	}
	e->env_tid = 0;
	buf_done(&path);
}
