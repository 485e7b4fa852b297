/* SPDX-License-Identifier: GPL-2.0-only */
/* Debian's kernels: from their packages to a folder of the cache. */
#ifndef TLBVM_STOCK_FETCH_H
#define TLBVM_STOCK_FETCH_H

#include <jansson.h>

#include "vm/archive.h"

/* What begins the name of such a kernel. */
#define STOCK "stock:"

/*
 * Brings the newest kernel of @series ("7.3") to the cache, unless it is there; see kernels.h for
 * what is in its folder. Returns 0 or a negative errno after a message.
 */
int stock__fetch(struct archive *archive, const char *series);

/*
 * The newest of each series in the package lists, sorted: { "name": "stock:7.3", "version",
 * "bytes" to download, "arch" }. New reference.
 */
json_t *stock__available(const struct archive *archive);

#endif
