/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <elf.h>

#include "common/cpus.h"
#include "common/diag.h"
#include "environment.h"

/* Appends a note and returns the new length. */
static size_t add_note(unsigned char *notes, size_t at, const char *name, unsigned int type,
		       const void *desc, size_t size)
{
	Elf64_Nhdr head = { .n_namesz = strlen(name) + 1, .n_descsz = size, .n_type = type };

	memcpy(notes + at, &head, sizeof(head));
	at += sizeof(head);
	strcpy((char *)notes + at, name);
	at += (head.n_namesz + 3) & ~3u;
	memcpy(notes + at, desc, size);
	return at + ((size + 3) & ~3u);
}

static void the_build_id_is_found_among_other_notes(void **state)
{
	static const unsigned char id[] = { 0x00, 0x1f, 0xe9, 0xff, 0x80 };
	unsigned char notes[256] = { 0 };
	char text[64];
	size_t len = add_note(notes, 0, "Xen", 6, "generic", 8);

	(void)state;
	len = add_note(notes, len, "Xen", NT_GNU_BUILD_ID, "not it", 7);
	len = add_note(notes, len, "GNU", NT_GNU_ABI_TAG, "nor it", 7);
	len = add_note(notes, len, "GNU", NT_GNU_BUILD_ID, id, sizeof(id));
	assert_int_equal(environment__parse_build_id(notes, len, text, sizeof(text)), 0);
	assert_string_equal(text, "001fe9ff80");
	/* The padding of the last note may be missing. */
	assert_int_equal(environment__parse_build_id(notes, len - 3, text, sizeof(text)), 0);
	assert_string_equal(text, "001fe9ff80");
	assert_int_equal(environment__parse_build_id(notes, len, text, 10), -ENAMETOOLONG);
}

static void notes_without_a_build_id_and_cut_notes_give_none(void **state)
{
	unsigned char notes[256] = { 0 };
	char text[64];
	size_t len = add_note(notes, 0, "Xen", 6, "generic", 8), all;

	(void)state;
	assert_int_equal(environment__parse_build_id(notes, len, text, sizeof(text)), -ENOENT);
	assert_int_equal(environment__parse_build_id(notes, 0, text, sizeof(text)), -ENOENT);
	all = add_note(notes, len, "GNU", NT_GNU_BUILD_ID, "0123456789", 10);
	for (size_t cut = len + sizeof(Elf64_Nhdr); cut < all - 2; cut++)
		assert_int_equal(environment__parse_build_id(notes, cut, text, sizeof(text)),
				 -EBADMSG);
	/* A note without a name, whose contents look like one. */
	memset(notes, 0, sizeof(notes));
	memcpy(notes, &(Elf64_Nhdr){ .n_descsz = 8, .n_type = NT_GNU_BUILD_ID },
	       sizeof(Elf64_Nhdr));
	strcpy((char *)notes + sizeof(Elf64_Nhdr), "GNU");
	assert_int_equal(
		environment__parse_build_id(notes, sizeof(Elf64_Nhdr) + 8, text, sizeof(text)),
		-ENOENT);
	/* Sizes that would wrap around. */
	memset(notes, 0xff, sizeof(notes));
	assert_int_equal(environment__parse_build_id(notes, sizeof(notes), text, sizeof(text)),
			 -EBADMSG);
}

static void cpuinfo_is_read_from_its_first_block_only(void **state)
{
	static const char text[] = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A: B  C\n"
				   "flags\t\t: fpu pcid\nempty\t:\n\nprocessor\t: 1\nlater\t: x\n";
	char out[16];

	(void)state;
	assert_int_equal(environment__parse_cpuinfo(text, "model name", out, sizeof(out)), 0);
	assert_string_equal(out, "A: B  C");
	assert_int_equal(environment__parse_cpuinfo(text, "model", out, sizeof(out)), 0);
	assert_string_equal(out, "85");
	assert_int_equal(environment__parse_cpuinfo(text, "empty", out, sizeof(out)), 0);
	assert_string_equal(out, "");
	assert_int_equal(environment__parse_cpuinfo(text, "later", out, sizeof(out)), -ENOENT);
	assert_int_equal(environment__parse_cpuinfo(text, "mod", out, sizeof(out)), -ENOENT);
	assert_int_equal(environment__parse_cpuinfo(text, "flags", out, 8), -ENAMETOOLONG);
}

static void swaps_are_listed_with_their_priority(void **state)
{
	static const char head[] = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
	char text[512];
	json_t *list = environment__parse_swaps(head);

	(void)state;
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	snprintf(text, sizeof(text),
		 "%s/dev/zram0                              partition\t65532\t\t0\t\t-2\n"
		 "/swap\\040file                            file\t\t1048572\t\t12\t\t32767\n",
		 head);
	list = environment__parse_swaps(text);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "name")),
			    "/swap\\040file");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "size_kib")),
			 65532);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "priority")),
			 -2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "priority")),
			 32767);
	json_decref(list);
	snprintf(text, sizeof(text), "%snonsense\n", head);
	assert_null(environment__parse_swaps(text));
}

static const json_t *find(const json_t *environment, const char *group, const char *key)
{
	const json_t *value = json_object_get(json_object_get(environment, group), key);

	if (!value)
		fail_msg("%s.%s is missing; what cannot be read is null", group, key);
	return value;
}

static void a_record_has_every_fact_or_null(void **state)
{
	static const char *const facts[][2] = {
		{ "kernel", "release" },
		{ "kernel", "version" },
		{ "kernel", "build_id" },
		{ "kernel", "cmdline" },
		{ "kernel", "config_hash" },
		{ "cpu", "model" },
		{ "cpu", "flags" },
		{ "cpu", "possible" },
		{ "cpu", "online" },
		{ "cpu", "allowed" },
		{ "cpu", "smt" },
		{ "cpu", "governors" },
		{ "memory", "nodes" },
		{ "memory", "tiers" },
		{ "memory", "thp" },
		{ "memory", "numa_balancing" },
		{ "memory", "demotion" },
		{ "memory", "lru_gen" },
		{ "memory", "swap" },
		{ "machine", "accelerator" },
		{ "machine", "qemu" },
		{ "machine", "hypervisor" },
	};
	json_t *environment = environment__record();
	struct cpus allowed;
	char text[256];

	(void)state;
	assert_non_null(environment);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		find(environment, facts[i][0], facts[i][1]);
	assert_int_equal(cpus__allowed(&allowed), 0);
	cpus__format(&allowed, text, sizeof(text));
	assert_string_equal(json_string_value(find(environment, "cpu", "allowed")), text);
	json_decref(environment);
}

static void what_tlbvm_says_wins_and_emulation_is_told(void **state)
{
	json_t *environment;

	(void)state;
	setenv("TLBVM_ACCEL", "tcg,thread=single", 1);
	setenv("TLBVM_QEMU", "7.2.0", 1);
	environment = environment__record();
	assert_string_equal(json_string_value(find(environment, "machine", "accelerator")),
			    "tcg,thread=single");
	assert_string_equal(json_string_value(find(environment, "machine", "qemu")), "7.2.0");
	assert_true(environment__emulated(environment));
	json_decref(environment);
	setenv("TLBVM_ACCEL", "kvm", 1);
	environment = environment__record();
	assert_false(environment__emulated(environment));
	json_decref(environment);
	environment = json_object();
	assert_false(environment__emulated(environment));
	json_decref(environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_build_id_is_found_among_other_notes),
		cmocka_unit_test(notes_without_a_build_id_and_cut_notes_give_none),
		cmocka_unit_test(cpuinfo_is_read_from_its_first_block_only),
		cmocka_unit_test(swaps_are_listed_with_their_priority),
		cmocka_unit_test(a_record_has_every_fact_or_null),
		cmocka_unit_test(what_tlbvm_says_wins_and_emulation_is_told),
	};

	diag__set_program("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
