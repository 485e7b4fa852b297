/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that belong to a run: they die with it, and hold nothing of it open. */
#ifndef TLBBENCH_TETHER_H
#define TLBBENCH_TETHER_H

#include <sys/types.h>

/*
 * fork(), after which the child
 *  - is killed when the calling thread ends, also by SIGKILL;
 *  - does not see the signals that a terminal sends to the whole group: its parent ends it;
 *  - has every descriptor closed but the standard ones and @keep (-1: none), so that it holds
 *    neither the journal's lock nor a probe;
 *  - is the first to be killed where memory gets short, so that its parent can clean up.
 * Returns as fork() does: 0 in the child, a negative errno after a message on failure.
 */
pid_t tether__fork(const char *name, int keep);

/* Kills the process and waits for its end. 0 and -1 are ignored. */
void tether__kill(pid_t pid);

#endif
