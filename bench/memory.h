/* SPDX-License-Identifier: GPL-2.0-only */
/* Private anonymous memory with a word of its own in every page, and where its pages are. */
#ifndef TLBBENCH_MEMORY_H
#define TLBBENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory {
	unsigned char *base;
	uint64_t pages; /* of the base size */
	size_t page_size;
	int pagemap;	   /* /proc/self/pagemap: belongs to the process that mapped it */
	uint64_t *entries; /* room for a part of pagemap, so that counting allocates nothing */
};

/* Where pages are, by the bits of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
struct page_counts {
	uint64_t present; /* bit 63 */
	uint64_t swapped; /* bit 62 */
	uint64_t none;	  /* never touched, or given back */
};

/*
 * Maps @pages pages, without or (@thp) with transparent huge pages, aligned to the size of a huge
 * one. Nothing is touched yet. Returns 0 or a negative errno after a message.
 */
int memory__map(struct memory *memory, uint64_t pages, bool thp);

/* Writes each page's word. */
void memory__fill(struct memory *memory);

/*
 * Pages that were just faulted in wait in a list of their CPU until it is full, and cannot be
 * reclaimed before. This fills the list of the calling CPU with other pages, so that none of
 * @memory is left in it. Returns 0 or a negative errno after a message.
 */
int memory__settle(void);

/* Reads each page's word (which brings the page back), and returns how many are not as written. */
uint64_t memory__wrong(const struct memory *memory);

/* Counts where the pages are. Touches none. Returns 0 or a negative errno after a message. */
int memory__count(const struct memory *memory, struct page_counts *out);

void memory__unmap(struct memory *memory);

/* Adds @count entries of a pagemap to @counts. */
void page_counts__add(struct page_counts *counts, const uint64_t *entries, size_t count);

/*
 * How many pages of the whole calling process are in swap, by the kernel's own walk over its page
 * tables (Swap in /proc/self/smaps_rollup). Returns 0 or a negative errno after a message.
 */
int memory__process_swapped(uint64_t *pages);

#endif
