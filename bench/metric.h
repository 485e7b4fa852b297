/* SPDX-License-Identifier: GPL-2.0-only */
/* What a run can measure: every metric, declared once. */
#ifndef TLBBENCH_METRIC_H
#define TLBBENCH_METRIC_H

#include <stdbool.h>
#include <stddef.h>

enum metric_better {
	BETTER_LOWER,
	BETTER_HIGHER,
	BETTER_NEITHER
};

struct metric {
	const char *name; /* the key in a result; holds the unit where there is one */
	const char *unit; /* "count", "ms", "pages/s", "ratio", "ns" */
	enum metric_better better;
	bool timed;	   /* depends on the clock: an indication only under emulation */
	bool headline;	   /* compared unless told otherwise */
	const char *title; /* for tables: "remote IPIs" */
	const char *help;
};

/* In the order of the tables; their number is METRICS. */
extern const struct metric metrics[];
extern const size_t METRICS;

/* NULL if there is no such metric. */
const struct metric *metric__find(const char *name);

/* "lower", "higher" or "neither", as in a result. */
const char *metric__better_name(const struct metric *metric);

#endif
