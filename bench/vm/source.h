/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's source, as Debian packages it, with Debian's patches. The cache has
 *
 *	sources/linux-7.3.4/		the tree
 *	sources/linux-7.3.4.json	{ "schema": "tlbvm-source/1", "version": "7.3.4",
 *					  "packages": [ ... ], "bytes": 166780612,
 *					  "fetched": "2026-11-30T12:00:00Z", "stands_for": "7.3" }
 *
 * "stands_for" is there when a series was gone and its successor was taken.
 */
#ifndef TLBVM_SOURCE_H
#define TLBVM_SOURCE_H

#include <jansson.h>

#include "vm/archive.h"

/* What begins the name of a source. */
#define SOURCE	      "source:"
#define SOURCE_SCHEMA "tlbvm-source/1"

/* The kernel's version in that of its package: "7.3.4" of "7.3.4-1~bpo13+1". To be freed. */
char *source__version(const struct package *package, const struct arch *arch);

/* The package with the newest source of @series ("7.3", or "7" for any 7.x), or NULL. */
const struct package *source__choose(const struct package *packages, size_t count,
				     const struct arch *arch, const char *series);

/*
 * Brings the newest source of @series to the cache, unless it is there. Returns what its .json
 * says with "name" and "path" added (a new reference), or NULL after a message with *err set.
 */
json_t *source__fetch(const struct arch *arch, const char *series, int *err);

/* The same of each source in the cache, those without .json (unpacked by hand) as well. */
json_t *source__cached(void);

/* Of each series in the lists: { "name": "source:7.3", "version", "bytes" }. New reference. */
json_t *source__available(const struct archive *archive);

#endif
