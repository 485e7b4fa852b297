/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mmap: maps a few pages, writes to them, makes them read-only, and unmaps them, again and again,
 * in a process with one thread or with several. The last two of these flush.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storm.h"

/* As in tlb_flush. */
#define PAGES_PER_CALL 16

static void check_pages(const struct memory *memory, struct storm_tally *tally)
{
	for (uint64_t page = 0; page < PAGES_PER_CALL; page++)
		tally->lost += !memory__holds(memory, page);
}

/* A page that was just mapped reads as zero. */
static void map_and_unmap(struct storm *storm, unsigned int member, struct storm_tally *tally)
{
	struct memory memory = { .pages = PAGES_PER_CALL, .page_size = sysconf(_SC_PAGESIZE) };
	size_t size = memory.pages * memory.page_size;

	(void)storm;
	(void)member;
	memory.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory.base == MAP_FAILED) {
		storm_tally__fail(tally, errno);
		return;
	}
	for (uint64_t page = 0; page < PAGES_PER_CALL; page++)
		tally->stale += memory__exchange(&memory, page) != 0;
	check_pages(&memory, tally);
	if (mprotect(memory.base, size, PROT_READ))
		storm_tally__fail(tally, errno);
	check_pages(&memory, tally);
	if (munmap(memory.base, size))
		storm_tally__fail(tally, errno);
}

static const struct storm_kind kind = {
	.name = "mmap",
	.pages_per_call = PAGES_PER_CALL,
	.flushes_per_call = 2,
	.call = map_and_unmap,
};

static int check(const struct workload_options *options, char *why, size_t size)
{
	return storm__check(&kind, options, why, size);
}

/* Threads that wait for each other's mmap_lock sleep, and a CPU that is lazy is not interrupted. */
static int verify(struct workload_run *run)
{
	int err = storm__verify(run);

	if (!err && run->options->threads > 1)
		json_object_set_new(run->values, "expected_ipis",
				    json_string("threads wait for each other, asleep"));
	return err;
}

static int set_up(struct workload_run *run)
{
	return storm__set_up(&kind, run);
}

const struct workload workload_mmap = {
	.name = "mmap",
	.summary = "maps, writes, protects and unmaps pages, in one thread or in several",
	.help = "Each thread maps 16 pages, writes to them, makes them read-only by mprotect(2), and "
		"unmaps them. The last two flush the CPUs of the process's other threads: none with "
		"one thread (the default), 2 per call and CPU with --bystander spin, which puts a "
		"thread that only spins on each further CPU. Several threads (--threads) wait for "
		"each other's lock, asleep, and are left out then. --pages is what all of them map.",
	.default_pages = 65536,
	.default_threads = 1,
	.pages_per_thread = PAGES_PER_CALL,
	.check = check,
	.set_up = set_up,
	.prime = storm__prime,
	.run = storm__run,
	.verify = verify,
	.tear_down = storm__tear_down,
	.parameters = workload_options__json,
};
