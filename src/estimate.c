/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lazy and not loaded, told apart by a sample. How many CPUs were left out is known exactly
 * (requested - self - filtered - preempted - asked); how they divide is estimated from the flushes
 * whose masks were read. A flush is the sampling unit (its CPUs are not independent of each other),
 * so the share is a ratio estimator over flushes, with its usual linearised variance (Cochran,
 * Sampling Techniques, 3rd ed., section 6.3).
 *
 * Flushes that are all alike have no variance, but do not prove that all others are like them: with
 * 95% confidence up to 3 in n differ (the rule of three).
 */
#include "observer.h"

#include <math.h>

static double sample_sum(const struct report *report, enum flush_path path, enum sample_sum sum)
{
	return report->cell[CELL_sampled + path * SAMPLE_COUNT + sum];
}

static double left_out(const struct report *report, enum flush_path path)
{
	double requested = report->cell[CELL_requested_cpus + path];
	double self = report->cell[CELL_self_cpus + path];
	double asked = report->cell[CELL_asked_cpus + path];
	const uint64_t *filtered = &report->cell[CELL_filtered_cpus + path * FILTER_COUNT];
	double before = filtered[FILTER_BATCH_FILTER] + filtered[FILTER_PREEMPTED_VCPU];

	return fmax(0, requested - self - before - asked);
}

bool report__estimate(const struct report *report, enum flush_path path, enum filter_reason reason,
		      struct estimate *out)
{
	double n = sample_sum(report, path, SAMPLE_FLUSHES);
	double x = sample_sum(report, path, SAMPLE_LAZY),
	       y = sample_sum(report, path, SAMPLE_STALE);
	double xx = sample_sum(report, path, SAMPLE_LAZY_SQ);
	double yy = sample_sum(report, path, SAMPLE_STALE_SQ);
	double xy = sample_sum(report, path, SAMPLE_LAZY_STALE);
	double total = left_out(report, path), share, squares, error = 1;

	if (n == 0 || (reason != FILTER_LAZY && reason != FILTER_NOT_LOADED))
		return false;
	/* How many were left out must be known before it can be divided. */
	if (!observer__has_cell(report->observer, CELL_requested_cpus + path, NULL) ||
	    !observer__has_cell(report->observer, CELL_self_cpus + path, NULL) ||
	    !observer__has_cell(report->observer, CELL_asked_cpus + path, NULL))
		return false;
	if (x + y == 0 && total > 0)
		return false;
	share = x + y == 0 ? 0 : x / (x + y);
	if (n > 1 && x + y > 0) {
		/* sum of (x - share * (x + y))^2 over the sampled flushes */
		squares = xx - 2 * share * (xx + xy) + share * share * (xx + 2 * xy + yy);
		error = 1.96 * sqrt(fmax(0, squares) * n / (n - 1)) / (x + y);
		error = fmax(error, 3 / n);
	}
	if (reason == FILTER_NOT_LOADED)
		share = x + y == 0 ? 0 : 1 - share;
	out->n = n;
	out->value = share * total;
	out->low = fmax(0, share - error) * total;
	out->high = fmin(1, share + error) * total;
	return true;
}
