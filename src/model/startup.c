/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The start-up phase of an image: from exec to the first call that the
 * dynamic loader did not make.  Told by where calls come from; where that is
 * not known, by what a loader calls at all.  Programs without a loader have
 * no such phase.  What libraries, locales and interpreters do comes after it
 * and is told by the files that it is about.  The script of an interpreter is named
 * by the file that it opens.
 */
#include <string.h>

#include "model/script.h"
#include "model/state.h"

void startup_begin(struct image *image, const struct event_exec *event)
{
	image->loader_base = event->base;
	image->pub.starting = event->base != 0 && !image->pub.folded;
	image->pub.startup_calls = 0;
	image->script_known = false;
	image->script = image->naming = image->pub.script = NULL;
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

/* What the kernel put there.  Engines tell what can be executed, which is not the file's begin. */
static const char *loader_of(struct model *model, const struct model_process *process, uint64_t base)
{
	const struct mm *mm = model_mm(model, process);
	const struct model_maps *list = mm ? mm->list : NULL;

	for (uint32_t i = 0; list && i < list->used; i++) {
		const struct model_map *map = &list->at[i];

		if ((base >= map->start && base < map->end) || map->start - map->offset == base)
			return map->module;
	}
	return NULL;
}

void startup_feed(struct model *model, const struct event_call *call, struct model_view *view)
{
	const struct image *image = (const struct image *)(const void *)view->process;
	const char *loader, *module = NULL;
	uint64_t offset;
	bool its;

	/* The exec itself may be told after its record. */
	if (view->id == CALL_execve || view->id == CALL_execveat)
		return;
	loader = call->ip ? loader_of(model, view->process, image->loader_base) : NULL;
	if (loader && model_locate(model, view->process, call->ip, &module, &offset))
		its = module == loader;
	else
		its = loader_calls(view->id);
	if (its)
		view->process->startup_calls++;
	else
		view->process->starting = false;
}

#define BEGINS(text, bytes, with) ((bytes) >= sizeof(with) - 1 && memcmp(text, with, sizeof(with) - 1) == 0)

/* What is long and rarely there: by the byte that most paths have not. */
static bool has_gconv_modules(const char *path, size_t bytes, size_t plain)
{
	static const char part[] = "/gconv/gconv-modules";
	const size_t dash = 12, part_bytes = sizeof part - 1;
	const char *end = path + bytes, *at = path + (plain > part_bytes - dash ? plain - (part_bytes - dash) : 0);

	while ((at = memchr(at, '-', (size_t)(end - at)))) {
		if ((size_t)(at - path) >= dash && (size_t)(end - at) >= part_bytes - dash &&
		    memcmp(at - dash, part, part_bytes) == 0)
			return true;
		at++;
	}
	return false;
}

#define TEXT(text_) \
	{ \
		text_, sizeof(text_) - 1 \
	}

/* Whole resolved paths.  Most are none of it, so the first letters decide. */
enum model_phase startup_path_phase(const char *path, size_t bytes, size_t plain)
{
	/* libselinux, libgcrypt, OpenSSL */
	static const struct {
		const char *text;
		size_t bytes;
	} libraries[] = {
		TEXT("/sys/fs/selinux"),
		TEXT("/selinux"),
		TEXT("/etc/selinux/config"),
		TEXT("/proc/filesystems"),
		TEXT("/proc/sys/crypto/fips_enabled"),
		TEXT("/etc/gcrypt/fips_enabled"),
		TEXT("/etc/ssl/openssl.cnf"),
		TEXT("/usr/lib/ssl/openssl.cnf"),
	};

	if (bytes < 2 || path[0] != '/')
		return MODEL_PHASE_WORK;
	if (path[1] == 'u' && BEGINS(path, bytes, "/usr/") &&
	    (BEGINS(path, bytes, "/usr/lib/locale") || BEGINS(path, bytes, "/usr/share/locale") ||
	     has_gconv_modules(path, bytes, plain)))
		return MODEL_PHASE_LOCALE;
	if (path[1] != 's' && path[1] != 'p' && path[1] != 'e')
		return MODEL_PHASE_WORK;
	for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
		if (bytes == libraries[i].bytes && memcmp(path, libraries[i].text, bytes) == 0)
			return MODEL_PHASE_LIBRARY;
	return MODEL_PHASE_WORK;
}

static enum model_phase phase_of_resolved(const struct resolved *path)
{
	/* What is below a folder of locales is of locales. */
	if (path->base_bytes > 0 && path->base->phase == MODEL_PHASE_LOCALE)
		return MODEL_PHASE_LOCALE;
	return startup_path_phase(path->pub.text, path->pub.bytes, path->base_bytes);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "#!": the kernel puts what was to be started behind the interpreter and its one argument. */
static bool is_hash_bang(const struct model_process *process, const char *passed)
{
	const char *at = process->argv, *end = at ? at + process->argv_bytes : NULL;

	if (!at || *at != '/' || strcmp(at, passed) == 0 || strcmp(process->exe->path, passed) == 0 ||
	    strcmp(base_name(process->exe->path), base_name(passed)) == 0)
		return false;
	for (unsigned word = 0; word < 3 && at < end; word++, at += strnlen(at, (size_t)(end - at)) + 1)
		if (word > 0 && strcmp(at, passed) == 0)
			return !process->argv_cut || at + strlen(at) + 1 < end;
	return false;
}

static const char *keep_path(struct model *model, const struct model_path *path)
{
	return path->absolute ? text_keep(model, path->text, path->bytes)
			      : text_keep(model, path->passed, path->passed_bytes);
}

static void find_script(struct image *image)
{
	const struct model_process *process = &image->pub;
	struct model_script script =
		script_find(process->exe->path, process->argv, process->argv_bytes, process->argv_cut);

	image->script_known = true;
	if (script.kind != SCRIPT_FILE)
		return;
	image->script = script.starts ? base_name(script.name) : NULL;
	if (!process->script)
		image->naming = script.name;
	image->searches = script.shell;
}

/* Is it the script's own name, or that name in the directory of the process? */
static bool is_script(struct model *model, const struct image *image, const struct model_path *path)
{
	const char *name = image->naming, *cwd;
	size_t bytes;

	if (strcmp(path->passed, name) == 0 || (path->absolute && strcmp(path->text, name) == 0))
		return true;
	if (*name == '/' || !path->absolute)
		return false;
	if (image->searches && !strchr(name, '/'))
		return strcmp(base_name(path->passed), name) == 0;
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	cwd = model_cwd(model, &image->pub);
	bytes = cwd ? strlen(cwd) : 0;
	return bytes > 0 && strncmp(path->text, cwd, bytes) == 0 &&
	       strcmp(path->text + bytes + (path->text[bytes] == '/'), name) == 0;
}

static void see_open(struct model *model, struct image *image, const struct model_view *view)
{
	if (!view->path || view->err || !(sys_call(view->id)->classes & SYS_FAMILY_open))
		return;
	if (image->script && strcmp(base_name(view->path->passed), image->script) == 0)
		image->script = NULL;
	if (image->naming && is_script(model, image, view->path)) {
		image->pub.script = keep_path(model, view->path);
		image->naming = NULL;
	}
}

enum model_phase startup_phase(struct model *model, const struct event_call *call, const struct model_view *view)
{
	struct image *image = (struct image *)(void *)view->process;
	enum model_phase phase = MODEL_PHASE_WORK;

	if (view->id == CALL_execve || view->id == CALL_execveat) {
		if (view->err || call->ret != 0)
			return MODEL_PHASE_WORK;
		if (view->path && image->pub.execed && !image->pub.folded &&
		    is_hash_bang(&image->pub, view->path->passed))
			image->pub.script = keep_path(model, view->path);
		return MODEL_PHASE_EXEC;
	}
	if (!image->pub.execed || image->pub.folded)
		return MODEL_PHASE_WORK;
	if (image->pub.starting)
		return MODEL_PHASE_LOADER;
	if (view->path)
		phase = phase_of_resolved((const struct resolved *)(const void *)view->path);
	else if (view->file)
		phase = (enum model_phase)((const struct file *)(const void *)view->file)->phase;
	if (!image->script_known)
		find_script(image);
	if (image->script || image->naming)
		see_open(model, image, view);
	return phase == MODEL_PHASE_WORK && image->script ? MODEL_PHASE_INTERPRETER : phase;
}
