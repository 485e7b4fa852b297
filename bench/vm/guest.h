/* SPDX-License-Identifier: GPL-2.0-only */
/* One job in one guest, from boot to result. */
#ifndef TLBVM_GUEST_H
#define TLBVM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/accel.h"
#include "vm/arch.h"
#include "vm/kernels.h"
#include "vm/receive.h"

/* A file of the host that the guest gets. */
struct put_file {
	const char *source;
	const char *target; /* absolute, in the guest */
};

struct guest {
	const struct arch *arch;
	const char *qemu_version; /* qemu__version() */
	const struct kernel *kernel;
	unsigned int cpus;
	uint64_t memory;     /* bytes, of all nodes with CPUs; 0 chooses by the number of CPUs */
	unsigned int nodes;  /* with memory and CPUs, 1 or more */
	uint64_t lower_tier; /* bytes of a further node of slower memory, 0 for none */
	const char *root;    /* an image with the root file system, or NULL */
	const char *append;
	enum accel accel;
	/* Nanoseconds; 0 in the first two chooses by the number of CPUs. */
	uint64_t boot_timeout, silence_timeout, timeout;
	const char *const *modules;   /* ended by NULL */
	const char *const *qemu_args; /* ended by NULL */
	const char *const *command;   /* ended by NULL */
	const struct put_file *puts;
	size_t put_count;
	const struct get_file *gets;
	size_t get_count;
	const char *console_file; /* a copy of the console, or NULL */
	bool ignore_splat;
};

/*
 * Boots, runs the command with its output on ours, brings back its files.
 * Returns the exit code for tlbvm: the job's own; 128 + N when signal N killed the job or asked us
 * to stop; or an enum exit_code after saying what went wrong.
 */
int guest__run(const struct guest *guest);

#endif
