/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that read or write a memory's pages, again and again, while others work on it. */
#ifndef TLBBENCH_ACCESSORS_H
#define TLBBENCH_ACCESSORS_H

#include <stdint.h>

#include "common/cpus.h"
#include "workload.h"

struct accessors;
struct memory;

/* How many there can be: each that writes has a word of its own in every page. */
#define ACCESSORS_MAX 255

/*
 * Starts a thread on each CPU of @cpus; they sleep. They end with the process. Returns 0 or a
 * negative errno after a message.
 */
int accessors__start(struct accessors **out, const struct cpus *cpus, const struct memory *memory,
		     enum access_kind kind);

/* Sets them to work; when this returns, each has been at every page once. */
void accessors__go(struct accessors *accessors);

/* Stops them, and tells how many pages they were at since accessors__go() returned. */
void accessors__stop(struct accessors *accessors, uint64_t *accesses);

/*
 * How many pages were wrong, once they stopped: at which a reader did not find the word that
 * memory__fill() wrote, or whose last write got lost.
 */
uint64_t accessors__wrong(const struct accessors *accessors);

#endif
