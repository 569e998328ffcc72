/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stopped tracee's memory.  process_vm_readv where it is allowed, word by
 * word with PEEKDATA where a container profile or an old kernel refuses it.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/ptrace/ptrace.h"

#define FIRST_CHUNK 256

static size_t page_bytes(void)
{
	static size_t bytes;

	if (bytes == 0)
		bytes = (size_t)sysconf(_SC_PAGESIZE);
	return bytes;
}

static size_t peek(pid_t tid, uint64_t address, char *data, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		uint64_t aligned = (address + done) & ~(uint64_t)(sizeof(long) - 1);
		size_t skip = (size_t)(address + done - aligned);
		size_t take = sizeof(long) - skip;
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)aligned, NULL);
		if (errno != 0)
			break;
		if (take > bytes - done)
			take = bytes - done;
		memcpy(data + done, (char *)&word + skip, take);
		done += take;
	}
	return done;
}

size_t memory_read(struct engine_pt *e, pid_t tid, uint64_t address, void *data, size_t bytes)
{
	size_t done = 0;

	if (address == 0 || bytes == 0)
		return 0;
	while (!e->no_readv && done < bytes) {
		struct iovec local = { (char *)data + done, bytes - done };
		struct iovec remote = { (void *)(uintptr_t)(address + done), bytes - done };
		/* A transfer ends at the element that fails: the part up to
		 * the next page is asked for alone when the whole was refused. */
		ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

		if (n < 0 && (errno == EPERM || errno == ENOSYS)) {
			e->no_readv = true;
			e->stats.met |= ENGINE_MET_NO_READV;
			break;
		}
		if (n < 0) {
			size_t to_page = page_bytes() - (size_t)((address + done) & (page_bytes() - 1));

			if (errno != EFAULT || bytes - done <= to_page)
				return done;
			local.iov_len = remote.iov_len = to_page;
			n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
			if (n <= 0)
				return done;
			return done + (size_t)n;
		}
		if (n == 0)
			return done;
		done += (size_t)n;
	}
	if (e->no_readv)
		return done + peek(tid, address + done, (char *)data + done, bytes - done);
	return done;
}

bool memory_write(struct engine_pt *e, pid_t tid, uint64_t address, const void *data, size_t bytes)
{
	if (!e->no_readv) {
		struct iovec local = { (void *)(uintptr_t)data, bytes };
		struct iovec remote = { (void *)(uintptr_t)address, bytes };

		if (process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)bytes)
			return true;
	}
	for (size_t done = 0; done < bytes; done += sizeof(long)) {
		size_t take = bytes - done < sizeof(long) ? bytes - done : sizeof(long);
		long word = 0;

		if (take < sizeof word && peek(tid, address + done, (char *)&word, sizeof word) != sizeof word)
			return false;
		memcpy(&word, (const char *)data + done, take);
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)(address + done), word) != 0)
			return false;
	}
	return true;
}

size_t memory_string(struct engine_pt *e, pid_t tid, uint64_t address, size_t most, bool *ret_cut, bool *ret_unread)
{
	struct buf *buf = &e->scratch;

	buf_clear(buf);
	*ret_cut = false;
	*ret_unread = false;
	for (;;) {
		size_t want = buf->bytes == 0 ? FIRST_CHUNK : 4096;
		/* Stay within a page: what lies behind the string may be unmapped. */
		size_t to_page = page_bytes() - (size_t)((address + buf->bytes) & (page_bytes() - 1));
		char *place, *end;
		size_t n;

		if (want > to_page)
			want = to_page;
		if (want > most + 1 - buf->bytes)
			want = most + 1 - buf->bytes;
		place = buf_reserve(buf, want);
		n = place ? memory_read(e, tid, address + buf->bytes, place, want) : 0;
		if (n == 0) {
			*ret_unread = buf->bytes == 0;
			*ret_cut = buf->bytes > 0;
			return buf->bytes;
		}
		end = memchr(place, '\0', n);
		if (end) {
			buf->bytes += (size_t)(end - place);
			return buf->bytes;
		}
		buf->bytes += n;
		if (buf->bytes > most) {
			buf->bytes = most;
			*ret_cut = true;
			return most;
		}
	}
}
