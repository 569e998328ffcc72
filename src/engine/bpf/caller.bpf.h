/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who makes a call, as the kernel's side sees it: the word that its caller left
 * and a hash over the addresses of code near it, at each call, and a copy of the
 * stack at the 1st, 2nd, 4th, 8th, ... hit of a key.  A key is a program, a call,
 * a place in it and, as long as there are few, who came there.  Part of
 * kernel.bpf.c, not a file by itself; unwinds nothing.
 */

/* Slot 0 is nobody's: what has it is not known. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KERN_CODES);
	__type(key, uint32_t);
	__type(value, struct kern_code);
} codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, KERN_CODES);
	__uint(value_size, sizeof(uint32_t));
} free_codes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERN_SEEN_SETS);
	__type(key, uint32_t);
	__type(value, struct kern_seen_set);
} seen_keys SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERN_LATE_KEYS);
	__type(key, uint32_t);
	__type(value, struct kern_late);
} late_keys SEC(".maps");

#define PAGE_BYTES 4096ull
#define PROT_EXECUTE 4
/* Around its entry, a little more than there is of it: no stack is so near, so what
 * is taken for code there is the same at every call. */
#define LOADER_BELOW (512ull << 10)
#define LOADER_ABOVE (768ull << 10)
/* Callers of one place that have a key of their own; what is no caller's address at all can differ each time. */
#define CALLERS_MAX 128
#define LATE_HITS 32 /* of a caller that has no key a stack is due then */
#define LOOK_WORDS 4
#define SUM_WORDS 8 /* at once */
#define STACK_NEAR 65536 /* above the stack pointer */

/* Odd, and nothing else. */
#define FACTOR(n) (0x9e3779b97f4a7c15ull ^ 0xd6e8feb86659fd93ull * (2 * (n)))

static __always_inline uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static __always_inline struct kern_code *code_at(uint32_t index)
{
	return index ? bpf_map_lookup_elem(&codes, &index) : NULL;
}

__noinline uint32_t code_new(void)
{
	uint32_t index = 0;
	struct kern_code *code;

	if (!settings.stacks)
		return 0;
	if (bpf_map_pop_elem(&free_codes, &index) != 0) {
		if (live.codes >= KERN_CODES - 1)
			return 0;
		index = (uint32_t)__sync_fetch_and_add(&live.codes, 1) + 1;
	}
	code = code_at(index);
	if (!code)
		return 0;
	code->refs = 1;
	code->used = code->version = code->filling = code->full = 0;
	code->least = code->span = 0;
	return index;
}

__noinline int code_drop(uint32_t index)
{
	struct kern_code *code = code_at(index);

	if (code && __sync_fetch_and_add(&code->refs, -1) == 1)
		(void)bpf_map_push_elem(&free_codes, &index, 0);
	return 0;
}

/* What a child has: the same as its parent, or a copy of it. */
__noinline uint32_t code_fork(uint32_t index, uint32_t share)
{
	struct kern_code *code = code_at(index), *copy;
	uint32_t made;

	if (!settings.stacks || !code)
		return 0;
	if (share) {
		__sync_fetch_and_add(&code->refs, 1);
		return index;
	}
	made = code_new();
	copy = code_at(made);
	if (!copy)
		return 0;
	if (bpf_probe_read_kernel(copy, sizeof *copy, code) != 0)
		copy->used = 0;
	copy->refs = 1;
	return made;
}

/* A few of the ranges from `first` on: this function is looked through once, however often it is called. */
#define PLACE_RANGES 16
__noinline uint64_t code_place_from(const struct kern_code *code, uint64_t address, uint32_t first)
{
	if (!settings.stacks || !code)
		return 0;
	for (uint32_t i = 0; i < PLACE_RANGES; i++) {
		uint32_t n = first + i;
		uint64_t into;

		KEEP(n);
		if (n >= KERN_CODE_RANGES || n >= code->used)
			break;
		into = address - code->range[n].start;
		if (into < code->range[n].bytes)
			return into << 8 | (n + 1);
	}
	return 0;
}

/* The how manieth range an address is in, and how far into it: the same in all runs of a program; 0 none. */
__noinline uint64_t code_place(const struct kern_code *code, uint64_t address)
{
	uint64_t place;

	if (!settings.stacks || !code)
		return 0;
	for (uint32_t first = 0; first < KERN_CODE_RANGES; first += PLACE_RANGES) {
		if (first >= code->used)
			break;
		place = code_place_from(code, address, first);
		if (place)
			return place;
	}
	return 0;
}

/* What follows a range, or begins in it, makes that longer, as code that is made at run time
 * does.  Beyond the limit nothing is known: without some of it, unequal stacks would be equal. */
__noinline int code_add(struct kern_code *code, uint64_t start, uint64_t bytes)
{
	uint64_t end = start + bytes, least, place;
	uint32_t n;

	if (!settings.stacks || !code || bytes == 0 || end < start)
		return 0;
	place = code_place(code, start);
	if (place) {
		n = (uint32_t)(place & 0xff) - 1;
		if (n < KERN_CODE_RANGES && bytes <= code->range[n].bytes - (place >> 8))
			return 0;
	} else {
		place = code_place(code, start - 1);
	}
	code->version++;
	if (code->filling || code->full)
		return 0;
	n = place ? (uint32_t)(place & 0xff) - 1 : code->used;
	if (n >= KERN_CODE_RANGES) {
		code->full = 1;
		return 0;
	}
	if (place) {
		start = code->range[n].start;
	} else {
		code->range[n].start = start;
		code->used = n + 1;
	}
	code->range[n].bytes = end - start;
	if (n == 0)
		return 0;
	least = code->span ? code->least : start;
	if (code->span && end < code->least + code->span)
		end = code->least + code->span;
	if (start < least)
		least = start;
	code->least = least;
	code->span = end - least;
	return 0;
}

/*
 * Some of the words: those that are addresses of code go into the hash, and with
 * those that are addresses of the stack into what is compared from now on.  What
 * is summed up is in memory, where the verifier does not follow it.
 */
__noinline int look_at_words(struct kern_scratch *scratch, const struct kern_code *code, struct kern_memo *memo,
			     uint64_t sp, uint32_t first)
{
	uint64_t program, program_bytes, least, span, place;

	if (!settings.stacks || !scratch || !code || !memo)
		return 0;
	program = code->range[0].start;
	program_bytes = code->range[0].bytes;
	least = code->least;
	span = code->span;
	for (uint32_t i = 0; i < LOOK_WORDS; i++) {
		uint32_t n = (first + i) & (ITEM_CALLER_WORDS - 1), count;
		uint64_t word = scratch->words.at[n];

		if (word - program < program_bytes || word - least < span) {
			place = code_place(code, word);
			if (place)
				scratch->hash = mix(scratch->hash, place ^ (uint64_t)n << 56);
			else if (word - sp >= STACK_NEAR)
				continue;
		} else if (word - sp >= STACK_NEAR) {
			continue;
		}
		count = memo->count;
		memo->at[count & (KERN_MEMO_WORDS - 1)] = (uint8_t)n;
		memo->count = count + 1;
	}
	return 0;
}

/*
 * Is it the stack that is kept in mind?  Where the next return address is follows
 * from the one before it, as long as frames are of one size; of functions whose
 * frames are not, the frame's address stands in a register, or in a word.  Sums
 * are compared, for they are short: of two stacks that differ they are equal once
 * in 2^64.
 */
__noinline uint64_t sum_words(const struct kern_memo *memo, const struct kern_words *words)
{
	uint64_t one = 0, other = 0;

	if (!settings.stacks || !memo || !words)
		return 0;
	/* Two of them, since each multiplication waits for the one before it. */
	for (uint32_t i = 0; i < KERN_MEMO_WORDS; i += 2) {
		if (i % SUM_WORDS == 0 && i >= memo->count)
			break;
		one = (one + words->at[memo->at[i] & (ITEM_CALLER_WORDS - 1)]) * FACTOR(0);
		other = (other + words->at[memo->at[i + 1] & (ITEM_CALLER_WORDS - 1)]) * FACTOR(8);
	}
	return mix(one, other);
}

/* A new image begins in its loader, when it has one. */
__noinline int add_loader(struct kern_code *code, uint64_t entry)
{
	if (!settings.stacks || !code || entry < LOADER_BELOW || code_place(code, entry))
		return 0;
	return code_add(code, (entry & ~(PAGE_BYTES - 1)) - LOADER_BELOW, LOADER_BELOW + LOADER_ABOVE);
}

/* mmap and mprotect: memory that can be executed from now on. */
__noinline int note_code(struct kern_task *task, uint32_t at_first)
{
	if (!task || task->call.ret < 0 || !(task->call.args[2] & PROT_EXECUTE))
		return 0;
	return code_add(code_at(task->code), at_first ? task->call.args[0] : (uint64_t)task->call.ret,
			task->call.args[1]);
}

/* A key without room takes that of the fewer hits: then it is sampled more often than it need be. */
static __always_inline struct kern_seen *seen(uint64_t key, uint32_t make)
{
	uint32_t set = (uint32_t)key & (KERN_SEEN_SETS - 1);
	struct kern_seen_set *found = bpf_map_lookup_elem(&seen_keys, &set);
	struct kern_seen *way;

	if (!found)
		return NULL;
	if (found->way[0].key == key)
		return &found->way[0];
	if (found->way[1].key == key)
		return &found->way[1];
	if (!make)
		return NULL;
	way = found->way[1].hits < found->way[0].hits ? &found->way[1] : &found->way[0];
	way->key = key;
	way->hits = way->callers = 0;
	return way;
}

/* A caller without a key: at its 32nd, 64th, ... call, which those that come once never make. */
__noinline int is_late_due(uint64_t key)
{
	uint32_t place = (uint32_t)key & (KERN_LATE_KEYS - 1), hits;
	struct kern_late *late = settings.stacks ? bpf_map_lookup_elem(&late_keys, &place) : NULL;

	if (!late)
		return 0;
	if (late->key != key) {
		if (late->hits > 0) {
			late->hits--;
			return 0;
		}
		late->key = key;
	}
	hits = ++late->hits;
	return hits >= LATE_HITS && (hits & (hits - 1)) == 0;
}

/* again: how often the task has just made it, a power of two.  CPUs that count at the same
 * time lose a hit now and then; nobody is told of hits. */
__noinline int is_due(uint64_t key, uint64_t caller, uint32_t again)
{
	struct kern_seen *place, *one;
	uint32_t hits;

	key |= 1;
	place = settings.stacks ? seen(key, 1) : NULL;
	if (!place)
		return 0;
	hits = ++place->hits;
	one = seen(mix(key, caller) | 1, place->callers < CALLERS_MAX);
	if (one) {
		/* The set can be the same, and the place's own entry have gone for it. */
		if (one->hits == 0 && place->key == key)
			place->callers++;
		hits = ++one->hits;
	} else if (again >= LATE_HITS || is_late_due(mix(key, caller))) {
		/* Not every stack can be kept in mind: then nobody but the key knows that it came again. */
		return 1;
	}
	return (hits & (hits - 1)) == 0;
}

/* The whole of it, and kept in mind for the next call from there. */
__noinline int look_anew(struct kern_task *task, struct kern_memo *memo, struct kern_scratch *scratch, uint64_t sp,
			 uint64_t key)
{
	struct kern_code *code;

	if (!settings.stacks || !task || !memo || !scratch)
		return 0;
	memo->key = 0;
	memo->code = 0;
	memo->count = 0;
	memo->hits = 1;
	code = code_at(task->code);
	if (!code || code->used == 0 || code->filling || code->full)
		return 0;
	scratch->hash = 1;
	for (uint32_t first = 0; first < ITEM_CALLER_WORDS; first += LOOK_WORDS)
		(void)look_at_words(scratch, code, memo, sp, first);
	memo->code = scratch->hash | (scratch->hash == 0);
	if (memo->count > KERN_MEMO_WORDS)
		return 0;
	for (uint32_t i = 0; i < SUM_WORDS; i++) {
		uint32_t n = memo->count + i;

		if (n % SUM_WORDS == 0)
			break;
		memo->at[n & (KERN_MEMO_WORDS - 1)] = 0;
	}
	memo->sum = sum_words(memo, &scratch->words);
	memo->key = key;
	return 0;
}

/* What a memo is found by: where it differs it is another stack. */
static __always_inline uint64_t memo_key(const struct kern_task *task, uint64_t sp, uint64_t frame, uint64_t base,
					 uint64_t word, uint32_t version)
{
	uint64_t key = task->call.ip * FACTOR(1) + sp * FACTOR(2) + frame * FACTOR(3) + base * FACTOR(4) +
		       word * FACTOR(5) + ((uint64_t)version << 32 | (uint32_t)task->call.nr) * FACTOR(6) +
		       task->images * FACTOR(7);

	return (key ^ key >> 32) | 1;
}

static __always_inline uint64_t key_of(const struct kern_task *task, const struct kern_code *code)
{
	uint64_t place = code_place(code, task->call.ip);

	return mix(mix(task->image, place ? place : task->call.ip), (uint32_t)task->call.nr);
}

/* Becomes the first item of the call: is a copy of its stack due?  Most of what it costs
 * is the reading, of however few words. */
__noinline int take_caller(struct kern_task *task, uint64_t sp, uint64_t link, uint64_t frame, uint64_t base)
{
	struct kern_scratch *scratch = my_scratch();
	uint64_t to_page = PAGE_BYTES - (sp & (PAGE_BYTES - 1));
	struct kern_caller *item;
	struct kern_memo_set *set;
	struct kern_code *code;
	struct kern_memo *memo;
	uint64_t key;
	uint32_t way;

	/* Where it is on the stack the compiler would pass nothing, which the verifier minds. */
	KEEP(link);
	if (!settings.stacks || !task || !scratch)
		return 0;
	/* What cannot be read is 0 afterwards. */
	if (bpf_probe_read_user(&scratch->words, sizeof scratch->words, (void *)sp) != 0) {
		KEEP(to_page);
		if (to_page < sizeof scratch->words)
			(void)bpf_probe_read_user(&scratch->words, to_page, (void *)sp);
	}
	/* Most hold something else. */
	if (frame - sp >= STACK_NEAR)
		frame = 0;
	if (base - sp >= STACK_NEAR)
		base = 0;
	code = code_at(task->code);
	key = memo_key(task, sp, frame, base, scratch->words.at[0], code ? code->version : 0);
	item = (struct kern_caller *)task->entered;
	item->head.type = SYS_ITEM_CALLER;
	item->head.arg = item->head.flags = 0;
	item->head.bytes = sizeof item->caller;
	item->caller.word = CALLER_ON_STACK ? scratch->words.at[0] : link;
	task->entered_bytes = sizeof *item;
	task->entered_items = 1;
	set = &task->memos[key >> 32 & (KERN_MEMO_SETS - 1)];
	for (way = 0; way < KERN_MEMO_WAYS; way++) {
		memo = &set->way[way];
		if (memo->key != key || memo->sum != sum_words(memo, &scratch->words))
			continue;
		set->last = way;
		item->caller.code = memo->code;
		memo->hits++;
		if (memo->hits & (memo->hits - 1))
			return 0;
		return is_due(key_of(task, code), memo->code, memo->hits);
	}
	/* Not always that of the longest ago, but never the last one. */
	set->last++;
	memo = &set->way[set->last & (KERN_MEMO_WAYS - 1)];
	(void)look_anew(task, memo, scratch, sp, key);
	item->caller.code = memo->code;
	return is_due(key_of(task, code), memo->code ? memo->code : item->caller.word, 0);
}

/* In the scratch: behind the record's head and the registers. */
#define STACK_AT (sizeof(struct kern_stack) + REGISTERS * sizeof(uint64_t))

/* Where copies end: of the environment nobody is told but the variables that rules
 * name, and it lies above the first frame. */
static __always_inline uint64_t stack_most(uint64_t sp)
{
	uint64_t mm = kernel_u64(bpf_get_current_task(), at.task_mm), end = kernel_u64(mm, at.mm_start_stack);
	uint64_t most = settings.stacks;

	if (end == 0 || (sp >= end && sp < kernel_u64(mm, at.mm_env_end)))
		return 0;
	return sp < end && end - sp < most ? end - sp : most;
}

/* One page of it, as far as it is wanted: is there more? */
__noinline int copy_page(struct kern_scratch *scratch, uint64_t sp, uint64_t most)
{
	uint64_t done, bytes;

	if (!settings.stacks || !scratch)
		return 0;
	done = scratch->from;
	bytes = PAGE_BYTES - ((sp + done) & (PAGE_BYTES - 1));
	if (bytes > most - done)
		bytes = most - done;
	KEEP(bytes);
	KEEP(done);
	if (bytes > PAGE_BYTES || done > ITEM_STACK_BYTES_MAX ||
	    bpf_probe_read_user(scratch->data + STACK_AT + done, bytes, (void *)(sp + done)) != 0)
		return 0;
	scratch->from = done + bytes;
	return scratch->from < most;
}

/* How many bytes; a page that is not there ends it. */
static __always_inline uint64_t copy_memory(struct kern_scratch *scratch, uint64_t sp, uint64_t most)
{
	scratch->from = 0;
	for (int i = 0; most && i < ITEM_STACK_BYTES_MAX / 4096 + 1; i++) {
		if (!copy_page(scratch, sp, most))
			break;
	}
	return scratch->from;
}

static __always_inline int put_stack(struct kern_books *book, struct kern_stack *record, uint64_t bytes)
{
	uint32_t flags = (uint32_t)ask_ring(book), first = 0;
	void *to = bpf_map_lookup_elem(&rings, &first);

	/* Calls come before who made them. */
	if (!to || bpf_ringbuf_query(to, BPF_RB_AVAIL_DATA) > bpf_ringbuf_query(to, BPF_RB_RING_SIZE) / 2)
		return -1;
	KEEP(bytes);
	if (bytes > KERN_STACK_RECORD_MAX)
		return -1;
	return bpf_ringbuf_output(to, record, bytes, flags);
}

/* Told before the call that it belongs to, which says that it was. */
static __always_inline void copy_stack(struct kern_task *task, struct kern_scratch *scratch, struct kern_books *book,
				       uint64_t from)
{
	struct kern_stack *record = (struct kern_stack *)scratch->data;
	uint64_t *registers = (uint64_t *)(record + 1), done, bytes;
	struct registers regs;

	if (live.stack_bytes >= settings.stack_bytes_max) {
		book->stacks_left_out++;
		return;
	}
	if (bpf_probe_read_kernel(&regs, sizeof regs, (void *)from) != 0) {
		book->stacks_unread++;
		return;
	}
	put_registers(registers, &regs);
	record->head.type = KERN_RECORD_STACK;
	record->head.flags = 0;
	record->head.pid = task->call.head.pid;
	record->head.tid = task->call.head.tid;
	record->head.time_ns = 0;
	record->item.type = SYS_ITEM_STACK;
	record->item.arg = record->item.flags = 0;
	record->stack.sp = SP_OF(&regs);
	record->stack.registers = REGISTERS;
	record->stack.pad = 0;
	done = copy_memory(scratch, SP_OF(&regs), stack_most(SP_OF(&regs)));
	if (done == 0) {
		book->stacks_unread++;
		return;
	}
	bytes = STACK_AT + done;
	record->item.bytes = (uint32_t)(bytes - sizeof record->head - sizeof record->item);
	bytes = (bytes + 7) & ~7ull;
	record->head.bytes = (uint32_t)bytes;
	if (put_stack(book, record, bytes) != 0) {
		book->stacks_left_out++;
		return;
	}
	__sync_fetch_and_add(&live.stack_bytes, bytes);
	task->call.head.flags |= KERN_F_STACK;
	book->stacks++;
}
