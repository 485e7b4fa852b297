/* SPDX-License-Identifier: GPL-2.0-only */
/* The counts of a kernel with an oracle (debug in kernel-patches), in debugfs. */
#ifndef TLBBENCH_HUNT_ORACLE_H
#define TLBBENCH_HUNT_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define HUNT_ORACLE_COUNTS 4

struct hunt_oracle_kind;

struct hunt_oracle {
	const struct hunt_oracle_kind *kind; /* NULL: the kernel has none */
	uint64_t count[HUNT_ORACLE_COUNTS];
	uint64_t violations; /* the last of these: times that something was wrong */
};

/* Reads the counts, if the kernel has any. 0 or -errno after a message. */
int hunt_oracle__read(struct hunt_oracle *out);

/* Writes in one line what was counted between two readings of the same kernel. */
void hunt_oracle__print(const struct hunt_oracle *before, const struct hunt_oracle *after);

#endif
