/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernels to boot: those in the cache, those of the archive, and files of the user. */
#ifndef TLBVM_KERNELS_H
#define TLBVM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "vm/arch.h"

/*
 * The cache holds one folder per kernel, made elsewhere and renamed to
 *
 *	kernels/stock-7.3.4+deb13-cloud-amd64/
 *		vmlinuz		what QEMU's -kernel takes
 *		modules/	kernel/..., modules.builtin
 *		config
 *		meta.json	{ "schema": "tlbvm-kernel/1", "version": "7.3.4+deb13-cloud-amd64",
 *				  "arch": "x86_64", "origin": "stock", "packages": [ ... ],
 *				  "bytes": 36000000, "fetched": "2026-11-30T12:00:00Z",
 *				  "stands_for": "7.3" }
 *
 * "stands_for" is there when a series was gone and its successor was taken.
 */
#define KERNEL_SCHEMA "tlbvm-kernel/1"

struct kernel {
	char *name;    /* as the user gave it: "stock:7.3", or a path */
	char *version; /* "7.3.4+deb13-cloud-amd64"; NULL if not known */
	char *image;   /* what QEMU's -kernel takes */
	char *modules; /* folder to be searched for modules; NULL if there is none */
};

/*
 * Finds the kernel that @name means: "stock:X.Y" (from the cache, else from the archive), an image,
 * or a folder that holds "vmlinuz" and perhaps "modules". @modules is the user's own module tree,
 * or NULL. Returns 0, -EINVAL if there is no such kernel, or another negative errno; always after a
 * message.
 */
int kernel__find(struct kernel *out, const struct arch *arch, const char *name,
		 const char *modules);
void kernel__free(struct kernel *kernel);

/*
 * Brings the newest kernel of @series ("7.3") from the archive to the cache, unless it is there.
 * Returns its meta.json (a new reference), or NULL after a message with *err set.
 */
json_t *kernels__fetch(const struct arch *arch, const char *series, int *err);

/* The meta.json of each kernel in the cache with its "name" and "path" added. New reference. */
json_t *kernels__cached(void);

/*
 * What the archive has for @arch, and the kernel sources that it has: the newest of each series, as
 * stock__available() and source__available() tell. New reference; NULL after a message.
 */
json_t *kernels__available(const struct arch *arch);

#endif
