/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of the kernel (sysfs, /proc/sys) that a workload changes, each through the journal. */
#ifndef TLBBENCH_SETTINGS_H
#define TLBBENCH_SETTINGS_H

#include <stddef.h>

struct journal;

/*
 * Reads a setting's value. Of a list of choices ("always [madvise] never") it is the chosen one.
 * Returns 0 or a negative errno; prints nothing.
 */
int settings__read(const char *path, char *out, size_t size);

/*
 * Sets @path to @value, after writing down the value it has; no change if it has this value
 * already. Returns 0 or a negative errno after a message.
 */
int settings__set(struct journal *journal, const char *path, const char *value);

/* The journal's: gives @path the value it had. */
int settings__undo(const char *path, const char *value);

#endif
