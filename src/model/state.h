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

/* Messages with descriptors under way that the model follows. */
#define MODEL_MESSAGES_MAX 16
/* Descriptors of one message; of longer ones all are unknown. */
#define MODEL_RIGHTS_MAX 16

struct file {
	struct model_file pub; /* first */
	uint32_t refs;
	uint32_t physical; /* leading bytes of the path that hold no links */
	uint32_t solid; /* behind so many bytes no part of the path is a link either */
	int64_t position; /* after the last call, -1 unknown */
	uint64_t moved_ns; /* when the last call that moved it, or told it, was over; of a socket, that received */
	uint32_t lost; /* model.lost when the position was known last */
	uint8_t phase; /* enum model_phase: what a call on it is part of, by its path */
	bool placeless; /* has no position, or one that cannot be followed */
	bool flags_known; /* open_flags are what they are */
	bool outside; /* somebody whom we do not see may have it */
	uint32_t user; /* the pid that moved or asked its position last; 0 none */
	uint32_t mover; /* the tid of the last call that moved it or told it */
	uint64_t name; /* hash of the path that it was given since it was opened; 0 none */
	/* Sockets: */
	uint64_t sent_ns, plain_ns; /* when the last call was over that sent descriptors, that read without them */
	uint64_t peer_id; /* the other end of a socketpair; 0 unknown, or messages cannot be told apart any more */
	struct file *peer; /* NULL when it is gone */
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
	bool spread; /* more than one process has the table */
	bool untold; /* io_uring moves positions without calls */
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

/* Sorted by address; shared after fork until one side changes it. */
struct model_maps {
	uint64_t stamp; /* another one after each change, in all lists */
	uint32_t refs;
	uint32_t used, room;
	struct model_map *at;
};

struct mm {
	uint32_t refs;
	uint32_t last; /* where the last look-up hit */
	struct model_maps *list; /* NULL empty */
};

/* Calls come from the same few places again and again: the number that was given to one. */
#define MODEL_SITE_MEMOS 512
struct site_memo {
	uint64_t maps; /* stamp of the mappings; 0 none */
	uint64_t ip, word, code;
	uint32_t number;
};

struct mount {
	struct model_mount pub; /* first */
	uint32_t point_bytes; /* 0 for "/" */
};

/* Paths that begin with this lie on that mount: no mount point does.  Longer ones are not kept. */
#define MODEL_AREA_BYTES 120
struct area {
	const struct mount *mount;
	uint32_t bytes; /* 0: none */
	char text[MODEL_AREA_BYTES];
};

/* The mounts of one namespace, longest mount point first. */
#define MODEL_AREAS 4
struct mounts {
	uint32_t refs;
	uint64_t ns_ino; /* 0 unknown */
	char *root; /* the root of the task that told them: points are relative to it */
	VEC(const struct mount *) list;
	struct area areas[MODEL_AREAS]; /* found last */
	uint32_t next_area;
};

struct proc;

struct image {
	struct model_process pub; /* first */
	struct proc *proc; /* NULL when ended or folded */
	uint64_t loader_base; /* where the kernel put it */
	bool fresh; /* a launched task before its first exec */
	bool guessed; /* only known by its calls */
	bool script_known; /* the following were looked for */
	const char *script; /* base name of the file that an interpreter has still to open; NULL none */
	const char *naming; /* the same as passed, until its path was seen; NULL none */
	bool searches; /* for it, in PATH */
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
	uint64_t slept; /* changes.now when a child ended that had slept */
	bool sleeps; /* a task of it did, or such a child */
};

struct task {
	uint32_t tid;
	struct proc *proc; /* never NULL */
	struct table *table;
	struct dirs *dirs;
	uint64_t mask, mask_was; /* blocked signals now, and before the call of mask_call */
	uint64_t mask_call; /* changes.now of the last call that told of them; 0 none */
	uint32_t mask_lost; /* model.lost when they were known last */
	bool mask_known, mask_was_known;
	uint64_t slept; /* changes.now of its last call that let time pass on purpose; 0 none */
};

/* A directory that paths are relative to; longer ones are not kept. */
#define MODEL_BASE_BYTES 480
#define MODEL_BASES 4
struct base {
	uint32_t bytes; /* 0: none */
	uint8_t phase; /* enum model_phase */
	struct map_prefix hash;
	char text[MODEL_BASE_BYTES];
};

struct resolved {
	struct model_path pub; /* first */
	uint32_t physical, solid; /* as of a file */
	uint32_t before; /* what solid is when the last part is known to be no link */
	uint32_t base_bytes; /* of text, its directory as it was given; 0 none, or some of it was walked back */
	const struct base *base; /* the same, when base_bytes is not 0 */
	const struct base *standing; /* that text still begins with */
	struct base bases[MODEL_BASES]; /* of late */
	uint32_t next_base;
	char text[MODEL_PATH_MAX];
	char passed[4096];
};

/* Which arguments of a call are what; -1 none. */
struct call_shape {
	int8_t path, dirfd, path2, dirfd2, fd, fd2;
	bool on_error; /* the effect wants failed calls too */
	uint8_t changes; /* changes.c's own: what it may change */
	uint8_t row; /* of effect-fd.c's list of makers */
	uint8_t moves; /* position.c's own: how it moves positions */
	uint8_t sleeps; /* sleep.c's own: how it lets time pass */
	int (*effect)(struct model *model, struct task *task, const struct event_call *call, struct model_view *view);
};

/* A message with descriptors that was sent and not yet received, or, when
 * `early`, one whose receiver came first. */
struct message {
	uint64_t from; /* id of the socket */
	uint32_t count;
	bool early;
	uint8_t end; /* rights.c's own: what the socket is */
	struct file *files[MODEL_RIGHTS_MAX]; /* NULL: unknown */
};

/* In the order of sending. */
struct messages {
	uint32_t used; /* of `at`: those on socketpairs */
	struct message at[MODEL_MESSAGES_MAX];
	/* On other sockets one message at a time, as nobody knows who is at the other end. */
	struct message loose;
	uint64_t loose_early_ns; /* end of the last receipt of which nothing was known */
	bool loose_used, loose_lost;
};

/* Numbers of calls, by the hash of the object. */
#define MODEL_CHANGES 8192
#define MODEL_LINKS_MAX 4096 /* names of files that were given a second one; with more any file may have any */
struct changes {
	uint64_t now;
	uint64_t all; /* anything may have changed then */
	uint64_t object[MODEL_CHANGES];
	uint64_t below[MODEL_CHANGES]; /* directories: all that lies in them */
	uint64_t below_any; /* the last of those */
	struct map links; /* hash of a name → of the file that has several; see MODEL_LINKS_MAX */
	bool links_full;
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

	uint32_t lost; /* grows when calls may have been missed */
	bool taken; /* pidfd_getfd was seen: anybody may have anything */
	struct messages messages;
	struct changes changes;
	uint64_t map_stamp; /* the last one given */
	struct site_memo site_memo[MODEL_SITE_MEMOS];
	VEC(struct model_site) sites;
	struct map site_by_hash; /* → its number */
	struct call_shape shapes[CALL_COUNT];
	struct model_view no_view; /* of no call, and of the process that stands for strangers */
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
int file_take_path(struct file *file, const struct resolved *path);
void file_unref(struct model *model, struct file *file);
void files_bury(struct model *model);

/* table.c */
struct table *table_new(void);
/* spread: for another process. */
struct table *table_copy(struct model *model, const struct table *from, bool spread);
/* Somebody whom we do not see has what is in it, now or, with `for_good`, also later. */
void table_outside(struct table *table, bool for_good);
/* Positions of what is in it, now and later, cannot be followed. */
void table_untold(struct table *table);
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
/* What is open by a name that was `from`, or is below it, has another one now. */
void table_renamed(const struct table *table, const struct model_path *from, const struct model_path *to);

/* position.c: where files stand */
#define MESSAGE_PEEK 2u
void positions_init(struct model *model);
void positions_feed(struct model *model, struct task *task, const struct event_call *call, struct model_view *view,
		    uint32_t moves);
/* Of a new file; -1: it has none. */
void position_start(struct model *model, struct file *file, int64_t position);
void position_tell(struct model *model, struct file *file, int64_t position, uint64_t now_ns);
void file_set_mode(struct file *file, uint32_t mode);
void file_outside(struct file *file);
void file_untold(struct file *file);
/* pidfd_getfd */
void files_taken(struct model *model);

/* The file as a view shows it. */
static inline struct model_file *file_view(const struct model *model, struct file *file)
{
	file->pub.offset = file->lost == model->lost ? file->position : -1;
	file->pub.offset_tid = file->mover;
	return &file->pub;
}

/* rights.c: descriptors on their way through sockets */
void rights_sent(struct model *model, struct task *task, const struct event_call *call, const struct model_view *view);
/* The message that came in through a socket, NULL unknown.  Its files stay
 * its own; rights_taken ends it, unless it was only looked at. */
const struct message *rights_received(struct model *model, struct file *socket, const struct event_call *call,
				      uint32_t count, bool peek);
void rights_taken(struct model *model, const struct message *message);
/* Data was read in a way that loses descriptors, if there were any. */
void rights_plain(struct model *model, struct file *socket, const struct event_call *call);
/* Nothing more can be told about this pair. */
void rights_lost(struct model *model, struct file *socket);
void rights_bury(struct model *model, struct file *socket);
void rights_done(struct model *model);

/* sigmask.c */
void effects_sigmask(struct call_shape *shapes);
void sigmask_tell(const struct model *model, struct task *task, uint64_t mask);
void sigmask_forget(struct task *task);
void sigmask_inherit(struct task *to, const struct task *from);

/* path.c */
struct dirs *dirs_new(void);
struct dirs *dirs_copy(const struct dirs *from);
void dirs_unref(struct dirs *dirs);
int dirs_set_cwd(struct dirs *dirs, const char *path, size_t bytes, uint32_t physical);
int dirs_set_root(struct dirs *dirs, const char *path, size_t bytes);
/* base: the directory of a relative path, NULL unknown. */
void path_resolve(struct resolved *out, const struct dirs *dirs, const char *base, uint32_t base_physical,
		  uint32_t base_solid, const char *text, size_t bytes, bool truncated);
/* The text as the program passed it, when another one was resolved. */
void path_set_passed(struct resolved *out, const char *text, size_t bytes);
int dirs_feed(struct model *model, struct task *task, const struct event_dirs *event);

/* model.c: of the process now, NULL unknown */
struct mm *model_mm(struct model *model, const struct model_process *process);

/* sites.c */
void sites_done(struct model *model);

/* maps.c */
struct mm *mm_new(void);
struct mm *mm_fork(struct mm *from);
void mm_unref(struct mm *mm);
/* Of `what` the end is not read. */
int mm_add(struct model *model, struct mm *mm, const struct model_map *what, uint64_t bytes);
int mm_remove(struct model *model, struct mm *mm, uint64_t start, uint64_t bytes);
int mm_move(struct model *model, struct mm *mm, const struct event_call *call);

/* mounts.c */
struct mounts *mounts_copy(const struct mounts *from);
void mounts_unref(struct model *model, struct mounts *mounts);
int mounts_feed(struct model *model, struct task *task, const struct event_mounts *event);
const struct mount *mounts_find(struct mounts *mounts, const char *path);
void mounts_done(struct model *model);

/* changes.c */
void changes_init(struct model *model);
void changes_feed(struct model *model, const struct event_call *call, struct model_view *view, uint32_t what);

void changes_done(struct model *model);

/* sleep.c */
void sleeps_init(struct model *model);
void sleeps_feed(struct model *model, struct task *task, const struct model_view *view, uint32_t sleeps);
/* A process has ended. */
void sleeps_end(struct model *model, const struct proc *proc, uint32_t ppid);

/* startup.c: the loader's part of an image */
void startup_begin(struct image *image, const struct event_exec *event);
void startup_feed(struct model *model, const struct event_call *call, struct model_view *view);
/* By a whole resolved path alone: of its work, a library or a locale.  The first `plain` bytes are of its work. */
enum model_phase startup_path_phase(const char *path, size_t bytes, size_t plain);
/* Once paths and files of the view are known: what else the call is part of. */
enum model_phase startup_phase(struct model *model, const struct event_call *call, const struct model_view *view);

/* call.c, effect-*.c */
void shapes_init(struct model *model);
int call_feed(struct model *model, struct task *task, const struct event_call *call, struct model_view *view);
int task_unshare_files(struct model *model, struct task *task);
int fd_feed(struct model *model, struct task *task, const struct event_fd *event);
void effects_fd(struct call_shape *shapes);
void effects_task(struct call_shape *shapes);
void effects_memory(struct call_shape *shapes);

#endif
