/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's root file system: a newc cpio archive, as Linux unpacks it at boot. */
#ifndef TLBVM_INITRAMFS_H
#define TLBVM_INITRAMFS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * All paths inside are absolute ("/usr/bin/x"); missing folders above are made on the way, with
 * mode 0755. Owner is always root, times are 0: the same content gives the same bytes. Adding a
 * path twice is allowed, the kernel keeps the last one.
 *
 * The first error is kept and returned by initramfs__finish(), so that only it needs a check.
 * Errors with the user's files (they cannot be read) are said on stderr when they happen.
 */
struct initramfs;

/* Starts an archive at @path. Returns 0 or a negative errno after saying what failed. */
int initramfs__create(struct initramfs **out, const char *path);

void initramfs__add_folder(struct initramfs *archive, const char *path, mode_t mode);
void initramfs__add_data(struct initramfs *archive, const char *path, mode_t mode, const void *data,
			 size_t size);
/* A file of the host; its mode is kept. Returns 0 or a negative errno after a message. */
int initramfs__add_file(struct initramfs *archive, const char *path, const char *source);
void initramfs__add_link(struct initramfs *archive, const char *path, const char *target);
void initramfs__add_device(struct initramfs *archive, const char *path, mode_t mode,
			   unsigned int major, unsigned int minor);

/* Ends the archive and frees it. Returns 0 or the first error (negative errno), after a message. */
int initramfs__finish(struct initramfs *archive, uint64_t *size);

#endif
