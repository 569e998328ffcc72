/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The price book: every loop runs at most once, when a price first asks for
 * it.  A book that is kept between runs would fill `known` before anybody
 * asks; nothing else has to change.
 */
#include "verdict/price.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/price-table.h"
#include "verdict/probe.h"

/* Of one call, what else a turn of the loop makes taken out. */
struct known_price {
	bool known;
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
	double other_ns;
};

/* When not even a memfd can be had: what a call costs on a small machine. */
#define GUESS_NS 300.0

struct price_book *price_book_new(void)
{
	return calloc(1, sizeof(struct price_book));
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

static const struct known_price *ask(struct price_book *book, enum probe_id id)
{
	struct known_price *price = &book->known[id];
	struct probe_result result = { GUESS_NS, GUESS_NS / 2, GUESS_NS * 4, 0 };
	unsigned rest_count, calls = probe_calls(id);
	enum probe_id rest;
	double rest_ns, least;

	if (price->known)
		return price;
	if (!book->room && !book->no_room) {
		book->room = probe_room_new();
		book->no_room = !book->room;
	}
	if (book->room)
		probe_measure(book->room, id, &result);
	rest = probe_rest(id, &rest_count);
	rest_ns = rest_count > 0 ? rest_count * ask(book, rest)->ns : 0;
	/* A difference of two loops can come out as nothing; a call cannot. */
	least = id == PROBE_NULL ? 1 : ask(book, PROBE_NULL)->ns / 2;
	price->ns = (result.ns - rest_ns) / calls;
	price->low_ns = (result.low_ns - rest_ns) / calls;
	price->high_ns = (result.high_ns - rest_ns) / calls;
	price->ns = price->ns < least ? least : price->ns;
	price->low_ns = price->low_ns < least ? least : price->low_ns;
	price->high_ns = price->high_ns < price->ns ? price->ns : price->high_ns;
	price->components = result.components;
	price->known = true;
	return price;
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
