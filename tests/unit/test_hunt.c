/* SPDX-License-Identifier: GPL-2.0-only */
/* The hunter's words and records: what it takes for a stale translation, and what not. */
#include "support.h"

#include "hunt.h"

#define PAGE   7
#define WRITER 3

/* A board, and pages that one process alone has. */
struct ground {
	struct hunt_board *board;
	unsigned char *base;
};

static int lay_out(void **state)
{
	static struct ground ground;

	assert_int_equal(hunt_board__map(&ground.board), 0);
	ground.base = mmap(NULL, HUNT_PAGES * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(ground.base, MAP_FAILED);
	*state = &ground;
	return 0;
}

static int clear_away(void **state)
{
	struct ground *ground = *state;

	munmap(ground->base, HUNT_PAGES * (size_t)sysconf(_SC_PAGESIZE));
	hunt_board__unmap(ground->board);
	return 0;
}

static void word_says_page_writer_and_generation(void **state)
{
	struct hunt_stamp stamp =
		hunt_stamp__read(hunt_stamp__word(HUNT_PAGES - 1, HUNT_WRITERS - 1, 0xfffffffe));

	(void)state;
	assert_int_equal(stamp.page, HUNT_PAGES - 1);
	assert_int_equal(stamp.writer, HUNT_WRITERS - 1);
	assert_int_equal(stamp.generation, 0xfffffffe);
}

static void next_word_is_one_generation_on(void **state)
{
	uint64_t first = hunt_stamp__next(0, PAGE, WRITER);

	(void)state;
	assert_int_equal(first, hunt_stamp__word(PAGE, WRITER, 1));
	assert_int_equal(hunt_stamp__next(first, PAGE, WRITER), hunt_stamp__word(PAGE, WRITER, 2));
}

static enum hunt_fault judge(uint64_t found, uint32_t recorded, bool exact)
{
	uint64_t word = recorded ? hunt_stamp__word(PAGE, WRITER, recorded) : 0;

	return hunt_stamp__judge(found, word, PAGE, WRITER, exact);
}

static void recorded_word_is_sound(void **state)
{
	(void)state;
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER, 5), 5, true), HUNT_SOUND);
	assert_int_equal(judge(0, 0, true), HUNT_SOUND);
}

static void older_word_is_a_lost_write(void **state)
{
	(void)state;
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER, 4), 5, true), HUNT_LOST);
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER, 4), 5, false), HUNT_LOST);
	assert_int_equal(judge(0, 5, false), HUNT_LOST);
}

static void newer_word_is_sound_only_while_others_write(void **state)
{
	(void)state;
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER, 6), 5, false), HUNT_SOUND);
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER, 6), 5, true), HUNT_UNKNOWN);
}

static void word_of_another_place_is_foreign_however_new(void **state)
{
	(void)state;
	assert_int_equal(judge(hunt_stamp__word(PAGE + 1, WRITER, 9), 5, false), HUNT_FOREIGN);
	assert_int_equal(judge(hunt_stamp__word(PAGE, WRITER + 1, 9), 5, false), HUNT_FOREIGN);
	assert_int_equal(judge(hunt_stamp__word(PAGE + 1, WRITER, 1), 0, false), HUNT_FOREIGN);
}

static void write_and_check(struct ground *ground, uint32_t times)
{
	while (times--)
		hunt_board__write(ground->board, ground->base, PAGE, WRITER);
	hunt_board__check(ground->board, ground->base, WRITER, 1);
}

static void steady_writer_is_clean(void **state)
{
	struct ground *ground = *state;

	write_and_check(ground, 3);
	assert_int_equal(ground->board->stale, 0);
	assert_int_equal(hunt_board__steps(ground->board), 3);
	assert_int_equal(*hunt_board__place(ground->base, PAGE, WRITER),
			 hunt_stamp__word(PAGE, WRITER, 3));
}

/* As if the last write had gone to another page. */
static void reader_sees_a_lost_write(void **state)
{
	struct ground *ground = *state;

	write_and_check(ground, 3);
	*hunt_board__place(ground->base, PAGE, WRITER) = hunt_stamp__word(PAGE, WRITER, 2);
	hunt_board__check(ground->board, ground->base, WRITER, 1);
	assert_int_equal(ground->board->stale, 1);
	assert_true(ground->board->filled);
	assert_int_equal(ground->board->first.fault, HUNT_LOST);
	assert_int_equal(ground->board->first.page, PAGE);
	assert_int_equal(ground->board->first.writer, WRITER);
	assert_false(ground->board->first.by_writer);
}

static void writer_sees_its_own_lost_write_once(void **state)
{
	struct ground *ground = *state;

	write_and_check(ground, 3);
	*hunt_board__place(ground->base, PAGE, WRITER) = hunt_stamp__word(PAGE, WRITER, 1);
	write_and_check(ground, 2);
	assert_int_equal(ground->board->stale, 1);
	assert_true(ground->board->first.by_writer);
	assert_int_equal(ground->board->first.expected, hunt_stamp__word(PAGE, WRITER, 3));
	assert_int_equal(ground->board->first.found, hunt_stamp__word(PAGE, WRITER, 1));
}

/* As if another page's frame had been written to. */
static void first_finding_is_kept_and_the_others_counted(void **state)
{
	struct ground *ground = *state;

	write_and_check(ground, 1);
	*hunt_board__place(ground->base, PAGE, WRITER) = hunt_stamp__word(PAGE + 1, WRITER, 8);
	hunt_board__check(ground->board, ground->base, WRITER, 1);
	*hunt_board__place(ground->base, PAGE, WRITER) = 0;
	hunt_board__check(ground->board, ground->base, WRITER, 1);
	assert_int_equal(ground->board->stale, 2);
	assert_int_equal(ground->board->first.fault, HUNT_FOREIGN);
}

static void emptied_word_is_no_finding_while_pages_are_emptied(void **state)
{
	struct ground *ground = *state;

	write_and_check(ground, 3);
	ground->board->emptied = true;
	*hunt_board__place(ground->base, PAGE, WRITER) = 0;
	write_and_check(ground, 1);
	assert_int_equal(ground->board->stale, 0);
	/* The old contents would be: they were thrown away. */
	*hunt_board__place(ground->base, PAGE, WRITER) = hunt_stamp__word(PAGE, WRITER, 3);
	hunt_board__check(ground->board, ground->base, WRITER, 1);
	assert_int_equal(ground->board->stale, 1);
}

static void same_seed_makes_the_same_choices(void **state)
{
	struct hunt_random a = { 42 }, b = { 42 }, c = { 43 };
	uint64_t first = hunt_random__next(&a);

	(void)state;
	assert_int_equal(first, hunt_random__next(&b));
	assert_int_not_equal(first, hunt_random__next(&c));
}

static void range_stays_within_the_pages(void **state)
{
	struct hunt_random random = { 1 };
	uint32_t most = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct hunt_range range = hunt_range__any(&random);

		assert_in_range(range.count, 1, HUNT_SOME);
		assert_in_range(range.first + range.count, 1, HUNT_PAGES);
		most = range.first + range.count > most ? range.first + range.count : most;
	}
	assert_int_equal(most, HUNT_PAGES);
}

static void cpus_are_narrowed_to_some_of_them(void **state)
{
	struct hunt hunt = { .random = { 5 } };

	(void)state;
	for (int cpu = 0; cpu < 8; cpu++)
		cpus__add(&hunt.cpus, cpu);
	hunt__begin_spell(&hunt, 5);
	assert_false(cpus__has(&hunt.writer_cpus, hunt.initiator));
	assert_int_equal(cpus__count(&hunt.writer_cpus), 7);
	hunt__narrow_cpus(&hunt, 2);
	assert_int_equal(cpus__count(&hunt.writer_cpus), 2);
	for (int i = 0; i < 100; i++)
		assert_true(
			cpus__has(&hunt.writer_cpus, hunt__any(&hunt.writer_cpus, &hunt.random)));
}

int main(void)
{
#define ON_GROUND(test) cmocka_unit_test_setup_teardown(test, lay_out, clear_away)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_says_page_writer_and_generation),
		cmocka_unit_test(next_word_is_one_generation_on),
		cmocka_unit_test(recorded_word_is_sound),
		cmocka_unit_test(older_word_is_a_lost_write),
		cmocka_unit_test(newer_word_is_sound_only_while_others_write),
		cmocka_unit_test(word_of_another_place_is_foreign_however_new),
		ON_GROUND(steady_writer_is_clean),
		ON_GROUND(reader_sees_a_lost_write),
		ON_GROUND(writer_sees_its_own_lost_write_once),
		ON_GROUND(first_finding_is_kept_and_the_others_counted),
		ON_GROUND(emptied_word_is_no_finding_while_pages_are_emptied),
		cmocka_unit_test(same_seed_makes_the_same_choices),
		cmocka_unit_test(range_stays_within_the_pages),
		cmocka_unit_test(cpus_are_narrowed_to_some_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
