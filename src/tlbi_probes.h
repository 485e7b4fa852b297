/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts each TLB invalidation that an arm64 kernel executes, by a kprobe on the instruction: the
 * kernel's helpers are inline, nothing else sees them. Modules and code outside of the kernel's
 * text (boot, wake-up) are not looked at.
 */
#ifndef TLBSTAT_TLBI_PROBES_H
#define TLBSTAT_TLBI_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tlbi_sites.h"

struct tlbi_probes;

/*
 * Finds the instructions in the running kernel and attaches to all that it lets. 0, or a negative
 * errno with the reason, a sentence without a stop, in @why.
 */
int tlbi_probes__open(struct tlbi_probes **out, char *why, size_t size);
void tlbi_probes__close(struct tlbi_probes *probes);

/* All that were found; why[0] tells those that are not probed. */
const struct tlbi_sites *tlbi_probes__sites(const struct tlbi_probes *probes);

/*
 * How often each was executed since it was attached, over all CPUs, and after them, how often each
 * of tlbi_sites.function[] was called. 0 or a negative errno.
 */
int tlbi_probes__read(struct tlbi_probes *probes, uint64_t count[TLBI_SITES_MAX]);

/*
 * Executions that were not counted, since a kprobe or a BPF program was at work on that CPU. False
 * where the kernel keeps no such count (before 6.7).
 */
bool tlbi_probes__missed(const struct tlbi_probes *probes, uint64_t *missed);

#endif
