/* SPDX-License-Identifier: GPL-2.0-only */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbols.h"

static struct symbol find(const char *name, const char *text)
{
	struct symbol symbol = { .name = name };

	symbols__find_in(text, strlen(text), &symbol, 1);
	return symbol;
}

static void plain_name_is_found_with_its_address(void **state)
{
	struct symbol symbol = find("flush_tlb_func", "ffffffff81000010 T flush_tlb_all\n"
						      "ffffffff8113a310 t flush_tlb_func\n");

	(void)state;
	assert_string_equal(symbol.found, "flush_tlb_func");
	assert_true(symbol.address == 0xffffffff8113a310);
	assert_true(symbol.same_arguments);
}

static void a_longer_name_is_another_function(void **state)
{
	struct symbol symbol = find("flush_tlb", "ffffffff81000010 T flush_tlb_all\n"
						 "ffffffff81000020 t do_flush_tlb\n");

	(void)state;
	assert_string_equal(symbol.found, "");
	assert_true(symbol.address == 0);
}

static void isra_and_constprop_keep_the_address_but_not_the_arguments(void **state)
{
	struct symbol isra =
		find("should_flush_tlb", "ffffffff81000010 t should_flush_tlb.isra.0\n");
	struct symbol constprop = find("f", "ffffffff81000010 t f.constprop.0.isra.0");

	(void)state;
	assert_string_equal(isra.found, "should_flush_tlb.isra.0");
	assert_true(isra.address == 0xffffffff81000010);
	assert_false(isra.same_arguments);
	assert_string_equal(constprop.found, "f.constprop.0.isra.0");
	assert_false(constprop.same_arguments);
}

static void llvm_suffix_keeps_the_arguments(void **state)
{
	struct symbol symbol =
		find("flush_tlb_func", "ffffffff81000010 t flush_tlb_func.llvm.123456789\n");

	(void)state;
	assert_string_equal(symbol.found, "flush_tlb_func.llvm.123456789");
	assert_true(symbol.same_arguments);
}

static void two_copies_cannot_be_told_apart(void **state)
{
	struct symbol symbol =
		find("f", "ffffffff81000010 t f.llvm.1\nffffffff81000020 t f.llvm.2\n");

	(void)state;
	assert_string_equal(symbol.found, "f.llvm.1");
	assert_false(symbol.same_arguments);
}

static void plain_name_wins_over_a_suffixed_one_in_any_order(void **state)
{
	struct symbol after = find("f", "ffffffff81000010 t f.isra.0\nffffffff81000020 t f\n");
	struct symbol before = find("f", "ffffffff81000020 t f\nffffffff81000010 t f.isra.0\n");

	(void)state;
	assert_string_equal(after.found, "f");
	assert_true(after.address == 0xffffffff81000020);
	assert_true(after.same_arguments);
	assert_string_equal(before.found, "f");
	assert_true(before.same_arguments);
}

static void cold_part_is_not_the_function(void **state)
{
	struct symbol symbol = find("flush_tlb_func", "ffffffff81000010 t flush_tlb_func.cold\n");

	(void)state;
	assert_string_equal(symbol.found, "");
}

static void a_module_symbol_is_not_the_kernels(void **state)
{
	struct symbol symbol = find("f", "ffffffffc0000010 t f\t[module]\n");

	(void)state;
	assert_string_equal(symbol.found, "");
}

static void hidden_addresses_are_found_but_zero(void **state)
{
	struct symbol symbol = find("f", "0000000000000000 t f\n");

	(void)state;
	assert_string_equal(symbol.found, "f");
	assert_true(symbol.address == 0);
}

static void damaged_lines_are_passed_over(void **state)
{
	struct symbol symbol =
		find("f", "\n \nzz t f\nffff\nffff t\nffff  f\n0123456789abcdef t f");

	(void)state;
	assert_string_equal(symbol.found, "f");
	assert_true(symbol.address == 0x0123456789abcdef);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_name_is_found_with_its_address),
		cmocka_unit_test(a_longer_name_is_another_function),
		cmocka_unit_test(isra_and_constprop_keep_the_address_but_not_the_arguments),
		cmocka_unit_test(llvm_suffix_keeps_the_arguments),
		cmocka_unit_test(two_copies_cannot_be_told_apart),
		cmocka_unit_test(plain_name_wins_over_a_suffixed_one_in_any_order),
		cmocka_unit_test(cold_part_is_not_the_function),
		cmocka_unit_test(a_module_symbol_is_not_the_kernels),
		cmocka_unit_test(hidden_addresses_are_found_but_zero),
		cmocka_unit_test(damaged_lines_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
