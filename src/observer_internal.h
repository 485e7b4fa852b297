/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_OBSERVER_INTERNAL_H
#define TLBSTAT_OBSERVER_INTERNAL_H

#include "observer.h"
#include "probes.h"
#include "tlbi_probes.h"

struct observer {
	struct probes probes;
	bool kernel_row;	  /* /proc/interrupts has a TLB row */
	char why_no_row[112];	  /* where it has not */
	struct tlbi_probes *tlbi; /* NULL: TLBI instructions are not counted */
	char why_no_tlbi[256];
	const struct cgroup_list *cgroups; /* NULL: cgroups are not told apart */
	uint64_t cgroup_id[CGROUP_SLOTS];  /* as the BPF map has it, by slot; 0: not in it */
	struct cells_by_cpu *buffer;	   /* one struct per possible CPU, for the map read */
};

#endif
