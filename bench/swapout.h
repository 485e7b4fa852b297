/* SPDX-License-Identifier: GPL-2.0-only */
/* Swap of our own for a run, and how many pages went there, told by ways that check each other. */
#ifndef TLBBENCH_SWAPOUT_H
#define TLBBENCH_SWAPOUT_H

#include <stdint.h>

#include "zram.h"

struct journal;
struct workload_run;

struct swapout {
	struct zram zram;
	uint64_t pswpout; /* of the whole machine, when the run began */
};

/* Makes a device with room for @pages pages. 0 or a negative errno after a message. */
int swapout__create(struct journal *journal, uint64_t pages, struct swapout *out);

/* Right before the run. 0 or a negative errno after a message. */
int swapout__start(struct swapout *swapout);

/*
 * After the run: the workload's pages in swap by pagemap (@pages) are what was done, and, unless
 * pages are huge, each interrupts all other CPUs. They are compared with those of its whole
 * processes by the kernel's walk over their page tables (@process), and with all that the kernel
 * wrote to swap, which goes into the run's values. What differs is noted; where no page is in swap,
 * the run did no work and says why, as far as it can be told. 0 or a negative errno after a
 * message.
 */
int swapout__verify(const struct swapout *swapout, struct workload_run *run, uint64_t pages,
		    uint64_t process);

#endif
