/* SPDX-License-Identifier: GPL-2.0-only */
/* Two snapshots make a report; what is asked of it without printing. */
#include "observer.h"

#include <string.h>

#include "names.h"

void report__make(struct report *out, const struct observer *observer,
		  const struct snapshot *before, const struct snapshot *after)
{
	memset(out, 0, sizeof(*out));
	out->observer = observer;
	out->seconds = (after->time_ns - before->time_ns) / 1e9;
	for (int i = 0; i < CELL_COUNT; i++)
		out->cell[i] = after->cell[i] - before->cell[i];
	/* Derived from two counts that are not read at one instant. */
	if (after->cell[CELL_handled + HANDLED_KERNEL] <
	    before->cell[CELL_handled + HANDLED_KERNEL])
		out->cell[CELL_handled + HANDLED_KERNEL] = 0;
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		out->handled_by_cpu[cpu] = after->handled_by_cpu[cpu] - before->handled_by_cpu[cpu];
	out->kernel_seen = before->kernel_seen && after->kernel_seen;
	if (out->kernel_seen)
		out->kernel_interrupts =
			procfs__delta(&before->kernel, &after->kernel, &out->cpu_gone);
	/* A CPU without a column at one end may have come and gone in between. */
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (out->handled_by_cpu[cpu] && (!cpus__has(&before->kernel.present, cpu) ||
						 !cpus__has(&after->kernel.present, cpu)))
			out->cpu_gone = true;
	out->vm_seen = before->vm_seen && after->vm_seen;
	if (out->vm_seen) {
		out->vm_remote_flush = after->vm_remote_flush - before->vm_remote_flush;
		out->vm_remote_received = after->vm_remote_received - before->vm_remote_received;
	}
	out->missed = after->missed - before->missed;
	out->missed_known = before->missed_known && after->missed_known;
	if (observer__tlbi(observer, NULL))
		for (int i = 0; i < TLBI_SITES_MAX; i++)
			out->tlbi[i] = after->tlbi[i] - before->tlbi[i];
	out->settled = before->settled && after->settled;
	out->online = cpus__count(&after->online);
}

uint64_t report__sum(const struct report *report, enum counter counter)
{
	const struct counter_info *info = &counter_infos[counter];
	uint64_t sum = 0;

	for (unsigned int i = 0; i < info->count; i++)
		sum += report->cell[info->first + i];
	return sum;
}

uint64_t report__path(const struct report *report, enum counter counter, enum flush_path path)
{
	const struct counter_info *info = &counter_infos[counter];
	unsigned int columns = info->columns ? info->columns : 1;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < columns; i++)
		sum += report->cell[info->first + path * columns + i];
	return sum;
}

uint64_t report__cell(const struct report *report, enum counter counter, unsigned int index)
{
	return report->cell[counter_infos[counter].first + index];
}

int64_t report__unaccounted(const struct report *report, enum flush_path path)
{
	const unsigned int filtered = CELL_filtered_cpus + path * FILTER_COUNT;
	int64_t rest = report->cell[CELL_requested_cpus + path];
	unsigned int parts[] = { CELL_self_cpus + path,
				 filtered + FILTER_BATCH_FILTER,
				 filtered + FILTER_PREEMPTED_VCPU,
				 filtered + FILTER_LAZY,
				 filtered + FILTER_NOT_LOADED,
				 CELL_asked_cpus + path };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!observer__has_cell(report->observer, parts[i], NULL) &&
		    !observer__cannot_occur(report->observer, parts[i]) &&
		    !observer__is_foreign(report->observer, parts[i]))
			return 0;
		rest -= report->cell[parts[i]];
	}
	return rest;
}

bool report__difference(const struct report *report, int64_t *difference)
{
	if (!report->kernel_seen || report->cpu_gone ||
	    !observer__has_cell(report->observer, CELL_handled + HANDLED_MM_RANGE, NULL))
		return false;
	*difference =
		(int64_t)(report->cell[CELL_handled + HANDLED_MM_RANGE] +
			  report->cell[CELL_handled + HANDLED_BATCH] - report->kernel_interrupts);
	return true;
}

bool report__mean_targets(const struct report *report, double *mean)
{
	uint64_t asked = report->cell[CELL_asked_cpus + PATH_MM_RANGE] +
			 report->cell[CELL_asked_cpus + PATH_BATCH];
	uint64_t flushes = report->cell[CELL_flushes + PATH_MM_RANGE * REACH_COUNT + REACH_IPI] +
			   report->cell[CELL_flushes + PATH_BATCH * REACH_COUNT + REACH_IPI];

	if (!flushes || !observer__has_cell(report->observer, CELL_asked_cpus + PATH_BATCH, NULL))
		return false;
	*mean = (double)asked / flushes;
	return true;
}

bool report__percentile(const struct report *report, enum counter histogram, double share,
			double *value)
{
	const uint64_t *bucket = &report->cell[counter_infos[histogram].first];
	double wanted = share * report__sum(report, histogram), below = 0;

	if (!observer__has(report->observer, histogram, NULL) ||
	    report__sum(report, histogram) == 0)
		return false;
	for (int i = 0; i < HIST_BUCKETS; i++) {
		double from = i ? 1ull << (i - 1) : 0, width = i > 1 ? from : 1;

		if (bucket[i] && below + bucket[i] >= wanted) {
			/* Bucket 0 holds zeros and bucket 1 ones; in the others, spread evenly. */
			*value = i < 2 ? i : from + width * (wanted - below) / bucket[i];
			return true;
		}
		below += bucket[i];
	}
	return false;
}
