/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <stdint.h>

#include "tlbi.h"

/* What the assembler makes of each, with argument x0; the_assembler_agrees() asks it again. */
static const struct {
	const char *name;
	uint32_t word;
} truth[] = {
	{ "vmalle1os", 0xd5088100 },	{ "vmalle1osnxs", 0xd5089100 },
	{ "vae1os", 0xd5088120 },	{ "vae1osnxs", 0xd5089120 },
	{ "aside1os", 0xd5088140 },	{ "aside1osnxs", 0xd5089140 },
	{ "vaae1os", 0xd5088160 },	{ "vaae1osnxs", 0xd5089160 },
	{ "vale1os", 0xd50881a0 },	{ "vale1osnxs", 0xd50891a0 },
	{ "vaale1os", 0xd50881e0 },	{ "vaale1osnxs", 0xd50891e0 },
	{ "vmalle1is", 0xd5088300 },	{ "vmalle1isnxs", 0xd5089300 },
	{ "vae1is", 0xd5088320 },	{ "vae1isnxs", 0xd5089320 },
	{ "aside1is", 0xd5088340 },	{ "aside1isnxs", 0xd5089340 },
	{ "vaae1is", 0xd5088360 },	{ "vaae1isnxs", 0xd5089360 },
	{ "vale1is", 0xd50883a0 },	{ "vale1isnxs", 0xd50893a0 },
	{ "vaale1is", 0xd50883e0 },	{ "vaale1isnxs", 0xd50893e0 },
	{ "vmalle1", 0xd5088700 },	{ "vmalle1nxs", 0xd5089700 },
	{ "vae1", 0xd5088720 },		{ "vae1nxs", 0xd5089720 },
	{ "aside1", 0xd5088740 },	{ "aside1nxs", 0xd5089740 },
	{ "vaae1", 0xd5088760 },	{ "vaae1nxs", 0xd5089760 },
	{ "vale1", 0xd50887a0 },	{ "vale1nxs", 0xd50897a0 },
	{ "vaale1", 0xd50887e0 },	{ "vaale1nxs", 0xd50897e0 },
	{ "rvae1os", 0xd5088520 },	{ "rvae1osnxs", 0xd5089520 },
	{ "rvaae1os", 0xd5088560 },	{ "rvaae1osnxs", 0xd5089560 },
	{ "rvale1os", 0xd50885a0 },	{ "rvale1osnxs", 0xd50895a0 },
	{ "rvaale1os", 0xd50885e0 },	{ "rvaale1osnxs", 0xd50895e0 },
	{ "rvae1is", 0xd5088220 },	{ "rvae1isnxs", 0xd5089220 },
	{ "rvaae1is", 0xd5088260 },	{ "rvaae1isnxs", 0xd5089260 },
	{ "rvale1is", 0xd50882a0 },	{ "rvale1isnxs", 0xd50892a0 },
	{ "rvaale1is", 0xd50882e0 },	{ "rvaale1isnxs", 0xd50892e0 },
	{ "rvae1", 0xd5088620 },	{ "rvae1nxs", 0xd5089620 },
	{ "rvaae1", 0xd5088660 },	{ "rvaae1nxs", 0xd5089660 },
	{ "rvale1", 0xd50886a0 },	{ "rvale1nxs", 0xd50896a0 },
	{ "rvaale1", 0xd50886e0 },	{ "rvaale1nxs", 0xd50896e0 },
	{ "alle2os", 0xd50c8100 },	{ "alle2osnxs", 0xd50c9100 },
	{ "vae2os", 0xd50c8120 },	{ "vae2osnxs", 0xd50c9120 },
	{ "alle1os", 0xd50c8180 },	{ "alle1osnxs", 0xd50c9180 },
	{ "vale2os", 0xd50c81a0 },	{ "vale2osnxs", 0xd50c91a0 },
	{ "vmalls12e1os", 0xd50c81c0 }, { "vmalls12e1osnxs", 0xd50c91c0 },
	{ "rvae2os", 0xd50c8520 },	{ "rvae2osnxs", 0xd50c9520 },
	{ "rvale2os", 0xd50c85a0 },	{ "rvale2osnxs", 0xd50c95a0 },
	{ "ipas2e1os", 0xd50c8400 },	{ "ipas2e1osnxs", 0xd50c9400 },
	{ "ipas2le1os", 0xd50c8480 },	{ "ipas2le1osnxs", 0xd50c9480 },
	{ "ripas2e1os", 0xd50c8460 },	{ "ripas2e1osnxs", 0xd50c9460 },
	{ "ripas2le1os", 0xd50c84e0 },	{ "ripas2le1osnxs", 0xd50c94e0 },
	{ "alle2is", 0xd50c8300 },	{ "alle2isnxs", 0xd50c9300 },
	{ "vae2is", 0xd50c8320 },	{ "vae2isnxs", 0xd50c9320 },
	{ "alle1is", 0xd50c8380 },	{ "alle1isnxs", 0xd50c9380 },
	{ "vale2is", 0xd50c83a0 },	{ "vale2isnxs", 0xd50c93a0 },
	{ "vmalls12e1is", 0xd50c83c0 }, { "vmalls12e1isnxs", 0xd50c93c0 },
	{ "rvae2is", 0xd50c8220 },	{ "rvae2isnxs", 0xd50c9220 },
	{ "rvale2is", 0xd50c82a0 },	{ "rvale2isnxs", 0xd50c92a0 },
	{ "ipas2e1is", 0xd50c8020 },	{ "ipas2e1isnxs", 0xd50c9020 },
	{ "ipas2le1is", 0xd50c80a0 },	{ "ipas2le1isnxs", 0xd50c90a0 },
	{ "ripas2e1is", 0xd50c8040 },	{ "ripas2e1isnxs", 0xd50c9040 },
	{ "ripas2le1is", 0xd50c80c0 },	{ "ripas2le1isnxs", 0xd50c90c0 },
	{ "alle2", 0xd50c8700 },	{ "alle2nxs", 0xd50c9700 },
	{ "vae2", 0xd50c8720 },		{ "vae2nxs", 0xd50c9720 },
	{ "alle1", 0xd50c8780 },	{ "alle1nxs", 0xd50c9780 },
	{ "vale2", 0xd50c87a0 },	{ "vale2nxs", 0xd50c97a0 },
	{ "vmalls12e1", 0xd50c87c0 },	{ "vmalls12e1nxs", 0xd50c97c0 },
	{ "rvae2", 0xd50c8620 },	{ "rvae2nxs", 0xd50c9620 },
	{ "rvale2", 0xd50c86a0 },	{ "rvale2nxs", 0xd50c96a0 },
	{ "ipas2e1", 0xd50c8420 },	{ "ipas2e1nxs", 0xd50c9420 },
	{ "ipas2le1", 0xd50c84a0 },	{ "ipas2le1nxs", 0xd50c94a0 },
	{ "ripas2e1", 0xd50c8440 },	{ "ripas2e1nxs", 0xd50c9440 },
	{ "ripas2le1", 0xd50c84c0 },	{ "ripas2le1nxs", 0xd50c94c0 },
};
#define TRUTHS ARRAY_SIZE(truth)

static void each_operation_has_its_name(void **state)
{
	(void)state;
	assert_int_equal(TRUTHS, TLBI_OPERATIONS);
	for (size_t i = 0; i < TRUTHS; i++) {
		int operation = tlbi__decode(truth[i].word);

		assert_true(operation >= 0);
		assert_string_equal(tlbi_operations[operation].name, truth[i].name);
	}
}

/* is and os go out, with or without nxs; the rest stays. */
static void the_name_tells_the_reach(void **state)
{
	(void)state;
	for (size_t i = 0; i < TRUTHS; i++) {
		const char *name = truth[i].name, *nxs = strstr(name, "nxs");
		const char *end = (nxs ? nxs : name + strlen(name)) - 2;
		bool shared = strncmp(end, "is", 2) == 0 || strncmp(end, "os", 2) == 0;

		assert_int_equal(tlbi_operations[tlbi__decode(truth[i].word)].reach,
				 shared ? TLBI_BROADCAST : TLBI_LOCAL);
	}
}

static void an_argument_is_an_address_or_an_address_space(void **state)
{
	(void)state;
	assert_false(tlbi_operations[tlbi__decode(0xd508831f)].takes_argument); /* vmalle1is */
	assert_false(tlbi_operations[tlbi__decode(0xd50c83df)].takes_argument); /* vmalls12e1is */
	assert_true(tlbi_operations[tlbi__decode(0xd5088320)].takes_argument);	/* vae1is, x0 */
	assert_true(tlbi_operations[tlbi__decode(0xd5088340)].takes_argument);	/* aside1is, x0 */
	assert_true(tlbi_operations[tlbi__decode(0xd50c8020)].takes_argument);	/* ipas2e1is, x0 */
}

static void the_register_is_no_part_of_the_operation(void **state)
{
	(void)state;
	for (uint32_t rt = 0; rt < 32; rt++) {
		int operation = tlbi__decode(0xd50883a0 | rt);

		assert_true(operation >= 0);
		assert_string_equal(tlbi_operations[operation].name, "vale1is");
	}
}

/* dsb ish; isb; nop; ret; dc civac, x0; ic ialluis; at s1e1r, x0; mrs x0, sctlr_el1; a load. */
static void other_instructions_are_no_tlbi(void **state)
{
	static const uint32_t others[] = { 0xd5033b9f, 0xd5033fdf, 0xd503201f, 0xd65f03c0,
					   0xd50b7e20, 0xd508711f, 0xd5087800, 0xd5381000,
					   0xf9400000, 0,	   0xffffffff };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(tlbi__decode(others[i]), -1);
}

/* Encodings beside the table: without a name, of exception level 3, SYSL, a bit off. */
static void neighbours_are_no_tlbi(void **state)
{
	static const uint32_t others[] = { 0xd5088380, 0xd50e8320, 0xd5288320, 0xd5089f20,
					   0xd508a320, 0x55088320, 0xd5188320, 0xd5008320 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(tlbi__decode(others[i]), -1);
}

static void write_source(FILE *out)
{
	for (size_t i = 0; i < TRUTHS; i++)
		fprintf(out, "tlbi %s%s\n", truth[i].name,
			tlbi_operations[tlbi__decode(truth[i].word)].takes_argument ? ", x0" : "");
}

/* clang builds the BPF programs, and assembles for arm64 as well, if it was built so. */
static void the_assembler_agrees(void **state)
{
	char folder[] = "/tmp/tlbi.XXXXXX", command[256];
	uint32_t words[TRUTHS];
	size_t got;
	FILE *pipe;

	(void)state;
	if (system("clang --print-targets 2>/dev/null | grep -qw aarch64 &&"
		   " command -v llvm-objcopy >/dev/null"))
		skip();
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cd %s && clang --target=aarch64-linux-gnu -march=armv8.7-a -c -x assembler "
		 "-o t.o - && llvm-objcopy -O binary t.o t.bin",
		 folder);
	pipe = popen(command, "w");
	assert_non_null(pipe);
	write_source(pipe);
	assert_int_equal(pclose(pipe), 0);
	snprintf(command, sizeof(command), "cat %s/t.bin; rm -r %s", folder, folder);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	got = fread(words, sizeof(*words), TRUTHS, pipe);
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(got, TRUTHS);
	for (size_t i = 0; i < TRUTHS; i++)
		assert_int_equal(words[i] & ~31u, truth[i].word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation_has_its_name),
		cmocka_unit_test(the_name_tells_the_reach),
		cmocka_unit_test(an_argument_is_an_address_or_an_address_space),
		cmocka_unit_test(the_register_is_no_part_of_the_operation),
		cmocka_unit_test(other_instructions_are_no_tlbi),
		cmocka_unit_test(neighbours_are_no_tlbi),
		cmocka_unit_test(the_assembler_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
