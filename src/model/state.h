/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of the model, shared by its files and by nobody else.  A NULL
 * table, dirs, mm or mounts means "nothing known": whatever could not be had,
 * for want of memory or of a record, ends up like that and never as a guess.
 */
#ifndef SYSCULL_MODEL_STATE_H
#define SYSCULL_MODEL_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "model/model.h"

/* A resolved path; longer ones stay unknown. */
#define MODEL_PATH_MAX 8192
/* Ended instances that one table remembers for calls still under way. */
#define MODEL_ENDED_MAX 32
/* Descriptors below this lie in an array, the others in a map. */
#define MODEL_NEAR_FDS 1024

struct file {
	struct model_file pub; /* first */
	uint32_t refs;
	uint32_t physical; /* leading bytes of the path that hold no links */
	struct file *next; /* in model.graves */
};

struct slot {
	struct file *file; /* NULL: unknown or closed */
	uint64_t ret_ns; /* when the call that made it returned */
	bool cloexec;
};

struct ended {
	struct file *file;
	uint64_t ret_ns, end_ns;
	uint32_t fd;
};

/* Descriptors as one or several tasks share them. */
struct table {
	uint32_t refs;
	uint32_t room; /* of `near` */
	uint32_t live; /* slots with a file */
	uint32_t ended_at; /* ring position */
	struct slot *near;
	struct map far;
	struct ended *ended; /* MODEL_ENDED_MAX, made when first needed */
	uint64_t last_end_ns; /* no ended instance was alive later */
};

/* Working directory and root, shared with CLONE_FS. */
struct dirs {
	uint32_t refs;
	uint32_t cwd_physical;
	char *cwd; /* NULL unknown */
	char *root; /* "" is the top; NULL unknown */
};

struct mapping {
	uint64_t start, end, offset;
	const char *module;
};

/* Sorted by address; shared after fork until one side changes it. */
struct map_list {
	uint32_t refs;
	uint32_t used, room;
	struct mapping *at;
};

struct mm {
	uint32_t refs;
	uint32_t last; /* where the last look-up hit */
	struct map_list *list; /* NULL empty */
};

struct mount {
	struct model_mount pub; /* first */
	uint32_t point_bytes; /* 0 for "/" */
};

/* The mounts of one namespace, longest mount point first. */
struct mounts {
	uint32_t refs;
	uint64_t ns_ino; /* 0 unknown */
	char *root; /* the root of the task that told them: points are relative to it */
	VEC(const struct mount *) list;
};

struct proc;

struct image {
	struct model_process pub; /* first */
	struct proc *proc; /* NULL when ended or folded */
	const char *env;
	size_t env_bytes;
	uint64_t loader_base; /* where the kernel put it */
	bool fresh; /* a launched task before its first exec */
	bool guessed; /* only known by its calls */
};

struct exe {
	struct model_exe pub; /* first */
	struct image *folded; /* stands for all further runs */
};

struct proc {
	uint32_t pid;
	uint32_t tasks;
	struct image *image; /* never NULL */
	struct mm *mm;
	struct mounts *mounts;
};

struct task {
	uint32_t tid;
	struct proc *proc; /* never NULL */
	struct table *table;
	struct dirs *dirs;
};

struct resolved {
	struct model_path pub; /* first */
	uint32_t physical;
	char text[MODEL_PATH_MAX];
	char passed[4096];
};

/* Which arguments of a call are what; -1 none. */
struct call_shape {
	int8_t path, dirfd, path2, dirfd2, fd, fd2;
	bool on_error; /* the effect wants failed calls too */
	uint8_t changes; /* changes.c's own: what it may change */
	uint8_t row; /* of effect-fd.c's list of makers */
	int (*effect)(struct model *model, struct task *task, const struct event_call *call, struct model_view *view);
};

/* Numbers of calls, by the hash of the object. */
#define MODEL_CHANGES 8192
struct changes {
	uint64_t now;
	uint64_t all; /* anything may have changed then */
	uint64_t object[MODEL_CHANGES];
	uint64_t below[MODEL_CHANGES]; /* directories: all that lies in them */
};

struct model {
	struct model_limits limits;
	struct map tasks; /* tid → struct task * */
	struct map procs; /* pid → struct proc * */
	struct task *last; /* whose record came last */
	struct task stranger; /* stands for tasks beyond the limit */
	struct proc stranger_proc;
	struct image stranger_image;
	bool stranger_listed;

	VEC(struct image *) images;
	VEC(struct exe *) exes;
	struct map exe_by_hash; /* → struct exe * */
	struct exe unknown_exe, other_exe;
	bool other_listed, unknown_listed;

	struct map texts; /* hash → struct kept_text * */
	struct map mount_by_hash; /* → struct mount * */
	struct mounts *default_mounts; /* of tasks that nobody told of */
	VEC(struct mounts *) namespaces; /* with a known ns_ino; not counted in refs */

	struct file *graves; /* freed with the next record */
	uint64_t next_file_id, next_image_id;
	struct model_stats stats;

	struct changes changes;
	struct call_shape shapes[CALL_COUNT];
	struct resolved paths[2];
};

static inline uint64_t call_end(const struct event_call *call)
{
	uint64_t end = call->head.time_ns + call->duration_ns;

	return end >= call->head.time_ns ? end : UINT64_MAX;
}

/* model.c */
int model_lose(struct model *model, const char *limit); /* 0 */
int model_no_memory(struct model *model); /* -ENOMEM */

/* texts.c: what lives as long as the model */
const char *text_keep(struct model *model, const char *data, size_t bytes);
void texts_done(struct model *model);

/* image.c */
struct exe *exe_get(struct model *model, const char *path, size_t bytes);
struct image *image_new(struct model *model, struct exe *exe, uint32_t pid, uint32_t ppid, uint64_t now_ns);
void image_end(struct image *image, uint64_t now_ns, uint32_t how, uint32_t status);
void image_tell(struct model *model, struct image *image, const struct event_head *head, bool exec);
void image_inherit(struct image *to, const struct image *from);
int images_init(struct model *model);
void images_done(struct model *model);

/* task.c */
struct task *task_of(struct model *model, const struct event_head *head, int *ret_error);
int task_start(struct model *model, const struct event_task *event, struct model_view *view);
int task_fork(struct model *model, const struct event_fork *event, struct model_view *view);
int task_exec(struct model *model, const struct event_exec *event, struct model_view *view);
int task_exit(struct model *model, const struct event_exit *event, struct model_view *view);
void tasks_done(struct model *model);

/* file.c */
struct file *file_new(struct model *model, enum sys_call_id made_by, uint64_t now_ns);
int file_set_path(struct file *file, const char *path, size_t bytes, uint32_t physical);
void file_unref(struct model *model, struct file *file);
void files_bury(struct model *model);

/* table.c */
struct table *table_new(void);
struct table *table_copy(struct model *model, const struct table *from);
void table_unref(struct model *model, struct table *table);
struct slot *table_slot(const struct table *table, uint32_t fd);
struct file *table_lookup(const struct table *table, int64_t fd, uint64_t enter_ns);
/* Takes over one reference of the file, also when it fails. */
int table_install(struct model *model, struct table *table, uint32_t fd, struct file *file, uint64_t ret_ns,
		  bool cloexec);
/* Ends what the fd meant for a call entered then; what came later stays. */
void table_close(struct model *model, struct table *table, uint32_t fd, uint64_t enter_ns, uint64_t end_ns);
void table_close_range(struct model *model, struct table *table, uint32_t first, uint32_t last, bool cloexec_only,
		       uint64_t enter_ns, uint64_t end_ns);
void table_exec(struct model *model, struct table *table, uint64_t now_ns);
void table_forget(struct model *model, struct table *table);

/* path.c */
struct dirs *dirs_new(void);
struct dirs *dirs_copy(const struct dirs *from);
void dirs_unref(struct dirs *dirs);
int dirs_set_cwd(struct dirs *dirs, const char *path, size_t bytes, uint32_t physical);
int dirs_set_root(struct dirs *dirs, const char *path, size_t bytes);
/* base: the directory of a relative path, NULL unknown. */
void path_resolve(struct resolved *out, const struct dirs *dirs, const char *base, uint32_t base_physical,
		  const char *text, size_t bytes, bool truncated);
/* The text as the program passed it, when another one was resolved. */
void path_set_passed(struct resolved *out, const char *text, size_t bytes);
int dirs_feed(struct model *model, struct task *task, const struct event_dirs *event);

/* maps.c */
struct mm *mm_new(void);
struct mm *mm_fork(struct mm *from);
void mm_unref(struct mm *mm);
int mm_add(struct model *model, struct mm *mm, uint64_t start, uint64_t bytes, uint64_t offset, const char *module);
int mm_remove(struct model *model, struct mm *mm, uint64_t start, uint64_t bytes);
int mm_move(struct model *model, struct mm *mm, const struct event_call *call);

/* mounts.c */
struct mounts *mounts_copy(const struct mounts *from);
void mounts_unref(struct model *model, struct mounts *mounts);
int mounts_feed(struct model *model, struct task *task, const struct event_mounts *event);
const struct mount *mounts_find(const struct mounts *mounts, const char *path);
void mounts_done(struct model *model);

/* changes.c */
void changes_init(struct model *model);
void changes_feed(struct model *model, const struct event_call *call, struct model_view *view, uint32_t what);

/* startup.c: the loader's part of an image */
void startup_begin(struct image *image, const struct event_exec *event);
void startup_feed(struct model *model, const struct event_call *call, struct model_view *view);

/* call.c, effect-*.c */
void shapes_init(struct model *model);
int call_feed(struct model *model, struct task *task, const struct event_call *call, struct model_view *view);
int task_unshare_files(struct model *model, struct task *task);
int fd_feed(struct model *model, struct task *task, const struct event_fd *event);
void effects_fd(struct call_shape *shapes);
void effects_task(struct call_shape *shapes);
void effects_memory(struct call_shape *shapes);

#endif
