/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static bool all_finite(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* A sorted copy, to be freed; NULL if out of memory. */
static double *sorted_copy(const double *values, size_t n)
{
	double *copy = malloc(n * sizeof(*copy));

	if (!copy)
		return NULL;
	memcpy(copy, values, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_value);
	return copy;
}

static double median_of_sorted(const double *sorted, size_t n)
{
	/* Halved before they are added, so that the sum cannot overflow. */
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

static int median_of(const double *values, size_t n, double *out)
{
	double *sorted = sorted_copy(values, n);

	if (!sorted)
		return -ENOMEM;
	*out = median_of_sorted(sorted, n);
	free(sorted);
	return 0;
}

/* The exponent of a long double is wide enough for any sum of doubles. */
static double mean_of(const double *values, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

/*
 * How many order statistics each end of the interval may leave out: the largest d for which fewer
 * than d + 1 of n fair coins fall heads with a probability of at most alpha / 2.
 */
static size_t interval_margin(size_t n, double *coverage)
{
	long double tail = 0;
	size_t d = 0;

	for (;; d++) {
		long double next = expl(lgammal(n + 1.0L) - lgammal(d + 1.0L) -
					lgammal(n - d + 1.0L) - n * logl(2));

		if (tail + next > STATS_ALPHA / 2)
			break;
		tail += next;
	}
	*coverage = 1 - 2 * tail;
	return d;
}

int summary__make(struct summary *out, const double *values, size_t n)
{
	double *sorted;

	*out = (struct summary){ 0 };
	if (!n || !all_finite(values, n))
		return -EINVAL;
	sorted = sorted_copy(values, n);
	if (!sorted)
		return -ENOMEM;
	out->n = n;
	out->median = median_of_sorted(sorted, n);
	out->mean = mean_of(values, n);
	out->min = sorted[0];
	out->max = sorted[n - 1];
	if (n >= STATS_INTERVAL_RUNS) {
		size_t d = interval_margin(n, &out->coverage);

		out->has_interval = true;
		out->low = sorted[d - 1];
		out->high = sorted[n - d];
	}
	free(sorted);
	return 0;
}

const char *p_method__name(enum p_method method)
{
	return method == P_EXACT ? "exact" : "normal";
}

/*
 * The pooled samples as ranks. Mid-ranks are multiples of a half, so they are kept doubled: sums of
 * them are then exact, and equal sums are equal.
 */
struct ranks {
	size_t n, n_first;
	uint32_t *doubled;  /* of all values, ascending */
	uint64_t first_sum; /* doubled rank sum of the first sample */
	double tie_cubes;   /* sum of t^3 - t over the groups of t equal values */
};

struct pooled {
	double value;
	bool first;
};

static int by_pooled_value(const void *left, const void *right)
{
	return by_value(&((const struct pooled *)left)->value,
			&((const struct pooled *)right)->value);
}

static void rank_pool(struct ranks *ranks, const struct pooled *pool)
{
	size_t end;

	for (size_t start = 0; start < ranks->n; start = end) {
		for (end = start + 1; end < ranks->n; end++)
			if (pool[end].value != pool[start].value)
				break;
		for (size_t i = start; i < end; i++) {
			/* The ranks start + 1 to end share their mean. */
			ranks->doubled[i] = start + 1 + end;
			if (pool[i].first)
				ranks->first_sum += ranks->doubled[i];
		}
		ranks->tie_cubes += pow(end - start, 3) - (end - start);
	}
}

static int ranks__make(struct ranks *ranks, const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb;
	struct pooled *pool;

	*ranks = (struct ranks){ .n = n, .n_first = na };
	if (!na || !nb || !all_finite(a, na) || !all_finite(b, nb))
		return -EINVAL;
	pool = malloc(n * sizeof(*pool));
	ranks->doubled = malloc(n * sizeof(*ranks->doubled));
	if (!pool || !ranks->doubled) {
		free(pool);
		free(ranks->doubled);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		pool[i] = (struct pooled){ i < na ? a[i] : b[i - na], i < na };
	qsort(pool, n, sizeof(*pool), by_pooled_value);
	rank_pool(ranks, pool);
	free(pool);
	return 0;
}

static double ranks__u(const struct ranks *ranks)
{
	double n = ranks->n_first;

	return ranks->first_sum / 2.0 - n * (n + 1) / 2;
}

/*
 * ways[j * width + s] counts the choices of j ranks whose doubled sum is s. The counts pass 2^53,
 * but they are sums of positive terms, so their relative error stays at a few units of the last
 * place.
 */
static void count_sums(const struct ranks *ranks, size_t chosen, size_t width, double *ways)
{
	ways[0] = 1;
	for (size_t i = 0; i < ranks->n; i++) {
		size_t rank = ranks->doubled[i], most = i < chosen ? i + 1 : chosen, top = 0;

		for (size_t j = 0; j < most; j++)
			top += ranks->doubled[i - j];
		/* Ranks ascend: top is the largest sum of j ranks so far. */
		for (size_t j = most; j > 0; j--) {
			for (size_t sum = top; sum >= rank; sum--)
				ways[j * width + sum] += ways[(j - 1) * width + sum - rank];
			top -= ranks->doubled[i - j + 1];
		}
	}
}

/* The share of sums at least as far from @mean as @sum is. */
static double share_as_far(const double *ways, size_t width, int64_t mean, int64_t sum)
{
	int64_t distance = llabs(sum - mean);
	double far = 0, all = 0;

	for (size_t s = 0; s < width; s++) {
		all += ways[s];
		if (llabs((int64_t)s - mean) >= distance)
			far += ways[s];
	}
	return far / all;
}

static int exact_p(const struct ranks *ranks, double *p)
{
	bool first = ranks->n_first * 2 <= ranks->n;
	/* The rank sums of both sides add up to a constant: the smaller side is less work. */
	size_t chosen = first ? ranks->n_first : ranks->n - ranks->n_first;
	uint64_t all = (uint64_t)ranks->n * (ranks->n + 1);
	uint64_t sum = first ? ranks->first_sum : all - ranks->first_sum;
	size_t width = 1;
	double *ways;

	for (size_t i = ranks->n - chosen; i < ranks->n; i++)
		width += ranks->doubled[i];
	ways = calloc((chosen + 1) * width, sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	count_sums(ranks, chosen, width, ways);
	*p = share_as_far(ways + chosen * width, width, chosen * (ranks->n + 1), sum);
	free(ways);
	return 0;
}

int mann_whitney__exact(struct mann_whitney *out, const double *a, size_t na, const double *b,
			size_t nb)
{
	struct ranks ranks;
	int err = ranks__make(&ranks, a, na, b, nb);

	*out = (struct mann_whitney){ .p = 1, .method = P_EXACT };
	if (err)
		return err;
	out->u = ranks__u(&ranks);
	err = exact_p(&ranks, &out->p);
	free(ranks.doubled);
	return err;
}

/* Two-sided, of a statistic that moves in steps of 2 * @half_step. */
static double normal_p(double deviation, double variance, double half_step)
{
	double distance = fmax(fabs(deviation) - half_step, 0);

	return variance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

int mann_whitney__normal(struct mann_whitney *out, const double *a, size_t na, const double *b,
			 size_t nb)
{
	struct ranks ranks;
	int err = ranks__make(&ranks, a, na, b, nb);
	double n = na + nb, pairs = (double)na * nb;

	*out = (struct mann_whitney){ .p = 1, .method = P_NORMAL };
	if (err)
		return err;
	out->u = ranks__u(&ranks);
	out->p = normal_p(out->u - pairs / 2,
			  pairs / 12 * (n + 1 - ranks.tie_cubes / (n * (n - 1))), 0.5);
	free(ranks.doubled);
	return 0;
}

int mann_whitney__test(struct mann_whitney *out, const double *a, size_t na, const double *b,
		       size_t nb)
{
	if (na <= MANN_WHITNEY_EXACT_MAX && nb <= MANN_WHITNEY_EXACT_MAX)
		return mann_whitney__exact(out, a, na, b, nb);
	return mann_whitney__normal(out, a, na, b, nb);
}

double mann_whitney__smallest_p(size_t na, size_t nb)
{
	double p = 2;

	for (size_t i = 1; i <= na; i++)
		p *= (double)i / (nb + i);
	return fmin(p, 1);
}

struct change change__make(double from, double to)
{
	double percent;

	if (from == to)
		return (struct change){ .has_percent = true };
	if (from == 0)
		return (struct change){ .why = "new: the first side is 0" };
	/* Of the magnitude, so that the sign is the direction for negative values too. */
	percent = (to - from) / fabs(from) * 100;
	if (!isfinite(percent))
		return (struct change){ .why = "the change is too large for a percentage" };
	return (struct change){ .has_percent = true, .percent = percent };
}

bool geomean__make(const double *a, const double *b, size_t n, double *mean_a, double *mean_b,
		   size_t *used)
{
	long double log_a = 0, log_b = 0;

	*used = 0;
	*mean_a = *mean_b = 0;
	for (size_t i = 0; i < n; i++) {
		if (!(a[i] > 0 && b[i] > 0))
			continue;
		log_a += logl(a[i]);
		log_b += logl(b[i]);
		(*used)++;
	}
	if (!*used)
		return false;
	*mean_a = expl(log_a / *used);
	*mean_b = expl(log_b / *used);
	return true;
}

/* The spread of the values around @center, in units that compare with a standard deviation. */
static int spread_around(const double *values, size_t n, double center, double *spread,
			 bool *mad_is_zero)
{
	double *distance = calloc(n, sizeof(*distance));
	double mad;
	int err;

	if (!distance)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(values[i] - center);
	err = median_of(distance, n, &mad);
	*mad_is_zero = mad == 0;
	*spread = *mad_is_zero ? 1.253314 * mean_of(distance, n) : mad / 0.6745;
	free(distance);
	return err;
}

/* The published limit, and the 95% points of the largest score among n clean normal values. */
#define LIMIT_PUBLISHED 3.5
#define LIMIT_LARGE	3.9
static const struct {
	size_t n;
	double limit;
} limits[] = {
	{ 5, 7.9 }, { 6, 5.6 },	 { 7, 5.9 },  { 8, 5.0 },
	{ 9, 5.1 }, { 11, 4.7 }, { 15, 4.4 }, { 20, 4.1 },
};

static double outlier_limit(size_t n)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (n <= limits[i].n)
			return limits[i].limit;
	return LIMIT_LARGE;
}

static bool negligible(double deviation, double median)
{
	return fabs(deviation) < STATS_NEGLIGIBLE * fabs(median);
}

int outliers__mark(const double *values, size_t n, bool *marked)
{
	double median, spread, limit;
	bool mad_is_zero;
	int err, count = 0;

	memset(marked, 0, n * sizeof(*marked));
	if (!all_finite(values, n))
		return -EINVAL;
	if (n < STATS_WARN_RUNS)
		return 0;
	err = median_of(values, n, &median);
	if (!err)
		err = spread_around(values, n, median, &spread, &mad_is_zero);
	if (err)
		return err;
	limit = mad_is_zero ? LIMIT_PUBLISHED : outlier_limit(n);
	for (size_t i = 0; i < n; i++) {
		double deviation = values[i] - median;

		marked[i] = fabs(deviation) > limit * spread && !negligible(deviation, median);
		count += marked[i];
	}
	return count;
}

int slow_first__test(const double *values, size_t n, int slower)
{
	double median, spread, deviation;
	bool mad_is_zero;
	int err;

	if (!all_finite(values, n))
		return -EINVAL;
	if (n < STATS_WARN_RUNS)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (slower * values[i] >= slower * values[0])
			return 0;
	err = median_of(values + 1, n - 1, &median);
	if (!err)
		err = spread_around(values + 1, n - 1, median, &spread, &mad_is_zero);
	if (err)
		return err;
	deviation = values[0] - median;
	return fabs(deviation) > LIMIT_PUBLISHED * spread && !negligible(deviation, median);
}

/*
 * How many orders of the values have d falling pairs: [n]_q! / ([t1]_q! [t2]_q! ...) as a
 * polynomial in q, with t1, t2, ... the sizes of the groups of equal values, and [i]_q = 1 + q +
 * ... + q^(i-1).
 */
#define PAIRS_MAX (DRIFT_EXACT_MAX * (DRIFT_EXACT_MAX - 1) / 2)

static void multiply_bracket(uint64_t *poly, size_t i)
{
	for (size_t d = PAIRS_MAX + 1; d-- > 0;)
		for (size_t j = 1; j < i && j <= d; j++)
			poly[d] += poly[d - j];
}

static void divide_bracket(uint64_t *poly, size_t i)
{
	for (size_t d = 0; d <= PAIRS_MAX; d++)
		for (size_t j = 1; j < i && j <= d; j++)
			poly[d] -= poly[d - j];
}

/* Groups of equal values, in one pass over the sorted values. */
struct ties {
	double cubes; /* sum of t(t-1)(2t+5) */
	size_t pairs; /* sum of t(t-1)/2 */
};

static struct ties divide_by_ties(const double *sorted, size_t n, uint64_t *poly)
{
	struct ties ties = { 0 };
	size_t end;

	for (size_t start = 0; start < n; start = end) {
		double t;

		for (end = start + 1; end < n && sorted[end] == sorted[start]; end++)
			if (poly)
				divide_bracket(poly, end - start + 1);
		t = end - start;
		ties.cubes += t * (t - 1) * (2 * t + 5);
		ties.pairs += (end - start) * (end - start - 1) / 2;
	}
	return ties;
}

static double drift_exact_p(const double *sorted, size_t n, int64_t s)
{
	uint64_t poly[PAIRS_MAX + 1] = { 1 };
	double far = 0, all = 0;
	int64_t top;

	for (size_t i = 2; i <= n; i++)
		multiply_bracket(poly, i);
	top = n * (n - 1) / 2 - divide_by_ties(sorted, n, poly).pairs;
	for (int64_t d = 0; d <= top; d++) {
		all += poly[d];
		if (llabs(top - 2 * d) >= llabs(s))
			far += poly[d];
	}
	return far / all;
}

static double drift_normal_p(const double *sorted, size_t n, int64_t s)
{
	double count = n;
	double cubes = divide_by_ties(sorted, n, NULL).cubes;

	return normal_p(s, (count * (count - 1) * (2 * count + 5) - cubes) / 18, 1);
}

/* The median of the slopes between all pairs (Theil-Sen), times the number of steps. */
static int rise_of(const double *values, size_t n, double *rise)
{
	size_t pairs = 0;
	double *slope = malloc(n * (n - 1) / 2 * sizeof(*slope));
	int err;

	if (!slope)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slope[pairs++] = values[j] / (j - i) - values[i] / (j - i);
	err = median_of(slope, pairs, rise);
	*rise *= n - 1;
	free(slope);
	return err;
}

static int64_t rising_minus_falling(const double *values, size_t n)
{
	int64_t s = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			s += (values[j] > values[i]) - (values[j] < values[i]);
	return s;
}

int drift__test(struct drift *out, const double *values, size_t n)
{
	double *sorted, median, rise = 0;
	int err = 0;

	*out = (struct drift){ .p = 1, .method = n <= DRIFT_EXACT_MAX ? P_EXACT : P_NORMAL };
	if (!all_finite(values, n))
		return -EINVAL;
	if (n < 2)
		return 0;
	sorted = sorted_copy(values, n);
	if (!sorted)
		return -ENOMEM;
	out->s = rising_minus_falling(values, n);
	out->p = out->method == P_EXACT ? drift_exact_p(sorted, n, out->s)
					: drift_normal_p(sorted, n, out->s);
	median = median_of_sorted(sorted, n);
	free(sorted);
	err = rise_of(values, n, &rise);
	if (err)
		return err;
	out->rise = isfinite(rise) ? rise : copysign(DBL_MAX, out->s);
	out->found = out->p <= STATS_ALPHA && !negligible(out->rise, median);
	return 0;
}
