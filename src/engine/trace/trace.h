/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace engine: the records of a file that was written before
 * (event/trace.h).  It sees nothing of its own: the books are the file's, and
 * what of the file is not whole makes them open.  This header is for who has
 * to know more of the file than an engine tells.
 */
#ifndef SYSCULL_ENGINE_TRACE_TRACE_H
#define SYSCULL_ENGINE_TRACE_TRACE_H

#include "engine/engine.h"
#include "event/trace.h"

/* What the file says of the run's beginning; lives as long as the engine. */
const struct trace_start *trace_engine_start(const struct engine *engine);
/* One line on what is not whole; NULL when all was read. */
const char *trace_engine_damage(const struct engine *engine);

/* The books of an engine as a file keeps them, but for what its writer left out. */
void trace_end_of(const struct engine_stats *stats, const struct engine_exit *exit, struct trace_end *ret);

#endif
