/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two results side by side: workloads joined by name and parameters, each metric summarised per
 * side and tested, and everything that could make the comparison a wrong one, named.
 */
#ifndef TLBBENCH_COMPARE_H
#define TLBBENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "metric.h"
#include "result.h"
#include "stats.h"

enum side {
	SIDE_A,
	SIDE_B,
	SIDES
};

/* What one side has to show: runs that did their work, or why there are none. */
struct compare_side {
	const json_t *workload; /* NULL: not in this file */
	size_t runs[RUN_EXCLUDED + 1];
	const char *state; /* NULL if a run is ok; else "not run", "no work", "unsupported", ... */
	const char *why;
};

/* One metric on one side: @n values, or none and why. A value that is absent is never a 0. */
struct compare_cell {
	size_t n;
	double *values;
	json_int_t *runs; /* the index of the run each value is from */
	struct summary summary;
	const char *state, *why; /* as above, and "none" */
	size_t without; /* runs that are ok but lack this value; @why says the first reason */
};

enum verdict {
	VERDICT_NONE,	/* nothing to compare */
	VERDICT_SAME,	/* no significant difference */
	VERDICT_BETTER, /* B is */
	VERDICT_WORSE,
	VERDICT_DIFFERS, /* significant, but the metric has no better direction, or equal medians */
};

struct compare_row {
	const struct metric *metric;
	bool emulated; /* timed, and a side was emulated: an indication only */
	struct compare_cell cell[SIDES];
	bool tested; /* both sides have values: the next three are set */
	struct change change;
	struct mann_whitney test;
	enum verdict verdict;
};

struct compare_workload {
	const char *name;
	json_t *parameters;
	char *label; /* "pages=4096 via=memcg" */
	char *title; /* the name, with the parameters in which it differs from others of that name
		      */
	struct compare_side side[SIDES];
	size_t n_rows;
	struct compare_row *rows;
};

/* Over the workloads in which both medians are positive. */
struct compare_geomean {
	const struct metric *metric;
	size_t rows, used; /* workloads that show the metric, and those that could be used */
	double mean[SIDES];
	struct change change;
};

struct compare_difference {
	char *key;		    /* "kernel.release" */
	const json_t *value[SIDES]; /* NULL: not recorded */
};

enum cause {
	CAUSE_EMULATED,
	CAUSE_ONE_SIDE,
	CAUSE_UNSUPPORTED,
	CAUSE_NO_WORK,
	CAUSE_EXCLUDED,
	CAUSE_UNVERIFIED,
	CAUSE_FEW_RUNS,
	CAUSE_ABSENT,
	CAUSE_OUTLIER,
	CAUSE_SLOW_FIRST_RUN,
	CAUSE_DRIFT,
};

const char *cause__name(enum cause cause);

/* What a reader must know before he believes the table. Without a subject its members are NULL. */
struct compare_warning {
	enum cause cause;
	const struct compare_workload *workload;
	const struct metric *metric;
	enum side side; /* SIDES: both */
	char *text;
};

struct compare {
	const char *file[SIDES];
	const json_t *doc[SIDES];
	bool emulated;
	size_t n_workloads, n_geomeans, n_differences, n_warnings;
	struct compare_workload *workloads;
	struct compare_geomean *geomeans; /* of metrics that two workloads or more show */
	struct compare_difference *differences;
	struct compare_warning *warnings;
};

struct compare_options {
	const char *file[SIDES]; /* names for the reader */
	bool allow_different_accelerator;
	/* What to show, in this order. */
	const struct metric *const *metrics;
	size_t n_metrics;
	bool named; /* the user named the metrics: show those too that a workload does not measure
		     */
};

/*
 * The results and the options' strings must outlive the comparison. Returns 0, -EXDEV (different
 * accelerators, not allowed), -EINVAL (values that are not finite) or -ENOMEM, after a message.
 */
int compare__make(struct compare **out, const struct result *a, const struct result *b,
		  const struct compare_options *options);
void compare__free(struct compare *compare);

/* Ways to print it; each returns 0 or -ENOMEM. Errors of the stream are left to its owner. */
int compare__print_table(const struct compare *compare, FILE *out);
/* The layout of a cover letter: test, platform, metric, baseline, patched, change; no warnings. */
int compare__print_cover(const struct compare *compare, FILE *out);
int compare__print_markdown(const struct compare *compare, FILE *out);
/* One line per workload and metric, nothing else. */
int compare__print_csv(const struct compare *compare, FILE *out);
int compare__print_json(const struct compare *compare, FILE *out);

#endif
