/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TLBSTAT_OBSERVER_CGROUPS_H
#define TLBSTAT_OBSERVER_CGROUPS_H

#include "observer.h"

/* Reads the counts by cgroup, if they are told apart. 0 or a negative errno after a message. */
int observer_cgroups__read(struct observer *observer, struct snapshot *out);

#endif
