/* SPDX-License-Identifier: GPL-2.0-only */
#include "tlbi.h"

/* SYS #op1, Cn, Cm, #op2, x0 */
#define SYS(op1, crn, crm, op2) \
	(0xd5080000u | (op1) << 16 | (crn) << 12 | (crm) << 8 | (uint32_t)(op2) << 5)
#define SYS_MASK  0xfff80000u
#define CRN(word) ((word) >> 12 & 15)

#define CRN_TLBI     8
#define CRN_TLBI_NXS 9

const char *const tlbi_reach_names[TLBI_REACHES] = { "local", "broadcast" };

/* An operation and its nXS form. */
#define PAIR(name, argument, reach, op1, crm, op2)                            \
	{ name, SYS(op1, CRN_TLBI, crm, op2), argument, reach },              \
	{                                                                     \
		name "nxs", SYS(op1, CRN_TLBI_NXS, crm, op2), argument, reach \
	}

/* The same for the CPU itself, for the inner and for the outer shareable domain: CRm tells. */
#define FORMS(name, argument, op1, crm, crm_is, crm_os, op2)                 \
	PAIR(name, argument, TLBI_LOCAL, op1, crm, op2),                     \
		PAIR(name "is", argument, TLBI_BROADCAST, op1, crm_is, op2), \
		PAIR(name "os", argument, TLBI_BROADCAST, op1, crm_os, op2)

/* One entry or address space, or all; and ranges. */
#define SINGLE(name, argument, op1, op2) FORMS(name, argument, op1, 7, 3, 1, op2)
#define RANGE(name, op1, op2)		 FORMS(name, true, op1, 6, 2, 5, op2)

/* By intermediate physical address: CRm tells inner shareable (0) from the rest, op2 these. */
#define STAGE2(name, op2_is, op2, op2_os)                            \
	PAIR(name, true, TLBI_LOCAL, 4, 4, op2),                     \
		PAIR(name "is", true, TLBI_BROADCAST, 4, 0, op2_is), \
		PAIR(name "os", true, TLBI_BROADCAST, 4, 4, op2_os)

const struct tlbi_operation tlbi_operations[TLBI_OPERATIONS] = {
	SINGLE("vmalle1", false, 0, 0),
	SINGLE("vae1", true, 0, 1),
	SINGLE("aside1", true, 0, 2),
	SINGLE("vaae1", true, 0, 3),
	SINGLE("vale1", true, 0, 5),
	SINGLE("vaale1", true, 0, 7),
	RANGE("rvae1", 0, 1),
	RANGE("rvaae1", 0, 3),
	RANGE("rvale1", 0, 5),
	RANGE("rvaale1", 0, 7),
	SINGLE("alle2", false, 4, 0),
	SINGLE("vae2", true, 4, 1),
	SINGLE("alle1", false, 4, 4),
	SINGLE("vale2", true, 4, 5),
	SINGLE("vmalls12e1", false, 4, 6),
	RANGE("rvae2", 4, 1),
	RANGE("rvale2", 4, 5),
	STAGE2("ipas2e1", 1, 1, 0),
	STAGE2("ripas2e1", 2, 2, 3),
	STAGE2("ipas2le1", 5, 5, 4),
	STAGE2("ripas2le1", 6, 6, 7),
};

int tlbi__decode(uint32_t word)
{
	if ((word & SYS_MASK) != SYS(0, 0, 0, 0) ||
	    (CRN(word) != CRN_TLBI && CRN(word) != CRN_TLBI_NXS))
		return -1;
	for (int i = 0; i < TLBI_OPERATIONS; i++)
		if (tlbi_operations[i].word == (word & ~31u))
			return i;
	return -1;
}
