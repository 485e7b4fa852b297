/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * move_pages: one thread moves the pages of its process, which once ran on every CPU, to another
 * node, by move_pages(2). Each call names one target only: where targets are mixed, the kernel
 * hands over what it has whenever the target changes.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "mask.h"
#include "migration.h"

/* What no kernel writes as a page's status. */
#define UNTOUCHED INT_MIN

enum {
	MOVE_RUN = MIGRATION_OWN,
	MOVE_STATUS
};

enum run_answer {
	RUN_ELAPSED_NS,
	RUN_CALLS,
	RUN_NOT_MOVED
};

enum status_answer {
	STATUS_TARGET,
	STATUS_UNTOUCHED,
	STATUS_ERRORS,
	STATUS_ERRNO /* of the first of these */
};

struct move_pages {
	struct migration migration;
	uint64_t batch;
	uint64_t calls, not_moved;
	/* The worker's, for every page: */
	void **pages;
	int *nodes, *status;
};

static int target_of(const struct move_pages *move)
{
	return cpus__next(&move->migration.route.to, 0);
}

/* In the worker. */

static int list_pages(struct move_pages *move)
{
	const struct memory *memory = &move->migration.subject.memory;

	move->pages = calloc(memory->pages, sizeof(*move->pages));
	move->nodes = calloc(memory->pages, sizeof(*move->nodes));
	move->status = calloc(memory->pages, sizeof(*move->status));
	if (!move->pages || !move->nodes || !move->status)
		return diag__fail(ENOMEM, "list %llu pages", (unsigned long long)memory->pages);
	for (uint64_t i = 0; i < memory->pages; i++) {
		move->pages[i] = memory->base + i * memory->page_size;
		move->nodes[i] = target_of(move);
		move->status[i] = UNTOUCHED;
	}
	return 0;
}

static int move_all(struct move_pages *move, uint64_t answer[WORKER_ANSWERS])
{
	uint64_t total = move->migration.pages, start = stop__now_ns();

	for (uint64_t done = 0, count; done < total; done += count) {
		long left;

		count = total - done < move->batch ? total - done : move->batch;
		left = syscall(SYS_move_pages, 0, count, move->pages + done, move->nodes + done,
			       move->status + done, 0);
		if (left < 0)
			return diag__fail(errno, "move_pages(2) of %llu pages to node %d",
					  (unsigned long long)count, target_of(move));
		answer[RUN_CALLS]++;
		answer[RUN_NOT_MOVED] += left;
	}
	answer[RUN_ELAPSED_NS] = stop__now_ns() - start;
	return 0;
}

static void read_status(const struct move_pages *move, uint64_t answer[WORKER_ANSWERS])
{
	for (uint64_t i = 0; i < move->migration.pages; i++) {
		int status = move->status[i];

		if (status == target_of(move)) {
			answer[STATUS_TARGET]++;
		} else if (status == UNTOUCHED) {
			answer[STATUS_UNTOUCHED]++;
		} else if (!answer[STATUS_ERRORS]++) {
			answer[STATUS_ERRNO] = -status;
		}
	}
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct move_pages *move = state;
	int err;

	switch (command) {
	case MIGRATION_SET_UP:
		err = migration__serve(&move->migration, command, answer);
		return err ? err : list_pages(move);
	case MOVE_RUN:
		return move_all(move, answer);
	case MOVE_STATUS:
		read_status(move, answer);
		return 0;
	default:
		return migration__serve(&move->migration, command, answer);
	}
}

/* In tlbbench. */

static int check(const struct workload_options *options, char *why, size_t size)
{
	return migration__check(options, nodes__route_across, options->pages, why, size);
}

static int set_up(struct workload_run *run)
{
	struct move_pages *move = calloc(1, sizeof(*move));
	int err;

	if (!move)
		return diag__fail(ENOMEM, "set up move_pages");
	move->batch = run->options->batch;
	err = migration__begin(run, &move->migration, nodes__route_across, run->options->pages);
	if (!err)
		err = migration__start(&move->migration, serve);
	return err ? err : migration__fill(&move->migration);
}

static int prime(struct workload_run *run)
{
	struct move_pages *move = run->state;

	return migration__prime(&move->migration);
}

static int run_move_pages(struct workload_run *run)
{
	struct move_pages *move = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&move->migration.worker, MOVE_RUN, answer);

	if (err)
		return err;
	run->elapsed_ns = answer[RUN_ELAPSED_NS];
	move->calls = answer[RUN_CALLS];
	move->not_moved = answer[RUN_NOT_MOVED];
	return 0;
}

/* What the calls themselves say, next to where the pages were found. */
static void compare_status(struct workload_run *run, const struct move_pages *move,
			   const uint64_t status[WORKER_ANSWERS])
{
	if (status[STATUS_ERRORS])
		workload_run__note(run, "%llu pages could not be moved, the first of them: %s",
				   (unsigned long long)status[STATUS_ERRORS],
				   strerror((int)status[STATUS_ERRNO]));
	if (status[STATUS_UNTOUCHED] || move->not_moved)
		workload_run__note(run,
				   "the calls say that %llu pages were not moved, and left the "
				   "status of %llu as it was",
				   (unsigned long long)move->not_moved,
				   (unsigned long long)status[STATUS_UNTOUCHED]);
	else if (status[STATUS_TARGET] != run->pages_done)
		workload_run__note(run, "by their status %llu pages were moved, and %llu are there",
				   (unsigned long long)status[STATUS_TARGET],
				   (unsigned long long)run->pages_done);
}

/* Of the pages that moved: whole batches, and what is left. */
static uint64_t flushes_of(uint64_t pages, uint64_t batch)
{
	return pages / batch * migration__flushes(batch) + migration__flushes(pages % batch);
}

static int verify(struct workload_run *run)
{
	struct move_pages *move = run->state;
	uint64_t flushes, status[WORKER_ANSWERS];
	struct places places;
	int err = migration__count(&move->migration, &places);

	if (!err)
		err = worker__call(&move->migration.worker, MOVE_STATUS, status);
	if (err)
		return err;
	run->pages_done = places.to;
	run->operations = move->calls;
	if (!run->pages_done) {
		run->no_work = true;
		snprintf(run->reason, sizeof(run->reason), "no page is on node %d",
			 target_of(move));
	}
	flushes = flushes_of(run->pages_done, move->batch);
	migration__expect(run, flushes);
	mask__check_flushes(run, flushes, NULL);
	json_object_set_new(run->values, "pages_not_moved", json_integer(move->not_moved));
	/* A huge page goes with its first base page, and the next is told that it is busy. */
	if (!run->options->thp)
		compare_status(run, move, status);
	return migration__verify(run, &move->migration);
}

static void tear_down(struct workload_run *run)
{
	struct move_pages *move = run->state;

	if (!move)
		return;
	migration__stop(run, &move->migration);
	free(move);
	run->state = NULL;
}

static json_t *parameters(const struct workload_options *options)
{
	return migration__parameters(options, nodes__route_across);
}

const struct workload workload_move_pages = {
	.name = "move_pages",
	.summary = "a process that once ran on every CPU moves its pages to another node",
	.help = "move_pages(2) unmaps up to 512 pages, and then flushes every CPU of the mask. "
		"Baseline: pages / 512 x (CPUs - 1) interrupts, or one flush per call where --batch "
		"is smaller. Needs two nodes with memory.",
	.default_pages = 331600,
	.batches = true,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_move_pages,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = parameters,
};
