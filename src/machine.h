/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_MACHINE_H
#define TLBSTAT_MACHINE_H

#include "probes.h"

/*
 * Fills what can be known without BPF: CPUs, the broadcast instruction, the flush ceiling, the
 * hypervisor's flush function. 0, or a negative errno after a message.
 */
int machine__read(struct machine *machine);

#endif
