/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the daemon tells Prometheus: counts since its start, that never decrease. A family that
 * cannot be counted here is left out, and so is a label set that cannot occur; all others are there
 * from the start, as 0.
 */
#ifndef TLBSTAT_METRICS_H
#define TLBSTAT_METRICS_H

#include <stdint.h>
#include <stdio.h>

#include "observer.h"

struct metrics;

/* NULL when out of memory. @base is where counting starts; @start its time in s since 1970. */
struct metrics *metrics__new(const struct observer *observer, const struct snapshot *base,
			     double start);
void metrics__free(struct metrics *metrics);

/* Adds what happened since the last snapshot. */
void metrics__add(struct metrics *metrics, const struct snapshot *now);

/*
 * Prints all families. @time: of the last snapshot, in s since 1970; @write_failures: of this text
 * so far.
 */
void metrics__print(const struct metrics *metrics, double time, uint64_t write_failures, FILE *out);

#endif
