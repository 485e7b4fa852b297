/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "accessors.h"
#include "memory.h"
#include "nodes.h"

#define PAGES 64

static void a_node_s_free_memory_is_found_by_its_whole_key(void **state)
{
	static const char text[] = "\nNode 12 MemTotal:         514376 kB\n"
				   "Node 12 MemFreeOther:          1 kB\n"
				   "Node 12 MemFree:          420000 kB\n"
				   "Node 12 Broken:           many kB\n";
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(nodes__parse_meminfo(text, "MemFree", &bytes), 0);
	assert_int_equal(bytes, 420000ull * 1024);
	assert_int_equal(nodes__parse_meminfo(text, "MemTotal", &bytes), 0);
	assert_int_equal(bytes, 514376ull * 1024);
	assert_int_equal(nodes__parse_meminfo(text, "Mem", &bytes), -ENOENT);
	assert_int_equal(nodes__parse_meminfo(text, "Broken", &bytes), -EBADMSG);
	assert_int_equal(nodes__parse_meminfo("", "MemFree", &bytes), -ENOENT);
	assert_int_equal(nodes__parse_meminfo("Node 1", "MemFree", &bytes), -ENOENT);
}

/* Up to two threads at work on @memory, which the caller may then spoil. */
static struct accessors *start(struct memory *memory, enum access_kind kind)
{
	struct accessors *accessors;
	struct cpus allowed, cpus;
	unsigned int cpu;

	assert_int_equal(cpus__allowed(&allowed), 0);
	cpus__clear(&cpus);
	cpu = cpus__next(&allowed, 0);
	cpus__add(&cpus, cpu);
	cpus__add(&cpus, cpus__next(&allowed, cpu + 1));
	assert_int_equal(memory__map(memory, PAGES, false), 0);
	memory__fill(memory);
	assert_int_equal(accessors__start(&accessors, &cpus, memory, kind), 0);
	accessors__go(accessors);
	return accessors;
}

static uint64_t *word(const struct memory *memory, uint64_t page, unsigned int number)
{
	return (uint64_t *)(memory->base + page * memory->page_size) + number;
}

static void threads_that_access_pages_find_nothing_wrong_with_them(void **state)
{
	static const enum access_kind kinds[] = { ACCESS_READ, ACCESS_WRITE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t accesses;
		struct memory memory;
		struct accessors *accessors = start(&memory, kinds[i]);

		usleep(20000);
		accessors__stop(accessors, &accesses);
		assert_int_not_equal(accesses, 0);
		assert_int_equal(accessors__wrong(accessors), 0);
		assert_int_equal(memory__wrong(&memory), 0);
		memory__unmap(&memory);
	}
}

static void a_reader_notices_a_wrong_word(void **state)
{
	uint64_t accesses;
	struct memory memory;
	struct accessors *accessors = start(&memory, ACCESS_READ);

	(void)state;
	__atomic_fetch_xor(word(&memory, PAGES - 1, 0), 1, __ATOMIC_SEQ_CST);
	usleep(50000);
	accessors__stop(accessors, &accesses);
	assert_int_not_equal(accessors__wrong(accessors), 0);
	memory__unmap(&memory);
}

/* A page from before: what went to a stale translation, and never arrived. */
static void a_write_that_got_lost_is_noticed(void **state)
{
	uint64_t accesses;
	struct memory memory;
	struct accessors *accessors = start(&memory, ACCESS_WRITE);

	(void)state;
	usleep(20000);
	accessors__stop(accessors, &accesses);
	assert_int_equal(accessors__wrong(accessors), 0);
	--*word(&memory, 7, 1);
	assert_int_equal(accessors__wrong(accessors), 1);
	memory__unmap(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_s_free_memory_is_found_by_its_whole_key),
		cmocka_unit_test(threads_that_access_pages_find_nothing_wrong_with_them),
		cmocka_unit_test(a_reader_notices_a_wrong_word),
		cmocka_unit_test(a_write_that_got_lost_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
