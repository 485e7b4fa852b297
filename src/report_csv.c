/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports as CSV: one header, one row per report, no summary. Every cell has its column on every
 * machine; a field is empty where the number cannot be seen.
 */
#include "observer.h"

#include <inttypes.h>

#include "names.h"
#include "tlbi_report.h"

static bool is_histogram(enum counter id)
{
	return id == COUNTER_duration || id == COUNTER_targets;
}

static void print_cell_name(const struct counter_info *info, unsigned int index, FILE *out)
{
	fprintf(out, ",%s", info->name);
	if (!info->rows)
		return;
	if (!info->columns)
		fprintf(out, ".%s", info->row_names[index]);
	else
		fprintf(out, ".%s.%s", info->row_names[index / info->columns],
			info->column_names[index % info->columns]);
}

void report__csv_header(const struct report *report, bool timestamp, FILE *out)
{
	if (timestamp)
		fprintf(out, "time,");
	if (observer__tlbi(report->observer, NULL)) {
		tlbi__csv_header(out);
		return;
	}
	fprintf(out, "seconds");
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];

		if (is_histogram(id))
			fprintf(out, ",%s.p50,%s.p99", info->name, info->name);
		else
			for (unsigned int i = 0; i < info->count; i++)
				print_cell_name(info, i, out);
	}
	fprintf(out, ",kernel_interrupts,difference,missed_runs\n");
}

static void print_percentile(const struct report *report, enum counter id, double share, FILE *out)
{
	double value;

	fputc(',', out);
	if (report__percentile(report, id, share, &value))
		fprintf(out, "%.0f", value);
}

void report__csv_row(const struct report *report, const char *time, FILE *out)
{
	const struct tlbi_sites *sites = observer__tlbi(report->observer, NULL);
	int64_t difference;

	if (sites) {
		tlbi__csv_rows(sites, report->tlbi, report->seconds, time, out);
		return;
	}
	if (time)
		fprintf(out, "%s,", time);
	fprintf(out, "%.6f", report->seconds);
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const struct counter_info *info = &counter_infos[id];

		if (is_histogram(id)) {
			print_percentile(report, id, 0.5, out);
			print_percentile(report, id, 0.99, out);
			continue;
		}
		for (unsigned int i = 0; i < info->count; i++) {
			fputc(',', out);
			if (observer__has_cell(report->observer, info->first + i, NULL))
				fprintf(out, "%" PRIu64, report->cell[info->first + i]);
		}
	}
	fputc(',', out);
	if (report->kernel_seen)
		fprintf(out, "%" PRIu64, report->kernel_interrupts);
	fputc(',', out);
	if (report__difference(report, &difference))
		fprintf(out, "%" PRId64, difference);
	fprintf(out, ",%" PRIu64 "\n", report->missed);
}
