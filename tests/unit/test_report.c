/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "observer_internal.h"

/* Large structures, made anew for each test. */
struct fixture {
	struct observer observer;
	struct snapshot before, after;
	struct report report;
};

static int make_fixture(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int free_fixture(void **state)
{
	free(*state);
	return 0;
}

static void make_report(struct fixture *fixture)
{
	report__make(&fixture->report, &fixture->observer, &fixture->before, &fixture->after);
}

static void set_kernel_row(struct snapshot *snapshot, unsigned int cpu, uint64_t count)
{
	snapshot->kernel_seen = true;
	cpus__add(&snapshot->kernel.present, cpu);
	snapshot->kernel.count[cpu] = count;
}

static void difference_is_handled_minus_the_kernels_row(void **state)
{
	struct fixture *f = *state;
	int64_t difference;

	f->before.cell[CELL_handled + HANDLED_BATCH] = 100;
	f->after.cell[CELL_handled + HANDLED_BATCH] = 160;
	f->after.cell[CELL_handled + HANDLED_MM_RANGE] = 5;
	f->after.cell[CELL_handled + HANDLED_KERNEL] = 1000; /* has no row */
	set_kernel_row(&f->before, 3, 7);
	set_kernel_row(&f->after, 3, 70);
	make_report(f);
	assert_true(report__difference(&f->report, &difference));
	assert_int_equal(difference, 65 - 63);
}

static void no_row_means_no_difference(void **state)
{
	struct fixture *f = *state;
	int64_t difference;

	make_report(f);
	assert_false(report__difference(&f->report, &difference));
}

static void a_cpu_that_left_makes_the_truth_incomplete(void **state)
{
	struct fixture *f = *state;

	set_kernel_row(&f->before, 0, 7);
	set_kernel_row(&f->before, 1, 7);
	set_kernel_row(&f->after, 0, 9);
	make_report(f);
	assert_true(f->report.cpu_gone);
	assert_int_equal(f->report.kernel_interrupts, 2);
}

static void unsupported_counter_is_null_in_json_with_its_reason(void **state)
{
	struct fixture *f = *state;
	json_t *json, *funnel, *reason;

	f->observer.probes.gone[CELL_ipis_sent] = "no tracepoint";
	f->after.cell[CELL_ipis_sent] = 5;
	make_report(f);
	json = report__json(&f->report);
	funnel = json_object_get(json, "funnel");
	reason = json_object_get(json_object_get(json, "unsupported"), "ipis_sent");
	assert_true(json_is_null(json_object_get(funnel, "ipis_sent")));
	assert_string_equal(json_string_value(reason), "no tracepoint");
	json_decref(json);
}

static void unsupported_counter_is_an_empty_field_in_csv(void **state)
{
	struct fixture *f = *state;
	char *header = NULL, *row = NULL, *p;
	size_t header_len, row_len;
	int columns = 0, fields = 0;
	FILE *stream;

	for (int cell = 0; cell < CELL_COUNT; cell++)
		f->observer.probes.gone[cell] = "refused";
	make_report(f);
	stream = open_memstream(&header, &header_len);
	report__csv_header(&f->report, false, stream);
	fclose(stream);
	stream = open_memstream(&row, &row_len);
	report__csv_row(&f->report, NULL, stream);
	fclose(stream);
	for (p = header; *p; p++)
		columns += *p == ',';
	for (p = row; *p; p++)
		fields += *p == ',';
	assert_int_equal(columns, fields);
	/* Seconds and missed_runs are the only numbers. */
	assert_non_null(strstr(row, ",,,,"));
	assert_null(strpbrk(strchr(row, ',') + 1, "123456789"));
	free(header);
	free(row);
}

static void percentile_of_one_bucket_stays_within_it(void **state)
{
	struct fixture *f = *state;
	double p50, p99;

	f->after.cell[CELL_duration + 11] = 100; /* 1024 to 2047 ns */
	make_report(f);
	assert_true(report__percentile(&f->report, COUNTER_duration, 0.5, &p50));
	assert_true(report__percentile(&f->report, COUNTER_duration, 0.99, &p99));
	assert_true(p50 >= 1024 && p50 < p99 && p99 <= 2048);
}

static void percentile_finds_the_bucket_of_the_rank(void **state)
{
	struct fixture *f = *state;
	double value;

	f->after.cell[CELL_duration + 5] = 98; /* 16 to 31 */
	f->after.cell[CELL_duration + 20] = 2; /* 524288 and more */
	make_report(f);
	report__percentile(&f->report, COUNTER_duration, 0.97, &value);
	assert_true(value >= 16 && value <= 32);
	report__percentile(&f->report, COUNTER_duration, 0.99, &value);
	assert_true(value >= 524288);
}

static void empty_histogram_has_no_percentile(void **state)
{
	struct fixture *f = *state;
	double value = -1;

	make_report(f);
	assert_false(report__percentile(&f->report, COUNTER_duration, 0.5, &value));
	assert_true(value == -1);
}

static void every_requested_cpu_is_accounted_for(void **state)
{
	struct fixture *f = *state;
	uint64_t *cell = f->after.cell;

	cell[CELL_requested_cpus + PATH_MM_RANGE] = 160;
	cell[CELL_self_cpus + PATH_MM_RANGE] = 10;
	cell[CELL_filtered_cpus + FILTER_LAZY] = 50;
	cell[CELL_filtered_cpus + FILTER_NOT_LOADED] = 25;
	cell[CELL_filtered_cpus + FILTER_PREEMPTED_VCPU] = 5;
	cell[CELL_asked_cpus + PATH_MM_RANGE] = 68;
	make_report(f);
	assert_int_equal(report__unaccounted(&f->report, PATH_MM_RANGE), 2);
	assert_int_equal(report__unaccounted(&f->report, PATH_BATCH), 0);
}

/* The sums as bpf/shootdown.bpf.c makes them, from lists of lazy and stale CPUs per flush. */
static void set_sample(struct fixture *f, const int *lazy, const int *stale, int flushes)
{
	uint64_t *sum = &f->after.cell[CELL_sampled + PATH_MM_RANGE * SAMPLE_COUNT];

	for (int i = 0; i < flushes; i++) {
		sum[SAMPLE_FLUSHES]++;
		sum[SAMPLE_CPUS] += 15;
		sum[SAMPLE_LAZY] += lazy[i];
		sum[SAMPLE_STALE] += stale[i];
		sum[SAMPLE_LAZY_SQ] += lazy[i] * lazy[i];
		sum[SAMPLE_STALE_SQ] += stale[i] * stale[i];
		sum[SAMPLE_LAZY_STALE] += lazy[i] * stale[i];
	}
}

/* 400 flushes of 3 lazy and 1 stale: the share is 3/4, and 3 in 400 others may be unlike them. */
static void estimate_splits_what_is_known_to_be_left_out(void **state)
{
	struct fixture *f = *state;
	int lazy[400], stale[400];
	struct estimate estimate;

	for (int i = 0; i < 400; i++) {
		lazy[i] = 3;
		stale[i] = 1;
	}
	set_sample(f, lazy, stale, 400);
	f->after.cell[CELL_requested_cpus + PATH_MM_RANGE] = 1000;
	f->after.cell[CELL_asked_cpus + PATH_MM_RANGE] = 200;
	make_report(f);
	assert_true(report__estimate(&f->report, PATH_MM_RANGE, FILTER_LAZY, &estimate));
	assert_int_equal(estimate.n, 400);
	assert_float_equal(estimate.value, 600, 1e-9);
	assert_float_equal(estimate.low, 600 - 6, 1e-6);
	assert_float_equal(estimate.high, 600 + 6, 1e-6);
	assert_true(report__estimate(&f->report, PATH_MM_RANGE, FILTER_NOT_LOADED, &estimate));
	assert_float_equal(estimate.value, 200, 1e-9);
}

/*
 * By hand: lazy 4, 0 and stale 0, 4: the share is 1/2, the residuals are 2 and -2, their squares
 * sum to 8; 1.96 * sqrt(8 * 2 / 1) / 8 = 0.98.
 */
static void estimate_of_flushes_that_differ_has_a_wide_interval(void **state)
{
	struct fixture *f = *state;
	const int lazy[] = { 4, 0 }, stale[] = { 0, 4 };
	struct estimate estimate;

	set_sample(f, lazy, stale, 2);
	f->after.cell[CELL_requested_cpus + PATH_MM_RANGE] = 1000;
	make_report(f);
	assert_true(report__estimate(&f->report, PATH_MM_RANGE, FILTER_LAZY, &estimate));
	assert_float_equal(estimate.value, 500, 1e-9);
	assert_float_equal(estimate.low, 0, 1e-9);
	assert_float_equal(estimate.high, 1000, 1e-9);
}

static void one_sampled_flush_says_nothing_of_the_others(void **state)
{
	struct fixture *f = *state;
	const int lazy[] = { 4 }, stale[] = { 4 };
	struct estimate estimate;

	set_sample(f, lazy, stale, 1);
	f->after.cell[CELL_requested_cpus + PATH_MM_RANGE] = 1000;
	make_report(f);
	assert_true(report__estimate(&f->report, PATH_MM_RANGE, FILTER_LAZY, &estimate));
	assert_float_equal(estimate.low, 0, 1e-9);
	assert_float_equal(estimate.high, 1000, 1e-9);
}

static void no_sample_is_no_estimate(void **state)
{
	struct fixture *f = *state;
	struct estimate estimate;

	f->after.cell[CELL_requested_cpus + PATH_MM_RANGE] = 1000;
	make_report(f);
	assert_false(report__estimate(&f->report, PATH_MM_RANGE, FILTER_LAZY, &estimate));
}

/* What the batch filter took out is no longer there to be lazy or stale. */
static void batch_filter_is_a_stage_of_its_own(void **state)
{
	struct fixture *f = *state;
	uint64_t *sum = &f->after.cell[CELL_sampled + PATH_BATCH * SAMPLE_COUNT];
	uint64_t *filtered = &f->after.cell[CELL_filtered_cpus + PATH_BATCH * FILTER_COUNT];
	struct estimate estimate;

	f->after.cell[CELL_requested_cpus + PATH_BATCH] = 1000;
	f->after.cell[CELL_self_cpus + PATH_BATCH] = 100;
	f->after.cell[CELL_asked_cpus + PATH_BATCH] = 150;
	filtered[FILTER_BATCH_FILTER] = 700;
	filtered[FILTER_LAZY] = 50;
	make_report(f);
	assert_int_equal(report__unaccounted(&f->report, PATH_BATCH), 0);
	sum[SAMPLE_FLUSHES] = 1;
	sum[SAMPLE_LAZY] = 5;
	make_report(f);
	assert_true(report__estimate(&f->report, PATH_BATCH, FILTER_LAZY, &estimate));
	assert_float_equal(estimate.value, 50, 1e-9);
}

static char *printed(const struct report *report)
{
	char *text = NULL;
	size_t len;
	FILE *stream = open_memstream(&text, &len);

	report__print(report, stream);
	fclose(stream);
	return text;
}

static void no_batch_filter_is_told_and_is_no_zero(void **state)
{
	struct fixture *f = *state;
	unsigned int cell = CELL_filtered_cpus + PATH_BATCH * FILTER_COUNT + FILTER_BATCH_FILTER;
	json_t *json, *batch;
	char *text;

	f->observer.probes.gone[cell] = no_batch_filter;
	f->after.cell[CELL_requested_cpus + PATH_BATCH] = 16;
	f->after.cell[CELL_asked_cpus + PATH_BATCH] = 10;
	make_report(f);
	/* It does not hide what else is amiss. */
	assert_int_equal(report__unaccounted(&f->report, PATH_BATCH), 6);
	json = report__json(&f->report);
	batch = json_object_get(json_object_get(json_object_get(json, "funnel"), "filtered_cpus"),
				"batch");
	assert_true(json_is_null(json_object_get(batch, "batch_filter")));
	assert_string_equal(json_string_value(json_object_get(json_object_get(json, "unsupported"),
							      "filtered_cpus")),
			    no_batch_filter);
	json_decref(json);
	text = printed(&f->report);
	assert_non_null(strstr(text, "n/a: filtered_cpus (in part): this kernel does not filter"));
	free(text);
}

static void lists_of_a_batch_are_printed_by_their_length(void **state)
{
	struct fixture *f = *state;
	char *text;

	f->after.cell[CELL_batch_mms] = 7;
	f->after.cell[CELL_batch_mms + MMS_OVERFLOW] = 3;
	make_report(f);
	text = printed(&f->report);
	assert_non_null(strstr(text, "address spaces per batch    1: 7 overflow: 3\n"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(difference_is_handled_minus_the_kernels_row),
		TEST(no_row_means_no_difference),
		TEST(a_cpu_that_left_makes_the_truth_incomplete),
		TEST(unsupported_counter_is_null_in_json_with_its_reason),
		TEST(unsupported_counter_is_an_empty_field_in_csv),
		TEST(percentile_of_one_bucket_stays_within_it),
		TEST(percentile_finds_the_bucket_of_the_rank),
		TEST(empty_histogram_has_no_percentile),
		TEST(every_requested_cpu_is_accounted_for),
		TEST(estimate_splits_what_is_known_to_be_left_out),
		TEST(estimate_of_flushes_that_differ_has_a_wide_interval),
		TEST(one_sampled_flush_says_nothing_of_the_others),
		TEST(no_sample_is_no_estimate),
		TEST(batch_filter_is_a_stage_of_its_own),
		TEST(no_batch_filter_is_told_and_is_no_zero),
		TEST(lists_of_a_batch_are_printed_by_their_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
