/* SPDX-License-Identifier: BSD-2-Clause */
/* Versions of Debian packages, [epoch:]upstream[-revision], in Debian's order. */
#ifndef SYSCULL_VERDICT_PACKAGE_VERSION_H
#define SYSCULL_VERDICT_PACKAGE_VERSION_H

#define PACKAGE_VERSION_MAX 128

/* Below, equal to or above zero. */
int package_version_compare(const char *a, const char *b);
/* The part that upstream gave: "2:4.0.2-3" → "4.0.2".  Cut when it is longer. */
const char *package_version_upstream(const char *version, char out[static PACKAGE_VERSION_MAX]);

#endif
