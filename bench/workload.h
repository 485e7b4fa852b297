/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a workload is. tlbbench calls, for each run, in this order:
 *
 *	check()    can it be done here? -ENOTSUP with a reason is "unsupported", no failure
 *	set_up()   changes settings (each through the journal), maps memory, starts bystanders
 *	prime()    fills mm_cpumask, right before the timed section
 *	run()      the timed section: nothing but the work; the observer's snapshots are around it
 *	verify()   counts the pages that verifiably did what was asked, fills the values
 *	tear_down() undoes set_up(), also after a failure or a signal; must not fail half-way
 *
 * check() is called once per invocation, the others once per run. Each returns 0 or a negative
 * errno after saying why on stderr (check(): in @why instead).
 */
#ifndef TLBBENCH_WORKLOAD_H
#define TLBBENCH_WORKLOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "common/cpus.h"
#include "observer.h"

struct journal;

enum bystander_kind {
	BYSTANDER_OTHER,
	BYSTANDER_SPIN,
	BYSTANDER_IDLE
};

/* What the threads of a process do while it is migrated. */
enum access_kind {
	ACCESS_NONE,
	ACCESS_READ,
	ACCESS_WRITE
};

#define BATCH_ALL UINT64_MAX

/* The options all workloads share; from the command line, with the workload's defaults filled in.
 */
struct workload_options {
	uint64_t pages;
	enum bystander_kind bystander;
	const char *via; /* one of the workload's vias; NULL if it has none */
	bool thp;
	unsigned int threads;	 /* that do the work; 0 if the workload does not ask */
	unsigned int mms;	 /* address spaces the pages are in; the same */
	uint64_t batch;		 /* pages per system call, BATCH_ALL; 0 if it does not ask */
	enum access_kind access; /* ACCESS_NONE if it does not ask */
	struct cpus cpus;	 /* allowed and online */
	unsigned int initiator;	 /* the one of them that does the work; tlbbench is pinned to it */
};

struct workload_run {
	const struct workload_options *options;
	struct journal *journal;
	void *state; /* the workload's own */
	/* Filled by run() if it knows better than tlbbench's clock around it: */
	uint64_t elapsed_ns;
	/* Filled by tlbbench between run() and verify(): */
	const struct report *report;
	/* Filled by verify(): */
	uint64_t pages_done; /* verified */
	uint64_t operations; /* where a system call handles several pages: how many there were */
	bool no_work;	     /* nothing was done; @reason says why */
	char reason[256];
	json_t *values; /* extra metrics, by name; a text says why one is absent */
	json_t *notes;	/* array of sentences for the reader */
};

/* Adds a sentence to run->notes. */
void workload_run__note(struct workload_run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define ONE_PER_CPU UINT_MAX

struct workload {
	const char *name;
	const char *summary;	 /* one line for "tlbbench list" */
	const char *help;	 /* a paragraph */
	const char *const *vias; /* allowed --via values, first is the default; NULL if none */
	uint64_t default_pages;
	unsigned int default_mms;      /* 0: --mms is not for it */
	unsigned int default_threads;  /* ONE_PER_CPU; 0: --threads is not for it */
	unsigned int pages_per_thread; /* that each needs at least; 0: it does not matter */
	bool batches;		       /* --batch is for it; all at once is the default */
	bool accesses;		       /* --access is for it; reading is the default */
	int (*check)(const struct workload_options *options, char *why, size_t size);
	int (*set_up)(struct workload_run *run);
	int (*prime)(struct workload_run *run);
	int (*run)(struct workload_run *run);
	int (*verify)(struct workload_run *run);
	void (*tear_down)(struct workload_run *run);
	/* The parameters as they go into the result. New reference. */
	json_t *(*parameters)(const struct workload_options *options);
};

/* All workloads, NULL-terminated. */
extern const struct workload *const workloads[];

/* NULL if there is none of that name. */
const struct workload *workload__find(const char *name);

/* "other", "spin", "idle". */
const char *bystander_kind__name(enum bystander_kind kind);
/* Returns 0, or -EINVAL if there is no such kind. */
int bystander_kind__parse(const char *name, enum bystander_kind *out);

/* "read", "write". */
const char *access_kind__name(enum access_kind kind);

/* Gives options that were not given the workload's defaults. */
void workload_options__complete(struct workload_options *options, const struct workload *workload);

/* The parameters every workload has, as they go into the result. New reference. */
json_t *workload_options__json(const struct workload_options *options);

extern const struct workload workload_manymm;
extern const struct workload workload_pageout;
extern const struct workload workload_demotion;
extern const struct workload workload_move_pages;
extern const struct workload workload_migrate_pages;
extern const struct workload workload_tlb_flush;
extern const struct workload workload_mmap;
extern const struct workload workload_fork;
extern const struct workload workload_lifecycle;

#endif
