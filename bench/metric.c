/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>

#include "metric.h"

enum {
	UNTIMED,
	TIMED
};
enum {
	DETAIL,
	HEADLINE
};

const struct metric metrics[] = {
	{ "remote_ipis", "count", BETTER_LOWER, UNTIMED, HEADLINE, "remote IPIs",
	  "flushes handled by CPUs that did not start them, counted by the observer" },
	{ "kernel_tlb_interrupts", "count", BETTER_LOWER, UNTIMED, HEADLINE, "TLB interrupts",
	  "the same, from the TLB row of /proc/interrupts" },
	{ "ipis_raised", "count", BETTER_LOWER, UNTIMED, DETAIL, "IPIs raised",
	  "interrupts raised to deliver the flushes; CPUs with a busy call queue need none" },
	{ "expected_ipis", "count", BETTER_NEITHER, UNTIMED, DETAIL, "IPIs expected",
	  "what the workload predicts for an unpatched kernel" },
	{ "ipis_per_page", "ratio", BETTER_LOWER, UNTIMED, HEADLINE, "IPIs per page",
	  "remote IPIs per page that verifiably did what was asked" },
	{ "flushes", "count", BETTER_LOWER, UNTIMED, DETAIL, "flushes",
	  "flushes that were handed to other CPUs" },
	{ "local_flushes", "count", BETTER_NEITHER, UNTIMED, DETAIL, "local flushes",
	  "flushes that stayed on the calling CPU" },
	{ "requested_cpus", "count", BETTER_NEITHER, UNTIMED, DETAIL, "CPUs requested",
	  "CPUs in the masks when the flushes were called" },
	{ "filtered_lazy", "count", BETTER_NEITHER, UNTIMED, DETAIL, "CPUs lazy",
	  "of these, left out since they were in lazy TLB mode" },
	{ "filtered_not_loaded", "count", BETTER_NEITHER, UNTIMED, DETAIL, "CPUs not loaded",
	  "of these, left out since they ran another address space" },
	{ "filtered_by_batch", "count", BETTER_NEITHER, UNTIMED, DETAIL, "CPUs filtered",
	  "of these, taken out by the kernel's batch filter before the flush" },
	{ "empty_batches", "count", BETTER_NEITHER, UNTIMED, DETAIL, "batches not flushed",
	  "batches of pages for which no CPU was left to flush" },
	{ "batch_overflows", "count", BETTER_NEITHER, UNTIMED, DETAIL, "batch overflows",
	  "batches of more address spaces than the kernel's list holds" },
	{ "asked_cpus", "count", BETTER_LOWER, UNTIMED, DETAIL, "CPUs asked",
	  "CPUs whose call queue got a flush" },
	{ "useful", "count", BETTER_NEITHER, UNTIMED, DETAIL, "useful flushes",
	  "handled flushes that removed translations" },
	{ "unneeded", "count", BETTER_LOWER, UNTIMED, DETAIL, "unneeded flushes",
	  "handled flushes with nothing to do" },
	{ "tlbi_broadcast", "count", BETTER_LOWER, UNTIMED, HEADLINE, "broadcast TLBIs",
	  "TLB invalidations that all CPUs take part in (arm64, with --tlbi=exact)" },
	{ "tlbi_local", "count", BETTER_NEITHER, UNTIMED, HEADLINE, "local TLBIs",
	  "TLB invalidations of the CPU that executes them, likewise" },
	{ "tlbi_not_seen", "count", BETTER_NEITHER, UNTIMED, DETAIL, "calls not seen inside",
	  "calls of functions whose TLBIs cannot be probed, likewise" },
	{ "reconciliation_difference", "count", BETTER_NEITHER, UNTIMED, DETAIL,
	  "observer minus kernel",
	  "handled flushes the observer counted, minus those the kernel counted" },
	{ "pages_asked", "count", BETTER_NEITHER, UNTIMED, DETAIL, "pages asked",
	  "pages the workload was asked to handle" },
	{ "pages_done", "count", BETTER_NEITHER, UNTIMED, HEADLINE, "pages done",
	  "pages that verifiably did what was asked" },
	{ "pages_swapped_out", "count", BETTER_NEITHER, UNTIMED, DETAIL, "pages swapped out",
	  "pages the kernel wrote to swap meanwhile (pswpout in /proc/vmstat)" },
	{ "pages_migrated", "count", BETTER_NEITHER, UNTIMED, DETAIL, "pages migrated",
	  "pages the kernel migrated meanwhile (pgmigrate_success in /proc/vmstat)" },
	{ "pages_demoted", "count", BETTER_NEITHER, UNTIMED, DETAIL, "pages demoted",
	  "pages the kernel demoted meanwhile (pgdemote_... in /proc/vmstat)" },
	{ "pages_not_moved", "count", BETTER_NEITHER, UNTIMED, DETAIL, "pages not moved",
	  "pages that the system call says it did not move" },
	{ "accesses", "count", BETTER_NEITHER, TIMED, DETAIL, "accesses",
	  "pages that the process's threads read or wrote meanwhile" },
	{ "elapsed_ms", "ms", BETTER_LOWER, TIMED, HEADLINE, "elapsed ms",
	  "time of the timed section" },
	{ "pages_per_s", "pages/s", BETTER_HIGHER, TIMED, HEADLINE, "pages per s",
	  "pages done per second of the timed section" },
	{ "operations", "count", BETTER_NEITHER, UNTIMED, DETAIL, "operations",
	  "system calls that did the work, of workloads where one handles several pages" },
	{ "operations_per_s", "ops/s", BETTER_HIGHER, TIMED, DETAIL, "operations per s",
	  "operations per second of the timed section" },
	{ "operation_p50_ns", "ns", BETTER_LOWER, TIMED, DETAIL, "operation p50 ns",
	  "median time of an operation" },
	{ "operation_p99_ns", "ns", BETTER_LOWER, TIMED, DETAIL, "operation p99 ns",
	  "the time that 99% of the operations do not exceed" },
	{ "ipis_per_operation", "ratio", BETTER_LOWER, UNTIMED, DETAIL, "IPIs per operation",
	  "remote IPIs per operation" },
	{ "shootdown_p50_ns", "ns", BETTER_LOWER, TIMED, DETAIL, "shootdown p50 ns",
	  "median time from the start of a shootdown to its last answer" },
	{ "shootdown_p99_ns", "ns", BETTER_LOWER, TIMED, DETAIL, "shootdown p99 ns",
	  "the time 99% of the shootdowns stay below" },
};

const size_t METRICS = sizeof(metrics) / sizeof(metrics[0]);

const struct metric *metric__find(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (!strcmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

const char *metric__better_name(const struct metric *metric)
{
	static const char *const names[] = { "lower", "higher", "neither" };

	return names[metric->better];
}
