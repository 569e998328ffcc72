/* SPDX-License-Identifier: BSD-2-Clause */
/* What a report tells of the machine: no name of it. */
#ifndef SYSCULL_CMD_HOST_H
#define SYSCULL_CMD_HOST_H

#include "verdict/analysis.h"

/* The texts live as long as the program. */
struct analysis_host host_of_this(void);

#endif
