/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every counter, declared once. This table makes the cells of the BPF map, the names and label sets
 * of the outputs, and the help texts. Adding a counter is one line here and the probe that counts.
 *
 * Included by bpf/ (clang -target bpf) and by src/, so it holds nothing but macros and enums.
 */
#ifndef TLBSTAT_COUNTERS_H
#define TLBSTAT_COUNTERS_H

/* Why the flush was asked for: the kernel's entry points. */
enum flush_path {
	PATH_MM_RANGE,	   /* flush_tlb_mm_range(): one address space */
	PATH_BATCH,	   /* arch_tlbbatch_flush(): reclaim, migration, demotion */
	PATH_KERNEL_RANGE, /* flush_tlb_kernel_range(): vmalloc, modules, BPF text */
	PATH_ALL,	   /* flush_tlb_all() */
	PATH_COUNT,
};

/* How far a flush went. */
enum flush_reach {
	REACH_LOCAL,	 /* the calling CPU only */
	REACH_IPI,	 /* handed to the cross-CPU call */
	REACH_BROADCAST, /* one instruction for all CPUs (INVLPGB, TLBI ...is) */
	REACH_COUNT,
};

/* Why a CPU of the mask was not asked. */
enum filter_reason {
	FILTER_LAZY,	       /* lazy TLB mode: flushes itself at its next switch */
	FILTER_NOT_LOADED,     /* stale bit: it runs another address space */
	FILTER_PREEMPTED_VCPU, /* paravirt: flushed when the hypervisor runs it again */
	FILTER_BATCH_FILTER,   /* runs none of the batch's address spaces: see kernel-patches/ */
	FILTER_COUNT,
};

/*
 * Which work a cross-CPU call did. Kernel-range flushes above the ceiling and flush_tlb_all() run
 * the same function without an argument, so the CPU that handles them cannot tell them apart.
 */
enum handled_path {
	HANDLED_MM_RANGE,
	HANDLED_BATCH,
	HANDLED_KERNEL, /* kernel_range and all */
	HANDLED_COUNT,
};

/* Why a handled flush had nothing to do; in the order in which flush_tlb_func() returns. */
enum unneeded_reason {
	UNNEEDED_WRONG_MM,    /* the mm asked for is not the one loaded here */
	UNNEEDED_INIT_MM,     /* only the kernel's own page tables are loaded */
	UNNEEDED_GLOBAL_ASID, /* kept up to date by INVLPGB */
	UNNEEDED_LAZY,	      /* lazy: switched to init_mm instead */
	UNNEEDED_CURRENT,     /* this CPU's generation was already new enough */
	UNNEEDED_COUNT,
};

/* Of an estimate: the sums over sampled flushes that a ratio estimator needs (see estimate.c). */
enum sample_sum {
	SAMPLE_FLUSHES,	   /* flushes classified */
	SAMPLE_CPUS,	   /* other CPUs in their masks */
	SAMPLE_LAZY,	   /* x: of these, lazy */
	SAMPLE_STALE,	   /* y: of these, not loaded */
	SAMPLE_LAZY_SQ,	   /* x^2 */
	SAMPLE_STALE_SQ,   /* y^2 */
	SAMPLE_LAZY_STALE, /* x*y */
	SAMPLE_COUNT,
};

/* What the probes could not follow; shown in the trust line. */
enum lost_kind {
	LOST_MOVED,    /* initiators that moved between reading their CPU and the flush (7.3) */
	LOST_DURATION, /* flushes without a duration: two were in flight on one CPU id */
	LOST_BATCH,    /* batches whose end was not seen, or that there was no room to follow */
	LOST_COUNT,
};

/*
 * How many address spaces a batch remembers, on kernels that filter batches: bucket i counts lists
 * of i + 1, the last one those that had more than the kernel's list holds.
 */
#define MMS_LISTED   8
#define MMS_OVERFLOW MMS_LISTED
#define MMS_BUCKETS  (MMS_LISTED + 1)

/* Log2 histograms: bucket i counts values v with 2^(i-1) <= v < 2^i; bucket 0 counts 0. */
#define HIST_BUCKETS 40

/* Cgroups that requested CPUs are told apart by: slot 0 is for all that are not listed. */
#define CGROUPS_MAX   256
#define CGROUP_SLOTS  (CGROUPS_MAX + 1)
#define CGROUP_OTHER  0
#define CGROUP_LEVELS 32 /* the root, and that much less one below it */

/* Sizes of the dimensions. */
#define DIM_ONE		1
#define DIM_PATH	PATH_COUNT
#define DIM_PATH_REACH	(PATH_COUNT * REACH_COUNT)
#define DIM_PATH_FILTER (PATH_COUNT * FILTER_COUNT)
#define DIM_HANDLED	HANDLED_COUNT
#define DIM_UNNEEDED	UNNEEDED_COUNT
#define DIM_SAMPLE	(PATH_COUNT * SAMPLE_COUNT)
#define DIM_LOST	LOST_COUNT
#define DIM_MMS		MMS_BUCKETS
#define DIM_HIST	HIST_BUCKETS

/*
 * X(id, dimension, unit, help)
 *
 * The order of the stages is the order of the funnel: requested CPUs, minus self, minus those that
 * the batch filter took out, minus preempted vCPUs, minus lazy, minus not loaded, asked, raised,
 * handled, useful.
 */
#define TLB_COUNTERS(X)                                                                           \
	X(calls, PATH, "flushes", "calls of the kernel's flush functions")                        \
	X(flushes, PATH_REACH, "flushes", "flushes by how far they went")                         \
	X(full_flushes, PATH_REACH, "flushes", "of these, flushes of everything, not of a range") \
	X(flushed_pages, PATH_REACH, "pages", "4 KiB pages named by ranged flushes")              \
	X(requested_cpus, PATH, "CPUs", "CPUs in the masks of flushes that name other CPUs")      \
	X(self_cpus, PATH, "CPUs", "of these, the calling CPU itself")                            \
	X(filtered_cpus, PATH_FILTER, "CPUs", "CPUs left out, by the reason")                     \
	X(empty_batches, ONE, "batches", "batches that ended without a flush: no CPU was left")   \
	X(batch_mms, MMS, "batches", "batches by the number of address spaces they list")         \
	X(asked_cpus, PATH, "CPUs", "other CPUs whose call queue got the flush")                  \
	X(ipis_sent, ONE, "interrupts", "interrupts raised to deliver these calls")               \
	X(kernel_runs, ONE, "runs", "runs of the functions that flush kernel mappings, all CPUs") \
	X(handled, HANDLED, "flushes", "flush calls run on a CPU that did not start them")        \
	X(useful, ONE, "flushes", "of these, flushes that removed translations")                  \
	X(unneeded, UNNEEDED, "flushes", "of these, flushes with nothing to do, by the reason")   \
	X(sampled, SAMPLE, "sums", "sums for the estimate of lazy and not-loaded CPUs")           \
	X(lost, LOST, "flushes", "what the probes could not follow")                              \
	X(multi_calls, ONE, "calls", "calls of flush_tlb_multi() itself (bypassed on 7.3)")       \
	X(duration, HIST, "ns", "time from the start of a shootdown to its last answer")          \
	X(duration_sum, ONE, "ns", "the sum of these times")                                      \
	X(targets, HIST, "CPUs", "CPUs asked per shootdown")                                      \
	X(targets_sum, ONE, "CPUs", "the sum of these CPUs")

/* COUNTER_x names a counter; CELL_x is its first cell, CELL_x_last its last one. */
enum counter {
#define X(id, dim, unit, help) COUNTER_##id,
	TLB_COUNTERS (X)
#undef X
	COUNTER_COUNT,
};

enum cell {
#define X(id, dim, unit, help) CELL_##id, CELL_##id##_last = CELL_##id + DIM_##dim - 1,
	TLB_COUNTERS (X)
#undef X
	CELL_COUNT,
};

#endif
