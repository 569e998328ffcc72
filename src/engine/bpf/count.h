/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of counting share: count-load.c brings the programs in and
 * takes the one that times out and in again; count-begin.c says whose calls
 * are counted; count-names.c names groups; count.c is the frame, and decides
 * what may be timed.  count.bpf.c is the other side.
 */
#ifndef SYSCULL_ENGINE_BPF_COUNT_H
#define SYSCULL_ENGINE_BPF_COUNT_H

#include "base/map.h"
#include "engine/bpf/bpf.h"
#include "engine/bpf/count-shared.h"
#include "engine/count.h"

struct count_bpf;

struct count_names {
	struct map cgroups; /* id → char * */
	char **exes; /* by place; NULL not made yet */
	int cgroup_fd; /* of the file system; -1 */
	char cgroup_root[PROC_PATH_MAX];
	uint64_t looked_ns; /* for names of cgroups, last */
};

struct counting {
	struct counting_spec spec;
	struct count_bpf *skel;
	struct count_live *live;
	struct count_books *books; /* one for each CPU */
	struct count_row *rows;
	const struct count_group *groups;
	const struct count_exe *exes;
	size_t books_bytes, rows_bytes, groups_bytes, exes_bytes;
	uint32_t cpus, row_room, group_room, exe_room;
	struct count_names names;
	int exit_fd; /* the program at the exit of calls is attached by it */
	bool attached, timing, ended, letting_go;
	pid_t root;
	int root_fd;
	bool root_ended;
	struct engine_exit exit;
	uint64_t begin_ns, end_ns;
	uint64_t first_tasks, first_processes; /* that we began with */
	uint64_t misses; /* of the timing program as well, when it is taken out */
	/* What may be timed. */
	bool untimed; /* for good */
	uint64_t untimed_ns, let_go_ns;
	uint64_t looked_ns, looked_calls, looked_others;
	unsigned window; /* number of it; timed is one of several when there are many calls */
	unsigned over; /* windows in which it cost too much, one behind the other */
	double cost_ns, timed_ns, other_ns; /* of a call that is counted; what timing adds; of one that is not */
	char note[200];
	bool noted;
};

/* Are tasks counted that nobody has named? */
static inline bool is_wide(const struct counting *c)
{
	return c->spec.system || c->spec.cgroup;
}

/* count-load.c */
int count_load(struct counting *c, struct error *err);
void count_unload(struct counting *c);
int count_attach(struct counting *c, struct error *err);
void count_detach(struct counting *c);
int count_time(struct counting *c, bool on);
int count_arm(struct counting *c, pid_t tid, pid_t pid, uint32_t flags);
uint64_t count_misses(const struct counting *c);
int count_errors_fd(const struct counting *c);

/* count-begin.c */
int count_begin(struct counting *c, struct error *err);

/* count-names.c */
int count_names_init(struct counting *c);
void count_names_done(struct counting *c);
/* Looks at the cgroups that there are, when there is one without a name. */
void count_names_look(struct counting *c);
/* Where cgroups v2 are; negative errno. */
int count_cgroup_root(char ret_path[static PROC_PATH_MAX]);

#endif
