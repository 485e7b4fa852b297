/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between the architectures a guest can have: one row each. */
#ifndef TLBVM_ARCH_H
#define TLBVM_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch {
	const char *name;     /* as uname -m prints it, or an alias of it */
	const char *elf_name; /* for messages */
	uint16_t elf_machine; /* EM_... of its programs */
	const char *debian;   /* Debian's name for it */
	const char *flavour;  /* the end of the names of its stock kernel packages */
	const char *qemu;     /* the emulator */
	const char *qemu_package;
	const char *machine;
	const char *cpu;
	const char *console;		   /* the kernel's name for the first serial port */
	const char *results_port;	   /* the guest's file for the second one */
	const char *const *results_device; /* QEMU's arguments that make it, on chardev "results" */
	const char *hmat;		   /* what -M needs for an HMAT; NULL if it has none */
	unsigned int max_cpus;		   /* what emulation can bring up */
	const uint8_t *probe;		   /* firmware that ends QEMU with ARCH_PROBE_EXIT */
	size_t probe_size;
};

/* The probe's answer, as the exit code of QEMU's isa-debug-exit device: (0x10 << 1) | 1. */
#define ARCH_PROBE_EXIT 33

/* True if the programs of this machine run in such a guest. */
bool arch__is_own(const struct arch *arch);

/* NULL if tlbvm has no such architecture. */
const struct arch *arch__find(const char *name);

/* The same for the value of the command line's @option: exits with EXIT_USAGE after a message. */
const struct arch *arch__find_or_err(const char *option, const char *name);

/* The names, for messages: "x86_64, aarch64 (arm64)". */
const char *arch__names(void);

#endif
