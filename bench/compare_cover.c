/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison as kernel developers print it in a cover letter: means, each with its number of
 * runs. It is a Markdown table whose columns are also aligned, for a letter is plain text.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/parse.h"
#include "compare_format.h"

enum column {
	TEST,
	PLATFORM,
	METRIC,
	BASELINE,
	PATCHED,
	CHANGE,
	COLUMNS,
};

#define FIRST_NUMBER BASELINE

static const char *const heads[COLUMNS] = { "test",	"platform", "metric",
					    "baseline", "patched",  "change" };

struct line {
	char *cell[COLUMNS];
};

struct cover {
	struct line *lines;
	size_t n;
};

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *text(const char *fmt, ...)
{
	va_list args;
	char *out;

	va_start(args, fmt);
	if (vasprintf(&out, fmt, args) < 0)
		out = NULL;
	va_end(args);
	return out;
}

/* What a file says must stay in its cell: no other column, no other line. */
static char *clean(char *cell)
{
	for (char *c = cell; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '|')
			*c = '?';
	return cell;
}

/* "16-CPU guest (tcg)", "112-CPU Intel(R) Xeon(R) Platinum 8180". */
static char *platform_of(const struct compare *compare, enum side side)
{
	const json_t *environment = json_object_get(compare->doc[side], "environment");
	const json_t *cpu = json_object_get(environment, "cpu");
	const char *online = json_string_value(json_object_get(cpu, "online"));
	const char *model = json_string_value(json_object_get(cpu, "model"));
	const char *accelerator = json_string_value(
		json_object_get(json_object_get(environment, "machine"), "accelerator"));
	struct cpus cpus;

	if (!online || parse__cpulist(online, &cpus))
		return text("not recorded");
	if (accelerator && strcmp(accelerator, "none"))
		return text("%u-CPU guest (%.*s)", cpus__count(&cpus),
			    (int)strcspn(accelerator, ","), accelerator);
	return text("%u-CPU %s", cpus__count(&cpus), model ? model : "machine");
}

static char *platforms(const struct compare *compare)
{
	char *a = platform_of(compare, SIDE_A), *b = platform_of(compare, SIDE_B), *both = NULL;

	if (a && b)
		both = strcmp(a, b) ? text("%s / %s", a, b) : strdup(a);
	free(a);
	free(b);
	return both;
}

/* With the number of pages, unless they tell workloads of one name apart: "fork, 512 pages
 * (threads=2)". */
static char *test_name(const struct compare_workload *workload)
{
	const json_t *pages = json_object_get(workload->parameters, "pages");

	if (strstr(workload->title, "pages=") || !json_is_integer(pages))
		return strdup(workload->title);
	return text("%s, %" JSON_INTEGER_FORMAT " pages%s", workload->name,
		    json_integer_value(pages), workload->title + strlen(workload->name));
}

static char *mean(const struct compare_row *row, enum side side)
{
	const struct compare_cell *cell = &row->cell[side];
	char number[NUMBER_SIZE];

	if (!cell->n)
		return text("- (%s)", cell->state);
	number__format(number, row->metric, cell->summary.mean);
	return text("%s (n=%zu)", number, cell->n);
}

/* Of the means, which are what is printed; whether it means anything, the test of all runs says. */
static char *change_of(const struct compare_row *row)
{
	char number[NUMBER_SIZE];
	struct change change;

	if (!row->tested)
		return strdup("-");
	change = change__make(row->cell[SIDE_A].summary.mean, row->cell[SIDE_B].summary.mean);
	change__format(number, &change);
	return text("%s%s", number, row->verdict == VERDICT_SAME ? " ~" : "");
}

static struct line *add_line(struct cover *cover)
{
	struct line *grown = reallocarray(cover->lines, cover->n + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	cover->lines = grown;
	memset(&grown[cover->n], 0, sizeof(*grown));
	return &grown[cover->n++];
}

static int finish_line(struct line *line)
{
	for (enum column column = 0; column < COLUMNS; column++)
		if (!clean(line->cell[column]))
			return -ENOMEM;
	return 0;
}

static int add_row(struct cover *cover, const struct compare *compare,
		   const struct compare_workload *workload, const struct compare_row *row)
{
	struct line *line = add_line(cover);

	if (!line)
		return -ENOMEM;
	line->cell[TEST] = test_name(workload);
	line->cell[PLATFORM] = platforms(compare);
	line->cell[METRIC] = text("%s%s", row->metric->title, row->emulated ? "*" : "");
	line->cell[BASELINE] = mean(row, SIDE_A);
	line->cell[PATCHED] = mean(row, SIDE_B);
	line->cell[CHANGE] = change_of(row);
	return finish_line(line);
}

/* A workload that neither side has a run of is not left out. */
static int add_without_rows(struct cover *cover, const struct compare *compare,
			    const struct compare_workload *workload)
{
	struct line *line = add_line(cover);

	if (!line)
		return -ENOMEM;
	line->cell[TEST] = test_name(workload);
	line->cell[PLATFORM] = platforms(compare);
	line->cell[METRIC] = strdup("-");
	line->cell[BASELINE] = text("- (%s)", workload->side[SIDE_A].state ?: "none");
	line->cell[PATCHED] = text("- (%s)", workload->side[SIDE_B].state ?: "none");
	line->cell[CHANGE] = strdup("-");
	return finish_line(line);
}

static int fill(struct cover *cover, const struct compare *compare)
{
	struct line *line = add_line(cover);
	int err = line ? 0 : -ENOMEM;

	for (enum column column = 0; !err && column < COLUMNS; column++)
		line->cell[column] = strdup(heads[column]);
	if (!err)
		err = finish_line(line);
	for (size_t i = 0; i < compare->n_workloads; i++) {
		const struct compare_workload *workload = &compare->workloads[i];

		if (!err && !workload->n_rows)
			err = add_without_rows(cover, compare, workload);
		for (size_t j = 0; !err && j < workload->n_rows; j++)
			err = add_row(cover, compare, workload, &workload->rows[j]);
	}
	return err;
}

static void print_rule(FILE *out, const int *width)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		bool right = column >= FIRST_NUMBER;

		fputc('|', out);
		for (int i = right; i < width[column] + 2; i++)
			fputc('-', out);
		fputs(right ? ":" : "", out);
	}
	fputs("|\n", out);
}

static void print_lines(FILE *out, const struct cover *cover)
{
	int width[COLUMNS] = { 0 };

	for (size_t i = 0; i < cover->n; i++)
		for (enum column column = 0; column < COLUMNS; column++)
			if ((int)strlen(cover->lines[i].cell[column]) > width[column])
				width[column] = strlen(cover->lines[i].cell[column]);
	for (size_t i = 0; i < cover->n; i++) {
		for (enum column column = 0; column < COLUMNS; column++)
			fprintf(out, column < FIRST_NUMBER ? "| %-*s " : "| %*s ", width[column],
				cover->lines[i].cell[column]);
		fputs("|\n", out);
		if (!i)
			print_rule(out, width);
	}
}

int compare__print_cover(const struct compare *compare, FILE *out)
{
	struct cover cover = { 0 };
	int err = fill(&cover, compare);

	if (!err) {
		print_lines(out, &cover);
		fputs("\nMeans of n runs. The change is that of the means; ~ after it: a two-sided "
		      "Mann-Whitney U test does\nnot call it significant at 0.05, as it never does of 3 "
		      "and 3 runs.\n",
		      out);
		if (compare->emulated)
			fputs("Times marked * are of emulated CPUs: an indication only.\n", out);
	}
	for (size_t i = 0; i < cover.n; i++)
		for (enum column column = 0; column < COLUMNS; column++)
			free(cover.lines[i].cell[column]);
	free(cover.lines);
	return err;
}
