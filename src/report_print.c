/* SPDX-License-Identifier: GPL-2.0-only */
/* The funnel as a table for people, and the trust line. */
#include "observer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/diag.h"
#include "names.h"
#include "observer_internal.h"
#include "tlbi_report.h"

#define LABEL_WIDTH  26
#define COLUMN_WIDTH 13

/* The estimate behind a cell that is sampled. */
static bool cell_estimate(const struct report *report, unsigned int cell, struct estimate *estimate)
{
	unsigned int index = cell - CELL_filtered_cpus;

	return observer__is_sampled(report->observer, cell) &&
	       report__estimate(report, index / FILTER_COUNT, index % FILTER_COUNT, estimate);
}

/*
 * A cell as text: a number, "~" and an estimate, "n/a" where it cannot be seen, "-" where it cannot
 * occur. Its value goes to *value; returns whether it has one.
 */
static bool cell_text(const struct report *report, unsigned int cell, char out[24], double *value)
{
	struct estimate estimate;

	if (observer__has_cell(report->observer, cell, NULL)) {
		*value = report->cell[cell];
		snprintf(out, 24, "%" PRIu64, report->cell[cell]);
		return true;
	}
	if (cell_estimate(report, cell, &estimate)) {
		*value = estimate.value;
		snprintf(out, 24, "~%.0f", estimate.value);
		return true;
	}
	*value = 0;
	snprintf(out, 24, "%s",
		 observer__cannot_occur(report->observer, cell) ||
				 observer__is_sampled(report->observer, cell)
			 ? "-"
			 : "n/a");
	return false;
}

/* One row: the label, the paths' cells, their sum, and the sum's share of @whole (0: none). */
static void print_row(const struct report *report, FILE *out, const char *label,
		      const unsigned int *cells, double whole)
{
	double sum = 0, value;
	bool any = false, unseen = false, estimated = false;
	char text[24];

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (int path = 0; path < PATH_COUNT; path++) {
		any |= cell_text(report, cells[path], text, &value);
		unseen |= strcmp(text, "n/a") == 0;
		estimated |= text[0] == '~';
		sum += value;
		fprintf(out, "%*s", COLUMN_WIDTH, text);
	}
	if (any && !unseen)
		snprintf(text, sizeof(text), "%s%.0f", estimated ? "~" : "", sum);
	else
		snprintf(text, sizeof(text), "%s", unseen ? "n/a" : "-");
	fprintf(out, "%*s", COLUMN_WIDTH, text);
	if (any && !unseen && whole > 0)
		fprintf(out, "%7.1f%%", 100 * sum / whole);
	fputc('\n', out);
}

static void print_by_path(const struct report *report, FILE *out, const char *label,
			  unsigned int first, unsigned int columns, unsigned int column,
			  double whole)
{
	unsigned int cells[PATH_COUNT];

	for (int path = 0; path < PATH_COUNT; path++)
		cells[path] = first + path * columns + column;
	print_row(report, out, label, cells, whole);
}

/* A row that has no paths: its number stands in the column of the sums. */
static void print_single(const struct report *report, FILE *out, const char *label,
			 unsigned int cell, double whole)
{
	char text[24];
	double value;
	bool seen = cell_text(report, cell, text, &value);

	fprintf(out, "%-*s%*s", LABEL_WIDTH, label, COLUMN_WIDTH * (PATH_COUNT + 1), text);
	if (whole > 0 && seen)
		fprintf(out, "%7.1f%%", 100 * value / whole);
	fputc('\n', out);
}

/* A row that only the path batch has. */
static void print_batch(const struct report *report, FILE *out, const char *label,
			unsigned int cell)
{
	char text[24];
	double value;

	cell_text(report, cell, text, &value);
	fprintf(out, "%-*s%*s\n", LABEL_WIDTH, label, COLUMN_WIDTH * (PATH_BATCH + 1), text);
}

/* How many batches there were of each length of the list. */
static void print_lists(const struct report *report, FILE *out)
{
	if (!observer__has(report->observer, COUNTER_batch_mms, NULL) ||
	    !report__sum(report, COUNTER_batch_mms))
		return;
	fprintf(out, "address spaces per batch   ");
	for (int i = 0; i < MMS_BUCKETS; i++)
		if (report->cell[CELL_batch_mms + i])
			fprintf(out, " %s: %" PRIu64, mms_names[i],
				report->cell[CELL_batch_mms + i]);
	fputc('\n', out);
}

/* handled has three columns: kernel_range and all are one. */
static void print_handled(const struct report *report, FILE *out)
{
	char text[HANDLED_COUNT][24];
	double sum = 0, value;
	bool all = true;

	for (int i = 0; i < HANDLED_COUNT; i++) {
		all &= cell_text(report, CELL_handled + i, text[i], &value);
		sum += value;
	}
	fprintf(out, "%-*s%*s%*s%*s", LABEL_WIDTH, "handled", COLUMN_WIDTH, text[0], COLUMN_WIDTH,
		text[1], 2 * COLUMN_WIDTH, text[2]);
	if (all)
		fprintf(out, "%*.0f\n", COLUMN_WIDTH, sum);
	else
		fprintf(out, "%*s\n", COLUMN_WIDTH, "n/a");
}

/* How far the estimates can be off; of the two shares one gives the other. */
static void print_confidence(const struct report *report, FILE *out)
{
	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++) {
		unsigned int cell = CELL_filtered_cpus + path * FILTER_COUNT + FILTER_LAZY;
		struct estimate lazy;

		if (cell_estimate(report, cell, &lazy))
			fprintf(out,
				"  (%s: lazy is %.0f to %.0f with 95%% confidence, from %" PRIu64
				" flushes sampled)\n",
				path_names[path], lazy.low, lazy.high, lazy.n);
	}
}

/* Requested, less all that is known to have been left out, less asked: 0 unless something moved. */
static void print_unaccounted(const struct report *report, FILE *out)
{
	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++) {
		int64_t rest = report__unaccounted(report, path);

		if (rest)
			fprintf(out, "  (%s: %+" PRId64 " CPUs moved between two stages)\n",
				path_names[path], rest);
	}
}

static void print_latency(const struct report *report, FILE *out)
{
	double p50, p99, mean;

	if (report__percentile(report, COUNTER_duration, 0.5, &p50) &&
	    report__percentile(report, COUNTER_duration, 0.99, &p99))
		fprintf(out, "shootdown latency           about %.3g us (p50), %.3g us (p99)\n",
			p50 / 1000, p99 / 1000);
	if (report__mean_targets(report, &mean))
		fprintf(out, "CPUs asked per shootdown    %.2f (mean)\n", mean);
}

/*
 * Why a counter, or a part of it, is not seen; NULL if all of it is, or it is not needed. *whole
 * tells whether all of it is not.
 */
static const char *why_unseen(const struct report *report, const struct counter_info *info,
			      bool *whole)
{
	*whole = !observer__has(report->observer, info - counter_infos, NULL);
	for (unsigned int i = 0; i < info->count; i++) {
		unsigned int cell = info->first + i;
		const char *why;

		if (!observer__has_cell(report->observer, cell, &why) &&
		    !observer__cannot_occur(report->observer, cell) &&
		    !observer__is_sampled(report->observer, cell))
			return why;
	}
	return NULL;
}

/* Each reason once, with the counters it takes away, by their names in JSON and CSV. */
static void print_reasons(const struct report *report, FILE *out)
{
	static const char *const part[] = { " (in part)", "" };
	const char *why[COUNTER_COUNT];
	bool whole[COUNTER_COUNT];

	for (int id = 0; id < COUNTER_COUNT; id++)
		why[id] = why_unseen(report, &counter_infos[id], &whole[id]);
	for (int id = 0; id < COUNTER_COUNT; id++) {
		if (!why[id])
			continue;
		fprintf(out, "n/a: %s%s", counter_infos[id].name, part[whole[id]]);
		for (int other = id + 1; other < COUNTER_COUNT; other++) {
			if (!why[other] || strcmp(why[other], why[id]) != 0)
				continue;
			fprintf(out, ", %s%s", counter_infos[other].name, part[whole[other]]);
			why[other] = NULL;
		}
		fprintf(out, ": %s\n", why[id]);
	}
}

static void print_fallback(const struct report *report, FILE *out)
{
	if (report->kernel_seen)
		fprintf(out, "TLB interrupts (/proc/interrupts): %" PRIu64 " in %.3f s\n",
			report->kernel_interrupts, report->seconds);
	else
		fprintf(out, "TLB interrupts: %s\n", observer__why_no_row(report->observer));
	if (report->vm_seen)
		fprintf(out,
			"remote flushes (/proc/vmstat): %" PRIu64 " sent, %" PRIu64 " received\n",
			report->vm_remote_flush, report->vm_remote_received);
}

void report__print(const struct report *report, FILE *out)
{
	const struct tlbi_sites *sites = observer__tlbi(report->observer, NULL);
	double requested = report__sum(report, COUNTER_requested_cpus);
	double handled = report->cell[CELL_handled + HANDLED_MM_RANGE] +
			 report->cell[CELL_handled + HANDLED_BATCH];
	const char *unneeded_labels[UNNEEDED_COUNT] = {
		"  unneeded: wrong mm", "  unneeded: init_mm",	  "  unneeded: global ASID",
		"  unneeded: lazy",	"  unneeded: up to date",
	};

	if (sites) {
		tlbi__print(sites, report->tlbi, diag__is_verbose(), out);
		report__print_trust(report, out);
		return;
	}
	if (observer__fallback(report->observer, NULL)) {
		print_fallback(report, out);
		report__print_trust(report, out);
		return;
	}
	fprintf(out, "%-*s", LABEL_WIDTH, "");
	for (int path = 0; path < PATH_COUNT; path++)
		fprintf(out, "%*s", COLUMN_WIDTH, path_names[path]);
	fprintf(out, "%*s%8s\n", COLUMN_WIDTH, "total", "share");
	print_by_path(report, out, "flush calls", CELL_calls, 1, 0, 0);
	print_by_path(report, out, "flushes: local", CELL_flushes, REACH_COUNT, REACH_LOCAL, 0);
	print_by_path(report, out, "flushes: IPI", CELL_flushes, REACH_COUNT, REACH_IPI, 0);
	if (report->observer->probes.machine.invlpgb)
		print_by_path(report, out, "flushes: broadcast", CELL_flushes, REACH_COUNT,
			      REACH_BROADCAST, 0);
	print_by_path(report, out, "  IPI, of everything", CELL_full_flushes, REACH_COUNT,
		      REACH_IPI, 0);
	print_by_path(report, out, "  IPI, pages in ranges", CELL_flushed_pages, REACH_COUNT,
		      REACH_IPI, 0);
	print_batch(report, out, "flushes: none needed", CELL_empty_batches);
	print_by_path(report, out, "requested CPUs", CELL_requested_cpus, 1, 0, requested);
	print_by_path(report, out, "  - self", CELL_self_cpus, 1, 0, requested);
	print_by_path(report, out, "  - batch filter", CELL_filtered_cpus, FILTER_COUNT,
		      FILTER_BATCH_FILTER, requested);
	print_by_path(report, out, "  - preempted vCPUs", CELL_filtered_cpus, FILTER_COUNT,
		      FILTER_PREEMPTED_VCPU, requested);
	print_by_path(report, out, "  - lazy", CELL_filtered_cpus, FILTER_COUNT, FILTER_LAZY,
		      requested);
	print_by_path(report, out, "  - not loaded (stale)", CELL_filtered_cpus, FILTER_COUNT,
		      FILTER_NOT_LOADED, requested);
	print_confidence(report, out);
	print_by_path(report, out, "= asked", CELL_asked_cpus, 1, 0, requested);
	print_unaccounted(report, out);
	print_single(report, out, "raised (interrupts)", CELL_ipis_sent, 0);
	print_handled(report, out);
	print_single(report, out, "  useful", CELL_useful, handled);
	for (int i = 0; i < UNNEEDED_COUNT; i++)
		if (report->cell[CELL_unneeded + i] ||
		    !observer__has_cell(report->observer, CELL_unneeded + i, NULL))
			print_single(report, out, unneeded_labels[i], CELL_unneeded + i, handled);
	print_latency(report, out);
	print_lists(report, out);
	print_reasons(report, out);
	report__print_trust(report, out);
}

static void print_trust_tlbi(const struct report *report, const struct tlbi_sites *sites, FILE *out)
{
	struct tlbi_totals totals;

	tlbi_totals__make(&totals, sites, report->tlbi);
	fprintf(out, "trust: %u of %u TLBI instructions of the kernel's text, ", totals.probed,
		sites->count);
	if (report->missed_known)
		fprintf(out, "%" PRIu64 " missed runs", report->missed);
	else
		fprintf(out, "missed runs n/a");
	fprintf(out, ", %" PRIu64 " calls not counted inside", totals.blind_calls);
	fprintf(out, ", no kernel counter to compare with\n");
}

void report__print_trust(const struct report *report, FILE *out)
{
	const struct probes *probes = &report->observer->probes;
	const struct tlbi_sites *sites = observer__tlbi(report->observer, NULL);
	int64_t difference;
	int attached = 0, wanted = 0;
	const char *why;

	if (sites) {
		print_trust_tlbi(report, sites, out);
		return;
	}
	if (observer__fallback(report->observer, &why)) {
		fprintf(out, "trust: the kernel's own counters only; %s\n", why);
		return;
	}
	for (int id = 0; id < PROBE_COUNT; id++) {
		attached += probes->probe[id].method != NULL;
		wanted += !probes->probe[id].unwanted;
	}
	fprintf(out, "trust: %d of %d probes, %" PRIu64 " missed runs, ", attached, wanted,
		report->missed);
	if (observer__has_cell(report->observer, CELL_lost + LOST_DURATION, NULL))
		fprintf(out, "%" PRIu64 " lost", report__sum(report, COUNTER_lost));
	else
		fprintf(out, "lost n/a");
	if (report->cpu_gone)
		fprintf(out, ", a CPU came or went: the kernel's count is incomplete\n");
	else if (!report__difference(report, &difference))
		fprintf(out, ", no kernel counter to compare with\n");
	else
		fprintf(out,
			", handled - kernel's TLB interrupts = %" PRId64 " (kernel: %" PRIu64
			")%s\n",
			difference, report->kernel_interrupts,
			report->settled ? "" : ", read while counting went on");
}
