/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF program of TLBIs shares with user space. */
#ifndef TLBSTAT_TLBI_LIMITS_H
#define TLBSTAT_TLBI_LIMITS_H

/* What is counted: TLBI instructions, and functions. Debian's Linux 7.3 has 322 of the first. */
#define TLBI_SITES_MAX 2048

#endif
