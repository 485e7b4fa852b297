/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/stock.h"

#define BIG (20 << 20)

static const struct arch *x86(void)
{
	return arch__find("x86_64");
}

static void versions_are_read_from_image_packages(void **state)
{
	static const struct {
		const char *package, *version;
	} cases[] = {
		{ "linux-image-6.1.0-57-cloud-amd64", "6.1.0-57-cloud-amd64" },
		{ "linux-image-6.12.117+deb13-cloud-amd64", "6.12.117+deb13-cloud-amd64" },
		{ "linux-binary-7.3.4+deb13-cloud-amd64", "7.3.4+deb13-cloud-amd64" },
		{ "linux-image-6.1.0-57-cloud-amd64-dbg", NULL },
		{ "linux-image-6.1.0-57-cloud-amd64-unsigned", NULL },
		{ "linux-binary-unsigned-7.3.4+deb13-cloud-amd64", NULL },
		{ "linux-image-6.1.0-57-rt-amd64", NULL },
		{ "linux-image-6.1.0-57-amd64", NULL },
		{ "linux-image-6.1.0-57-cloud-arm64", NULL },
		{ "linux-image-6.12-cloud-amd64", NULL },
		{ "linux-image-cloud-amd64", NULL },
		{ "linux-image-7.4-rc2-cloud-amd64", NULL },
		{ "linux-modules-7.3.4+deb13-cloud-amd64", NULL },
		{ "linux-headers-6.1.0-57-cloud-amd64", NULL },
		{ "linux-image-", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *version = stock__version(cases[i].package, x86());

		if (!cases[i].version)
			assert_null(version);
		else
			assert_string_equal(version, cases[i].version);
	}
}

static void a_series_is_two_numbers(void **state)
{
	static const char *const good[] = { "7.3", "6.12", "6.1", "10.0" };
	static const char *const bad[] = { "", "7", "7.", ".3", "7.3.4", "7.3 ", "x.3", "7.3-rc1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(stock__is_series(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(stock__is_series(bad[i]));
}

static void a_series_does_not_take_in_longer_numbers(void **state)
{
	(void)state;
	assert_true(stock__in_series("6.1.0-57-cloud-amd64", "6.1"));
	assert_false(stock__in_series("6.12.117+deb13-cloud-amd64", "6.1"));
	assert_false(stock__in_series("6.16.3+deb13-cloud-amd64", "6.1"));
	assert_true(stock__in_series("6.12.117+deb13-cloud-amd64", "6"));
	assert_false(stock__in_series("16.1.2-cloud-amd64", "6.1"));
}

static void choose(const struct package *packages, size_t count, const char *series,
		   const char *expected)
{
	const struct package *chosen = stock__choose(packages, count, x86(), series);

	if (!expected)
		assert_null(chosen);
	else
		assert_string_equal(chosen ? chosen->name : "nothing", expected);
}

static void the_newest_of_a_series_is_chosen_by_number(void **state)
{
	static const struct package packages[] = {
		{ "linux-image-6.1.0-9-cloud-amd64", "", BIG },
		{ "linux-image-6.1.0-57-cloud-amd64", "", BIG },
		{ "linux-image-6.1.0-50-cloud-amd64", "", BIG },
		{ "linux-image-6.1.0-99-cloud-amd64-dbg", "", BIG },
		{ "linux-image-6.1.0-99-cloud-amd64-unsigned", "", BIG },
		{ "linux-image-6.1.0-99-rt-amd64", "", BIG },
		{ "linux-image-6.12.9+deb12-cloud-amd64", "", BIG },
		{ "linux-image-6.12.117+deb13-cloud-amd64", "", BIG },
		{ "linux-image-6.12.117+deb12-cloud-amd64", "", BIG },
		{ "linux-image-6.16.3+deb13-cloud-amd64", "", BIG },
	};
	size_t count = ARRAY_SIZE(packages);

	(void)state;
	choose(packages, count, "6.1", "linux-image-6.1.0-57-cloud-amd64");
	choose(packages, count, "6.12", "linux-image-6.12.117+deb13-cloud-amd64");
	choose(packages, count, "6", "linux-image-6.16.3+deb13-cloud-amd64");
	choose(packages, count, "6.17", NULL);
	choose(packages, count, "7.3", NULL);
	choose(packages, 0, "6.1", NULL);
}

static void a_split_kernel_is_chosen_by_the_package_that_holds_the_image(void **state)
{
	static const struct package packages[] = {
		{ "linux-image-7.3.4+deb13-cloud-amd64", "", 1928 },
		{ "linux-modules-7.3.4+deb13-cloud-amd64", "", BIG },
		{ "linux-binary-7.3.4+deb13-cloud-amd64", "", BIG },
		{ "linux-base-7.3.4+deb13-cloud-amd64", "", 1 << 20 },
	};
	const struct package *chosen = stock__choose(packages, ARRAY_SIZE(packages), x86(), "7.3");

	(void)state;
	assert_string_equal(chosen->name, "linux-binary-7.3.4+deb13-cloud-amd64");
	assert_true(stock__is_split(chosen));
	assert_ptr_equal(stock__part(packages, ARRAY_SIZE(packages), STOCK_MODULES,
				     "7.3.4+deb13-cloud-amd64"),
			 &packages[1]);
	assert_null(stock__part(packages, ARRAY_SIZE(packages), STOCK_MODULES,
				"7.3.5+deb13-cloud-amd64"));
}

/* Seen in an archive: 7.1.13's image was still there, its modules were not. */
static void a_kernel_whose_modules_are_gone_is_not_chosen(void **state)
{
	static const struct package packages[] = {
		{ "linux-binary-7.3.4+deb13-cloud-amd64", "", BIG },
		{ "linux-modules-7.3.4+deb13-cloud-amd64", "", BIG },
		{ "linux-binary-7.3.10+deb13-cloud-amd64", "", BIG },
		{ "linux-image-7.3.11+deb13-cloud-amd64", "", 1928 },
	};

	(void)state;
	choose(packages, ARRAY_SIZE(packages), "7.3", "linux-binary-7.3.4+deb13-cloud-amd64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_read_from_image_packages),
		cmocka_unit_test(a_series_is_two_numbers),
		cmocka_unit_test(a_series_does_not_take_in_longer_numbers),
		cmocka_unit_test(the_newest_of_a_series_is_chosen_by_number),
		cmocka_unit_test(a_split_kernel_is_chosen_by_the_package_that_holds_the_image),
		cmocka_unit_test(a_kernel_whose_modules_are_gone_is_not_chosen),
	};

	return cmocka_run_group_tests_name("stock", tests, NULL, NULL);
}
