/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison as CSV (RFC 4180, but lines end with a newline alone): one line per workload and
 * metric. A workload that neither side could run has one line without a metric.
 */
#include <stdlib.h>
#include <string.h>

#include "compare_format.h"

/* In quotes where it must be; a line stays a line. */
static void put_part(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

static void put_text(FILE *out, const char *text)
{
	const char *quote = strpbrk(text, ",\"") ? "\"" : "";

	fputs(quote, out);
	put_part(out, text);
	fputs(quote, out);
}

/* With as few digits as give the same number back. */
static void put_number(FILE *out, bool known, double value)
{
	char text[NUMBER_SIZE];
	int digits = 15;

	if (!known)
		return;
	do
		snprintf(text, sizeof(text), "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
	fputs(text, out);
}

static void print_header(FILE *out)
{
	static const char *const side[] = { "a", "b" };

	fputs("workload,parameters,metric,unit,better,emulated", out);
	for (size_t i = 0; i < SIDES; i++)
		fprintf(out,
			",%s_n,%s_median,%s_mean,%s_min,%s_max,%s_median_low95,%s_median_high95,"
			"%s_absent",
			side[i], side[i], side[i], side[i], side[i], side[i], side[i], side[i]);
	fputs(",change_percent,change_absent,p,p_method,significant,verdict\n", out);
}

/* "unsupported: no memory.reclaim" */
static void put_absent(FILE *out, const char *state, const char *why)
{
	fputc('"', out);
	put_part(out, state);
	fputs(": ", out);
	put_part(out, why);
	fputc('"', out);
}

static void print_cell(FILE *out, const struct compare_cell *cell)
{
	const struct summary *summary = &cell->summary;
	bool known = cell->n > 0;

	fprintf(out, ",%zu,", cell->n);
	put_number(out, known, summary->median);
	fputc(',', out);
	put_number(out, known, summary->mean);
	fputc(',', out);
	put_number(out, known, summary->min);
	fputc(',', out);
	put_number(out, known, summary->max);
	fputc(',', out);
	put_number(out, summary->has_interval, summary->low);
	fputc(',', out);
	put_number(out, summary->has_interval, summary->high);
	fputc(',', out);
	if (!known)
		put_absent(out, cell->state, cell->why);
}

static void print_test(FILE *out, const struct compare_row *row)
{
	if (!row->tested) {
		fputs(",,a side has no value,,,,\n", out);
		return;
	}
	fputc(',', out);
	put_number(out, row->change.has_percent, row->change.percent);
	fputc(',', out);
	put_text(out, row->change.has_percent ? "" : row->change.why);
	fputc(',', out);
	put_number(out, true, row->test.p);
	fprintf(out, ",%s,%s,%s\n", p_method__name(row->test.method),
		row->verdict == VERDICT_SAME ? "no" : "yes", verdict__name(row->verdict));
}

static void print_workload(FILE *out, const struct compare_workload *workload)
{
	put_text(out, workload->name);
	fputc(',', out);
	put_text(out, workload->label);
}

static void print_row(FILE *out, const struct compare_workload *workload,
		      const struct compare_row *row)
{
	print_workload(out, workload);
	fprintf(out, ",%s,%s,%s,%s", row->metric->name, row->metric->unit,
		metric__better_name(row->metric), row->emulated ? "yes" : "no");
	print_cell(out, &row->cell[SIDE_A]);
	print_cell(out, &row->cell[SIDE_B]);
	print_test(out, row);
}

static void print_without_rows(FILE *out, const struct compare_workload *workload)
{
	print_workload(out, workload);
	fputs(",,,,", out);
	for (enum side side = SIDE_A; side < SIDES; side++) {
		const struct compare_side *whole = &workload->side[side];

		fputs(",0,,,,,,,", out);
		put_absent(out, whole->state ? whole->state : "none",
			   whole->state ? whole->why : "not measured");
	}
	fputs(",,a side has no value,,,,\n", out);
}

int compare__print_csv(const struct compare *compare, FILE *out)
{
	print_header(out);
	for (size_t i = 0; i < compare->n_workloads; i++) {
		const struct compare_workload *workload = &compare->workloads[i];

		for (size_t j = 0; j < workload->n_rows; j++)
			print_row(out, workload, &workload->rows[j]);
		if (!workload->n_rows)
			print_without_rows(out, workload);
	}
	return 0;
}
