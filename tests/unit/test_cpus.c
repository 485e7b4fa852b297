/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <sched.h>

#include "common/cpus.h"
#include "common/parse.h"

static struct cpus set_of(const char *list)
{
	struct cpus set;

	assert_int_equal(parse__cpulist(list, &set), 0);
	return set;
}

/* Every second id: the set with the longest list. */
static struct cpus every_second(void)
{
	struct cpus set;

	cpus__clear(&set);
	for (unsigned int id = 0; id < CPUS_MAX; id += 2)
		cpus__add(&set, id);
	return set;
}

static void ids_at_the_edges_of_words_are_kept_apart(void **state)
{
	static const unsigned int ids[] = { 0, 63, 64, 127, 128, CPUS_MAX - 1 };
	struct cpus set;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		cpus__clear(&set);
		cpus__add(&set, ids[i]);
		for (unsigned int id = 0; id < CPUS_MAX; id++)
			assert_int_equal(cpus__has(&set, id), id == ids[i]);
		cpus__remove(&set, ids[i]);
		assert_int_equal(cpus__count(&set), 0);
	}
}

static void ids_too_large_are_ignored(void **state)
{
	struct {
		struct cpus set;
		struct cpus guard;
	} both;

	(void)state;
	memset(&both, 0, sizeof(both));
	cpus__add(&both.set, CPUS_MAX);
	cpus__add(&both.set, UINT32_MAX);
	assert_int_equal(cpus__count(&both.set) + cpus__count(&both.guard), 0);
	assert_false(cpus__has(&both.set, CPUS_MAX));
	memset(&both, 0xff, sizeof(both));
	cpus__remove(&both.set, CPUS_MAX);
	assert_int_equal(cpus__count(&both.guard), CPUS_MAX);
	assert_false(cpus__has(&both.set, CPUS_MAX));
}

static void next_finds_ids_across_empty_words(void **state)
{
	struct cpus set = set_of("3,700,8191");

	(void)state;
	assert_int_equal(cpus__next(&set, 0), 3);
	assert_int_equal(cpus__next(&set, 3), 3);
	assert_int_equal(cpus__next(&set, 4), 700);
	assert_int_equal(cpus__next(&set, 701), CPUS_MAX - 1);
	assert_int_equal(cpus__next(&set, CPUS_MAX), CPUS_MAX);
	assert_int_equal(cpus__next(&set, UINT32_MAX), CPUS_MAX);
	cpus__clear(&set);
	assert_int_equal(cpus__next(&set, 0), CPUS_MAX);
}

static void for_each_visits_every_id_once_in_order(void **state)
{
	struct cpus set = set_of("0-1,62-65,8190-8191"), seen;
	unsigned int last = 0, visits = 0;

	(void)state;
	cpus__clear(&seen);
	cpus__for_each (id, &set) {
		assert_true(visits == 0 || id > last);
		last = id;
		visits++;
		cpus__add(&seen, id);
	}
	assert_int_equal(visits, 8);
	assert_true(cpus__equal(&seen, &set));
}

static void and_keeps_what_both_hold(void **state)
{
	struct cpus a = set_of("0-3,100"), b = set_of("2-5,100,8191"), expected = set_of("2-3,100");

	(void)state;
	cpus__and(&a, &a, &b);
	assert_true(cpus__equal(&a, &expected));
	assert_int_equal(cpus__count(&a), 3);
	assert_false(cpus__equal(&a, &b));
}

static void format_writes_the_list_form_of_the_kernel(void **state)
{
	static const char *const lists[] = { "",      "0",     "0-1",
					     "0,2",   "0-3,7", "63-64,66,8190-8191",
					     "0-8191" };
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cpus set = set_of(lists[i]);

		assert_int_equal(cpus__format(&set, text, sizeof(text)), strlen(lists[i]));
		assert_string_equal(text, lists[i]);
	}
}

static void format_cuts_at_the_size_and_tells_the_full_length(void **state)
{
	struct cpus set = set_of("10-13,27");
	char text[16];

	(void)state;
	for (size_t size = 0; size <= sizeof("10-13,27"); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(cpus__format(&set, text, size), strlen("10-13,27"));
		if (size) {
			assert_int_equal(strlen(text), size - 1);
			assert_memory_equal(text, "10-13,27", size - 1);
		}
		assert_int_equal(text[size], '#');
	}
}

static void a_file_is_read_in_each_shape_that_occurs(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *list; /* NULL: refused */
	} cases[] = {
		{ "0,2-3\n", 6, "0,2-3" }, { "0,2-3", 5, "0,2-3" },
		{ "\n", 1, "" },	   { "", 0, "" },
		{ "0\0,2-3\n", 8, NULL },  { "0-3\n\n", 5, NULL },
		{ "0-3 \n", 5, NULL },	   { "0-99999\n", 8, NULL },
	};
	const char *path = in_folder(state, "list");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpus set, expected;
		int err;

		put_file(path, cases[i].text, cases[i].len);
		err = cpus__read_file(path, &set);
		if (!cases[i].list) {
			assert_true(err < 0);
			continue;
		}
		expected = set_of(cases[i].list);
		assert_int_equal(err, 0);
		assert_true(cpus__equal(&set, &expected));
	}
	assert_int_equal(cpus__read_file(in_folder(state, "missing"), &(struct cpus){ 0 }),
			 -ENOENT);
}

static void a_file_longer_than_a_page_is_read_whole(void **state)
{
	struct cpus set = every_second(), again;
	size_t len = cpus__format(&set, NULL, 0);
	char *text = malloc(len + 1);
	const char *path = in_folder(state, "list");

	assert_true(len > 16384);
	assert_int_equal(cpus__format(&set, text, len + 1), len);
	put_file(path, text, len);
	free(text);
	assert_int_equal(cpus__read_file(path, &again), 0);
	assert_true(cpus__equal(&set, &again));
}

static int pin_to_one(void *arg)
{
	struct cpus allowed, *wanted = arg;
	cpu_set_t one;
	unsigned int id;

	if (cpus__allowed(&allowed))
		return 10;
	id = cpus__next(&allowed, 0);
	CPU_ZERO(&one);
	CPU_SET(id, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || cpus__allowed(&allowed))
		return 11;
	cpus__clear(wanted);
	cpus__add(wanted, id);
	return cpus__equal(&allowed, wanted) ? 0 : 12;
}

static void allowed_follows_the_affinity_of_the_process(void **state)
{
	struct child child;
	struct cpus wanted;

	(void)state;
	child__run(&child, pin_to_one, &wanted);
	assert_int_equal(child__code(&child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_at_the_edges_of_words_are_kept_apart),
		cmocka_unit_test(ids_too_large_are_ignored),
		cmocka_unit_test(next_finds_ids_across_empty_words),
		cmocka_unit_test(for_each_visits_every_id_once_in_order),
		cmocka_unit_test(and_keeps_what_both_hold),
		cmocka_unit_test(format_writes_the_list_form_of_the_kernel),
		cmocka_unit_test(format_cuts_at_the_size_and_tells_the_full_length),
		in_a_folder(a_file_is_read_in_each_shape_that_occurs),
		in_a_folder(a_file_longer_than_a_page_is_read_whole),
		cmocka_unit_test(allowed_follows_the_affinity_of_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
