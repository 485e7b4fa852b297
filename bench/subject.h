/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a worker has whose memory reclaim or migration works on: the memory, and a thread per CPU to
 * fill the mm_cpumask with. All of it is for the worker itself.
 */
#ifndef TLBBENCH_SUBJECT_H
#define TLBBENCH_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "crew.h"
#include "memory.h"

struct workload_options;

struct subject {
	struct memory memory;
	struct crew *crew;
};

/*
 * Pins the worker to the initiator's CPU, starts its threads on the other CPUs, and maps @pages
 * pages, of which nothing is touched. With @lock, what the worker has besides is locked in memory,
 * which brings in all of it. Returns 0 or a negative errno after a message.
 */
int subject__map(struct subject *subject, const struct workload_options *options, uint64_t pages,
		 bool lock);

/*
 * Writes a word of its own into each page, and lets none of them wait in a list of this CPU.
 * Returns 0 or a negative errno after a message.
 */
int subject__fill(struct subject *subject);

/* Lets the process run once on every CPU, and with spinning bystanders for good. */
void subject__prime(struct subject *subject, const struct workload_options *options);

#endif
