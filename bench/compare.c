/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "compare.h"
#include "compare_warn.h"
#include "environment.h"
#include "environment_diff.h"

static int add_difference(void *context, const char *key, const json_t *a, const json_t *b)
{
	struct compare *compare = context;
	size_t n = compare->n_differences;
	struct compare_difference *all =
		realloc(compare->differences, (n + 1) * sizeof(*compare->differences));

	if (!all)
		return -ENOMEM;
	compare->differences = all;
	all[n] = (struct compare_difference){ strdup(key), { a, b } };
	if (!all[n].key)
		return -ENOMEM;
	compare->n_differences++;
	return 0;
}

/* "tcg" of "tcg,thread=multi": what runs the instructions. */
static const char *accelerator_of(const json_t *doc, size_t *len)
{
	const json_t *machine = json_object_get(json_object_get(doc, "environment"), "machine");
	const char *name = json_string_value(json_object_get(machine, "accelerator"));

	if (!name)
		name = "not recorded";
	*len = strcspn(name, ",");
	return name;
}

static int check_accelerators(const struct compare *compare, bool allow_different)
{
	size_t len[SIDES];
	const char *a = accelerator_of(compare->doc[SIDE_A], &len[SIDE_A]);
	const char *b = accelerator_of(compare->doc[SIDE_B], &len[SIDE_B]);

	if (allow_different || (len[SIDE_A] == len[SIDE_B] && !strncmp(a, b, len[SIDE_A])))
		return 0;
	diag__error("compare %s with %s: the accelerators differ: %s and %s", compare->file[SIDE_A],
		    compare->file[SIDE_B], a, b);
	diag__hint(
		"counts may be compared all the same, times may not: --allow-different-accelerator");
	return -EXDEV;
}

/* One side of a workload. */

/* As a reader says it. */
static const char *state_of(enum run_status status)
{
	return status == RUN_NO_WORK ? "no work" : run_status__name(status);
}

static void side__fill(struct compare_side *side, const json_t *workload)
{
	const json_t *run, *first;
	size_t i;

	side->workload = workload;
	json_array_foreach (json_object_get(workload, "runs"), i, run)
		side->runs[run_status__of(run)]++;
	if (side->runs[RUN_OK])
		return;
	first = json_array_get(json_object_get(workload, "runs"), 0);
	side->state = first ? state_of(run_status__of(first)) : "not run";
	side->why = first      ? json_string_value(json_object_get(first, "reason"))
		    : workload ? "no run is recorded"
			       : "this file does not have it with these parameters";
}

/* One metric on one side. */

static int cell__collect(struct compare_cell *cell, const json_t *runs, const char *metric)
{
	const json_t *run, *value;
	size_t i;

	cell->values = calloc(json_array_size(runs), sizeof(*cell->values));
	cell->runs = calloc(json_array_size(runs), sizeof(*cell->runs));
	if (!cell->values || !cell->runs)
		return -ENOMEM;
	json_array_foreach (runs, i, run) {
		if (run_status__of(run) != RUN_OK)
			continue;
		value = json_object_get(json_object_get(run, "values"), metric);
		if (json_is_number(value)) {
			cell->runs[cell->n] = json_integer_value(json_object_get(run, "index"));
			cell->values[cell->n++] = json_number_value(value);
			continue;
		}
		cell->without++;
		if (!cell->why)
			cell->why = json_string_value(
				json_object_get(json_object_get(run, "absent"), metric));
	}
	return 0;
}

static int cell__fill(struct compare_cell *cell, const struct compare_side *side,
		      const char *metric)
{
	int err;

	cell->state = side->state;
	cell->why = side->why;
	if (side->state)
		return 0;
	err = cell__collect(cell, json_object_get(side->workload, "runs"), metric);
	if (err)
		return err;
	if (cell->n)
		return summary__make(&cell->summary, cell->values, cell->n);
	cell->state = "none";
	if (!cell->why)
		cell->why = "not measured";
	return 0;
}

/* One metric of a workload. */

static enum verdict verdict_of(const struct compare_row *row)
{
	double a = row->cell[SIDE_A].summary.median, b = row->cell[SIDE_B].summary.median;
	enum metric_better better = row->metric->better;

	if (row->test.p > STATS_ALPHA)
		return VERDICT_SAME;
	if (a == b || better == BETTER_NEITHER)
		return VERDICT_DIFFERS;
	return (b > a) == (better == BETTER_HIGHER) ? VERDICT_BETTER : VERDICT_WORSE;
}

static int row__fill(struct compare_row *row, const struct compare_workload *workload)
{
	struct compare_cell *a = &row->cell[SIDE_A], *b = &row->cell[SIDE_B];
	int err = cell__fill(a, &workload->side[SIDE_A], row->metric->name);

	if (!err)
		err = cell__fill(b, &workload->side[SIDE_B], row->metric->name);
	if (err || !a->n || !b->n)
		return err;
	err = mann_whitney__test(&row->test, a->values, a->n, b->values, b->n);
	if (err)
		return err;
	row->tested = true;
	row->change = change__make(a->summary.median, b->summary.median);
	row->verdict = verdict_of(row);
	return 0;
}

/* Whether a side that has runs to show says anything about the metric. */
static bool declares(const struct compare_side *side, const struct metric *metric)
{
	return !side->state &&
	       json_object_get(json_object_get(side->workload, "metrics"), metric->name);
}

static int workload__fill_rows(struct compare_workload *workload, bool emulated,
			       const struct compare_options *options)
{
	bool any = !workload->side[SIDE_A].state || !workload->side[SIDE_B].state;

	workload->rows = calloc(options->n_metrics, sizeof(*workload->rows));
	if (!workload->rows)
		return -ENOMEM;
	for (size_t i = 0; any && i < options->n_metrics; i++) {
		const struct metric *metric = options->metrics[i];
		struct compare_row *row = &workload->rows[workload->n_rows];
		int err;

		if (!options->named && !declares(&workload->side[SIDE_A], metric) &&
		    !declares(&workload->side[SIDE_B], metric))
			continue;
		row->metric = metric;
		row->emulated = emulated && metric->timed;
		workload->n_rows++;
		err = row__fill(row, workload);
		if (err)
			return err;
	}
	return 0;
}

/* The workloads of both sides, in the order of A, then those of B alone. */

static const json_t *workloads_of(const struct compare *compare, enum side side)
{
	return json_object_get(compare->doc[side], "workloads");
}

/* "pages=4096 via=memcg" */
static char *label_of(json_t *parameters)
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);
	const char *key, *gap = "";
	json_t *value;

	if (!stream)
		return NULL;
	json_object_foreach (parameters, key, value) {
		fprintf(stream, "%s%s=", gap, key);
		if (json_is_string(value))
			fputs(json_string_value(value), stream);
		else
			json_dumpf(value, stream, JSON_COMPACT | JSON_ENCODE_ANY);
		gap = " ";
	}
	fclose(stream);
	return text;
}

static int add_workload(struct compare *compare, const json_t *a, const json_t *b)
{
	struct compare_workload *workload = &compare->workloads[compare->n_workloads++];
	const json_t *either = a ? a : b;

	workload->name = json_string_value(json_object_get(either, "name"));
	workload->parameters = json_object_get(either, "parameters");
	workload->label = label_of(workload->parameters);
	side__fill(&workload->side[SIDE_A], a);
	side__fill(&workload->side[SIDE_B], b);
	return workload->label ? 0 : -ENOMEM;
}

static int join_workloads(struct compare *compare)
{
	const json_t *a = workloads_of(compare, SIDE_A), *b = workloads_of(compare, SIDE_B);
	size_t most = json_array_size(a) + json_array_size(b);
	const json_t *workload;
	size_t i;
	int err = 0;

	compare->workloads = calloc(most ? most : 1, sizeof(*compare->workloads));
	if (!compare->workloads)
		return -ENOMEM;
	json_array_foreach (a, i, workload)
		err = err ? err : add_workload(compare, workload, result__find_same(b, workload));
	json_array_foreach (b, i, workload)
		if (!err && !result__find_same(a, workload))
			err = add_workload(compare, NULL, workload);
	return err;
}

/* The parameters in which workloads of the same name differ. New reference, NULL: no memory. */
static json_t *distinctions(const struct compare *compare, const struct compare_workload *workload)
{
	json_t *out = json_object(), *value;
	const char *key;

	json_object_foreach ((json_t *)workload->parameters, key, value) {
		bool same = true;

		for (size_t i = 0; i < compare->n_workloads; i++) {
			const struct compare_workload *other = &compare->workloads[i];

			same &= strcmp(other->name, workload->name) ||
				json_equal(json_object_get(other->parameters, key), value);
		}
		if (!same && json_object_set(out, key, value)) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}

/* The name, with what tells it from others of that name. */
static char *title_of(const struct compare *compare, const struct compare_workload *workload)
{
	json_t *differ = distinctions(compare, workload);
	char *label = differ ? label_of(differ) : NULL, *title = NULL;

	if (label && asprintf(&title, *label ? "%s (%s)" : "%s", workload->name, label) < 0)
		title = NULL;
	free(label);
	json_decref(differ);
	return title;
}

static int fill_workloads(struct compare *compare, const struct compare_options *options)
{
	int err = 0;

	for (size_t i = 0; !err && i < compare->n_workloads; i++) {
		struct compare_workload *workload = &compare->workloads[i];

		workload->title = title_of(compare, workload);
		if (!workload->title)
			return -ENOMEM;
		err = workload__fill_rows(workload, compare->emulated, options);
	}
	return err;
}

/* Geometric means. */

static const struct compare_row *find_row(const struct compare_workload *workload,
					  const struct metric *metric)
{
	for (size_t i = 0; i < workload->n_rows; i++)
		if (workload->rows[i].metric == metric)
			return &workload->rows[i];
	return NULL;
}

static int geomean__fill(struct compare_geomean *geomean, const struct compare *compare)
{
	double *a = calloc(compare->n_workloads * 2 + 1, sizeof(*a));
	double *b;
	size_t both = 0;

	if (!a)
		return -ENOMEM;
	b = a + compare->n_workloads;
	for (size_t i = 0; i < compare->n_workloads; i++) {
		const struct compare_row *row = find_row(&compare->workloads[i], geomean->metric);

		geomean->rows += !!row;
		if (!row || !row->tested)
			continue;
		a[both] = row->cell[SIDE_A].summary.median;
		b[both++] = row->cell[SIDE_B].summary.median;
	}
	geomean__make(a, b, both, &geomean->mean[SIDE_A], &geomean->mean[SIDE_B], &geomean->used);
	geomean->change = change__make(geomean->mean[SIDE_A], geomean->mean[SIDE_B]);
	free(a);
	return 0;
}

static int fill_geomeans(struct compare *compare, const struct compare_options *options)
{
	compare->geomeans = calloc(options->n_metrics, sizeof(*compare->geomeans));
	if (!compare->geomeans)
		return -ENOMEM;
	for (size_t i = 0; i < options->n_metrics; i++) {
		struct compare_geomean geomean = { .metric = options->metrics[i] };
		int err = geomean__fill(&geomean, compare);

		if (err)
			return err;
		if (geomean.rows > 1)
			compare->geomeans[compare->n_geomeans++] = geomean;
	}
	return 0;
}

int compare__make(struct compare **out, const struct result *a, const struct result *b,
		  const struct compare_options *options)
{
	struct compare *compare = calloc(1, sizeof(*compare));
	const json_t *environment[SIDES];
	int err;

	*out = NULL;
	if (!compare)
		return diag__fail(ENOMEM, "compare");
	compare->doc[SIDE_A] = result__json(a);
	compare->doc[SIDE_B] = result__json(b);
	for (enum side side = SIDE_A; side < SIDES; side++) {
		compare->file[side] = options->file[side];
		environment[side] = json_object_get(compare->doc[side], "environment");
		compare->emulated |= environment__emulated(environment[side]);
	}
	err = check_accelerators(compare, options->allow_different_accelerator);
	if (err)
		goto out;
	err = environment_diff__each(environment[SIDE_A], environment[SIDE_B], add_difference,
				     compare);
	if (!err)
		err = join_workloads(compare);
	if (!err)
		err = fill_workloads(compare, options);
	if (!err)
		err = fill_geomeans(compare, options);
	if (!err)
		err = compare__find_warnings(compare);
	if (err)
		diag__fail(-err, "compare %s with %s", compare->file[SIDE_A],
			   compare->file[SIDE_B]);
out:
	if (err)
		compare__free(compare);
	else
		*out = compare;
	return err;
}

static void workload__free(struct compare_workload *workload)
{
	for (size_t i = 0; i < workload->n_rows; i++) {
		for (enum side side = SIDE_A; side < SIDES; side++) {
			free(workload->rows[i].cell[side].values);
			free(workload->rows[i].cell[side].runs);
		}
	}
	free(workload->rows);
	free(workload->label);
	free(workload->title);
}

void compare__free(struct compare *compare)
{
	if (!compare)
		return;
	for (size_t i = 0; i < compare->n_workloads; i++)
		workload__free(&compare->workloads[i]);
	for (size_t i = 0; i < compare->n_differences; i++)
		free(compare->differences[i].key);
	for (size_t i = 0; i < compare->n_warnings; i++)
		free(compare->warnings[i].text);
	free(compare->workloads);
	free(compare->geomeans);
	free(compare->differences);
	free(compare->warnings);
	free(compare);
}
