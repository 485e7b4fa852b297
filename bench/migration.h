/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the workloads have in common that move a worker's pages from node to node: the worker and
 * its memory, the bystanders, and the proof.
 */
#ifndef TLBBENCH_MIGRATION_H
#define TLBBENCH_MIGRATION_H

#include "bystander.h"
#include "nodes.h"
#include "placement.h"
#include "subject.h"
#include "worker.h"
#include "workload.h"

/* The first member of a workload's state. */
struct migration {
	struct workload_options options;
	struct route route;
	uint64_t pages; /* of the worker */
	bool lock;	/* what else the worker has */
	struct bystanders bystanders;
	struct worker worker;
	size_t mark;
	uint64_t migrated; /* by the whole machine, when the run began */
	/* The worker's: */
	struct subject subject;
};

/* The worker's commands; a workload's own come after them. */
enum migration_command {
	MIGRATION_SET_UP,
	MIGRATION_PRIME,
	MIGRATION_COUNT,
	MIGRATION_CHECK,
	MIGRATION_OWN
};

/* How a route is found: nodes__route_across() or nodes__route_down(). */
typedef bool (*migration_route)(unsigned int cpu, struct route *out, char *why, size_t size);

/* The workload's check(), with @pages on the way at a time. 0, or -ENOTSUP and @why. */
int migration__check(const struct workload_options *options, migration_route find, uint64_t pages,
		     char *why, size_t size);

/* The workload's parameters(). */
json_t *migration__parameters(const struct workload_options *options, migration_route find);

/*
 * set_up() begins: makes @migration the run's state, with @pages pages in the worker, and quietens
 * the machine. Returns 0 or a negative errno after a message, as the next two do.
 */
int migration__begin(struct workload_run *run, struct migration *migration, migration_route find,
		     uint64_t pages);

/*
 * Starts the bystanders and the worker, which answers with @serve. Neither bystanders nor threads
 * of the worker run on the CPUs that were taken out of migration->options.cpus before.
 */
int migration__start(struct migration *migration, worker_serve serve);

/* Has the worker fill its memory, all of it on the first node of the route. */
int migration__fill(struct migration *migration);

/* The worker's part, for the commands above. */
int migration__serve(struct migration *migration, unsigned int command,
		     uint64_t answer[WORKER_ANSWERS]);

/* The workload's prime(). */
int migration__prime(struct migration *migration);

/* Where the worker's pages are now. Returns 0 or a negative errno after a message. */
int migration__count(struct migration *migration, struct places *out);

/*
 * How many flushes it takes to migrate @pages pages that are handed over at once: one for each 512
 * (NR_MAX_BATCHED_MIGRATION in mm/migrate.c); before Linux 6.3 one for each page.
 */
uint64_t migration__flushes(uint64_t pages);

/*
 * Predicts the interrupts: every CPU but the initiator's, for each of @flushes. Where they follow
 * no law, the reason takes their place.
 */
void migration__expect(struct workload_run *run, uint64_t flushes);

/*
 * The end of verify(), once run->pages_done is known: compares it with the kernel's own counter,
 * and checks the pages' contents. Returns 0 or a negative errno after a message.
 */
int migration__verify(struct workload_run *run, struct migration *migration);

/* tear_down(), without freeing the state. */
void migration__stop(struct workload_run *run, struct migration *migration);

#endif
