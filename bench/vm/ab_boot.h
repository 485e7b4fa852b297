/* SPDX-License-Identifier: GPL-2.0-only */
/* The boots of a comparison: which there are, in which order, and what became of each. */
#ifndef TLBVM_AB_BOOT_H
#define TLBVM_AB_BOOT_H

#include <stdbool.h>
#include <stddef.h>

#include "vm/guest_options.h"

enum ab_side {
	AB_A,	    /* one kernel */
	AB_B,	    /* the other one */
	AB_CONTROL, /* the first once more, for the control */
	AB_BOTH,    /* one kernel with a switch: a result for each state of it */
};

enum ab_outcome {
	BOOT_WAITS,
	BOOT_ENDED,
	BOOT_LOST,
};

struct ab_boot {
	enum ab_side side;
	unsigned int number; /* of its side, from 1 */
	enum ab_outcome outcome;
};

/* What all boots have in common. */
struct ab_plan {
	struct guest_options guest;
	const char *kernel[2];	/* of AB_A and AB_B; of AB_BOTH the first */
	const char *toggle;	/* the switch, or NULL */
	const char *folder;	/* for results and logs */
	const char *const *job; /* "tlbbench run ...", ended by NULL */
	struct ab_boot *boots;
	size_t count;
	bool some_failed, some_unsupported; /* workloads, in a guest */
};

/*
 * Whether @words, ended by NULL, are "tlbbench run ..." without what the comparison adds itself;
 * says what is wrong.
 */
bool ab_job__check(const char *const *words);

/*
 * Lists the boots: A B B A ... of two kernels, @each of each; with @control and one of each, one
 * more of A. With a switch @each boots. Returns 0 or -ENOMEM after a message.
 */
int ab_plan__make(struct ab_plan *plan, unsigned int each, bool control);
void ab_plan__free(struct ab_plan *plan);

/*
 * Boots them one by one, with their output in files "NAME.log", and says on stderr how far it is. A
 * boot that failed is tried once more, and is BOOT_LOST if it fails again.
 * Returns EXIT_DONE when all have been tried; EXIT_UNSUPPORTED, EXIT_USAGE or EXIT_FAILED after a
 * message if it makes no sense to go on; 128 + N when signal N asked to stop.
 */
int ab_plan__run(struct ab_plan *plan);

/* "a.1", "control.1"; of AB_BOTH "1", whose results are "a.1" and "b.1". To be freed. */
char *ab_boot__name(const struct ab_boot *boot);

#endif
