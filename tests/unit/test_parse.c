/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "common/diag.h"
#include "common/parse.h"

#define KEPT 12345 /* what *out holds before, and after a refusal */

/* Refused whatever kind of number is asked for. */
static const char *const never[] = {
	"",	" ",   " 1",	"1 ",  "1\n", "+1",    "-1",  "-0",
	"0x10", "1e3", "1E3",	"abc", "1,5", "1,000", "1_0", "\xd9\xa3",
	"NaN",	"inf", "1.2.3", "--1", "1-",  "0b1",   "1;",  "18446744073709551616x",
};

static void text_that_is_no_number_is_refused_by_each_parser(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(never); i++) {
		uint64_t out = KEPT;

		assert_int_equal(parse__u64(never[i], 0, UINT64_MAX, &out), -EINVAL);
		assert_int_equal(parse__size(never[i], &out), -EINVAL);
		assert_int_equal(parse__duration(never[i], &out), -EINVAL);
		assert_int_equal(out, KEPT);
	}
}

static void u64_takes_whole_numbers_within_the_limits(void **state)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int err;
		uint64_t value;
	} cases[] = {
		{ "0", 0, UINT64_MAX, 0, 0 },
		{ "007", 0, UINT64_MAX, 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, KEPT },
		{ "18446744073709551620", 0, UINT64_MAX, -ERANGE, KEPT },
		{ "99999999999999999999999999999999", 0, UINT64_MAX, -ERANGE, KEPT },
		{ "1", 1, 5, 0, 1 },
		{ "5", 1, 5, 0, 5 },
		{ "0", 1, 5, -ERANGE, KEPT },
		{ "6", 1, 5, -ERANGE, KEPT },
		{ "1.0", 0, UINT64_MAX, -EINVAL, KEPT },
		{ "1k", 0, UINT64_MAX, -EINVAL, KEPT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t out = KEPT;

		assert_int_equal(parse__u64(cases[i].text, cases[i].min, cases[i].max, &out),
				 cases[i].err);
		assert_true(out == cases[i].value);
	}
}

struct number_case {
	const char *text;
	int err;
	uint64_t value;
};

/* The first case that is not answered as expected, or NULL. */
static const struct number_case *find_wrong(int (*parse)(const char *, uint64_t *),
					    const struct number_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t out = KEPT;

		if (parse(cases[i].text, &out) != cases[i].err || out != cases[i].value)
			return &cases[i];
	}
	return NULL;
}

static void check_numbers(int (*parse)(const char *, uint64_t *), const struct number_case *cases,
			  size_t count)
{
	const struct number_case *wrong = find_wrong(parse, cases, count);

	if (wrong)
		fail_msg("\"%s\" is not answered by %d and %llu", wrong->text, wrong->err,
			 (unsigned long long)wrong->value);
}

static void size_takes_powers_of_1024(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "1K", 0, 1024 },
		{ "3M", 0, 3 << 20 },
		{ "2G", 0, UINT64_C(2) << 30 },
		{ "1T", 0, UINT64_C(1) << 40 },
		{ "0T", 0, 0 },
		{ "16777215T", 0, UINT64_C(16777215) << 40 },
		{ "16777216T", -ERANGE, KEPT },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551615K", -ERANGE, KEPT },
		{ "18446744073709551616", -ERANGE, KEPT },
		{ "1k", -EINVAL, KEPT },
		{ "1P", -EINVAL, KEPT },
		{ "1KB", -EINVAL, KEPT },
		{ "1KiB", -EINVAL, KEPT },
		{ "1 K", -EINVAL, KEPT },
		{ "K", -EINVAL, KEPT },
		{ "1.5G", -EINVAL, KEPT },
	};

	(void)state;
	check_numbers(parse__size, cases, ARRAY_SIZE(cases));
}

static const struct number_case durations[] = {
	{ "1", 0, 1000000000 },
	{ "0", 0, 0 },
	{ "0.5", 0, 500000000 },
	{ "0.000000001", 0, 1 },
	{ "1.999999999", 0, 1999999999 },
	{ "250ms", 0, 250000000 },
	{ "2s", 0, 2000000000 },
	{ "3m", 0, 180000000000 },
	{ "1.5m", 0, 90000000000 },
	{ "0.1h", 0, 360000000000 },
	{ "0.999999999h", 0, 3599999996400 },
	{ "7us", 0, 7000 },
	{ "9ns", 0, 9 },
	{ "0.9ns", 0, 0 },
	{ "18446744073.709551615", 0, UINT64_MAX },
	{ "18446744073.709551616", -ERANGE, KEPT },
	{ "18446744074", -ERANGE, KEPT },
	{ "18446744073709551615h", -ERANGE, KEPT },
	{ "18446744073709551616", -ERANGE, KEPT },
	{ "0.0000000001", -ERANGE, KEPT },
	{ "0.00000000000000000000000000001", -ERANGE, KEPT },
	{ "1.", -EINVAL, KEPT },
	{ ".5", -EINVAL, KEPT },
	{ ".", -EINVAL, KEPT },
	{ "1.-5", -EINVAL, KEPT },
	{ "1. 5", -EINVAL, KEPT },
	{ "1 s", -EINVAL, KEPT },
	{ "1S", -EINVAL, KEPT },
	{ "1d", -EINVAL, KEPT },
	{ "1sec", -EINVAL, KEPT },
	{ "1.0000000000x", -EINVAL, KEPT },
	{ "0,5", -EINVAL, KEPT },
	{ "1e3", -EINVAL, KEPT },
	{ "ms", -EINVAL, KEPT },
};

static void duration_is_exact_to_the_nanosecond(void **state)
{
	(void)state;
	check_numbers(parse__duration, durations, ARRAY_SIZE(durations));
}

static int parse_under_another_locale(void *folder)
{
	if (!use_decimal_comma(folder))
		return 77;
	return find_wrong(parse__duration, durations, ARRAY_SIZE(durations)) != NULL;
}

static void the_locale_does_not_change_what_a_number_is(void **state)
{
	struct child child;

	child__run(&child, parse_under_another_locale, *state);
	if (child__code(&child) == 77)
		skip();
	assert_int_equal(child__code(&child), 0);
}

static void cpulist_takes_what_the_kernel_writes(void **state)
{
	static const struct {
		const char *text;
		unsigned int count;
		const char *same;
	} cases[] = {
		{ "", 0, "" },
		{ "0", 1, "0" },
		{ "0-3,7,9-10", 7, "0-3,7,9-10" },
		{ "5-5", 1, "5" },
		{ "7,0-3", 5, "0-3,7" },
		{ "0-3,2-5", 6, "0-5" },
		{ "8191", 1, "8191" },
		{ "0-8191", CPUS_MAX, "0-8191" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpus set;
		char text[64];

		assert_int_equal(parse__cpulist(cases[i].text, &set), 0);
		assert_int_equal(cpus__count(&set), cases[i].count);
		cpus__format(&set, text, sizeof(text));
		assert_string_equal(text, cases[i].same);
	}
}

static void cpulist_refuses_anything_else_and_keeps_the_set(void **state)
{
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{ ",", -EINVAL },
		{ "0,", -EINVAL },
		{ ",0", -EINVAL },
		{ "0,,1", -EINVAL },
		{ "0-", -EINVAL },
		{ "-3", -EINVAL },
		{ "3-1", -EINVAL },
		{ "0--1", -EINVAL },
		{ "0-1-2", -EINVAL },
		{ " 0", -EINVAL },
		{ "0 ", -EINVAL },
		{ "0, 1", -EINVAL },
		{ "0\n", -EINVAL },
		{ "0-3:1/2", -EINVAL },
		{ "all", -EINVAL },
		{ "0x1", -EINVAL },
		{ "1.5", -EINVAL },
		{ "+1", -EINVAL },
		{ "8192", -ERANGE },
		{ "0-8192", -ERANGE },
		{ "8192-8191", -ERANGE },
		{ "4294967296", -ERANGE },
		{ "18446744073709551616", -ERANGE },
		{ "0-18446744073709551617", -ERANGE },
		{ "9999,x", -EINVAL },
		{ "9999,1", -ERANGE },
	};
	struct cpus set, kept;

	(void)state;
	assert_int_equal(parse__cpulist("1,3", &kept), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		set = kept;
		if (parse__cpulist(cases[i].text, &set) != cases[i].err)
			fail_msg("\"%s\" is not answered by %d", cases[i].text, cases[i].err);
		assert_true(cpus__equal(&set, &kept));
	}
}

struct option_case {
	char kind;
	const char *text;
	const char *expected; /* a part of the message */
};

static int parse_option(void *arg)
{
	const struct option_case *option = arg;
	struct cpus set;

	diag__set_program("tool");
	switch (option->kind) {
	case 'u':
		return parse__u64_or_err("--count", option->text, 1, 100) != 64;
	case 'U':
		return parse__u64_or_err("--count", option->text, 3, UINT64_MAX) != 64;
	case 's':
		return parse__size_or_err("--count", option->text) != 65536;
	case 'd':
		return parse__duration_or_err("--count", option->text) != 1500000000;
	default:
		parse__cpulist_or_err("--count", option->text, &set);
		return cpus__count(&set) != 2;
	}
}

static void an_option_that_does_not_parse_ends_with_what_was_given(void **state)
{
	static const struct option_case cases[] = {
		{ 'u', "101", "from 1 to 100" },  { 'u', "x y", "from 1 to 100" },
		{ 'U', "2", "of 3 or more" },	  { 's', "64k", "a size such as" },
		{ 'd', "1,5", "a time such as" }, { 'd', "99999999999", "out of range" },
		{ 'c', "0-", "a list such as" },  { 'c', "0,9000", "out of range" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct option_case option = cases[i];
		struct child child;

		child__run(&child, parse_option, &option);
		assert_int_equal(child__code(&child), EXIT_USAGE);
		assert_memory_equal(child.err, "tool: --count: expected ", 24);
		assert_contains(child.err, option.text);
		assert_contains(child.err, option.expected);
		assert_string_equal(child.out, "");
	}
}

static void an_option_that_parses_gives_its_value(void **state)
{
	static const struct option_case cases[] = {
		{ 'u', "64", "" },  { 'U', "64", "" },	{ 's', "64K", "" },
		{ 'd', "1.5", "" }, { 'c', "1,3", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct option_case option = cases[i];
		struct child child;

		child__run(&child, parse_option, &option);
		assert_int_equal(child__code(&child), 0);
		assert_string_equal(child.err, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_that_is_no_number_is_refused_by_each_parser),
		cmocka_unit_test(u64_takes_whole_numbers_within_the_limits),
		cmocka_unit_test(size_takes_powers_of_1024),
		cmocka_unit_test(duration_is_exact_to_the_nanosecond),
		in_a_folder(the_locale_does_not_change_what_a_number_is),
		cmocka_unit_test(cpulist_takes_what_the_kernel_writes),
		cmocka_unit_test(cpulist_refuses_anything_else_and_keeps_the_set),
		cmocka_unit_test(an_option_that_does_not_parse_ends_with_what_was_given),
		cmocka_unit_test(an_option_that_parses_gives_its_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
