/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/source.h"

static struct package packages[] = {
	{ "linux-source", "7.3.4-1", 900 },
	{ "linux-source-6.1", "6.1.192-1", 139000000 },
	{ "linux-source-7.10", "7.10.2-1~bpo13+1", 166000000 },
	{ "linux-source-7.3", "7.3.4-1~bpo13+1", 166780612 },
	{ "linux-source-7.4-rc2", "7.4~rc2-1", 166000000 },
	{ "linux-image-7.11.1-cloud-amd64", "7.11.1-1", 40000000 },
};

static const char *chosen(const char *series)
{
	const struct package *package =
		source__choose(packages, ARRAY_SIZE(packages), arch__find("x86_64"), series);

	return package ? package->name : "none";
}

static void a_series_has_its_source(void **state)
{
	(void)state;
	assert_string_equal(chosen("7.3"), "linux-source-7.3");
	assert_string_equal(chosen("6.1"), "linux-source-6.1");
	assert_string_equal(chosen("7.1"), "none");
	assert_string_equal(chosen("7.4"), "none");
}

static void the_newest_of_a_major_version_stands_in(void **state)
{
	(void)state;
	assert_string_equal(chosen("7"), "linux-source-7.10");
	assert_string_equal(chosen("8"), "none");
}

static void the_version_is_the_kernels(void **state)
{
	char *version = source__version(&packages[3], arch__find("x86_64"));

	(void)state;
	assert_string_equal(version, "7.3.4");
	free(version);
}

static int make_cache(void **state)
{
	static const char meta[] = "{ \"schema\": \"" SOURCE_SCHEMA "\", \"version\": \"7.4.1\","
				   " \"bytes\": 5, \"stands_for\": \"7.3\" }";

	if (folder__make(state))
		return -1;
	setenv("XDG_CACHE_HOME", *state, 1);
	mkdir(in_folder(state, "tlbstat"), 0755);
	mkdir(in_folder(state, "tlbstat/sources"), 0755);
	mkdir(in_folder(state, "tlbstat/sources/.fetch"), 0755);
	mkdir(in_folder(state, "tlbstat/sources/linux-7.10.1"), 0755);
	mkdir(in_folder(state, "tlbstat/sources/linux-7.4.1"), 0755);
	put_file(in_folder(state, "tlbstat/sources/linux-7.4.1.json"), meta, strlen(meta));
	put_file(in_folder(state, "tlbstat/sources/linux-7.5.1"), "", 0);
	return 0;
}

static void sources_in_the_cache_are_listed(void **state)
{
	json_t *list = source__cached();

	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(meta__text(json_array_get(list, 0), "name"), "linux-7.4.1");
	assert_string_equal(meta__text(json_array_get(list, 0), "stands_for"), "7.3");
	assert_string_equal(meta__text(json_array_get(list, 1), "version"), "7.10.1");
	assert_string_equal(meta__text(json_array_get(list, 1), "path"),
			    in_folder(state, "tlbstat/sources/linux-7.10.1"));
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_has_its_source),
		cmocka_unit_test(the_newest_of_a_major_version_stands_in),
		cmocka_unit_test(the_version_is_the_kernels),
		cmocka_unit_test_setup_teardown(sources_in_the_cache_are_listed, make_cache,
						folder__remove),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
