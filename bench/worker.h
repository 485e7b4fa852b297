/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process in which a workload's memory lives. It is apart from tlbbench itself because then
 * its mm is new for each run, nobody else's work (reading counters, writing results) flushes it or
 * trims its mm_cpumask, and it can sit in a cgroup alone.
 *
 * tlbbench calls, the worker answers; in between it sleeps.
 */
#ifndef TLBBENCH_WORKER_H
#define TLBBENCH_WORKER_H

#include <stdint.h>
#include <sys/types.h>

#define WORKER_ANSWERS 8

/*
 * Runs in the worker: does @command, fills @answer, returns 0 or a negative errno after a message.
 */
typedef int (*worker_serve)(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS]);

struct worker {
	pid_t pid;
	int link;
};

/* Starts the worker, with a copy of @state. Returns 0 or a negative errno after a message. */
int worker__start(struct worker *out, worker_serve serve, void *state);

/*
 * Has the worker do @command and waits for the end of it. Returns the worker's own result, -EINTR
 * if a stop was asked meanwhile (the worker is killed then), or -ECHILD after a message if it died.
 */
int worker__call(struct worker *worker, unsigned int command, uint64_t answer[WORKER_ANSWERS]);

/* Ends it. Harmless on a zeroed struct. */
void worker__stop(struct worker *worker);

#endif
