/* SPDX-License-Identifier: GPL-2.0-only */
/* What runs the guest's instructions: the processor (KVM) or QEMU's emulation (TCG). */
#ifndef TLBVM_ACCEL_H
#define TLBVM_ACCEL_H

#include <stdbool.h>

#include "vm/arch.h"

enum accel {
	ACCEL_AUTO, /* KVM if a guest really runs under it, else ACCEL_TCG_SINGLE */
	ACCEL_KVM,
	ACCEL_TCG_SINGLE, /* all vCPUs take turns on one thread: best for counting */
	ACCEL_TCG_MULTI,  /* a thread per vCPU: real concurrency */
	ACCEL_COUNT,
};

/* The names of the command line: "auto", "kvm", "tcg-single", "tcg-multi". */
bool accel__parse(const char *name, enum accel *out);

/* QEMU's argument for -accel. */
const char *accel__argument(enum accel accel);

/*
 * Settles ACCEL_AUTO, and checks ACCEL_KVM. A verdict on KVM is kept in the cache until the next
 * boot of the host or another @qemu_version.
 * Returns 0, or -ENOTSUP if KVM was asked for and does not work (after saying why).
 */
int accel__choose(const struct arch *arch, const char *qemu_version, enum accel wanted,
		  enum accel *out);

/* A guest failed under KVM although the small probe ran: remembers that. */
void accel__mark_broken(const struct arch *arch, const char *qemu_version);

#endif
