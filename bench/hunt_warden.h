/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a victim (hunt_victim.h), in its own process. */
#ifndef TLBBENCH_HUNT_WARDEN_H
#define TLBBENCH_HUNT_WARDEN_H

#include <pthread.h>
#include <sys/types.h>

#include "hunt_victim.h"

struct warden;

struct hunt_writer {
	struct warden *warden;
	uint32_t id, cpu;
	struct hunt_random random;
	pthread_t thread;
};

struct warden {
	const struct hunt_victim *victim;
	struct hunt_board *board;
	unsigned char *base;
	size_t size; /* bytes */
	struct hunt_random random;
	_Atomic bool leave; /* writers are to end */
	struct hunt_writer writers[HUNT_THREADS];
	uint32_t wanted; /* writers */
	_Atomic uint32_t running;
	struct hunt_random births; /* seeds of writers, which may start beside the warden's work */
	pid_t child;		   /* of HUNT_SPAWN, or 0 */
};

/* Starts the writers that are wanted and not there. 0 or a negative errno after a message. */
int hunt_writers__start(struct warden *warden);
/* Ends them, each after a whole step. */
void hunt_writers__stop(struct warden *warden);

/* Starts, a moment later, the writers that HUNT_BEGIN left out, while the warden does something
 * else. */
struct hunt_midwife {
	struct warden *warden;
	uint64_t wait_ns;
	pthread_t thread;
	_Atomic bool done;
	int err;
};

/* With the warden filled in. 0 or a negative errno after a message. */
int hunt_midwife__start(struct hunt_midwife *midwife);
/* Waits until all are there; returns what starting them gave. */
int hunt_midwife__join(struct hunt_midwife *midwife);

/*
 * The four attacks on mappings (hunt_protect.c): each sees to it that writers run into what was
 * done, and counts a word that changed although it could not as stale. *proven is set to 1 if
 * writers did run into it. 0 or a negative errno after a message.
 */
int hunt_warden__protect(struct warden *warden, uint64_t *proven);
int hunt_warden__remap(struct warden *warden, uint64_t *proven);
int hunt_warden__discard(struct warden *warden, uint64_t *proven);
int hunt_warden__fork(struct warden *warden, uint64_t *proven);

#endif
