/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * migrate_pages: tlbbench moves a process, which once ran on every CPU, to another node and back,
 * by migrate_pages(2), while threads of the process access its memory. The CPUs of these threads
 * have to be interrupted; those of the bystanders do not.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accessors.h"
#include "common/diag.h"
#include "common/stop.h"
#include "mask.h"
#include "migration.h"

/* There and back: --pages is what both move together. */
#define MOVES 2

enum {
	MIGRATE_GO = MIGRATION_OWN,
	MIGRATE_STOP
};

enum stop_answer {
	STOP_ACCESSES,
	STOP_WRONG
};

struct migrate_pages {
	struct migration migration;
	struct cpus busy; /* of the threads that access the memory */
	uint64_t elapsed_ns, done, not_moved, accesses;
	/* The worker's: */
	struct accessors *accessors;
};

static uint64_t footprint(const struct workload_options *options)
{
	return (options->pages + MOVES - 1) / MOVES;
}

/* In the worker. */

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct migrate_pages *migrate = state;
	struct migration *migration = &migrate->migration;
	int err;

	switch (command) {
	case MIGRATION_SET_UP:
		err = migration__serve(migration, command, answer);
		return err ? err
			   : accessors__start(&migrate->accessors, &migrate->busy,
					      &migration->subject.memory,
					      migration->options.access);
	case MIGRATE_GO:
		accessors__go(migrate->accessors);
		return 0;
	case MIGRATE_STOP:
		accessors__stop(migrate->accessors, &answer[STOP_ACCESSES]);
		answer[STOP_WRONG] = accessors__wrong(migrate->accessors);
		return 0;
	default:
		return migration__serve(migration, command, answer);
	}
}

/* In tlbbench. */

static long migrate(pid_t pid, unsigned int from, unsigned int to)
{
	unsigned long source[CPUS_MAX / (8 * sizeof(long))] = { 0 };
	unsigned long target[CPUS_MAX / (8 * sizeof(long))] = { 0 };
	unsigned int bits = 8 * sizeof(long), last = from > to ? from : to;

	source[from / bits] = 1ul << from % bits;
	target[to / bits] = 1ul << to % bits;
	/* The kernel takes one bit less than it is told of (get_nodes() in mm/mempolicy.c). */
	return syscall(SYS_migrate_pages, pid, (unsigned long)last + 2, source, target);
}

/*
 * With CAP_SYS_NICE the call also moves what other processes have mapped, and flushes all of them
 * (MPOL_MF_MOVE_ALL). @keep: does without, else as before. Returns 0 or a negative errno.
 */
static int keep_shared_pages(bool keep)
{
	static bool had;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint32_t *effective = &data[CAP_TO_INDEX(CAP_SYS_NICE)].effective;

	if (syscall(SYS_capget, &header, data))
		return -errno;
	if (keep)
		had = *effective & CAP_TO_MASK(CAP_SYS_NICE);
	if (had && keep)
		*effective &= ~CAP_TO_MASK(CAP_SYS_NICE);
	else if (had)
		*effective |= CAP_TO_MASK(CAP_SYS_NICE);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static int check(const struct workload_options *options, char *why, size_t size)
{
	unsigned int others = cpus__count(&options->cpus) - 1;
	struct route route;
	int err = migration__check(options, nodes__route_across, footprint(options), why, size);

	if (err)
		return err;
	if (options->threads > others || options->threads > ACCESSORS_MAX) {
		snprintf(
			why, size,
			"each of the %u threads needs a CPU besides the initiator's, and there are "
			"%u: try fewer --threads",
			options->threads, others < ACCESSORS_MAX ? others : ACCESSORS_MAX);
		return -ENOTSUP;
	}
	/* From a node to itself, nothing moves. */
	if (!nodes__route_across(options->initiator, &route, why, size) ||
	    migrate(0, route.from, route.from)) {
		snprintf(why, size, "migrate_pages(2) of nothing fails: %s", strerror(errno));
		return -ENOTSUP;
	}
	return 0;
}

/* The first CPUs after the initiator's; they are the workload's, and not the bystanders'. */
static void take_cpus(struct migrate_pages *migrate)
{
	struct workload_options *options = &migrate->migration.options;

	for (unsigned int i = 0; i < options->threads; i++) {
		unsigned int cpu = cpus__next(&options->cpus, options->initiator + 1);

		cpus__add(&migrate->busy, cpu);
		cpus__remove(&options->cpus, cpu);
	}
}

/*
 * The call takes all that the process alone has mapped. Of its program and libraries that would be
 * a part that differs from run to run; on a ramfs it can only be moved page by page, with flushes
 * of the mm itself, which trim the mask. So tlbbench maps all of that too: what two processes have
 * mapped stays, as long as keep_shared_pages() sees to it.
 */
static int share_program(void)
{
	if (mlockall(MCL_CURRENT) || munlockall())
		return diag__fail(errno, "bring the whole program into memory");
	return 0;
}

static int set_up(struct workload_run *run)
{
	struct migrate_pages *migrate_pages = calloc(1, sizeof(*migrate_pages));
	struct migration *migration = &migrate_pages->migration;
	int err;

	if (!migrate_pages)
		return diag__fail(ENOMEM, "set up migrate_pages");
	err = migration__begin(run, migration, nodes__route_across, footprint(run->options));
	if (err)
		return err;
	take_cpus(migrate_pages);
	err = share_program();
	if (!err)
		err = migration__start(migration, serve);
	return err ? err : migration__fill(migration);
}

static int prime(struct workload_run *run)
{
	struct migrate_pages *migrate_pages = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = migration__prime(&migrate_pages->migration);

	return err ? err : worker__call(&migrate_pages->migration.worker, MIGRATE_GO, answer);
}

/* One of the moves, and what it did; where the pages are is found out when the clock stands. */
static int move_once(struct migrate_pages *migrate_pages, unsigned int from, unsigned int to)
{
	struct migration *migration = &migrate_pages->migration;
	bool back = to == migration->route.from;
	struct places before, after;
	uint64_t start;
	long left;
	int err = migration__count(migration, &before);

	if (err)
		return err;
	err = keep_shared_pages(true);
	if (err)
		return diag__fail(-err, "do without CAP_SYS_NICE");
	start = stop__now_ns();
	left = migrate(migration->worker.pid, from, to);
	migrate_pages->elapsed_ns += stop__now_ns() - start;
	if (left < 0)
		err = diag__fail(errno, "migrate_pages(2) from node %u to node %u", from, to);
	keep_shared_pages(false);
	if (err)
		return err;
	migrate_pages->not_moved += left;
	err = migration__count(migration, &after);
	migrate_pages->done += back ? after.from - before.from : after.to - before.to;
	return err;
}

static int run_migrate_pages(struct workload_run *run)
{
	struct migrate_pages *migrate_pages = run->state;
	const struct route *route = &migrate_pages->migration.route;
	unsigned int away = cpus__next(&route->to, 0);
	int err = move_once(migrate_pages, route->from, away);

	if (!err)
		err = move_once(migrate_pages, away, route->from);
	run->elapsed_ns = migrate_pages->elapsed_ns;
	return err;
}

static int stop_accesses(struct workload_run *run, struct migrate_pages *migrate_pages)
{
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&migrate_pages->migration.worker, MIGRATE_STOP, answer);

	if (err)
		return err;
	json_object_set_new(run->values, "accesses", json_integer(answer[STOP_ACCESSES]));
	if (!answer[STOP_WRONG])
		return 0;
	if (run->options->access == ACCESS_WRITE)
		diag__error("%llu writes to pages that were on the move got lost",
			    (unsigned long long)answer[STOP_WRONG]);
	else
		diag__error("threads read the wrong contents %llu times while pages moved",
			    (unsigned long long)answer[STOP_WRONG]);
	diag__hint("the kernel under test loses data: see its log");
	return -EIO;
}

/* A call moves all that the process has: the kernel's count is the better one to go by. */
static uint64_t flushes_of(const struct workload_run *run)
{
	uint64_t migrated = json_integer_value(json_object_get(run->values, "pages_migrated"));

	return MOVES * migration__flushes(migrated / MOVES);
}

/*
 * tlbbench runs on the initiator's CPU, and the process sleeps. Before Linux 6.13 that takes the
 * CPU out of the mask, which makes no difference: it need not interrupt itself.
 */
static void check_mask(struct workload_run *run)
{
	unsigned int cpus = cpus__count(&run->options->cpus);

	mask__check_flushes(run, flushes_of(run) * (cpus - 1) / cpus, NULL);
}

static int verify(struct workload_run *run)
{
	struct migrate_pages *migrate_pages = run->state;
	int err = stop_accesses(run, migrate_pages);

	if (err)
		return err;
	run->pages_done = migrate_pages->done;
	run->operations = MOVES;
	json_object_set_new(run->values, "pages_not_moved", json_integer(migrate_pages->not_moved));
	if (!run->pages_done) {
		run->no_work = true;
		snprintf(run->reason, sizeof(run->reason),
			 "no page went to the other node, or back from it");
	}
	err = migration__verify(run, &migrate_pages->migration);
	if (err)
		return err;
	migration__expect(run, flushes_of(run));
	check_mask(run);
	return 0;
}

static void tear_down(struct workload_run *run)
{
	struct migrate_pages *migrate_pages = run->state;

	if (!migrate_pages)
		return;
	migration__stop(run, &migrate_pages->migration);
	free(migrate_pages);
	run->state = NULL;
}

static json_t *parameters(const struct workload_options *options)
{
	return migration__parameters(options, nodes__route_across);
}

const struct workload workload_migrate_pages = {
	.name = "migrate_pages",
	.summary =
		"a process, some threads of which are at work, is moved to another node and back",
	.help = "migrate_pages(2) unmaps up to 512 pages, and then flushes every CPU of the mask. "
		"Baseline: pages / 512 x (CPUs - 1) interrupts; the CPUs of the process's threads "
		"need theirs. --pages is what both moves carry together. Needs two nodes with "
		"memory.",
	.default_pages = 656940,
	.default_threads = 2,
	.accesses = true,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_migrate_pages,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = parameters,
};
