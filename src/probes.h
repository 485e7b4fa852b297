/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which probes exist, what each needs, and how each was attached on this kernel. Chosen by trying,
 * never by version: see probes__attach().
 */
#ifndef TLBSTAT_PROBES_H
#define TLBSTAT_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"
#include "observer.h"

struct bpf_link;
struct shootdown_bpf;

enum probe_id {
	PROBE_MM_RANGE,
	PROBE_BATCH,
	PROBE_BATCH_EXIT,
	PROBE_KERNEL_RANGE,
	PROBE_ALL,
	PROBE_MULTI,
	PROBE_PARAVIRT,
	PROBE_NATIVE,
	PROBE_NATIVE_EXIT,
	PROBE_DECISION,
	PROBE_CSD_QUEUE,
	PROBE_IPI_MASK,
	PROBE_IPI_CPU,
	PROBE_FUNC,
	PROBE_FUNC_EXIT,
	PROBE_DO_ALL,
	PROBE_DO_RANGE,
	PROBE_COUNT,
};

/* One probe as it is on this kernel. */
struct probe {
	const char *function;  /* the kernel function or tracepoint */
	const char *method;    /* e.g. "fentry", see method_name(); NULL: not attached */
	char attached_to[96];  /* the function's name in this kernel, with its suffix */
	char why[192];	       /* why it is not attached */
	bool unwanted;	       /* left out by choice: nothing that is asked for needs it */
	int prog_fd;	       /* -1 when not attached */
	struct bpf_link *link; /* NULL when not attached */
};

/* A unique name of a probe, e.g. "fexit_flush_tlb_func". */
const char *probe_name(enum probe_id id);

/* The reason in gone[] of a cell whose event cannot happen here; compared by address. */
extern const char cannot_occur[];

/* The reason of a cell that counts what this kernel does not do; compared by address. */
extern const char no_batch_filter[];

/* The reason of a cell that is estimated, not counted; compared by address. */
extern const char sampled_instead[];

/* What the machine and its kernel are, as far as the probes care. */
struct machine {
	struct cpus possible_cpus; /* may have holes */
	unsigned int possible;	   /* highest possible CPU id + 1 */
	unsigned int online;
	bool invlpgb;	      /* the CPU can broadcast flushes */
	bool tlbi;	      /* it has no other way to flush other CPUs: arm64 */
	bool addresses_known; /* /proc/kallsyms shows addresses */
	bool tlbstate_known;  /* BTF names cpu_tlbstate and cpu_tlbstate_shared */
	bool filters_batches; /* BTF: a batch lists its address spaces (kernel-patches/) */
	uint64_t ceiling;     /* tlb_single_page_flush_ceiling, in pages */
	const char *paravirt; /* the paravirt flush function of this hypervisor */
};

struct probes {
	struct probe probe[PROBE_COUNT];
	struct machine machine;
	enum classify_mode classify; /* EXACT, SAMPLED or OFF */
	unsigned int sample_one_in;  /* of flushes, when SAMPLED */
	bool refused;		     /* no BPF program can be loaded at all */
	char why_refused[512];
	struct shootdown_bpf *bpf;    /* NULL when refused */
	const char *gone[CELL_COUNT]; /* NULL: the cell counts; else why it does not */
};

/*
 * Loads and attaches as many of the probes as this kernel takes, and fills gone[]. A refusal is no
 * error: 0 is returned and refused or gone[] tell. Returns a negative errno only when the machine
 * itself cannot be read, after a message.
 */
int probes__attach(struct probes *probes, const struct observer_options *options);
void probes__detach(struct probes *probes);

/* What the kernel keeps about the program of one probe. */
struct probe_stats {
	uint64_t missed; /* runs that it skipped, because one was already running on that CPU */
	uint64_t run_ns; /* time in it; stands still unless kernel.bpf_stats_enabled is 1 */
};

/* False, and zeros, where the probe is not attached or the kernel does not answer. */
bool probe__stats(const struct probe *probe, struct probe_stats *out);

/* Runs of the probes that the kernel skipped, because one was already running on that CPU. */
uint64_t probes__missed(const struct probes *probes);

#endif
