/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <float.h>
#include <math.h>

#include "compare.h"
#include "compare_format.h"

#define BASE	"tests/fixtures/results/base.json"
#define PATCHED "tests/fixtures/results/x1.json"

/* Results made in the tests. */

static struct result *result_on(const char *kernel, const char *accelerator)
{
	struct result *result;

	assert_int_equal(
		result__new(&result, json_pack("{s:{s:s}, s:{s:s?}}", "kernel", "release", kernel,
					       "machine", "accelerator", accelerator)),
		0);
	return result;
}

static struct result *bare(void)
{
	return result_on("7.3.4", "none");
}

static void workload(struct result *result, const char *name, int pages)
{
	assert_int_equal(result__add_workload(result, name, json_pack("{s:i}", "pages", pages)), 0);
}

static void run(struct result *result, const char *metric, double value)
{
	assert_int_equal(result__add_run(result, RUN_OK, NULL, json_pack("{s:f}", metric, value),
					 NULL, NULL),
			 0);
}

static void run_without(struct result *result, const char *metric, const char *why)
{
	assert_int_equal(
		result__add_run(result, RUN_OK, NULL, json_pack("{s:s}", metric, why), NULL, NULL),
		0);
}

static void run_not_ok(struct result *result, enum run_status status, const char *why)
{
	assert_int_equal(result__add_run(result, status, why, json_object(), NULL, NULL), 0);
}

#define VALUES(...) (double[]){ __VA_ARGS__ }, sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)

static void runs(struct result *result, const char *metric, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		run(result, metric, values[i]);
}

/* One workload "w" with one metric. */
static struct result *with(const char *metric, const double *values, size_t n)
{
	struct result *result = bare();

	workload(result, "w", 1);
	runs(result, metric, values, n);
	return result;
}

/* A comparison and what it lives on. */
struct both {
	struct result *a, *b;
	struct compare *compare;
};

static const struct metric *headline[64];

static struct compare_options headline_options(void)
{
	struct compare_options options = { { "a.json", "b.json" }, .metrics = headline };

	for (size_t i = 0; i < METRICS; i++)
		if (metrics[i].headline)
			headline[options.n_metrics++] = &metrics[i];
	return options;
}

/* Takes the results over. */
static struct both compare(struct result *a, struct result *b)
{
	struct compare_options options = headline_options();
	struct both both = { a, b, NULL };

	options.allow_different_accelerator = true;
	assert_int_equal(compare__make(&both.compare, a, b, &options), 0);
	return both;
}

static struct both compare_files(const char *a, const char *b)
{
	struct both both = { 0 };

	assert_int_equal(result__read(&both.a, a), 0);
	assert_int_equal(result__read(&both.b, b), 0);
	return compare(both.a, both.b);
}

static void done(struct both *both)
{
	compare__free(both->compare);
	result__free(both->a);
	result__free(both->b);
}

/* Not inlined, where gcc 12 would take the text for a pointer to a variable of this function. */
static char *__attribute__((noinline))
print(const struct both *both, int (*how)(const struct compare *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	assert_int_equal(how(both->compare, stream), 0);
	fclose(stream);
	return text;
}

static json_t *print_json(const struct both *both)
{
	char *text = print(both, compare__print_json);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(json);
	free(text);
	return json;
}

static void assert_table_has(const struct both *both, const char *part)
{
	char *text = print(both, compare__print_table);

	assert_contains(text, part);
	free(text);
}

static const struct compare_row *row(const struct both *both, size_t i)
{
	assert_true(i < both->compare->n_workloads);
	assert_int_equal(both->compare->workloads[i].n_rows, 1);
	return &both->compare->workloads[i].rows[0];
}

static const struct compare_warning *find_warning(const struct both *both, enum cause cause)
{
	for (size_t i = 0; i < both->compare->n_warnings; i++)
		if (both->compare->warnings[i].cause == cause)
			return &both->compare->warnings[i];
	return NULL;
}

static void assert_warned(const struct both *both, enum cause cause, enum side side,
			  const char *part)
{
	const struct compare_warning *warning = find_warning(both, cause);

	if (!warning)
		fail_msg("no warning of %s", cause__name(cause));
	assert_int_equal(warning->side, side);
	assert_contains(warning->text, part);
}

/* Joining. */

static void workloads_are_joined_by_name_and_parameters(void **state)
{
	struct result *a = bare(), *b = bare();
	struct both both;

	(void)state;
	workload(a, "w", 1);
	run(a, "remote_ipis", 10);
	workload(a, "w", 2);
	run(a, "remote_ipis", 20);
	workload(b, "w", 2);
	run(b, "remote_ipis", 21);
	workload(b, "w", 1);
	run(b, "remote_ipis", 11);
	both = compare(a, b);
	assert_int_equal(both.compare->n_workloads, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(row(&both, i)->cell[SIDE_A].summary.median == 10 * (i + 1));
		assert_true(row(&both, i)->cell[SIDE_B].summary.median == 10 * (i + 1) + 1);
	}
	assert_string_equal(both.compare->workloads[0].title, "w (pages=1)");
	done(&both);
}

static void a_workload_of_one_side_is_shown_as_such(void **state)
{
	struct result *b = with("remote_ipis", VALUES(1, 2));
	struct both both;
	char *text;

	(void)state;
	workload(b, "more", 1);
	run(b, "remote_ipis", 0);
	both = compare(with("remote_ipis", VALUES(1, 2)), b);
	assert_int_equal(both.compare->n_workloads, 2);
	assert_string_equal(row(&both, 1)->cell[SIDE_A].state, "not run");
	assert_false(row(&both, 1)->tested);
	assert_warned(&both, CAUSE_ONE_SIDE, SIDE_A, "does not have the workload");
	assert_table_has(&both, "A  not run: this file does not have it with these parameters");
	/* Said once; the row has the other side alone, and its title. */
	assert_table_has(&both, "p\nremote IPIs  B  ");
	/* Where both sides have a line, the title is in the first. */
	assert_table_has(&both, "\n             B  ");
	text = print(&both, compare__print_markdown);
	assert_contains(text, "|:--|\n| remote IPIs | A | 1.500 |");
	assert_contains(text, "\n|  | B | 1.500 |");
	assert_contains(text, "|:--|\n| remote IPIs | B | 0 |");
	free(text);
	done(&both);
	both = compare(with("remote_ipis", VALUES(1)), bare());
	assert_warned(&both, CAUSE_ONE_SIDE, SIDE_B, "does not have the workload");
	assert_null(find_warning(&both, CAUSE_FEW_RUNS));
	done(&both);
}

/* What is not there. */

static void unsupported_no_work_absent_and_zero_are_four_things(void **state)
{
	struct result *a = bare(), *b = bare();
	struct both both;
	json_t *json;
	char *csv;

	(void)state;
	for (int i = 0; i < 4; i++) {
		workload(a, "w", i);
		run(a, "remote_ipis", 7);
		workload(b, "w", i);
		if (i == 0)
			run_not_ok(b, RUN_UNSUPPORTED, "no lower tier");
		else if (i == 1)
			run_not_ok(b, RUN_NO_WORK, "no page went");
		else if (i == 2)
			run_without(b, "remote_ipis", "no probe");
		else
			run(b, "remote_ipis", 0);
	}
	both = compare(a, b);
	assert_string_equal(row(&both, 0)->cell[SIDE_B].state, "unsupported");
	assert_string_equal(row(&both, 1)->cell[SIDE_B].state, "no work");
	assert_string_equal(row(&both, 2)->cell[SIDE_B].state, "none");
	assert_null(row(&both, 3)->cell[SIDE_B].state);
	assert_table_has(&both, "B  unsupported: no lower tier\n");
	assert_table_has(&both, "B  no work: no page went\n");
	assert_table_has(&both, "B  none: no probe\n");
	csv = print(&both, compare__print_csv);
	assert_contains(csv, ",0,,,,,,,\"unsupported: no lower tier\",");
	assert_contains(csv, ",0,,,,,,,\"no work: no page went\",");
	assert_contains(csv, ",0,,,,,,,\"none: no probe\",");
	assert_contains(csv, ",1,0,0,0,0,,,,-100,,1,exact,no,\n");
	free(csv);
	json = print_json(&both);
	for (size_t i = 0; i < 4; i++) {
		json_t *cell = json_array_get(json_object_get(json, "workloads"), i);

		cell = json_object_get(json_array_get(json_object_get(cell, "metrics"), 0), "b");
		assert_int_equal(json_is_null(json_object_get(cell, "median")), i < 3);
		assert_int_equal(json_is_string(json_object_get(cell, "absent")), i < 3);
	}
	json_decref(json);
	assert_warned(&both, CAUSE_UNSUPPORTED, SIDE_B, "1 of 1 runs could not be done here");
	assert_warned(&both, CAUSE_NO_WORK, SIDE_B, "run 0: no page went");
	done(&both);
}

static void a_workload_neither_side_could_run_is_still_in_every_format(void **state)
{
	struct result *a = bare(), *b = bare();
	struct both both;
	char *text;

	(void)state;
	workload(a, "w", 1);
	run_not_ok(a, RUN_UNSUPPORTED, "no swap");
	workload(b, "w", 1);
	both = compare(a, b);
	assert_table_has(&both, "A  unsupported: no swap\nB  not run: no run is recorded\n");
	text = print(&both, compare__print_csv);
	assert_contains(text, "\nw,pages=1,,,,,0,,,,,,,\"unsupported: no swap\",0,");
	free(text);
	text = print(&both, compare__print_markdown);
	assert_contains(text, "A: unsupported: no swap\n");
	free(text);
	text = print(&both, compare__print_cover);
	assert_contains(text, "| - (unsupported) | - (not run) |      - |\n");
	free(text);
	text = print(&both, compare__print_json);
	assert_contains(text, "\"why\": \"no swap\"");
	free(text);
	done(&both);
}

static void runs_that_are_not_ok_do_not_count(void **state)
{
	struct result *a = with("remote_ipis", VALUES(10, 20, 30));
	struct both both;

	(void)state;
	assert_int_equal(result__add_run(a, RUN_EXCLUDED, "a CPU went",
					 json_pack("{s:i}", "remote_ipis", 1000), NULL, NULL),
			 0);
	both = compare(a, with("remote_ipis", VALUES(10)));
	assert_int_equal(row(&both, 0)->cell[SIDE_A].n, 3);
	assert_true(row(&both, 0)->cell[SIDE_A].summary.max == 30);
	assert_warned(&both, CAUSE_EXCLUDED, SIDE_A, "1 of 4 runs excluded; run 3: a CPU went");
	done(&both);
}

static void a_value_that_some_runs_lack_is_told(void **state)
{
	struct result *a = with("remote_ipis", VALUES(10, 20));
	struct both both;

	(void)state;
	run_without(a, "remote_ipis", "the probe was lost");
	both = compare(a, with("remote_ipis", VALUES(10)));
	assert_int_equal(row(&both, 0)->cell[SIDE_A].n, 2);
	assert_warned(&both, CAUSE_ABSENT, SIDE_A, "1 of 3 runs have no value: the probe was lost");
	done(&both);
}

/* Judging. */

static void what_is_not_significant_is_a_tilde(void **state)
{
	struct both both = compare(with("remote_ipis", VALUES(1, 3, 5, 7, 9)),
				   with("remote_ipis", VALUES(2, 4, 6, 8, 10)));
	struct compare_line line;
	char *text;

	(void)state;
	assert_int_equal(row(&both, 0)->verdict, VERDICT_SAME);
	compare_line__make(&line, row(&both, 0), SIDE_B);
	assert_string_equal(line.change, "~");
	assert_string_equal(line.verdict, "");
	text = print(&both, compare__print_csv);
	assert_contains(text, ",exact,no,\n");
	free(text);
	done(&both);
}

static void better_and_worse_follow_the_metrics_direction(void **state)
{
	static const struct {
		const char *metric;
		enum verdict more, less;
	} cases[] = {
		{ "remote_ipis", VERDICT_WORSE, VERDICT_BETTER },
		{ "pages_per_s", VERDICT_BETTER, VERDICT_WORSE },
		{ "pages_done", VERDICT_DIFFERS, VERDICT_DIFFERS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct both both = compare(with(cases[i].metric, VALUES(1, 2, 3, 4, 5)),
					   with(cases[i].metric, VALUES(11, 12, 13, 14, 15)));

		assert_int_equal(row(&both, 0)->verdict, cases[i].more);
		done(&both);
		both = compare(with(cases[i].metric, VALUES(11, 12, 13, 14, 15)),
			       with(cases[i].metric, VALUES(1, 2, 3, 4, 5)));
		assert_int_equal(row(&both, 0)->verdict, cases[i].less);
		done(&both);
	}
}

static void equal_medians_are_never_better_or_worse(void **state)
{
	struct both both;

	(void)state;
	both = compare(with("remote_ipis", VALUES(5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5)),
		       with("remote_ipis", VALUES(5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 9, 9, 9)));
	assert_true(row(&both, 0)->test.p <= 0.05);
	assert_int_equal(row(&both, 0)->verdict, VERDICT_DIFFERS);
	assert_true(row(&both, 0)->change.percent == 0);
	done(&both);
}

static void three_runs_are_said_to_show_nothing(void **state)
{
	struct both both = compare(with("remote_ipis", VALUES(1, 2, 3)),
				   with("remote_ipis", VALUES(11, 12, 13)));

	(void)state;
	assert_int_equal(row(&both, 0)->verdict, VERDICT_SAME);
	assert_warned(&both, CAUSE_FEW_RUNS, SIDES, "3 and 3 runs reach p 0.100 at best");
	done(&both);
	both = compare(with("remote_ipis", VALUES(1, 2, 3, 4)),
		       with("remote_ipis", VALUES(11, 12, 13, 14)));
	assert_int_equal(row(&both, 0)->verdict, VERDICT_WORSE);
	assert_null(find_warning(&both, CAUSE_FEW_RUNS));
	done(&both);
}

static void more_than_fifty_runs_are_marked_as_approximated(void **state)
{
	double values[51];
	struct both both;

	(void)state;
	for (size_t i = 0; i < 51; i++)
		values[i] = i;
	both = compare(with("remote_ipis", values, 51), with("remote_ipis", values, 51));
	assert_table_has(&both, "1.000n");
	assert_table_has(&both, "n after a p: by the normal approximation");
	done(&both);
	both = compare(with("remote_ipis", values, 50), with("remote_ipis", values, 50));
	assert_int_equal(row(&both, 0)->test.method, P_EXACT);
	done(&both);
}

static void fewer_than_six_runs_show_no_interval_and_say_so(void **state)
{
	struct both both = compare(with("remote_ipis", VALUES(1, 2, 3, 4, 5)),
				   with("remote_ipis", VALUES(1, 2, 3, 4, 5, 6)));
	json_t *json = print_json(&both), *low, *why;

	(void)state;
	assert_table_has(&both, "95% interval of the median:  A none  B 1 .. 6\n");
	assert_table_has(&both, "none with fewer than 6 runs");
	assert_int_equal(json_unpack(json, "{s:[{s:[{s:{s:n, s:o}, s:{s:{s:o}, s:n}}]}]}",
				     "workloads", "metrics", "a", "median_interval95",
				     "interval_absent", &why, "b", "median_interval95", "low", &low,
				     "interval_absent"),
			 0);
	assert_string_equal(json_string_value(why), "fewer than 6 runs");
	assert_int_equal(json_integer_value(low), 1);
	json_decref(json);
	done(&both);
}

/* Zero. */

static void zero_has_its_rules_in_every_format(void **state)
{
	struct both both = compare_files("tests/fixtures/results/zero-a.json",
					 "tests/fixtures/results/zero-b.json");
	char *text;

	(void)state;
	assert_true(row(&both, 0)->change.has_percent && row(&both, 0)->change.percent == 0);
	assert_false(row(&both, 1)->change.has_percent);
	assert_true(row(&both, 2)->change.percent == -100);
	assert_table_has(&both, "5         new  0.008  worse\n");
	assert_table_has(&both, "5    -100.00%  0.008  better\n");
	assert_table_has(&both, "5  -99.99999%  0.008  better\n");
	text = print(&both, compare__print_csv);
	assert_contains(text,
			"\nappears,reps=1,remote_ipis,count,lower,no,5,0,0,0,0,,,,5,7,7.6,7,9,,,,,"
			"new: the first side is 0,0.007936507936507936,exact,yes,worse\n");
	free(text);
	text = print(&both, compare__print_json);
	assert_contains(text, "\"change_percent\": null,\n          \"change_absent\": \"new: the "
			      "first side is 0\"");
	free(text);
	text = print(&both, compare__print_markdown);
	assert_contains(text, "| new | 0.008 | worse |\n");
	assert_contains(text, "| -100.00% | 0.008 | better |\n");
	free(text);
	done(&both);
}

static void no_format_ever_prints_nan_or_infinity(void **state)
{
	int (*const formats[])(const struct compare *,
			       FILE *) = { compare__print_table, compare__print_markdown,
					   compare__print_cover, compare__print_csv,
					   compare__print_json };
	struct both both =
		compare(with("elapsed_ms", VALUES(DBL_MIN, 0, DBL_MIN, DBL_MIN, DBL_MIN)),
			with("elapsed_ms", VALUES(DBL_MAX, -DBL_MAX, DBL_MAX, DBL_MAX, 1e300)));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text = print(&both, formats[i]);

		for (char *c = text; *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? *c + 32 : *c;
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, " inf"));
		assert_null(strstr(text, ",inf"));
		assert_null(strstr(text, "-inf"));
		free(text);
	}
	done(&both);
}

static void geometric_mean_uses_rows_positive_on_both_sides(void **state)
{
	struct both both = compare_files("tests/fixtures/results/zero-a.json",
					 "tests/fixtures/results/zero-b.json");
	const struct compare_geomean *geomean = both.compare->geomeans;

	(void)state;
	assert_int_equal(both.compare->n_geomeans, 1);
	assert_int_equal(geomean->rows, 4);
	assert_int_equal(geomean->used, 1);
	assert_true(fabs(geomean->change.percent + 99.99999) < 1e-9);
	assert_table_has(&both, "(1 of 4 workloads)");
	done(&both);
	both = compare(with("remote_ipis", VALUES(1)), with("remote_ipis", VALUES(1)));
	assert_int_equal(both.compare->n_geomeans, 0);
	done(&both);
}

static void geometric_mean_of_nothing_says_why(void **state)
{
	struct result *a = with("remote_ipis", VALUES(0)), *b = with("remote_ipis", VALUES(3));
	struct both both;
	json_t *json, *mean;

	(void)state;
	workload(a, "v", 1);
	run(a, "remote_ipis", 3);
	workload(b, "v", 1);
	run(b, "remote_ipis", 0);
	both = compare(a, b);
	assert_table_has(&both, "none: no workload has positive medians on both sides");
	json = print_json(&both);
	mean = json_array_get(json_object_get(json, "geometric_means"), 0);
	assert_true(json_is_null(json_object_get(mean, "a")));
	assert_true(json_is_null(json_object_get(mean, "change_percent")));
	assert_true(json_is_string(json_object_get(mean, "absent")));
	json_decref(json);
	done(&both);
}

/* Warnings. */

static void an_outlier_is_told_with_its_run(void **state)
{
	struct result *b = bare();
	struct both both;

	(void)state;
	workload(b, "w", 1);
	run_not_ok(b, RUN_EXCLUDED, "a CPU went");
	runs(b, "remote_ipis", VALUES(1000, 1002, 5000, 1001, 999));
	both = compare(with("remote_ipis", VALUES(1)), b);
	assert_warned(&both, CAUSE_OUTLIER, SIDE_B,
		      "run 3 is an outlier: 5,000, the median is 1,001");
	done(&both);
}

static void a_slow_first_run_is_told_once(void **state)
{
	struct both both = compare(with("pages_per_s", VALUES(50, 100, 101, 99, 100.5)),
				   with("elapsed_ms", VALUES(150, 100, 101, 99, 100.5)));

	(void)state;
	assert_warned(&both, CAUSE_SLOW_FIRST_RUN, SIDE_B, "150.0, the median is 100.5");
	assert_null(find_warning(&both, CAUSE_OUTLIER));
	done(&both);
	both = compare(with("pages_per_s", VALUES(50, 100, 101, 99, 100.5)), bare());
	assert_warned(&both, CAUSE_SLOW_FIRST_RUN, SIDE_A, "50.00, the median is 100.0");
	done(&both);
	/* Counts are not slow. */
	both = compare(with("remote_ipis", VALUES(150, 100, 101, 99, 100)), bare());
	assert_null(find_warning(&both, CAUSE_SLOW_FIRST_RUN));
	done(&both);
}

static void drift_is_told_with_its_direction(void **state)
{
	struct both both = compare(with("remote_ipis", VALUES(10, 20, 30, 40, 50)),
				   with("remote_ipis", VALUES(10, 30, 20, 50, 40)));

	(void)state;
	assert_warned(&both, CAUSE_DRIFT, SIDE_A,
		      "rises from run to run, by 40 in all (Mann-Kendall, exact p 0.017)");
	done(&both);
	both = compare(with("remote_ipis", VALUES(10, 30, 20, 50, 40)),
		       with("remote_ipis", VALUES(50, 40, 30, 20, 10)));
	assert_warned(&both, CAUSE_DRIFT, SIDE_B, "falls from run to run, by 40 in all");
	done(&both);
}

static struct result *pages(int asked, int done_first, int done_second)
{
	struct result *result = bare();

	workload(result, "w", asked);
	assert_int_equal(result__add_run(result, RUN_OK, NULL,
					 json_pack("{s:i, s:i}", "pages_asked", asked, "pages_done",
						   done_first),
					 NULL, NULL),
			 0);
	assert_int_equal(result__add_run(result, RUN_OK, NULL,
					 json_pack("{s:i, s:i}", "pages_asked", asked, "pages_done",
						   done_second),
					 NULL, NULL),
			 0);
	return result;
}

static void pages_that_were_not_verified_are_told(void **state)
{
	struct both both = compare(pages(1000, 950, 960), pages(1000, 900, 880));
	struct result *a;

	(void)state;
	assert_warned(&both, CAUSE_UNVERIFIED, SIDE_B,
		      "of 2,000 pages asked in all runs 1,780 were verified (89.0%)");
	done(&both);
	both = compare(pages(1000, 0, 960), pages(1000, 950, 960));
	assert_warned(&both, CAUSE_UNVERIFIED, SIDE_A,
		      "1 of 2 runs have no page that was verified");
	done(&both);
	a = pages(1000, 950, 960);
	run_not_ok(a, RUN_EXCLUDED, "a CPU went");
	both = compare(a, pages(1000, 950, 960));
	assert_null(find_warning(&both, CAUSE_UNVERIFIED));
	done(&both);
}

static void times_under_emulation_are_marked(void **state)
{
	struct result *a = result_on("7.3.4", "tcg,thread=single"), *b = bare();
	struct both both;
	char *text;

	(void)state;
	workload(a, "w", 1);
	run(a, "elapsed_ms", 5);
	workload(a, "v", 1);
	run(a, "remote_ipis", 5);
	both = compare(a, b);
	assert_true(row(&both, 0)->emulated);
	assert_false(row(&both, 1)->emulated);
	assert_warned(&both, CAUSE_EMULATED, SIDES, "indication only");
	assert_table_has(&both, "\nelapsed ms*");
	assert_table_has(&both, "\nremote IPIs ");
	assert_table_has(&both, "\n*: a time under emulation");
	text = print(&both, compare__print_csv);
	assert_contains(text, "elapsed_ms,ms,lower,yes,");
	assert_contains(text, "remote_ipis,count,lower,no,");
	free(text);
	done(&both);
	both = compare(with("elapsed_ms", VALUES(1)), with("elapsed_ms", VALUES(1)));
	assert_false(row(&both, 0)->emulated);
	assert_null(find_warning(&both, CAUSE_EMULATED));
	done(&both);
}

/* Environments. */

static struct result *in_environment(const char *text)
{
	json_t *environment = json_loads(text, 0, NULL);
	struct result *result;

	assert_non_null(environment);
	assert_int_equal(result__new(&result, environment), 0);
	return result;
}

static void every_leaf_that_differs_is_named_with_both_values(void **state)
{
	static const struct {
		const char *key, *a, *b;
	} want[] = {
		{ "cpu.online", "0-15", "0-7" },	{ "list", "[1,2]", "[1]" },
		{ "only_a", "1", "not recorded" },	{ "was_null", "not recorded", "x" },
		{ "now_object", "1", "{\"inner\":2}" }, { "only_b.inner", "not recorded", "true" },
	};
	struct both both = compare(
		in_environment("{\"cpu\":{\"online\":\"0-15\",\"model\":\"m\"},\"list\":[1,2],"
			       "\"only_a\":1,\"was_null\":null,\"now_object\":1,\"null\":null,"
			       "\"hostname\":\"x\",\"boot_id\":1,\"cgroup\":{\"path\":\"/a\"}}"),
		in_environment("{\"cpu\":{\"model\":\"m\",\"online\":\"0-7\"},\"list\":[1],"
			       "\"was_null\":\"x\",\"now_object\":{\"inner\":2},"
			       "\"hostname\":\"y\",\"boot_id\":2,\"cgroup\":{\"path\":\"/b\"},"
			       "\"only_b\":{\"inner\":true}}"));

	(void)state;
	assert_int_equal(both.compare->n_differences, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct compare_difference *got = &both.compare->differences[i];
		char *a = leaf__text(got->value[SIDE_A]), *b = leaf__text(got->value[SIDE_B]);

		assert_string_equal(got->key, want[i].key);
		assert_string_equal(a, want[i].a);
		assert_string_equal(b, want[i].b);
		free(a);
		free(b);
	}
	assert_table_has(&both, "  cpu.online\n    A  0-15\n    B  0-7\n");
	done(&both);
}

struct accelerators {
	const char *a, *b;
	bool allow;
};

static int compare_accelerators(void *arg)
{
	struct accelerators *accelerators = arg;
	struct compare_options options = headline_options();
	struct both both = { result_on("7", accelerators->a), result_on("7", accelerators->b),
			     NULL };
	int err;

	options.allow_different_accelerator = accelerators->allow;
	err = compare__make(&both.compare, both.a, both.b, &options);
	done(&both);
	return -err;
}

static void different_accelerators_are_refused_unless_allowed(void **state)
{
	struct accelerators cases[] = {
		{ "kvm", "tcg", false }, { "tcg", "tcg2", false },
		{ NULL, "kvm", false },	 { "kvm", "kvm", false },
		{ "kvm", "tcg", true },	 { "tcg,thread=single", "tcg", false },
		{ NULL, NULL, false },
	};
	struct child child;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		child__run(&child, compare_accelerators, &cases[i]);
		assert_int_equal(child__code(&child), i < 3 ? EXDEV : 0);
	}
	child__run(&child, compare_accelerators, &cases[0]);
	assert_contains(child.err, "a.json with b.json: the accelerators differ: kvm and tcg");
	assert_contains(child.err, "--allow-different-accelerator");
}

/* Formats. */

/* Counts fields as RFC 4180 reads them; each record must have as many as the first. */
static void assert_csv_is_regular(const char *text, size_t records)
{
	size_t fields = 1, want = 0, n = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '"')
			quoted = !quoted;
		else if (!quoted && *text == ',')
			fields++;
		else if (*text == '\n') {
			assert_false(quoted);
			want = want ? want : fields;
			assert_int_equal(fields, want);
			fields = 1;
			n++;
		}
	}
	assert_int_equal(fields, 1);
	assert_int_equal(n, records);
}

static void csv_is_one_record_per_workload_and_metric_and_nothing_else(void **state)
{
	struct both both = compare_files(BASE, PATCHED);
	size_t records = 1;
	char *text;

	(void)state;
	for (size_t i = 0; i < both.compare->n_workloads; i++)
		records +=
			both.compare->workloads[i].n_rows ? both.compare->workloads[i].n_rows : 1;
	text = print(&both, compare__print_csv);
	assert_csv_is_regular(text, records);
	free(text);
	done(&both);
}

/* What a name or a reason may hold, and no format may break on. */
#define NASTY "a,b|c\"d\ne`f<g>*h\x1b[2J"

static struct both nasty(void)
{
	struct result *a = result_on(NASTY, "none"), *b = bare();

	assert_int_equal(result__add_workload(a, NASTY, json_pack("{s:s}", "via", NASTY)), 0);
	run_without(a, "remote_ipis", NASTY);
	run_not_ok(a, RUN_EXCLUDED, NASTY);
	return compare(a, b);
}

static void csv_keeps_any_text_in_its_field(void **state)
{
	struct both both = nasty();
	char *text = print(&both, compare__print_csv);

	(void)state;
	assert_csv_is_regular(text, 2);
	assert_contains(text, "\n\"a,b|c\"\"d e`f<g>*h [2J\",\"via=a,b|c\"\"d e`f<g>*h [2J\",");
	free(text);
	done(&both);
}

/* Cells of each table as GFM counts them: by pipes that are not escaped. */
static void assert_tables_are_regular(const char *text)
{
	size_t width = 0, tables = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t pipes = 0;

		if (*line != '|') {
			width = 0;
			continue;
		}
		for (const char *c = line; *c != '\n'; c++) {
			assert_int_not_equal(*c, '\0');
			pipes += *c == '|' && (c == text || c[-1] != '\\');
		}
		assert_int_equal(line[strcspn(line, "\n") - 1], '|');
		tables += !width;
		width = width ? width : pipes;
		assert_int_equal(pipes, width);
	}
	assert_true(tables > 0);
}

static void markdown_tables_are_regular_and_text_marks_nothing_up(void **state)
{
	struct both both = compare_files(BASE, PATCHED);
	char *text = print(&both, compare__print_markdown);

	(void)state;
	assert_tables_are_regular(text);
	free(text);
	done(&both);
	both = nasty();
	text = print(&both, compare__print_markdown);
	assert_tables_are_regular(text);
	assert_contains(text, "### a,b\\|c\"d e\\`f\\<g\\>\\*h \\[2J\n");
	free(text);
	done(&both);
}

/* Its lines are as long as each other: it is read as plain text too. */
static void assert_columns_line_up(const char *table)
{
	size_t width = strcspn(table, "\n");

	for (; *table == '|'; table += width + 1) {
		assert_int_equal(strcspn(table, "\n"), width);
		assert_int_equal(table[width - 1], '|');
	}
}

static struct result *on_machine(const char *online, const char *model, const char *accelerator)
{
	struct result *result;

	assert_int_equal(result__new(&result, json_pack("{s:{s:s, s:s}, s:{s:s}}", "cpu", "online",
							online, "model", model, "machine",
							"accelerator", accelerator)),
			 0);
	workload(result, "pageout", 4096);
	return result;
}

static void a_cover_letter_has_means_with_their_runs(void **state)
{
	struct result *a = on_machine("0-15", "QEMU", "tcg,thread=single");
	struct result *b = on_machine("0-15", "QEMU", "tcg,thread=single");
	struct both both;
	char *text;

	(void)state;
	/* The means are 400 and 20, the medians 100 and 10. */
	runs(a, "remote_ipis", VALUES(100, 100, 100, 1300));
	runs(b, "remote_ipis", VALUES(10, 10, 10, 50));
	workload(a, "still", 2);
	runs(a, "elapsed_ms", VALUES(1, 2, 3, 4));
	workload(b, "still", 2);
	runs(b, "elapsed_ms", VALUES(1, 2, 3, 5));
	both = compare(a, b);
	text = print(&both, compare__print_cover);
	assert_contains(text, "| test                | platform           | metric      |");
	assert_contains(text, "| pageout, 4096 pages | 16-CPU guest (tcg) | remote IPIs | "
			      "  400 (n=4) |    20 (n=4) |   -95.00% |\n");
	assert_contains(text, "| still, 2 pages      | 16-CPU guest (tcg) | elapsed ms* | "
			      "2.500 (n=4) | 2.750 (n=4) | +10.00% ~ |\n");
	assert_contains(text, "Times marked * are of emulated CPUs");
	assert_columns_line_up(text);
	free(text);
	done(&both);
}

static void a_cover_letter_names_the_machines(void **state)
{
	struct result *a = on_machine("0-111", "Xeon", "none"),
		      *b = on_machine("0,2", "Xeon", "none");
	struct both both;
	char *text;

	(void)state;
	run(a, "remote_ipis", 0);
	run(b, "remote_ipis", 3);
	both = compare(a, b);
	text = print(&both, compare__print_cover);
	assert_contains(text, "| 112-CPU Xeon / 2-CPU Xeon |");
	assert_contains(text, "|  new ~ |\n");
	assert_null(strstr(text, "emulated"));
	free(text);
	done(&both);
	both = compare_files(BASE, PATCHED);
	text = print(&both, compare__print_cover);
	assert_columns_line_up(text);
	assert_contains(text, "| pageout, 4096 pages (via=memcg) ");
	free(text);
	done(&both);
	both = nasty();
	text = print(&both, compare__print_cover);
	assert_columns_line_up(text);
	assert_tables_are_regular(text);
	free(text);
	done(&both);
}

static void the_table_lets_no_text_move_the_cursor(void **state)
{
	struct both both = nasty();
	char *text = print(&both, compare__print_table);

	(void)state;
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (unsigned char)*c >= ' ');
	assert_contains(text, "none: a,b|c\"d?e`f");
	free(text);
	done(&both);
}

static void json_holds_every_value_and_a_reason_for_every_null(void **state)
{
	struct both both = compare_files(BASE, PATCHED);
	json_t *json = print_json(&both);
	json_t *all = json_object_get(json, "workloads"), *workload_json, *metric;
	size_t i, j;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json, "schema")),
			    "tlbbench-compare/1");
	assert_int_equal(json_array_size(all), 5);
	json_array_foreach (all, i, workload_json) {
		json_array_foreach (json_object_get(workload_json, "metrics"), j, metric) {
			json_t *a = json_object_get(metric, "a");

			assert_int_equal(json_is_null(json_object_get(metric, "change_percent")),
					 json_is_string(json_object_get(metric, "change_absent")));
			assert_int_equal(json_is_null(json_object_get(a, "median")),
					 json_is_string(json_object_get(a, "absent")));
			assert_int_equal(json_array_size(json_object_get(a, "values")),
					 json_integer_value(json_object_get(a, "n")));
		}
	}
	/* Counts stay integers. */
	metric = json_array_get(json_object_get(json_array_get(all, 0), "metrics"), 0);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(metric, "b"), "max")),
			 103);
	assert_int_equal(json_array_size(json_object_get(json, "warnings")),
			 both.compare->n_warnings);
	assert_int_equal(json_array_size(json_object_get(json, "environment_differences")), 2);
	json_decref(json);
	done(&both);
}

static void a_file_name_that_is_no_utf8_breaks_no_json(void **state)
{
	struct compare_options options = headline_options();
	struct both both = { bare(), bare(), NULL };
	json_t *json;

	(void)state;
	options.file[SIDE_A] = "\xff.json";
	assert_int_equal(compare__make(&both.compare, both.a, both.b, &options), 0);
	json = print_json(&both);
	json_decref(json);
	done(&both);
}

/* The figures of the largest machine of the published tables. */
static void the_table_stays_under_a_hundred_columns(void **state)
{
	struct both both =
		compare(with("kernel_tlb_interrupts",
			     VALUES(41859670, 41859671, 41859672, 41859673, 41859674, 41859675)),
			with("kernel_tlb_interrupts", VALUES(119, 120, 121, 122, 123, 124)));
	char *text = print(&both, compare__print_table);

	(void)state;
	assert_contains(text, "41,859,672.5");
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 0, 99);
	free(text);
	done(&both);
}

static void the_columns_of_the_table_line_up(void **state)
{
	struct both both =
		compare(with("remote_ipis", VALUES(-41859675, 1, 2, 3, 4, 55555)),
			with("remote_ipis", VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 1234567890)));
	char *text = print(&both, compare__print_table);
	const char *heading = strstr(text, "\nmetric");
	const char *a = strstr(text, "\nremote IPIs"), *b;
	size_t column;

	(void)state;
	assert_non_null(heading);
	assert_non_null(a);
	column = strstr(heading, "  n ") + 2 - heading;
	b = strchr(a + 1, '\n');
	assert_memory_equal(a + column - 1, " 6\n", 3);
	assert_memory_equal(b + column - 1, "10 ", 3);
	free(text);
	done(&both);
}

static void metrics_are_shown_in_the_order_they_were_named_even_if_unmeasured(void **state)
{
	const struct metric *chosen[] = { metric__find("useful"), metric__find("remote_ipis") };
	struct compare_options options = {
		{ "a", "b" }, .metrics = chosen, .n_metrics = 2, .named = true
	};
	struct both both = { with("remote_ipis", VALUES(1)), with("remote_ipis", VALUES(1)), NULL };
	const struct compare_workload *only;

	(void)state;
	assert_int_equal(compare__make(&both.compare, both.a, both.b, &options), 0);
	only = both.compare->workloads;
	assert_int_equal(only->n_rows, 2);
	assert_string_equal(only->rows[0].metric->name, "useful");
	assert_string_equal(only->rows[0].cell[SIDE_A].why, "not measured");
	compare__free(both.compare);
	options.named = false;
	assert_int_equal(compare__make(&both.compare, both.a, both.b, &options), 0);
	assert_int_equal(both.compare->workloads->n_rows, 1);
	done(&both);
}

static void numbers_are_grouped_and_keep_four_digits(void **state)
{
	static const struct {
		const char *metric;
		double value;
		const char *want;
	} cases[] = {
		{ "remote_ipis", 0, "0" },
		{ "remote_ipis", -0.0, "0" },
		{ "remote_ipis", 999, "999" },
		{ "remote_ipis", 1000, "1,000" },
		{ "remote_ipis", -1234567, "-1,234,567" },
		{ "remote_ipis", -123, "-123" },
		{ "remote_ipis", 56912.5, "56,912.5" },
		{ "remote_ipis", 1e18, "1e+18" },
		{ "elapsed_ms", 1229, "1,229.0" },
		{ "elapsed_ms", 12.345, "12.35" },
		{ "elapsed_ms", 1.5, "1.500" },
		{ "elapsed_ms", 0.012345, "0.01235" },
		{ "elapsed_ms", 1e-9, "1e-09" },
	};
	char text[NUMBER_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		number__format(text, metric__find(cases[i].metric), cases[i].value);
		assert_string_equal(text, cases[i].want);
	}
}

static void a_change_is_signed_and_never_claims_what_is_not_so(void **state)
{
	static const struct {
		double from, to;
		const char *want;
	} cases[] = {
		{ 0, 0, "0.00%" },	    { 4, 4, "0.00%" },
		{ 200, 250, "+25.00%" },    { 9092156, 191, "-99.998%" },
		{ 1, 0, "-100.00%" },	    { 0, 1, "new" },
		{ 100, 100.001, "+0.00%" }, { 1e-300, 1e300, "n/a" },
		{ 1, 1e12, "+1e+14%" },
	};
	char text[NUMBER_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct change change = change__make(cases[i].from, cases[i].to);

		change__format(text, &change);
		assert_string_equal(text, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workloads_are_joined_by_name_and_parameters),
		cmocka_unit_test(a_workload_of_one_side_is_shown_as_such),
		cmocka_unit_test(unsupported_no_work_absent_and_zero_are_four_things),
		cmocka_unit_test(a_workload_neither_side_could_run_is_still_in_every_format),
		cmocka_unit_test(runs_that_are_not_ok_do_not_count),
		cmocka_unit_test(a_value_that_some_runs_lack_is_told),
		cmocka_unit_test(what_is_not_significant_is_a_tilde),
		cmocka_unit_test(better_and_worse_follow_the_metrics_direction),
		cmocka_unit_test(equal_medians_are_never_better_or_worse),
		cmocka_unit_test(three_runs_are_said_to_show_nothing),
		cmocka_unit_test(more_than_fifty_runs_are_marked_as_approximated),
		cmocka_unit_test(fewer_than_six_runs_show_no_interval_and_say_so),
		cmocka_unit_test(zero_has_its_rules_in_every_format),
		cmocka_unit_test(no_format_ever_prints_nan_or_infinity),
		cmocka_unit_test(geometric_mean_uses_rows_positive_on_both_sides),
		cmocka_unit_test(geometric_mean_of_nothing_says_why),
		cmocka_unit_test(an_outlier_is_told_with_its_run),
		cmocka_unit_test(a_slow_first_run_is_told_once),
		cmocka_unit_test(drift_is_told_with_its_direction),
		cmocka_unit_test(pages_that_were_not_verified_are_told),
		cmocka_unit_test(times_under_emulation_are_marked),
		cmocka_unit_test(every_leaf_that_differs_is_named_with_both_values),
		cmocka_unit_test(different_accelerators_are_refused_unless_allowed),
		cmocka_unit_test(csv_is_one_record_per_workload_and_metric_and_nothing_else),
		cmocka_unit_test(csv_keeps_any_text_in_its_field),
		cmocka_unit_test(markdown_tables_are_regular_and_text_marks_nothing_up),
		cmocka_unit_test(a_cover_letter_has_means_with_their_runs),
		cmocka_unit_test(a_cover_letter_names_the_machines),
		cmocka_unit_test(the_table_lets_no_text_move_the_cursor),
		cmocka_unit_test(json_holds_every_value_and_a_reason_for_every_null),
		cmocka_unit_test(a_file_name_that_is_no_utf8_breaks_no_json),
		cmocka_unit_test(the_table_stays_under_a_hundred_columns),
		cmocka_unit_test(the_columns_of_the_table_line_up),
		cmocka_unit_test(metrics_are_shown_in_the_order_they_were_named_even_if_unmeasured),
		cmocka_unit_test(numbers_are_grouped_and_keep_four_digits),
		cmocka_unit_test(a_change_is_signed_and_never_claims_what_is_not_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
