/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_OBSERVER_INTERNAL_H
#define TLBSTAT_OBSERVER_INTERNAL_H

#include "observer.h"
#include "probes.h"

struct observer {
	struct probes probes;
	bool kernel_row;	     /* /proc/interrupts has a TLB row */
	char why_no_row[112];	     /* where it has not */
	struct cells_by_cpu *buffer; /* one struct per possible CPU, for the map read */
};

#endif
