/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/diag.h"
#include "hunt_board.h"

int hunt_board__map(struct hunt_board **out)
{
	struct hunt_board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (board == MAP_FAILED)
		return diag__fail(errno, "map %zu bytes for records", sizeof(*board));
	if (mlock(board, sizeof(*board)))
		diag__verbose("the records could not be locked in memory");
	*out = board;
	return 0;
}

void hunt_board__unmap(struct hunt_board *board)
{
	if (board)
		munmap(board, sizeof(*board));
}

void hunt_board__clear(struct hunt_board *board)
{
	board->barred = false;
	board->emptied = false;
	board->faults = 0;
	memset(board->steps, 0, sizeof(board->steps));
	memset(board->record, 0, sizeof(board->record));
}

void hunt_board__forget(struct hunt_board *board, uint32_t writer)
{
	memset(board->record[writer], 0, sizeof(board->record[writer]));
}

_Atomic uint64_t *hunt_board__place(unsigned char *base, uint32_t page, uint32_t writer)
{
	return (_Atomic uint64_t *)(base + page * (size_t)sysconf(_SC_PAGESIZE)) + writer;
}

void hunt_board__report(struct hunt_board *board, const struct hunt_finding *finding)
{
	bool nobody = false;

	if (atomic_compare_exchange_strong(&board->claimed, &nobody, true)) {
		board->first = *finding;
		board->filled = true;
	}
	board->stale++;
}

void hunt_board__judge(struct hunt_board *board, uint64_t found, uint64_t recorded, uint32_t page,
		       uint32_t writer, bool by_writer)
{
	enum hunt_fault fault = hunt_stamp__judge(found, recorded, page, writer, by_writer);

	if (fault == HUNT_SOUND)
		return;
	hunt_board__report(board, &(struct hunt_finding){
					  .fault = fault,
					  .page = page,
					  .writer = writer,
					  .cpu = sched_getcpu(),
					  .expected = recorded,
					  .found = found,
					  .by_writer = by_writer,
				  });
}

void hunt_board__write(struct hunt_board *board, unsigned char *base, uint32_t page,
		       uint32_t writer)
{
	_Atomic uint64_t *place = hunt_board__place(base, page, writer);
	_Atomic uint64_t *record = &board->record[writer][page];
	uint64_t last = atomic_load_explicit(record, memory_order_relaxed);
	uint64_t next = hunt_stamp__next(last, page, writer), found;

	found = atomic_load_explicit(place, memory_order_relaxed);
	if (found || !board->emptied)
		hunt_board__judge(board, found, last, page, writer, true);
	/* Releases, so that no reader on another CPU sees the record without the word. */
	atomic_store_explicit(place, next, memory_order_release);
	atomic_store_explicit(record, next, memory_order_release);
	atomic_fetch_add_explicit(&board->steps[writer], 1, memory_order_relaxed);
}

void hunt_board__check(struct hunt_board *board, unsigned char *base, uint32_t first,
		       uint32_t count)
{
	for (uint32_t page = 0; page < HUNT_PAGES; page++) {
		for (uint32_t writer = first; writer < first + count; writer++) {
			uint64_t recorded = board->record[writer][page];
			uint64_t found = *hunt_board__place(base, page, writer);

			if (found || !board->emptied)
				hunt_board__judge(board, found, recorded, page, writer, false);
		}
	}
}

uint64_t hunt_board__steps(const struct hunt_board *board)
{
	uint64_t steps = 0;

	for (uint32_t writer = 0; writer < HUNT_WRITERS; writer++)
		steps += board->steps[writer];
	return steps;
}
