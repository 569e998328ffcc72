/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SYSCULL_CMD_REACH_H
#define SYSCULL_CMD_REACH_H

/*
 * Why a preloaded library does not reach this program ("linked statically"),
 * NULL when it does or that cannot be told.  Of a script its interpreter is
 * asked.
 */
const char *reach_obstacle(const char *program);

#endif
