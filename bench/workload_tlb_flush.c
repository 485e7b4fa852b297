/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tlb_flush: threads of one process, each on a CPU of its own, touch a few pages and discard them
 * with MADV_DONTNEED, again and again. Each call flushes the CPUs of all other threads.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "storm.h"

/* Below the 33 from which a CPU flushes everything (tlb_single_page_flush_ceiling). */
#define PAGES_PER_CALL 16

/* A page that was discarded reads as zero when it is written next. */
static void discard(struct storm *storm, unsigned int member, struct storm_tally *tally)
{
	struct memory *memory = &storm->memory;
	uint64_t first = (uint64_t)member * PAGES_PER_CALL;

	for (uint64_t page = first; page < first + PAGES_PER_CALL; page++)
		tally->stale += memory__exchange(memory, page) != 0;
	for (uint64_t page = first; page < first + PAGES_PER_CALL; page++)
		tally->lost += !memory__holds(memory, page);
	if (madvise(memory->base + first * memory->page_size, PAGES_PER_CALL * memory->page_size,
		    MADV_DONTNEED))
		storm_tally__fail(tally, errno);
}

/* After the last call none of the pages is there. */
static int count_left(struct storm *storm, uint64_t *pages)
{
	struct page_counts counts;
	int err = memory__count(&storm->memory, &counts);

	*pages = err ? 0 : counts.present + counts.swapped;
	return err;
}

static const struct storm_kind kind = {
	.name = "tlb_flush",
	.keeps_memory = true,
	.pages_per_call = PAGES_PER_CALL,
	.flushes_per_call = 1,
	.call = discard,
	.count_left = count_left,
};

static int check(const struct workload_options *options, char *why, size_t size)
{
	if (cpus__count(&options->cpus) >= 2)
		return storm__check(&kind, options, why, size);
	snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
	return -ENOTSUP;
}

static int set_up(struct workload_run *run)
{
	return storm__set_up(&kind, run);
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
	.pages_per_thread = PAGES_PER_CALL,
	.check = check,
	.set_up = set_up,
	.prime = storm__prime,
	.run = storm__run,
	.verify = storm__verify,
	.tear_down = storm__tear_down,
	.parameters = workload_options__json,
};
