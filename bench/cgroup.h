/* SPDX-License-Identifier: GPL-2.0-only */
/* A cgroup (version 2) of our own, whose memory can be reclaimed without touching anybody else's.
 */
#ifndef TLBBENCH_CGROUP_H
#define TLBBENCH_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct journal;

struct cgroup {
	char path[PATH_MAX];
};

/* Whether cgroup__create() can work here; if not, @why gets a sentence without a stop. */
bool cgroup__available(char *why, size_t size);

/* The path of the cgroup this process is in, mount point included. Returns 0 or a negative errno.
 */
int cgroup__own(char *out, size_t size);

/*
 * Makes a cgroup with a memory controller below the closest ancestor of our own cgroup that hands
 * memory control down; where none does, the root is made to. Every step goes through the journal.
 * Returns 0 or a negative errno after a message.
 */
int cgroup__create(struct journal *journal, struct cgroup *out);

/* Moves a process into it: what it allocates from here on is charged there. 0 or -errno, says. */
int cgroup__add_process(const struct cgroup *cgroup, pid_t pid);

/*
 * How to have this kernel's memory.reclaim leave the page cache alone: the text after the size, ""
 * where it takes none, as on 6.1: then only vm.swappiness has a say.
 */
const char *cgroup__reclaim_argument(const struct cgroup *cgroup);

/*
 * Finds this process's place in the text of /proc/self/cgroup: the path after "0::".
 * Returns 0, -ENOENT (no version 2 entry), -ENAMETOOLONG.
 */
int cgroup__parse_own(const char *text, char *out, size_t size);

/* The journal's. */
int cgroup__undo(const char *path, const char *unused);
int cgroup__undo_subtree(const char *path, const char *controller);

#endif
