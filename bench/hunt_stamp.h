/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words that "tlbbench hunt" writes into pages. Each says which page it belongs to, who wrote
 * it, and how often that writer had written to that page by then, so that a word tells by itself
 * whether it is the wrong page's, or an old one.
 */
#ifndef TLBBENCH_HUNT_STAMP_H
#define TLBBENCH_HUNT_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A page has a word for each writer. */
#define HUNT_WRITERS 64
#define HUNT_PAGES   256

struct hunt_stamp {
	uint32_t page, writer, generation;
};

/* @page and @writer are below the limits above; @generation is 1 or more. */
uint64_t hunt_stamp__word(uint32_t page, uint32_t writer, uint32_t generation);

/* What a word says. A word that never was written, 0, has generation 0. */
struct hunt_stamp hunt_stamp__read(uint64_t word);

/* The word that follows @word at the same place. */
uint64_t hunt_stamp__next(uint64_t word, uint32_t page, uint32_t writer);

/* What is wrong with a word, as a reader sees it. */
enum hunt_fault {
	HUNT_SOUND,
	HUNT_LOST,    /* older than what was written last: the write went elsewhere */
	HUNT_FOREIGN, /* another page's or another writer's word */
	HUNT_UNKNOWN, /* newer than anything that was written */
	HUNT_BARRED,  /* changed while nobody could write (not a verdict of hunt_stamp__judge()) */
};

/*
 * Judges the word @found at the place of @writer in @page. @recorded is the word that the writer
 * had recorded as written before @found was read; @exact if nobody wrote since, otherwise @found
 * may be newer.
 */
enum hunt_fault hunt_stamp__judge(uint64_t found, uint64_t recorded, uint32_t page, uint32_t writer,
				  bool exact);

/* Writes what a word says: "page 7, writer 2, generation 19", or "never written". */
void hunt_stamp__format(uint64_t word, char *out, size_t size);

#endif
