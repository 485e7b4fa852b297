/* SPDX-License-Identifier: GPL-2.0-only */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "cgroup_list.h"
#include "common/file.h"
#include "exposition.h"
#include "names.h"
#include "observer_internal.h"
#include "revision.h"
#include "tlbi_report.h"

struct metrics {
	const struct observer *observer;
	double start;
	struct snapshot base, last;
	struct report report;	   /* scratch: large */
	uint64_t cell[CELL_COUNT]; /* since the start */
	uint64_t tlbi[TLBI_SITES_MAX];
	uint64_t cgroup[CGROUP_SLOTS];
	uint64_t kernel_interrupts; /* by the kernel's own count, of CPUs that had a column */
	uint64_t vm_remote_flush, vm_remote_received;
	int64_t difference; /* handled minus the kernel's, of intervals in which both are known */
	struct probe_stats stats[PROBE_COUNT];
};

/* Counters that are families as they are. */
static const struct family {
	enum counter counter;
	const char *name;
	const char *help;
	const char *row_label, *column_label;
} families[] = {
	{ COUNTER_flushes, "tlbstat_flushes_total", "TLB flushes.", "path", "reach" },
	{ COUNTER_full_flushes, "tlbstat_full_flushes_total",
	  "TLB flushes of everything, not of a range.", "path", "reach" },
	{ COUNTER_flushed_pages, "tlbstat_flushed_pages_total",
	  "Pages of 4 KiB named by flushes of ranges.", "path", "reach" },
	{ COUNTER_requested_cpus, "tlbstat_requested_cpus_total",
	  "CPUs in the masks of flushes that name other CPUs.", "path", NULL },
	{ COUNTER_self_cpus, "tlbstat_self_cpus_total",
	  "Of the requested CPUs, the calling CPU itself.", "path", NULL },
	{ COUNTER_filtered_cpus, "tlbstat_filtered_cpus_total",
	  "Of the requested CPUs, those left out.", "path", "reason" },
	{ COUNTER_asked_cpus, "tlbstat_asked_cpus_total",
	  "Of the requested CPUs, those whose call queue got the flush.", "path", NULL },
	{ COUNTER_ipis_sent, "tlbstat_ipis_sent_total", "Interrupts raised to deliver flushes.",
	  NULL, NULL },
	{ COUNTER_unneeded, "tlbstat_unneeded_flushes_total",
	  "Of the handled flushes, those with nothing to do.", "reason", NULL },
	{ COUNTER_lost, "tlbstat_lost_flushes_total", "Flushes that the probes lost sight of.",
	  "reason", NULL },
};

struct metrics *metrics__new(const struct observer *observer, const struct snapshot *base,
			     double start)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->observer = observer;
	metrics->start = start;
	metrics->base = metrics->last = *base;
	metrics__add(metrics, base);
	return metrics;
}

void metrics__free(struct metrics *metrics)
{
	free(metrics);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_probes(struct metrics *metrics)
{
	for (int id = 0; id < PROBE_COUNT; id++) {
		struct probe_stats *kept = &metrics->stats[id], stats;

		if (!probe__stats(&metrics->observer->probes.probe[id], &stats))
			continue;
		kept->missed = larger(kept->missed, stats.missed);
		kept->run_ns = larger(kept->run_ns, stats.run_ns);
	}
}

void metrics__add(struct metrics *metrics, const struct snapshot *now)
{
	struct report *report = &metrics->report;
	int64_t difference;

	/* From the start, not summed up: nothing that is read late is lost or counted twice. */
	for (int i = 0; i < CELL_COUNT; i++)
		if (now->cell[i] > metrics->base.cell[i])
			metrics->cell[i] =
				larger(metrics->cell[i], now->cell[i] - metrics->base.cell[i]);
	for (int i = 0; i < TLBI_SITES_MAX; i++)
		metrics->tlbi[i] = now->tlbi[i] - metrics->base.tlbi[i];
	for (int i = 0; i < CGROUP_SLOTS; i++)
		metrics->cgroup[i] = now->cgroup[i] - metrics->base.cgroup[i];
	/* By intervals: the kernel's row loses the columns of CPUs that leave. */
	report__make(report, metrics->observer, &metrics->last, now);
	metrics->kernel_interrupts += report->kernel_interrupts;
	metrics->vm_remote_flush += report->vm_remote_flush;
	metrics->vm_remote_received += report->vm_remote_received;
	if (report__difference(report, &difference))
		metrics->difference += difference;
	metrics->last = *now;
	add_probes(metrics);
}

/* The families of the counters. */

static bool has_any(const struct metrics *metrics, const struct counter_info *info)
{
	return observer__has(metrics->observer, info - counter_infos, NULL);
}

static void print_family(const struct metrics *metrics, const struct family *family, FILE *out)
{
	const struct counter_info *info = &counter_infos[family->counter];
	unsigned int columns = info->columns ? info->columns : 1;

	if (!has_any(metrics, info))
		return;
	exposition__family(out, family->name, "counter", family->help);
	for (unsigned int i = 0; i < info->count; i++) {
		struct label labels[3] = { 0 };

		if (!observer__has_cell(metrics->observer, info->first + i, NULL))
			continue;
		if (info->rows)
			labels[0] =
				(struct label){ family->row_label, info->row_names[i / columns] };
		if (info->columns)
			labels[1] = (struct label){ family->column_label,
						    info->column_names[i % columns] };
		exposition__count(out, family->name, labels, metrics->cell[info->first + i]);
	}
}

static void print_cgroups(const struct metrics *metrics, FILE *out)
{
	const struct cgroup_list *list = observer__cgroups(metrics->observer);
	static const char name[] = "tlbstat_cgroup_requested_cpus_total";
	static const struct label other[] = { { "cgroup", "other" }, { NULL, NULL } };

	if (!list)
		return;
	exposition__family(out, name, "counter",
			   "Of the requested CPUs, those that tasks of a cgroup asked for.");
	for (unsigned int i = 0; i < list->count; i++) {
		struct label labels[] = { { "cgroup", list->cgroup[i].path }, { NULL, NULL } };

		exposition__count(out, name, labels, metrics->cgroup[i + 1]);
	}
	exposition__count(out, name, other, metrics->cgroup[CGROUP_OTHER]);
}

/* The kernel's own mappings have no row in /proc/interrupts, and no reasons: they are apart. */
static void print_handled(const struct metrics *metrics, FILE *out)
{
	static const char name[] = "tlbstat_handled_flushes_total";
	static const unsigned int cell = CELL_handled + HANDLED_MM_RANGE;

	if (!observer__has_cell(metrics->observer, cell, NULL))
		return;
	exposition__family(out, name, "counter",
			   "Flushes of address spaces run on CPUs that did not start them; the row "
			   "TLB of /proc/interrupts counts the same.");
	exposition__count(out, name, NULL,
			  metrics->cell[cell] + metrics->cell[CELL_handled + HANDLED_BATCH]);
}

/*
 * Bucket i of ours holds whole numbers below 2^i, so that 2^i - 1 is its edge. Those below @lowest
 * are folded into it, and those above @highest into +Inf.
 */
static void print_histogram(const struct metrics *metrics, enum counter id, unsigned int lowest,
			    unsigned int highest, double unit, const char *name, const char *help,
			    FILE *out)
{
	const uint64_t *cell = &metrics->cell[counter_infos[id].first];
	uint64_t bucket[HIST_BUCKETS + 1] = { 0 };
	double edge[HIST_BUCKETS];
	struct exposition_histogram histogram = { .bucket = bucket, .edge = edge };

	if (!observer__has(metrics->observer, id, NULL))
		return;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		unsigned int at = i < lowest ? 0 : i > highest ? highest + 1 - lowest : i - lowest;

		bucket[at] += cell[i];
	}
	histogram.edges = highest + 1 - lowest;
	for (unsigned int i = 0; i < histogram.edges; i++)
		edge[i] = ((1ull << (i + lowest)) - 1) * unit;
	histogram.sum = metrics->cell[counter_infos[id + 1].first] * unit;
	exposition__family(out, name, "histogram", help);
	exposition__histogram(out, name, &histogram);
}

static void print_histograms(const struct metrics *metrics, FILE *out)
{
	/* From a quarter of a microsecond to 17 seconds; Linux has 8,192 CPUs at most. */
	print_histogram(metrics, COUNTER_duration, 8, 34, 1e-9,
			"tlbstat_shootdown_duration_seconds",
			"Time from the start of a shootdown to its last answer.", out);
	print_histogram(metrics, COUNTER_targets, 0, 13, 1, "tlbstat_shootdown_targets",
			"CPUs asked per shootdown.", out);
}

_Static_assert(COUNTER_duration_sum == COUNTER_duration + 1 &&
		       COUNTER_targets_sum == COUNTER_targets + 1,
	       "a histogram is followed by its sum");

static void print_counter(FILE *out, const char *name, const char *help, uint64_t value)
{
	exposition__family(out, name, "counter", help);
	exposition__count(out, name, NULL, value);
}

/* TLBI instructions. */

static void print_tlbi_sites(const struct tlbi_totals *totals, FILE *out)
{
	static const char name[] = "tlbstat_tlbi_sites";
	static const struct label probed[] = { { "state", "probed" }, { NULL, NULL } };
	static const struct label refused[] = { { "state", "refused" }, { NULL, NULL } };

	exposition__family(out, name, "gauge",
			   "TLBI instructions in the kernel's text with a kprobe, and without.");
	exposition__count(out, name, probed, totals->probed);
	exposition__count(out, name, refused, totals->skipped);
}

static void print_tlbi(const struct metrics *metrics, FILE *out)
{
	const struct tlbi_sites *sites = observer__tlbi(metrics->observer, NULL);
	static const char name[] = "tlbstat_tlbi_total";
	struct tlbi_totals totals;

	if (!sites)
		return;
	tlbi_totals__make(&totals, sites, metrics->tlbi);
	exposition__family(out, name, "counter",
			   "TLBI instructions executed, of those with a kprobe.");
	for (int i = 0; i < TLBI_OPERATIONS; i++) {
		struct label labels[] = { { "op", tlbi_operations[i].name },
					  { "reach", tlbi_reach_names[tlbi_operations[i].reach] },
					  { NULL, NULL } };

		if (totals.sites[i])
			exposition__count(out, name, labels, totals.operation[i]);
	}
	print_counter(out, "tlbstat_tlbi_uncounted_calls_total",
		      "Calls of functions with TLBI instructions that have no kprobe.",
		      totals.blind_calls);
	print_tlbi_sites(&totals, out);
}

/* What the kernel counts, and how far both agree. */

static void print_kernel(const struct metrics *metrics, FILE *out)
{
	static const char name[] = "tlbstat_reconciliation_difference";
	static const struct label against[] = { { "against", "interrupts" }, { NULL, NULL } };

	if (metrics->last.vm_seen) {
		print_counter(out, "tlbstat_kernel_remote_flushes_total",
			      "nr_tlb_remote_flush of /proc/vmstat, since the start.",
			      metrics->vm_remote_flush);
		print_counter(out, "tlbstat_kernel_remote_flushes_received_total",
			      "nr_tlb_remote_flush_received of /proc/vmstat, since the start.",
			      metrics->vm_remote_received);
	}
	if (!metrics->last.kernel_seen)
		return;
	print_counter(out, "tlbstat_kernel_interrupts_total",
		      "Row TLB of /proc/interrupts, since the start.", metrics->kernel_interrupts);
	if (!observer__has_cell(metrics->observer, CELL_handled + HANDLED_MM_RANGE, NULL))
		return;
	exposition__family(out, name, "gauge",
			   "Handled flushes minus the kernel's own count, since the start, but for "
			   "intervals in which a CPU came or went.");
	exposition__value(out, name, against, metrics->difference);
}

/* The probes and the process. */

static void print_attached(const struct probes *probes, FILE *out)
{
	static const char name[] = "tlbstat_probe_attached";

	exposition__family(out, name, "gauge",
			   "1 for a probe that is attached, 0 for one that the kernel refused.");
	for (int id = 0; id < PROBE_COUNT; id++) {
		const struct probe *probe = &probes->probe[id];
		struct label labels[] = { { "probe", probe_name(id) },
					  { "method", probe->method ? probe->method : "none" },
					  { NULL, NULL } };

		if (!probe->unwanted)
			exposition__count(out, name, labels, probe->method != NULL);
	}
}

static bool kernel_keeps_time(void)
{
	char text[16];

	return file__read_setting("/proc/sys/kernel/bpf_stats_enabled", text, sizeof(text)) == 0 &&
	       strcmp(text, "1") == 0;
}

static void print_probes(const struct metrics *metrics, FILE *out)
{
	const struct probes *probes = &metrics->observer->probes;
	static const char missed[] = "tlbstat_probe_missed_total";
	static const char run[] = "tlbstat_bpf_run_seconds_total";

	print_attached(probes, out);
	if (probes->refused)
		return;
	exposition__family(
		out, missed, "counter",
		"Runs of a probe that the kernel skipped, since one was at work already.");
	for (int id = 0; id < PROBE_COUNT; id++) {
		struct label labels[] = { { "probe", probe_name(id) }, { NULL, NULL } };

		if (probes->probe[id].method)
			exposition__count(out, missed, labels, metrics->stats[id].missed);
	}
	if (!kernel_keeps_time())
		return;
	exposition__family(out, run, "counter",
			   "Time in a probe, as kernel.bpf_stats_enabled=1 keeps it.");
	for (int id = 0; id < PROBE_COUNT; id++) {
		struct label labels[] = { { "probe", probe_name(id) }, { NULL, NULL } };

		if (probes->probe[id].method)
			exposition__value(out, run, labels, metrics->stats[id].run_ns / 1e9);
	}
}

static void print_gauge(FILE *out, const char *name, const char *help, double value)
{
	exposition__family(out, name, "gauge", help);
	exposition__value(out, name, NULL, value);
}

static void print_process(const struct metrics *metrics, double time, uint64_t write_failures,
			  FILE *out)
{
	static const struct label build[] = { { "version", TLBSTAT_VERSION },
					      { "revision", TLBSTAT_REVISION },
					      { NULL, NULL } };

	print_counter(out, "tlbstat_write_failures_total", "Times that this file was not written.",
		      write_failures);
	print_gauge(out, "tlbstat_last_update_timestamp_seconds",
		    "When these numbers were read, in seconds since 1970.", time);
	print_gauge(out, "tlbstat_start_time_seconds",
		    "When counting started, in seconds since 1970.", metrics->start);
	exposition__family(out, "tlbstat_build_info", "gauge", "The program, as a constant 1.");
	exposition__count(out, "tlbstat_build_info", build, 1);
}

void metrics__print(const struct metrics *metrics, double time, uint64_t write_failures, FILE *out)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		print_family(metrics, &families[i], out);
	print_cgroups(metrics, out);
	print_handled(metrics, out);
	print_histograms(metrics, out);
	print_tlbi(metrics, out);
	print_kernel(metrics, out);
	print_probes(metrics, out);
	print_process(metrics, time, write_failures, out);
}
