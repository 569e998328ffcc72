/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscull/mark.h - tell syscull what the program is doing.
 *
 * A mark begins a region: what is called until the next mark belongs to it
 * (`syscull run --by region`).  When nobody watches, a mark is one failed
 * look-up.  Programs in other languages look up the path themselves:
 * os.access, fs.existsSync, `test -e /.syscull/mark/NAME`.
 */
#ifndef SYSCULL_MARK_H
#define SYSCULL_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Longest name, bytes; longer ones are cut. */
#define SYSCULL_MARK_NAME_MAX 200

/*
 * syscull_mark - begin the region `name`.
 *
 * name: not empty; '/' is allowed.  Borrowed for the call.
 * Returns 0; -EINVAL when the name is NULL or empty.  errno is left as it was.
 * Safety: any thread, async-signal-safe, safe in a vfork child.
 * Cost: exactly one faccessat(2) of /.syscull/mark/NAME, which answers ENOENT.
 */
int syscull_mark(const char *name);

#ifdef __cplusplus
}
#endif

#endif
