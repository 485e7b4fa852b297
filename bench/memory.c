/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/procfs.h"
#include "memory.h"

#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define ENTRIES_AT_ONCE 4096
/* Of x86-64, and of arm64 with 4 KiB pages; with larger pages it only aligns less. */
#define HUGE_SIZE (2ull << 20)
/* A CPU's list holds 31 folios on 6.10 and later, 15 before (PAGEVEC_SIZE). */
#define SETTLE_PAGES 64

/* Never zero, so that no page is the kernel's idea of an empty one, and different for each page. */
static uint64_t word_of(uint64_t page)
{
	return (page + 1) * 0x9e3779b97f4a7c15ull;
}

static volatile uint64_t *place_of(const struct memory *memory, uint64_t page)
{
	return (volatile uint64_t *)(memory->base + page * memory->page_size);
}

/* Maps more than is needed, and gives back what lies around the aligned part. */
static void *map_aligned(size_t size)
{
	unsigned char *whole, *base;

	whole = mmap(NULL, size + HUGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (whole == MAP_FAILED)
		return whole;
	base = (unsigned char *)(((uintptr_t)whole + HUGE_SIZE - 1) & ~(HUGE_SIZE - 1));
	if (base > whole)
		munmap(whole, base - whole);
	munmap(base + size, whole + HUGE_SIZE - base);
	return base;
}

static int open_pagemap(struct memory *memory)
{
	memory->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return memory->pagemap < 0 ? diag__fail(errno, "open /proc/self/pagemap") : 0;
}

int memory__adopt(struct memory *memory)
{
	/* The parent's was closed when this process was forked. */
	return open_pagemap(memory);
}

int memory__map(struct memory *memory, uint64_t pages, bool thp)
{
	int err;

	memset(memory, 0, sizeof(*memory));
	memory->page_size = sysconf(_SC_PAGESIZE);
	memory->pages = pages;
	memory->entries = malloc(ENTRIES_AT_ONCE * sizeof(*memory->entries));
	err = open_pagemap(memory);
	if (err)
		goto fail;
	memory->base = memory->entries ? map_aligned(pages * memory->page_size) : MAP_FAILED;
	if (memory->base == MAP_FAILED) {
		memory->base = NULL;
		err = diag__fail(ENOMEM, "map %llu pages", (unsigned long long)pages);
		goto fail;
	}
	/* EINVAL: the kernel has no huge pages, which is what MADV_NOHUGEPAGE asks for. */
	if (madvise(memory->base, pages * memory->page_size,
		    thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    (thp || errno != EINVAL)) {
		err = diag__fail(errno, "turn huge pages %s for the memory", thp ? "on" : "off");
		goto fail;
	}
	return 0;
fail:
	memory__unmap(memory);
	return err;
}

void memory__fill(struct memory *memory)
{
	for (uint64_t i = 0; i < memory->pages; i++)
		*place_of(memory, i) = word_of(i);
}

uint64_t memory__exchange(struct memory *memory, uint64_t page)
{
	volatile uint64_t *place = place_of(memory, page);
	uint64_t before;

	place[1] = 0;
	before = place[0];
	place[0] = word_of(page);
	return before;
}

bool memory__holds(const struct memory *memory, uint64_t page)
{
	return *place_of(memory, page) == word_of(page);
}

uint64_t memory__wrong(const struct memory *memory)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < memory->pages; i++)
		wrong += !memory__holds(memory, i);
	return wrong;
}

uint64_t memory__zeros(const struct memory *memory)
{
	uint64_t zeros = 0;

	for (uint64_t i = 0; i < memory->pages; i++)
		zeros += *place_of(memory, i) == 0;
	return zeros;
}

int memory__settle(void)
{
	size_t page = sysconf(_SC_PAGESIZE), size = SETTLE_PAGES * page;
	volatile unsigned char *others =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (others == MAP_FAILED)
		return diag__fail(errno, "map %d pages", SETTLE_PAGES);
	madvise((void *)others, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		others[i] = 1;
	munmap((void *)others, size);
	return 0;
}

void page_counts__add(struct page_counts *counts, const uint64_t *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (entries[i] & PAGEMAP_PRESENT)
			counts->present++;
		else if (entries[i] & PAGEMAP_SWAPPED)
			counts->swapped++;
		else
			counts->none++;
	}
}

int memory__count(const struct memory *memory, struct page_counts *out)
{
	uint64_t first = (uintptr_t)memory->base / memory->page_size;

	memset(out, 0, sizeof(*out));
	for (uint64_t done = 0; done < memory->pages;) {
		uint64_t left = memory->pages - done;
		size_t want = left < ENTRIES_AT_ONCE ? left : ENTRIES_AT_ONCE;
		ssize_t n = pread(memory->pagemap, memory->entries, want * sizeof(uint64_t),
				  (first + done) * sizeof(uint64_t));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < (ssize_t)sizeof(uint64_t))
			return diag__fail(n < 0 ? errno : EIO, "read /proc/self/pagemap");
		page_counts__add(out, memory->entries, n / sizeof(uint64_t));
		done += n / sizeof(uint64_t);
	}
	return 0;
}

void memory__unmap(struct memory *memory)
{
	if (memory->base)
		munmap(memory->base, memory->pages * memory->page_size);
	if (memory->pagemap >= 0)
		close(memory->pagemap);
	free(memory->entries);
	memset(memory, 0, sizeof(*memory));
	memory->pagemap = -1;
}

bool memory__enough(uint64_t bytes, char *why, size_t size)
{
	unsigned long long kib;
	const char *line;
	char *text;
	size_t len;
	bool enough = true;

	if (procfs__read("/proc/meminfo", &text, &len))
		return true;
	line = strstr(text, "MemAvailable:");
	if (line && sscanf(line, "MemAvailable: %llu kB", &kib) == 1 && kib * 1024 < bytes) {
		snprintf(why, size,
			 "%llu MiB of memory are needed, %llu MiB are available: try "
			 "fewer --pages",
			 (unsigned long long)bytes >> 20, kib >> 10);
		enough = false;
	}
	free(text);
	return enough;
}

int memory__process_swapped(uint64_t *pages)
{
	static const char path[] = "/proc/self/smaps_rollup";
	uint64_t page = sysconf(_SC_PAGESIZE);
	unsigned long long kib;
	const char *line;
	char *text;
	size_t len;
	int err = procfs__read(path, &text, &len);

	if (err)
		return diag__fail(-err, "read %s", path);
	line = strstr(text, "\nSwap:");
	if (line && sscanf(line, "\nSwap: %llu kB", &kib) == 1)
		*pages = kib * 1024 / page;
	else
		err = diag__fail(EBADMSG, "find Swap in %s", path);
	free(text);
	return err;
}
