/* SPDX-License-Identifier: GPL-2.0-only */
/* The comparison as JSON: what is absent is null, and a member beside it says why. */
#include <errno.h>
#include <math.h>

#include "compare_format.h"

#define COMPARE_SCHEMA "tlbbench-compare/1"

/* The last number below which all whole ones are exact. */
#define WHOLE_MAX 9007199254740992.0

/* Counts stay integers. */
static json_t *number(double value)
{
	if (value == rint(value) && fabs(value) < WHOLE_MAX)
		return json_integer(value);
	return json_real(value);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static const char *key_of(enum side side)
{
	return side == SIDE_A ? "a" : side == SIDE_B ? "b" : NULL;
}

static json_t *interval(const struct summary *summary)
{
	if (!summary->has_interval)
		return json_null();
	return json_pack("{s:o, s:o, s:f}", "low", number(summary->low), "high",
			 number(summary->high), "coverage", summary->coverage);
}

static json_t *values(const struct compare_cell *cell)
{
	json_t *all = json_array();

	for (size_t i = 0; i < cell->n; i++)
		json_array_append_new(all, number(cell->values[i]));
	return all;
}

static json_t *cell_json(const struct compare_cell *cell)
{
	const struct summary *summary = &cell->summary;

	if (!cell->n)
		return json_pack("{s:i, s:[], s:n, s:n, s:n, s:n, s:n, s:s, s:s}", "n", 0, "values",
				 "median", "mean", "min", "max", "median_interval95", "state",
				 cell->state, "absent", cell->why);
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)cell->n,
			 "values", values(cell), "median", number(summary->median), "mean",
			 number(summary->mean), "min", number(summary->min), "max",
			 number(summary->max), "median_interval95", interval(summary),
			 "interval_absent",
			 text_or_null(summary->has_interval ? NULL : "fewer than 6 runs"));
}

static json_t *change_json(const struct change *change)
{
	return change->has_percent ? number(change->percent) : json_null();
}

static json_t *test_json(const struct compare_row *row)
{
	if (!row->tested)
		return json_null();
	return json_pack("{s:s, s:s, s:o, s:o, s:b}", "name", "two-sided Mann-Whitney U", "method",
			 p_method__name(row->test.method), "u", number(row->test.u), "p",
			 number(row->test.p), "significant", row->verdict != VERDICT_SAME);
}

static json_t *row_json(const struct compare_row *row)
{
	const char *absent = !row->tested ? "a side has no value" : row->change.why;
	const char *verdict = verdict__name(row->verdict);

	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
			 row->metric->name, "unit", row->metric->unit, "better",
			 metric__better_name(row->metric), "timed", row->metric->timed,
			 "indication_only", row->emulated, "a", cell_json(&row->cell[SIDE_A]), "b",
			 cell_json(&row->cell[SIDE_B]), "change_percent",
			 row->tested ? change_json(&row->change) : json_null(), "change_absent",
			 text_or_null(absent), "test", test_json(row), "verdict",
			 text_or_null(*verdict ? verdict : NULL));
}

static json_t *side_json(const struct compare_side *side)
{
	json_t *runs = json_object();

	for (enum run_status status = RUN_OK; status <= RUN_EXCLUDED; status++)
		json_object_set_new(runs, run_status__name(status),
				    json_integer(side->runs[status]));
	return json_pack("{s:b, s:o, s:o, s:o}", "in_file", side->workload != NULL, "runs", runs,
			 "state", text_or_null(side->state), "why", text_or_null(side->why));
}

static json_t *workload_json(const struct compare_workload *workload)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < workload->n_rows; i++)
		json_array_append_new(rows, row_json(&workload->rows[i]));
	return json_pack("{s:s, s:O, s:o, s:o, s:o}", "name", workload->name, "parameters",
			 workload->parameters, "a", side_json(&workload->side[SIDE_A]), "b",
			 side_json(&workload->side[SIDE_B]), "metrics", rows);
}

static json_t *geomean_json(const struct compare_geomean *geomean)
{
	bool used = geomean->used;

	return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "metric", geomean->metric->name,
			 "workloads", (json_int_t)geomean->rows, "used", (json_int_t)geomean->used,
			 "a", used ? number(geomean->mean[SIDE_A]) : json_null(), "b",
			 used ? number(geomean->mean[SIDE_B]) : json_null(), "change_percent",
			 used ? change_json(&geomean->change) : json_null(), "absent",
			 text_or_null(used ? geomean->change.why
					   : "no workload has positive medians on both sides"));
}

static json_t *difference_json(const struct compare_difference *difference)
{
	json_t *json = json_object();

	json_object_set_new(json, "key", json_string(difference->key));
	for (enum side side = SIDE_A; side < SIDES; side++)
		json_object_set_new(json, key_of(side),
				    difference->value[side]
					    ? json_incref((json_t *)difference->value[side])
					    : json_null());
	return json;
}

static json_t *warning_json(const struct compare_warning *warning)
{
	return json_pack("{s:s, s:o, s:O?, s:o, s:o, s:s}", "cause", cause__name(warning->cause),
			 "workload",
			 text_or_null(warning->workload ? warning->workload->name : NULL),
			 "parameters", warning->workload ? warning->workload->parameters : NULL,
			 "metric", text_or_null(warning->metric ? warning->metric->name : NULL),
			 "side", text_or_null(key_of(warning->side)), "text", warning->text);
}

/* A file name may be no UTF-8, which JSON text must be. */
static json_t *file_name(const char *file)
{
	return json_string(file) ?: json_string("(the name is not UTF-8)");
}

static json_t *file_json(const struct compare *compare, enum side side)
{
	const json_t *doc = compare->doc[side];

	return json_pack("{s:o, s:O, s:O, s:O}", "file", file_name(compare->file[side]), "created",
			 json_object_get(doc, "created"), "tool", json_object_get(doc, "tool"),
			 "environment", json_object_get(doc, "environment"));
}

/* json_array_append_new() and json_object_set_new() fail on NULL, and take over what they get. */
static json_t *document(const struct compare *compare)
{
	json_t *workloads = json_array(), *geomeans = json_array();
	json_t *differences = json_array(), *warnings = json_array();
	json_t *doc = json_object();
	int err = 0;

	for (size_t i = 0; i < compare->n_workloads; i++)
		err |= json_array_append_new(workloads, workload_json(&compare->workloads[i]));
	for (size_t i = 0; i < compare->n_geomeans; i++)
		err |= json_array_append_new(geomeans, geomean_json(&compare->geomeans[i]));
	for (size_t i = 0; i < compare->n_differences; i++)
		err |= json_array_append_new(differences,
					     difference_json(&compare->differences[i]));
	for (size_t i = 0; i < compare->n_warnings; i++)
		err |= json_array_append_new(warnings, warning_json(&compare->warnings[i]));
	err |= json_object_set_new(doc, "schema", json_string(COMPARE_SCHEMA));
	err |= json_object_set_new(doc, "a", file_json(compare, SIDE_A));
	err |= json_object_set_new(doc, "b", file_json(compare, SIDE_B));
	err |= json_object_set_new(doc, "emulated", json_boolean(compare->emulated));
	err |= json_object_set_new(doc, "alpha", json_real(STATS_ALPHA));
	err |= json_object_set_new(doc, "workloads", workloads);
	err |= json_object_set_new(doc, "geometric_means", geomeans);
	err |= json_object_set_new(doc, "environment_differences", differences);
	err |= json_object_set_new(doc, "warnings", warnings);
	if (!err)
		return doc;
	json_decref(doc);
	return NULL;
}

int compare__print_json(const struct compare *compare, FILE *out)
{
	json_t *doc = document(compare);
	int err = doc ? json_dumpf(doc, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : -1;

	json_decref(doc);
	fputc('\n', out);
	return err ? -ENOMEM : 0;
}
