/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that belong to a run: they die with it, and hold nothing of it open. */
#ifndef TLBBENCH_CHILD_H
#define TLBBENCH_CHILD_H

#include <sys/types.h>

/*
 * fork(), after which the child
 *  - is killed when the calling thread ends, also by SIGKILL;
 *  - does not see the signals that a terminal sends to the whole group: its parent ends it;
 *  - has every descriptor closed but the standard ones and @keep (-1: none), so that it holds
 *    neither the journal's lock nor a probe.
 * Returns as fork() does: 0 in the child, a negative errno after a message on failure.
 */
pid_t child__fork(const char *name, int keep);

/* Pins the calling thread to one CPU. Returns 0 or a negative errno after a message. */
int child__pin(unsigned int cpu);

/* Kills the process and waits for its end. 0 and -1 are ignored. */
void child__kill(pid_t pid);

#endif
