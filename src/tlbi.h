/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64's TLB invalidations as instruction words. TLBI is SYS with CRn 8, or 9 with the nXS
 * qualifier; op1, CRm and op2 say what is invalidated and where. Arm Architecture Reference Manual,
 * "A64 System instructions for TLB maintenance". The 128-bit forms (TLBIP) are not among them:
 * Linux has none.
 */
#ifndef TLBSTAT_TLBI_H
#define TLBSTAT_TLBI_H

#include <stdbool.h>
#include <stdint.h>

enum tlbi_reach {
	TLBI_LOCAL,	/* the CPU that executes it */
	TLBI_BROADCAST, /* all of the inner (is) or outer (os) shareable domain */
	TLBI_REACHES
};

/* "local", "broadcast" */
extern const char *const tlbi_reach_names[TLBI_REACHES];

struct tlbi_operation {
	const char *name;    /* as in assembler: vae1is, vae1isnxs */
	uint32_t word;	     /* with register x0 */
	bool takes_argument; /* an address or an address space, in a register */
	enum tlbi_reach reach;
};

/* Those of exception levels 1 and 2; each operation is followed by its nXS form. */
#define TLBI_OPERATIONS 126
extern const struct tlbi_operation tlbi_operations[TLBI_OPERATIONS];

/* The operation of an instruction word, or -1: it is no TLBI, or one of exception level 3. */
int tlbi__decode(uint32_t word);

#endif
