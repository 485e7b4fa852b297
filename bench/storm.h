/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What workloads share whose members, each on a CPU of its own, make the same call again and again:
 * threads of one process, or processes.
 *
 * From the first call to the last all members are busy: one that has come to its end waits for the
 * others without sleeping, so that its CPU stays in its address space.
 */
#ifndef TLBBENCH_STORM_H
#define TLBBENCH_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "bystander.h"
#include "crew.h"
#include "memory.h"
#include "worker.h"
#include "workload.h"

/* What one member saw. */
struct storm_tally {
	uint64_t calls;
	uint64_t failed; /* calls that were refused, or did not end as they should */
	uint64_t lost;	 /* pages that did not hold what had been written */
	uint64_t stale;	 /* pages that still held what should be gone */
	int error;	 /* errno of the first that was refused, or 0 */
};

/* Counts a call that failed with @error, an errno. */
void storm_tally__fail(struct storm_tally *tally, int error);

/*
 * Waits for a child that a call has forked, @pid being what fork() returned. Returns its exit code,
 * or -1 after counting the call as failed: there is none, or it was killed.
 */
int storm__await(pid_t pid, struct storm_tally *tally);

struct storm_board;
struct storm;

struct storm_kind {
	const char *name;
	bool processes;	   /* the members are processes with one thread each */
	bool keeps_memory; /* the calls work on pages_per_call pages of storm->memory */
	unsigned int pages_per_call;
	unsigned int flushes_per_call; /* that reach all members; 0: none is predicted */
	/* One call of a member, whose pages are those from member * pages_per_call on. */
	void (*call)(struct storm *storm, unsigned int member, struct storm_tally *tally);
	/* After all calls, in the process of threads: pages that should be gone; NULL: none to ask.
	 */
	int (*count_left)(struct storm *storm, uint64_t *pages);
};

struct storm {
	const struct storm_kind *kind;
	struct workload_options options;
	struct bystanders bystanders;
	struct worker worker;
	size_t mark;
	struct storm_board *board; /* shared by all processes */
	size_t board_size;
	/* The worker's, and that of members that are processes: */
	struct memory memory;
	struct crew *crew;
};

/*
 * These are as workload.h has them; set_up() is told the kind. tear_down() is for all.
 *
 * verify() takes as done what was called, and fails if a call was refused or a page not as it had
 * to be. It adds the percentiles of the time of a call, and where the kind predicts them the
 * interrupts.
 */
int storm__check(const struct storm_kind *kind, const struct workload_options *options, char *why,
		 size_t size);
int storm__set_up(const struct storm_kind *kind, struct workload_run *run);
int storm__prime(struct workload_run *run);
int storm__run(struct workload_run *run);
int storm__verify(struct workload_run *run);
void storm__tear_down(struct workload_run *run);

#endif
