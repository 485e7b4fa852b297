/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics of a run that every workload has, from its report, its pages and its time. */
#ifndef TLBBENCH_VALUES_H
#define TLBBENCH_VALUES_H

#include <stdbool.h>

#include <jansson.h>

#include "workload.h"

/*
 * Adds them to run->values: a number, or the reason why it is absent. All counts are of the flushes
 * that the TLB row of /proc/interrupts counts (paths mm_range and batch), so that they add up.
 * Returns 0 or -ENOMEM.
 */
int values__add(struct workload_run *run);

/* A value as a number; false where it is absent. */
bool values__number(const json_t *values, const char *name, double *out);

#endif
