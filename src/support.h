/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_SUPPORT_H
#define TLBSTAT_SUPPORT_H

#include "probes.h"

/* Fills probes->gone[] from the probes that are attached, the machine, and the classification. */
void support__decide(struct probes *probes);

/* Why lazy and not-loaded CPUs are not counted one by one; NULL if they are. */
const char *support__why_not_exact(const struct probes *probes);

#endif
