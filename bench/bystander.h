/* SPDX-License-Identifier: GPL-2.0-only */
/* Busy processes that have nothing to do with the workload: one per CPU, each with its own mm. */
#ifndef TLBBENCH_BYSTANDER_H
#define TLBBENCH_BYSTANDER_H

#include <sys/types.h>

#include "common/cpus.h"

struct bystanders {
	pid_t *pids;
	unsigned int count;
};

/*
 * Starts a process that spins (with pause) on each CPU of @cpus but @except, and returns when all
 * of them run. Returns 0 or a negative errno after a message; on failure none is left.
 */
int bystanders__start(struct bystanders *out, const struct cpus *cpus, unsigned int except);

/* Ends them all. Harmless on a zeroed struct. */
void bystanders__stop(struct bystanders *bystanders);

#endif
