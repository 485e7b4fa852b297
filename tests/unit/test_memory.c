/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "common/diag.h"
#include "memory.h"

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)

static void pagemap_entries_are_sorted_by_their_bits(void **state)
{
	static const uint64_t entries[] = {
		0,
		PRESENT,
		PRESENT | 0x1234,
		SWAPPED,
		SWAPPED | 0xfff,
		SWAPPED,
		/* Bits that say other things: soft-dirty, exclusive, file page. */
		1ull << 55,
		PRESENT | 1ull << 56 | 1ull << 61,
	};
	struct page_counts counts = { 0 };

	(void)state;
	page_counts__add(&counts, entries, ARRAY_SIZE(entries));
	assert_int_equal(counts.present, 3);
	assert_int_equal(counts.swapped, 3);
	assert_int_equal(counts.none, 2);
	page_counts__add(&counts, entries, 1);
	assert_int_equal(counts.none, 3);
}

static void pages_are_counted_where_they_are(void **state)
{
	/* More than are read at once. */
	const uint64_t pages = 5000;
	struct page_counts counts;
	struct memory memory;

	(void)state;
	assert_int_equal(memory__map(&memory, pages, false), 0);
	assert_int_equal(memory__count(&memory, &counts), 0);
	assert_int_equal(counts.none, pages);
	*(volatile char *)(memory.base + 4999 * memory.page_size) = 1;
	*(volatile char *)(memory.base + 4998 * memory.page_size) = 1;
	*(volatile char *)(memory.base + 7 * memory.page_size) = 1;
	assert_int_equal(memory__count(&memory, &counts), 0);
	assert_int_equal(counts.present, 3);
	assert_int_equal(counts.none, pages - 3);
	memory__fill(&memory);
	assert_int_equal(memory__count(&memory, &counts), 0);
	assert_int_equal(counts.present, pages);
	assert_int_equal(counts.none + counts.swapped, 0);
	memory__unmap(&memory);
}

static void a_word_that_is_lost_or_swapped_with_another_is_seen(void **state)
{
	struct memory memory;
	uint64_t *a, *b, word;

	(void)state;
	assert_int_equal(memory__map(&memory, 100, false), 0);
	memory__fill(&memory);
	assert_int_equal(memory__wrong(&memory), 0);
	madvise(memory.base + 40 * memory.page_size, 3 * memory.page_size, MADV_DONTNEED);
	assert_int_equal(memory__wrong(&memory), 3);
	memory__fill(&memory);
	a = (uint64_t *)(memory.base + 1 * memory.page_size);
	b = (uint64_t *)(memory.base + 99 * memory.page_size);
	word = *a;
	*a = *b;
	*b = word;
	assert_int_equal(memory__wrong(&memory), 2);
	memory__unmap(&memory);
}

/* The value of @key for the mapping that starts at @base, in /proc/self/smaps. */
static void find_in_smaps(const void *base, const char *key, char *out, size_t size)
{
	char start[32], line[512];
	FILE *smaps = fopen("/proc/self/smaps", "r");
	bool inside = false;

	assert_non_null(smaps);
	snprintf(start, sizeof(start), "%lx-", (unsigned long)base);
	*out = '\0';
	while (fgets(line, sizeof(line), smaps)) {
		if (strchr(line, '-') && strspn(line, "0123456789abcdef") > 7)
			inside = strncmp(line, start, strlen(start)) == 0;
		else if (inside && strncmp(line, key, strlen(key)) == 0)
			snprintf(out, size, "%s", line + strlen(key));
	}
	fclose(smaps);
}

static void memory_is_aligned_and_huge_pages_are_off_unless_asked_for(void **state)
{
	struct memory memory;
	char flags[512];

	(void)state;
	for (int thp = 0; thp < 2; thp++) {
		assert_int_equal(memory__map(&memory, 1000, thp), 0);
		assert_int_equal((uintptr_t)memory.base % (2 << 20), 0);
		find_in_smaps(memory.base, "VmFlags:", flags, sizeof(flags));
		assert_contains(flags, thp ? " hg" : " nh");
		memory__unmap(&memory);
	}
}

static void a_process_that_was_not_swapped_has_nothing_in_swap(void **state)
{
	uint64_t pages = 1;

	(void)state;
	assert_int_equal(memory__process_swapped(&pages), 0);
	assert_int_equal(pages, 0);
	assert_int_equal(memory__settle(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pagemap_entries_are_sorted_by_their_bits),
		cmocka_unit_test(pages_are_counted_where_they_are),
		cmocka_unit_test(a_word_that_is_lost_or_swapped_with_another_is_seen),
		cmocka_unit_test(memory_is_aligned_and_huge_pages_are_off_unless_asked_for),
		cmocka_unit_test(a_process_that_was_not_swapped_has_nothing_in_swap),
	};

	diag__set_program("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
