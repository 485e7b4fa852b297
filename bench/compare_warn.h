/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the warnings of a comparison; part of compare.c. */
#ifndef TLBBENCH_COMPARE_WARN_H
#define TLBBENCH_COMPARE_WARN_H

#include "compare.h"

/* Appends all warnings to a comparison that is otherwise complete. 0, -EINVAL or -ENOMEM. */
int compare__find_warnings(struct compare *compare);

#endif
