/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with the descriptors it is to have.  The child shares the memory
 * of the parent, which waits for the exec: it may write only what is meant for
 * the parent, and must not run a handler of the parent's.
 *
 * With clone3(2) the child shares the table too, until close_range(2) gives it
 * one with only the descriptors up to the highest one it needs: what is above
 * is never copied, closed or looked at.  It must touch none before that.
 */
#include "syscull/spawn.h"
#include "fds-internal.h"
#include "spawn-clone.h"

#include <fcntl.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
#endif

#define CALL(run, ...) ((run)->calls++, KERNEL(__VA_ARGS__))

#define KNOWN_FLAGS (SYSCULL_SPAWN_PIDFD | SYSCULL_SPAWN_SETSID | SYSCULL_SPAWN_KEEP_MASK | SYSCULL_SPAWN_RESET_IGNORED)
#define SIGNALS 64
#define STACK_SIZE 28672
#define PATH_SIZE 4096

/* Bits of hints, beside those of fds. */
#define HINT_CLONE3 0x100U
#define HINT_TABLE 0x200U

/* The child could not have a table of its own: for the parent, never for the caller. */
#define STEP_TABLE 98U

struct spawn {
	const char *path;
	char *const *argv;
	char *const *envp;
	struct syscull_spawn_options options;
	struct fds_run run;
	uint64_t old_mask;
	int highest; /* of 2, what the map needs and what is kept */
	bool shares_table; /* the child's table is the parent's still */
	bool has_handlers; /* the child has the parent's handlers still */
	volatile int error;
	volatile uint32_t step;
};

/* The kernel's, on all machines that are known here: the handler comes first. */
struct action {
	uintptr_t handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void __attribute__((noreturn)) child_fails(struct spawn *spawn, uint32_t step, long error)
{
	spawn->error = (int)error;
	spawn->step = step;
	for (;;)
		(void)CALL(&spawn->run, SYS_exit_group, 127L);
}

static uint64_t set_of(const sigset_t *set)
{
	uint64_t first;

	memcpy(&first, set, sizeof first);
	return first;
}

static void child_signals(struct spawn *spawn)
{
	const struct syscull_spawn_options *options = &spawn->options;
	uint64_t reset = options->reset != NULL ? set_of(options->reset) : 0;

	if (options->flags & SYSCULL_SPAWN_RESET_IGNORED)
		reset = UINT64_MAX;
	for (int number = 1; number <= SIGNALS; number++) {
		struct action action = { 0, 0, NULL, 0 };
		bool wanted = (reset >> (number - 1) & 1) != 0;

		if (number == SIGKILL || number == SIGSTOP || (!wanted && !spawn->has_handlers))
			continue;
		if (!wanted) {
			if (CALL(&spawn->run, SYS_rt_sigaction, (long)number, NULL, &action, 8L) < 0 ||
			    action.handler == (uintptr_t)SIG_DFL || action.handler == (uintptr_t)SIG_IGN)
				continue;
			memset(&action, 0, sizeof action);
		}
		(void)CALL(&spawn->run, SYS_rt_sigaction, (long)number, &action, NULL, 8L);
	}
}

/*
 * Of the map's entries those first whose `to` nobody needs any more as a
 * `from`.  What is left then are rings: one number is saved, and the ring is
 * a row.  saved[] holds where a `from` is now.
 */
static long child_map(struct spawn *spawn, int *ret_highest)
{
	const struct syscull_spawn_map *map = spawn->options.map;
	const size_t count = spawn->options.map_count;
	uint16_t uses[SYSCULL_SPAWN_MAP_MAX], queue[SYSCULL_SPAWN_MAP_MAX];
	int now[SYSCULL_SPAWN_MAP_MAX];
	size_t head = 0, tail = 0, ring = 0;

	for (size_t i = 0; i < count; i++) {
		uses[i] = 0;
		now[i] = map[i].from;
		if (map[i].to > *ret_highest)
			*ret_highest = map[i].to;
		for (size_t j = 0; j < count; j++)
			uses[i] = (uint16_t)(uses[i] + (j != i && map[j].from == map[i].to));
		if (uses[i] == 0)
			queue[tail++] = (uint16_t)i;
	}
	for (;;) {
		while (head < tail) {
			size_t i = queue[head++];
			long result;

			if (now[i] == map[i].to) {
				result = CALL(&spawn->run, SYS_fcntl, (long)now[i], (long)F_SETFD, 0L);
			} else {
				result = CALL(&spawn->run, SYS_dup3, (long)now[i], (long)map[i].to, 0L);
			}
			if (result < 0)
				return result;
			for (size_t j = 0; j < count && now[i] == map[i].from; j++)
				if (j != i && map[j].to == map[i].from && uses[j] > 0 && --uses[j] == 0)
					queue[tail++] = (uint16_t)j;
		}
		while (ring < count && uses[ring] == 0)
			ring++;
		if (ring == count)
			return 0;
		/* Its `to` is what others of the ring still need: they get it from a copy. */
		{
			long copy = CALL(&spawn->run, SYS_fcntl, (long)map[ring].to, (long)F_DUPFD_CLOEXEC, 0L);

			if (copy < 0)
				return copy;
			for (size_t j = 0; j < count; j++)
				if (now[j] == map[ring].to)
					now[j] = (int)copy;
			uses[ring] = 0;
			queue[tail++] = (uint16_t)ring;
		}
	}
}

/* Makes the table the child's own; *ret_last is the highest number that may be in it. */
static void child_table(struct spawn *spawn, unsigned int *ret_last)
{
	*ret_last = UINT_MAX;
	if (!spawn->shares_table)
		return;
	if (syscull__fds_range(&spawn->run, (unsigned int)spawn->highest + 1, UINT_MAX, FDS_CLOSE, true) == 0) {
		*ret_last = (unsigned int)spawn->highest;
		return;
	}
	if (syscull__fds_unshare(&spawn->run) < 0)
		child_fails(spawn, STEP_TABLE, -EAGAIN);
}

static void child_descriptors(struct spawn *spawn)
{
	const struct syscull_spawn_options *options = &spawn->options;
	unsigned int last;
	int highest = spawn->highest;
	struct fds_keep keep;
	long result;

	child_table(spawn, &last);
	result = child_map(spawn, &highest);
	if (result < 0)
		child_fails(spawn, SYSCULL_SPAWN_STEP_MAP, result);
	if (last != UINT_MAX)
		last = (unsigned int)highest;
	if (last < 3)
		return;
	memset(keep.lists, 0, sizeof keep.lists);
	keep.lists[0].first = options->keep;
	keep.lists[0].count = options->keep_count;
	keep.lists[0].stride = 1;
	if (options->map_count > 0) {
		keep.lists[1].first = &options->map[0].to;
		keep.lists[1].count = options->map_count;
		keep.lists[1].stride = sizeof options->map[0] / sizeof(int);
	}
	result = syscull__fds_sweep(&spawn->run, 3, last, &keep, FDS_CLOEXEC);
	if (result < 0)
		child_fails(spawn, SYSCULL_SPAWN_STEP_CLOSE, result);
}

static void child_pid(struct spawn *spawn)
{
	char *text = spawn->options.pid_text;
	long pid = CALL(&spawn->run, SYS_getpid), tens = 1;

	while (pid / tens >= 10)
		tens *= 10;
	for (; tens > 0; tens /= 10)
		*text++ = (char)('0' + pid / tens % 10);
	*text = '\0';
}

static long child_exec_in(struct spawn *spawn, const char *folder, size_t length)
{
	char path[PATH_SIZE];
	size_t name = strlen(spawn->path);

	if (length + 1 + name + 1 > sizeof path)
		return -ENAMETOOLONG;
	memcpy(path, folder, length);
	if (length > 0)
		path[length++] = '/';
	memcpy(path + length, spawn->path, name + 1);
	return CALL(&spawn->run, SYS_execve, path, spawn->argv, spawn->envp);
}

/* As execvp(3): what is not there is looked for further on, a refusal remembered. */
static long child_exec(struct spawn *spawn)
{
	const char *folder = spawn->options.search;
	bool refused = false;

	if (folder == NULL || strchr(spawn->path, '/') != NULL)
		return CALL(&spawn->run, SYS_execve, spawn->path, spawn->argv, spawn->envp);
	for (;;) {
		size_t length = strcspn(folder, ":");
		long result = child_exec_in(spawn, folder, length);

		if (result == -EACCES)
			refused = true;
		else if (result != -ENOENT && result != -ENOTDIR && result != -ENAMETOOLONG && result != -ESTALE &&
			 result != -ENODEV && result != -ETIMEDOUT)
			return result;
		if (folder[length] == '\0')
			return refused ? -EACCES : -ENOENT;
		folder += length + 1;
	}
}

static void child(void *arg)
{
	struct spawn *spawn = (struct spawn *)arg;
	const struct syscull_spawn_options *options = &spawn->options;
	uint64_t mask = 0;
	long result;

	/* The table first: nothing that is the parent's is touched after this. */
	child_descriptors(spawn);
	if (options->flags & SYSCULL_SPAWN_SETSID) {
		result = CALL(&spawn->run, SYS_setsid);
		if (result < 0)
			child_fails(spawn, SYSCULL_SPAWN_STEP_SETSID, result);
	}
	if (options->cwd != NULL) {
		result = CALL(&spawn->run, SYS_chdir, options->cwd);
		if (result < 0)
			child_fails(spawn, SYSCULL_SPAWN_STEP_CWD, result);
	}
	if (options->pid_text != NULL)
		child_pid(spawn);
	child_signals(spawn);
	if (options->flags & SYSCULL_SPAWN_KEEP_MASK)
		mask = spawn->old_mask;
	else if (options->mask != NULL)
		mask = set_of(options->mask);
	(void)CALL(&spawn->run, SYS_rt_sigprocmask, (long)SIG_SETMASK, &mask, NULL, 8L);
	child_fails(spawn, SYSCULL_SPAWN_STEP_EXEC, child_exec(spawn));
}

/* One attempt.  The child runs on `stack`, in this frame, while the parent waits. */
static long __attribute__((noinline)) start(struct spawn *spawn, int *ret_pidfd)
{
	unsigned char stack[STACK_SIZE] __attribute__((aligned(16)));
	unsigned int pidfd = spawn->options.flags & SYSCULL_SPAWN_PIDFD ? CLONE_PIDFD : 0;
	uint32_t *hints = &spawn->run.hints;
	long pid = -ENOSYS;

	if (!(*hints & HINT_CLONE3)) {
		struct spawn_clone how = { 0 };

		how.flags = CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK | pidfd;
		if (!(*hints & HINT_TABLE))
			how.flags |= CLONE_FILES;
		how.pidfd = (uintptr_t)ret_pidfd;
		how.exit_signal = SIGCHLD;
		how.stack = (uintptr_t)stack;
		how.stack_size = sizeof stack;
		spawn->shares_table = (how.flags & CLONE_FILES) != 0;
		spawn->has_handlers = false;
		spawn->run.calls++;
		pid = spawn_clone3(&how, child, spawn);
		if (pid < 0 && pid != -EAGAIN && pid != -ENOMEM)
			*hints |= HINT_CLONE3;
	}
	if (*hints & HINT_CLONE3) {
		spawn->shares_table = false;
		spawn->has_handlers = true;
		spawn->run.calls++;
		pid = spawn_clone(CLONE_VM | CLONE_VFORK | pidfd | SIGCHLD, stack + sizeof stack, ret_pidfd, child,
				  spawn);
	}
	/* Seen as used by the child, whatever the compiler thinks of an array that nobody reads. */
	__asm__ volatile("" : : "r"(stack) : "memory");
#ifdef HAS_ASAN
	__asan_unpoison_memory_region(stack, sizeof stack);
#endif
	return pid;
}

static long spawn_masked(struct spawn *spawn, int *ret_pidfd)
{
	long pid;

	for (;;) {
		spawn->error = 0;
		spawn->step = SYSCULL_SPAWN_STEP_CLONE;
		*ret_pidfd = -1;
		pid = start(spawn, ret_pidfd);
		if (pid < 0 || spawn->error == 0)
			return pid;
		(void)CALL(&spawn->run, SYS_wait4, pid, NULL, 0L, NULL);
		if (*ret_pidfd >= 0)
			(void)CALL(&spawn->run, SYS_close, (long)*ret_pidfd);
		*ret_pidfd = -1;
		if (spawn->step != STEP_TABLE)
			return spawn->error;
		spawn->run.hints |= HINT_TABLE;
	}
}

static int check(struct spawn *spawn)
{
	const struct syscull_spawn_options *options = &spawn->options;

	if (spawn->path == NULL || spawn->argv == NULL || (options->flags & ~KNOWN_FLAGS))
		return -EINVAL;
	if ((options->map == NULL && options->map_count > 0) || (options->keep == NULL && options->keep_count > 0))
		return -EINVAL;
	if (options->map_count > SYSCULL_SPAWN_MAP_MAX)
		return -E2BIG;
	spawn->highest = 2;
	for (size_t i = 0; i < options->map_count; i++) {
		if (options->map[i].from < 0 || options->map[i].to < 0)
			return -EINVAL;
		for (size_t j = 0; j < i; j++)
			if (options->map[j].to == options->map[i].to)
				return -EINVAL;
		if (options->map[i].from > spawn->highest)
			spawn->highest = options->map[i].from;
	}
	for (size_t i = 0; i < options->keep_count; i++)
		if (options->keep[i] > spawn->highest)
			spawn->highest = options->keep[i];
	return 0;
}

pid_t syscull_spawn(const char *path, char *const argv[], char *const envp[], struct syscull_spawn_options *options)
{
	static char *const nothing[] = { NULL };
	const uint64_t all = UINT64_MAX;
	struct spawn spawn;
	int saved = errno, pidfd = -1;
	long result = 0;

	memset(&spawn, 0, sizeof spawn);
	spawn.path = path;
	spawn.argv = argv;
	spawn.envp = envp != NULL ? envp : nothing;
	if (options != NULL) {
		result = syscull_options_take(&spawn.options, sizeof spawn.options, options, options->size,
					      sizeof spawn.options);
		if (result < 0)
			return (pid_t)result;
	}
	spawn.run.ceiling = SYSCULL_FDS_CEILING;
	spawn.run.hints = spawn.options.hints;
	spawn.step = SYSCULL_SPAWN_STEP_ARGUMENTS;
	result = check(&spawn);
	if (result == 0)
		result = CALL(&spawn.run, SYS_rt_sigprocmask, (long)SIG_BLOCK, &all, &spawn.old_mask, 8L);
	if (result == 0) {
		result = spawn_masked(&spawn, &pidfd);
		(void)CALL(&spawn.run, SYS_rt_sigprocmask, (long)SIG_SETMASK, &spawn.old_mask, NULL, 8L);
	}
	if (options != NULL) {
		options->step = result < 0 ? spawn.step : 0;
		options->pidfd = result < 0 ? -1 : pidfd;
		options->hints = spawn.run.hints;
		options->calls = spawn.run.calls;
	}
	errno = saved;
	return (pid_t)result;
}
