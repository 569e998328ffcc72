/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start-up phase of an image: from exec to the first call that the
 * dynamic loader did not make.  Told by where calls come from; where that is
 * not known, by what a loader calls at all.  Programs without a loader have
 * no such phase, and what constructors and locales do comes after it.
 */
#include "model/state.h"

void startup_begin(struct image *image, const struct event_exec *event)
{
	image->loader_base = event->base;
	image->pub.starting = event->base != 0 && !image->pub.folded;
	image->pub.startup_calls = 0;
}

static bool loader_calls(enum sys_call_id id)
{
	static const uint16_t calls[] = {
		CALL_brk,
		CALL_mmap,
		CALL_munmap,
		CALL_mprotect,
		CALL_access,
		CALL_faccessat,
		CALL_faccessat2,
		CALL_open,
		CALL_openat,
		CALL_read,
		CALL_pread64,
		CALL_fstat,
		CALL_stat,
		CALL_newfstatat,
		CALL_statx,
		CALL_close,
		CALL_readlink,
		CALL_readlinkat,
		CALL_getcwd,
		CALL_uname,
		CALL_arch_prctl,
		CALL_set_tid_address,
		CALL_set_robust_list,
		CALL_rseq,
		CALL_prlimit64,
		CALL_getrandom,
		CALL_getuid,
		CALL_geteuid,
		CALL_getgid,
		CALL_getegid,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == (uint16_t)id)
			return true;
	return false;
}

void startup_feed(struct model *model, const struct event_call *call, struct model_view *view)
{
	const struct image *image = (const struct image *)(const void *)view->process;
	const char *loader = NULL, *module = NULL;
	uint64_t offset;
	bool its;

	/* The exec itself may be told after its record. */
	if (view->id == CALL_execve || view->id == CALL_execveat)
		return;
	if (call->ip && model_locate(model, view->process, image->loader_base, &loader, &offset) &&
	    model_locate(model, view->process, call->ip, &module, &offset))
		its = module == loader;
	else
		its = loader_calls(view->id);
	if (its)
		view->process->startup_calls++;
	else
		view->process->starting = false;
}
