/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stats.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g +- %g", got, want, tolerance);
}

static struct summary summary(const double *values, size_t n)
{
	struct summary out;

	assert_int_equal(summary__make(&out, values, n), 0);
	return out;
}

static struct mann_whitney exact(const double *a, size_t na, const double *b, size_t nb)
{
	struct mann_whitney out;

	assert_int_equal(mann_whitney__exact(&out, a, na, b, nb), 0);
	assert_int_equal(out.method, P_EXACT);
	return out;
}

static struct drift drift(const double *values, size_t n)
{
	struct drift out;

	assert_int_equal(drift__test(&out, values, n), 0);
	return out;
}

static void median_of_an_odd_number_is_the_middle_value(void **state)
{
	(void)state;
	assert_true(summary((double[]){ 7 }, 1).median == 7);
	assert_true(summary((double[]){ 9, 1, 5 }, 3).median == 5);
	assert_true(summary((double[]){ 100, 2, 3, 1, 50 }, 5).median == 3);
}

static void median_of_an_even_number_is_between_the_middle_values(void **state)
{
	(void)state;
	assert_true(summary((double[]){ 1, 4 }, 2).median == 2.5);
	assert_true(summary((double[]){ 10, 1, 3, 2 }, 4).median == 2.5);
}

static void summary_tells_mean_and_extremes_and_leaves_the_order_alone(void **state)
{
	double values[] = { 4, -2, 10, 0 };
	struct summary out = summary(values, 4);

	(void)state;
	assert_int_equal(out.n, 4);
	assert_true(out.mean == 3 && out.min == -2 && out.max == 10);
	assert_true(values[0] == 4 && values[3] == 0);
}

static void summary_of_huge_values_stays_finite(void **state)
{
	struct summary out = summary((double[]){ DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX }, 4);

	(void)state;
	assert_true(out.mean == DBL_MAX && out.median == DBL_MAX);
}

static void nothing_and_values_that_are_not_finite_are_refused(void **state)
{
	struct mann_whitney test;
	struct summary out;
	struct drift trend;
	double bad[] = { 1, NAN, 2 }, good[] = { 1, 2, 3 };

	(void)state;
	assert_int_equal(summary__make(&out, NULL, 0), -EINVAL);
	assert_int_equal(summary__make(&out, bad, 3), -EINVAL);
	assert_int_equal(summary__make(&out, (double[]){ INFINITY }, 1), -EINVAL);
	assert_int_equal(mann_whitney__test(&test, good, 0, good, 3), -EINVAL);
	assert_int_equal(mann_whitney__test(&test, good, 3, bad, 3), -EINVAL);
	assert_int_equal(drift__test(&trend, bad, 3), -EINVAL);
}

static void fewer_than_six_runs_have_no_interval(void **state)
{
	double values[] = { 1, 2, 3, 4, 5 };

	(void)state;
	for (size_t n = 1; n <= 5; n++)
		assert_false(summary(values, n).has_interval);
}

/*
 * The ranks for the 95% interval of a median as tabulated by W. J. Conover, Practical Nonparametric
 * Statistics, and many others: n = 6..8: 1 and n; 9..11: 2 and n-1; 12..14: 3; 15..16: 4; 17..19:
 * 5; 20..22: 6; 25: 8. Coverage for n = 6 is 1 - 2/64, for n = 10 it is 1 - 22/1024.
 */
static void interval_uses_the_tabulated_order_statistics(void **state)
{
	static const struct {
		size_t n, rank;
	} table[] = {
		{ 6, 1 },  { 8, 1 },  { 9, 2 },	 { 11, 2 }, { 12, 3 }, { 14, 3 }, { 15, 4 },
		{ 16, 4 }, { 17, 5 }, { 19, 5 }, { 20, 6 }, { 22, 6 }, { 25, 8 },
	};
	double values[25];

	(void)state;
	for (size_t i = 0; i < LEN(values); i++)
		values[i] = i + 1;
	for (size_t i = 0; i < LEN(table); i++) {
		struct summary out = summary(values, table[i].n);

		assert_true(out.has_interval);
		assert_true(out.low == table[i].rank);
		assert_true(out.high == table[i].n + 1 - table[i].rank);
		assert_true(out.coverage >= 0.95);
	}
	assert_near(summary(values, 6).coverage, 1 - 2.0 / 64, 1e-12);
	assert_near(summary(values, 10).coverage, 1 - 22.0 / 1024, 1e-12);
}

static void interval_of_very_many_runs_is_found(void **state)
{
	size_t n = 20000;
	double *values = malloc(n * sizeof(*values));
	struct summary out;

	(void)state;
	for (size_t i = 0; i < n; i++)
		values[i] = i;
	out = summary(values, n);
	free(values);
	/* Normal approximation: n/2 -+ 1.96 * sqrt(n)/2 = 10000 -+ 138.6 */
	assert_near(out.low, 10000 - 138.6, 2);
	assert_near(out.high, 10000 + 138.6, 2);
}

/* Statistics of complete separation: 2 / (2n choose n). */
static void smallest_p_of_three_four_and_five_runs(void **state)
{
	double low[] = { 1, 2, 3, 4, 5 }, high[] = { 11, 12, 13, 14, 15 };
	static const double want[] = { 2.0 / 20, 2.0 / 70, 2.0 / 252 };

	(void)state;
	for (size_t n = 3; n <= 5; n++) {
		assert_near(exact(low, n, high, n).p, want[n - 3], 1e-12);
		assert_near(exact(high, n, low, n).p, want[n - 3], 1e-12);
		assert_near(mann_whitney__smallest_p(n, n), want[n - 3], 1e-12);
	}
	assert_near(mann_whitney__smallest_p(1, 1), 1, 0);
	assert_near(mann_whitney__smallest_p(3, 5), 2.0 / 56, 1e-12);
}

/* Samples without ties whose U is @u: the values of the first are ranks, pushed up one by one. */
static void sample_with_u(size_t na, size_t nb, size_t u, double *a, double *b)
{
	size_t next = 0;

	for (size_t i = 0; i < na; i++)
		a[i] = i;
	for (size_t i = na; i-- > 0 && u;) {
		size_t push = u < nb ? u : nb;

		a[i] += push;
		u -= push;
	}
	for (size_t rank = 0, i = 0; rank < na + nb; rank++) {
		if (i < na && a[i] == rank)
			i++;
		else
			b[next++] = rank;
	}
}

/*
 * Two-sided critical values of U at 0.05 (Mann and Whitney 1947; Siegel, Nonparametric Statistics,
 * table K; H. B. Mann's table in most textbooks): the largest U that is significant.
 */
static void critical_values_of_u_agree_with_the_published_table(void **state)
{
	static const struct {
		size_t na, nb, u;
	} table[] = {
		{ 4, 4, 0 },	{ 5, 5, 2 },	{ 5, 8, 6 },	 { 6, 6, 5 },
		{ 7, 9, 12 },	{ 8, 8, 13 },	{ 10, 10, 23 },	 { 5, 20, 20 },
		{ 12, 12, 37 }, { 15, 15, 64 }, { 19, 20, 119 }, { 20, 20, 127 },
	};
	double a[20], b[20];

	(void)state;
	for (size_t i = 0; i < LEN(table); i++) {
		struct mann_whitney test;

		sample_with_u(table[i].na, table[i].nb, table[i].u, a, b);
		test = exact(a, table[i].na, b, table[i].nb);
		assert_true(test.u == table[i].u);
		assert_true(test.p <= 0.05);
		sample_with_u(table[i].na, table[i].nb, table[i].u + 1, a, b);
		test = exact(a, table[i].na, b, table[i].nb);
		assert_true(test.u == table[i].u + 1);
		assert_true(test.p > 0.05);
	}
}

/*
 * Hollander and Wolfe (1973), p. 69: permeability constants of the chorioamnion. R prints for
 * wilcox.test(x, y, alternative = "g"): W = 35, p-value = 0.1272; without ties the two-sided p is
 * twice that.
 */
static void published_example_without_ties(void **state)
{
	static const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	static const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct mann_whitney test = exact(x, LEN(x), y, LEN(y));

	(void)state;
	assert_true(test.u == 35);
	assert_near(test.p, 2 * 0.1272, 2e-4);
}

/*
 * R's data set airquality, ozone in May and in August. The help page of wilcox.test prints
 * W = 127.5, p-value = 0.0001208 (normal, with the corrections for ties and continuity).
 */
static void published_example_with_ties_by_the_normal_approximation(void **state)
{
	static const double may[] = { 41, 36, 12, 18, 28, 23, 19, 8, 7,	 16, 11, 14,  18,
				      14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37 };
	static const double august[] = { 39, 9,	 16, 78, 35, 66, 122, 89,  110, 44, 28,	 65, 22,
					 59, 23, 31, 44, 21, 9,	 45,  168, 73,	76, 118, 84, 85 };
	struct mann_whitney normal, counted;

	(void)state;
	assert_int_equal(mann_whitney__normal(&normal, may, LEN(may), august, LEN(august)), 0);
	assert_int_equal(normal.method, P_NORMAL);
	assert_true(normal.u == 127.5);
	assert_near(normal.p, 0.0001208, 5e-8);
	/* The exact p of the same data must be of that size. */
	counted = exact(may, LEN(may), august, LEN(august));
	assert_true(counted.p > 0.00005 && counted.p < 0.00012);
}

/* U counted by pairs, as it is defined; ties count half. */
static double u_by_pairs(const double *pool, size_t n, unsigned int first)
{
	double u = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			if ((first >> i & 1) && !(first >> j & 1))
				u += pool[i] > pool[j] ? 1 : pool[i] == pool[j] ? 0.5 : 0;
	return u;
}

/* The share of all ways to choose the first sample whose U is as far from na * nb / 2. */
static double p_by_enumeration(const double *pool, size_t na, size_t nb)
{
	size_t n = na + nb, far = 0, all = 0;
	double mean = na * nb / 2.0;
	double distance = fabs(u_by_pairs(pool, n, (1U << na) - 1) - mean);

	for (unsigned int set = 0; set < 1U << n; set++) {
		if ((size_t)__builtin_popcount(set) != na)
			continue;
		all++;
		far += fabs(u_by_pairs(pool, n, set) - mean) >= distance;
	}
	return (double)far / all;
}

static void exact_p_is_the_share_of_all_permutations(void **state)
{
	double pool[11];

	(void)state;
	srand(7);
	for (int round = 0; round < 150; round++) {
		size_t na = 1 + rand() % 5, nb = 1 + rand() % 6;
		int distinct = 1 + rand() % 12; /* few distinct values: many ties */
		struct mann_whitney test;

		for (size_t i = 0; i < na + nb; i++)
			pool[i] = rand() % distinct;
		test = exact(pool, na, pool + na, nb);
		assert_true(test.u == u_by_pairs(pool, na + nb, (1U << na) - 1));
		assert_near(test.p, p_by_enumeration(pool, na, nb), 1e-12);
	}
}

static void equal_samples_have_p_one(void **state)
{
	double same[60] = { 0 };
	struct mann_whitney test;

	(void)state;
	assert_true(exact(same, 5, same, 5).p == 1);
	assert_int_equal(mann_whitney__test(&test, same, 60, same, 60), 0);
	assert_true(test.p == 1);
}

static void beyond_fifty_per_side_the_approximation_is_used_and_named(void **state)
{
	double a[51], b[51];
	struct mann_whitney test, counted;

	(void)state;
	for (size_t i = 0; i < LEN(a); i++) {
		a[i] = i;
		b[i] = i + 6.5;
	}
	assert_int_equal(mann_whitney__test(&test, a, 50, b, 50), 0);
	assert_string_equal(p_method__name(test.method), "exact");
	assert_int_equal(mann_whitney__test(&test, a, 50, b, 51), 0);
	assert_string_equal(p_method__name(test.method), "normal");
	assert_int_equal(mann_whitney__test(&test, a, 51, b, 50), 0);
	assert_string_equal(p_method__name(test.method), "normal");
	counted = exact(a, 51, b, 50);
	assert_near(test.p, counted.p, 0.02 * counted.p);
}

static void change_keeps_the_rules_for_zero(void **state)
{
	struct change change = change__make(0, 0);

	(void)state;
	assert_true(change.has_percent && change.percent == 0);
	change = change__make(0, 5);
	assert_false(change.has_percent);
	assert_non_null(strstr(change.why, "new"));
	change = change__make(5, 0);
	assert_true(change.has_percent && change.percent == -100);
}

static void change_is_signed_and_finite(void **state)
{
	struct change change;

	(void)state;
	assert_near(change__make(200, 250).percent, 25, 1e-12);
	assert_near(change__make(9092156, 191).percent, -99.9978992881, 1e-9);
	assert_near(change__make(-10, -5).percent, 50, 1e-12);
	change = change__make(DBL_MIN, DBL_MAX);
	assert_false(change.has_percent);
	assert_non_null(change.why);
}

static void geomean_takes_rows_that_are_positive_on_both_sides(void **state)
{
	double a[] = { 1, 0, 4, 7, -1 }, b[] = { 2, 9, 8, 0, 3 };
	double mean_a, mean_b;
	size_t used;

	(void)state;
	assert_true(geomean__make(a, b, 5, &mean_a, &mean_b, &used));
	assert_int_equal(used, 2);
	assert_near(mean_a, 2, 1e-12);
	assert_near(mean_b, 4, 1e-12);
	assert_false(geomean__make(a + 1, b + 1, 1, &mean_a, &mean_b, &used));
	assert_true(mean_a == 0 && mean_b == 0 && used == 0);
}

static void a_value_far_from_the_rest_is_an_outlier(void **state)
{
	bool marked[8];

	(void)state;
	assert_int_equal(outliers__mark((double[]){ 1000, 1005, 1500, 1010, 995 }, 5, marked), 1);
	assert_true(marked[2]);
	assert_int_equal(outliers__mark((double[]){ 1000, 1005, 1020, 1010, 995 }, 5, marked), 0);
	/* 0.6745 * (40 - 16) / 2 = 8.1 is beyond, 0.6745 * (38 - 16) / 2 = 7.4 within 7.9. */
	assert_int_equal(outliers__mark((double[]){ 14, 16, 18, 15, 40 }, 5, marked), 1);
	assert_int_equal(outliers__mark((double[]){ 14, 16, 18, 15, 38 }, 5, marked), 0);
}

static void mad_of_zero_falls_back_to_the_mean_deviation(void **state)
{
	bool marked[5];

	(void)state;
	assert_int_equal(outliers__mark((double[]){ 0, 0, 0, 9, 0 }, 5, marked), 1);
	assert_true(marked[3]);
	assert_int_equal(outliers__mark((double[]){ 8, 8, 8, 8, 8 }, 5, marked), 0);
	/* Two of five: each is 2.5 mean deviations away. */
	assert_int_equal(outliers__mark((double[]){ 0, 0, 0, 9, 9 }, 5, marked), 0);
}

static void deviations_below_one_per_cent_are_no_outliers(void **state)
{
	bool marked[5];

	(void)state;
	assert_int_equal(outliers__mark((double[]){ 1000, 1000, 1000, 1009, 1000 }, 5, marked), 0);
	assert_int_equal(outliers__mark((double[]){ 1000, 1000, 1000, 1011, 1000 }, 5, marked), 1);
}

static void four_runs_accuse_nobody(void **state)
{
	double values[] = { 90, 1, 1.1, 1.2 };
	bool marked[4];

	(void)state;
	assert_int_equal(outliers__mark(values, 4, marked), 0);
	assert_int_equal(slow_first__test(values, 4, 1), 0);
}

static double normal_value(void)
{
	double u = (rand() + 1.0) / (RAND_MAX + 2.0), v = rand() / (RAND_MAX + 1.0);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* By simulation, with a fixed seed: the promise of the limits in the table. */
static void about_one_clean_sample_in_twenty_is_accused(void **state)
{
	static const size_t sizes[] = { 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30 };
	enum {
		ROUNDS = 20000
	};
	double values[30];
	bool marked[30];

	(void)state;
	srand(1);
	for (size_t i = 0; i < LEN(sizes); i++) {
		int accused = 0;

		for (int round = 0; round < ROUNDS; round++) {
			for (size_t j = 0; j < sizes[i]; j++)
				values[j] = normal_value();
			accused += outliers__mark(values, sizes[i], marked) > 0;
		}
		if (accused < 0.035 * ROUNDS || accused > 0.055 * ROUNDS)
			fail_msg("n=%zu: %d of %d accused", sizes[i], accused, ROUNDS);
	}
}

static void a_slow_first_run_is_told_in_either_direction(void **state)
{
	double slow_ms[] = { 150, 100, 101, 99, 100.5 }, slow_rate[] = { 50, 100, 101, 99, 100.5 };

	(void)state;
	assert_int_equal(slow_first__test(slow_ms, 5, 1), 1);
	assert_int_equal(slow_first__test(slow_rate, 5, -1), 1);
	/* A fast first run is not slow. */
	assert_int_equal(slow_first__test(slow_ms, 5, -1), 0);
	assert_int_equal(slow_first__test(slow_rate, 5, 1), 0);
}

static void a_first_run_within_the_spread_is_not_slow(void **state)
{
	(void)state;
	assert_int_equal(slow_first__test((double[]){ 102, 100, 101, 99, 98 }, 5, 1), 0);
	assert_int_equal(slow_first__test((double[]){ 150, 100, 151, 99, 98 }, 5, 1), 0);
	assert_int_equal(slow_first__test((double[]){ 100.5, 100, 100, 100, 100 }, 5, 1), 0);
}

/* S by pairs over all n! orders of the values: Heap's algorithm. */
struct orders {
	size_t far, all;
	int64_t distance;
};

static int64_t s_by_pairs(const double *values, size_t n)
{
	int64_t s = 0;

	for (size_t j = 1; j < n; j++)
		for (size_t i = 0; i < j; i++)
			s += values[i] < values[j] ? 1 : values[i] > values[j] ? -1 : 0;
	return s;
}

static void visit_orders(double *values, size_t n, size_t left, struct orders *orders)
{
	if (left <= 1) {
		orders->all++;
		orders->far += llabs(s_by_pairs(values, n)) >= orders->distance;
		return;
	}
	for (size_t i = 0; i < left; i++) {
		size_t swap = left % 2 ? 0 : i;
		double last = values[left - 1];

		visit_orders(values, n, left - 1, orders);
		values[left - 1] = values[swap];
		values[swap] = last;
	}
}

static void drift_p_is_the_share_of_all_orders(void **state)
{
	(void)state;
	srand(3);
	for (int round = 0; round < 120; round++) {
		size_t n = 2 + rand() % 6;
		int distinct = 1 + rand() % 8;
		struct orders orders = { 0 };
		struct drift got;
		double values[7];

		for (size_t i = 0; i < n; i++)
			values[i] = rand() % distinct;
		got = drift(values, n);
		assert_int_equal(got.method, P_EXACT);
		assert_int_equal(got.s, s_by_pairs(values, n));
		orders.distance = llabs(got.s);
		visit_orders(values, n, n, &orders);
		assert_near(got.p, (double)orders.far / orders.all, 1e-12);
	}
}

/* An order of 0..n-1 with @falling falling pairs: each value is moved ahead of some before it. */
static void order_with_falling(double *values, size_t n, size_t falling)
{
	for (size_t i = 0; i < n; i++) {
		size_t ahead = falling < i ? falling : i;

		memmove(values + i - ahead + 1, values + i - ahead, ahead * sizeof(*values));
		values[i - ahead] = i;
		falling -= ahead;
	}
}

/* One-sided probabilities of S from Gilbert (1987), table A18, after Kendall (1975), table 1. */
static void drift_probabilities_agree_with_the_published_table(void **state)
{
	static const struct {
		size_t n, s;
		double p;
	} table[] = {
		{ 4, 6, 0.042 },   { 5, 8, 0.042 },  { 5, 10, 0.0083 }, { 6, 11, 0.028 },
		{ 6, 13, 0.0083 }, { 8, 16, 0.031 }, { 10, 21, 0.036 }, { 10, 23, 0.023 },
	};
	double values[10];

	(void)state;
	for (size_t i = 0; i < LEN(table); i++) {
		size_t n = table[i].n;
		struct drift got;

		order_with_falling(values, n, (n * (n - 1) / 2 - table[i].s) / 2);
		got = drift(values, n);
		assert_int_equal(got.s, table[i].s);
		assert_near(got.p / 2, table[i].p, 0.0006);
	}
}

static void shuffle(double *values, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = rand() % i;
		double swap = values[i - 1];

		values[i - 1] = values[j];
		values[j] = swap;
	}
}

/* Ties included; the oracle is the share among 20,000 shuffles (its standard error is 0.0015). */
static void beyond_twenty_runs_drift_is_approximated_and_named(void **state)
{
	enum {
		SHUFFLES = 20000
	};
	double values[DRIFT_EXACT_MAX + 5];
	struct drift got;
	int far = 0;

	(void)state;
	order_with_falling(values, LEN(values), 118);
	for (size_t i = 0; i < LEN(values); i++)
		values[i] = floor(values[i] / 9);
	assert_int_equal(drift(values, DRIFT_EXACT_MAX).method, P_EXACT);
	got = drift(values, LEN(values));
	assert_int_equal(got.method, P_NORMAL);
	srand(5);
	for (int round = 0; round < SHUFFLES; round++) {
		shuffle(values, LEN(values));
		far += llabs(s_by_pairs(values, LEN(values))) >= llabs(got.s);
	}
	assert_in_range(far, SHUFFLES / 50, SHUFFLES / 5);
	assert_near(got.p, (double)far / SHUFFLES, 0.006);
}

static void a_steady_rise_is_drift_and_its_size_is_told(void **state)
{
	struct drift up = drift((double[]){ 100, 103, 105, 108, 110 }, 5);
	struct drift down = drift((double[]){ 110, 108, 105, 103, 100 }, 5);

	(void)state;
	assert_true(up.found && down.found);
	assert_near(up.rise, 10, 1e-9);
	assert_near(down.rise, -10, 1e-9);
}

static void noise_and_tiny_rises_are_no_drift(void **state)
{
	(void)state;
	assert_false(drift((double[]){ 100, 90, 105, 95, 110 }, 5).found);
	assert_false(drift((double[]){ 100, 100.1, 100.2, 100.3, 100.4 }, 5).found);
	assert_false(drift((double[]){ 1, 1, 1, 1, 1 }, 5).found);
	/* Four runs reach p = 0.083 at best. */
	assert_false(drift((double[]){ 1, 2, 3, 4 }, 4).found);
	assert_false(drift((double[]){ 1 }, 1).found);
}

static void extreme_values_never_give_nan_or_infinity(void **state)
{
	double values[] = { DBL_MAX, -DBL_MAX, DBL_MAX, 0, DBL_MIN, -DBL_MAX, 1 };
	struct summary out = summary(values, LEN(values));
	struct drift trend = drift(values, LEN(values));
	bool marked[LEN(values)];

	(void)state;
	assert_true(isfinite(out.mean) && isfinite(out.median));
	assert_true(isfinite(trend.rise) && isfinite(trend.p));
	assert_in_range(outliers__mark(values, LEN(values), marked), 0, LEN(values));
	assert_true(isfinite(exact(values, 3, values + 3, 4).p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_an_odd_number_is_the_middle_value),
		cmocka_unit_test(median_of_an_even_number_is_between_the_middle_values),
		cmocka_unit_test(summary_tells_mean_and_extremes_and_leaves_the_order_alone),
		cmocka_unit_test(summary_of_huge_values_stays_finite),
		cmocka_unit_test(nothing_and_values_that_are_not_finite_are_refused),
		cmocka_unit_test(fewer_than_six_runs_have_no_interval),
		cmocka_unit_test(interval_uses_the_tabulated_order_statistics),
		cmocka_unit_test(interval_of_very_many_runs_is_found),
		cmocka_unit_test(smallest_p_of_three_four_and_five_runs),
		cmocka_unit_test(critical_values_of_u_agree_with_the_published_table),
		cmocka_unit_test(published_example_without_ties),
		cmocka_unit_test(published_example_with_ties_by_the_normal_approximation),
		cmocka_unit_test(exact_p_is_the_share_of_all_permutations),
		cmocka_unit_test(equal_samples_have_p_one),
		cmocka_unit_test(beyond_fifty_per_side_the_approximation_is_used_and_named),
		cmocka_unit_test(change_keeps_the_rules_for_zero),
		cmocka_unit_test(change_is_signed_and_finite),
		cmocka_unit_test(geomean_takes_rows_that_are_positive_on_both_sides),
		cmocka_unit_test(a_value_far_from_the_rest_is_an_outlier),
		cmocka_unit_test(mad_of_zero_falls_back_to_the_mean_deviation),
		cmocka_unit_test(deviations_below_one_per_cent_are_no_outliers),
		cmocka_unit_test(four_runs_accuse_nobody),
		cmocka_unit_test(about_one_clean_sample_in_twenty_is_accused),
		cmocka_unit_test(a_slow_first_run_is_told_in_either_direction),
		cmocka_unit_test(a_first_run_within_the_spread_is_not_slow),
		cmocka_unit_test(drift_p_is_the_share_of_all_orders),
		cmocka_unit_test(drift_probabilities_agree_with_the_published_table),
		cmocka_unit_test(beyond_twenty_runs_drift_is_approximated_and_named),
		cmocka_unit_test(a_steady_rise_is_drift_and_its_size_is_told),
		cmocka_unit_test(noise_and_tiny_rises_are_no_drift),
		cmocka_unit_test(extreme_values_never_give_nan_or_infinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
