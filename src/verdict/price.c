/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The price book: every loop runs at most once, when a price first asks for
 * it and no earlier run has kept it.
 */
#include "verdict/price.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "verdict/price-cache.h"
#include "verdict/price-table.h"
#include "verdict/probe.h"

/* Of one call, what else a turn of the loop makes taken out. */
struct known_price {
	bool known, kept;
	double ns, low_ns, high_ns;
	unsigned components;
};

struct price_book {
	struct probe_room *room;
	bool no_room; /* no memory, no descriptors: the guesses below */
	struct known_price known[PROBE_COUNT];
	struct price_fixed *fixed; /* for tests; then nothing is measured */
	size_t fixed_count;
	bool is_fixed;
	bool keeps, looked; /* keeps prices; has looked what there is */
	enum price_state state;
	bool dirty;
	struct price_key key;
	double quick_ns;
	double other_ns;
};

/* When not even a memfd can be had: what a call costs on a small machine. */
#define GUESS_NS 300.0

struct price_book *price_book_new(void)
{
	return calloc(1, sizeof(struct price_book));
}

struct price_book *price_book_new_kept(void)
{
	struct price_book *book = price_book_new();

	if (book)
		book->keeps = true;
	return book;
}

struct price_book *price_book_new_fixed(const struct price_fixed *rows, size_t count, double other_ns)
{
	struct price_book *book = price_book_new();

	if (!book)
		return NULL;
	book->is_fixed = true;
	book->other_ns = other_ns;
	if (count > 0) {
		book->fixed = malloc(count * sizeof *rows);
		if (!book->fixed) {
			free(book);
			return NULL;
		}
		memcpy(book->fixed, rows, count * sizeof *rows);
		book->fixed_count = count;
	}
	return book;
}

void price_book_free(struct price_book *book)
{
	if (!book)
		return;
	probe_room_free(book->room);
	free(book->fixed);
	free(book);
}

static struct price price_fixed_of(const struct price_book *book, enum sys_call_id call, int err, double components)
{
	double ns = book->other_ns;

	for (size_t i = 0; i < book->fixed_count; i++) {
		const struct price_fixed *row = &book->fixed[i];

		if (row->call == call && (row->err == err || (row->err == PRICE_ANY_FAILURE && err != 0))) {
			ns = row->ns + row->component_ns * components;
			break;
		}
	}
	return (struct price){ .ns = ns, .low_ns = ns * 0.9, .high_ns = ns * 1.1, .probe = "fixed" };
}

/* What earlier runs have kept, if the machine is still as fast as then. */
static void look_up(struct price_book *book)
{
	struct price_kept kept;
	int r;

	book->looked = true;
	if (price_key_read(&book->key) < 0) {
		book->keeps = false;
		return;
	}
	book->quick_ns = price_quick_ns();
	r = price_cache_read(&book->key, &kept);
	if (r < 0)
		book->state = r == -ENOENT    ? PRICE_STATE_NONE
			      : r == -ESTALE  ? PRICE_STATE_STALE
			      : r == -EBADMSG ? PRICE_STATE_BROKEN
					      : PRICE_STATE_REFUSED;
	else
		book->state = price_drifted(kept.quick_ns, book->quick_ns) ? PRICE_STATE_DRIFTED : PRICE_STATE_KEPT;
	if (book->state != PRICE_STATE_KEPT)
		return;
	book->quick_ns = kept.quick_ns;
	for (unsigned id = 0; id < PROBE_COUNT; id++)
		if (kept.rows[id].known)
			book->known[id] = (struct known_price){ .known = true,
								.kept = true,
								.ns = kept.rows[id].ns,
								.low_ns = kept.rows[id].low_ns,
								.high_ns = kept.rows[id].high_ns,
								.components = kept.rows[id].components };
}

enum price_state price_book_state(struct price_book *book)
{
	if (book->keeps && !book->looked)
		look_up(book);
	return book->state;
}

const char *price_state_name(enum price_state state)
{
	static const char *const names[] = {
		[PRICE_STATE_NONE] = "none were kept",
		[PRICE_STATE_KEPT] = "kept by earlier runs",
		[PRICE_STATE_STALE] = "those kept were of another boot or kernel",
		[PRICE_STATE_DRIFTED] = "those kept were of another speed",
		[PRICE_STATE_BROKEN] = "those kept were not readable",
		[PRICE_STATE_REFUSED] = "none can be kept",
	};

	return names[state];
}

static bool has_room(struct price_book *book)
{
	if (!book->room && !book->no_room) {
		book->room = probe_room_new();
		book->no_room = !book->room;
	}
	return book->room != NULL;
}

static const struct known_price *ask(struct price_book *book, enum probe_id id);

static void learn(struct price_book *book, enum probe_id id, const struct probe_result *result)
{
	struct known_price *price = &book->known[id];
	unsigned rest_count, calls = probe_calls(id);
	enum probe_id rest = probe_rest(id, &rest_count);
	double rest_ns = rest_count > 0 ? rest_count * ask(book, rest)->ns : 0, least;

	/* A difference of two loops can come out as nothing; a call cannot. */
	least = id == PROBE_NULL ? 1 : ask(book, PROBE_NULL)->ns / 2;
	price->ns = (result->ns - rest_ns) / calls;
	price->low_ns = (result->low_ns - rest_ns) / calls;
	price->high_ns = (result->high_ns - rest_ns) / calls;
	price->ns = price->ns < least ? least : price->ns;
	price->low_ns = price->low_ns < least ? least : price->low_ns;
	price->high_ns = price->high_ns < price->ns ? price->ns : price->high_ns;
	price->components = result->components;
	price->known = true;
	price->kept = false;
	/* A guess is not worth keeping. */
	book->dirty = book->dirty || book->room;
}

static const struct known_price *ask(struct price_book *book, enum probe_id id)
{
	struct probe_result result = { GUESS_NS, GUESS_NS / 2, GUESS_NS * 4, 0 };

	if (book->keeps && !book->looked)
		look_up(book);
	if (book->known[id].known)
		return &book->known[id];
	if (has_room(book))
		probe_measure(book->room, id, &result);
	learn(book, id, &result);
	return &book->known[id];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define PASSES_MAX 32

void price_book_calibrate(struct price_book *book, uint64_t budget_ns)
{
	static const struct probe_result none;
	double(*ns)[PASSES_MAX];
	struct probe_result results[PROBE_COUNT];
	uint64_t begin = clock_now_ns();
	unsigned passes = 0;

	if (book->is_fixed || !has_room(book))
		return;
	ns = calloc(PROBE_COUNT, sizeof *ns);
	if (!ns)
		return;
	if (book->keeps && !book->looked)
		look_up(book);
	/* Each pass has all loops: what slows the machine for a while slows all. */
	while (passes < PASSES_MAX && (passes == 0 || clock_now_ns() - begin < budget_ns)) {
		for (unsigned id = 0; id < PROBE_COUNT; id++) {
			results[id] = none;
			probe_measure(book->room, (enum probe_id)id, &results[id]);
			ns[id][passes] = results[id].ns;
		}
		passes++;
	}
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		qsort(ns[id], passes, sizeof ns[id][0], by_value);
		results[id].ns = ns[id][passes / 2];
		results[id].low_ns = ns[id][passes / 10];
		results[id].high_ns = ns[id][passes - 1 - passes / 10];
		book->known[id].known = false;
	}
	/* What others are reckoned from comes first, whatever its number. */
	learn(book, PROBE_NULL, &results[PROBE_NULL]);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned id = 0; id < PROBE_COUNT; id++) {
			unsigned rest;

			(void)probe_rest((enum probe_id)id, &rest);
			if ((rest > 0) == (round > 0))
				learn(book, (enum probe_id)id, &results[id]);
		}
	book->quick_ns = price_quick_ns();
	free(ns);
}

int price_book_save(struct price_book *book)
{
	struct price_kept kept = { .quick_ns = book->quick_ns };
	int r;

	if (!book->keeps || !book->dirty)
		return 0;
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		const struct known_price *known = &book->known[id];

		kept.rows[id].known = known->known;
		kept.rows[id].ns = known->ns;
		kept.rows[id].low_ns = known->low_ns;
		kept.rows[id].high_ns = known->high_ns;
		kept.rows[id].components = known->components;
	}
	r = price_cache_write(&book->key, &kept);
	book->dirty = r < 0;
	return r;
}

void price_book_count(const struct price_book *book, unsigned *ret_kept, unsigned *ret_measured)
{
	*ret_kept = *ret_measured = 0;
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		*ret_kept += book->known[id].known && book->known[id].kept;
		*ret_measured += book->known[id].known && !book->known[id].kept;
	}
}

const char *price_source_name(enum price_source source)
{
	return source == PRICE_MEASURED ? "measured" : "estimated";
}

/* Of one more component, by a path of one and a path of five. */
static double component_ns(struct price_book *book)
{
	const struct known_price *near = ask(book, PROBE_STAT), *deep = ask(book, PROBE_STAT_DEEP);

	if (deep->components <= near->components || deep->ns <= near->ns)
		return 0;
	return (deep->ns - near->ns) / (deep->components - near->components);
}

struct price price_of_probe(struct price_book *book, enum probe_id id)
{
	const struct known_price *known;

	if (book->is_fixed)
		return price_fixed_of(book, CALL_unknown, 0, 0);
	known = ask(book, id);
	return (struct price){ .ns = known->ns,
			       .low_ns = known->low_ns,
			       .high_ns = known->high_ns,
			       .source = PRICE_CALIBRATED,
			       .probe = probe_name(id) };
}

struct price price_of_page(struct price_book *book, double pages)
{
	struct price first = price_of_probe(book, PROBE_PAGE_FIRST), other;
	double part = 1 / (pages > 1 ? pages : 1);

	if (pages <= 1)
		return first;
	other = price_of_probe(book, PROBE_PAGE);
	other.ns = part * first.ns + (1 - part) * other.ns;
	other.low_ns = part * first.low_ns + (1 - part) * other.low_ns;
	other.high_ns = part * first.high_ns + (1 - part) * other.high_ns;
	return other;
}

struct price price_of_fork(struct price_book *book)
{
	return price_of_probe(book, PROBE_FORK);
}

#define START_CALLS 40 /* of a small program and its loader, cheap ones */

struct price price_of_start(struct price_book *book)
{
	struct price price = price_of_probe(book, PROBE_START), child, call;
	double rest_ns;

	if (book->is_fixed)
		return price_fixed_of(book, CALL_execve, 0, 0);
	child = price_of_probe(book, PROBE_VFORK);
	call = price_of_probe(book, PROBE_NULL);
	rest_ns = child.ns + START_CALLS * call.ns;
	price.ns = price.ns > 2 * rest_ns ? price.ns - rest_ns : price.ns / 2;
	price.low_ns = price.low_ns < price.ns / 2 ? price.ns / 2 : price.low_ns;
	/* Most programs have more to load than the smallest. */
	price.low_ns = price.low_ns < price.ns ? price.low_ns : price.ns;
	price.high_ns = price.high_ns > 2 * price.ns ? price.high_ns : 2 * price.ns;
	return price;
}

struct price price_of(struct price_book *book, enum sys_call_id call, int err, double components)
{
	const struct known_price *known;
	struct price price;
	enum probe_id id;
	double path_ns = 0;

	if (book->is_fixed)
		return price_fixed_of(book, call, err, components);
	id = price_table_probe(call, err);
	known = ask(book, id);
	if (probe_walks(id) && components > 0)
		path_ns = (components - known->components) * component_ns(book);
	/* Shorter than the path of the loop: never below half of it. */
	if (path_ns < -known->ns / 2)
		path_ns = -known->ns / 2;
	price = (struct price){ .ns = known->ns + path_ns, .source = PRICE_CALIBRATED, .probe = probe_name(id) };
	price.low_ns = known->low_ns + path_ns < price.ns / 4 ? price.ns / 4 : known->low_ns + path_ns;
	price.high_ns = known->high_ns + path_ns;
	return price;
}
