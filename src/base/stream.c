/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/stream.h"

#include <errno.h>

int stream_flush(FILE *stream)
{
	/* Of an earlier failure, unless something else failed since. */
	int code = errno;

	if (fflush(stream) != 0)
		return errno > 0 ? -errno : -EIO;
	if (!ferror(stream))
		return 0;
	/* What was buffered then is gone: does it still fail? */
	if (fputc('\n', stream) == EOF || fflush(stream) != 0)
		code = errno;
	return code > 0 ? -code : -EIO;
}
