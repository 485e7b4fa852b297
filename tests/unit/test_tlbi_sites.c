/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <stdint.h>

#include "tlbi.h"
#include "tlbi_sites.h"

#define TEXT 0xffff800010000000ull

#define NOP	     0xd503201fu
#define DSB_ISH	     0xd5033b9fu
#define VALE1IS_X0   0xd50883a0u
#define VALE1IS_X1   0xd50883a1u
#define VALE1IS_XZR  0xd50883bfu
#define ASIDE1IS_XZR 0xd508835fu
#define VAE1IS_X0    0xd5088320u
#define VMALLE1	     0xd508871fu
#define LDXR	     0xc85f7c00u
#define STXR	     0xc8007c20u

static struct tlbi_sites sites;

#define FIND(...)                                                                                 \
	do {                                                                                      \
		static const uint32_t text_[] = { __VA_ARGS__ };                                  \
		assert_int_equal(tlbi_sites__find_in(&sites, text_, ARRAY_SIZE(text_), TEXT), 0); \
	} while (0)

static void name(const char *kallsyms)
{
	tlbi_sites__name(&sites, kallsyms, strlen(kallsyms));
}

static void sites_are_found_with_their_addresses(void **state)
{
	(void)state;
	FIND(NOP, VALE1IS_X0, NOP, VMALLE1);
	assert_int_equal(sites.count, 2);
	assert_true(sites.site[0].address == TEXT + 4);
	assert_string_equal(tlbi_operations[sites.site[0].operation].name, "vale1is");
	assert_true(sites.site[1].address == TEXT + 12);
	assert_string_equal(tlbi_operations[sites.site[1].operation].name, "vmalle1");
}

static void breakpoints_of_others_are_counted(void **state)
{
	(void)state;
	FIND(0xd4200080, NOP, 0xd4200080, 0xd4210000);
	assert_int_equal(sites.count, 0);
	assert_int_equal(sites.breakpoints, 2);
}

/* As in Linux 6.12: the same again after dsb ish. */
static void the_second_of_two_is_a_repeat(void **state)
{
	(void)state;
	FIND(VALE1IS_X0, DSB_ISH, VALE1IS_X0, DSB_ISH, VALE1IS_X1, DSB_ISH, VAE1IS_X0);
	assert_int_equal(sites.count, 4);
	assert_false(sites.site[0].repeat);
	assert_true(sites.site[1].repeat);
	assert_false(sites.site[2].repeat);
	assert_false(sites.site[3].repeat);
}

/* As in Linux 7.3: an address of 0. Another workaround executes aside1is of 0, once. */
static void xzr_for_an_argument_is_a_repeat(void **state)
{
	(void)state;
	FIND(VALE1IS_XZR, VMALLE1, ASIDE1IS_XZR);
	assert_true(sites.site[0].repeat);
	assert_false(sites.site[1].repeat);
	assert_false(sites.site[2].repeat);
}

static void too_many_are_refused(void **state)
{
	static uint32_t text[TLBI_SITES_MAX];

	(void)state;
	for (int i = 0; i < TLBI_SITES_MAX; i++)
		text[i] = VMALLE1;
	assert_int_equal(tlbi_sites__find_in(&sites, text, TLBI_SITES_MAX, TEXT), -E2BIG);
}

static void the_symbol_before_a_site_names_it(void **state)
{
	(void)state;
	FIND(NOP, VALE1IS_X0, VMALLE1, NOP, VAE1IS_X0);
	/* In no order, with data, a module, an alias, and a function without any. */
	name("ffff80001000000c T third\n"
	     "ffff800010000000 t first\n"
	     "ffff800010000000 t alias\n"
	     "ffff800010000004 d data\n"
	     "ffff800000000000 t far\t[module]\n"
	     "ffff80001000000c T other\n"
	     "ffff800010000014 T behind\n");
	assert_string_equal(sites.site[0].symbol, "first");
	assert_true(sites.site[0].offset == 4);
	assert_string_equal(sites.site[1].symbol, "first");
	assert_true(sites.site[1].offset == 8);
	assert_string_equal(sites.site[2].symbol, "third");
	assert_true(sites.site[2].offset == 4);
}

static void without_a_symbol_there_is_no_name(void **state)
{
	(void)state;
	FIND(VALE1IS_X0);
	name("ffff800020000000 T behind\n");
	assert_string_equal(sites.site[0].symbol, "");
	assert_true(sites.site[0].offset == 0);
}

/* Why a kprobe is refused. */

static const uint32_t traced[] = { 0xd503245f, 0xaa1e03e9, NOP };
static const uint32_t notrace[] = { 0xd503245f, 0xd503233f, 0xa9be7bfd };

static void explain(int err, uint64_t start, const uint32_t *entry)
{
	struct symbol bounds[2 * TLBI_AREAS] = { 0 };

	/* noinstr */
	bounds[4].address = start;
	bounds[5].address = start + 64;
	tlbi_site__explain(&sites.site[0], err, bounds, entry);
}

static void an_area_is_named(void **state)
{
	(void)state;
	FIND(NOP, VALE1IS_X0);
	explain(EINVAL, TEXT, notrace);
	assert_non_null(strstr(sites.site[0].why, "noinstr"));
	/* Behind the site, and before it. */
	explain(EINVAL, TEXT + 8, traced);
	assert_null(strstr(sites.site[0].why, "noinstr"));
	explain(EINVAL, TEXT - 64, traced);
	assert_null(strstr(sites.site[0].why, "noinstr"));
}

static void an_exclusive_load_counts_until_its_store(void **state)
{
	static const char kallsyms[] = "ffff800010000000 t f\n";

	(void)state;
	FIND(LDXR, NOP, VALE1IS_X0);
	name(kallsyms);
	explain(EINVAL, 0, traced);
	assert_non_null(strstr(sites.site[0].why, "exclusive"));
	FIND(LDXR, STXR, VALE1IS_X0);
	name(kallsyms);
	explain(EINVAL, 0, traced);
	assert_null(strstr(sites.site[0].why, "exclusive"));
	/* The load is another function's. */
	FIND(LDXR, NOP, VALE1IS_X0);
	name("ffff800010000004 t f\n");
	explain(EINVAL, 0, traced);
	assert_null(strstr(sites.site[0].why, "exclusive"));
}

static void a_function_without_room_for_ftrace_is_notrace(void **state)
{
	(void)state;
	FIND(NOP, VALE1IS_X0);
	name("ffff800010000000 t f\n");
	explain(EINVAL, 0, notrace);
	assert_non_null(strstr(sites.site[0].why, "notrace"));
	explain(EINVAL, 0, traced);
	assert_null(strstr(sites.site[0].why, "notrace"));
	explain(EPERM, 0, notrace);
	assert_non_null(strstr(sites.site[0].why, strerror(EPERM)));
}

/* Calls of functions that hide some. */

static void a_function_has_its_refused_sites(void **state)
{
	(void)state;
	FIND(VALE1IS_X0, VMALLE1, VALE1IS_X1, NOP, VAE1IS_X0);
	name("ffff800010000000 t f\nffff80001000000c t g\n");
	strcpy(sites.site[0].why, "refused");
	strcpy(sites.site[2].why, "refused");
	assert_int_equal(tlbi_sites__find_functions(&sites), 0);
	assert_int_equal(sites.functions, 1);
	assert_string_equal(sites.function[0].symbol, "f");
	assert_true(sites.function[0].start == TEXT);
	assert_int_equal(sites.function[0].sites, 2);
}

static void too_many_functions_are_refused(void **state)
{
	(void)state;
	memset(&sites, 0, sizeof(sites));
	sites.count = TLBI_FUNCTIONS_MAX + 1;
	for (unsigned int i = 0; i < sites.count; i++) {
		sites.site[i].address = TEXT + i * 4;
		strcpy(sites.site[i].symbol, "f");
		strcpy(sites.site[i].why, "refused");
	}
	assert_int_equal(tlbi_sites__find_functions(&sites), -E2BIG);
	sites.count--;
	assert_int_equal(tlbi_sites__find_functions(&sites), 0);
	assert_int_equal(sites.functions, TLBI_FUNCTIONS_MAX);
}

static void calls_and_branches_are_found_both_ways(void **state)
{
	(void)state;
	FIND(VALE1IS_X0);
	name("ffff800010000000 t f\n");
	strcpy(sites.site[0].why, "refused");
	assert_int_equal(tlbi_sites__find_functions(&sites), 0);
	assert_int_equal(tlbi_sites__called(&sites, 0x97ffffff, TEXT + 4), 0);	/* bl .-4 */
	assert_int_equal(tlbi_sites__called(&sites, 0x94000002, TEXT - 8), 0);	/* bl .+8 */
	assert_int_equal(tlbi_sites__called(&sites, 0x14000002, TEXT - 8), 0);	/* b .+8 */
	assert_int_equal(tlbi_sites__called(&sites, 0x94000002, TEXT), -1);	/* elsewhere */
	assert_int_equal(tlbi_sites__called(&sites, 0x54000040, TEXT - 8), -1); /* b.eq .+8 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_found_with_their_addresses),
		cmocka_unit_test(breakpoints_of_others_are_counted),
		cmocka_unit_test(the_second_of_two_is_a_repeat),
		cmocka_unit_test(xzr_for_an_argument_is_a_repeat),
		cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(the_symbol_before_a_site_names_it),
		cmocka_unit_test(without_a_symbol_there_is_no_name),
		cmocka_unit_test(an_area_is_named),
		cmocka_unit_test(an_exclusive_load_counts_until_its_store),
		cmocka_unit_test(a_function_without_room_for_ftrace_is_notrace),
		cmocka_unit_test(a_function_has_its_refused_sites),
		cmocka_unit_test(too_many_functions_are_refused),
		cmocka_unit_test(calls_and_branches_are_found_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
