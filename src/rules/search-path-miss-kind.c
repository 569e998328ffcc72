/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search-path-miss: which look-ups are part of a search along a list of
 * directories.  Only searches that are known by name: a program that asks for
 * one file name in folder after folder may be walking a tree.
 */
#include <errno.h>
#include <string.h>

#include "rules/search-path-miss.h"

static bool ends_with(const struct search_path *path, const char *const *ends)
{
	for (; *ends; ends++) {
		size_t bytes = strlen(*ends);

		if (path->name_bytes > bytes && memcmp(path->name + path->name_bytes - bytes, *ends, bytes) == 0)
			return true;
	}
	return false;
}

static bool is_named(const struct search_path *path, const char *name)
{
	return path->name_bytes == strlen(name) && memcmp(path->name, name, path->name_bytes) == 0;
}

static bool begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

static bool holds(const char *text, size_t bytes, const char *part)
{
	return memmem(text, bytes, part, strlen(part)) != NULL;
}

/* Opened or looked at by the dynamic loader, also for dlopen. */
static bool by_loader(struct model *model, const struct model_view *view)
{
	const char *module = NULL;
	uint64_t offset;

	if (view->process->starting)
		return true;
	return view->call->ip && model_locate(model, view->process, view->call->ip, &module, &offset) && module &&
	       (begins_with(rule_base_name(module), "ld-") || begins_with(rule_base_name(module), "ld64"));
}

static bool is_stat(enum sys_call_id id)
{
	return id == CALL_stat || id == CALL_lstat || id == CALL_newfstatat || id == CALL_statx;
}

/* The loader's own directories, asked last: nothing leads a program there but the
 * want of the library. */
static bool is_built_in(const struct search_path *path)
{
	static const char *const below[] = { "glibc-hwcaps", "tls",	"haswell", "avx512_1",
					     "x86_64",	     "aarch64", "atomics" };
	const char *at = path->dir, *end = at + path->dir_bytes;

	if (end - at >= 4 && memcmp(at, "/usr", 4) == 0)
		at += 4;
	if (end - at < 4 || memcmp(at, "/lib", 4) != 0)
		return false;
	at += 4;
	at += strspn(at, "x3264");
	/* A folder of the machine: x86_64-linux-gnu. */
	if (at < end && *at == '/') {
		const char *slash = memchr(at + 1, '/', (size_t)(end - at - 1));
		const char *next = slash ? slash : end;

		if (holds(at, (size_t)(next - at), "-linux-"))
			at = next;
	}
	if (at >= end)
		return true;
	for (size_t i = 0; *at == '/' && i < sizeof below / sizeof *below; i++)
		if (search_below(at + 1, (size_t)(end - at - 1), below[i], strlen(below[i])))
			return true;
	return false;
}

static bool is_library(const struct model_view *view, const struct search_path *path)
{
	/* Its folders too, once in each directory of the list. */
	if (is_stat(view->id))
		return view->process->starting && view->err != 0;
	return holds(path->name, path->name_bytes, ".so") && !begins_with(path->name, "ld.so.");
}

static bool has_include_option(const char *word)
{
	return strcmp(word, "-I") == 0 || strcmp(word, "-isystem") == 0 || strcmp(word, "-iquote") == 0 ||
	       strcmp(word, "-idirafter") == 0;
}

/* Below a directory that the command line names, not one that is built in. */
static bool is_included(const struct model_process *process, const struct search_path *path)
{
	const char *word = process->argv, *end = word ? word + process->argv_bytes : NULL;
	bool next = false;

	while (word && word < end && memchr(word, '\0', (size_t)(end - word))) {
		const char *dir = next ? word : begins_with(word, "-I") && word[2] ? word + 2 : NULL;
		size_t bytes = dir ? strlen(dir) : 0;

		while (bytes > 1 && dir[bytes - 1] == '/')
			bytes--;
		if (bytes > 0 && search_below(path->dir, path->dir_bytes, dir, bytes))
			return true;
		next = has_include_option(word);
		word += strlen(word) + 1;
	}
	return false;
}

/* The loader looks into folders of each directory too: they are the same place. */
static bool fold_to_entry(const struct model_process *process, struct search_path *path)
{
	const char *list = process->env_known ? model_getenv(process, "LD_LIBRARY_PATH") : NULL, *entry;
	size_t bytes;

	while (list && search_entry(&list, &entry, &bytes)) {
		if (!search_below(path->dir, path->dir_bytes, entry, bytes))
			continue;
		path->dir_bytes = bytes;
		return true;
	}
	return false;
}

static bool in_list(const char *list, const struct search_path *path)
{
	const char *entry;
	size_t bytes;

	while (list && search_entry(&list, &entry, &bytes))
		if (bytes == path->dir_bytes && memcmp(entry, path->dir, bytes) == 0)
			return true;
	return false;
}

/* Look for programs by looking at files. */
static bool is_shell(const char *base)
{
	static const char *const shells[] = { "sh",   "dash", "bash",	 "zsh",	 "ksh",
					      "mksh", "fish", "busybox", "make", "gmake" };

	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (strcmp(base, shells[i]) == 0)
			return true;
	return false;
}

/* perl5.36, python3, ruby3.1: a name and perhaps a version. */
static bool is_interpreter(const char *base, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(base, name, bytes) == 0 && base[bytes + strspn(base + bytes, "0123456789.")] == '\0';
}

/* What programs of this name look for. */
static enum search_kind searches(const char *base)
{
	if (is_interpreter(base, "perl"))
		return SEARCH_PERL;
	if (is_interpreter(base, "python") || is_interpreter(base, "pypy"))
		return SEARCH_PYTHON;
	if (is_interpreter(base, "ruby"))
		return SEARCH_RUBY;
	if (strcmp(base, "node") == 0 || strcmp(base, "nodejs") == 0)
		return SEARCH_NODE;
	if (strcmp(base, "cc1") == 0 || strcmp(base, "cc1plus") == 0 || is_interpreter(base, "clang-") ||
	    is_interpreter(base, "clang"))
		return SEARCH_HEADERS;
	if (strcmp(base, "make") == 0 || strcmp(base, "gmake") == 0)
		return SEARCH_MAKE;
	return SEARCH_NONE;
}

static bool is_one(const struct model_view *view, const struct search_path *path, enum search_kind kind)
{
	static const char *const perl[] = { ".pm", ".pmc", ".pl", ".ph", ".al", NULL };
	static const char *const python[] = { ".py", ".pyc", ".pyo", ".pyw", ".so", "module.so", NULL };
	static const char *const ruby[] = { ".rb", ".so", NULL };
	static const char *const node[] = { ".js", ".mjs", ".cjs", ".json", ".node", NULL };
	static const char *const headers[] = {
		".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tcc", ".gch", NULL
	};

	switch ((int)kind) {
	case SEARCH_PERL:
		return ends_with(path, perl);
	case SEARCH_PYTHON:
		/* A package is asked for an extension of its own before its own file: no search. */
		return ends_with(path, python) && !begins_with(path->name, "__init__.");
	case SEARCH_RUBY:
		return ends_with(path, ruby);
	case SEARCH_NODE:
		return ends_with(path, node) || is_named(path, "node_modules") ||
		       holds(path->dir, path->dir_bytes, "/node_modules");
	case SEARCH_HEADERS:
		return ends_with(path, headers) && (!view->err || is_included(view->process, path));
	case SEARCH_MAKE:
		return is_named(path, "RCS") || is_named(path, "SCCS");
	default:
		return false;
	}
}

/* Mostly the same as that of the last call. */
static const struct search_program *program_of(struct search_state *state, const struct model_exe *exe)
{
	struct search_program *program = &state->program;

	if (program->exe != exe) {
		const char *base = rule_base_name(exe->path);

		*program = (struct search_program){ exe, searches(base), is_shell(base) };
	}
	return program;
}

enum search_kind search_kind_of(struct search_state *state, struct model *model, const struct model_view *view,
				struct search_path *path)
{
	const struct search_program *program = program_of(state, view->process->exe);

	if (view->id == CALL_execve || view->id == CALL_execveat)
		return SEARCH_PROGRAMS;
	if (is_named(path, ".htaccess"))
		return SEARCH_HTACCESS;
	if (is_library(view, path) && by_loader(model, view)) {
		bool listed = fold_to_entry(view->process, path);

		return !view->err || listed || !is_built_in(path) ? SEARCH_LOADER : SEARCH_NONE;
	}
	if (is_one(view, path, program->kind))
		return program->kind;
	if ((view->err || program->shell) && view->process->env_known &&
	    in_list(model_getenv(view->process, "PATH"), path))
		return SEARCH_PROGRAMS;
	return SEARCH_NONE;
}

const char *search_variable(enum search_kind kind)
{
	static const char *const variables[SEARCH_KINDS] = {
		[SEARCH_LOADER] = "LD_LIBRARY_PATH",
		[SEARCH_PROGRAMS] = "PATH",
		[SEARCH_PERL] = "PERL5LIB",
	};

	return variables[kind];
}

bool search_entry(const char **at, const char **ret_entry, size_t *ret_bytes)
{
	const char *entry = *at;
	size_t bytes;

	while (*entry == ':')
		entry++;
	bytes = strcspn(entry, ":");
	*at = entry + bytes;
	while (bytes > 1 && entry[bytes - 1] == '/')
		bytes--;
	*ret_entry = entry;
	*ret_bytes = bytes;
	return bytes > 0;
}

bool search_below(const char *path, size_t path_bytes, const char *dir, size_t dir_bytes)
{
	return path_bytes >= dir_bytes && memcmp(path, dir, dir_bytes) == 0 &&
	       (path_bytes == dir_bytes || path[dir_bytes] == '/' || dir[dir_bytes - 1] == '/');
}

uint64_t search_used_hash(enum search_kind kind, const char *entry, size_t bytes)
{
	return map_mix(map_hash(entry, bytes), kind);
}
