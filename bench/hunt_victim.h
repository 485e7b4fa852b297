/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process under attack: its pages, threads that write to them without a pause, each on a CPU of
 * its own choice, and its main thread, the warden, that attacks the pages from inside and reads
 * them from another CPU than the writers'.
 */
#ifndef TLBBENCH_HUNT_VICTIM_H
#define TLBBENCH_HUNT_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cpus.h"
#include "hunt_board.h"
#include "hunt_random.h"
#include "worker.h"

#define HUNT_THREADS 8

/* Pages that something is done to at once: a flush takes long where CPUs are emulated. */
#define HUNT_SOME 64

struct hunt_range {
	uint32_t first, count; /* below HUNT_PAGES in all, up to HUNT_SOME pages */
};

static inline struct hunt_range hunt_range__any(struct hunt_random *random)
{
	uint32_t count = 1 + hunt_random__below(random, HUNT_SOME);

	return (struct hunt_range){ hunt_random__below(random, HUNT_PAGES - count + 1), count };
}

/* What a writer does between two passes over some pages. */
enum hunt_manner {
	HUNT_BUSY,  /* goes on */
	HUNT_YIELD, /* lets others run on its CPU */
	HUNT_DOZE,  /* sleeps for a moment: the CPU turns idle, or to others */
};

/* Set before hunt_victim__start(). */
struct hunt_victim {
	struct hunt_board *board;
	unsigned char *base;	  /* pages shared with other victims, or NULL: pages of its own */
	uint32_t writer, threads; /* ids of its writers: @threads from @writer on */
	uint32_t first;		  /* of these, those started by HUNT_BEGIN; HUNT_BIRTH: the rest */
	uint32_t spare;		  /* the id of a child's writer (HUNT_SPAWN) */
	uint32_t cpu[HUNT_THREADS]; /* of each writer */
	uint32_t warden_cpu;
	enum hunt_manner manner;
	uint64_t seed;

	struct worker worker;
};

/* What the warden is told to do. All but HUNT_CHECK and HUNT_REAP leave the writers running. */
enum hunt_order {
	HUNT_BEGIN,   /* map and touch the pages, start the writers; answer[0]: where */
	HUNT_CHECK,   /* read the words of all of the victim's writers */
	HUNT_PAGEOUT, /* MADV_PAGEOUT on some pages */
	HUNT_MOVE,    /* move_pages() of some pages to the node @argument */
	HUNT_RESTART, /* end the writers' threads, start others */
	HUNT_SPAWN, /* fork a child that writes to its copies, then ends or execs; @argument: CPU */
	HUNT_REAP,  /* wait for it; answer[0]: 1 if there was one */
	HUNT_STORM, /* fork @argument children one after the other, each of which just ends */
	HUNT_PROTECT, /* mprotect() to read-only: no word may change then; answer[0]: proven */
	HUNT_REMAP,   /* mremap() elsewhere and back: likewise */
	HUNT_DISCARD, /* MADV_DONTNEED: words written later must be there; answer[0]: proven */
	HUNT_FORK,    /* fork(): no word may change in the child; answer[0]: proven */
	HUNT_BIRTH, /* the order @argument until the missing writers are there; answer[0]: how many
		     */
};

/* Starts the process; it does nothing until ordered. Returns 0 or a negative errno after a message.
 */
int hunt_victim__start(struct hunt_victim *victim);

/* Gives an order and waits for its end. As worker__call(). */
int hunt_victim__order(struct hunt_victim *victim, enum hunt_order order, uint32_t argument,
		       uint64_t *answer);

/* Kills it with all its threads. Harmless if it was not started. */
void hunt_victim__stop(struct hunt_victim *victim);

/*
 * Moves pages at @base of the process @pid (0: the calling one) to @node. @shared: also those that
 * others map. 0 or a negative errno after a message.
 */
int hunt_victim__move(pid_t pid, unsigned char *base, struct hunt_range range, uint32_t node,
		      bool shared);

#endif
