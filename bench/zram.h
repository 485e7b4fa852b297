/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A zram device of our own, in use as swap at the highest priority. Devices and swap that are there
 * already are never touched.
 */
#ifndef TLBBENCH_ZRAM_H
#define TLBBENCH_ZRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;

struct zram {
	unsigned int id;
	char device[32]; /* "/dev/zram1" */
};

/* Whether a device can be made here; if not, @why gets a sentence without a stop. */
bool zram__available(char *why, size_t size);

/*
 * Makes a device of @bytes (uncompressed) and turns swap on to it, every step through the journal:
 * undoing the journal removes it. Returns 0 or a negative errno after a message.
 */
int zram__create(struct journal *journal, uint64_t bytes, struct zram *out);

/* How many bytes of swap the device holds now (/proc/swaps). 0 or a negative errno. */
int zram__used(const struct zram *zram, uint64_t *bytes);

/* The journal's. */
int zram__undo_add(const char *ids, const char *unused);
int zram__undo(const char *id, const char *unused);
int zram__undo_swap(const char *device, const char *unused);

/*
 * Finds @device in the text of /proc/swaps. Returns 0 and the used bytes, -ENOENT if it is not in
 * use, -EBADMSG if the text is not what the kernel writes.
 */
int zram__parse_swaps(const char *text, size_t len, const char *device, uint64_t *used);

#endif
