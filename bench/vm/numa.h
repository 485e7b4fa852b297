/* SPDX-License-Identifier: GPL-2.0-only */
/* A guest's memory nodes: QEMU's arguments for them. */
#ifndef TLBVM_NUMA_H
#define TLBVM_NUMA_H

#include <stdint.h>

#include "vm/guest.h"

#define NUMA_MAX_NODES 8
#define NUMA_LEAST_MIB 128u /* that a node needs */

/*
 * The arguments that share @memory bytes and the CPUs out among guest->nodes nodes, and add the
 * lower tier to them. Ended by NULL, empty for a guest without nodes; numa__free() frees it.
 * NULL if out of memory.
 */
char **numa__arguments(const struct guest *guest, uint64_t memory);
void numa__free(char **arguments);

#endif
