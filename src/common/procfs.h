/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own counters, as text. Each parser works on a buffer, so that it is tested and
 * fuzzed without root, and never assumes a line length: on a large machine one line of
 * /proc/interrupts has tens of kilobytes.
 */
#ifndef TLBSTAT_PROCFS_H
#define TLBSTAT_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpus.h"

/* Counts per CPU id. Columns of /proc/interrupts exist for online CPUs only. */
struct percpu_counts {
	struct cpus present;	  /* the CPUs that had a column */
	uint64_t count[CPUS_MAX]; /* by CPU id, 0 where not present */
};

/*
 * Finds row @row (e.g. "TLB") in the text of /proc/interrupts. The header gives the CPU id of each
 * column; a column's position is never taken for an id.
 * Returns 0, -ENOENT (no such row), -EBADMSG (the text is not what the kernel writes, or is cut
 * off, or a CPU came or went between header and row).
 */
int procfs__parse_interrupts(const char *text, size_t len, const char *row,
			     struct percpu_counts *out);

/*
 * Finds "key value" in the text of /proc/vmstat, or of any file of that form (memory.stat, ...).
 * Returns 0, -ENOENT, -EBADMSG (not a number, or a last line without its newline: cut off).
 */
int procfs__parse_keyed(const char *text, size_t len, const char *key, uint64_t *value);

/*
 * The sum over the CPUs that have a column in both readings. A CPU that went offline in between has
 * no column any more: what it counted until then is lost to us. One that came online goes on from
 * where its kernel counter was left, which @before does not tell. In both cases *gone is set, and
 * the sum is a lower bound. A counter that wrapped at 2^32, as wide as the kernel's are, is
 * followed across the wrap.
 */
uint64_t procfs__delta(const struct percpu_counts *before, const struct percpu_counts *after,
		       bool *gone);

/* Reads a whole file of unknown size; *text is NUL-terminated and to be freed. 0 or -errno. */
int procfs__read(const char *path, char **text, size_t *len);

/*
 * procfs__read() and the parser in one. 0 or a negative errno, as above; a text that was torn by a
 * CPU that came or went is read again.
 */
int procfs__interrupts(const char *row, struct percpu_counts *out);
int procfs__vmstat(const char *key, uint64_t *value);

#endif
