/* SPDX-License-Identifier: GPL-2.0-only */
/* What a victim's warden does to its own mappings, with the writers going on. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "hunt_warden.h"

/* How long writers are given to run into what was done. */
#define LEAST_NS 500000ull
#define MOST_NS	 20000000ull

/* The words of all of the victim's writers at one time, or their records. */
struct sample {
	uint64_t word[HUNT_THREADS][HUNT_PAGES];
};

static void take_words(const struct warden *warden, unsigned char *base, struct sample *out)
{
	for (uint32_t i = 0; i < warden->victim->threads; i++)
		for (uint32_t page = 0; page < HUNT_PAGES; page++)
			out->word[i][page] =
				*hunt_board__place(base, page, warden->victim->writer + i);
}

static void take_records(const struct warden *warden, struct sample *out)
{
	for (uint32_t i = 0; i < warden->victim->threads; i++)
		for (uint32_t page = 0; page < HUNT_PAGES; page++)
			out->word[i][page] =
				warden->board->record[warden->victim->writer + i][page];
}

/* Reports the words at @base that are not as they were, although nobody can have written. */
static void expect_unchanged(const struct warden *warden, unsigned char *base,
			     const struct sample *before)
{
	for (uint32_t i = 0; i < warden->victim->threads; i++) {
		for (uint32_t page = 0; page < HUNT_PAGES; page++) {
			struct hunt_finding finding = {
				.fault = HUNT_BARRED,
				.page = page,
				.writer = warden->victim->writer + i,
				.cpu = warden->victim->cpu[i],
				.expected = before->word[i][page],
			};

			finding.found = *hunt_board__place(base, page, finding.writer);
			if (finding.found != finding.expected)
				hunt_board__report(warden->board, &finding);
		}
	}
}

/* Waits until @counter has grown by @by, but not for ever. Returns whether it has. */
static bool wait_for(const _Atomic uint64_t *counter, uint64_t from, uint64_t by)
{
	uint64_t start = stop__now_ns(), now = start;

	while (now < start + LEAST_NS || (*counter - from < by && now < start + MOST_NS)) {
		sched_yield();
		now = stop__now_ns();
	}
	return *counter - from >= by;
}

/* The pages are at @base, and no writer can get at them. */
static bool watch_barred(struct warden *warden, unsigned char *base, uint64_t faults)
{
	struct sample before;
	bool proven;

	take_words(warden, base, &before);
	proven = wait_for(&warden->board->faults, faults, 1);
	expect_unchanged(warden, base, &before);
	return proven;
}

int hunt_warden__protect(struct warden *warden, uint64_t *proven)
{
	uint64_t faults = warden->board->faults;

	warden->board->barred = true;
	if (mprotect(warden->base, warden->size, PROT_READ))
		return diag__fail(errno, "mprotect() of %zu bytes to read-only", warden->size);
	*proven = watch_barred(warden, warden->base, faults);
	if (mprotect(warden->base, warden->size, PROT_READ | PROT_WRITE))
		return diag__fail(errno, "mprotect() of %zu bytes to writable", warden->size);
	warden->board->barred = false;
	return 0;
}

int hunt_warden__remap(struct warden *warden, uint64_t *proven)
{
	uint64_t faults = warden->board->faults;
	void *there = mmap(NULL, warden->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (there == MAP_FAILED)
		return diag__fail(errno, "map %zu bytes", warden->size);
	warden->board->barred = true;
	if (mremap(warden->base, warden->size, warden->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   there) == MAP_FAILED)
		return diag__fail(errno, "mremap() of %zu bytes", warden->size);
	*proven = watch_barred(warden, there, faults);
	if (mremap(there, warden->size, warden->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   warden->base) == MAP_FAILED)
		return diag__fail(errno, "mremap() of %zu bytes back", warden->size);
	warden->board->barred = false;
	return 0;
}

/*
 * Whether the writer has, since @before was recorded, begun and ended a write to the page: of two
 * new records only the first can be of a write that had begun before.
 */
static bool written_since(uint64_t record, uint64_t before)
{
	return hunt_stamp__read(record).generation >= hunt_stamp__read(before).generation + 2;
}

/* What was written after the pages were emptied must be in them. Returns whether anything was. */
static bool expect_written(const struct warden *warden, const struct sample *before)
{
	struct sample now;
	bool any = false;

	take_records(warden, &now);
	for (uint32_t i = 0; i < warden->victim->threads; i++) {
		for (uint32_t page = 0; page < HUNT_PAGES; page++) {
			uint32_t writer = warden->victim->writer + i;

			if (!written_since(now.word[i][page], before->word[i][page]))
				continue;
			any = true;
			hunt_board__judge(warden->board,
					  *hunt_board__place(warden->base, page, writer),
					  now.word[i][page], page, writer, false);
		}
	}
	return any;
}

/*
 * With no writer running: the record of a word that is gone says so. Writing to a page takes
 * MADV_FREE back, so that it cannot go later.
 */
static void forget_emptied(const struct warden *warden)
{
	for (uint32_t i = 0; i < warden->victim->threads; i++) {
		for (uint32_t page = 0; page < HUNT_PAGES; page++) {
			uint32_t writer = warden->victim->writer + i;
			_Atomic uint64_t *place = hunt_board__place(warden->base, page, writer);
			uint64_t word = *place;

			*place = word;
			if (!word)
				warden->board->record[writer][page] = 0;
		}
	}
}

/* MADV_FREE gives a page back only when it is reclaimed, and was not written to meanwhile. */
static int empty_pages(struct warden *warden)
{
	bool lazily = hunt_random__below(&warden->random, 2);

	if (madvise(warden->base, warden->size, lazily ? MADV_FREE : MADV_DONTNEED))
		return diag__fail(errno, "madvise(%s)", lazily ? "MADV_FREE" : "MADV_DONTNEED");
	if (lazily && madvise(warden->base, warden->size, MADV_PAGEOUT))
		return diag__fail(errno, "madvise(MADV_PAGEOUT)");
	return 0;
}

int hunt_warden__discard(struct warden *warden, uint64_t *proven)
{
	struct hunt_board *board = warden->board;
	struct sample before;
	int err;

	board->emptied = true;
	err = empty_pages(warden);
	if (err)
		return err;
	take_records(warden, &before);
	wait_for(&board->steps[warden->victim->writer], board->steps[warden->victim->writer],
		 2 * HUNT_PAGES);
	*proven = expect_written(warden, &before);
	hunt_writers__stop(warden);
	expect_written(warden, &before);
	forget_emptied(warden);
	board->emptied = false;
	return hunt_writers__start(warden);
}

static _Noreturn void watch_child(struct warden *warden)
{
	struct hunt_board *board = warden->board;
	uint32_t writer = warden->victim->writer;
	struct sample before;
	bool proven;

	take_words(warden, warden->base, &before);
	proven = wait_for(&board->steps[writer], board->steps[writer], 2 * HUNT_PAGES);
	expect_unchanged(warden, warden->base, &before);
	_exit(proven ? 0 : 1);
}

int hunt_warden__fork(struct warden *warden, uint64_t *proven)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return diag__fail(errno, "fork a victim");
	if (!child)
		watch_child(warden);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return diag__fail(errno, "wait for a victim's child");
	if (status && !WIFEXITED(status))
		return diag__fail(0, "a victim's child ended with status %#x", status);
	*proven = !status;
	return 0;
}
