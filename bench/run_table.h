/* SPDX-License-Identifier: GPL-2.0-only */
/* The table that "tlbbench run" prints: a line per run, then their medians. */
#ifndef TLBBENCH_RUN_TABLE_H
#define TLBBENCH_RUN_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "workload.h"

/* What its columns are about. */
enum run_table {
	RUN_TABLE_IPIS,
	RUN_TABLE_TLBI,
};

/* What is run, and the heads of the columns. */
void run_table__head(FILE *out, enum run_table table, const struct workload *workload,
		     const struct workload_options *options, bool emulated);

/* The values of one run; "-" for what is absent. */
void run_table__row(FILE *out, enum run_table table, const char *label, const json_t *values);

/* A sentence below a row, in lines of less than 100 columns. */
void run_table__note(FILE *out, const char *kind, const char *text);

/* The row of the medians, each over the runs that did work and have the value. None: no row. */
void run_table__medians(FILE *out, enum run_table table, const char *label, const json_t *runs);

#endif
