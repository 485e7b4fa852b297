/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of Debian's kernel packages. */
#ifndef TLBVM_STOCK_H
#define TLBVM_STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/arch.h"

/* A package that the archive has. */
struct package {
	char *name;
	char *version; /* of the package, not of the kernel */
	uint64_t size; /* of the .deb, bytes */
};

/* "7.3" or "6.12": what stock:X.Y may name. */
bool stock__is_series(const char *text);

/*
 * The kernel version in the name of a package that holds a bootable image of @arch's flavour:
 * "linux-image-6.1.0-57-cloud-amd64" and "linux-binary-7.3.4+deb13-cloud-amd64" (7.x splits the
 * package; its linux-image- is empty) hold "6.1.0-57-cloud-amd64" and "7.3.4+deb13-cloud-amd64".
 * NULL for other packages: -dbg, -unsigned, other flavours, names that follow the newest version.
 */
const char *stock__version(const char *package, const struct arch *arch);

/* Whether a kernel version belongs to a series: 6.12.117+deb13 to 6.12 and to 6, not to 6.1. */
bool stock__in_series(const char *version, const char *series);

/* What a split kernel consists of besides its image. */
#define STOCK_MODULES "linux-modules-"
#define STOCK_BASE    "linux-base-" /* configuration, list of built-in modules */

/* Whether the modules of this image are in a package of their own. */
bool stock__is_split(const struct package *image);

/* The package named @prefix and @version, or NULL. */
const struct package *stock__part(const struct package *packages, size_t count, const char *prefix,
				  const char *version);

/* The newest image of @series among @packages whose modules are there too, or NULL. */
const struct package *stock__choose(const struct package *packages, size_t count,
				    const struct arch *arch, const char *series);

/* The newer of two kernel versions is the larger, as strcmp() tells. */
int stock__compare(const char *a, const char *b);

#endif
