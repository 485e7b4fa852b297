/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of a few runs: nothing here assumes a distribution, since five runs cannot show one.
 *
 * All values given must be finite (-EINVAL otherwise); nothing returned is ever NaN or infinite.
 */
#ifndef TLBBENCH_STATS_H
#define TLBBENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The share of false alarms every test here allows. */
#define STATS_ALPHA 0.05

/* The smallest n with a 95% interval of the median: 1 - 2 * 2^-5 is only 93.75%. */
#define STATS_INTERVAL_RUNS 6

/* Fewer values than this cannot tell an outlier or a slow first run from the spread. */
#define STATS_WARN_RUNS 5

/* What differs by less than this share of the median is not worth a warning. */
#define STATS_NEGLIGIBLE 0.01

struct summary {
	size_t n;
	double median, mean, min, max;
	/*
	 * The interval of the median between two order statistics, which holds the true median with
	 * probability @coverage >= 0.95 whatever the distribution (Conover, Practical Nonparametric
	 * Statistics, 3.2). Only from STATS_INTERVAL_RUNS values.
	 */
	bool has_interval;
	double low, high, coverage;
};

/* 0, -EINVAL (no value, or one that is not finite) or -ENOMEM. */
int summary__make(struct summary *out, const double *values, size_t n);

/* Whether a p-value was counted out or approximated. */
enum p_method {
	P_EXACT,
	P_NORMAL
};

const char *p_method__name(enum p_method method);

struct mann_whitney {
	double u; /* of the first sample: pairs in which its value is the larger, ties count half */
	double p; /* two-sided */
	enum p_method method;
};

/* Up to this many values per side the exact distribution is counted out. */
#define MANN_WHITNEY_EXACT_MAX 50

/*
 * Are the values of one side larger than those of the other? Exact up to MANN_WHITNEY_EXACT_MAX
 * values per side, else the normal approximation. 0, -EINVAL or -ENOMEM.
 */
int mann_whitney__test(struct mann_whitney *out, const double *a, size_t na, const double *b,
		       size_t nb);

/*
 * p is the share of all ways to deal the pooled mid-ranks to the two sides in which the rank sum is
 * at least as far from its mean as it was: the permutation distribution, so ties are exact too.
 * Time and memory grow with the third and fourth power of n: 50 per side take 30 ms and 4 MB.
 */
int mann_whitney__exact(struct mann_whitney *out, const double *a, size_t na, const double *b,
			size_t nb);

/* With the variance corrected for ties, and the continuity correction of a half. */
int mann_whitney__normal(struct mann_whitney *out, const double *a, size_t na, const double *b,
			 size_t nb);

/* The smallest p that samples of these sizes can reach: 2 / (na + nb choose na). */
double mann_whitney__smallest_p(size_t na, size_t nb);

/* The change from one median to another. */
struct change {
	bool has_percent;
	double percent;	 /* signed; 0 to 0 is 0, x to 0 is -100 */
	const char *why; /* why there is no percentage, else NULL */
};

struct change change__make(double from, double to);

/*
 * Geometric means of two columns, over the rows in which both values are positive; @used of @n rows
 * were. False (and zeros) if none was.
 */
bool geomean__make(const double *a, const double *b, size_t n, double *mean_a, double *mean_b,
		   size_t *used);

/*
 * Marks outliers by the modified z-score, 0.6745 * (x - median) / MAD (Iglewicz and Hoaglin, How to
 * Detect and Handle Outliers, 1993). Their limit of 3.5 is for larger samples: of five clean values
 * it accuses one in a fifth of all cases. The limits used here grow as n gets small, so that one in
 * twenty clean normal samples is accused.
 *
 * Where more than half of the values are equal MAD is 0; the mean absolute deviation takes its
 * place, (x - median) / (1.253314 * MeanAD), with the limit of 3.5.
 *
 * Deviations below STATS_NEGLIGIBLE of the median are never marked, nor is anything if
 * n < STATS_WARN_RUNS. Returns how many are marked, or a negative errno.
 */
int outliers__mark(const double *values, size_t n, bool *marked);

/*
 * Whether the first value is slower than all others and stands out from them: a modified z-score
 * above 3.5 measured by the others alone. @slower is +1 where larger is slower, else -1.
 * Returns 1, 0 or a negative errno.
 */
int slow_first__test(const double *values, size_t n, int slower);

/* Is there a trend in the order of the values? (Mann-Kendall) */
struct drift {
	int64_t s; /* rising pairs minus falling pairs */
	double p;  /* two-sided */
	enum p_method method;
	double rise; /* from first to last value, along the median of all slopes (Theil-Sen) */
	bool found;  /* p <= STATS_ALPHA and at least STATS_NEGLIGIBLE of the median */
};

/* Up to this n the distribution of S is counted out, in integers (20! is the last below 2^64). */
#define DRIFT_EXACT_MAX 20

/*
 * Exact for n <= DRIFT_EXACT_MAX, ties included: under the hypothesis of no trend all orders of the
 * values are equally likely, and the number of falling pairs among them is counted by the Gaussian
 * multinomial coefficient. Beyond, normal with the corrections for ties and continuity (Kendall,
 * Rank Correlation Methods). 0, -EINVAL or -ENOMEM.
 */
int drift__test(struct drift *out, const double *values, size_t n);

#endif
