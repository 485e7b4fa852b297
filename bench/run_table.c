/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "metric.h"
#include "result.h"
#include "run_table.h"
#include "stats.h"
#include "values.h"

#define INDENT	   5
#define LINE_WIDTH 95

/* A column without a metric is the ratio of the interrupts to those expected. */
static const struct column {
	const char *head, *metric;
	int width, digits;
} tables[][10] = {
	[RUN_TABLE_IPIS] = { { "pages", "pages_done", 9, 0 },
			     { "flushes", "flushes", 9, 0 },
			     { "IPIs", "remote_ipis", 10, 0 },
			     { "kernel's", "kernel_tlb_interrupts", 10, 0 },
			     { "expected", "expected_ipis", 10, 0 },
			     { "ratio", NULL, 6, 3 },
			     { "ms", "elapsed_ms", 10, 1 },
			     { "pages/s", "pages_per_s", 10, 0 },
			     { "IPIs/page", "ipis_per_page", 10, 2 } },
	[RUN_TABLE_TLBI] = { { "pages", "pages_done", 9, 0 },
			     { "calls", "operations", 9, 0 },
			     { "broadcast", "tlbi_broadcast", 10, 0 },
			     { "local", "tlbi_local", 10, 0 },
			     { "not seen", "tlbi_not_seen", 9, 0 },
			     { "ms", "elapsed_ms", 10, 1 },
			     { "pages/s", "pages_per_s", 10, 0 } },
};

/* The columns of a table, which end with one without a head. */
#define for_each_column(column, table) \
	for (const struct column *column = tables[table]; (column)->head; (column)++)

void run_table__head(FILE *out, enum run_table table, const struct workload *workload,
		     const struct workload_options *options, bool emulated)
{
	char cpus[128];

	cpus__format(&options->cpus, cpus, sizeof(cpus));
	fprintf(out, "%s: %llu pages%s%s%s", workload->name, (unsigned long long)options->pages,
		options->thp ? " in huge pages" : "", options->via ? ", via " : "",
		options->via ? options->via : "");
	if (options->mms)
		fprintf(out, ", %u address spaces", options->mms);
	if (options->threads)
		fprintf(out, ", %u threads", options->threads);
	fprintf(out, ", bystander %s, CPUs %s, initiator %u\n",
		bystander_kind__name(options->bystander), cpus, options->initiator);
	if (emulated)
		fputs("This machine is emulated: counts are exact, times are an indication.\n",
		      out);
	fprintf(out, "\n%4s", "run");
	for_each_column(column, table) fprintf(out, " %*s", column->width, column->head);
	fputc('\n', out);
}

/* Of the interrupts that were counted, by whoever counts here, to those the workload expects. */
static bool ratio_of(const json_t *values, double *ratio)
{
	double ipis, expected;

	if (!values__number(values, "remote_ipis", &ipis) &&
	    !values__number(values, "kernel_tlb_interrupts", &ipis))
		return false;
	if (!values__number(values, "expected_ipis", &expected) || expected <= 0)
		return false;
	*ratio = ipis / expected;
	return true;
}

void run_table__row(FILE *out, enum run_table table, const char *label, const json_t *values)
{
	fprintf(out, "%4s", label);
	for_each_column(column, table)
	{
		double value;
		bool known = column->metric ? values__number(values, column->metric, &value)
					    : ratio_of(values, &value);

		if (known)
			fprintf(out, " %*.*f", column->width, column->digits, value);
		else
			fprintf(out, " %*s", column->width, "-");
	}
	fputc('\n', out);
}

void run_table__note(FILE *out, const char *kind, const char *text)
{
	size_t at = fprintf(out, "%*s%s:", INDENT, "", kind);

	while (*text) {
		size_t word = strcspn(text, " ");

		if (at + 1 + word > LINE_WIDTH)
			at = fprintf(out, "\n%*s", INDENT + 1, "") - 1;
		at += fprintf(out, " %.*s", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* The numbers of one metric over the runs that did work; returns how many. */
static size_t collect(const json_t *runs, const char *name, double *out)
{
	size_t i, n = 0;
	json_t *run;

	json_array_foreach (runs, i, run) {
		const char *status = json_string_value(json_object_get(run, "status"));

		if (strcmp(status, run_status__name(RUN_OK)) == 0 &&
		    values__number(json_object_get(run, "values"), name, &out[n]))
			n++;
	}
	return n;
}

void run_table__medians(FILE *out, enum run_table table, const char *label, const json_t *runs)
{
	double *numbers = calloc(json_array_size(runs) + 1, sizeof(*numbers));
	json_t *values = json_object();

	for (size_t i = 0; numbers && i < METRICS; i++) {
		size_t n = collect(runs, metrics[i].name, numbers);
		struct summary summary;

		if (n && summary__make(&summary, numbers, n) == 0)
			json_object_set_new(values, metrics[i].name, json_real(summary.median));
	}
	if (json_object_size(values))
		run_table__row(out, table, label, values);
	json_decref(values);
	free(numbers);
}
