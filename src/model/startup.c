/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start-up phase of an image: from exec to the first call that the
 * dynamic loader did not make.  Told by where calls come from; where that is
 * not known, by what a loader calls at all.  Programs without a loader have
 * no such phase.  What libraries, locales and interpreters do comes after it
 * and is told by the files that it is about.
 */
#include <string.h>

#include "model/state.h"

void startup_begin(struct image *image, const struct event_exec *event)
{
	image->loader_base = event->base;
	image->pub.starting = event->base != 0 && !image->pub.folded;
	image->pub.startup_calls = 0;
	image->script_known = false;
	image->script = NULL;
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

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *text, const char *const *names)
{
	while (*names && strcmp(*names, text) != 0)
		names++;
	return *names != NULL;
}

/* Whole resolved paths.  Most are none of it, so the first letters decide. */
static enum model_phase phase_of_path(const char *path)
{
	/* libselinux, libgcrypt, OpenSSL */
	static const char *const libraries[] = { "/sys/fs/selinux",
						 "/selinux",
						 "/etc/selinux/config",
						 "/proc/filesystems",
						 "/proc/sys/crypto/fips_enabled",
						 "/etc/gcrypt/fips_enabled",
						 "/etc/ssl/openssl.cnf",
						 "/usr/lib/ssl/openssl.cnf",
						 NULL };

	if (path[0] != '/')
		return MODEL_PHASE_WORK;
	if (path[1] == 'u' && begins(path, "/usr/")) {
		const char *gconv = strstr(path, "/gconv/gconv-modules");

		if (gconv || begins(path + 5, "lib/locale") || begins(path + 5, "share/locale"))
			return MODEL_PHASE_LOCALE;
	}
	return strchr("spe", path[1]) && is_one_of(path, libraries) ? MODEL_PHASE_LIBRARY : MODEL_PHASE_WORK;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The first operand, when it is a file to run: not of python -c, perl -e, … */
static const char *find_script(const struct model_process *process)
{
	static const char *const interpreters[] = { "python", "perl", "ruby", "node", "php", "lua" };
	const char *name = base_name(process->exe->path), *word, *end;
	bool known = false;

	for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
		known = known || begins(name, interpreters[i]);
	if (!known || !process->argv || process->argv_cut)
		return NULL;
	end = process->argv + process->argv_bytes;
	for (word = process->argv; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
		if (word == process->argv)
			continue;
		if (word[0] != '-')
			return base_name(word);
		if (word[1] == '\0' || word[1] == '-' || strpbrk(word, "cemErpSX"))
			return NULL;
	}
	return NULL;
}

static bool opens(const struct model_view *view, const char *script)
{
	return view->path && !view->err && (sys_call(view->id)->classes & SYS_FAMILY_open) &&
	       strcmp(base_name(view->path->passed), script) == 0;
}

enum model_phase startup_phase(const struct event_call *call, const struct model_view *view)
{
	struct image *image = (struct image *)(void *)view->process;
	const char *path = view->path ? view->path->text : view->file ? view->file->path : NULL;
	enum model_phase phase = MODEL_PHASE_WORK;

	if (view->id == CALL_execve || view->id == CALL_execveat)
		return view->err == 0 && call->ret == 0 ? MODEL_PHASE_EXEC : MODEL_PHASE_WORK;
	if (!image->pub.execed || image->pub.folded)
		return MODEL_PHASE_WORK;
	if (image->pub.starting)
		return MODEL_PHASE_LOADER;
	if (path)
		phase = phase_of_path(path);
	if (!image->script_known) {
		image->script_known = true;
		image->script = find_script(&image->pub);
	}
	if (image->script && opens(view, image->script))
		image->script = NULL;
	return phase == MODEL_PHASE_WORK && image->script ? MODEL_PHASE_INTERPRETER : phase;
}
