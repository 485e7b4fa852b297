/* SPDX-License-Identifier: GPL-2.0-only */
/* A report as JSON. A number that cannot be seen is null, and "unsupported" says why. */
#include "observer.h"

#include <string.h>

#include "names.h"
#include "observer_internal.h"
#include "tlbi_report.h"

static json_t *cell_json(const struct report *report, unsigned int cell)
{
	if (observer__has_cell(report->observer, cell, NULL))
		return json_integer((json_int_t)report->cell[cell]);
	return json_null();
}

/* A counter's cells: a number, an object by label, or an object of objects. */
static json_t *counter_json(const struct report *report, const struct counter_info *info)
{
	json_t *rows;

	if (!info->rows)
		return cell_json(report, info->first);
	rows = json_object();
	for (unsigned int row = 0; row < info->rows; row++) {
		unsigned int columns = info->columns ? info->columns : 1;
		json_t *object = info->columns ? json_object() : NULL;

		for (unsigned int column = 0; column < columns; column++) {
			unsigned int cell = info->first + row * columns + column;

			if (observer__cannot_occur(report->observer, cell))
				continue;
			json_object_set_new(object ? object : rows,
					    object ? info->column_names[column]
						   : info->row_names[row],
					    cell_json(report, cell));
		}
		if (!object)
			continue;
		if (json_object_size(object))
			json_object_set(rows, info->row_names[row], object);
		json_decref(object);
	}
	return rows;
}

static json_t *number_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *histogram_json(const struct report *report, enum counter id)
{
	const struct counter_info *info = &counter_infos[id];
	json_t *object, *buckets;
	double value = 0;

	if (!observer__has(report->observer, id, NULL))
		return json_null();
	object = json_object();
	buckets = json_array();
	for (int i = 0; i < HIST_BUCKETS; i++)
		if (report->cell[info->first + i])
			json_array_append_new(
				buckets, json_pack("{s:I, s:I, s:I}", "from",
						   (json_int_t)(i ? 1ll << (i - 1) : 0), "below",
						   (json_int_t)(i ? 1ll << i : 1), "count",
						   (json_int_t)report->cell[info->first + i]));
	json_object_set_new(object, "unit", json_string(info->unit));
	json_object_set_new(object, "buckets", buckets);
	json_object_set_new(object, "p50",
			    number_or_null(report__percentile(report, id, 0.5, &value), value));
	json_object_set_new(object, "p99",
			    number_or_null(report__percentile(report, id, 0.99, &value), value));
	return object;
}

static json_t *estimates_json(const struct report *report)
{
	json_t *paths = json_object();

	for (int path = PATH_MM_RANGE; path <= PATH_BATCH; path++) {
		json_t *reasons = json_object();

		for (int reason = FILTER_LAZY; reason <= FILTER_NOT_LOADED; reason++) {
			struct estimate estimate;

			if (report__estimate(report, path, reason, &estimate))
				json_object_set_new(reasons, filter_names[reason],
						    json_pack("{s:f, s:f, s:f, s:I}", "estimate",
							      estimate.value, "low", estimate.low,
							      "high", estimate.high, "flushes",
							      (json_int_t)estimate.n));
		}
		if (json_object_size(reasons))
			json_object_set(paths, path_names[path], reasons);
		json_decref(reasons);
	}
	return paths;
}

static json_t *unsupported_json(const struct report *report)
{
	json_t *object = json_object();
	const char *why;

	/* One reason for all: said once. */
	if (observer__fallback(report->observer, &why)) {
		json_object_set_new(object, "all", json_string(why));
		return object;
	}
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];

		for (unsigned int i = 0; i < info->count; i++) {
			if (observer__has_cell(report->observer, info->first + i, &why) ||
			    observer__cannot_occur(report->observer, info->first + i))
				continue;
			json_object_set_new(object, info->name, json_string(why));
			break;
		}
	}
	return object;
}

static json_t *trust_json(const struct report *report)
{
	const struct probes *probes = &report->observer->probes;
	json_t *trust = json_object(), *missing = json_array();
	int64_t difference;
	const char *why;
	int attached = 0;

	for (int id = 0; id < PROBE_COUNT; id++) {
		if (probes->probe[id].method)
			attached++;
		else
			json_array_append_new(missing, json_string(probes->probe[id].function));
	}
	json_object_set_new(trust, "probes_attached", json_integer(attached));
	json_object_set_new(trust, "probes_missing", missing);
	json_object_set_new(trust, "fallback",
			    observer__fallback(report->observer, &why) ? json_string(why)
								       : json_null());
	json_object_set_new(trust, "missed_runs",
			    report->missed_known ? json_integer((json_int_t)report->missed)
						 : json_null());
	json_object_set_new(trust, "kernel_interrupts",
			    report->kernel_seen
				    ? json_integer((json_int_t)report->kernel_interrupts)
				    : json_null());
	json_object_set_new(trust, "difference",
			    report__difference(report, &difference) ? json_integer(difference)
								    : json_null());
	json_object_set_new(trust, "settled", json_boolean(report->settled));
	json_object_set_new(trust, "cpu_gone", json_boolean(report->cpu_gone));
	if (report->vm_seen) {
		json_object_set_new(trust, "nr_tlb_remote_flush",
				    json_integer((json_int_t)report->vm_remote_flush));
		json_object_set_new(trust, "nr_tlb_remote_flush_received",
				    json_integer((json_int_t)report->vm_remote_received));
	}
	return trust;
}

json_t *report__json(const struct report *report)
{
	json_t *object = json_object(), *funnel = json_object(), *histograms = json_object();
	const struct tlbi_sites *sites = observer__tlbi(report->observer, NULL);

	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];

		if (id == COUNTER_duration || id == COUNTER_targets)
			json_object_set_new(histograms, info->name, histogram_json(report, id));
		else if (id != COUNTER_sampled) /* estimates_json() has its results */
			json_object_set_new(funnel, info->name, counter_json(report, info));
	}
	json_object_set_new(object, "seconds", json_real(report->seconds));
	json_object_set_new(object, "online_cpus", json_integer(report->online));
	json_object_set_new(object, "funnel", funnel);
	json_object_set_new(object, "estimates", estimates_json(report));
	json_object_set_new(object, "histograms", histograms);
	if (sites)
		json_object_set_new(object, "tlbi", tlbi__json(sites, report->tlbi));
	json_object_set_new(object, "unsupported", unsupported_json(report));
	json_object_set_new(object, "trust", trust_json(report));
	return object;
}
