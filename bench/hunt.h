/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stale-entry hunter: programs that write to pages without a pause, while the kernel is made to
 * take the pages away, move them, or forbid the writing, in all the ways it flushes TLBs for. A
 * word that is not where it was written went through a translation that should have been gone.
 *
 * An attack is a way to have the kernel do that. It runs in spells of some seconds, each with
 * victims of its own; a spell is begun once, and then made of rounds.
 */
#ifndef TLBBENCH_HUNT_H
#define TLBBENCH_HUNT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cpus.h"
#include "hunt_board.h"
#include "hunt_random.h"
#include "hunt_victim.h"
#include "reclaim.h"
#include "zram.h"

#define HUNT_VICTIMS 16

struct journal;

struct hunt {
	struct cpus cpus;
	unsigned int initiator; /* the first of them; writers run on the others */
	struct cpus nodes;	/* with memory */
	unsigned int top_node;	/* of them, the first one that has CPUs */
	struct journal *journal;
	struct hunt_random random; /* of the spell */
	struct hunt_board *board;

	/* Of the machine, for the whole hunt. */
	bool has_swap, has_cgroup;
	struct zram zram;
	struct reclaim reclaim;

	/* Of the spell. */
	struct cpus writer_cpus; /* where writers run: all but the initiator, or fewer of these */
	struct hunt_victim victims[HUNT_VICTIMS];
	uint32_t count;
	unsigned char *shared; /* pages that all victims map, or NULL */
	uint64_t proven;       /* things done that are no counter of the kernel's */
};

struct hunt_attack {
	const char *name;
	const char *summary;
	const char *work; /* what one of its pieces of work is called: "pages out" */
	/* Counters of /proc/vmstat whose sum tells the work; NULL: hunt->proven does. */
	const char *const *counters;
	/* Whether it can be done here: 0, or -ENOTSUP with a reason. NULL: it always can. */
	int (*check)(const struct hunt *hunt, char *why, size_t size);
	/* Starts the victims. What it changes goes to the journal and is undone after the spell. */
	int (*begin)(struct hunt *hunt);
	/* 0, -EINTR if a stop was asked, or a negative errno after a message. */
	int (*round)(struct hunt *hunt);
};

/* All attacks, NULL-terminated. */
extern const struct hunt_attack *const hunt_attacks[];

extern const struct hunt_attack hunt_reclaim, hunt_switch, hunt_duel, hunt_migrate, hunt_demote,
	hunt_many, hunt_lifecycle, hunt_protect, hunt_home, hunt_leave, hunt_birth, hunt_forks;

/* The means that attacks share (hunt.c). Each returns 0 or a negative errno after a message. */

/*
 * Starts one more victim, with @threads writers spread over the CPUs that are not the initiator's,
 * in @manner.
 */
int hunt__add_victim(struct hunt *hunt, uint32_t threads, enum hunt_manner manner);

/*
 * The same at a home, any CPU: its process is born there, and is with @there of its writers nowhere
 * else. The other writers are for other CPUs, and not started before HUNT_BIRTH. HUNT_YIELD or
 * HUNT_DOZE as the manner lets all of them have their turn.
 */
int hunt__add_victim_at_home(struct hunt *hunt, uint32_t threads, uint32_t there,
			     enum hunt_manner manner);

/* Kills a victim that has a home, and starts another one in its place, with a home anywhere. */
int hunt__rehome_victim(struct hunt *hunt, struct hunt_victim *victim);

/* Kills a victim, and starts another one in its place, with the same ids. */
int hunt__replace_victim(struct hunt *hunt, struct hunt_victim *victim);

/* Maps the pages that victims started from here on share. */
int hunt__share_pages(struct hunt *hunt);

/* Has the words of every victim read. */
int hunt__check_all(struct hunt *hunt);

/* Before a spell: all CPUs are there for writers. After it: no victim is left, the board is clean.
 */
void hunt__begin_spell(struct hunt *hunt, uint64_t seed);
void hunt__end_spell(struct hunt *hunt);

/* How a victim's pages are reclaimed. */
enum hunt_way {
	HUNT_BY_SELF,	/* it asks by itself */
	HUNT_BY_ADVICE, /* process_madvise() from outside */
	HUNT_BY_CGROUP, /* memory.reclaim: the pages of all victims */
};

enum hunt_way hunt__choose_way(struct hunt *hunt);
int hunt__take_pages(struct hunt *hunt, struct hunt_victim *victim, enum hunt_way way);

/*
 * Moves some of a victim's pages to any node, from outside. @shared: also those that others map.
 */
int hunt__move_pages(struct hunt *hunt, struct hunt_victim *victim, bool shared);

/* One of @ids (CPUs, nodes). */
unsigned int hunt__any(const struct cpus *ids, struct hunt_random *random);

/* Keeps @count of the writers' CPUs, for the victims that are started from here on. */
void hunt__narrow_cpus(struct hunt *hunt, uint32_t count);

struct hunt_victim *hunt__any_victim(struct hunt *hunt);

/* HUNT_DOZE, and now and then @restless: CPUs that are never idle make emulated flushes slow. */
enum hunt_manner hunt__any_manner(struct hunt *hunt, enum hunt_manner restless);

/* Moves a thread from CPU to CPU until it is stopped, and home then. */
struct hunt_mover {
	pid_t tid;	   /* of this process or of another one */
	unsigned int home; /* its CPU in the end */

	struct cpus cpus;
	struct hunt_random random;
	_Atomic bool end;
	uint64_t moves; /* so far; to be read when it is stopped */
	pthread_t thread;
};

/* Starts moving, with the fields above the free line filled in. */
int hunt_mover__start(struct hunt_mover *mover, struct hunt *hunt);
void hunt_mover__stop(struct hunt_mover *mover);

/* A second thread that takes pages at the same time. */
struct hunt_second {
	struct hunt *hunt;
	struct hunt_victim *victim;
	enum hunt_way way;
	unsigned int cpu; /* it runs there */
	pthread_t thread;
	int err;
};

/* Starts it, with the fields above the thread filled in. */
int hunt_second__start(struct hunt_second *second);
/* Waits for its end; returns its result. */
int hunt_second__join(struct hunt_second *second);

/* check() of attacks that need swap, or a second node. */
int hunt__needs_swap(const struct hunt *hunt, char *why, size_t size);
int hunt__needs_nodes(const struct hunt *hunt, char *why, size_t size);

#endif
