/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pageout: memory of one process, which once ran on every CPU, goes to swap.
 *
 * The memory belongs to a worker process (worker.h), which runs on the initiator's CPU. Everything
 * else the worker has is locked in memory, so that only the workload's pages can go.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bystander.h"
#include "cgroup.h"
#include "common/diag.h"
#include "common/procfs.h"
#include "common/stop.h"
#include "crew.h"
#include "journal.h"
#include "memory.h"
#include "pin.h"
#include "settings.h"
#include "worker.h"
#include "workload.h"
#include "zram.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
#define SWAPPINESS     "/proc/sys/vm/swappiness"
#define THP	       "/sys/kernel/mm/transparent_hugepage/enabled"
#define ZSWAP	       "/sys/module/zswap/parameters/enabled"

/* Reclaim gives up long before this: it stops as soon as a pass brings nothing. */
#define MAX_PASSES 64
/* Swap slots are handed out to CPUs by whole clusters, so that some stay unused. */
#define SPARE_SWAP (16ull << 20)
/* Below this share of a full mask, the mask did not stay full. */
#define MASK_SHARE 0.98
/* Below this one, it was never filled. */
#define MASK_EMPTY 0.02

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
	struct cgroup cgroup;
	const char *reclaim_argument;
	struct zram zram;
	struct bystanders bystanders;
	struct worker worker;
	size_t mark;
	uint64_t pswpout, passes;
	/* The worker's: */
	struct memory memory;
	struct crew *crew;
	int reclaim;
};

/* In the worker. */

static int open_reclaim(struct pageout *pageout)
{
	char path[PATH_MAX + 64];

	if (!pageout->memcg)
		return 0;
	snprintf(path, sizeof(path), "%s/memory.reclaim", pageout->cgroup.path);
	pageout->reclaim = open(path, O_WRONLY | O_CLOEXEC);
	return pageout->reclaim < 0 ? diag__fail(errno, "open %s", path) : 0;
}

/*
 * khugepaged would join pages of the worker's other memory into huge ones in the middle of a run;
 * that frees a page table, with a flush that trims the mask.
 */
static int keep_khugepaged_away(const struct workload_options *options)
{
	if (!options->thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return diag__fail(errno, "turn transparent huge pages off for the worker");
	return 0;
}

static int set_up_worker(struct pageout *pageout)
{
	const struct workload_options *options = &pageout->options;
	int err = pin__to_cpu(options->initiator);

	if (!err)
		err = keep_khugepaged_away(options);
	if (!err)
		err = open_reclaim(pageout);
	if (!err)
		err = crew__start(&pageout->crew, &options->cpus, options->initiator);
	if (err)
		return err;
	if (mlockall(MCL_CURRENT))
		return diag__fail(errno, "lock the worker's own pages in memory");
	err = memory__map(&pageout->memory, options->pages, options->thp);
	if (err)
		return err;
	memory__fill(&pageout->memory);
	return memory__settle();
}

/* Asks once. 0 also where fewer pages were reclaimed than were asked for. */
static int ask_reclaim(struct pageout *pageout, uint64_t pages)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%llu%s",
			   (unsigned long long)pages * pageout->memory.page_size,
			   pageout->reclaim_argument);

	if (write(pageout->reclaim, text, len) < 0 && errno != EAGAIN)
		return diag__fail(errno, "reclaim %llu pages of %s", (unsigned long long)pages,
				  pageout->cgroup.path);
	return 0;
}

/* Until all pages are out, or a pass brings none out: the time of that one does not count. */
static int reclaim_pages(struct pageout *pageout, uint64_t *elapsed_ns, uint64_t *passes)
{
	uint64_t left = pageout->memory.pages;

	for (*passes = 0; left && *passes < MAX_PASSES; ++*passes) {
		uint64_t start = stop__now_ns(), end;
		struct page_counts counts;
		int err = ask_reclaim(pageout, left);

		end = stop__now_ns();
		if (!err)
			err = memory__count(&pageout->memory, &counts);
		if (err)
			return err;
		if (counts.present >= left)
			break;
		*elapsed_ns += end - start;
		left = counts.present;
	}
	return 0;
}

static int advise_pages(struct pageout *pageout, uint64_t *elapsed_ns, uint64_t *passes)
{
	struct memory *memory = &pageout->memory;
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
	int err = memory__count(&pageout->memory, &counts);

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
		crew__call(pageout->crew, pageout->options.bystander == BYSTANDER_SPIN);
		return 0;
	case RUN:
		return (pageout->memcg ? reclaim_pages : advise_pages)(
			pageout, &answer[RUN_ELAPSED_NS], &answer[RUN_PASSES]);
	case COUNT:
		return count_pages(pageout, answer);
	case CHECK:
		answer[0] = memory__wrong(&pageout->memory);
		return 0;
	}
	return -EINVAL;
}

/* In tlbbench. */

static bool is_memcg(const struct workload_options *options)
{
	return strcmp(options->via, "memcg") == 0;
}

static bool enough_memory(uint64_t need, char *why, size_t size)
{
	unsigned long long kib;
	const char *line;
	char *text;
	size_t len;
	bool enough = true;

	if (procfs__read("/proc/meminfo", &text, &len))
		return true;
	line = strstr(text, "MemAvailable:");
	if (line && sscanf(line, "MemAvailable: %llu kB", &kib) == 1 && kib * 1024 < need) {
		snprintf(why, size,
			 "%llu MiB of memory are needed, %llu MiB are available: try "
			 "fewer --pages",
			 (unsigned long long)need >> 20, kib >> 10);
		enough = false;
	}
	free(text);
	return enough;
}

static int check(const struct workload_options *options, char *why, size_t size)
{
	/* Every page is there once as such, and again, compressed, in the zram device. */
	uint64_t need = options->pages * sysconf(_SC_PAGESIZE);

	if (cpus__count(&options->cpus) < 2) {
		snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
		return -ENOTSUP;
	}
	if (!zram__available(why, size) || !enough_memory(need + need / 4, why, size) ||
	    (is_memcg(options) && !cgroup__available(why, size)))
		return -ENOTSUP;
	return 0;
}

/* Sets @path to @value if it is there; where it is not, it cannot disturb either. */
static int set_if_there(struct workload_run *run, const char *path, const char *value)
{
	return access(path, F_OK) ? 0 : settings__set(run->journal, path, value);
}

/* Turns off what would change the count: each only if it is in the way. */
static int quiet_machine(struct workload_run *run, struct pageout *pageout)
{
	char thp[64] = "";
	int err;

	/* It would take the pages before they reach the device, and pswpout would not see them. */
	err = set_if_there(run, ZSWAP, "N");
	/* It unmaps pages to see who uses them; that flush trims the mm_cpumask. */
	if (!err)
		err = set_if_there(run, NUMA_BALANCING, "0");
	if (!err && pageout->options.thp && settings__read(THP, thp, sizeof(thp)) == 0 &&
	    strcmp(thp, "never") == 0)
		err = settings__set(run->journal, THP, "madvise");
	return err;
}

static int set_up_cgroup(struct workload_run *run, struct pageout *pageout)
{
	int err = cgroup__create(run->journal, &pageout->cgroup);

	if (err)
		return err;
	pageout->reclaim_argument = cgroup__reclaim_argument(&pageout->cgroup);
	return *pageout->reclaim_argument ? 0 : settings__set(run->journal, SWAPPINESS, "200");
}

static int set_up(struct workload_run *run)
{
	struct pageout *pageout = calloc(1, sizeof(*pageout));
	uint64_t bytes = run->options->pages * sysconf(_SC_PAGESIZE);
	uint64_t answer[WORKER_ANSWERS];
	int err;

	if (!pageout)
		return diag__fail(ENOMEM, "set up pageout");
	run->state = pageout;
	pageout->options = *run->options;
	pageout->memcg = is_memcg(run->options);
	pageout->mark = journal__mark(run->journal);
	err = quiet_machine(run, pageout);
	if (!err)
		err = zram__create(run->journal, bytes + bytes / 4 + SPARE_SWAP, &pageout->zram);
	if (!err && pageout->memcg)
		err = set_up_cgroup(run, pageout);
	if (!err && run->options->bystander == BYSTANDER_OTHER)
		err = bystanders__start(&pageout->bystanders, &run->options->cpus,
					run->options->initiator);
	if (!err)
		err = worker__start(&pageout->worker, serve, pageout);
	if (!err && pageout->memcg)
		err = cgroup__add_process(&pageout->cgroup, pageout->worker.pid);
	return err ? err : worker__call(&pageout->worker, SET_UP, answer);
}

static int prime(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = procfs__vmstat("pswpout", &pageout->pswpout);

	if (err)
		return diag__fail(-err, "read pswpout in /proc/vmstat");
	return worker__call(&pageout->worker, PRIME, answer);
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

/* Why no page went out, as far as it can be told. */
static void explain_no_work(struct workload_run *run)
{
	run->no_work = true;
	snprintf(run->reason, sizeof(run->reason),
		 "no page went to swap, although the kernel reported no error: is swap limited "
		 "(memory.swap.max of an outer cgroup), or was another swap device preferred?");
}

/*
 * Three counts of the pages that went out, by three ways: the workload's range in pagemap, the
 * whole worker by the kernel's walk, and all that the kernel wrote to swap.
 */
static int compare_counts(struct workload_run *run, const uint64_t *counts)
{
	struct pageout *pageout = run->state;
	uint64_t pswpout, used, page = sysconf(_SC_PAGESIZE);
	int err = procfs__vmstat("pswpout", &pswpout);

	if (err)
		return diag__fail(-err, "read pswpout in /proc/vmstat");
	pswpout -= pageout->pswpout;
	json_object_set_new(run->values, "pages_swapped_out", json_integer(pswpout));
	if (counts[COUNT_PROCESS] != counts[COUNT_SWAPPED])
		workload_run__note(
			run,
			"%llu pages of the worker that are not the workload's are in "
			"swap too",
			(unsigned long long)(counts[COUNT_PROCESS] - counts[COUNT_SWAPPED]));
	if (pswpout != counts[COUNT_PROCESS])
		workload_run__note(
			run,
			"the kernel wrote %llu pages to swap, the worker has %llu there: "
			"the rest are other processes' pages",
			(unsigned long long)pswpout, (unsigned long long)counts[COUNT_PROCESS]);
	if (zram__used(&pageout->zram, &used) == 0 && used / page < counts[COUNT_SWAPPED])
		workload_run__note(run,
				   "only %llu pages are in %s: the others went to another swap "
				   "device of the same priority",
				   (unsigned long long)(used / page), pageout->zram.device);
	return 0;
}

/*
 * What the flushes found in the mask, as a share of what they would have found if every page had
 * cost one flush of a mask with all CPUs in it. Without an observer the kernel's interrupts have to
 * do, unless lazy CPUs are expected to get none. False: unknown.
 */
static bool mask_share(const struct workload_run *run, double *share)
{
	const struct report *report = run->report;
	unsigned int cpus = cpus__count(&run->options->cpus);

	if (!run->pages_done || run->options->thp)
		return false;
	if (observer__has(report->observer, COUNTER_requested_cpus, NULL)) {
		uint64_t requested = report__path(report, COUNTER_requested_cpus, PATH_BATCH) +
				     report__path(report, COUNTER_requested_cpus, PATH_MM_RANGE);

		*share = (double)requested / cpus / run->pages_done;
		return true;
	}
	*share = (double)report->kernel_interrupts / (cpus - 1) / run->pages_done;
	return report->kernel_seen && run->options->bystander != BYSTANDER_IDLE;
}

static const char *mask_cause(const struct workload_run *run, double share)
{
	const struct pageout *pageout = run->state;

	if (!pageout->memcg)
		return "MADV_PAGEOUT begins every page table (2 MiB) after the first with a flush "
		       "of the mm itself, and once a second has passed such a flush trims the CPUs "
		       "that run something else; so only the first 512 pages or so cause "
		       "interrupts, however many there are; --via memcg has no such flush";
	if (run->options->bystander == BYSTANDER_OTHER && share < MASK_EMPTY)
		return "before Linux 6.13 a CPU leaves the mask as soon as it runs something else; "
		       "use --bystander spin there";
	return "something flushed the mm during the run, and trimmed it";
}

/* Whether the mask that prime() filled was still full when the pages went out; if not, why. */
static void check_mask(struct workload_run *run)
{
	double share;

	if (mask_share(run, &share) && share < MASK_SHARE)
		workload_run__note(run,
				   "the mm_cpumask did not stay full: flushes found %.1f%% of the "
				   "CPUs that the process had just run on: %s",
				   share * 100, mask_cause(run, share));
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

static void set_expected(struct workload_run *run)
{
	json_t *expected;

	if (run->options->thp)
		expected = json_string("huge pages may leave by one flush for many base pages");
	else
		expected = json_integer(run->pages_done * (cpus__count(&run->options->cpus) - 1));
	json_object_set_new(run->values, "expected_ipis", expected);
}

static int verify(struct workload_run *run)
{
	struct pageout *pageout = run->state;
	uint64_t counts[WORKER_ANSWERS];
	int err = worker__call(&pageout->worker, COUNT, counts);

	if (!err)
		err = compare_counts(run, counts);
	if (err)
		return err;
	run->pages_done = counts[COUNT_SWAPPED];
	if (!run->pages_done)
		explain_no_work(run);
	diag__verbose(
		"%llu pages out, %llu in, in %llu passes", (unsigned long long)run->pages_done,
		(unsigned long long)counts[COUNT_PRESENT], (unsigned long long)pageout->passes);
	set_expected(run);
	check_mask(run);
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
