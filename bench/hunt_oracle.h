/* SPDX-License-Identifier: GPL-2.0-only */
/* The counts of a kernel with the generation oracle (debug in kernel-patches), in debugfs. */
#ifndef TLBBENCH_HUNT_ORACLE_H
#define TLBBENCH_HUNT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

struct hunt_oracle {
	bool there;
	uint64_t checked;    /* batches after which all CPUs were asked */
	uint64_t overflowed; /* of these, those with more address spaces than it remembers */
	uint64_t running;    /* answers of CPUs that ran on an address space of the batch */
	uint64_t violations; /* of these, those that were behind */
};

/* Reads the counts; @out->there is false where the kernel has none. 0 or -errno after a message. */
int hunt_oracle__read(struct hunt_oracle *out);

#endif
