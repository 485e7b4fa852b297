/* SPDX-License-Identifier: GPL-2.0-only */
/* What would change a count in the middle of a run is turned off while it lasts. */
#ifndef TLBBENCH_QUIET_H
#define TLBBENCH_QUIET_H

struct journal;
struct workload_options;

/*
 * For the machine, each through the journal and only if it is in the way: zswap, NUMA balancing;
 * with --thp also a setting that forbids huge pages. Returns 0 or a negative errno after a message.
 */
int quiet__machine(struct journal *journal, const struct workload_options *options);

/*
 * For the calling process, and those it forks: khugepaged, unless --thp. It would join pages of the
 * process's other memory into huge ones in the middle of a run; that frees a page table, with a
 * flush that trims the mask. Returns 0 or a negative errno after a message.
 */
int quiet__process(const struct workload_options *options);

#endif
