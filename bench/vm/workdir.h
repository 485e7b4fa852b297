/* SPDX-License-Identifier: GPL-2.0-only */
/* A private folder for one run, in $XDG_RUNTIME_DIR, $TMPDIR or /tmp. */
#ifndef TLBVM_WORKDIR_H
#define TLBVM_WORKDIR_H

struct workdir {
	char *path;
	int lock; /* held as long as the run lives */
};

/*
 * Makes the folder, and removes those that runs of this user left behind when they were killed:
 * their lock is free. Returns 0 or a negative errno after a message.
 */
int workdir__create(struct workdir *out);

/* A path inside, to be freed; NULL if out of memory. */
char *workdir__path(const struct workdir *workdir, const char *name);

void workdir__remove(struct workdir *workdir);

/* rm -r. Returns 0 or a negative errno; prints nothing. */
int remove_tree(const char *path);

#endif
