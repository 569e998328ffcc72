/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the traced tree knows: its processes, descriptors, directories,
 * mounts and mappings, kept from records alone.  The model never opens /proc
 * and never asks the kernel: a script, a trace file and a live run are the
 * same thing to it.  Rules look at it through struct model_view, which is
 * made afresh for each call.
 */
#ifndef SYSCULL_MODEL_MODEL_H
#define SYSCULL_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct model;

/* Evidence that the model itself lives on, beside what rules ask for.  RIGHTS
 * come with MSG alone, whose flags tell too whether descriptors were cut off. */
#define MODEL_ITEMS \
	(SYS_ITEM_BIT(PATH) | SYS_ITEM_BIT(STAT) | SYS_ITEM_BIT(FDPAIR) | SYS_ITEM_BIT(RIGHTS) | SYS_ITEM_BIT(MSG) | \
	 SYS_ITEM_BIT(OPEN_HOW) | SYS_ITEM_BIT(CLONE) | SYS_ITEM_BIT(PIDFD) | SYS_ITEM_BIT(CWD) | \
	 SYS_ITEM_BIT(RLIMIT))

/* A program file; lives as long as the model.  Processes share it. */
struct model_exe {
	char *path; /* "?" when unknown */
	uint32_t id; /* 0, 1, 2, … */
	uint64_t execs; /* how often it was started under our eyes */
};

/* One mount point as one mountinfo line tells it. */
struct model_mount {
	uint64_t dev; /* makedev(3) */
	char *point; /* mount point, octal escapes decoded */
	char *type; /* "ext4" */
	char *source; /* "/dev/vda", "proc" */
};

/*
 * One run of one program by one process: from exec (or fork, or our coming)
 * to the next exec or the end.  `id` is never reused, the pid is.
 */
struct model_process {
	uint64_t id;
	uint32_t pid, ppid;
	struct model_exe *exe; /* never NULL */
	const char *argv; /* NUL-separated, as long as argv_bytes; may be NULL */
	size_t argv_bytes;
	bool argv_cut; /* words, or ends of words, are missing */
	const char *script; /* path of the file that it runs, where it was seen to; for model_script_of() */
	const char *env; /* as argv; for model_getenv() */
	size_t env_bytes;
	bool env_known; /* was the environment seen at all? */
	const char *tz; /* TZ of the environment; NULL: unset, or not known */
	bool execed; /* this image began with an exec that we saw */
	bool forked; /* or with a fork that we saw */
	bool ended;
	uint64_t start_ns, end_ns;
	uint64_t calls; /* fed so far */
	uint32_t exit_how, exit_status; /* struct event_exit, when ended */
	uint64_t changed; /* model_now when it began, or changed its directory or ids last */
	bool starting; /* the dynamic loader is still at work */
	uint64_t startup_calls; /* made by it */
	bool folded; /* stands for several runs: there were more than the model keeps; pid is 0 */
	bool ids_known; /* false again after a set*id call */
	uint32_t ruid, euid, suid, fsuid;
	uint32_t rgid, egid, sgid, fsgid;
	bool nofile_known;
	bool nofile_asked; /* this program asked for the limit, or its parent did before the fork */
	bool nofile_watched; /* and if it had, that would have been seen: from its exec on, or its parent's */
	uint64_t nofile_soft, nofile_hard; /* UINT64_MAX is no limit */
};

/* From open to close, followed through dup, fork and exec: all its
 * descriptors share it.  Valid until the next record. */
struct model_file {
	uint64_t id; /* never reused */
	char *path; /* resolved, or what /proc showed ("pipe:[7]"); NULL unknown or without a name */
	uint64_t path_hash;
	uint64_t dev, ino; /* 0 unknown */
	uint32_t mode; /* st_mode, 0 unknown */
	uint32_t open_flags; /* O_… */
	enum sys_call_id made_by; /* CALL_unknown: was there before us */
	uint64_t opened_ns;
	int64_t offset; /* before the call; -1 unknown, or there is none */
	bool offset_shared; /* another process may have it too, and may move it */
	bool offset_used; /* more than one process was seen to move or to ask it */
	uint32_t offset_tid; /* the thread whose call moved it or told it last; 0 unknown */
};

/* A path resolved against cwd or dirfd, lexically ("." and "//" removed,
 * ".." kept when it follows a component that may be a link). Valid for the
 * duration of the call. */
struct model_path {
	const char *text;
	uint32_t bytes;
	uint32_t components; /* of the path as passed: what the kernel walked */
	uint64_t hash; /* of text; equal paths have equal hashes */
	bool absolute; /* false: the directory is unknown, text is as passed */
	const char *passed; /* as the program wrote it, with a NUL added */
	uint32_t passed_bytes;
};

/* What a call is part of when a program starts; most are of its own work. */
enum model_phase {
	MODEL_PHASE_WORK,
	MODEL_PHASE_EXEC, /* the exec that began it */
	MODEL_PHASE_LOADER, /* while process->starting */
	MODEL_PHASE_LIBRARY, /* what a library looks up when it is loaded: told by known files */
	MODEL_PHASE_LOCALE, /* files of locales and messages */
	MODEL_PHASE_INTERPRETER, /* of a script: until it is opened */
	MODEL_PHASES
};

struct model_view {
	const struct event_call *call;
	enum sys_call_id id;
	enum model_phase phase;
	int err; /* event_call_errno */
	struct model_process *process; /* never NULL */
	const struct model_path *path; /* first path argument, or NULL (also when the call means a descriptor: "" or
					* a null pointer; a link's target is no path) */
	const struct model_path *path2; /* second (rename, link), or NULL */
	const struct model_file *file; /* behind the first fd argument, as before the call; NULL unknown */
	const struct model_file *file2; /* behind the second: sendfile, splice, dup2, epoll_ctl */
	const struct model_file *made; /* the instance that this call made (dup makes none); NULL */
	const struct model_file *made2; /* pipe, socketpair: the second */
	/*
	 * When its task, or a child of its process that has ended, last let time pass on
	 * purpose: the number of that call, 0 never.  It slept, waited for a signal, a timer
	 * or a change of files, or waited in vain until the time was over.  What is asked
	 * after that is asked again on purpose.
	 */
	uint64_t slept;
	struct model_process *ended; /* the image that this record ended, NULL: set for any record */
};

/* What the model keeps at most; model_new takes the defaults. */
struct model_limits {
	uint32_t images; /* more are folded into one per program */
	uint32_t exes; /* more share one entry "(other programs)" */
	uint32_t tasks; /* alive at a time; more share one unknown process */
	uint32_t files; /* instances open at a time; more stay unknown */
	uint32_t fds; /* known descriptors of one table */
	uint32_t maps; /* file mappings of one address space */
	uint32_t mounts; /* of one mount namespace; and eight times so many different ones in all */
	uint32_t text_bytes; /* of arguments, environments, module and mount names, in all */
};

/* NULL with errno. */
struct model *model_new(void);
struct model *model_new_limited(const struct model_limits *limits);
void model_free(struct model *model);

/*
 * Takes one record.  For a call fills *ret_view (else view.call is NULL).
 * 0, or -ENOMEM: the record is then only partly known and model_stats.losses
 * grows.  The view's process is never NULL, whatever the record.
 */
int model_feed(struct model *model, const struct event_head *head, struct model_view *ret_view);

/* The process that a pid stands for now, NULL unknown. */
struct model_process *model_process(struct model *model, uint32_t pid);
/* All images of all processes in the order of their beginning; NULL ends. */
struct model_process *model_process_at(struct model *model, size_t n);
struct model_exe *model_exe_at(struct model *model, size_t n);

/* A variable of the process's environment among those that the engine was
 * asked for: its value, or NULL when it is unset (see env_known). */
const char *model_getenv(const struct model_process *process, const char *name);

/* The working directory of a process as far as known (that of its first
 * thread), NULL unknown; valid until the next record. */
const char *model_cwd(struct model *model, const struct model_process *process);

/* The mount that a resolved path lies on; NULL unknown.  Lives as long as
 * the model; equal mounts are the same pointer. */
const struct model_mount *model_mount_of(struct model *model, const struct model_process *process, const char *path);

/* What a descriptor stands for in the task that made this view's call, for calls that
 * name several (poll); as long as view->file.  NULL unknown. */
const struct model_file *model_fd(struct model *model, const struct model_view *view, int32_t fd);

/* The number of calls that were fed so far. */
uint64_t model_now(const struct model *model);

/*
 * The signals that the task blocks (bit N-1 is signal N) before and after its
 * call of this view.  Needs the item SIGSET, which a rule that asks declares.
 * A handler's own mask shows when the handler asks for the old one; behind
 * rt_sigreturn it is unknown until a call tells.
 */
struct model_sigmask {
	bool before_known, after_known;
	uint64_t before, after;
};
struct model_sigmask model_sigmask(const struct model *model, const struct model_view *view);

/*
 * The invalidation clock: the number of the last call in the tree that may
 * have changed what is answered about an object.  A question is new again
 * when this is above model_now at the time it was asked last.  The object is
 * a resolved path (NULL none) or what a descriptor stands for (NULL none):
 * written to, renamed, made, removed, its metadata set, the same done to a
 * directory above it, anything mounted, the process's own directory, root,
 * namespaces and ids.  What is done through another name of the same file counts
 * when that name was made or changed under our eyes.  May be too high, never too low for what calls show.
 */
uint64_t model_changed(struct model *model, const struct model_process *process, const char *path,
		       const struct model_file *file);

/* Where an instruction pointer lies: module path and offset in its file.
 * False when no mapping is known there. *ret_module lives as long as the
 * model. */
bool model_locate(struct model *model, const struct model_process *process, uint64_t ip, const char **ret_module,
		  uint64_t *ret_offset);

/* A file mapping. */
struct model_map {
	uint64_t start, end, offset; /* offset in the file */
	uint64_t dev, ino; /* 0 unknown */
	const char *module; /* path of the file, or what /proc shows; lives as long as the model */
};

/* The file mappings of a process as they are now, by address; later changes do
 * not show in it.  NULL: none are known.  The reference belongs to the caller;
 * unref takes NULL. */
struct model_maps;
struct model_maps *model_maps(struct model *model, const struct model_process *process);
void model_maps_unref(struct model_maps *maps);
const struct model_map *model_maps_at(const struct model_maps *maps, size_t n); /* NULL: no more */
const struct model_map *model_maps_find(const struct model_maps *maps, uint64_t address);

/*
 * Call sites by number: equal instructions of equal files with equal traces of
 * their callers on the stack (items CALLER; which of them is one is not known
 * here) are one site, in all processes.  0: not known, or there are too many.
 */
struct model_site {
	const char *module; /* NULL: no file is mapped there, offset is the address */
	uint64_t offset;
	const char *caller_module; /* where the word points; NULL: not into a file */
	uint64_t caller_offset;
	uint64_t code; /* of struct item_caller, 0 not known */
	const char *program; /* path of the one that made the first such call */
};
#define MODEL_SITES_MAX 65536
uint32_t model_site(struct model *model, const struct model_view *view);
/* Valid until the next new one; NULL for 0 and numbers that were not given. */
const struct model_site *model_site_at(const struct model *model, uint32_t site);
size_t model_site_count(const struct model *model);

struct model_stats {
	uint64_t processes; /* distinct pids seen, by fork or at start */
	uint64_t images; /* model_process entries */
	uint64_t tasks; /* threads and processes */
	uint64_t losses; /* things that could not be kept, limits reached */
	const char *limit; /* the first limit that was reached, NULL none */
	uint64_t files; /* open instances now */
	uint64_t text_bytes; /* kept texts now */
};
void model_stats(const struct model *model, struct model_stats *ret);

#endif
