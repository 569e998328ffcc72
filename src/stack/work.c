/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of the process without privileges: samples to frames, frames to
 * names, names first and lines, which take longer, after them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stack/book.h"
#include "stack/unwind.h"

#define NAMELESS_MAX 20000 /* sites without a sample that are named */

struct file {
	struct image *image;
	bool tried;
};

/* What a frame is, for being told once. */
struct known {
	uint64_t address; /* in the image */
	struct image *image; /* NULL none */
	bool exact, libc;
};

struct work {
	struct stack_book *book;
	struct model *model;
	struct file *files; /* by module */
	struct buf out;
	int fd;
	struct map frame_by_key; /* → number + 1 */
	struct map proven; /* places whose word is their caller's: → 1, or 2 when not */
	VEC(struct known) known; /* by number */
};

static void flush(struct work *w)
{
	size_t done = 0;

	while (done < w->out.bytes) {
		ssize_t n = write(w->fd, w->out.data + done, w->out.bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		done += (size_t)n;
	}
	buf_clear(&w->out);
}

/* Adds the head; what follows is added before `say_end`. */
static size_t say(struct work *w, enum book_message_type type, const void *data, size_t bytes)
{
	struct book_message head = { .type = type };
	size_t at = w->out.bytes;

	(void)buf_add(&w->out, &head, sizeof head);
	(void)buf_add(&w->out, data, bytes);
	return at;
}

static void say_text(struct work *w, const char *text)
{
	(void)buf_add(&w->out, text ? text : "", text ? strnlen(text, BOOK_TEXT_MAX - 1) : 0);
	(void)buf_putc(&w->out, '\0');
}

static void say_end(struct work *w, size_t at)
{
	uint32_t bytes;

	if (w->out.failed)
		_exit(1);
	bytes = (uint32_t)(w->out.bytes - at - sizeof(struct book_message));
	memcpy(w->out.data + at + offsetof(struct book_message, bytes), &bytes, sizeof bytes);
	if (w->out.bytes > 32768)
		flush(w);
}

static struct image *image_of(struct work *w, size_t module)
{
	struct file *file = module < w->book->modules.used ? &w->files[module] : NULL;

	if (!file)
		return NULL;
	if (!file->tried && w->book->modules.at[module].fd >= 0)
		file->image = image_open(w->book->modules.at[module].fd);
	file->tried = true;
	return file->image;
}

#ifdef __x86_64__

/* The target of a jump through a table: what its place is called. */
static const char *through_table(struct image *image, uint64_t address)
{
	const uint8_t *at = image_bytes(image, address, 12);
	size_t skip = 0;
	int32_t near;

	/* A function can look the same that does nothing but jump. */
	if (!at || !image_is_stub(image, address))
		return NULL;
	if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa) /* endbr64 */
		skip = 4;
	if (at[skip] == 0xf2) /* bnd */
		skip++;
	if (at[skip] != 0xff || at[skip + 1] != 0x25)
		return NULL;
	at = image_bytes(image, address, skip + 6);
	if (!at)
		return NULL;
	memcpy(&near, at + skip + 2, sizeof near);
	return image_slot(image, address + skip + 6 + (uint64_t)(int64_t)near);
}

/* What the call before a return address calls: an address in its own file, or a name. */
static bool called_from(struct image *image, uint64_t address, uint64_t *ret_target, const char **ret_name)
{
	const uint8_t *at = image_bytes(image, address - 6, 6);
	uint64_t start;
	int32_t near;

	*ret_name = NULL;
	if (!at)
		return false;
	memcpy(&near, at + 2, sizeof near);
	if (at[0] == 0xff && at[1] == 0x15) {
		*ret_name = image_slot(image, address + (uint64_t)(int64_t)near);
		return *ret_name != NULL;
	}
	if (at[1] != 0xe8)
		return false;
	*ret_target = address + (uint64_t)(int64_t)near;
	*ret_name = through_table(image, *ret_target);
	/* Read backwards the bytes may be the end of another instruction; then
	 * the target is no function's beginning. */
	return *ret_name || (image_function(image, *ret_target, &start) && start == *ret_target);
}

#else

static bool called_from(struct image *image, uint64_t address, uint64_t *ret_target, const char **ret_name)
{
	(void)image;
	(void)address;
	(void)ret_target;
	(void)ret_name;
	return false;
}

#endif

enum link {
	LINK_UNKNOWN,
	LINK_CALLED, /* the instruction before the return address calls this function */
	LINK_JUMPED, /* it calls another one, which was left by a jump */
};

/*
 * Does the caller call the function that the inner frame is in?  A function
 * that ends by a jump to another one leaves no frame behind.
 */
static enum link link_of(const struct known *inner, const struct known *caller, const char **ret_jump)
{
	struct image_symbol symbol;
	uint64_t target = 0, start;
	const char *name;
	bool choice;

	*ret_jump = NULL;
	if (!inner->image || !caller->image || caller->exact ||
	    !called_from(caller->image, caller->address, &target, &name) ||
	    !image_function(inner->image, inner->address - (inner->exact ? 0 : 1), &start))
		return LINK_UNKNOWN;
	if (!name) {
		if (caller->image == inner->image && target == start)
			return LINK_CALLED;
		if (image_symbol(caller->image, target, &symbol))
			*ret_jump = symbol.name;
		return LINK_JUMPED;
	}
	if (image_has_name(inner->image, start, name, &choice))
		return LINK_CALLED;
	/* From one function of the C library to another: who called it called it. */
	if (choice || (inner->libc && image_exports(inner->image, name)))
		return choice ? LINK_UNKNOWN : LINK_CALLED;
	*ret_jump = name;
	return LINK_JUMPED;
}

/* The number of a frame, told when it is new. */
static uint32_t number_of(struct work *w, const struct known *known, size_t module, uint64_t offset, bool jumped,
			  const char *jump, const struct book_sample *sample)
{
	struct book_message_frame message = { .offset = offset, .module = (uint32_t)(module + 1), .jumped = jumped };
	const char *name = NULL;
	struct image_symbol symbol;
	struct jit_symbol made;
	uint64_t key;
	uint32_t *place;
	size_t at;

	if (module == SIZE_MAX) {
		message.module = 0;
		if (sample && jit_symbol(w->book, sample->pid, offset - (known->exact ? 0 : 1), &made)) {
			name = made.name;
			message.flags = FRAME_JIT;
			message.symbol_offset = offset - made.start;
		}
	}
	key = map_mix(map_mix(module, offset),
		      map_mix((uint64_t)jumped << 1 | known->exact, jump ? map_hash(jump, strlen(jump)) : 0));
	if (name)
		key = map_mix(key, map_hash(name, strlen(name)));
	place = map_put(&w->frame_by_key, key, NULL);
	if (!place)
		_exit(1);
	if (*place > 0)
		return *place - 1;
	if (w->known.used >= BOOK_FRAMES_MAX || !vec_push(&w->known, *known))
		_exit(1);
	*place = (uint32_t)w->known.used;
	if (known->image && image_symbol(known->image, known->address - (known->exact ? 0 : 1), &symbol)) {
		name = symbol.name;
		message.symbol_offset = known->address - symbol.start;
	}
	at = say(w, BOOK_FRAME, &message, sizeof message);
	say_text(w, name);
	say_text(w, jump);
	say_end(w, at);
	return (uint32_t)w->known.used - 1;
}

static void say_chain(struct work *w, uint32_t site, enum book_why why, size_t exact, const uint32_t *numbers,
		      size_t count)
{
	struct book_message_chain message = { .site = site, .why = why, .exact = (uint32_t)exact };
	size_t at = say(w, BOOK_CHAIN, &message, sizeof message);

	(void)buf_add(&w->out, numbers, count * sizeof *numbers);
	say_end(w, at);
}

/* Where an address of the sample's process lies. */
static size_t place_of(struct work *w, const struct book_sample *sample, uint64_t pc, bool exact, struct known *ret,
		       uint64_t *ret_offset, uint64_t *ret_bias)
{
	/* A call at the very end of a mapping returns behind it. */
	const struct model_map *map = sample->maps ? model_maps_find(sample->maps, pc - (exact ? 0 : 1)) : NULL;
	size_t module = map ? book_module_of(w->book, map) : SIZE_MAX;
	uint64_t address;

	*ret = (struct known){ .exact = exact };
	*ret_offset = pc;
	*ret_bias = 0;
	if (module == SIZE_MAX)
		return module;
	*ret_offset = pc - map->start + map->offset;
	ret->libc = w->book->modules.at[module].libc;
	ret->image = image_of(w, module);
	if (ret->image && image_address(ret->image, *ret_offset - (exact ? 0 : 1), &address)) {
		ret->address = address + (exact ? 0 : 1);
		*ret_bias = pc - ret->address;
	} else {
		ret->image = NULL;
	}
	return module;
}

/*
 * Do all calls of the site have this caller?  Where its address stood is in what
 * was compared at each call, or it is the word that was.  Code without a file may
 * be older than we are, and then is not in it.
 */
static bool is_exact(const struct model_site *site, const struct book_sample *sample, const struct unwind *u,
		     size_t module, size_t count, bool proven)
{
	uint64_t slot = u->reg[UNWIND_SP] - sizeof(uint64_t);

	if (count == 1 && proven)
		return true;
#ifdef __x86_64__
	/* A call leaves its address right below the caller's stack. */
	return site->code != 0 && module != SIZE_MAX && !u->exact && slot >= sample->sp &&
	       (slot - sample->sp) / sizeof(uint64_t) < ITEM_CALLER_WORDS;
#else
	(void)slot;
	(void)module;
	return false;
#endif
}

static uint64_t place_key(const struct model_site *site)
{
	return map_mix((uintptr_t)site->module, site->offset);
}

/* Is what the word at the stack pointer says the caller here? */
static bool prove(struct work *w, const struct book_sample *sample, size_t module, uint64_t offset)
{
	const struct model_site *site = model_site_at(w->model, sample->site);
	uint8_t *place = map_put(&w->proven, place_key(site), NULL);
	bool same = module != SIZE_MAX && site->caller_module &&
		    strcmp(w->book->modules.at[module].path, site->caller_module) == 0 && offset == site->caller_offset;

	/* Once false is false for good: it depends on the instruction alone. */
	if (place && *place != 2)
		*place = same ? 1 : 2;
	return same;
}

static bool begin(struct unwind *u, const struct book_sample *sample)
{
	size_t skip = sample->registers * sizeof(uint64_t);

	*u = (struct unwind){ .memory = (const char *)sample->data + skip,
			      .memory_start = sample->sp,
			      .memory_bytes = sample->bytes - skip };
	if (sample->registers != UNWIND_PC + 1)
		return false;
	memcpy(u->reg, sample->data, UNWIND_COUNT * sizeof u->reg[0]);
	u->known = (UINT64_C(1) << UNWIND_COUNT) - 1;
	/* Behind the instruction that entered the kernel. */
	u->pc = sample->data[UNWIND_PC];
	return true;
}

/* The file has no rules for it, or there is no file: out of what V8 or Python make all the same. */
static enum unwind_result step_made(struct work *w, const struct book_sample *sample, const struct known *known,
				    size_t module, bool *v8, struct unwind *u)
{
	struct image_symbol built;
	struct jit_symbol made;

	if (known->image) {
		*v8 = image_symbol(known->image, known->address - 1, &built) && unwind_is_v8(built.name);
		return *v8 ? unwind_made(u, NULL, true) : UNWIND_NO_RULES;
	}
	if (module != SIZE_MAX || !jit_symbol(w->book, sample->pid, u->pc - 1, &made))
		return UNWIND_NO_RULES;
	/* V8's only from V8's. */
	return unwind_made(u, &made, *v8);
}

/* Did that come out where a call was, or at code of the same kind? */
static bool is_made_by(struct work *w, const struct book_sample *sample, const struct known *known, size_t module,
		       uint64_t pc)
{
	struct jit_symbol made;

	if (known->image)
		return unwind_after_call(known->image, known->address);
	return module == SIZE_MAX && jit_symbol(w->book, sample->pid, pc - 1, &made);
}

static void one_sample(struct work *w, const struct book_sample *sample)
{
	struct known inner = { 0 }, known;
	uint32_t numbers[BOOK_DEPTH_MAX];
	enum book_why why = BOOK_WHY_DEEP;
	const struct model_site *site = model_site_at(w->model, sample->site);
	size_t count = 0, exact = 1;
	struct unwind u;
	bool scanned = false, proven = false, made = false, v8 = false;

	if (!begin(&u, sample))
		return;
	while (count < BOOK_DEPTH_MAX) {
		uint64_t offset, bias;
		size_t module = place_of(w, sample, u.pc, u.exact, &known, &offset, &bias);
		const char *jump = NULL;
		enum link link = count > 0 ? link_of(&inner, &known, &jump) : LINK_UNKNOWN;
		enum unwind_result result;

		/* What was found without rules has to be what the caller calls. */
		if ((scanned && link != LINK_CALLED) || (made && !is_made_by(w, sample, &known, module, u.pc))) {
			why = BOOK_WHY_NO_RULES;
			break;
		}
		if (count == 1)
			proven = prove(w, sample, module, offset);
		if (count > 0 && exact == count && is_exact(site, sample, &u, module, count, proven))
			exact++;
		result = known.image ? unwind_step(&u, known.image, bias) : UNWIND_NO_RULES;
		/* Behind a handler lies no call. */
		if (u.exact && result == UNWIND_CALLER)
			link = LINK_UNKNOWN;
		numbers[count++] = number_of(w, &known, module, offset, link == LINK_JUMPED,
					     link == LINK_JUMPED ? jump : NULL, sample);
		made = result == UNWIND_NO_RULES && step_made(w, sample, &known, module, &v8, &u) == UNWIND_CALLER;
		if (made) {
			result = UNWIND_CALLER;
			scanned = false;
		} else if (result == UNWIND_NO_RULES && known.image) {
			result = unwind_scan(&u, known.image, bias);
			scanned = result == UNWIND_CALLER;
		} else {
			scanned = false;
		}
		if (result != UNWIND_CALLER) {
			why = result == UNWIND_END	   ? BOOK_WHOLE
			      : module == SIZE_MAX	   ? BOOK_WHY_UNMAPPED
			      : !known.image		   ? BOOK_WHY_NO_FILE
			      : result == UNWIND_NO_RULES  ? BOOK_WHY_NO_RULES
			      : result == UNWIND_NO_MEMORY ? BOOK_WHY_NO_MEMORY
							   : BOOK_WHY_BROKEN;
			break;
		}
		inner = known;
	}
	say_chain(w, sample->site, why, exact, numbers, count);
}

/* A file by its path: the model keeps one text of each. */
static size_t module_by_path(const struct stack_book *book, const char *path)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < book->modules.used; i++) {
		if (book->modules.at[i].path != path)
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX; /* it was replaced: which one is not known */
		found = i;
	}
	return found;
}

static bool by_path(struct work *w, const char *path, uint64_t offset, size_t *ret_module, struct known *ret)
{
	uint64_t address;

	*ret = (struct known){ 0 };
	*ret_module = path ? module_by_path(w->book, path) : SIZE_MAX;
	if (*ret_module == SIZE_MAX)
		return false;
	ret->image = image_of(w, *ret_module);
	ret->libc = w->book->modules.at[*ret_module].libc;
	if (ret->image && image_address(ret->image, offset - 1, &address))
		ret->address = address + 1;
	else
		ret->image = NULL;
	return true;
}

/*
 * Nobody asks for this sample's frames, but it is of an instruction that somebody
 * without one asks for: one step tells whether the word that its caller left is the caller.
 */
static void prove_by(struct work *w, const struct book_sample *sample)
{
	struct known known;
	uint64_t offset, bias;
	struct unwind u;
	size_t module;

	if (!begin(&u, sample))
		return;
	(void)place_of(w, sample, u.pc, u.exact, &known, &offset, &bias);
	if (!known.image || unwind_step(&u, known.image, bias) != UNWIND_CALLER)
		return;
	module = place_of(w, sample, u.pc, u.exact, &known, &offset, &bias);
	(void)prove(w, sample, module, offset);
}

static bool lacks_sample(const struct stack_book *book, size_t site)
{
	return site < book->sites.used && book->sites.at[site].wanted && book->sites.at[site].sample[0] == 0;
}

static void prove_places(struct work *w, size_t sites)
{
	struct map places;

	map_init(&places, 0, 0);
	for (size_t i = 1; i <= sites; i++)
		if (lacks_sample(w->book, i) &&
		    !map_put(&places, place_key(model_site_at(w->model, (uint32_t)i)), NULL))
			_exit(1);
	for (size_t i = 0; i < w->book->samples.used; i++) {
		const struct book_sample *sample = &w->book->samples.at[i];

		if (sample->data && !w->book->sites.at[sample->site].wanted &&
		    map_get(&places, place_key(model_site_at(w->model, sample->site))))
			prove_by(w, sample);
	}
	map_done(&places);
}

/* Without a sample of its own a site has what others prove for the same instruction. */
static void one_site(struct work *w, uint32_t number)
{
	const struct model_site *site = model_site_at(w->model, number);
	const uint8_t *proven = map_get(&w->proven, place_key(site));
	struct known inner, caller;
	uint32_t numbers[2];
	size_t module, count = 0;
	const char *jump;
	enum link link;

	if (!by_path(w, site->module, site->offset, &module, &inner))
		return;
	numbers[count++] = number_of(w, &inner, module, site->offset, false, NULL, NULL);
	if (proven && *proven == 1 && by_path(w, site->caller_module, site->caller_offset, &module, &caller)) {
		link = link_of(&inner, &caller, &jump);
		numbers[count++] = number_of(w, &caller, module, site->caller_offset, link == LINK_JUMPED,
					     link == LINK_JUMPED ? jump : NULL, NULL);
	}
	say_chain(w, number, BOOK_WHY_NO_STACK, count, numbers, count);
}

static void say_build_ids(struct work *w)
{
	for (size_t i = 0; i < w->book->modules.used; i++) {
		struct book_message_id message = { .module = (uint32_t)i };
		const char *id = w->files[i].image ? image_build_id(w->files[i].image) : NULL;
		size_t at;

		if (!id)
			continue;
		at = say(w, BOOK_BUILD_ID, &message, sizeof message);
		say_text(w, id);
		say_end(w, at);
	}
}

static void say_lines(struct work *w)
{
	for (size_t i = 0; i < w->known.used; i++) {
		const struct known *known = &w->known.at[i];
		struct book_message_line message = { .frame = (uint32_t)i };
		const char *file;
		size_t at;

		/* Of the C library's own lines nobody learns anything, and its are many. */
		if (!known->image || known->libc ||
		    !image_line(known->image, known->address - (known->exact ? 0 : 1), &file, &message.line))
			continue;
		at = say(w, BOOK_LINE, &message, sizeof message);
		say_text(w, file);
		say_end(w, at);
	}
}

bool stack_can_unwind(void)
{
	return true;
}

void work_run(struct stack_book *book, struct model *model, int fd)
{
	struct work w = { .book = book, .model = model, .fd = fd };
	size_t sites = model_site_count(model);

	w.files = calloc(book->modules.used + 1, sizeof *w.files);
	if (!w.files)
		_exit(1);
	map_init(&w.frame_by_key, sizeof(uint32_t), 0);
	map_init(&w.proven, sizeof(uint8_t), 0);
	for (size_t i = 0; i < book->samples.used; i++)
		if (book->samples.at[i].data && book->sites.at[book->samples.at[i].site].wanted)
			one_sample(&w, &book->samples.at[i]);
	prove_places(&w, sites);
	for (size_t i = 1, named = 0; i <= sites && named < NAMELESS_MAX; i++) {
		if (!lacks_sample(book, i))
			continue;
		one_site(&w, (uint32_t)i);
		named++;
	}
	say_build_ids(&w);
	flush(&w);
	say_lines(&w);
	say_end(&w, say(&w, BOOK_DONE, NULL, 0));
	flush(&w);
}
