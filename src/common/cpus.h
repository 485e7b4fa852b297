/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of CPU (or NUMA node) ids: a plain value, large enough for any kernel's NR_CPUS. */
#ifndef TLBSTAT_CPUS_H
#define TLBSTAT_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Debian builds with NR_CPUS=8192, which is also the largest that Kconfig offers on x86. */
#define CPUS_MAX 8192

struct cpus {
	uint64_t word[CPUS_MAX / 64];
};

void cpus__clear(struct cpus *set);
/* Ids of CPUS_MAX and more are ignored by add/remove and never contained. */
void cpus__add(struct cpus *set, unsigned int id);
void cpus__remove(struct cpus *set, unsigned int id);
bool cpus__has(const struct cpus *set, unsigned int id);
unsigned int cpus__count(const struct cpus *set);
bool cpus__equal(const struct cpus *a, const struct cpus *b);
void cpus__and(struct cpus *out, const struct cpus *a, const struct cpus *b);
/* The lowest id >= from, or CPUS_MAX when there is none. */
unsigned int cpus__next(const struct cpus *set, unsigned int from);

#define cpus__for_each(id, set) \
	for (unsigned int id = cpus__next((set), 0); id < CPUS_MAX; id = cpus__next((set), id + 1))

/* Writes the kernel's list form ("0-3,7"), cut at @size; returns the length it would need. */
size_t cpus__format(const struct cpus *set, char *out, size_t size);

/*
 * Reads a list file of sysfs, e.g. "/sys/devices/system/cpu/online".
 * Returns 0 or a negative errno; prints nothing.
 */
int cpus__read_file(const char *path, struct cpus *out);

/* The CPUs this process may use: its affinity mask and online. Returns 0 or a negative errno. */
int cpus__allowed(struct cpus *out);

#endif
