/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests of another architecture need that this machine's own packages cannot give: libraries
 * to link our programs with, and busybox. Taken from Debian's packages for that architecture, and
 * unpacked into the cache: such packages cannot be installed beside the machine's own (busybox), or
 * only in exactly the same version (libraries), and need root.
 *
 *	sysroots/bookworm-arm64/
 *		usr/include, usr/lib/aarch64-linux-gnu, bin/busybox
 *		meta.json	{ "schema": "tlbvm-sysroot/1", "packages": [ ... ],
 *				  "fetched": "2026-11-30T12:00:00Z" }
 */
#ifndef TLBVM_SYSROOT_H
#define TLBVM_SYSROOT_H

#include "vm/arch.h"

/*
 * The folder for @arch, to be freed; what is not in the cache is fetched. The packages are those of
 * the Debian release that this machine runs, which its cross compiler is of as well, and of Debian
 * 12 where it runs none. NULL with *err set, after a message.
 */
char *sysroot__find(const struct arch *arch, int *err);

/* The static busybox in the folder @sysroot, to be freed. NULL after a message. */
char *sysroot__busybox(const char *sysroot);

#endif
