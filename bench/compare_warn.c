/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare_format.h"
#include "compare_warn.h"

const char *cause__name(enum cause cause)
{
	static const char *const names[] = {
		[CAUSE_EMULATED] = "emulated",
		[CAUSE_ONE_SIDE] = "one_side",
		[CAUSE_UNSUPPORTED] = "unsupported",
		[CAUSE_NO_WORK] = "no_work",
		[CAUSE_EXCLUDED] = "excluded",
		[CAUSE_UNVERIFIED] = "unverified",
		[CAUSE_FEW_RUNS] = "few_runs",
		[CAUSE_ABSENT] = "absent",
		[CAUSE_OUTLIER] = "outlier",
		[CAUSE_SLOW_FIRST_RUN] = "slow_first_run",
		[CAUSE_DRIFT] = "drift",
	};

	return names[cause];
}

static int __attribute__((format(printf, 3, 4)))
warn(struct compare *compare, struct compare_warning about, const char *fmt, ...)
{
	size_t n = compare->n_warnings;
	struct compare_warning *all =
		realloc(compare->warnings, (n + 1) * sizeof(*compare->warnings));
	va_list args;
	int len;

	if (!all)
		return -ENOMEM;
	compare->warnings = all;
	all[n] = about;
	va_start(args, fmt);
	len = vasprintf(&all[n].text, fmt, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	compare->n_warnings++;
	return 0;
}

/* Runs of a side that do not count. */

static const json_t *first_run(const struct compare_side *side, enum run_status status)
{
	const json_t *run;
	size_t i;

	json_array_foreach (json_object_get(side->workload, "runs"), i, run)
		if (run_status__of(run) == status)
			return run;
	return NULL;
}

static size_t count_runs(const struct compare_side *side)
{
	return json_array_size(json_object_get(side->workload, "runs"));
}

static int warn_of_status(struct compare *compare, struct compare_warning about,
			  enum run_status status)
{
	static const struct {
		enum cause cause;
		const char *what;
	} kinds[] = {
		[RUN_NO_WORK] = { CAUSE_NO_WORK, "did no work" },
		[RUN_UNSUPPORTED] = { CAUSE_UNSUPPORTED, "could not be done here" },
		[RUN_EXCLUDED] = { CAUSE_EXCLUDED, "excluded" },
	};
	const struct compare_side *side = &about.workload->side[about.side];
	const json_t *run = first_run(side, status);

	if (!run)
		return 0;
	about.cause = kinds[status].cause;
	return warn(compare, about, "%zu of %zu runs %s; run %" JSON_INTEGER_FORMAT ": %s",
		    side->runs[status], count_runs(side), kinds[status].what,
		    json_integer_value(json_object_get(run, "index")),
		    json_string_value(json_object_get(run, "reason")));
}

/* Pages asked for and pages proven, over the runs that are ok. */
struct pages {
	size_t unverified; /* runs */
	double asked, done;
};

static double number_in(const json_t *run, const char *metric)
{
	return json_number_value(json_object_get(json_object_get(run, "values"), metric));
}

static struct pages count_pages(const struct compare_side *side)
{
	struct pages pages = { 0 };
	const json_t *run;
	size_t i;

	json_array_foreach (json_object_get(side->workload, "runs"), i, run) {
		if (run_status__of(run) != RUN_OK)
			continue;
		pages.unverified += !(number_in(run, "pages_done") > 0);
		pages.asked += number_in(run, "pages_asked");
		pages.done += number_in(run, "pages_done");
	}
	return pages;
}

/* Reclaim takes a few per cent fewer pages than asked; below this share something else is at work.
 */
#define SHARE_VERIFIED 0.9

static int warn_of_pages(struct compare *compare, struct compare_warning about)
{
	const struct compare_side *side = &about.workload->side[about.side];
	struct pages pages = count_pages(side);
	char asked[NUMBER_SIZE], done[NUMBER_SIZE];
	int err = 0;

	if (!json_object_get(json_object_get(side->workload, "metrics"), "pages_done"))
		return 0;
	about.cause = CAUSE_UNVERIFIED;
	if (pages.unverified)
		err = warn(compare, about, "%zu of %zu runs have no page that was verified",
			   pages.unverified, side->runs[RUN_OK]);
	if (err || pages.done >= SHARE_VERIFIED * pages.asked)
		return err;
	number__format(asked, metric__find("pages_asked"), pages.asked);
	number__format(done, metric__find("pages_done"), pages.done);
	return warn(compare, about, "of %s pages asked in all runs %s were verified (%.1f%%)",
		    asked, done, pages.done / pages.asked * 100);
}

static int warn_of_side(struct compare *compare, struct compare_warning about)
{
	int err = 0;

	for (enum run_status status = RUN_NO_WORK; !err && status <= RUN_EXCLUDED; status++)
		err = warn_of_status(compare, about, status);
	return err ? err : warn_of_pages(compare, about);
}

/* Values that do not look like the others. */

static int warn_of_outliers(struct compare *compare, struct compare_warning about,
			    const struct compare_cell *cell, bool first_is_slow)
{
	bool *marked = calloc(cell->n, sizeof(*marked));
	int err = marked ? outliers__mark(cell->values, cell->n, marked) : -ENOMEM;
	char value[NUMBER_SIZE], median[NUMBER_SIZE];

	about.cause = CAUSE_OUTLIER;
	number__format(median, about.metric, cell->summary.median);
	for (size_t i = first_is_slow; err >= 0 && i < cell->n; i++) {
		if (!marked[i])
			continue;
		number__format(value, about.metric, cell->values[i]);
		err = warn(compare, about,
			   "run %" JSON_INTEGER_FORMAT " is an outlier: %s, the median is %s",
			   cell->runs[i], value, median);
	}
	free(marked);
	return err < 0 ? err : 0;
}

/* Returns 1 if there was one, 0 or a negative errno. */
static int warn_of_slow_first(struct compare *compare, struct compare_warning about,
			      const struct compare_cell *cell)
{
	char value[NUMBER_SIZE], median[NUMBER_SIZE];
	int slow;

	if (!about.metric->timed || about.metric->better == BETTER_NEITHER)
		return 0;
	slow = slow_first__test(cell->values, cell->n,
				about.metric->better == BETTER_LOWER ? 1 : -1);
	if (slow <= 0)
		return slow;
	about.cause = CAUSE_SLOW_FIRST_RUN;
	number__format(value, about.metric, cell->values[0]);
	number__format(median, about.metric, cell->summary.median);
	slow = warn(compare, about,
		    "run %" JSON_INTEGER_FORMAT
		    " came first and is slower than all others: %s, the "
		    "median is %s",
		    cell->runs[0], value, median);
	return slow ? slow : 1;
}

static int warn_of_drift(struct compare *compare, struct compare_warning about,
			 const struct compare_cell *cell)
{
	char rise[NUMBER_SIZE];
	struct drift drift;
	int err = drift__test(&drift, cell->values, cell->n);

	if (err || !drift.found)
		return err;
	about.cause = CAUSE_DRIFT;
	number__format(rise, about.metric, fabs(drift.rise));
	return warn(compare, about, "%s from run to run, by %s in all (Mann-Kendall, %s p %.3f)",
		    drift.s > 0 ? "rises" : "falls", rise, p_method__name(drift.method), drift.p);
}

static int warn_of_cell(struct compare *compare, struct compare_warning about,
			const struct compare_cell *cell)
{
	int err, slow;

	if (!cell->n)
		return 0;
	about.cause = CAUSE_ABSENT;
	err = cell->without
		      ? warn(compare, about, "%zu of %zu runs have no value: %s", cell->without,
			     cell->without + cell->n, cell->why ? cell->why : "not measured")
		      : 0;
	if (err)
		return err;
	slow = warn_of_slow_first(compare, about, cell);
	if (slow < 0)
		return slow;
	err = warn_of_outliers(compare, about, cell, slow);
	return err ? err : warn_of_drift(compare, about, cell);
}

/* A workload. */

/* Once per workload: its rows have the same runs. */
static int warn_of_few_runs(struct compare *compare, const struct compare_workload *workload)
{
	struct compare_warning about = { CAUSE_FEW_RUNS, workload, NULL, SIDES, NULL };

	for (size_t i = 0; i < workload->n_rows; i++) {
		const struct compare_row *row = &workload->rows[i];
		size_t a = row->cell[SIDE_A].n, b = row->cell[SIDE_B].n;

		if (row->tested && mann_whitney__smallest_p(a, b) > STATS_ALPHA)
			return warn(compare, about,
				    "%zu and %zu runs reach p %.3f at best: no difference can be "
				    "significant",
				    a, b, mann_whitney__smallest_p(a, b));
	}
	return 0;
}

static int warn_of_workload(struct compare *compare, const struct compare_workload *workload)
{
	int err = warn_of_few_runs(compare, workload);

	for (enum side side = SIDE_A; !err && side < SIDES; side++) {
		struct compare_warning about = { CAUSE_ONE_SIDE, workload, NULL, side, NULL };

		if (!workload->side[side].workload)
			err = warn(compare, about,
				   "this file does not have the workload with these parameters");
		else
			err = warn_of_side(compare, about);
	}
	for (size_t i = 0; i < workload->n_rows; i++) {
		const struct compare_row *row = &workload->rows[i];

		for (enum side side = SIDE_A; !err && side < SIDES; side++)
			err = warn_of_cell(compare,
					   (struct compare_warning){ .workload = workload,
								     .metric = row->metric,
								     .side = side },
					   &row->cell[side]);
	}
	return err;
}

int compare__find_warnings(struct compare *compare)
{
	struct compare_warning about = { .cause = CAUSE_EMULATED, .side = SIDES };
	int err = 0;

	if (compare->emulated)
		err = warn(compare, about,
			   "measured under emulation: times are an indication only");
	for (size_t i = 0; !err && i < compare->n_workloads; i++)
		err = warn_of_workload(compare, &compare->workloads[i]);
	return err;
}
