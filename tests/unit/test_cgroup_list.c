/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "cgroup_list.h"

#define MOUNT "/sys/fs/cgroup"

static struct cgroup_paths paths;
static char why[512];

static int parse(const char *text)
{
	return cgroup_paths__parse(&paths, text, strlen(text), MOUNT, why, sizeof(why));
}

static void assert_paths(const char *text, const char *const *expected, unsigned int count)
{
	assert_int_equal(parse(text), 0);
	assert_int_equal(paths.count, count);
	for (unsigned int i = 0; i < count; i++)
		assert_string_equal(paths.path[i], expected[i]);
	cgroup_paths__free(&paths);
}

static void assert_refused(const char *text, const char *expected)
{
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(paths.count, 0);
	assert_contains(why, expected);
}

static void a_path_a_line(void **state)
{
	static const char *const expected[] = { "/a", "/b c/d", "/e", "/#f" };

	(void)state;
	assert_paths("# first\n/a\n\n  /b c/d \t\r\n\t# no more\n/e\n/#f", expected, 4);
}

static void the_mount_point_and_slashes_too_many_are_taken_off(void **state)
{
	static const char *const expected[] = { "/a", "/b", "/", "/sys/fs/cgroups/c" };

	(void)state;
	assert_paths(MOUNT "/a\n//b//\n" MOUNT "\n/sys/fs/cgroups/c\n", expected, 4);
}

static void what_is_no_path_is_refused_with_its_line(void **state)
{
	(void)state;
	assert_refused("/a\nb/c\n", "line 2: 'b/c' is no path");
	assert_refused("/a/../b", "line 1: '/a/../b' has a part");
	assert_refused("/a/.", "has a part");
	assert_refused("\n/a\xff", "line 2");
	assert_refused("/\xc0\xaf", "UTF-8");
	assert_refused("/\xed\xa0\x80", "UTF-8");
	assert_refused("/a\xe2\x82", "UTF-8");
	assert_int_equal(parse("/\xe2\x82\xac/\xf0\x9f\x90\xa7/..."), 0);
	cgroup_paths__free(&paths);
}

static void one_path_twice_is_refused(void **state)
{
	(void)state;
	assert_refused("/a\n/b\n" MOUNT "//a/\n",
		       "line 3: '/a' is there a second time: see line 1");
}

static void nothing_is_refused(void **state)
{
	(void)state;
	assert_refused("", "lists no cgroup");
	assert_refused("\n# a\n  \n", "lists no cgroup");
	assert_int_equal(cgroup_paths__parse(&paths, "/a\0/b", 5, MOUNT, why, sizeof(why)),
			 -EINVAL);
	assert_contains(why, "NUL");
}

static void what_there_is_no_room_for_is_refused(void **state)
{
	char text[CGROUPS_MAX * 8 + 8] = "", *end = text;

	(void)state;
	for (int i = 0; i < CGROUPS_MAX; i++)
		end += sprintf(end, "/%d\n", i);
	assert_int_equal(parse(text), 0);
	assert_int_equal(paths.count, CGROUPS_MAX);
	cgroup_paths__free(&paths);
	strcpy(end, "/x\n");
	assert_refused(text, "line 257: '/x' is one too many");
	end = text;
	for (int i = 0; i < CGROUP_LEVELS - 1; i++)
		end += sprintf(end, "/a");
	assert_int_equal(parse(text), 0);
	cgroup_paths__free(&paths);
	strcpy(end, "/a");
	assert_refused(text, "too deep");
}

/* A folder stands for the mount point: what counts are folders and their inodes. */

static struct cgroup_list list;
static char list_file[512];

static void write_list(const char *text)
{
	put_file(list_file, text, strlen(text));
}

static void make_cgroup(void **state, const char *name)
{
	assert_int_equal(mkdir(in_folder(state, name), 0755), 0);
}

static uint64_t inode_of(void **state, const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_folder(state, name), &st), 0);
	return st.st_ino;
}

static int start(void **state)
{
	if (folder__make(state))
		return -1;
	memset(&list, 0, sizeof(list));
	snprintf(list.mount, sizeof(list.mount), "%s", (char *)*state);
	snprintf(list_file, sizeof(list_file), "%s/list", (char *)*state);
	list.file = list_file;
	return 0;
}

static int end(void **state)
{
	for (unsigned int i = 0; i < list.count; i++)
		free(list.cgroup[i].path);
	return folder__remove(state);
}

static int reload(void *arg)
{
	(void)arg;
	return -cgroup_list__reload(&list);
}

static void assert_reload_fails(const char *text)
{
	struct child child;

	child__run(&child, reload, NULL);
	assert_int_not_equal(child__code(&child), 0);
	assert_contains(child.err, text);
	assert_contains(child.err, list_file);
}

static void a_cgroup_that_is_made_again_keeps_its_place(void **state)
{
	make_cgroup(state, "a");
	make_cgroup(state, "b");
	write_list("/a\n/b\n");
	assert_int_equal(cgroup_list__reload(&list), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.cgroup[1].id, inode_of(state, "b"));
	/* Removed while another one is made, so that the inode is not the same. */
	assert_int_equal(rename(in_folder(state, "a"), in_folder(state, "c")), 0);
	cgroup_list__find(&list);
	assert_int_equal(list.cgroup[0].id, 0);
	make_cgroup(state, "a");
	cgroup_list__find(&list);
	assert_int_equal(list.cgroup[0].id, inode_of(state, "a"));
	assert_int_equal(list.count, 2);
}

static void the_set_only_grows(void **state)
{
	make_cgroup(state, "a");
	make_cgroup(state, "b");
	write_list("/a\n");
	assert_int_equal(cgroup_list__reload(&list), 0);
	write_list("/b\n");
	assert_int_equal(cgroup_list__reload(&list), 0);
	assert_int_equal(list.count, 2);
	assert_string_equal(list.cgroup[0].path, "/a");
	assert_int_equal(list.cgroup[0].id, 0);
	assert_int_equal(list.cgroup[1].id, inode_of(state, "b"));
	write_list("/b\n/a\n");
	assert_int_equal(cgroup_list__reload(&list), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.cgroup[0].id, inode_of(state, "a"));
}

static void a_file_at_fault_changes_nothing(void **state)
{
	char text[CGROUPS_MAX * 8], *at = text;

	make_cgroup(state, "a");
	write_list("/a\n");
	assert_int_equal(cgroup_list__reload(&list), 0);
	write_list("/b\n/list\n");
	assert_reload_fails("line 2");
	assert_int_equal(list.count, 1);
	write_list("a");
	assert_reload_fails("no path");
	for (int i = 0; i < CGROUPS_MAX; i++)
		at += sprintf(at, "/%d\n", i);
	write_list(text);
	assert_reload_fails("257");
	assert_int_equal(unlink(list_file), 0);
	assert_reload_fails("No such file");
	assert_true(list.cgroup[0].listed);
	assert_int_equal(list.cgroup[0].id, inode_of(state, "a"));
}

static void a_folder_of_another_file_system_is_no_cgroup(void **state)
{
	(void)state;
	strcpy(list.mount, "/");
	write_list("/proc\n");
	assert_reload_fails("is no cgroup");
}

#define with_a_list(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_a_line),
		cmocka_unit_test(the_mount_point_and_slashes_too_many_are_taken_off),
		cmocka_unit_test(what_is_no_path_is_refused_with_its_line),
		cmocka_unit_test(one_path_twice_is_refused),
		cmocka_unit_test(nothing_is_refused),
		cmocka_unit_test(what_there_is_no_room_for_is_refused),
		with_a_list(a_cgroup_that_is_made_again_keeps_its_place),
		with_a_list(the_set_only_grows),
		with_a_list(a_file_at_fault_changes_nothing),
		with_a_list(a_folder_of_another_file_system_is_no_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
