/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <stdint.h>

#include "tlbi_report.h"

static struct tlbi_sites sites;
static uint64_t count[TLBI_SITES_MAX];

static void add_site(uint32_t word, const char *symbol, uint64_t offset, const char *why,
		     uint64_t n)
{
	struct tlbi_site *site = &sites.site[sites.count];

	site->word = word;
	site->operation = tlbi__decode(word);
	site->address = 0xffff800010000000ull + offset;
	site->offset = offset;
	strcpy(site->symbol, symbol);
	strcpy(site->why, why);
	count[sites.count++] = n;
}

/* vale1is x0 twice, vale1 x0, one that is refused, a repeat; and calls of a function. */
static int prepare(void **state)
{
	(void)state;
	add_site(0xd50883a0, "first", 4, "", 10);
	add_site(0xd50883a0, "second", 16, "", 20);
	add_site(0xd50887a0, "third", 32, "", 5);
	add_site(0xd5088340, "fourth", 64, "in noinstr code, where kprobes are refused", 0);
	add_site(0xd50883bf, "fifth", 128, "", 7);
	sites.site[4].repeat = true;
	tlbi_sites__find_functions(&sites);
	count[sites.count] = 3;
	return 0;
}

static char *text_of(void (*print)(FILE *))
{
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	print(stream);
	fclose(stream);
	return text;
}

static void operations_and_reaches_are_summed_without_repeats(void **state)
{
	struct tlbi_totals totals;

	(void)state;
	tlbi_totals__make(&totals, &sites, count);
	assert_int_equal(totals.operation[tlbi__decode(0xd50883a0)], 30);
	assert_int_equal(totals.sites[tlbi__decode(0xd50883a0)], 2);
	assert_int_equal(totals.reach[TLBI_BROADCAST], 30);
	assert_int_equal(totals.reach[TLBI_LOCAL], 5);
	assert_int_equal(totals.repeats, 7);
	assert_int_equal(totals.blind_calls, 3);
	assert_int_equal(totals.probed, 4);
	assert_int_equal(totals.skipped, 1);
}

static void the_busiest_has_the_highest_count(void **state)
{
	static const uint64_t nothing[TLBI_SITES_MAX];

	(void)state;
	assert_ptr_equal(tlbi__busiest(&sites, count), &sites.site[1]);
	assert_null(tlbi__busiest(&sites, nothing));
}

static void print_rows(FILE *out)
{
	tlbi__csv_header(out);
	tlbi__csv_rows(&sites, count, 1.5, NULL, out);
}

static void csv_has_a_row_per_site_and_no_number_that_is_not_seen(void **state)
{
	char *text = text_of(print_rows);

	(void)state;
	assert_string_equal(
		text, "seconds,operation,reach,count,symbol,offset,address,repeat,not_counted\n"
		      "1.500000,vale1is,broadcast,10,first,4,0xffff800010000004,0,\n"
		      "1.500000,vale1is,broadcast,20,second,16,0xffff800010000010,0,\n"
		      "1.500000,vale1,local,5,third,32,0xffff800010000020,0,\n"
		      "1.500000,aside1is,broadcast,,fourth,64,0xffff800010000040,0,"
		      "\"in noinstr code, where kprobes are refused\"\n"
		      "1.500000,vale1is,broadcast,7,fifth,128,0xffff800010000080,1,\n");
	free(text);
}

static void print_table(FILE *out)
{
	tlbi__print(&sites, count, false, out);
}

static void the_table_tells_what_is_not_counted(void **state)
{
	char *text = text_of(print_table);

	(void)state;
	assert_non_null(strstr(text, "second+0x10"));
	assert_non_null(strstr(text, "fifth+0x80 (repeat)"));
	assert_non_null(
		strstr(text, "not counted: 1 TLBI instructions, at fourth+0x40: in noinstr"));
	assert_non_null(strstr(text, "\nfourth "));
	assert_null(strstr(text, "not seen"));
	free(text);
	sites.function[0].unseen = 1;
	text = text_of(print_table);
	sites.function[0].unseen = 0;
	assert_non_null(strstr(text, "not seen: some calls of fourth, where"));
	free(text);
}

static void before_counting_json_has_no_numbers(void **state)
{
	json_t *json = tlbi__json(&sites, NULL);
	json_t *first = json_array_get(json_object_get(json, "sites"), 0);

	(void)state;
	assert_true(json_is_null(json_object_get(json, "broadcast")));
	assert_true(json_is_null(json_object_get(first, "count")));
	assert_int_equal(json_integer_value(json_object_get(json, "probed")), 4);
	json_decref(json);
}

static void json_counts_sites_and_calls(void **state)
{
	json_t *json = tlbi__json(&sites, count);
	json_t *list = json_object_get(json, "sites");
	json_t *function = json_array_get(json_object_get(json, "functions_not_counted_inside"), 0);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "count")), 20);
	assert_true(json_is_null(json_object_get(json_array_get(list, 3), "count")));
	assert_string_equal(json_string_value(json_object_get(function, "symbol")), "fourth");
	assert_int_equal(json_integer_value(json_object_get(function, "calls")), 3);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_and_reaches_are_summed_without_repeats),
		cmocka_unit_test(the_busiest_has_the_highest_count),
		cmocka_unit_test(csv_has_a_row_per_site_and_no_number_that_is_not_seen),
		cmocka_unit_test(the_table_tells_what_is_not_counted),
		cmocka_unit_test(before_counting_json_has_no_numbers),
		cmocka_unit_test(json_counts_sites_and_calls),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
