/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison as a table for a terminal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare_format.h"

struct widths {
	int title, median, mean, min, max, n, change, p;
};

static void widen(int *width, const char *text)
{
	int len = strlen(text);

	if (len > *width)
		*width = len;
}

static void widen_by_line(struct widths *widths, const struct compare_line *line)
{
	widen(&widths->title, line->title);
	widen(&widths->median, line->median);
	widen(&widths->mean, line->mean);
	widen(&widths->min, line->min);
	widen(&widths->max, line->max);
	widen(&widths->n, line->n);
	widen(&widths->change, line->change);
	widen(&widths->p, line->p);
}

static const struct compare_line headings = {
	.title = "metric",
	.side = " ",
	.median = "median",
	.mean = "mean",
	.min = "min",
	.max = "max",
	.n = "n",
	.change = "change",
	.p = "p",
	.verdict = "",
};

/* The same for all workloads, so that the eye can follow a column. */
static struct widths widths_of(const struct compare *compare)
{
	struct widths widths = { 0 };
	struct compare_line line;

	widen_by_line(&widths, &headings);
	for (size_t i = 0; i < compare->n_workloads; i++) {
		for (size_t j = 0; j < compare->workloads[i].n_rows; j++) {
			for (enum side side = SIDE_A; side < SIDES; side++) {
				compare_line__make(&line, &compare->workloads[i].rows[j], side);
				widen_by_line(&widths, &line);
			}
		}
	}
	return widths;
}

/* What a file says must not move the cursor. */
static void print_clean(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
}

static void print_line(FILE *out, const struct widths *widths, const struct compare_line *line)
{
	fprintf(out, "%-*s  %s  %*s  %*s  %*s  %*s  %*s", widths->title, line->title, line->side,
		widths->median, line->median, widths->mean, line->mean, widths->min, line->min,
		widths->max, line->max, widths->n, line->n);
	if (*line->change)
		fprintf(out, "  %*s  %*s", widths->change, line->change, widths->p, line->p);
	fprintf(out, "%s%s\n", *line->verdict ? "  " : "", line->verdict);
}

static void print_interval(FILE *out, const struct widths *widths, const struct compare_row *row)
{
	if (!row->cell[SIDE_A].summary.has_interval && !row->cell[SIDE_B].summary.has_interval)
		return;
	fprintf(out, "%*s  95%% interval of the median:", widths->title, "");
	for (enum side side = SIDE_A; side < SIDES; side++) {
		struct compare_line line;

		compare_line__make(&line, row, side);
		if (*line.low)
			fprintf(out, "  %s %s .. %s", line.side, line.low, line.high);
		else
			fprintf(out, "  %s none", line.side);
	}
	fputc('\n', out);
}

/* A side that has nothing to show at all was dealt with above the rows. */
static void print_row(FILE *out, const struct widths *widths, const struct compare_row *row,
		      const struct compare_workload *workload)
{
	bool titled = false;

	for (enum side side = SIDE_A; side < SIDES; side++) {
		const struct compare_cell *cell = &row->cell[side];
		struct compare_line line;

		if (workload->side[side].state)
			continue;
		compare_line__make(&line, row, side);
		if (titled)
			*line.title = '\0';
		titled = true;
		if (cell->n) {
			print_line(out, widths, &line);
			continue;
		}
		fprintf(out, "%-*s  %s  %s: ", widths->title, line.title, line.side, cell->state);
		print_clean(out, cell->why);
		fputc('\n', out);
	}
	print_interval(out, widths, row);
}

/* "pageout  pages=4096 via=memcg" */
static void print_name(FILE *out, const struct compare_workload *workload)
{
	print_clean(out, workload->name);
	fputs(*workload->label ? "  " : "", out);
	print_clean(out, workload->label);
	fputc('\n', out);
}

static void print_workload(FILE *out, const struct widths *widths,
			   const struct compare_workload *workload)
{
	fputc('\n', out);
	print_name(out, workload);
	for (enum side side = SIDE_A; side < SIDES; side++) {
		if (!workload->side[side].state)
			continue;
		fprintf(out, "%s  %s: ", side__name(side), workload->side[side].state);
		print_clean(out, workload->side[side].why);
		fputc('\n', out);
	}
	if (workload->n_rows)
		print_line(out, widths, &headings);
	for (size_t i = 0; i < workload->n_rows; i++)
		print_row(out, widths, &workload->rows[i], workload);
}

static void print_geomeans(FILE *out, const struct widths *widths, const struct compare *compare)
{
	if (!compare->n_geomeans)
		return;
	fprintf(out, "\nGeometric mean of the medians, over workloads where both are positive\n");
	for (size_t i = 0; i < compare->n_geomeans; i++) {
		const struct compare_geomean *geomean = &compare->geomeans[i];
		char a[NUMBER_SIZE], b[NUMBER_SIZE], change[NUMBER_SIZE];

		fprintf(out, "%-*s  ", widths->title, geomean->metric->title);
		if (!geomean->used) {
			fprintf(out, "none: no workload has positive medians on both sides\n");
			continue;
		}
		number__format(a, geomean->metric, geomean->mean[SIDE_A]);
		number__format(b, geomean->metric, geomean->mean[SIDE_B]);
		change__format(change, &geomean->change);
		fprintf(out, "A %s  B %s  %s  (%zu of %zu workloads)\n", a, b, change,
			geomean->used, geomean->rows);
	}
}

static int print_differences(FILE *out, const struct compare *compare)
{
	if (!compare->n_differences)
		return 0;
	fprintf(out, "\nThe environments differ in\n");
	for (size_t i = 0; i < compare->n_differences; i++) {
		const struct compare_difference *difference = &compare->differences[i];

		fputs("  ", out);
		print_clean(out, difference->key);
		fputc('\n', out);
		for (enum side side = SIDE_A; side < SIDES; side++) {
			char *text = leaf__text(difference->value[side]);

			if (!text)
				return -ENOMEM;
			fprintf(out, "    %s  ", side__name(side));
			print_clean(out, text);
			fputc('\n', out);
			free(text);
		}
	}
	return 0;
}

/* They come workload by workload. */
static void print_warnings(FILE *out, const struct compare *compare)
{
	const struct compare_workload *last = NULL;

	fputs(compare->n_warnings ? "\nWarnings\n" : "", out);
	for (size_t i = 0; i < compare->n_warnings; i++) {
		const struct compare_warning *warning = &compare->warnings[i];

		if (warning->workload && warning->workload != last) {
			fputs("  ", out);
			print_name(out, warning->workload);
		}
		last = warning->workload;
		fputs(last ? "    " : "  ", out);
		if (warning->side < SIDES)
			fprintf(out, "%s%s", side__name(warning->side),
				warning->metric ? ", " : ": ");
		if (warning->metric)
			fprintf(out, "%s: ", warning->metric->title);
		print_clean(out, warning->text);
		fputc('\n', out);
	}
}

static int print_sides(FILE *out, const struct compare *compare)
{
	for (enum side side = SIDE_A; side < SIDES; side++) {
		char *facts = compare__side_facts(compare, side);

		if (!facts)
			return -ENOMEM;
		fprintf(out, "%s  ", side__name(side));
		print_clean(out, compare->file[side]);
		fputs("\n   ", out);
		print_clean(out, facts);
		fputc('\n', out);
		free(facts);
	}
	return 0;
}

int compare__print_table(const struct compare *compare, FILE *out)
{
	struct widths widths = widths_of(compare);
	const char *legend[LEGEND_MAX];
	size_t n = compare__legend(compare, legend);
	int err = print_sides(out, compare);

	for (size_t i = 0; i < compare->n_workloads; i++)
		print_workload(out, &widths, &compare->workloads[i]);
	print_geomeans(out, &widths, compare);
	if (!err)
		err = print_differences(out, compare);
	print_warnings(out, compare);
	fputs(n ? "\n" : "", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n", legend[i]);
	return err;
}
