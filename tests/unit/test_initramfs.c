/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include "vm/initramfs.h"

/* A member of an archive, as the kernel's init/initramfs.c reads it. */
struct member {
	unsigned long field[13]; /* ino, mode, uid, gid, nlink, mtime, size, dev, rdev, names */
	const char *name;
	const char *data;
};

enum {
	INO,
	MODE,
	UID,
	GID,
	NLINK,
	MTIME,
	SIZE,
	MAJOR,
	MINOR,
	RMAJOR,
	RMINOR,
	NAMESIZE,
	CHECK
};

static struct archive {
	char *bytes;
	size_t length;
	struct member member[64];
	size_t count;
} archive;

static size_t aligned(size_t at)
{
	return (at + 3) & ~(size_t)3;
}

static void read_archive(const char *path)
{
	size_t at = 0;

	free(archive.bytes);
	memset(&archive, 0, sizeof(archive));
	archive.bytes = get_file(path, &archive.length);
	for (;;) {
		struct member *member = &archive.member[archive.count++];

		assert_true(archive.count < ARRAY_SIZE(archive.member));
		assert_true(at + 110 <= archive.length);
		assert_memory_equal(archive.bytes + at, "070701", 6);
		for (int i = 0; i < 13; i++) {
			char digits[9] = "", *end;

			memcpy(digits, archive.bytes + at + 6 + 8 * i, 8);
			member->field[i] = strtoul(digits, &end, 16);
			assert_ptr_equal(end, digits + 8);
		}
		member->name = archive.bytes + at + 110;
		assert_int_equal(strlen(member->name) + 1, member->field[NAMESIZE]);
		at = aligned(at + 110 + member->field[NAMESIZE]);
		member->data = archive.bytes + at;
		at = aligned(at + member->field[SIZE]);
		assert_true(at <= archive.length);
		if (!strcmp(member->name, "TRAILER!!!"))
			break;
		assert_int_equal(member->field[UID], 0);
		assert_int_equal(member->field[GID], 0);
	}
	assert_int_equal(at, archive.length);
}

static const struct member *find(const char *name)
{
	for (size_t i = 0; i < archive.count; i++)
		if (!strcmp(archive.member[i].name, name))
			return &archive.member[i];
	fail_msg("no %s in the archive", name);
	return NULL;
}

static size_t position(const char *name)
{
	return (size_t)(find(name) - archive.member);
}

static void finish(struct initramfs *out, const char *path)
{
	uint64_t size;

	assert_int_equal(initramfs__finish(out, &size), 0);
	read_archive(path);
	assert_int_equal(size, archive.length);
}

static void contents_come_back_whatever_their_length(void **state)
{
	static const char text[] = "0123456789";
	const char *path = in_folder(state, "archive");
	struct initramfs *out;
	char name[16];

	assert_int_equal(initramfs__create(&out, path), 0);
	for (size_t length = 0; length <= 9; length++) {
		snprintf(name, sizeof(name), "/%.*s", (int)length + 1, "abcdefghijk");
		initramfs__add_data(out, name, 0640, text, length);
	}
	finish(out, path);
	for (size_t length = 0; length <= 9; length++) {
		const struct member *member;

		snprintf(name, sizeof(name), "%.*s", (int)length + 1, "abcdefghijk");
		member = find(name);
		assert_int_equal(member->field[MODE], S_IFREG | 0640);
		assert_int_equal(member->field[SIZE], length);
		assert_memory_equal(member->data, text, length);
	}
}

static void folders_above_come_first_and_once(void **state)
{
	const char *path = in_folder(state, "archive");
	struct initramfs *out;

	assert_int_equal(initramfs__create(&out, path), 0);
	initramfs__add_data(out, "/a/b/c", 0644, "x", 1);
	initramfs__add_link(out, "/a/b/d", "c");
	initramfs__add_folder(out, "/a/b", 0700);
	initramfs__add_folder(out, "/e/f", 01777);
	finish(out, path);
	assert_int_equal(archive.count, 7);
	assert_int_equal(position("e") + 1, position("e/f"));
	assert_int_equal(find("e/f")->field[MODE], S_IFDIR | 01777);
	assert_int_equal(position("a"), 0);
	assert_int_equal(position("a/b"), 1);
	assert_int_equal(find("a")->field[MODE], S_IFDIR | 0755);
	assert_int_equal(find("a/b/d")->field[MODE], S_IFLNK | 0777);
	assert_memory_equal(find("a/b/d")->data, "c", 1);
}

/* The kernel takes two members with more than one link and one inode for the same file. */
static void no_two_files_share_an_inode(void **state)
{
	const char *path = in_folder(state, "archive");
	struct initramfs *out;

	assert_int_equal(initramfs__create(&out, path), 0);
	initramfs__add_data(out, "/a", 0644, "x", 1);
	initramfs__add_data(out, "/b", 0644, "y", 1);
	initramfs__add_link(out, "/c", "a");
	finish(out, path);
	for (size_t i = 0; i < archive.count; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(archive.member[i].field[INO],
					     archive.member[j].field[INO]);
	assert_int_equal(find("a")->field[NLINK], 1);
}

static void devices_have_their_numbers(void **state)
{
	const char *path = in_folder(state, "archive");
	struct initramfs *out;

	assert_int_equal(initramfs__create(&out, path), 0);
	initramfs__add_device(out, "/dev/console", 0600, 5, 1);
	finish(out, path);
	assert_int_equal(find("dev/console")->field[MODE], S_IFCHR | 0600);
	assert_int_equal(find("dev/console")->field[RMAJOR], 5);
	assert_int_equal(find("dev/console")->field[RMINOR], 1);
	assert_int_equal(find("dev/console")->field[SIZE], 0);
}

static void files_keep_content_and_mode(void **state)
{
	const char *path = in_folder(state, "archive"), *source = in_folder(state, "source");
	struct initramfs *out;

	put_file(source, "#!/bin/sh\n", 10);
	chmod(source, 0751);
	assert_int_equal(initramfs__create(&out, path), 0);
	assert_int_equal(initramfs__add_file(out, "/root/prog", source), 0);
	finish(out, path);
	assert_int_equal(find("root/prog")->field[MODE], S_IFREG | 0751);
	assert_memory_equal(find("root/prog")->data, "#!/bin/sh\n", 10);
}

static int add_missing_file(void *folder)
{
	struct initramfs *out;
	char path[512];
	uint64_t size;

	snprintf(path, sizeof(path), "%s/archive", (char *)folder);
	if (initramfs__create(&out, path))
		return 1;
	if (initramfs__add_file(out, "/a", "/nonexistent/file") != -ENOENT)
		return 2;
	if (initramfs__add_file(out, "/b", folder) != -EISDIR)
		return 3;
	return initramfs__finish(out, &size);
}

static void files_that_cannot_be_read_are_named(void **state)
{
	struct child child;

	child__run(&child, add_missing_file, *state);
	assert_int_equal(child__code(&child), 0);
	assert_contains(child.err, "open /nonexistent/file: No such file or directory");
	assert_contains(child.err, "Is a directory");
}

static int fill_the_disk(void *arg)
{
	static const char data[65536];
	struct initramfs *out;
	uint64_t size;

	(void)arg;
	if (initramfs__create(&out, "/dev/full"))
		return 1;
	initramfs__add_data(out, "/a", 0644, data, sizeof(data));
	return -initramfs__finish(out, &size);
}

static void a_full_disk_is_an_error(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, fill_the_disk, NULL);
	assert_int_equal(child__code(&child), ENOSPC);
	assert_contains(child.err, "write /dev/full: No space left on device");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(contents_come_back_whatever_their_length),
		in_a_folder(folders_above_come_first_and_once),
		in_a_folder(no_two_files_share_an_inode),
		in_a_folder(devices_have_their_numbers),
		in_a_folder(files_keep_content_and_mode),
		in_a_folder(files_that_cannot_be_read_are_named),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	int failed = cmocka_run_group_tests_name("initramfs", tests, NULL, NULL);

	free(archive.bytes);
	return failed;
}
