/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The observer: probes in the kernel, read as snapshots; two snapshots make a report.
 *
 *	struct observer *observer;
 *	struct observer_options options = { 0 };
 *	int err = observer__open(&observer, &options);
 *	observer__snapshot(observer, &before);
 *	... what is to be measured ...
 *	observer__snapshot(observer, &after);
 *	report__make(&report, observer, &before, &after);
 *
 * Where the kernel refuses the probes, the observer still opens unless options.strict is set: it
 * then reads the kernel's own counters only, and observer__has() tells what is gone and why.
 */
#ifndef TLBSTAT_OBSERVER_H
#define TLBSTAT_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "common/cpus.h"
#include "common/procfs.h"
#include "counters.h"
#include "tlbi_limits.h"

/* How lazy and not-loaded CPUs are told apart. */
enum classify_mode {
	CLASSIFY_AUTO,	/* exact up to 32 online CPUs, else sampled */
	CLASSIFY_EXACT, /* each decision of the kernel is seen; costs a probe per CPU in the mask */
	CLASSIFY_SAMPLED, /* a share of flushes, so that 32 CPUs are read per flush on average */
	CLASSIFY_OFF,
};

/* How functions are attached to. */
enum attach_method {
	ATTACH_AUTO, /* BPF trampolines (fentry/fexit), else kprobes */
	ATTACH_FENTRY,
	ATTACH_KPROBE,
	ATTACH_NONE, /* no BPF at all: the kernel's own counters only */
};

/* Whether arm64's TLB invalidations are counted: src/tlbi_probes.h. */
enum tlbi_mode {
	TLBI_DEFAULT, /* off */
	TLBI_OFF,
	TLBI_EXACT, /* a kprobe at each instruction; where that fails, so does observer__open() */
	TLBI_TRY,   /* the same where there are such instructions; a refusal is only told */
};

struct observer_options {
	enum classify_mode classify;
	enum attach_method method;
	enum tlbi_mode tlbi;
	bool strict;	/* a counter that cannot be had is a failure (-ENOTSUP) */
	bool by_cgroup; /* tell requested CPUs apart as observer__set_cgroups() says */
};

struct observer;

/* What one reading holds. Large (64 KiB and more): allocate it, or make it static. */
struct snapshot {
	uint64_t time_ns;		   /* CLOCK_MONOTONIC */
	uint64_t cell[CELL_COUNT];	   /* sums over CPUs; meaningful where observer__has() */
	uint64_t handled_by_cpu[CPUS_MAX]; /* of the TLB row's kind: mm_range and batch */
	bool kernel_seen;		   /* /proc/interrupts has a TLB row */
	bool settled;			   /* the row stood still while the cells were read */
	struct percpu_counts kernel;	   /* the TLB row of /proc/interrupts */
	uint64_t vm_remote_flush;	   /* nr_tlb_remote_flush, if vm_seen */
	uint64_t vm_remote_received;	   /* nr_tlb_remote_flush_received, if vm_seen */
	bool vm_seen;			   /* the kernel has CONFIG_DEBUG_TLBFLUSH */
	uint64_t missed;		   /* probe runs the kernel skipped, all probes */
	struct cpus online;
	uint64_t tlbi[TLBI_SITES_MAX]; /* by site, where observer__tlbi() */
	bool missed_known;	       /* missed is all there is: not on kernels before 6.7 */
	uint64_t cgroup[CGROUP_SLOTS]; /* CPUs requested, by slot, where observer__cgroups() */
};

/*
 * Loads and attaches. Returns 0 (also when BPF is refused and !strict), or a negative errno after
 * saying on stderr what was tried: -ENOTSUP when strict and a counter cannot be had, -ENOMEM.
 */
int observer__open(struct observer **out, const struct observer_options *options);
void observer__close(struct observer *observer);

/* Reads everything once. 0 or a negative errno, after a message. */
int observer__snapshot(struct observer *observer, struct snapshot *out);

/*
 * Counts what the cgroups of @list, and those below them, request from here on in their slots, and
 * all else in CGROUP_OTHER. The list is kept, not copied; to be called again after each change of
 * its ids. 0, also where requested CPUs cannot be counted, or a negative errno after a message.
 */
struct cgroup_list;
int observer__set_cgroups(struct observer *observer, const struct cgroup_list *list);

/* The list that is counted by, or NULL. */
const struct cgroup_list *observer__cgroups(const struct observer *observer);

/* Whether a counter counts here; if not, *why (may be NULL) is set to a sentence without a stop. */
bool observer__has(const struct observer *observer, enum counter counter, const char **why);

/* The same for one cell, e.g. CELL_asked_cpus + PATH_ALL. */
bool observer__has_cell(const struct observer *observer, unsigned int cell, const char **why);

/* True if a cell is not counted because what it counts cannot happen here. */
bool observer__cannot_occur(const struct observer *observer, unsigned int cell);

/* True if a cell counts what this kernel does not do: it is told as not seen, but nothing is amiss.
 */
bool observer__is_foreign(const struct observer *observer, unsigned int cell);

/* True if a cell is estimated from a sample instead of counted; see report__estimate(). */
bool observer__is_sampled(const struct observer *observer, unsigned int cell);

/* Why the kernel's own count cannot be read; empty where it can. */
const char *observer__why_no_row(const struct observer *observer);

/* True if no BPF program could be attached; *why names the cause. */
bool observer__fallback(const struct observer *observer, const char **why);

/* True if this machine flushes other CPUs without any interrupt: there is nothing to fall back to.
 */
bool observer__never_interrupts(const struct observer *observer);

/* The TLBI instructions that are counted, or NULL; *why (may be NULL) says why none are. */
struct tlbi_sites;
const struct tlbi_sites *observer__tlbi(const struct observer *observer, const char **why);

/* One line per probe and per counter: what is counted, by which way, what is not and why. */
void observer__print_check(const struct observer *observer, FILE *out);
json_t *observer__check_json(const struct observer *observer);

/* The difference of two snapshots. */
struct report {
	const struct observer *observer;
	double seconds;
	uint64_t cell[CELL_COUNT];
	uint64_t handled_by_cpu[CPUS_MAX];
	bool kernel_seen;	    /* kernel_interrupts is known */
	uint64_t kernel_interrupts; /* delta of the TLB row: the truth for handled */
	bool vm_seen;
	uint64_t vm_remote_flush, vm_remote_received;
	uint64_t missed;
	bool missed_known;
	uint64_t tlbi[TLBI_SITES_MAX];
	bool settled;  /* both ends were read while nothing moved */
	bool cpu_gone; /* a CPU came or went in between: the truth is incomplete */
	unsigned int online;
};

void report__make(struct report *out, const struct observer *observer,
		  const struct snapshot *before, const struct snapshot *after);

/* Sums over one counter: all its cells, or those of one path. Only for counters observer__has(). */
uint64_t report__sum(const struct report *report, enum counter counter);
uint64_t report__path(const struct report *report, enum counter counter, enum flush_path path);
uint64_t report__cell(const struct report *report, enum counter counter, unsigned int index);

/* CPUs asked per flush that went to other CPUs; false when there was none. */
bool report__mean_targets(const struct report *report, double *mean);

/*
 * A value below which the share @share (0 to 1) of a histogram lies, from its log2 buckets: exact
 * to a factor of two. False when the histogram is empty or not counted here.
 */
bool report__percentile(const struct report *report, enum counter histogram, double share,
			double *value);

/* An estimate with its 95% interval; n is the number of flushes it rests on. */
struct estimate {
	double value, low, high;
	uint64_t n;
};

/*
 * CPUs of one path left out for @reason (lazy or not loaded), where classification is sampled: the
 * known number of CPUs left out, split by the sampled flushes. False without any sample.
 */
bool report__estimate(const struct report *report, enum flush_path path, enum filter_reason reason,
		      struct estimate *out);

/*
 * requested - self - taken out by the batch filter - preempted - lazy - not loaded - asked of one
 * path: 0, unless an initiator moved or a CPU changed its state between two stages. 0 too where one
 * of them cannot be seen exactly.
 */
int64_t report__unaccounted(const struct report *report, enum flush_path path);

/*
 * handled (mm_range and batch) minus the kernel's TLB interrupts: 0 when both agree.
 * Returns false when one of the two cannot be seen, or a CPU came or went.
 */
bool report__difference(const struct report *report, int64_t *difference);

/* The printed funnel, and the trust line that ends every report. */
void report__print(const struct report *report, FILE *out);
void report__print_trust(const struct report *report, FILE *out);

/*
 * CSV: a row per report, with the same header on every machine; a field is empty where the number
 * is not seen. Where TLBI instructions are counted, the rows are these instead. @time is the first
 * field, NULL: there is none.
 */
void report__csv_header(const struct report *report, bool timestamp, FILE *out);
void report__csv_row(const struct report *report, const char *time, FILE *out);

/* The same as a JSON object: "funnel", "estimates", "histograms", "unsupported", "trust". New
 * reference; NULL if out of memory. */
json_t *report__json(const struct report *report);

#endif
