/* SPDX-License-Identifier: BSD-2-Clause */
/* Interpreters, and what their options take: data, and one reader of it. */
#include "model/script.h"

#include <string.h>

/*
 * Letters of options, which may stand together in one word.  Long options:
 * "name" takes nothing, "name*" is a beginning, "name=" takes the next word
 * where it has no '=', "name<" the script, "name!" a command line.
 */
struct interpreter {
	const char *names; /* of files, before a version */
	const char *flags; /* take nothing; NULL: all that are not named here */
	const char *value; /* take the rest of the word, or the next one */
	const char *next; /* take the next word, and end their own */
	const char *rest; /* take the rest of the word, if there is any */
	const char *number; /* take digits */
	const char *code; /* a command line */
	const char *file; /* as value: the script */
	const char *module; /* as value */
	const char *longs; /* separated by blanks */
	enum script_kind operand; /* what the first operand is */
	bool shell, starts;
};

static const struct interpreter interpreters[] = {
	{ .names = "python pypy",
	  .flags = "bBdEiIOPqsSuvx",
	  .value = "WX",
	  .code = "c",
	  .module = "m",
	  .longs = "check-hash-based-pycs=",
	  .operand = SCRIPT_FILE,
	  .starts = true },
	{ .names = "perl",
	  .flags = "acfgnpsStTuUwWX",
	  .value = "I",
	  .rest = "CDdFimMx",
	  .number = "0l",
	  .code = "eE",
	  .operand = SCRIPT_FILE,
	  .starts = true },
	{ .names = "ruby",
	  .flags = "acdlnpsSUvw",
	  .value = "CEIr",
	  .rest = "FiKWx",
	  .number = "0T",
	  .code = "e",
	  .longs = "backtrace-limit= debug debug-* disable= disable-* enable= enable-* encoding= "
		   "external-encoding= internal-encoding= jit* yjit* rjit* mjit* parser= verbose",
	  .operand = SCRIPT_FILE,
	  .starts = true },
	{ .names = "node nodejs",
	  .flags = "ci",
	  .value = "rC",
	  .code = "ep",
	  .longs = "abort-on-uncaught-exception check conditions= cpu-prof cpu-prof-dir= cpu-prof-interval= "
		   "cpu-prof-name= disable-warning= enable-source-maps env-file= env-file-if-exists= eval! "
		   "experimental-config-file= experimental-default-type= experimental-loader= "
		   "experimental-sea-config= experimental-* expose-gc expose_gc harmony* heap-prof heap-prof-dir= "
		   "heap-prof-interval= heap-prof-name= import= input-type= inspect-port= inspect* "
		   "interpreted-frames-native-stack jitless loader= no-* pending-deprecation "
		   "perf-* preserve-symlinks* print! prof require= throw-deprecation title= "
		   "trace-event-categories= trace-event-file-pattern= trace-require-module trace-deprecation "
		   "trace-exit trace-gc trace-sigint trace-sync-io trace-uncaught trace-warnings use-openssl-ca "
		   "use-bundled-ca use-strict zero-fill-buffers",
	  .operand = SCRIPT_FILE,
	  .starts = true },
	{ .names = "php",
	  .flags = "aCeHlnqsw",
	  .value = "cdz",
	  .code = "rBRE",
	  .file = "fF",
	  .longs = "define= file< hide-args interactive no-header no-php-ini php-ini= process-begin! process-code! "
		   "process-end! process-file< run! strip syntax-check zend-extension=",
	  .operand = SCRIPT_FILE,
	  .starts = true },
	/* With -e a file may follow all the same. */
	{ .names = "lua", .flags = "ivEW", .value = "el", .operand = SCRIPT_FILE, .starts = true },
	{ .names = "luajit", .flags = "ivE", .value = "ejl", .rest = "O", .operand = SCRIPT_FILE, .starts = true },
	{ .names = "bash rbash sh dash ash ksh ksh93 mksh zsh",
	  .next = "oO",
	  .code = "c",
	  .longs = "debugger init-file= login noediting noprofile norc posix rcfile= restricted verbose",
	  .operand = SCRIPT_FILE,
	  .shell = true },
	{ .names = "awk gawk mawk nawk original-awk",
	  .flags = "bcCghHINnOPrsStM",
	  .value = "Fvil",
	  .rest = "dDLop",
	  .code = "e",
	  .file = "fE",
	  .longs = "assign= bignum characters-as-bytes csv exec< field-separator= file< include= load= "
		   "non-decimal-data optimize posix re-interval sandbox source! traditional",
	  .operand = SCRIPT_LINE },
	{ .names = "expect", .flags = "bidnN", .value = "D", .code = "c", .file = "f", .operand = SCRIPT_FILE },
	{ .names = "tclsh wish", .flags = "", .operand = SCRIPT_FILE },
	{ .names = "R",
	  .flags = "q",
	  .value = "g",
	  .code = "e",
	  .file = "f",
	  .longs = "encoding= file< interactive no-* quiet restore* save silent slave vanilla verbose" },
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "3.11", "3.13t", "3.11-dbg", "". */
static bool is_version(const char *text)
{
	static const char *const builds[] = { "", "d", "m", "t", "-dbg" };
	size_t digits = strspn(text, "0123456789.");

	for (size_t i = 0; i < sizeof builds / sizeof builds[0]; i++)
		if (strcmp(text + digits, builds[i]) == 0)
			return digits > 0 || i == 0;
	return false;
}

/* Is it one of blank-separated names? */
static bool is_named(const char *names, const char *name)
{
	for (size_t bytes; *names; names += bytes + (names[bytes] != '\0')) {
		bytes = strcspn(names, " ");
		if (strncmp(name, names, bytes) == 0 && is_version(name + bytes))
			return true;
	}
	return false;
}

static const struct interpreter *find_interpreter(const char *name)
{
	for (size_t i = 0; i < sizeof interpreters / sizeof interpreters[0]; i++)
		if (is_named(interpreters[i].names, name))
			return &interpreters[i];
	return NULL;
}

/* Words of a command line. */
struct words {
	const char *at, *end;
	bool cut;
};

/* NULL: no more, or one that may be cut. */
static const char *next_word(struct words *words)
{
	const char *word = words->at;

	if (!word || word >= words->end)
		return NULL;
	words->at += strnlen(word, (size_t)(words->end - word)) + 1;
	return words->cut && words->at >= words->end ? NULL : word;
}

static struct model_script found(enum script_kind kind, const char *name)
{
	/* A line needs no name, all others are nothing without it; "-" is the standard input. */
	if (kind != SCRIPT_LINE && (!name || *name == '\0' || strcmp(name, "-") == 0))
		kind = SCRIPT_NONE;
	return (struct model_script){ .kind = kind,
				      .name = kind == SCRIPT_FILE || kind == SCRIPT_MODULE ? name : NULL };
}

/* True: that is all, *ret says what. */
static bool long_option(const char *longs, const char *option, struct words *words, struct model_script *ret)
{
	size_t bytes = strcspn(option, "=");
	const char *value = option[bytes] ? option + bytes + 1 : NULL;

	*ret = (struct model_script){ .kind = SCRIPT_NONE };
	for (size_t length; longs && *longs; longs += length + (longs[length] != '\0')) {
		size_t name = strcspn(longs, " *=<!");

		length = strcspn(longs, " ");
		if (strncmp(longs, option, name) != 0 || (bytes != name && longs[name] != '*'))
			continue;
		if (longs[name] == '!')
			*ret = found(SCRIPT_LINE, NULL);
		else if (longs[name] == '<')
			*ret = found(SCRIPT_FILE, value ? value : next_word(words));
		if (longs[name] == '!' || longs[name] == '<')
			return true;
		return longs[name] == '=' && !value && !next_word(words);
	}
	return !value;
}

static bool has(const char *letters, char letter)
{
	return letters && strchr(letters, letter);
}

/* The same of a word of letters. */
static bool short_options(const struct interpreter *interpreter, const char *at, struct words *words,
			  struct model_script *ret)
{
	*ret = (struct model_script){ .kind = SCRIPT_NONE };
	for (; *at; at++) {
		const char *value = at[1] ? at + 1 : NULL;

		if (has(interpreter->code, *at)) {
			*ret = found(SCRIPT_LINE, NULL);
			return true;
		}
		if (has(interpreter->file, *at) || has(interpreter->module, *at)) {
			*ret = found(has(interpreter->file, *at) ? SCRIPT_FILE : SCRIPT_MODULE,
				     value ? value : next_word(words));
			return true;
		}
		if (has(interpreter->value, *at))
			return !value && !next_word(words);
		if (has(interpreter->next, *at))
			return value || !next_word(words);
		if (has(interpreter->rest, *at))
			return false;
		if (has(interpreter->number, *at))
			at += strspn(at + 1, "0123456789");
		else if (interpreter->flags ? !has(interpreter->flags, *at) : *at == 's')
			return true;
	}
	return false;
}

static struct model_script read_words(const struct interpreter *interpreter, struct words *words)
{
	struct model_script script;
	const char *word;

	while ((word = next_word(words))) {
		bool plus = interpreter->shell && word[0] == '+';

		if (strcmp(word, "--") == 0)
			return found(interpreter->operand, next_word(words));
		if ((word[0] != '-' && !plus) || word[1] == '\0')
			return found(interpreter->operand, word);
		if (word[1] == '-' ? long_option(interpreter->longs, word + 2, words, &script)
				   : short_options(interpreter, word + 1, words, &script))
			return script;
	}
	return (struct model_script){ .kind = SCRIPT_NONE };
}

struct model_script script_find(const char *exe, const char *argv, size_t bytes, bool cut)
{
	struct words words = { .at = argv, .end = argv ? argv + bytes : NULL, .cut = cut };
	const char *first = next_word(&words), *name = base_name(exe);
	const struct interpreter *interpreter;
	struct model_script script;

	/* It is what it is called as. */
	if (strcmp(name, "busybox") == 0 && first) {
		name = base_name(first);
		if (strcmp(name, "busybox") == 0 && !(name = next_word(&words)))
			name = "";
	}
	interpreter = find_interpreter(name);
	if (!interpreter)
		return (struct model_script){ .kind = SCRIPT_NONE };
	script = read_words(interpreter, &words);
	script.shell = interpreter->shell;
	script.starts = interpreter->starts;
	return script;
}

struct model_script model_script_of(const struct model_process *process)
{
	struct model_script script;

	if (process->folded)
		return (struct model_script){ .kind = SCRIPT_NONE };
	script = script_find(process->exe->path, process->argv, process->argv_bytes, process->argv_cut);
	if (process->script && (script.kind == SCRIPT_NONE || script.kind == SCRIPT_FILE)) {
		script.kind = SCRIPT_FILE;
		script.name = process->script;
	}
	return script;
}
