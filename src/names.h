/* SPDX-License-Identifier: GPL-2.0-only */
/* The label values of the counters' dimensions, as they stand in every output. */
#ifndef TLBSTAT_NAMES_H
#define TLBSTAT_NAMES_H

#include "counters.h"

extern const char *const path_names[PATH_COUNT];
extern const char *const reach_names[REACH_COUNT];
extern const char *const filter_names[FILTER_COUNT];
extern const char *const handled_names[HANDLED_COUNT];
extern const char *const unneeded_names[UNNEEDED_COUNT];
extern const char *const sample_names[SAMPLE_COUNT];
extern const char *const lost_names[LOST_COUNT];
extern const char *const mms_names[MMS_BUCKETS];

/* What is known of a counter beside its number. */
struct counter_info {
	const char *name;
	const char *unit;
	const char *help;
	unsigned int first, count;  /* its cells */
	unsigned int rows, columns; /* its dimensions; rows 0: no labels, columns 0: one label */
	const char *const *row_names;
	const char *const *column_names;
};

extern const struct counter_info counter_infos[COUNTER_COUNT];

#endif
