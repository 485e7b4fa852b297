/* SPDX-License-Identifier: GPL-2.0-only */
/* A cgroup of our own, whose memory is reclaimed by writing its memory.reclaim. */
#ifndef TLBBENCH_RECLAIM_H
#define TLBBENCH_RECLAIM_H

#include <stdint.h>

#include "cgroup.h"

struct reclaim {
	struct cgroup cgroup;
	const char *argument; /* what is written after the size */
	int file;	      /* memory.reclaim, in the process that opened it */
};

/*
 * Makes the cgroup, and has reclaim take anonymous pages only, as far as this kernel can be told
 * to. Every step goes through the journal. Returns 0 or a negative errno after a message.
 */
int reclaim__create(struct journal *journal, struct reclaim *out);

/* Opens the file, in the process that is to ask. 0 or a negative errno after a message. */
int reclaim__open(struct reclaim *reclaim);

/* How many pages are still there to be reclaimed. 0 or a negative errno after a message. */
typedef int (*reclaim_left)(void *state, uint64_t *pages);

/*
 * Asks until none is left, or a pass brings nothing: the time of that one does not count. Returns 0
 * or a negative errno after a message.
 */
int reclaim__all(const struct reclaim *reclaim, reclaim_left left, void *state,
		 uint64_t *elapsed_ns, uint64_t *passes);

/*
 * Asks once for @bytes. 0 also where less was reclaimed; else a negative errno after a message.
 */
int reclaim__ask(const struct reclaim *reclaim, uint64_t bytes);

#endif
