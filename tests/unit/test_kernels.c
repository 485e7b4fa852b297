/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/kernels.h"

/* A cache with kernels in it: what is there is used without asking the network. */
static void put_kernel(void **state, const char *version, const char *more)
{
	char name[256], text[512];

	snprintf(name, sizeof(name), "tlbstat/kernels/stock-%s", version);
	mkdir(in_folder(state, name), 0755);
	snprintf(name, sizeof(name), "tlbstat/kernels/stock-%s/meta.json", version);
	snprintf(text, sizeof(text),
		 "{ \"schema\": \"" KERNEL_SCHEMA "\", \"version\": \"%s\", \"origin\": \"stock\","
		 " \"bytes\": 1%s }",
		 version, more);
	put_file(in_folder(state, name), text, strlen(text));
}

#define X86 ", \"arch\": \"x86_64\""

static int make_cache(void **state)
{
	if (folder__make(state))
		return -1;
	setenv("XDG_CACHE_HOME", *state, 1);
	mkdir(in_folder(state, "tlbstat"), 0755);
	mkdir(in_folder(state, "tlbstat/kernels"), 0755);
	put_kernel(state, "6.1.0-9-cloud-amd64", X86);
	put_kernel(state, "6.1.0-57-cloud-amd64", X86);
	put_kernel(state, "6.12.117+deb13-cloud-amd64", X86);
	put_kernel(state, "7.3.4+deb13-cloud-amd64", X86);
	put_kernel(state, "7.3.10+deb13-cloud-amd64", X86);
	put_kernel(state, "7.3.99+deb13-cloud-arm64", ", \"arch\": \"aarch64\"");
	put_kernel(state, "8.2.1+deb15-cloud-amd64", X86 ", \"stands_for\": \"8.0\"");
	put_kernel(state, "8.3.1+deb15-cloud-amd64", X86 ", \"stands_for\": \"7.3\"");
	put_kernel(state, "7.2.9+deb13-cloud-amd64", X86 ", \"stands_for\": \"7.3\"");
	/* A later schema: its keys may mean something else. */
	put_kernel(state, "6.1.0-60-cloud-amd64", X86 ", \"schema\": \"tlbvm-kernel/2\"");
	mkdir(in_folder(state, "tlbstat/kernels/stock-6.1.0-99-cloud-amd64"), 0755);
	return 0;
}

#define in_a_cache(test) cmocka_unit_test_setup_teardown(test, make_cache, folder__remove)

struct wish {
	const char *name, *modules;
};

static int find(void *arg)
{
	const struct wish *wish = arg;
	struct kernel kernel;
	int err = kernel__find(&kernel, arch__find("x86_64"), wish->name, wish->modules);

	if (!err)
		printf("%s %s %s", kernel.version ? kernel.version : "-", kernel.image,
		       kernel.modules ? kernel.modules : "-");
	kernel__free(&kernel);
	return -err;
}

static struct child child;

static void expect(const char *name, const char *version)
{
	child__run(&child, find, &(struct wish){ .name = name });
	assert_int_equal(child__code(&child), 0);
	if (strncmp(child.out, version, strlen(version)) || child.out[strlen(version)] != ' ')
		fail_msg("%s gave %s, expected %s", name, child.out, version);
}

static void the_newest_cached_kernel_of_a_series_is_found(void **state)
{
	(void)state;
	expect("stock:7.3", "7.3.10+deb13-cloud-amd64");
	expect("stock:6.1", "6.1.0-57-cloud-amd64");
	expect("stock:6.12", "6.12.117+deb13-cloud-amd64");
	assert_string_equal(child.err, "");
}

static void a_stand_in_is_used_and_told(void **state)
{
	(void)state;
	expect("stock:8.0", "8.2.1+deb15-cloud-amd64");
	assert_contains(child.err, "stock:8.0");
	assert_contains(child.err, "using 8.2.1+deb15-cloud-amd64");
	expect("stock:8.2", "8.2.1+deb15-cloud-amd64");
	assert_string_equal(child.err, "");
}

static void names_that_mean_nothing_are_refused(void **state)
{
	static const char *const names[] = { "stock:", "stock:7", "stock:7.3.4", "stock:latest" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		child__run(&child, find, &(struct wish){ .name = names[i] });
		assert_int_equal(child__code(&child), EINVAL);
		assert_contains(child.err, names[i]);
		assert_contains(child.err, "expected stock:X.Y");
	}
	child__run(&child, find, &(struct wish){ .name = "/nonexistent/bzImage" });
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "open the kernel /nonexistent/bzImage");
}

/* The setup header of an x86 image, as far as the version string needs it. */
static void put_image(const char *path)
{
	static char image[0x400];

	memcpy(image + 0x202, "HdrS", 4);
	image[0x20e] = 0x50;
	strcpy(image + 0x250, "7.4.0-test (me@here) #1 SMP");
	put_file(path, image, sizeof(image));
}

static void an_image_by_path_tells_its_version(void **state)
{
	const char *image = in_folder(state, "bzImage");
	char expected[1024];

	put_image(image);
	child__run(&child, find, &(struct wish){ .name = image, .modules = *state });
	snprintf(expected, sizeof(expected), "7.4.0-test %s %s", image, (char *)*state);
	assert_string_equal(child.out, expected);
	child__run(&child, find, &(struct wish){ .name = image, .modules = "/nonexistent" });
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "read the modules in /nonexistent");
}

static void a_folder_may_hold_image_and_modules(void **state)
{
	char expected[1024];

	child__run(&child, find, &(struct wish){ .name = *state });
	assert_int_equal(child__code(&child), EINVAL);
	assert_contains(child.err, "/vmlinuz: No such file");
	put_image(in_folder(state, "vmlinuz"));
	mkdir(in_folder(state, "modules"), 0755);
	child__run(&child, find, &(struct wish){ .name = *state });
	snprintf(expected, sizeof(expected), "7.4.0-test %s/vmlinuz %s/modules", (char *)*state,
		 (char *)*state);
	assert_string_equal(child.out, expected);
}

static void the_list_leaves_out_what_is_not_whole(void **state)
{
	json_t *list;

	put_file(in_folder(state, "tlbstat/kernels/stock-7.3.4+deb13-cloud-amd64/meta.json"), "{",
		 1);
	list = kernels__cached();
	assert_int_equal(json_array_size(list), 8);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")),
			    "stock-6.1.0-9-cloud-amd64");
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_cache(the_newest_cached_kernel_of_a_series_is_found),
		in_a_cache(a_stand_in_is_used_and_told),
		in_a_cache(names_that_mean_nothing_are_refused),
		in_a_cache(an_image_by_path_tells_its_version),
		in_a_cache(a_folder_may_hold_image_and_modules),
		in_a_cache(the_list_leaves_out_what_is_not_whole),
	};

	return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
