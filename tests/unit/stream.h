/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs script text through a model, for tests of the model and of rules.
 * The format of scripts: docs/howto/write-a-test.md, "Scripted streams".  A
 * test that includes this needs the include root of cmd, which sees all
 * folders: '-iquote', see_root / 'cmd'.
 *
 *     struct stream s = { .view = count_it, .data = &counts };
 *
 *     stream_feed(&s, "task 100 exe=/bin/ls cwd=/tmp\n"
 *                     "100 openat(AT_FDCWD, \"f\", O_RDONLY) = 3\n");
 *     assert_string_equal(s.last.path->text, "/tmp/f");
 *     stream_done(&s);
 */
#ifndef SYSCULL_TESTS_UNIT_STREAM_H
#define SYSCULL_TESTS_UNIT_STREAM_H

#include <string.h>

#include "test.h"

#include "engine/script/script.h"
#include "model/model.h"

struct stream {
	/* Set before the first feed, or leave 0. */
	uint64_t items; /* evidence that scripts deliver: a rule's `items`; 0 all */
	const char *const *env_names; /* NULL all */
	const struct model_limits *limits; /* NULL: the defaults */
	/* For every record; view->call is NULL when it is no call. */
	void (*view)(void *data, const struct model_view *view, const struct event_head *head);
	void *data;

	struct model *model;
	struct engine *engine;
	/* Of the last record; what it points at lives until the next feed. */
	struct model_view last;
};

/* Feeds all lines; time, tasks and descriptors go on from feed to feed.  A
 * script that cannot be read fails the test. */
static inline void stream_feed(struct stream *stream, const char *text)
{
	struct engine_spec spec = { .items = stream->items, .env_names = stream->env_names };
	const struct event_head *head;
	struct error err = { 0 };
	int r;

	if (!stream->model) {
		stream->model = stream->limits ? model_new_limited(stream->limits) : model_new();
		assert_non_null(stream->model);
	}
	if (!stream->engine)
		r = script_open(text, strlen(text), "script", &spec, &stream->engine, &err);
	else
		r = script_more(stream->engine, text, strlen(text), &err);
	while (r == 0) {
		r = engine_script.next(stream->engine, &head, &err);
		if (r != ENGINE_RECORD)
			break;
		/* Exactly the record: a reader that goes beyond it is found by the sanitizer. */
		assert_true(event_valid(head, head->bytes));
		r = model_feed(stream->model, head, &stream->last);
		if (r < 0)
			fail_msg("model_feed: %s", strerror(-r));
		if (stream->view)
			stream->view(stream->data, &stream->last, head);
	}
	if (r < 0)
		fail_msg("%s", err.text);
}

static inline void stream_done(struct stream *stream)
{
	if (stream->engine)
		engine_script.stop(stream->engine);
	model_free(stream->model);
	stream->engine = NULL;
	stream->model = NULL;
}

#endif
