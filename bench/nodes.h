/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory nodes: which there are, and between which of them pages can move. Ids may start anywhere
 * and have holes, and not every node has memory or CPUs; sets of them are a struct cpus.
 */
#ifndef TLBBENCH_NODES_H
#define TLBBENCH_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cpus.h"

/* Where pages are, and where they are to go. */
struct route {
	unsigned int from;
	struct cpus to; /* one node, or all of a tier */
};

/*
 * From the node of @cpu (if it has no memory, from the first that has) to the next node, one with
 * CPUs if there is any. False if there is no such route; @why then gets a sentence without a stop.
 */
bool nodes__route_across(unsigned int cpu, struct route *out, char *why, size_t size);

/* The same, to the next lower tier of memory. */
bool nodes__route_down(unsigned int cpu, struct route *out, char *why, size_t size);

/*
 * Whether @bytes have room at both ends of the route, going by what is free there; if not, @why
 * gets a sentence without a stop.
 */
bool nodes__enough(const struct route *route, uint64_t bytes, char *why, size_t size);

/*
 * Finds "Node 1 KEY: NUMBER kB" in the text of a node's meminfo. In bytes. Returns 0, -ENOENT,
 * -EBADMSG.
 */
int nodes__parse_meminfo(const char *text, const char *key, uint64_t *bytes);

#endif
