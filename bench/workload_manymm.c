/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manymm: memory of many address spaces is reclaimed by one pass. Each of them once ran on every
 * CPU. How many a batch spans depends on the way (read in shrink_folio_list() of 7.3):
 *
 *	shared		each page is mapped by all processes, as after fork(). A page that can be
 *			written is flushed before it goes to swap, so a batch is one page: of all.
 *	processes	each process has pages of its own: a batch is one page, of one.
 *	lazyfree	the same, but the pages were given up with MADV_FREE, by one process after
 *			the other. They need not be written, so that a batch is as many pages as
 *			are freed at once (31 since 6.10): of as many processes.
 *
 * One worker, the leader, is forked by tlbbench; it forks the others, and calls them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bystander.h"
#include "cgroup.h"
#include "common/diag.h"
#include "common/procfs.h"
#include "crew.h"
#include "journal.h"
#include "mask.h"
#include "memory.h"
#include "pin.h"
#include "quiet.h"
#include "reclaim.h"
#include "swapout.h"
#include "worker.h"
#include "workload.h"

enum way {
	WAY_SHARED,
	WAY_PROCESSES,
	WAY_LAZYFREE
};

static const char *const vias[] = { "shared", "processes", "lazyfree", NULL };

enum command {
	SET_UP,
	FREE_ONE,
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

enum check_answer {
	CHECK_WRONG,
	CHECK_ZERO
};

enum run_answer {
	RUN_ELAPSED_NS,
	RUN_PASSES
};

struct manymm {
	struct workload_options options;
	enum way way;
	struct reclaim reclaim;
	struct swapout swapout;
	uint64_t pglazyfreed; /* when the run began */
	struct bystanders bystanders;
	struct worker leader;
	size_t mark;
	/* Each process's own: */
	unsigned int index; /* 0: the leader */
	struct memory memory;
	struct crew *spinners;
	uint64_t freed; /* pages it has given up */
	/* The leader's; its own place is not used. */
	struct worker *members;
};

/* The answers of all processes. */
struct gathered {
	uint64_t sum[WORKER_ANSWERS], least[WORKER_ANSWERS];
};

/* In each process. */

static uint64_t own_pages(const struct manymm *manymm)
{
	uint64_t pages = manymm->options.pages, mms = manymm->options.mms;

	return manymm->way == WAY_SHARED ? pages : pages / mms + (manymm->index < pages % mms);
}

/* Spinning threads: on each CPU one, of the processes in turn. */
static int start_spinners(struct manymm *manymm)
{
	const struct workload_options *options = &manymm->options;
	struct cpus cpus;
	unsigned int rank = 0;

	if (options->bystander != BYSTANDER_SPIN)
		return 0;
	cpus__clear(&cpus);
	cpus__for_each (cpu, &options->cpus)
		if (rank++ % options->mms == manymm->index)
			cpus__add(&cpus, cpu);
	return crew__start(&manymm->spinners, &cpus, options->initiator);
}

/*
 * Locks all that the process has but the memory that is shared. ONFAULT: making pages present would
 * end the sharing.
 */
static int keep_shared(struct manymm *manymm)
{
	struct memory *memory = &manymm->memory;

	if (mlockall(MCL_CURRENT | MCL_ONFAULT) ||
	    munlock(memory->base, memory->pages * memory->page_size))
		return diag__fail(errno, "lock a process's own pages in memory");
	return memory__adopt(memory);
}

static int make_own(struct manymm *manymm)
{
	int err;

	if (mlockall(MCL_CURRENT))
		return diag__fail(errno, "lock a process's own pages in memory");
	err = memory__map(&manymm->memory, own_pages(manymm), manymm->options.thp);
	if (!err)
		memory__fill(&manymm->memory);
	return err;
}

static int set_up_process(struct manymm *manymm)
{
	int err = start_spinners(manymm);

	if (err)
		return err;
	return manymm->way == WAY_SHARED && manymm->index ? keep_shared(manymm) : make_own(manymm);
}

/* Gives up the next page. Its word stays until it is reclaimed. */
static int free_one(struct manymm *manymm)
{
	struct memory *memory = &manymm->memory;

	if (manymm->freed == memory->pages)
		return 0;
	if (madvise(memory->base + manymm->freed++ * memory->page_size, memory->page_size,
		    MADV_FREE))
		return diag__fail(errno, "give up a page with MADV_FREE");
	return 0;
}

/* Once on every CPU, and back. */
static int visit_cpus(const struct workload_options *options)
{
	int err = 0;

	cpus__for_each (cpu, &options->cpus)
		if (!err && cpu != options->initiator)
			err = pin__to_cpu(cpu);
	return err ? err : pin__to_cpu(options->initiator);
}

static int count_pages(struct manymm *manymm, uint64_t answer[WORKER_ANSWERS])
{
	struct page_counts counts;
	int err = memory__count(&manymm->memory, &counts);

	answer[COUNT_PRESENT] = counts.present;
	answer[COUNT_SWAPPED] = counts.swapped;
	answer[COUNT_NONE] = counts.none;
	return err ? err : memory__process_swapped(&answer[COUNT_PROCESS]);
}

static int serve_process(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct manymm *manymm = state;
	int err;

	switch ((enum command)command) {
	case SET_UP:
		return set_up_process(manymm);
	case FREE_ONE:
		return free_one(manymm);
	case PRIME:
		err = visit_cpus(&manymm->options);
		if (!err && manymm->spinners)
			crew__call(manymm->spinners, true);
		return err;
	case COUNT:
		return count_pages(manymm, answer);
	case CHECK:
		answer[CHECK_WRONG] = memory__wrong(&manymm->memory);
		answer[CHECK_ZERO] = memory__zeros(&manymm->memory);
		return 0;
	case RUN:
		break;
	}
	return -EINVAL;
}

/* In the leader. */

/* Has every process do @command, the leader first. */
static int gather(struct manymm *manymm, enum command command, struct gathered *out)
{
	uint64_t answer[WORKER_ANSWERS] = { 0 };
	int err = serve_process(manymm, command, answer);

	memcpy(out->sum, answer, sizeof(answer));
	memcpy(out->least, answer, sizeof(answer));
	for (unsigned int i = 1; !err && i < manymm->options.mms; i++) {
		err = worker__call(&manymm->members[i], command, answer);
		for (size_t j = 0; !err && j < WORKER_ANSWERS; j++) {
			out->sum[j] += answer[j];
			if (answer[j] < out->least[j])
				out->least[j] = answer[j];
		}
	}
	return err;
}

static int start_members(struct manymm *manymm)
{
	int err = 0;

	for (unsigned int i = 1; !err && i < manymm->options.mms; i++) {
		manymm->index = i;
		err = worker__start(&manymm->members[i], serve_process, manymm);
	}
	manymm->index = 0;
	return err;
}

/* Page by page of the processes in turn, so that they lie in this order on the list of reclaim. */
static int free_in_turn(struct manymm *manymm)
{
	uint64_t turns = own_pages(manymm);
	struct gathered unused;
	int err = 0;

	for (uint64_t i = 0; !err && i < turns; i++)
		err = gather(manymm, FREE_ONE, &unused);
	return err;
}

static int set_up_leader(struct manymm *manymm)
{
	const struct workload_options *options = &manymm->options;
	uint64_t unused[WORKER_ANSWERS];
	int err = pin__to_cpu(options->initiator);

	manymm->members = calloc(options->mms, sizeof(*manymm->members));
	if (!manymm->members)
		return diag__fail(ENOMEM, "start %u processes", options->mms);
	if (!err)
		err = quiet__process(options);
	if (!err)
		err = reclaim__open(&manymm->reclaim);
	/* What is mapped before the fork is shared, and nothing else is to be. */
	if (!err && manymm->way == WAY_SHARED)
		err = set_up_process(manymm);
	if (!err)
		err = start_members(manymm);
	if (!err && manymm->way != WAY_SHARED)
		err = set_up_process(manymm);
	for (unsigned int i = 1; !err && i < options->mms; i++)
		err = worker__call(&manymm->members[i], SET_UP, unused);
	if (!err)
		err = memory__settle();
	if (!err && manymm->way == WAY_LAZYFREE) {
		err = free_in_turn(manymm);
		if (!err)
			err = memory__settle();
	}
	return err;
}

/* Of shared pages, those that one process has are those that all have. */
static int pages_left(void *state, uint64_t *pages)
{
	struct manymm *manymm = state;
	struct gathered counts;
	int err = gather(manymm, COUNT, &counts);

	*pages = manymm->way == WAY_SHARED ? counts.sum[COUNT_PRESENT] / manymm->options.mms
					   : counts.sum[COUNT_PRESENT];
	return err;
}

static int count_all(struct manymm *manymm, uint64_t answer[WORKER_ANSWERS])
{
	struct gathered counts;
	int err = gather(manymm, COUNT, &counts);

	memcpy(answer, manymm->way == WAY_SHARED ? counts.least : counts.sum, sizeof(counts.sum));
	return err;
}

static int serve_leader(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct manymm *manymm = state;
	struct gathered gathered;
	int err;

	switch ((enum command)command) {
	case SET_UP:
		return set_up_leader(manymm);
	case RUN:
		return reclaim__all(&manymm->reclaim, pages_left, manymm, &answer[RUN_ELAPSED_NS],
				    &answer[RUN_PASSES]);
	case COUNT:
		return count_all(manymm, answer);
	case PRIME:
		/*
		 * fork() has left this process's own pages to be copied when they are written, with
		 * a flush each: so what run and count write is written before.
		 */
		err = count_all(manymm, answer);
		return err ? err : gather(manymm, PRIME, &gathered);
	case CHECK:
		err = gather(manymm, CHECK, &gathered);
		memcpy(answer, gathered.sum, sizeof(gathered.sum));
		return err;
	case FREE_ONE:
		break;
	}
	return -EINVAL;
}

/* In tlbbench. */

static enum way way_of(const struct workload_options *options)
{
	enum way way = WAY_SHARED;

	while (strcmp(vias[way], options->via))
		way++;
	return way;
}

static int check(const struct workload_options *options, char *why, size_t size)
{
	uint64_t need = options->pages * sysconf(_SC_PAGESIZE);

	if (cpus__count(&options->cpus) < 2)
		snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
	else if (options->pages < options->mms)
		snprintf(why, size, "each of %u processes is to have a page: try --pages=%u",
			 options->mms, options->mms);
	else if (zram__available(why, size) && cgroup__available(why, size) &&
		 memory__enough(need + need / 4, why, size))
		return 0;
	return -ENOTSUP;
}

static int set_up(struct workload_run *run)
{
	struct manymm *manymm = calloc(1, sizeof(*manymm));
	uint64_t answer[WORKER_ANSWERS];
	int err;

	if (!manymm)
		return diag__fail(ENOMEM, "set up manymm");
	run->state = manymm;
	manymm->options = *run->options;
	manymm->way = way_of(run->options);
	manymm->mark = journal__mark(run->journal);
	err = quiet__machine(run->journal, run->options);
	if (!err)
		err = swapout__create(run->journal, run->options->pages, &manymm->swapout);
	if (!err)
		err = reclaim__create(run->journal, &manymm->reclaim);
	/* What was given up is on the list of files, and there is nothing else to be reclaimed. */
	if (!err && manymm->way == WAY_LAZYFREE)
		manymm->reclaim.argument = "";
	if (!err && run->options->bystander == BYSTANDER_OTHER)
		err = bystanders__start(&manymm->bystanders, &run->options->cpus,
					run->options->initiator);
	if (!err)
		err = worker__start(&manymm->leader, serve_leader, manymm);
	if (!err)
		err = cgroup__add_process(&manymm->reclaim.cgroup, manymm->leader.pid);
	return err ? err : worker__call(&manymm->leader, SET_UP, answer);
}

static int read_pglazyfreed(uint64_t *out)
{
	int err = procfs__vmstat("pglazyfreed", out);

	return err ? diag__fail(-err, "read pglazyfreed in /proc/vmstat") : 0;
}

static int prime(struct workload_run *run)
{
	struct manymm *manymm = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = swapout__start(&manymm->swapout);

	if (!err)
		err = read_pglazyfreed(&manymm->pglazyfreed);
	return err ? err : worker__call(&manymm->leader, PRIME, answer);
}

static int run_manymm(struct workload_run *run)
{
	struct manymm *manymm = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&manymm->leader, RUN, answer);

	if (err)
		return err;
	run->elapsed_ns = answer[RUN_ELAPSED_NS];
	diag__verbose("%llu passes", (unsigned long long)answer[RUN_PASSES]);
	return 0;
}

/* Pages that went to swap. */
static int verify_swapped(struct workload_run *run, const uint64_t *counts)
{
	struct manymm *manymm = run->state;
	int err = swapout__verify(&manymm->swapout, run, counts[COUNT_SWAPPED],
				  counts[COUNT_PROCESS]);

	if (!err)
		mask__check(run, NULL);
	return err;
}

/* Pages that were given up, and are gone: there is no trace of them but that. */
static int verify_discarded(struct workload_run *run, const uint64_t *counts)
{
	struct manymm *manymm = run->state;
	uint64_t pglazyfreed;
	int err = read_pglazyfreed(&pglazyfreed);

	if (err)
		return err;
	pglazyfreed -= manymm->pglazyfreed;
	run->pages_done = counts[COUNT_NONE];
	if (pglazyfreed != run->pages_done)
		workload_run__note(run,
				   "the kernel discarded %llu pages, %llu of the workload's are "
				   "gone",
				   (unsigned long long)pglazyfreed,
				   (unsigned long long)run->pages_done);
	if (!run->pages_done) {
		run->no_work = true;
		snprintf(run->reason, sizeof(run->reason),
			 "no page that was given up was reclaimed, although the kernel reported no "
			 "error");
	}
	json_object_set_new(run->values, "expected_ipis",
			    json_string("pages that need not be written leave by up to 31 per "
					"flush, and how many is up to the kernel's lists"));
	return 0;
}

/* @gone: pages that may, and must, have lost their word. */
static int check_words(struct workload_run *run, uint64_t gone)
{
	struct manymm *manymm = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&manymm->leader, CHECK, answer);

	if (err)
		return err;
	if (answer[CHECK_WRONG] == gone && answer[CHECK_ZERO] == gone)
		return 0;
	diag__error("of the pages of %u processes, %llu do not hold what was written and %llu are "
		    "zero, where %llu of both were expected",
		    run->options->mms, (unsigned long long)answer[CHECK_WRONG],
		    (unsigned long long)answer[CHECK_ZERO], (unsigned long long)gone);
	diag__hint("memory, zram or the kernel under test loses data: see the kernel's log");
	return -EIO;
}

static int verify(struct workload_run *run)
{
	struct manymm *manymm = run->state;
	bool lazyfree = manymm->way == WAY_LAZYFREE;
	uint64_t counts[WORKER_ANSWERS];
	int err = worker__call(&manymm->leader, COUNT, counts);

	if (!err)
		err = (lazyfree ? verify_discarded : verify_swapped)(run, counts);
	return err ? err : check_words(run, lazyfree ? run->pages_done : 0);
}

static void tear_down(struct workload_run *run)
{
	struct manymm *manymm = run->state;

	if (!manymm)
		return;
	/* The members die with the leader. */
	worker__stop(&manymm->leader);
	bystanders__stop(&manymm->bystanders);
	journal__undo(run->journal, manymm->mark);
	free(manymm);
	run->state = NULL;
}

const struct workload workload_manymm = {
	.name = "manymm",
	.summary =
		"memory of many address spaces, each once on every CPU, is reclaimed in one pass",
	.help = "--mms is the number of processes. --via shared: all map each page, as after "
		"fork(), so that a batch, which is one page, is of all of them; --via processes: "
		"each has pages of its own, and a batch is of one. Both go to swap (zram), with "
		"pages x (CPUs - 1) interrupts. --via lazyfree: pages of their own that need not "
		"be written (MADV_FREE), so that a batch is up to 31 pages, of as many processes.",
	.vias = vias,
	.default_pages = 8192,
	.default_mms = 16,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_manymm,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = workload_options__json,
};
