/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_CGROUP2_H
#define TLBSTAT_CGROUP2_H

#include <stddef.h>

/*
 * Where cgroups of version 2 are mounted, by /proc/self/mounts: all of them, or the part beside
 * version 1 (/sys/fs/cgroup/unified). 0, -ENOENT where they are not, or another negative errno.
 */
int cgroup2__mount(char *out, size_t size);

#endif
