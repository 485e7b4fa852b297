/* SPDX-License-Identifier: GPL-2.0-only */
/* How far a long task is: one live line on a terminal, plain lines in a log. On stderr. */
#ifndef TLBVM_TRANSFER_H
#define TLBVM_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

struct transfer {
	const char *what;
	const char *folder; /* whose files grow */
	uint64_t total;	    /* bytes to come, or 0 */
	uint64_t started;
	uint64_t size, grown; /* of the folder, and when it last grew */
	bool live;
};

/* The strings are kept, not copied. */
void transfer__begin(struct transfer *transfer, const char *what, uint64_t total,
		     const char *folder);
/* To be called now and then; @context is the struct transfer. False if nothing grew for too long.
 */
bool transfer__tick(void *context);
void transfer__end(struct transfer *transfer);

#endif
