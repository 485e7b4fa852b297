/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thread of this process per CPU. They sleep until they are called: to run once on their CPU,
 * which puts the CPU into the mm_cpumask, to stay busy there, or to do some work.
 */
#ifndef TLBBENCH_CREW_H
#define TLBBENCH_CREW_H

#include <stdbool.h>

#include "common/cpus.h"

struct crew;

/* What the thread number @member (from 0, by CPU id) does. */
typedef void (*crew_work)(void *arg, unsigned int member);

/*
 * Starts a thread on each CPU of @cpus but @except (CPUS_MAX: on all); all of them sleep when this
 * returns. They end with the process. Returns 0 or a negative errno after a message.
 */
int crew__start(struct crew **out, const struct cpus *cpus, unsigned int except);

/*
 * Lets every thread run on its CPU, and returns when all have. If @stay, they stay there, spinning
 * (with pause) until the process ends; otherwise they go back to sleep. Allocates nothing, and
 * touches no page that was not touched by crew__start().
 */
void crew__call(struct crew *crew, bool stay);

/* Lets every thread do @work, and returns when all have. */
void crew__do(struct crew *crew, crew_work work, void *arg);

/* How many threads it has. */
unsigned int crew__size(const struct crew *crew);

#endif
