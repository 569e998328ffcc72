/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process without privileges.  It has the samples and the open files from
 * its fork, gives up everything else, and answers through a pipe; it ends with
 * us, at the latest after a while.  What it says is checked like a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "stack/book.h"
#include "syscull/fds.h"

#define NOBODY 65534
#define CPU_SECONDS 20
#define MEMORY_BYTES (UINT64_C(4) << 30)
#define PATIENCE_NS UINT64_C(30000000000)
#define MESSAGE_MAX (2 * BOOK_TEXT_MAX + 1024)

#if defined(__SANITIZE_ADDRESS__)
#define SHADOWED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHADOWED 1
#endif
#endif
#ifndef SHADOWED
#define SHADOWED 0
#endif

static void limit(int what, rlim_t most)
{
	struct rlimit value = { most, most };

	(void)setrlimit(what, &value);
}

/* Everything but the files of modules, maps of code and the pipe is closed. */
static bool keep_only(const struct stack_book *book, int pipe_fd)
{
	int *keep = calloc(book->modules.used + book->jits.used + 1, sizeof *keep), result;
	size_t used = 0;

	if (!keep)
		return false;
	keep[used++] = pipe_fd;
	for (size_t i = 0; i < book->modules.used; i++)
		if (book->modules.at[i].fd >= 0)
			keep[used++] = book->modules.at[i].fd;
	for (size_t i = 0; i < book->jits.used; i++)
		if (book->jits.at[i].fd >= 0)
			keep[used++] = book->jits.at[i].fd;
	result = syscull_fds_close(0, keep, used, NULL);
	free(keep);
	return result == 0;
}

static bool drop_rights(void)
{
	if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
			       setresuid(NOBODY, NOBODY, NOBODY) != 0))
		/* In a user namespace without more users there are no others to become. */
		if (errno != EINVAL && errno != EPERM)
			return false;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_CPU, CPU_SECONDS);
	if (!SHADOWED)
		limit(RLIMIT_AS, MEMORY_BYTES);
	return true;
}

static _Noreturn void child(struct stack_book *book, struct model *model, int fd, pid_t parent)
{
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	/* A terminal's INT is for the command and for us. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	if (!drop_rights())
		_exit(1);
	/* Changing who one is takes it away: after that. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	if (!keep_only(book, fd))
		_exit(1);
	(void)unsetenv("DEBUGINFOD_URLS");
	work_run(book, model, fd);
	_exit(0);
}

/* A text within a message: NULL when it has no end there. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *stop = text < end ? memchr(text, '\0', (size_t)(end - text)) : NULL;

	if (!stop)
		return NULL;
	*at = stop + 1;
	return text;
}

static const char *keep_text(struct stack_book *book, const char *text)
{
	char *copy = text && *text ? strdup(text) : NULL;

	if (copy && !vec_push(&book->texts, copy)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

static bool take_frame(struct stack_book *book, const char *data, size_t bytes)
{
	struct book_message_frame message;
	const char *at = data + sizeof message, *end = data + bytes, *symbol, *jump;
	const struct book_module *module;

	if (bytes < sizeof message || book->frames.used >= BOOK_FRAMES_MAX)
		return false;
	memcpy(&message, data, sizeof message);
	symbol = take_text(&at, end);
	jump = symbol ? take_text(&at, end) : NULL;
	if (!jump || message.module > book->modules.used)
		return false;
	module = message.module > 0 ? &book->modules.at[message.module - 1] : NULL;
	return vec_push(&book->frames, (struct frame){ .module = module ? module->path : NULL,
						       .symbol = keep_text(book, symbol),
						       .jump = keep_text(book, jump),
						       .offset = message.offset,
						       .symbol_offset = message.symbol_offset,
						       .flags = (message.flags & FRAME_JIT) |
								(module && module->libc ? FRAME_LIBC : 0),
						       .jumped = message.jumped != 0 });
}

static bool take_chain(struct stack_book *book, const char *data, size_t bytes, size_t sites)
{
	struct book_message_chain message;
	struct book_chain chain = { .hits = 1 };
	size_t count;

	if (bytes < sizeof message || book->chains.used >= BOOK_CHAINS_MAX)
		return false;
	memcpy(&message, data, sizeof message);
	count = (bytes - sizeof message) / sizeof(uint32_t);
	if (message.site == 0 || message.site > sites || count == 0 || count > BOOK_DEPTH_MAX ||
	    message.why >= BOOK_WHY_COUNT)
		return false;
	chain.site = message.site;
	chain.why = (uint8_t)message.why;
	chain.exact = message.exact;
	chain.first = (uint32_t)book->chain_frames.used;
	chain.count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		uint32_t frame;

		memcpy(&frame, data + sizeof message + i * sizeof frame, sizeof frame);
		if (frame >= book->frames.used || !vec_push(&book->chain_frames, frame))
			return false;
	}
	return vec_push(&book->chains, chain);
}

/* False: nothing more is believed. */
static bool take(struct stack_book *book, const struct book_message *head, const char *data, size_t sites)
{
	struct book_message_line line;
	struct book_message_id id;
	const char *at, *text;

	switch (head->type) {
	case BOOK_FRAME:
		return take_frame(book, data, head->bytes);
	case BOOK_CHAIN:
		return take_chain(book, data, head->bytes, sites);
	case BOOK_LINE:
		at = data + sizeof line;
		if (head->bytes < sizeof line || !(text = take_text(&at, data + head->bytes)))
			return false;
		memcpy(&line, data, sizeof line);
		if (line.frame >= book->frames.used)
			return false;
		book->frames.at[line.frame].file = keep_text(book, text);
		book->frames.at[line.frame].line = line.line;
		return true;
	case BOOK_BUILD_ID:
		at = data + sizeof id;
		if (head->bytes < sizeof id || !(text = take_text(&at, data + head->bytes)))
			return false;
		memcpy(&id, data, sizeof id);
		if (id.module >= book->modules.used)
			return false;
		text = keep_text(book, text);
		for (size_t i = 0; i < book->frames.used; i++)
			if (book->frames.at[i].module && book->frames.at[i].module == book->modules.at[id.module].path)
				book->frames.at[i].build_id = text;
		return true;
	default:
		return head->type == BOOK_DONE;
	}
}

/* 0 all was said; negative: it was not. */
static int listen(struct stack_book *book, int fd, size_t sites)
{
	uint64_t until_ns = clock_now_ns() + PATIENCE_NS;
	struct buf buf = BUF_INIT;
	bool done = false, good = true;
	size_t taken = 0;
	int r = 0;

	while (good && r == 0) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t now_ns = clock_now_ns();
		struct book_message head;
		char *place;
		ssize_t n;

		if (now_ns >= until_ns)
			r = -ETIMEDOUT;
		if (r < 0 || poll(&wait, 1, (int)((until_ns - now_ns) / 1000000) + 1) <= 0)
			continue;
		place = buf_reserve(&buf, 65536);
		if (!place) {
			r = -ENOMEM;
			break;
		}
		n = read(fd, place, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		buf.bytes += (size_t)n;
		while (good && buf.bytes - taken >= sizeof head) {
			memcpy(&head, buf.data + taken, sizeof head);
			if (head.bytes > MESSAGE_MAX) {
				good = false;
				break;
			}
			if (buf.bytes - taken - sizeof head < head.bytes)
				break;
			good = take(book, &head, buf.data + taken + sizeof head, sites);
			done = done || head.type == BOOK_DONE;
			taken += sizeof head + head.bytes;
		}
		memmove(buf.data, buf.data + taken, buf.bytes - taken);
		buf.bytes -= taken;
		taken = 0;
	}
	buf_done(&buf);
	return r < 0 ? r : done && good ? 0 : -EIO;
}

int helper_run(struct stack_book *book, struct model *model)
{
	int ends[2], status = 0, r;
	pid_t parent = getpid(), pid;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		r = -errno;
		(void)snprintf(book->trouble, sizeof book->trouble, "call sites are not told: %s", strerror(-r));
		return r;
	}
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(book, model, ends[1], parent);
	r = pid < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (r == 0)
		r = listen(book, ends[0], model_site_count(model));
	(void)close(ends[0]);
	if (pid > 0) {
		if (r < 0)
			(void)kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (r < 0)
		(void)snprintf(book->trouble, sizeof book->trouble, "not all call sites are told: %s",
			       r == -EIO && WIFSIGNALED(status) ? "reading the programs' files ended the reader"
								: strerror(-r));
	return r;
}
