/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processes of a hunt share: the records of all writers, and what was found. It lives in
 * locked memory that no attack touches.
 *
 * A writer first writes the word into the page, then into its record. So whoever reads the record,
 * and then the page, must find that word there, or a newer one: at any time, with the writer going
 * on, whatever is being done to the page. Only a translation that should be gone breaks this.
 */
#ifndef TLBBENCH_HUNT_BOARD_H
#define TLBBENCH_HUNT_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "hunt_stamp.h"

/* The first wrong word that was seen. */
struct hunt_finding {
	enum hunt_fault fault;
	uint32_t page, writer, cpu; /* the CPU that saw it */
	uint64_t expected, found;
	bool by_writer; /* seen by the writer itself, not by a reader elsewhere */
};

struct hunt_board {
	_Atomic uint64_t stale; /* wrong words seen */
	_Atomic bool claimed, filled;
	struct hunt_finding first;
	/* The pages are read-only or elsewhere for the moment: a writer that faults waits. */
	_Atomic bool barred;
	_Atomic uint64_t faults; /* writers that did */
	/* Pages are being emptied: a word may be 0 at any time. */
	_Atomic bool emptied;
	_Atomic uint64_t steps[HUNT_WRITERS];
	_Atomic uint64_t record[HUNT_WRITERS][HUNT_PAGES];
};

/* Maps a board for this process and those it forks. Returns 0 or a negative errno after a message.
 */
int hunt_board__map(struct hunt_board **out);
void hunt_board__unmap(struct hunt_board *board);

/* Between two attacks, with no writer left: all pages count as never written. */
void hunt_board__clear(struct hunt_board *board);

/* One writer's words count as never written. */
void hunt_board__forget(struct hunt_board *board, uint32_t writer);

/* The place of a writer's word in a page. */
_Atomic uint64_t *hunt_board__place(unsigned char *base, uint32_t page, uint32_t writer);

/* One step of a writer: reads its word in the page, judges it, writes the next one, records it. */
void hunt_board__write(struct hunt_board *board, unsigned char *base, uint32_t page,
		       uint32_t writer);

/* Reads and judges the words of @count writers from @first on, in all pages. */
void hunt_board__check(struct hunt_board *board, unsigned char *base, uint32_t first,
		       uint32_t count);

/*
 * Judges a word as hunt_stamp__judge() does, and reports it if it is wrong. @by_writer: seen by its
 * writer, so that it must be exactly the recorded one.
 */
void hunt_board__judge(struct hunt_board *board, uint64_t found, uint64_t recorded, uint32_t page,
		       uint32_t writer, bool by_writer);

/* Counts a wrong word, and keeps it if it is the first. */
void hunt_board__report(struct hunt_board *board, const struct hunt_finding *finding);

/* The steps of all writers so far. */
uint64_t hunt_board__steps(const struct hunt_board *board);

#endif
