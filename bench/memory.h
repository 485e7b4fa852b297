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

/*
 * In a process that was forked by the one that mapped it: from here on counts its own mappings.
 * Returns 0 or a negative errno after a message.
 */
int memory__adopt(struct memory *memory);

/* Writes each page's word. */
void memory__fill(struct memory *memory);

/*
 * Writes the word of one page, and returns what was there before. It is the word beside it that is
 * touched first, by a write: a read would bring the shared page of zeros, and the write then flush
 * it. (An exchange would do on hardware, but is a read and a write under emulation.)
 */
uint64_t memory__exchange(struct memory *memory, uint64_t page);

/* Whether one page's word is as written. */
bool memory__holds(const struct memory *memory, uint64_t page);

/*
 * Pages that were just faulted in wait in a list of their CPU until it is full, and cannot be
 * reclaimed before. This fills the list of the calling CPU with other pages, so that none of
 * @memory is left in it. Returns 0 or a negative errno after a message.
 */
int memory__settle(void);

/* Reads each page's word (which brings the page back), and returns how many are not as written. */
uint64_t memory__wrong(const struct memory *memory);

/* Reads each page's word, and returns how many are zero, which no page's own is. */
uint64_t memory__zeros(const struct memory *memory);

/* Counts where the pages are. Touches none. Returns 0 or a negative errno after a message. */
int memory__count(const struct memory *memory, struct page_counts *out);

void memory__unmap(struct memory *memory);

/*
 * Whether @bytes of memory are available; if not, @why gets a sentence without a stop. True if the
 * kernel does not tell.
 */
bool memory__enough(uint64_t bytes, char *why, size_t size);

/* Adds @count entries of a pagemap to @counts. */
void page_counts__add(struct page_counts *counts, const uint64_t *entries, size_t count);

/*
 * How many pages of the whole calling process are in swap, by the kernel's own walk over its page
 * tables (Swap in /proc/self/smaps_rollup). Returns 0 or a negative errno after a message.
 */
int memory__process_swapped(uint64_t *pages);

#endif
