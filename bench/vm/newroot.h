/* SPDX-License-Identifier: GPL-2.0-only */
/* In the guest: from the initramfs to the root file system of an image. */
#ifndef TLBVM_NEWROOT_H
#define TLBVM_NEWROOT_H

#include <stddef.h>

/*
 * Mounts the file system of @device for newroot__enter(). Waits for the device, which appears a
 * little after its driver. Returns 0 or a negative errno; *step then tells what was tried.
 */
int newroot__mount(const char *device, const char **step);

/* Copies the file @path of the initramfs to the same path there. 0 or a negative errno. */
int newroot__copy(const char *path);

/*
 * Makes it the root of this process and of those it starts, with what is mounted on /dev, /proc
 * and /sys. Returns 0 or a negative errno; *step then tells what was tried.
 */
int newroot__enter(const char **step);

#endif
