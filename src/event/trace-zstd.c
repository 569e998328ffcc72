/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zstd for trace-stream.c, from memory to memory.  A few bytes can stand for
 * gigabytes: nothing is decompressed before it is asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "event/trace-stream.h"
#include "event/trace.h"

/* Half the work of level 3, for files that are a sixth larger. */
#define LEVEL 1
/* Of files that others compressed at most 2^23 bytes are kept in mind: zstd -19 wants as many. */
#define WINDOW_LOG_MAX 23

const bool trace_has_zstd = true;

struct trace_zstd {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
};

int trace_zstd_new(bool compress, struct trace_zstd **ret)
{
	struct trace_zstd *zstd = calloc(1, sizeof *zstd);
	bool good = false;

	if (zstd && compress) {
		zstd->pack = ZSTD_createCCtx();
		good = zstd->pack &&
		       !ZSTD_isError(ZSTD_CCtx_setParameter(zstd->pack, ZSTD_c_compressionLevel, LEVEL)) &&
		       !ZSTD_isError(ZSTD_CCtx_setParameter(zstd->pack, ZSTD_c_checksumFlag, 1));
	} else if (zstd) {
		zstd->unpack = ZSTD_createDCtx();
		good = zstd->unpack &&
		       !ZSTD_isError(ZSTD_DCtx_setParameter(zstd->unpack, ZSTD_d_windowLogMax, WINDOW_LOG_MAX));
	}
	if (!good) {
		trace_zstd_free(zstd);
		return -ENOMEM;
	}
	*ret = zstd;
	return 0;
}

void trace_zstd_free(struct trace_zstd *zstd)
{
	if (!zstd)
		return;
	(void)ZSTD_freeCCtx(zstd->pack);
	(void)ZSTD_freeDCtx(zstd->unpack);
	free(zstd);
}

static int failure(size_t code)
{
	ZSTD_ErrorCode error = ZSTD_getErrorCode(code);

	return error == ZSTD_error_memory_allocation		   ? -ENOMEM
	       : error == ZSTD_error_frameParameter_windowTooLarge ? -EFBIG
								   : -EBADMSG;
}

int trace_zstd_pack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, bool last, char *to, size_t room,
		    size_t *ret_used)
{
	ZSTD_inBuffer in = { from, end, *at };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t left = ZSTD_compressStream2(zstd->pack, &out, &in, last ? ZSTD_e_end : ZSTD_e_flush);

	*at = in.pos;
	*ret_used = out.pos;
	return ZSTD_isError(left) ? failure(left) : left > 0;
}

int trace_zstd_unpack(struct trace_zstd *zstd, const char *from, size_t *at, size_t end, char *to, size_t *used,
		      size_t room)
{
	ZSTD_inBuffer in = { from, end, *at };
	ZSTD_outBuffer out = { to, room, *used };
	size_t left = ZSTD_decompressStream(zstd->unpack, &out, &in);

	*at = in.pos;
	*used = out.pos;
	return ZSTD_isError(left) ? failure(left) : left > 0;
}
