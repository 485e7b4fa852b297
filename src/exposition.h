/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prometheus' text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats):
 * what its text-file collector reads. A family is its header and all of its samples, in one piece.
 */
#ifndef TLBSTAT_EXPOSITION_H
#define TLBSTAT_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

/* A label; lists of them end with a name of NULL. */
struct label {
	const char *name;
	const char *value; /* any text: it is escaped */
};

/* The HELP and TYPE lines. @type: "counter", "gauge" or "histogram". @help may be any text. */
void exposition__family(FILE *out, const char *name, const char *type, const char *help);

/* A sample; @labels may be NULL. Whole numbers are printed as such, to the last digit. */
void exposition__count(FILE *out, const char *name, const struct label *labels, uint64_t value);
void exposition__value(FILE *out, const char *name, const struct label *labels, double value);

/* A histogram to print: bucket i counts values up to edge[i], those of lower buckets left out. */
struct exposition_histogram {
	const uint64_t *bucket; /* the one after the last edge is for the rest */
	const double *edge;
	unsigned int edges;
	double sum;
};

/* The _bucket samples, cumulative up to +Inf, and _sum and _count. */
void exposition__histogram(FILE *out, const char *name,
			   const struct exposition_histogram *histogram);

#endif
