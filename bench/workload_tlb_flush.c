/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tlb_flush: threads of one process, each on a CPU of its own, touch a few pages and discard them
 * with MADV_DONTNEED, again and again. Each call flushes the CPUs of all other threads.
 *
 * From the first call to the last all threads are busy: one that has come to its end waits for the
 * others without sleeping, so that its CPU stays in the address space.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bystander.h"
#include "common/diag.h"
#include "common/stop.h"
#include "crew.h"
#include "journal.h"
#include "memory.h"
#include "pin.h"
#include "quiet.h"
#include "relax.h"
#include "worker.h"
#include "workload.h"

/* Below the 33 from which a CPU flushes everything (tlb_single_page_flush_ceiling). */
#define PAGES_PER_CALL 16

enum command {
	SET_UP,
	PRIME,
	RUN,
	COUNT
};

enum run_answer {
	RUN_ELAPSED_NS,
	RUN_CALLS,
	RUN_STALE,
	RUN_LOST,
	RUN_FAILED
};

struct tlb_flush {
	struct workload_options options;
	struct bystanders bystanders;
	struct worker worker;
	size_t mark;
	uint64_t calls, stale, lost, failed;
	/* The worker's: */
	struct memory memory;
	struct crew *crew;
	uint64_t calls_asked; /* of all threads */
	_Atomic unsigned int ready, finished;
	_Atomic uint64_t calls_done, pages_stale, pages_lost, calls_failed;
	_Atomic uint64_t start_ns, end_ns;
};

/* The CPUs whose threads are in the process: with spinning bystanders all. */
static struct cpus cpus_of_threads(const struct workload_options *options)
{
	struct cpus cpus;
	unsigned int count = 0;

	if (options->bystander == BYSTANDER_SPIN)
		return options->cpus;
	cpus__clear(&cpus);
	cpus__for_each (cpu, &options->cpus)
		if (count++ < options->threads)
			cpus__add(&cpus, cpu);
	return cpus;
}

/* In the worker. */

/* Waits for all threads without sleeping; the last to come leaves the time in @when. */
static void meet(const struct tlb_flush *tlb_flush, _Atomic unsigned int *counter,
		 _Atomic uint64_t *when)
{
	unsigned int all = crew__size(tlb_flush->crew);

	if (atomic_fetch_add(counter, 1) + 1 == all)
		*when = stop__now_ns();
	while (*counter < all)
		cpu_relax();
}

/* One call, and the words before and after. */
static void discard(struct tlb_flush *tlb_flush, uint64_t first)
{
	struct memory *memory = &tlb_flush->memory;
	uint64_t stale = 0, lost = 0;

	for (uint64_t page = first; page < first + PAGES_PER_CALL; page++)
		stale += memory__exchange(memory, page) != 0;
	for (uint64_t page = first; page < first + PAGES_PER_CALL; page++)
		lost += !memory__holds(memory, page);
	if (madvise(memory->base + first * memory->page_size, PAGES_PER_CALL * memory->page_size,
		    MADV_DONTNEED))
		tlb_flush->calls_failed++;
	tlb_flush->calls_done++;
	tlb_flush->pages_stale += stale;
	tlb_flush->pages_lost += lost;
}

static void storm(void *arg, unsigned int member)
{
	struct tlb_flush *tlb_flush = arg;
	unsigned int threads = tlb_flush->options.threads;
	uint64_t calls = 0;

	if (member < threads)
		calls = tlb_flush->calls_asked / threads +
			(member < tlb_flush->calls_asked % threads);
	meet(tlb_flush, &tlb_flush->ready, &tlb_flush->start_ns);
	while (calls--)
		discard(tlb_flush, (uint64_t)member * PAGES_PER_CALL);
	meet(tlb_flush, &tlb_flush->finished, &tlb_flush->end_ns);
}

static void run_storm(struct tlb_flush *tlb_flush, uint64_t calls)
{
	tlb_flush->calls_asked = calls;
	tlb_flush->ready = tlb_flush->finished = 0;
	tlb_flush->calls_done = tlb_flush->calls_failed = 0;
	tlb_flush->pages_stale = tlb_flush->pages_lost = 0;
	crew__do(tlb_flush->crew, storm, tlb_flush);
}

static int set_up_worker(struct tlb_flush *tlb_flush)
{
	const struct workload_options *options = &tlb_flush->options;
	struct cpus cpus = cpus_of_threads(options);
	int err = pin__to_cpu(options->initiator);

	if (!err)
		err = quiet__process(options);
	if (!err)
		err = crew__start(&tlb_flush->crew, &cpus, CPUS_MAX);
	return err ? err
		   : memory__map(&tlb_flush->memory, (uint64_t)options->threads * PAGES_PER_CALL,
				 options->thp);
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct tlb_flush *tlb_flush = state;
	struct page_counts counts;
	int err;

	switch ((enum command)command) {
	case SET_UP:
		return set_up_worker(tlb_flush);
	case PRIME:
		/* One call each, which faults in the page tables and the threads' stacks. */
		run_storm(tlb_flush, tlb_flush->options.threads);
		return 0;
	case RUN:
		run_storm(tlb_flush, tlb_flush->options.pages / PAGES_PER_CALL);
		answer[RUN_ELAPSED_NS] = tlb_flush->end_ns - tlb_flush->start_ns;
		answer[RUN_CALLS] = tlb_flush->calls_done;
		answer[RUN_STALE] = tlb_flush->pages_stale;
		answer[RUN_LOST] = tlb_flush->pages_lost;
		answer[RUN_FAILED] = tlb_flush->calls_failed;
		return 0;
	case COUNT:
		err = memory__count(&tlb_flush->memory, &counts);
		answer[0] = counts.present + counts.swapped;
		return err;
	}
	return -EINVAL;
}

/* In tlbbench. */

static int check(const struct workload_options *options, char *why, size_t size)
{
	unsigned int cpus = cpus__count(&options->cpus);

	if (cpus < 2)
		snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
	else if (options->threads > cpus)
		snprintf(why, size,
			 "each of %u threads is to have a CPU of its own, and there are %u",
			 options->threads, cpus);
	else if (options->pages / PAGES_PER_CALL < options->threads)
		snprintf(why, size, "each thread is to discard %d pages at least: try --pages=%u",
			 PAGES_PER_CALL, PAGES_PER_CALL * options->threads);
	else
		return 0;
	return -ENOTSUP;
}

/* Busy processes on the CPUs that no thread has. */
static int start_bystanders(struct tlb_flush *tlb_flush)
{
	struct cpus rest = tlb_flush->options.cpus, taken = cpus_of_threads(&tlb_flush->options);

	if (tlb_flush->options.bystander != BYSTANDER_OTHER)
		return 0;
	cpus__for_each (cpu, &taken)
		cpus__remove(&rest, cpu);
	return bystanders__start(&tlb_flush->bystanders, &rest, CPUS_MAX);
}

static int set_up(struct workload_run *run)
{
	struct tlb_flush *tlb_flush = calloc(1, sizeof(*tlb_flush));
	uint64_t answer[WORKER_ANSWERS];
	int err;

	if (!tlb_flush)
		return diag__fail(ENOMEM, "set up tlb_flush");
	run->state = tlb_flush;
	tlb_flush->options = *run->options;
	tlb_flush->mark = journal__mark(run->journal);
	err = quiet__machine(run->journal, run->options);
	if (!err)
		err = start_bystanders(tlb_flush);
	if (!err)
		err = worker__start(&tlb_flush->worker, serve, tlb_flush);
	return err ? err : worker__call(&tlb_flush->worker, SET_UP, answer);
}

static int prime(struct workload_run *run)
{
	struct tlb_flush *tlb_flush = run->state;
	uint64_t answer[WORKER_ANSWERS];

	return worker__call(&tlb_flush->worker, PRIME, answer);
}

static int run_tlb_flush(struct workload_run *run)
{
	struct tlb_flush *tlb_flush = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&tlb_flush->worker, RUN, answer);

	if (err)
		return err;
	run->elapsed_ns = answer[RUN_ELAPSED_NS];
	tlb_flush->calls = answer[RUN_CALLS];
	tlb_flush->stale = answer[RUN_STALE];
	tlb_flush->lost = answer[RUN_LOST];
	tlb_flush->failed = answer[RUN_FAILED];
	return 0;
}

/*
 * A page that was discarded reads as zero when it is written next; after the last call it is not
 * there (@present are).
 */
static int judge(const struct tlb_flush *tlb_flush, uint64_t present)
{
	if (tlb_flush->failed)
		return diag__fail(EIO, "discard pages: %llu of %llu calls failed",
				  (unsigned long long)tlb_flush->failed,
				  (unsigned long long)tlb_flush->calls);
	if (!tlb_flush->stale && !tlb_flush->lost && !present)
		return 0;
	diag__error("of %llu pages %llu did not hold what had just been written, and %llu were "
		    "still there after MADV_DONTNEED",
		    (unsigned long long)tlb_flush->calls * PAGES_PER_CALL,
		    (unsigned long long)tlb_flush->lost,
		    (unsigned long long)(tlb_flush->stale + present));
	diag__hint("the kernel under test misses flushes or loses data: see the kernel's log");
	return -EIO;
}

static int verify(struct workload_run *run)
{
	struct tlb_flush *tlb_flush = run->state;
	struct cpus cpus = cpus_of_threads(run->options);
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&tlb_flush->worker, COUNT, answer);

	if (!err)
		err = judge(tlb_flush, answer[0]);
	if (err)
		return err;
	run->operations = tlb_flush->calls;
	run->pages_done = tlb_flush->calls * PAGES_PER_CALL;
	json_object_set_new(run->values, "expected_ipis",
			    json_integer(tlb_flush->calls * (cpus__count(&cpus) - 1)));
	return 0;
}

static void tear_down(struct workload_run *run)
{
	struct tlb_flush *tlb_flush = run->state;

	if (!tlb_flush)
		return;
	worker__stop(&tlb_flush->worker);
	bystanders__stop(&tlb_flush->bystanders);
	journal__undo(run->journal, tlb_flush->mark);
	free(tlb_flush);
	run->state = NULL;
}

const struct workload workload_tlb_flush = {
	.name = "tlb_flush",
	.summary = "threads of one process discard pages (MADV_DONTNEED), all at once",
	.help = "Each thread touches 16 pages of its own and discards them by one call, which "
		"flushes the CPUs of the other threads: calls x (threads - 1) interrupts. "
		"--pages is what all threads discard together; --bystander spin puts a thread "
		"that only spins on each further CPU.",
	.default_pages = 65536,
	.default_threads = ONE_PER_CPU,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_tlb_flush,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = workload_options__json,
};
