/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/book.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stack_book *stack_book_new(const struct stack_options *options)
{
	struct stack_book *book = calloc(1, sizeof *book);

	if (!book)
		return NULL;
	book->options = *options;
	map_init(&book->module_by_key, sizeof(uint32_t), BOOK_MODULES_MAX);
	return book;
}

static void sample_done(struct stack_book *book, struct book_sample *sample)
{
	book->bytes -= sample->bytes;
	model_maps_unref(sample->maps);
	free(sample->data);
}

void stack_book_free(struct stack_book *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->samples.used; i++)
		sample_done(book, &book->samples.at[i]);
	for (size_t i = 0; i < book->texts.used; i++)
		free(book->texts.at[i]);
	for (size_t i = 0; i < book->modules.used; i++) {
		if (book->modules.at[i].fd >= 0)
			(void)close(book->modules.at[i].fd);
		if (book->modules.at[i].held >= 0)
			(void)close(book->modules.at[i].held);
	}
	for (size_t i = 0; i < book->jits.used; i++)
		if (book->jits.at[i].fd >= 0)
			(void)close(book->jits.at[i].fd);
	vec_done(&book->jits);
	vec_done(&book->samples);
	vec_done(&book->texts);
	vec_done(&book->modules);
	vec_done(&book->sites);
	vec_done(&book->frames);
	vec_done(&book->chain_frames);
	vec_done(&book->chains);
	vec_done(&book->by_site);
	vec_done(&book->told);
	map_done(&book->module_by_key);
	free(book);
}

/* The instruction that enters the kernel stands here, whoever is at fault. */
static bool is_libc(const char *path)
{
	static const char *const names[] = { "libc.so.", "libc-2.",    "libpthread.so.", "libpthread-2.",
					     "ld-linux", "ld-2.",      "ld-musl-",	 "libc.musl-",
					     "ld.so",	 "ld64.so",    "libanl.so.1",	 "librt.so.",
					     "librt-2.", "libdl.so.2", "libresolv.so.2", "libnss_files",
					     "[vdso]" };
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return strcmp(base, "libc.so") == 0;
}

static uint64_t module_key(const struct model_map *map)
{
	/* The model keeps equal texts once. */
	return map_mix((uintptr_t)map->module, map_mix(map->dev, map->ino));
}

size_t book_module_of(const struct stack_book *book, const struct model_map *map)
{
	const uint32_t *place = map_get(&book->module_by_key, module_key(map));

	return place ? *place - 1 : SIZE_MAX;
}

static void see_modules(struct stack_book *book, const struct model_maps *maps, const struct model_view *view)
{
	const struct model_map *map;

	for (size_t n = 0; (map = model_maps_at(maps, n)); n++) {
		uint32_t *place = map_put(&book->module_by_key, module_key(map), NULL);
		struct book_module *module;

		if (!place)
			continue;
		if (*place == 0) {
			if (!vec_push(&book->modules, (struct book_module){ .path = map->module,
									    .dev = map->dev,
									    .ino = map->ino,
									    .fd = -1,
									    .held = -1,
									    .libc = is_libc(map->module) })) {
				(void)map_remove(&book->module_by_key, module_key(map));
				continue;
			}
			*place = (uint32_t)book->modules.used;
			module = &book->modules.at[*place - 1];
			module->pid = view->process->pid;
			book_hold(book, module, map);
		}
		module = &book->modules.at[*place - 1];
		module->last_ns = view->call->head.time_ns;
		module->pid = view->process->pid;
	}
}

static struct book_site *site_of(struct stack_book *book, uint32_t site)
{
	while (book->sites.used <= site)
		if (!vec_push(&book->sites, (struct book_site){ 0 }))
			return NULL;
	return &book->sites.at[site];
}

void stack_book_want(struct stack_book *book, uint32_t number)
{
	struct book_site *site = number > 0 ? site_of(book, number) : NULL;

	if (!site)
		return;
	book->wanted += !site->wanted;
	site->wanted = true;
}

static bool is_wanted(const struct stack_book *book, uint32_t site)
{
	return site < book->sites.used && book->sites.at[site].wanted;
}

/* Where the sample goes: NULL, there are enough. */
static struct book_sample *place_for(struct stack_book *book, struct book_site *site)
{
	uint32_t half = BOOK_SAMPLES_OF_SITE / 2, at = site->seen++;
	struct book_sample *sample;

	if (at >= BOOK_SAMPLES_OF_SITE)
		at = half + at % half;
	if (site->sample[at] > 0) {
		sample = &book->samples.at[site->sample[at] - 1];
		sample_done(book, sample);
	} else {
		sample = vec_add(&book->samples);
		if (!sample)
			return NULL;
		site->sample[at] = (uint32_t)book->samples.used;
	}
	*sample = (struct book_sample){ 0 };
	return sample;
}

void stack_book_take(struct stack_book *book, struct model *model, const struct model_view *view, uint32_t number)
{
	const struct event_item *item = event_item(&view->call->head, SYS_ITEM_STACK);
	const struct item_stack *head = EVENT_ITEM_AS(struct item_stack, item);
	struct book_site *site;
	struct book_sample *sample;
	size_t bytes;

	if (!head || number == 0 || view->call->arch != SYS_ARCH_NATIVE || head->registers == 0 ||
	    head->registers > ITEM_STACK_REGISTERS_MAX ||
	    item->bytes < sizeof *head + head->registers * sizeof(uint64_t))
		return;
	bytes = item->bytes - sizeof *head;
	site = site_of(book, number);
	if (!site || book->bytes + bytes > BOOK_BYTES_MAX) {
		book->left_out++;
		return;
	}
	sample = place_for(book, site);
	if (!sample)
		return;
	sample->data = malloc(bytes);
	if (!sample->data)
		return;
	memcpy(sample->data, head + 1, bytes);
	sample->bytes = (uint32_t)bytes;
	sample->site = number;
	sample->pid = view->process->pid;
	sample->born_ns = view->process->execed ? view->process->start_ns : 0;
	sample->uid = view->process->ids_known ? view->process->euid : UINT32_MAX;
	sample->call = view->id;
	sample->program = view->process->exe->path;
	sample->sp = head->sp;
	sample->registers = head->registers;
	sample->maps = model_maps(model, view->process);
	book->bytes += bytes;
	if (sample->maps)
		see_modules(book, sample->maps, view);
}

static const char *why_text(enum book_why why)
{
	static const char *const texts[BOOK_WHY_COUNT] = {
		[BOOK_WHOLE] = NULL,
		[BOOK_WHY_NO_FILE] = "the file is not the one that ran",
		[BOOK_WHY_NO_RULES] = "no unwind information there",
		[BOOK_WHY_NO_MEMORY] = "the copy of the stack ends there",
		[BOOK_WHY_BROKEN] = "what the unwind information says cannot be",
		[BOOK_WHY_DEEP] = "too many frames",
		[BOOK_WHY_UNMAPPED] = "no file is mapped there",
		[BOOK_WHY_NO_STACK] = "no stack was copied",
	};

	return (unsigned)why < BOOK_WHY_COUNT ? texts[why] : "unknown";
}

/* "__libc_openat64" is "openat". */
static size_t bare_name(const char **name)
{
	size_t bytes;

	*name += strspn(*name, "_");
	if (strncmp(*name, "libc_", 5) == 0)
		*name += 5;
	bytes = strlen(*name);
	return bytes > 2 && strcmp(*name + bytes - 2, "64") == 0 ? bytes - 2 : bytes;
}

/* In a program without a C library of its own: is the function but the call's wrapper? */
static bool is_wrapper(const struct frame *frame, enum sys_call_id call)
{
	const char *name = frame->symbol, *wanted = sys_call(call)->name;
	char a[64], b[64];
	size_t a_bytes, b_bytes;

	if (!name || call == CALL_unknown)
		return false;
	a_bytes = bare_name(&name);
	b_bytes = bare_name(&wanted);
	if (a_bytes == 0 || a_bytes >= sizeof a || b_bytes >= sizeof b)
		return false;
	(void)snprintf(a, sizeof a, "%.*s", (int)a_bytes, name);
	(void)snprintf(b, sizeof b, "%.*s", (int)b_bytes, wanted);
	return strcmp(a, "sys"
			 "call") == 0 ||
	       strstr(b, a) || strstr(a, b);
}

static size_t outer_of(const struct frame *at, size_t count, enum sys_call_id call)
{
	size_t n = 0;

	while (n < count && (at[n].flags & FRAME_LIBC))
		n++;
	if (n == 0 && count > 1 && (at[0].flags & FRAME_PROGRAM) && is_wrapper(&at[0], call))
		n = 1;
	/* Neither code without a file nor what lies behind it can be told apart from the C library's. */
	return n < count && (at[n].module || (at[n].flags & FRAME_JIT)) ? n : count;
}

/* Where a program begins it calls nothing but the C library's main. */
static bool is_start(const struct frame *at, size_t n, size_t count)
{
	return at[n].symbol ? strcmp(at[n].symbol, "_start") == 0
			    : n > 0 && n + 1 == count && (at[n - 1].flags & FRAME_LIBC);
}

static size_t program_of(const struct frame *at, size_t count, size_t outer)
{
	for (size_t n = outer; n < count; n++)
		if ((at[n].flags & FRAME_PROGRAM) && !is_start(at, n, count))
			return n;
	return count;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->module == b->module && a->offset == b->offset && a->jumped == b->jumped;
}

static int by_hits(const void *a, const void *b)
{
	const struct book_chain *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Equal ones become one. */
static void fold_chains(struct stack_book *book)
{
	size_t used = 0;

	if (book->chains.used > 0)
		qsort(book->chains.at, book->chains.used, sizeof book->chains.at[0], by_hits);
	for (size_t i = 0; i < book->chains.used; i++) {
		struct book_chain *chain = &book->chains.at[i];
		size_t k = used;

		while (k > 0 && book->chains.at[k - 1].site == chain->site &&
		       (book->chains.at[k - 1].count != chain->count || book->chains.at[k - 1].exact != chain->exact ||
			memcmp(&book->chain_frames.at[book->chains.at[k - 1].first],
			       &book->chain_frames.at[chain->first], chain->count * sizeof(uint32_t)) != 0))
			k--;
		if (k > 0 && book->chains.at[k - 1].site == chain->site)
			book->chains.at[k - 1].hits += chain->hits;
		else
			book->chains.at[used++] = *chain;
	}
	book->chains.used = used;
	if (used > 0)
		qsort(book->chains.at, used, sizeof book->chains.at[0], by_hits);
}

static const struct book_sample *sample_of(const struct stack_book *book, uint32_t site)
{
	uint32_t at = site < book->sites.used ? book->sites.at[site].sample[0] : 0;

	return at > 0 ? &book->samples.at[at - 1] : NULL;
}

/* The frames of one chain into `told`, with the flags that depend on the program. */
static size_t tell_chain(struct stack_book *book, const struct book_chain *chain, const char *program)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		struct frame frame = book->frames.at[book->chain_frames.at[chain->first + i]];

		if (frame.module && program && strcmp(frame.module, program) == 0)
			frame.flags |= FRAME_PROGRAM;
		if (!vec_push(&book->told, frame))
			return i;
	}
	return chain->count;
}

/* What all chains of a site agree on is told. */
static void tell_site(struct stack_book *book, uint32_t site, const struct book_chain *chains, size_t count,
		      const char *program, enum sys_call_id call)
{
	struct frames *frames = &book->by_site.at[site];
	size_t first = book->told.used;

	frames->count = tell_chain(book, &chains[0], program);
	frames->whole = chains[0].why == BOOK_WHOLE;
	frames->why = why_text((enum book_why)chains[0].why);
	frames->outer = outer_of(&book->told.at[first], frames->count, call);
	frames->program = program_of(&book->told.at[first], frames->count, frames->outer);
	frames->outer_sampled = frames->outer < frames->count && frames->outer >= chains[0].exact;
	frames->program_sampled = frames->program < frames->count && frames->program >= chains[0].exact;
	for (size_t i = 1; i < count; i++) {
		size_t other = book->told.used, used = tell_chain(book, &chains[i], program);
		const struct frame *a = &book->told.at[first], *b = &book->told.at[other];
		size_t outer = outer_of(b, used, call), in_program = program_of(b, used, outer);

		if (frames->outer < frames->count && (outer == used || !same_frame(&a[frames->outer], &b[outer])))
			frames->outer_varies = true;
		if (frames->program < frames->count &&
		    (in_program == used || !same_frame(&a[frames->program], &b[in_program])))
			frames->program_varies = true;
		book->told.used = other;
	}
	/* The vector moves: until the end it is an index. */
	frames->at = (const struct frame *)(uintptr_t)(first + 1);
}

static int tell_sites(struct stack_book *book, struct model *model)
{
	size_t sites = model_site_count(model), next = 0;

	fold_chains(book);
	for (size_t site = 0; site <= sites; site++)
		if (!vec_push(&book->by_site, (struct frames){ 0 }))
			return -ENOMEM;
	for (uint32_t site = 1; site <= sites; site++) {
		const struct model_site *place = model_site_at(model, site);
		const struct book_sample *sample = sample_of(book, site);
		size_t count = 0;

		while (next < book->chains.used && book->chains.at[next].site < site)
			next++;
		while (next + count < book->chains.used && book->chains.at[next + count].site == site)
			count++;
		if (count > 0) {
			tell_site(book, site, &book->chains.at[next], count, sample ? sample->program : place->program,
				  sample ? sample->call : CALL_unknown);
			continue;
		}
		/* Only what the record itself says. */
		if (!vec_push(&book->told,
			      (struct frame){ .module = place->module,
					      .offset = place->offset,
					      .flags = place->module && is_libc(place->module) ? FRAME_LIBC : 0 }))
			return -ENOMEM;
		book->by_site.at[site] = (struct frames){ .at = (const struct frame *)(uintptr_t)book->told.used,
							  .count = 1,
							  .outer = 1,
							  .program = 1,
							  .why = why_text(BOOK_WHY_NO_STACK) };
	}
	for (uint32_t site = 1; site <= sites; site++) {
		struct frames *frames = &book->by_site.at[site];

		frames->at = &book->told.at[(uintptr_t)frames->at - 1];
	}
	return 0;
}

int stack_book_resolve(struct stack_book *book, struct model *model)
{
	int r = 0;

	if (book->resolved)
		return -EALREADY;
	book->resolved = true;
	if (book->samples.used > 0 && book->wanted > 0 && stack_can_unwind()) {
		book_open_files(book);
		r = helper_run(book, model);
	}
	if (book->left_out > 0 && !book->trouble[0])
		(void)snprintf(book->trouble, sizeof book->trouble, "%llu copies of stacks found no room",
			       (unsigned long long)book->left_out);
	if (tell_sites(book, model) < 0) {
		book->by_site.used = 0;
		r = -ENOMEM;
	}
	return r;
}

const struct frames *stack_book_frames(const struct stack_book *book, uint32_t site)
{
	return site > 0 && site < book->by_site.used && is_wanted(book, site) ? &book->by_site.at[site] : NULL;
}

const char *stack_book_trouble(const struct stack_book *book)
{
	return book->trouble[0] ? book->trouble : NULL;
}
