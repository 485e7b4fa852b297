/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>

#include "tlbi_report.h"
#include "values.h"

/* The paths that reach flush_tlb_func(), which is what the kernel's TLB row counts. */
static const enum flush_path counted_paths[] = { PATH_MM_RANGE, PATH_BATCH };
#define COUNTED_PATHS (sizeof(counted_paths) / sizeof(*counted_paths))

/* The sum over the counted paths of cells @first + path * @columns + @column, or why it is absent.
 */
static json_t *sum_paths(const struct report *report, unsigned int first, unsigned int columns,
			 unsigned int column)
{
	json_int_t sum = 0;
	const char *why;

	for (size_t i = 0; i < COUNTED_PATHS; i++) {
		unsigned int cell = first + counted_paths[i] * columns + column;

		if (observer__has_cell(report->observer, cell, &why))
			sum += report->cell[cell];
		else if (!observer__cannot_occur(report->observer, cell))
			return json_string(why);
	}
	return json_integer(sum);
}

static json_t *sum_counter(const struct report *report, enum counter counter)
{
	const char *why;

	if (!observer__has(report->observer, counter, &why))
		return json_string(why);
	return json_integer(report__sum(report, counter));
}

static json_t *batch_overflows(const struct report *report)
{
	const char *why;

	if (!observer__has(report->observer, COUNTER_batch_mms, &why))
		return json_string(why);
	return json_integer(report->cell[CELL_batch_mms + MMS_OVERFLOW]);
}

static json_t *remote_ipis(const struct report *report)
{
	const char *why;

	if (!observer__has(report->observer, COUNTER_handled, &why))
		return json_string(why);
	return json_integer(report->cell[CELL_handled + HANDLED_MM_RANGE] +
			    report->cell[CELL_handled + HANDLED_BATCH]);
}

static json_t *kernel_interrupts(const struct report *report)
{
	if (!report->kernel_seen)
		return json_string(observer__why_no_row(report->observer));
	if (report->cpu_gone)
		return json_string("a CPU went offline, and its count with it");
	return json_integer(report->kernel_interrupts);
}

static json_t *difference(const struct report *report)
{
	int64_t value;

	if (!report__difference(report, &value))
		return json_string("needs both the observer's count and the kernel's");
	return json_integer(value);
}

/* By the observer, or by the kernel where that is all there is. */
static json_t *ipis_per(const struct workload_run *run, uint64_t count, const char *none)
{
	double ipis;

	if (!count)
		return json_string(none);
	if (!values__number(run->values, "remote_ipis", &ipis) &&
	    !values__number(run->values, "kernel_tlb_interrupts", &ipis))
		return json_string("nothing counts interrupts here");
	return json_real(ipis / count);
}

static json_t *per_s(const struct workload_run *run, uint64_t count)
{
	if (!run->elapsed_ns)
		return json_string("no time passed");
	return json_real(count * 1e9 / run->elapsed_ns);
}

static json_t *shootdown(const struct report *report, double share)
{
	const char *why;
	double ns;

	if (!observer__has(report->observer, COUNTER_duration, &why))
		return json_string(why);
	if (!report__percentile(report, COUNTER_duration, share, &ns))
		return json_string("no shootdown was seen");
	return json_real(ns);
}

/* What CPUs ask of each other by interrupts. */
static int add_interrupts(const struct workload_run *run)
{
	const struct report *report = run->report;
	json_t *values = run->values;
	int err = 0;

	err |= json_object_set_new(values, "remote_ipis", remote_ipis(report));
	err |= json_object_set_new(values, "kernel_tlb_interrupts", kernel_interrupts(report));
	err |= json_object_set_new(values, "reconciliation_difference", difference(report));
	err |= json_object_set_new(values, "ipis_per_page",
				   ipis_per(run, run->pages_done, "no page was done"));
	if (run->operations)
		err |= json_object_set_new(values, "ipis_per_operation",
					   ipis_per(run, run->operations, "no operation was done"));
	err |= json_object_set_new(values, "ipis_raised", sum_counter(report, COUNTER_ipis_sent));
	err |= json_object_set_new(values, "flushes",
				   sum_paths(report, CELL_flushes, REACH_COUNT, REACH_IPI));
	err |= json_object_set_new(values, "local_flushes",
				   sum_paths(report, CELL_flushes, REACH_COUNT, REACH_LOCAL));
	err |= json_object_set_new(values, "requested_cpus",
				   sum_paths(report, CELL_requested_cpus, 1, 0));
	err |= json_object_set_new(
		values, "filtered_lazy",
		sum_paths(report, CELL_filtered_cpus, FILTER_COUNT, FILTER_LAZY));
	err |= json_object_set_new(
		values, "filtered_not_loaded",
		sum_paths(report, CELL_filtered_cpus, FILTER_COUNT, FILTER_NOT_LOADED));
	err |= json_object_set_new(
		values, "filtered_by_batch",
		sum_paths(report, CELL_filtered_cpus, FILTER_COUNT, FILTER_BATCH_FILTER));
	err |= json_object_set_new(values, "empty_batches",
				   sum_counter(report, COUNTER_empty_batches));
	err |= json_object_set_new(values, "batch_overflows", batch_overflows(report));
	err |= json_object_set_new(values, "asked_cpus", sum_paths(report, CELL_asked_cpus, 1, 0));
	err |= json_object_set_new(values, "useful", sum_counter(report, COUNTER_useful));
	err |= json_object_set_new(values, "unneeded", sum_counter(report, COUNTER_unneeded));
	err |= json_object_set_new(values, "shootdown_p50_ns", shootdown(report, 0.50));
	err |= json_object_set_new(values, "shootdown_p99_ns", shootdown(report, 0.99));
	return err;
}

/* The instructions by which arm64's CPUs flush each other, or why they are not counted. */
static int add_tlbi(const struct workload_run *run)
{
	json_t *values = run->values;
	struct tlbi_totals totals;
	const char *why;
	const struct tlbi_sites *sites = observer__tlbi(run->report->observer, &why);
	int err = 0;

	if (!sites) {
		err |= json_object_set_new(values, "tlbi_broadcast", json_string(why));
		err |= json_object_set_new(values, "tlbi_local", json_string(why));
		return err | json_object_set_new(values, "tlbi_not_seen", json_string(why));
	}
	tlbi_totals__make(&totals, sites, run->report->tlbi);
	err |= json_object_set_new(values, "tlbi_broadcast",
				   json_integer(totals.reach[TLBI_BROADCAST]));
	err |= json_object_set_new(values, "tlbi_local", json_integer(totals.reach[TLBI_LOCAL]));
	return err | json_object_set_new(values, "tlbi_not_seen", json_integer(totals.blind_calls));
}

int values__add(struct workload_run *run)
{
	const struct observer *observer = run->report->observer;
	json_t *values = run->values;
	int err = 0;

	err |= json_object_set_new(values, "pages_asked", json_integer(run->options->pages));
	err |= json_object_set_new(values, "pages_done", json_integer(run->pages_done));
	err |= json_object_set_new(values, "elapsed_ms", json_real(run->elapsed_ns / 1e6));
	err |= json_object_set_new(values, "pages_per_s", per_s(run, run->pages_done));
	if (run->operations) {
		err |= json_object_set_new(values, "operations", json_integer(run->operations));
		err |= json_object_set_new(values, "operations_per_s", per_s(run, run->operations));
	}
	/* Nothing to say of interrupts where the instructions are counted that replace them. */
	if (!observer__tlbi(observer, NULL))
		err |= add_interrupts(run);
	if (!observer__never_interrupts(observer))
		return err ? -ENOMEM : 0;
	err |= add_tlbi(run);
	if (json_object_get(values, "expected_ipis"))
		err |= json_object_set_new(
			values, "expected_ipis",
			json_string("CPUs here flush each other without interrupts"));
	return err ? -ENOMEM : 0;
}

bool values__number(const json_t *values, const char *name, double *out)
{
	const json_t *value = json_object_get(values, name);

	if (!json_is_number(value))
		return false;
	*out = json_number_value(value);
	return true;
}
