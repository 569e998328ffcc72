/* SPDX-License-Identifier: BSD-2-Clause */
/* Built without libzstd: who writes or reads compressed files says so. */
#include <errno.h>

#include "event/trace-stream.h"
#include "event/trace.h"

const bool trace_has_zstd = false;

int trace_zstd_new(bool compress, struct trace_zstd **ret)
{
	(void)compress;
	*ret = NULL;
	return -EOPNOTSUPP;
}

void trace_zstd_free(struct trace_zstd *zstd)
{
	(void)zstd;
}

int trace_zstd_pack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, bool last, char *to, size_t room,
		    size_t *ret_used)
{
	(void)zstd;
	(void)from;
	(void)at;
	(void)end;
	(void)last;
	(void)to;
	(void)room;
	*ret_used = 0;
	return -EOPNOTSUPP;
}

int trace_zstd_unpack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, char *to, size_t *used,
		      size_t room)
{
	(void)zstd;
	(void)from;
	(void)at;
	(void)end;
	(void)to;
	(void)used;
	(void)room;
	return -EOPNOTSUPP;
}
