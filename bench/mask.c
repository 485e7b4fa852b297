/* SPDX-License-Identifier: GPL-2.0-only */
#include "mask.h"
#include "workload.h"

/* Below this share of a full mask, the mask did not stay full. */
#define MASK_SHARE 0.98
/* Below this one, it was never filled. */
#define MASK_EMPTY 0.02

/*
 * What the flushes found in the mask, as a share of what they would have found if each of @flushes
 * had been one of a mask with all CPUs in it. Without an observer the kernel's interrupts have to
 * do, unless lazy CPUs are expected to get none. False: unknown.
 */
static bool mask_share(const struct workload_run *run, uint64_t flushes, double *share)
{
	const struct report *report = run->report;
	unsigned int cpus = cpus__count(&run->options->cpus);

	if (!flushes || run->options->thp)
		return false;
	if (observer__has(report->observer, COUNTER_requested_cpus, NULL)) {
		uint64_t requested = report__path(report, COUNTER_requested_cpus, PATH_BATCH) +
				     report__path(report, COUNTER_requested_cpus, PATH_MM_RANGE);

		*share = (double)requested / cpus / flushes;
		return true;
	}
	*share = (double)report->kernel_interrupts / (cpus - 1) / flushes;
	return report->kernel_seen && run->options->bystander != BYSTANDER_IDLE;
}

static const char *cause_of(const struct workload_run *run, double share)
{
	if (run->options->bystander == BYSTANDER_OTHER && share < MASK_EMPTY)
		return "before Linux 6.13 a CPU leaves the mask as soon as it runs something else; "
		       "use --bystander spin there";
	return "something flushed the mm during the run, and trimmed it";
}

void mask__check(struct workload_run *run, const char *cause)
{
	mask__check_flushes(run, run->pages_done, cause);
}

void mask__check_flushes(struct workload_run *run, uint64_t flushes, const char *cause)
{
	double share;

	if (mask_share(run, flushes, &share) && share < MASK_SHARE)
		workload_run__note(run,
				   "the mm_cpumask did not stay full: flushes found %.1f%% of the "
				   "CPUs that the process had just run on: %s",
				   share * 100, cause ? cause : cause_of(run, share));
}
