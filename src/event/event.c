/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/event.h"
