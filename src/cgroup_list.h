/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups that "tlbstat daemon --cgroups" tells apart: a set that only grows, so that no series
 * of Prometheus changes its meaning. A cgroup keeps its place when it is removed and made again,
 * and when it is no longer listed.
 */
#ifndef TLBSTAT_CGROUP_LIST_H
#define TLBSTAT_CGROUP_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"

/* A text with a path per line, read. */
struct cgroup_paths {
	char *path[CGROUPS_MAX]; /* as in /proc/PID/cgroup: "/system.slice/ssh.service" */
	unsigned int line[CGROUPS_MAX];
	unsigned int count;
};

/*
 * Reads a text: a path per line, without the spaces around it; lines that are empty or begin with
 * '#' are left out. Paths are those of /proc/PID/cgroup, or begin with @mount, which is taken off;
 * slashes too many are, too. Returns 0, -ENOMEM, or -EINVAL with a sentence in @why that begins
 * with the line's number; then @out is empty.
 */
int cgroup_paths__parse(struct cgroup_paths *out, const char *text, size_t len, const char *mount,
			char *why, size_t size);
void cgroup_paths__free(struct cgroup_paths *paths);

struct listed_cgroup {
	char *path;
	uint64_t id; /* the kernel's; 0 while there is no such cgroup, or it is not listed */
	bool listed; /* in the file as it was when it was last good */
};

struct cgroup_list {
	const char *file; /* kept, not copied */
	char mount[PATH_MAX];
	struct listed_cgroup cgroup[CGROUPS_MAX]; /* number i has slot i + 1 */
	unsigned int count;
};

/*
 * Reads @file for the first time. 0, or a negative errno after a message: -ENOTSUP where cgroups of
 * version 2 are not mounted, else the file is at fault.
 */
int cgroup_list__open(struct cgroup_list **out, const char *file);
void cgroup_list__close(struct cgroup_list *list);

/*
 * Reads the file anew: new cgroups are added, and those that are gone from it keep their place. 0,
 * or a negative errno after a message; then the list is as it was.
 */
int cgroup_list__reload(struct cgroup_list *list);

/* Looks for each cgroup that is listed, and sets its id. */
void cgroup_list__find(struct cgroup_list *list);

#endif
