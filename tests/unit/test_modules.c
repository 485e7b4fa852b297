/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <elf.h>

#include "vm/modules.h"

/* The smallest file that has a .modinfo section: header, three section headers, two sections. */
struct module_file {
	Elf64_Ehdr header;
	Elf64_Shdr section[3];
	char names[32];
	char modinfo[128];
};

#define NAMES "\0.modinfo\0.shstrtab"

static struct module_file module_with(const char *modinfo, size_t length)
{
	struct module_file file = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB },
			    .e_type = ET_REL,
			    .e_machine = EM_X86_64,
			    .e_shoff = offsetof(struct module_file, section),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 2 },
		.section = { { 0 },
			     { .sh_name = 1,
			       .sh_type = SHT_PROGBITS,
			       .sh_offset = offsetof(struct module_file, modinfo),
			       .sh_size = length },
			     { .sh_name = 10,
			       .sh_type = SHT_STRTAB,
			       .sh_offset = offsetof(struct module_file, names),
			       .sh_size = sizeof(NAMES) } },
		.names = NAMES,
	};

	memcpy(file.modinfo, modinfo, length);
	return file;
}

#define MODULE(modinfo) module_with(modinfo, sizeof(modinfo))

static int depends(const struct module_file *file, size_t size, char out[64])
{
	return module__info(file, size, "depends", out, 64);
}

static void dependencies_are_read(void **state)
{
	struct module_file file = MODULE("license=GPL\0depends=zsmalloc,lz4_compress\0name=zram");
	char out[64];

	(void)state;
	assert_int_equal(depends(&file, sizeof(file), out), 21);
	assert_string_equal(out, "zsmalloc,lz4_compress");
	file = MODULE("xdepends=no\0depends_too=no\0depends=");
	assert_int_equal(depends(&file, sizeof(file), out), 0);
	assert_string_equal(out, "");
	file = MODULE("license=GPL");
	assert_int_equal(depends(&file, sizeof(file), out), 0);
	/* A section that ends without a NUL. */
	file = module_with("depends=abc", 11);
	assert_int_equal(depends(&file, sizeof(file), out), 3);
	assert_string_equal(out, "abc");
}

static void files_that_are_no_modules_are_refused(void **state)
{
	const struct module_file good = MODULE("depends=a");
	struct module_file file = good;
	char out[64];

	(void)state;
	for (size_t size = 0; size < offsetof(struct module_file, modinfo) + 10; size++)
		assert_int_equal(depends(&file, size, out), -ENOEXEC);
	file.header.e_ident[0] = 'X';
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.header.e_shoff = UINT64_MAX - 8;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.header.e_shnum = UINT16_MAX;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.header.e_shstrndx = 3;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.section[1].sh_size = UINT64_MAX;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.section[1].sh_name = UINT32_MAX;
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
	file = good;
	file.section[2].sh_offset = sizeof(file);
	assert_int_equal(depends(&file, sizeof(file), out), -ENOEXEC);
}

static void put_module(void **state, const char *name, const char *depends_on)
{
	char modinfo[128] = "";
	struct module_file file;
	int length = snprintf(modinfo, sizeof(modinfo), "depends=%s", depends_on);

	file = module_with(modinfo, (size_t)length + 1);
	put_file(in_folder(state, name), &file, sizeof(file));
}

static void put_text(void **state, const char *name, const char *text)
{
	put_file(in_folder(state, name), text, strlen(text));
}

/* A tree like that of 6.12: zram needs two, of which one needs another. */
static int make_tree(void **state)
{
	if (folder__make(state))
		return -1;
	mkdir(in_folder(state, "kernel"), 0755);
	put_module(state, "kernel/zram.ko", "zsmalloc,lz4-compress");
	put_module(state, "kernel/zsmalloc.ko", "");
	put_module(state, "kernel/lz4-compress.ko", "base");
	put_module(state, "kernel/base.ko", "");
	put_module(state, "kernel/unrelated.ko", "");
	put_module(state, "kernel/broken.ko", "gone");
	put_module(state, "kernel/loop_a.ko", "loop_b");
	put_module(state, "kernel/loop_b.ko", "loop_a");
	put_text(state, "kernel/text.ko", "no module");
	put_text(state, "kernel/README", "no module either");
	return 0;
}

#define in_a_tree(test) cmocka_unit_test_setup_teardown(test, make_tree, folder__remove)

struct wish {
	const char *tree;
	const char *name[4];
};

/* Prints the order of loading, as "a b c?", with '?' for one taken for built in. */
static int resolve(void *arg)
{
	const struct wish *wish = arg;
	struct module_list list;
	int err = modules__resolve(&list, wish->tree, wish->name);

	for (size_t i = 0; i < list.count; i++)
		printf("%s%s%s", i ? " " : "", list.module[i].name, list.module[i].data ? "" : "?");
	module_list__free(&list);
	return -err;
}

static struct child child;

static void expect(const char *tree, const char *a, const char *b, const char *order)
{
	child__run(&child, resolve, &(struct wish){ .tree = tree, .name = { a, b } });
	assert_string_equal(child.err, "");
	assert_string_equal(child.out, order);
	assert_int_equal(child__code(&child), 0);
}

static void expect_failure(const char *tree, const char *name, int err, const char *message)
{
	child__run(&child, resolve, &(struct wish){ .tree = tree, .name = { name } });
	assert_int_equal(child__code(&child), err);
	assert_contains(child.err, message);
	assert_string_equal(child.out, "");
}

static void dependencies_come_before_those_who_need_them(void **state)
{
	expect(*state, "zram", NULL, "zsmalloc base lz4_compress zram");
	expect(*state, "base", "zram", "base zsmalloc lz4_compress zram");
	expect(*state, "zram", "zram", "zsmalloc base lz4_compress zram");
	expect(*state, NULL, NULL, "");
}

static void names_may_have_either_dash(void **state)
{
	expect(*state, "lz4_compress", NULL, "base lz4_compress");
	expect(*state, "lz4-compress", NULL, "base lz4_compress");
}

static void a_companion_is_loaded_first_where_there_is_one(void **state)
{
	put_module(state, "kernel/lzo-rle.ko", "");
	expect(*state, "zram", NULL, "zsmalloc base lz4_compress lzo_rle zram");
}

static void packed_modules_are_unpacked(void **state)
{
	char command[600];

	snprintf(command, sizeof(command), "xz %s && gzip %s", in_folder(state, "kernel/base.ko"),
		 in_folder(state, "kernel/lz4-compress.ko"));
	if (system(command))
		skip();
	expect(*state, "zram", NULL, "zsmalloc base lz4_compress zram");
}

static void a_damaged_packed_module_is_an_error(void **state)
{
	put_text(state, "kernel/damaged.ko.xz", "not xz");
	expect_failure(*state, "damaged", EIO, "xz: ");
}

static void built_in_modules_are_left_out(void **state)
{
	put_text(state, "modules.builtin", "kernel/fs/ext4.ko\nkernel/mm/lzo-rle.ko\n");
	expect(*state, "lzo_rle", "base", "base");
	expect(*state, "ext4", NULL, "");
	expect_failure(*state, "ext", ENOENT, "find module ext in ");
}

static void without_a_list_of_built_in_modules_the_guest_is_asked(void **state)
{
	expect(*state, "ext4", "base", "ext4? base");
	expect(NULL, "zram", NULL, "zram?");
}

static void what_is_missing_is_named_with_who_needs_it(void **state)
{
	expect_failure(*state, "broken", ENOENT, "find module gone in ");
	assert_contains(child.err, "which broken needs");
}

static void broken_trees_are_errors(void **state)
{
	expect_failure(*state, "text", ENOEXEC, "text.ko");
	expect_failure(*state, "loop_a", ELOOP, "loop_");
	expect_failure("/nonexistent", "zram", ENOENT, "read the modules in /nonexistent");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dependencies_are_read),
		cmocka_unit_test(files_that_are_no_modules_are_refused),
		in_a_tree(dependencies_come_before_those_who_need_them),
		in_a_tree(names_may_have_either_dash),
		in_a_tree(a_companion_is_loaded_first_where_there_is_one),
		in_a_tree(packed_modules_are_unpacked),
		in_a_tree(a_damaged_packed_module_is_an_error),
		in_a_tree(built_in_modules_are_left_out),
		in_a_tree(without_a_list_of_built_in_modules_the_guest_is_asked),
		in_a_tree(what_is_missing_is_named_with_who_needs_it),
		in_a_tree(broken_trees_are_errors),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
