/* SPDX-License-Identifier: GPL-2.0-only */
/* ${XDG_CACHE_HOME:-~/.cache}/tlbstat: kernels, apt's lists, what was learned of this machine. */
#ifndef TLBVM_CACHE_H
#define TLBVM_CACHE_H

#include <stdint.h>

/*
 * Makes the path of @name in the cache, and the folder that holds it. To be freed.
 * NULL after saying what is wrong.
 */
char *cache__path(const char *name);

/* Returns 0 if @bytes are free where the cache is, else -ENOSPC after saying how much is there. */
int cache__need(uint64_t bytes);

/*
 * Holds a lock (a file of that name in the cache) against other processes; waits for them, and says
 * so. Returns a descriptor whose close() unlocks, or a negative errno after a message; -EINTR when
 * a stop is asked.
 */
int cache__lock(const char *name);

#endif
