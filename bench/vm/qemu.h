/* SPDX-License-Identifier: GPL-2.0-only */
/* QEMU for one guest: its command line, the kernel's, and the facts the guest is told. */
#ifndef TLBVM_QEMU_H
#define TLBVM_QEMU_H

#include <sys/types.h>

#include "vm/guest.h"

struct qemu {
	const struct guest *guest;
	enum accel accel;      /* settled */
	uint64_t memory;       /* bytes */
	const char *initramfs; /* its path */
	const char *append;    /* the kernel's command line */
};

/* "7.2.22" of an installed QEMU, to be freed; NULL after a message that names the package. */
char *qemu__version(const struct arch *arch);

/* Memory for a guest of so many CPUs, bytes. */
uint64_t qemu__default_memory(unsigned int cpus);

/* The kernel's command line, to be freed; NULL if out of memory. */
char *qemu__append(const struct guest *guest, enum accel accel);

/* The text of JOB_FACTS, to be freed; NULL if out of memory. */
char *qemu__facts(const struct qemu *qemu);

/*
 * Starts QEMU with the writing ends of three pipes, for the two serial ports and its stderr.
 * Returns its pid or a negative errno; prints nothing.
 */
pid_t qemu__start(const struct qemu *qemu, int console, int results, int errors);

#endif
