/* SPDX-License-Identifier: GPL-2.0-only */
/* On which nodes the calling process's pages are, and how they are put there. */
#ifndef TLBBENCH_PLACEMENT_H
#define TLBBENCH_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodes.h"

struct memory;

/* Pages by where they were found. */
struct places {
	uint64_t from, to; /* on the nodes of the route */
	uint64_t other;	   /* on others, or nowhere */
};

/*
 * Whether this process may ask where its pages are and have them come from a node; if not, @why
 * gets a sentence without a stop.
 */
bool placement__permitted(char *why, size_t size);

/*
 * Has @memory, of which nothing was touched yet, come from @node alone. Returns 0 or a negative
 * errno after a message.
 */
int placement__bind(const struct memory *memory, unsigned int node);

/*
 * Asks the kernel where each page is (move_pages(2) without nodes), which touches none and needs no
 * flush. Returns 0 or a negative errno after a message.
 */
int placement__count(const struct memory *memory, const struct route *route, struct places *out);

#endif
