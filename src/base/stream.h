/* SPDX-License-Identifier: BSD-2-Clause */
/* Why something could not be written, which stdio tells only while it happens. */
#ifndef SYSCULL_BASE_STREAM_H
#define SYSCULL_BASE_STREAM_H

#include <stdio.h>

/* Hands on what is buffered: 0, or the negative errno of what failed now or before. */
int stream_flush(FILE *stream);

#endif
