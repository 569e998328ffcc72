/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the book and the process without privileges share: that one is forked
 * from the book's and so has samples and open files at hand; results come back
 * through a pipe, as messages that are not trusted.
 */
#ifndef SYSCULL_STACK_BOOK_H
#define SYSCULL_STACK_BOOK_H

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include "stack/stack.h"

#define BOOK_SAMPLES_OF_SITE 8
#define BOOK_BYTES_MAX (UINT64_C(96) << 20) /* of stacks */
#define BOOK_MODULES_MAX 8192
#define BOOK_DEPTH_MAX 128
#define BOOK_FRAMES_MAX 1000000
#define BOOK_CHAINS_MAX 1000000
#define BOOK_TEXT_MAX 4096 /* of a name or path in a message */

/* A file that was mapped; fd -1: not to be had, or not the one that ran. */
struct book_module {
	const char *path;
	uint64_t dev, ino;
	uint64_t last_ns; /* CLOCK_MONOTONIC, of the last sample with it; 0 none */
	uint32_t pid; /* of that */
	int fd;
	int held; /* a handle of a file that has no such name here; -1 none */
	uint64_t held_ns; /* its time of change then */
	bool libc;
};
#define BOOK_HELD_MAX 256 /* files of processes that see others than we do */

struct book_sample {
	uint32_t site, pid;
	uint32_t uid; /* UINT32_MAX unknown */
	uint64_t born_ns; /* CLOCK_MONOTONIC, when its program began; 0 before us */
	enum sys_call_id call;
	const char *program;
	struct model_maps *maps;
	uint64_t sp;
	unsigned registers;
	uint32_t bytes;
	uint64_t *data; /* registers, then the stack */
};

/* The map that a process may keep of its own code; fd -1: it has none. */
#define BOOK_JITS_MAX 64 /* that are open; of further processes no such code is named */
struct book_jit {
	uint32_t pid;
	int fd;
};

struct book_chain {
	uint32_t site;
	uint32_t first, count; /* in chain_frames */
	uint32_t hits;
	uint32_t exact; /* so many of the frames are those of all calls of the site */
	uint8_t why; /* enum book_why */
};

enum book_why {
	BOOK_WHOLE,
	BOOK_WHY_NO_FILE,
	BOOK_WHY_NO_RULES,
	BOOK_WHY_NO_MEMORY,
	BOOK_WHY_BROKEN,
	BOOK_WHY_DEEP,
	BOOK_WHY_UNMAPPED,
	BOOK_WHY_NO_STACK,
	BOOK_WHY_COUNT
};

/* Of a site: its samples, as they come; the last half is overwritten in turn. */
struct book_site {
	uint32_t sample[BOOK_SAMPLES_OF_SITE]; /* index + 1 */
	uint32_t seen;
	bool wanted;
};

struct stack_book {
	struct stack_options options;
	VEC(struct book_module) modules;
	struct map module_by_key; /* → index + 1 */
	const struct model_maps *last_maps; /* whose modules are all known, held by a sample */
	VEC(struct book_sample) samples;
	VEC(struct book_jit) jits;
	VEC(struct book_site) sites; /* by number */
	uint64_t bytes, left_out;
	size_t wanted, held;
	/* Results. */
	bool resolved;
	VEC(struct frame) frames;
	VEC(uint32_t) chain_frames;
	VEC(struct book_chain) chains; /* by site */
	VEC(char *) texts;
	VEC(struct frames) by_site; /* by number */
	VEC(struct frame) told; /* what by_site points at */
	char trouble[160];
};

/* The module of a mapping: index, or SIZE_MAX. */
size_t book_module_of(const struct stack_book *book, const struct model_map *map);

/* Messages of the process without privileges: this, then `bytes` of it. */
struct book_message {
	uint32_t type; /* enum book_message_type */
	uint32_t bytes;
};
enum book_message_type { BOOK_BUILD_ID = 1, BOOK_FRAME, BOOK_CHAIN, BOOK_LINE, BOOK_DONE };

struct book_message_id {
	uint32_t module; /* then the text with its NUL */
};
/* Frames get the numbers 0, 1, 2, ... in their order. */
struct book_message_frame {
	uint64_t offset, symbol_offset;
	uint32_t module; /* index + 1 */
	uint32_t flags; /* FRAME_JIT */
	uint32_t jumped; /* then two texts: the symbol, who jumped */
	uint32_t pad;
};
struct book_message_chain {
	uint32_t site;
	uint32_t why;
	uint32_t exact; /* then numbers of frames */
	uint32_t pad;
};
struct book_message_line {
	uint32_t frame, line; /* then the file */
};

/* helper.c: runs the work in a process of its own and takes what it says. */
int helper_run(struct stack_book *book, struct model *model);
/* work.c: writes messages to fd; never returns when it cannot. */
void work_run(struct stack_book *book, struct model *model, int fd);

/* files.c: at once, while the process is there: when its file is not the one that we see under
 * that name, as in a container, it is held by a handle. */
void book_hold(struct stack_book *book, struct book_module *module, const struct model_map *map);
/* At the end: the modules' files and the maps of code. */
void book_open_files(struct stack_book *book);
/* Opens what an O_PATH handle is of, which then is known to be a regular file. */
int book_reopen(int handle, const char *path);

/* jit.c: the maps that processes keep of their own code, opened by who has the rights. */
void jits_open(struct stack_book *book, int64_t ahead_ns);
/* The name of an address there; what is returned lives until the next process. */
struct jit_symbol {
	const char *name;
	uint64_t start, bytes;
};
bool jit_symbol(const struct stack_book *book, uint32_t pid, uint64_t address, struct jit_symbol *ret);

#endif
