/* SPDX-License-Identifier: GPL-2.0-only */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_format.h"

/* Copies the digits of a number with a comma after every third one from the point. */
static void group_digits(char out[static NUMBER_SIZE], const char *plain)
{
	size_t sign = *plain == '-';
	size_t whole = strspn(plain + sign, "0123456789");
	char *at = out;

	for (size_t i = 0; i < sign + whole; i++) {
		*at++ = plain[i];
		if (i >= sign && i + 1 < sign + whole && (sign + whole - i - 1) % 3 == 0)
			*at++ = ',';
	}
	snprintf(at, out + NUMBER_SIZE - at, "%s", plain + sign + whole);
}

static int decimals_of(const struct metric *metric, double value)
{
	double magnitude = fabs(value);

	if (value == 0 || (value == rint(value) && !strcmp(metric->unit, "count")))
		return 0;
	return magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
}

void number__format(char out[static NUMBER_SIZE], const struct metric *metric, double value)
{
	double magnitude = fabs(value);
	char plain[NUMBER_SIZE];

	if (magnitude >= 1e15 || (magnitude < 1 && value != 0))
		snprintf(plain, sizeof(plain), "%.4g", value);
	else
		snprintf(plain, sizeof(plain), "%.*f", decimals_of(metric, value), value + 0.0);
	group_digits(out, plain);
}

void change__format(char out[static NUMBER_SIZE], const struct change *change)
{
	int decimals = 2;

	if (!change->has_percent) {
		snprintf(out, NUMBER_SIZE, "%s", strncmp(change->why, "new", 3) ? "n/a" : "new");
		return;
	}
	if (change->percent == 0) {
		snprintf(out, NUMBER_SIZE, "0.00%%");
		return;
	}
	if (fabs(change->percent) >= 1e9) {
		snprintf(out, NUMBER_SIZE, "%+.3g%%", change->percent);
		return;
	}
	do
		snprintf(out, NUMBER_SIZE, "%+.*f%%", decimals, change->percent);
	while (change->percent > -100 && atof(out) <= -100 && decimals++ < 12);
}

const char *side__name(enum side side)
{
	static const char *const names[] = { "A", "B", "both" };

	return names[side];
}

const char *verdict__name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "",	       [VERDICT_SAME] = "",
		[VERDICT_BETTER] = "better",   [VERDICT_WORSE] = "worse",
		[VERDICT_DIFFERS] = "differs",
	};

	return names[verdict];
}

static void format_p(char out[static NUMBER_SIZE], const struct mann_whitney *test)
{
	const char *method = test->method == P_NORMAL ? "n" : "";

	if (test->p < 0.001)
		snprintf(out, NUMBER_SIZE, "<0.001%s", method);
	else
		snprintf(out, NUMBER_SIZE, "%.3f%s", test->p, method);
}

void compare_line__make(struct compare_line *line, const struct compare_row *row, enum side side)
{
	const struct compare_cell *cell = &row->cell[side];

	*line = (struct compare_line){ .side = side__name(side), .verdict = "" };
	snprintf(line->title, sizeof(line->title), "%s%s", row->metric->title,
		 row->emulated ? "*" : "");
	if (!cell->n)
		return;
	number__format(line->median, row->metric, cell->summary.median);
	number__format(line->mean, row->metric, cell->summary.mean);
	number__format(line->min, row->metric, cell->summary.min);
	number__format(line->max, row->metric, cell->summary.max);
	snprintf(line->n, sizeof(line->n), "%zu", cell->n);
	if (cell->summary.has_interval) {
		number__format(line->low, row->metric, cell->summary.low);
		number__format(line->high, row->metric, cell->summary.high);
	}
	if (side == SIDE_A || !row->tested)
		return;
	if (row->verdict == VERDICT_SAME)
		strcpy(line->change, "~");
	else
		change__format(line->change, &row->change);
	format_p(line->p, &row->test);
	line->verdict = verdict__name(row->verdict);
}

char *compare__side_facts(const struct compare *compare, enum side side)
{
	const json_t *doc = compare->doc[side];
	const json_t *environment = json_object_get(doc, "environment");
	const char *facts[] = {
		json_string_value(
			json_object_get(json_object_get(environment, "kernel"), "release")),
		json_string_value(
			json_object_get(json_object_get(environment, "machine"), "accelerator")),
		json_string_value(json_object_get(doc, "created")),
	};
	char *text;

	if (asprintf(&text, "kernel %s, accelerator %s, %s", facts[0] ? facts[0] : "not recorded",
		     facts[1] ? facts[1] : "not recorded", facts[2]) < 0)
		return NULL;
	return text;
}

char *warning__subject(const struct compare_warning *warning)
{
	const char *parts[] = {
		warning->workload ? warning->workload->title : NULL,
		warning->side < SIDES ? side__name(warning->side) : NULL,
		warning->metric ? warning->metric->title : NULL,
	};
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);
	const char *gap = "";

	if (!stream)
		return NULL;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i])
			continue;
		fprintf(stream, "%s%s", gap, parts[i]);
		gap = ", ";
	}
	fclose(stream);
	return text;
}

char *leaf__text(const json_t *value)
{
	if (!value)
		return strdup("not recorded");
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* What the rows show, and so what the legend has to explain. */
struct signs {
	bool tested, normal, emulated, without_interval;
};

static void note_signs(struct signs *signs, const struct compare_row *row)
{
	signs->tested |= row->tested;
	signs->normal |= row->test.method == P_NORMAL;
	signs->emulated |= row->emulated;
	for (enum side side = SIDE_A; side < SIDES; side++)
		signs->without_interval |=
			row->cell[side].n && !row->cell[side].summary.has_interval;
}

size_t compare__legend(const struct compare *compare, const char *lines[static LEGEND_MAX])
{
	struct signs signs = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < compare->n_workloads; i++)
		for (size_t j = 0; j < compare->workloads[i].n_rows; j++)
			note_signs(&signs, &compare->workloads[i].rows[j]);
	if (signs.tested)
		lines[n++] = "change: of the medians, ~ if not significant; p: exact two-sided "
			     "Mann-Whitney U, alpha 0.05";
	if (signs.normal)
		lines[n++] = "n after a p: by the normal approximation, for more than 50 runs";
	if (signs.without_interval)
		lines[n++] = "95% interval of the median: none with fewer than 6 runs";
	if (signs.emulated)
		lines[n++] = "*: a time under emulation, an indication only";
	return n;
}
