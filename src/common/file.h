/* SPDX-License-Identifier: GPL-2.0-only */
/* Results that are never half there: written beside, synced, renamed. */
#ifndef TLBSTAT_FILE_H
#define TLBSTAT_FILE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Replaces @path with @len bytes: a temporary file in the same folder (".NAME.XXXXXX.tmp"), mode
 * 0644, fsync, rename, fsync of the folder. The old file stays whole until the rename. Symbolic
 * links are followed; a device or a pipe is written to, not replaced. "-" writes to stdout. A pipe
 * whose reader left is no failure. Returns 0 or a negative errno after printing what failed.
 */
int file__replace(const char *path, const void *data, size_t len);

/*
 * Whether file__replace() can be expected to work on @path, before hours are spent on what it is to
 * hold: the folder is there and may be written to. Changes nothing. Returns 0 or a negative errno
 * after printing what stands in the way.
 */
int file__check_replace(const char *path);

/*
 * Writes @len bytes to a file that was opened for it, gives it mode 0644, syncs and closes it, also
 * after a failure. 0 or a negative errno; prints nothing.
 */
int file__fill(int fd, const void *data, size_t len);

/*
 * Writes a short setting (sysfs, cgroup, /proc/sys) and a newline, in one write. 0 or a negative
 * errno; prints nothing.
 */
int file__write_setting(const char *path, const char *value);

/*
 * Reads the first line of a setting, without its newline. 0 or a negative errno (-EOVERFLOW when it
 * does not fit); prints nothing.
 */
int file__read_setting(const char *path, char *out, size_t size);

/* mkdir -p. 0 or a negative errno; prints nothing. */
int file__make_dirs(const char *path);

#endif
