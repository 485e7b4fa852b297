/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pageout: memory of one process, which once ran on every CPU, goes to swap.
 *
 * The memory belongs to a worker process (worker.h), which runs on the initiator's CPU. Everything
 * else the worker has is locked in memory, so that only the workload's pages can go.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bystander.h"
#include "common/diag.h"
#include "common/stop.h"
#include "journal.h"
#include "mask.h"
#include "quiet.h"
#include "reclaim.h"
#include "subject.h"
#include "swapout.h"
#include "worker.h"
#include "workload.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

enum command {
	SET_UP,
	PRIME,
	RUN,
	COUNT,
	CHECK
};

enum count_answer {
	COUNT_PRESENT,
	COUNT_SWAPPED,
	COUNT_NONE,
	COUNT_PROCESS
};

enum run_answer {
	RUN_ELAPSED_NS,
	RUN_PASSES
};

struct pageout {
	struct workload_options options;
	bool memcg;
	struct reclaim reclaim;
	struct swapout swapout;
	struct bystanders bystanders;
	struct worker worker;
	size_t mark;
	uint64_t passes;
	/* The worker's: */
	struct subject subject;
};

/* In the worker. */

static int set_up_worker(struct pageout *pageout)
{
	const struct workload_options *options = &pageout->options;
	int err = pageout->memcg ? reclaim__open(&pageout->reclaim) : 0;

	if (!err)
		err = subject__map(&pageout->subject, options, options->pages, true);
	return err ? err : subject__fill(&pageout->subject);
}

static int count_present(void *state, uint64_t *pages)
{
	const struct pageout *pageout = state;
	struct page_counts counts;
	int err = memory__count(&pageout->subject.memory, &counts);

	*pages = counts.present;
	return err;
}

static int reclaim_pages(struct pageout *pageout, uint64_t *elapsed_ns, uint64_t *passes)
{
	return reclaim__all(&pageout->reclaim, count_present, pageout, elapsed_ns, passes);
}

static int advise_pages(struct pageout *pageout, uint64_t *elapsed_ns, uint64_t *passes)
{
	struct memory *memory = &pageout->subject.memory;
	uint64_t start = stop__now_ns();

	if (madvise(memory->base, memory->pages * memory->page_size, MADV_PAGEOUT))
		return diag__fail(errno, "madvise(MADV_PAGEOUT) of %llu pages",
				  (unsigned long long)memory->pages);
	*elapsed_ns = stop__now_ns() - start;
	*passes = 1;
	return 0;
}

static int count_pages(struct pageout *pageout, uint64_t answer[WORKER_ANSWERS])
{
	struct page_counts counts;
	int err = memory__count(&pageout->subject.memory, &counts);

	answer[COUNT_PRESENT] = counts.present;
	answer[COUNT_SWAPPED] = counts.swapped;
	answer[COUNT_NONE] = counts.none;
	return err ? err : memory__process_swapped(&answer[COUNT_PROCESS]);
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct pageout *pageout = state;

	switch ((enum command)command) {
	case SET_UP:
		return set_up_worker(pageout);
	case PRIME:
		subject__prime(&pageout->subject, &pageout->options);
		return 0;
	case RUN:
		return (pageout->memcg ? reclaim_pages : advise_pages)(
			pageout, &answer[RUN_ELAPSED_NS], &answer[RUN_PASSES]);
	case COUNT:
		return count_pages(pageout, answer);
	case CHECK:
		answer[0] = memory__wrong(&pageout->subject.memory);
		return 0;
	}
	return -EINVAL;
}

/* In tlbbench. */

static bool is_memcg(const struct workload_options *options)
{
	return strcmp(options->via, "memcg") == 0;
}

static bool cgroup_available(char *why, size_t size)
{
	size_t len;

	if (cgroup__available(why, size))
		return true;
	len = strlen(why);
	snprintf(why + len, size - len, "; --via madvise needs no cgroup");
	return false;
}

static int check(const struct workload_options *options, char *why, size_t size)
{
	/* Every page is there once as such, and again, compressed, in the zram device. */
	uint64_t need = options->pages * sysconf(_SC_PAGESIZE);

	if (cpus__count(&options->cpus) < 2) {
		snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
		return -ENOTSUP;
	}
	if (!zram__available(why, size) || !memory__enough(need + need / 4, why, size) ||
	    (is_memcg(options) && !cgroup_available(why, size)))
		return -ENOTSUP;
	return 0;
}

static int set_up(struct workload_run *run)
{
	struct pageout *pageout = calloc(1, sizeof(*pageout));
	uint64_t answer[WORKER_ANSWERS];
	int err;

	if (!pageout)
		return diag__fail(ENOMEM, "set up pageout");
	run->state = pageout;
	pageout->options = *run->options;
	pageout->memcg = is_memcg(run->options);
	pageout->mark = journal__mark(run->journal);
	err = quiet__machine(run->journal, run->options);
	if (!err)
		err = swapout__create(run->journal, run->options->pages, &pageout->swapout);
	if (!err && pageout->memcg)
		err = reclaim__create(run->journal, &pageout->reclaim);
	if (!err && run->options->bystander == BYSTANDER_OTHER)
		err = bystanders__start(&pageout->bystanders, &run->options->cpus,
					run->options->initiator);
	if (!err)
		err = worker__start(&pageout->worker, serve, pageout);
	if (!err && pageout->memcg)
		err = cgroup__add_process(&pageout->reclaim.cgroup, pageout->worker.pid);
	return err ? err : worker__call(&pageout->worker, SET_UP, answer);
}

static int prime(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = swapout__start(&pageout->swapout);

	return err ? err : worker__call(&pageout->worker, PRIME, answer);
}

static int run_pageout(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&pageout->worker, RUN, answer);

	if (err)
		return err;
	run->elapsed_ns = answer[RUN_ELAPSED_NS];
	pageout->passes = answer[RUN_PASSES];
	return 0;
}

/* Why the mask may not have stayed full, where the way of reclaim tells. */
static const char *mask_cause(const struct pageout *pageout)
{
	if (pageout->memcg)
		return NULL;
	return "MADV_PAGEOUT begins every page table (2 MiB) after the first with a flush of the "
	       "mm itself, and once a second has passed such a flush trims the CPUs that run "
	       "something else; so only the first 512 pages or so cause interrupts, however many "
	       "there are; --via memcg has no such flush";
}

static int check_words(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&pageout->worker, CHECK, answer);

	if (err)
		return err;
	if (!answer[0])
		return 0;
	diag__error("%llu of %llu pages came back from swap with the wrong contents",
		    (unsigned long long)answer[0], (unsigned long long)run->options->pages);
	diag__hint("memory, zram or the kernel under test loses data: see the kernel's log");
	return -EIO;
}

static int verify(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t counts[WORKER_ANSWERS];
	int err = worker__call(&pageout->worker, COUNT, counts);

	if (!err)
		err = swapout__verify(&pageout->swapout, run, counts[COUNT_SWAPPED],
				      counts[COUNT_PROCESS]);
	if (err)
		return err;
	diag__verbose(
		"%llu pages out, %llu in, in %llu passes", (unsigned long long)run->pages_done,
		(unsigned long long)counts[COUNT_PRESENT], (unsigned long long)pageout->passes);
	mask__check(run, mask_cause(pageout));
	return check_words(run);
}

static void tear_down(struct workload_run *run)
{
	struct pageout *pageout = run->state;

	if (!pageout)
		return;
	worker__stop(&pageout->worker);
	bystanders__stop(&pageout->bystanders);
	journal__undo(run->journal, pageout->mark);
	free(pageout);
	run->state = NULL;
}

static const char *const vias[] = { "memcg", "madvise", NULL };

const struct workload workload_pageout = {
	.name = "pageout",
	.summary = "memory of a process that once ran on every CPU goes to swap (zram)",
	.help = "Reclaim unmaps page by page and flushes every CPU of the batch's mask. Baseline: "
		"pages x (CPUs - 1) interrupts. --via memcg writes the memory.reclaim of a cgroup "
		"of its own; --via madvise uses MADV_PAGEOUT, whose own flushes trim the mask after "
		"the first 2 MiB.",
	.vias = vias,
	.default_pages = 81920,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_pageout,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = workload_options__json,
};
