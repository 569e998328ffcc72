/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new image: the user stack at the end of execve begins with argc, argv,
 * envp and auxv, and their strings lie behind them.  They are read from
 * there, so that a command in a chroot without /proc is known as well; for
 * 32-bit images /proc is asked.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/ptrace/proc.h"

#define WORDS_MAX (1u << 18) /* argv and envp entries looked at */

/* Reads consecutive words of the stack by the page. */
struct words {
	struct engine_pt *e;
	pid_t tid;
	uint64_t next;
	uint64_t chunk[512];
	size_t used, taken;
	bool failed;
};

static uint64_t word(struct words *w)
{
	if (w->taken == w->used) {
		size_t bytes = memory_read(w->e, w->tid, w->next, w->chunk, sizeof w->chunk);

		w->used = bytes / 8;
		w->taken = 0;
		if (w->used == 0) {
			w->failed = true;
			return 0;
		}
		w->next += w->used * 8;
	}
	return w->chunk[w->taken++];
}

struct image {
	uint64_t argv, argv_end; /* their strings */
	uint64_t env, env_end;
	uint32_t env_count;
	uint64_t base, phdr, entry, execfn;
	bool secure;
	bool known;
};

static void read_stack(struct engine_pt *e, pid_t tid, uint64_t sp, struct image *ret)
{
	struct words w = { .e = e, .tid = tid, .next = sp };
	uint64_t argc = word(&w);
	uint64_t address, tag;

	*ret = (struct image){ 0 };
	if (w.failed || argc > WORDS_MAX)
		return;
	for (uint64_t i = 0; i <= argc && !w.failed; i++) {
		address = word(&w);
		if (i == 0)
			ret->argv = address;
	}
	for (uint32_t i = 0; i < WORDS_MAX && !w.failed; i++) {
		address = word(&w);
		if (address == 0)
			break;
		if (ret->env_count++ == 0)
			ret->env = address;
	}
	while (!w.failed && (tag = word(&w)) != AT_NULL) {
		uint64_t value = word(&w);

		switch (tag) {
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
		case AT_EXECFN:
			ret->execfn = value;
			break;
		default:
			break;
		}
	}
	/* argv's strings end where the environment's begin, and those where
	 * the file name lies. */
	ret->env_end = ret->execfn;
	ret->argv_end = ret->env ? ret->env : ret->execfn;
	ret->known = !w.failed;
}

/* Strings from..to of the tracee, at most `most` bytes, in scratch. */
static size_t read_strings(struct engine_pt *e, pid_t tid, uint64_t from, uint64_t to, size_t most)
{
	size_t bytes;
	void *place;

	buf_clear(&e->scratch);
	if (from == 0 || to <= from)
		return 0;
	bytes = to - from > most ? most : (size_t)(to - from);
	place = buf_reserve(&e->scratch, bytes);
	return place ? memory_read(e, tid, from, place, bytes) : 0;
}

static void add_strings(struct engine_pt *e, const struct task *task, const struct image *image)
{
	size_t bytes;
	const char *text;

	if (image->known) {
		bytes = read_strings(e, task->tid, image->argv, image->argv_end, EXEC_ARGV_MAX);
		(void)event_item_add(&e->record, SYS_ITEM_ARGV, 0,
				     image->argv_end - image->argv > EXEC_ARGV_MAX ? EVENT_ITEM_TRUNCATED : 0,
				     bytes ? e->scratch.data : "", bytes);
		bytes = read_strings(e, task->tid, image->env, image->env_end, EXEC_ENV_MAX);
		state_add_env(e, bytes ? e->scratch.data : "", bytes);
		return;
	}
	text = proc_text(e, task->tid, "cmdline", EXEC_ARGV_MAX);
	if (text)
		(void)event_item_add(&e->record, SYS_ITEM_ARGV, 0, 0, text,
				     e->files.bytes > EXEC_ARGV_MAX ? EXEC_ARGV_MAX : e->files.bytes);
	text = proc_text(e, task->tid, "environ", EXEC_ENV_MAX);
	if (text)
		state_add_env(e, text, e->files.bytes);
	else
		e->stats.state_errors++;
}

/* A setuid program that is traced runs without its privileges. */
static void note_setuid(struct engine_pt *e, const struct stat *st)
{
	uid_t uid = getuid();

	if (((st->st_mode & S_ISUID) && st->st_uid != uid && uid != 0) ||
	    ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && uid != 0 && st->st_gid != getgid()))
		e->stats.met |= ENGINE_MET_SETUID | (e->no_new_privs ? ENGINE_MET_NO_NEW_PRIVS : 0);
}

void state_exec(struct engine_pt *e, struct task *task, pid_t former, uint64_t seen_ns)
{
	struct __ptrace_syscall_info info = { 0 };
	struct image image = { 0 };
	struct event_exec *record;
	bool compat = false;
	char path[PROC_PATH_MAX];
	struct stat st;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof info, &info) > 0) {
		compat = arch_of(info.arch, 0) != SYS_ARCH_NATIVE;
		if (!compat) {
			read_stack(e, task->tid, info.stack_pointer, &image);
			task->stack_end = info.stack_pointer;
		}
	}
	proc_path(path, task->tid, "exe");
	if (stat(path, &st) != 0)
		st = (struct stat){ 0 };
	note_setuid(e, &st);

	record = state_begin(e, EVENT_EXEC, task, seen_ns);
	if (!record)
		return;
	record->former_tid = (uint32_t)former;
	record->secure = image.secure;
	record->base = image.base;
	record->phdr = image.phdr;
	record->entry = image.entry;
	record->dev = st.st_dev;
	record->ino = st.st_ino;
	record->env_count = image.env_count;
	record->compat = compat;
	{
		char exe[4097];
		ssize_t n = proc_link(task->tid, "exe", exe, sizeof exe);

		if (n >= 0) {
			(void)event_item_add(&e->record, SYS_ITEM_EXE, 0, 0, exe, (size_t)n);
		} else if (image.execfn) {
			bool cut, unread;
			size_t bytes = memory_string(e, task->tid, image.execfn, 4095, &cut, &unread);

			if (!unread)
				(void)event_item_add(&e->record, SYS_ITEM_EXE, 0, 0, e->scratch.data, bytes);
		}
	}
	add_strings(e, task, &image);
	(void)engine_emit(e);
	/* What changes these is outside a scope: they would not stay true. */
	if (e->stats.scoped)
		return;
	state_maps(e, task);
	if (task->root && !e->started)
		state_fds(e, task);
}
