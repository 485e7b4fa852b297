/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the mm_cpumask that prime() filled was still full when the pages left. */
#ifndef TLBBENCH_MASK_H
#define TLBBENCH_MASK_H

#include <stdint.h>

struct workload_run;

/*
 * Notes in @run if the mask did not stay full, and why: @cause, or, if that is NULL, what the
 * bystanders tell.
 */
void mask__check(struct workload_run *run, const char *cause);

/* The same, where the work takes @flushes flushes, and not one for each page. 0: not known. */
void mask__check_flushes(struct workload_run *run, uint64_t flushes, const char *cause);

#endif
