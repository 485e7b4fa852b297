/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison as Markdown with the table extension of GitHub (GFM). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare_format.h"

/*
 * Text that is nothing but text: what would mark it up is escaped, and it stays in its line. It is
 * never first in its line, where more would mean something.
 */
static void print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f) {
			fputc(' ', out);
			continue;
		}
		if (strchr("\\`*_[]<>|~&#", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_text_cell(FILE *out, const char *text)
{
	fputc(' ', out);
	print_text(out, text);
	fputs(" |", out);
}

/* Our own numbers and words need no escape. */
static void print_cell(FILE *out, const char *text)
{
	fprintf(out, " %s |", text);
}

static void print_row(FILE *out, const struct compare_row *row, enum side side, bool titled)
{
	const struct compare_cell *cell = &row->cell[side];
	char interval[2 * NUMBER_SIZE + sizeof(" .. ")] = "";
	struct compare_line line;

	compare_line__make(&line, row, side);
	if (*line.low)
		snprintf(interval, sizeof(interval), "%s .. %s", line.low, line.high);
	else if (cell->n)
		strcpy(interval, "none");
	fputc('|', out);
	print_text_cell(out, titled ? line.title : "");
	print_cell(out, line.side);
	print_cell(out, cell->n ? line.median : cell->state);
	print_cell(out, line.mean);
	print_cell(out, line.min);
	print_cell(out, line.max);
	print_cell(out, line.n);
	print_cell(out, interval);
	print_cell(out, line.change);
	print_cell(out, line.p);
	print_text_cell(out, cell->n ? line.verdict : cell->why);
	fputc('\n', out);
}

static void print_workload(FILE *out, const struct compare_workload *workload)
{
	fputs("\n### ", out);
	print_text(out, workload->name);
	fputc('\n', out);
	if (*workload->label) {
		fputs("\nParameters: ", out);
		print_text(out, workload->label);
		fputc('\n', out);
	}
	for (enum side side = SIDE_A; side < SIDES; side++) {
		if (!workload->side[side].state)
			continue;
		fprintf(out, "\n%s: %s: ", side__name(side), workload->side[side].state);
		print_text(out, workload->side[side].why);
		fputc('\n', out);
	}
	if (!workload->n_rows)
		return;
	fputs("\n| metric | | median | mean | min | max | n | 95% of median | change | p | |\n"
	      "|:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|:--|\n",
	      out);
	for (size_t i = 0; i < workload->n_rows; i++)
		for (enum side side = SIDE_A; side < SIDES; side++)
			if (!workload->side[side].state)
				print_row(out, &workload->rows[i], side,
					  side == SIDE_A || workload->side[SIDE_A].state);
}

static void print_geomeans(FILE *out, const struct compare *compare)
{
	if (!compare->n_geomeans)
		return;
	fputs("\n### Geometric mean of the medians\n\n"
	      "| metric | A | B | change | workloads with positive medians |\n"
	      "|:--|--:|--:|--:|--:|\n",
	      out);
	for (size_t i = 0; i < compare->n_geomeans; i++) {
		const struct compare_geomean *geomean = &compare->geomeans[i];
		char a[NUMBER_SIZE] = "none", b[NUMBER_SIZE] = "none", change[NUMBER_SIZE] = "";

		if (geomean->used) {
			number__format(a, geomean->metric, geomean->mean[SIDE_A]);
			number__format(b, geomean->metric, geomean->mean[SIDE_B]);
			change__format(change, &geomean->change);
		}
		fputc('|', out);
		print_cell(out, geomean->metric->title);
		print_cell(out, a);
		print_cell(out, b);
		print_cell(out, change);
		fprintf(out, " %zu of %zu |\n", geomean->used, geomean->rows);
	}
}

static int print_differences(FILE *out, const struct compare *compare)
{
	if (!compare->n_differences)
		return 0;
	fputs("\n### The environments differ in\n\n| | A | B |\n|:--|:--|:--|\n", out);
	for (size_t i = 0; i < compare->n_differences; i++) {
		const struct compare_difference *difference = &compare->differences[i];
		char *a = leaf__text(difference->value[SIDE_A]);
		char *b = leaf__text(difference->value[SIDE_B]);

		if (a && b) {
			fputc('|', out);
			print_text_cell(out, difference->key);
			print_text_cell(out, a);
			print_text_cell(out, b);
			fputc('\n', out);
		}
		free(a);
		free(b);
		if (!a || !b)
			return -ENOMEM;
	}
	return 0;
}

static int print_warnings(FILE *out, const struct compare *compare)
{
	if (!compare->n_warnings)
		return 0;
	fputs("\n### Warnings\n\n", out);
	for (size_t i = 0; i < compare->n_warnings; i++) {
		char *subject = warning__subject(&compare->warnings[i]);

		if (!subject)
			return -ENOMEM;
		fputs("- ", out);
		print_text(out, subject);
		fputs(*subject ? ": " : "", out);
		print_text(out, compare->warnings[i].text);
		fputc('\n', out);
		free(subject);
	}
	return 0;
}

static int print_sides(FILE *out, const struct compare *compare)
{
	for (enum side side = SIDE_A; side < SIDES; side++) {
		char *facts = compare__side_facts(compare, side);

		if (!facts)
			return -ENOMEM;
		fprintf(out, "- %s: ", side__name(side));
		print_text(out, compare->file[side]);
		fputs(": ", out);
		print_text(out, facts);
		fputc('\n', out);
		free(facts);
	}
	return 0;
}

int compare__print_markdown(const struct compare *compare, FILE *out)
{
	const char *legend[LEGEND_MAX];
	size_t n = compare__legend(compare, legend);
	int err = print_sides(out, compare);

	for (size_t i = 0; i < compare->n_workloads; i++)
		print_workload(out, &compare->workloads[i]);
	print_geomeans(out, compare);
	if (!err)
		err = print_differences(out, compare);
	if (!err)
		err = print_warnings(out, compare);
	for (size_t i = 0; i < n; i++) {
		fputc('\n', out);
		print_text(out, legend[i]);
		fputc('\n', out);
	}
	return err;
}
