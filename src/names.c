/* SPDX-License-Identifier: GPL-2.0-only */
#include "names.h"

#include <stddef.h>

const char *const path_names[PATH_COUNT] = { "mm_range", "batch", "kernel_range", "all" };
const char *const reach_names[REACH_COUNT] = { "local", "ipi", "broadcast" };
const char *const filter_names[FILTER_COUNT] = { "lazy", "not_loaded", "preempted_vcpu",
						 "batch_filter" };
const char *const handled_names[HANDLED_COUNT] = { "mm_range", "batch", "kernel" };
const char *const unneeded_names[UNNEEDED_COUNT] = {
	[UNNEEDED_WRONG_MM] = "wrong_mm",	[UNNEEDED_INIT_MM] = "init_mm",
	[UNNEEDED_GLOBAL_ASID] = "global_asid", [UNNEEDED_LAZY] = "lazy",
	[UNNEEDED_CURRENT] = "current",
};
const char *const sample_names[SAMPLE_COUNT] = {
	[SAMPLE_FLUSHES] = "flushes",
	[SAMPLE_CPUS] = "cpus",
	[SAMPLE_LAZY] = "lazy",
	[SAMPLE_STALE] = "not_loaded",
	[SAMPLE_LAZY_SQ] = "lazy_sq",
	[SAMPLE_STALE_SQ] = "not_loaded_sq",
	[SAMPLE_LAZY_STALE] = "lazy_not_loaded",
};
const char *const lost_names[LOST_COUNT] = { "moved", "duration", "batch" };
const char *const mms_names[MMS_BUCKETS] = { "1", "2", "3", "4", "5", "6", "7", "8", "overflow" };

/* Labels per dimension: rows, columns and their names. */
#define LABELS_ONE	   0, 0, NULL, NULL
#define LABELS_PATH	   PATH_COUNT, 0, path_names, NULL
#define LABELS_PATH_REACH  PATH_COUNT, REACH_COUNT, path_names, reach_names
#define LABELS_PATH_FILTER PATH_COUNT, FILTER_COUNT, path_names, filter_names
#define LABELS_HANDLED	   HANDLED_COUNT, 0, handled_names, NULL
#define LABELS_UNNEEDED	   UNNEEDED_COUNT, 0, unneeded_names, NULL
#define LABELS_SAMPLE	   PATH_COUNT, SAMPLE_COUNT, path_names, sample_names
#define LABELS_LOST	   LOST_COUNT, 0, lost_names, NULL
#define LABELS_MMS	   MMS_BUCKETS, 0, mms_names, NULL
#define LABELS_HIST	   0, 0, NULL, NULL

/* LABELS_x is several values: one more expansion before they become the initializer's. */
#define INFO(...)           \
	{                   \
		__VA_ARGS__ \
	}

const struct counter_info counter_infos[COUNTER_COUNT] = {
#define X(id, dim, unit, help) \
	[COUNTER_##id] = INFO(#id, unit, help, CELL_##id, DIM_##dim, LABELS_##dim),
	TLB_COUNTERS (X)
#undef X
};
