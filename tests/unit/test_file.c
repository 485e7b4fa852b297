/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "common/diag.h"
#include "common/file.h"

static void assert_file(const char *path, const char *expected)
{
	size_t len;
	char *text = get_file(path, &len);

	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
	free(text);
}

/* Files in a folder, hidden ones too. */
static int count_files(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	if (!folder)
		return -1;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count - 2;
}

static void replace_writes_a_new_file_readable_by_all(void **state)
{
	const char *path = in_folder(state, "new");
	mode_t before = umask(077);
	struct stat st;
	int err = file__replace(path, "text\n", 5);

	umask(before);
	assert_int_equal(err, 0);
	assert_file(path, "text\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(count_files(*state), 1);
}

static void replace_leaves_the_old_file_to_those_who_read_it(void **state)
{
	const char *path = in_folder(state, "file");
	char text[8] = "";
	int fd;

	put_file(path, "old", 3);
	fd = open(path, O_RDONLY);
	assert_int_equal(file__replace(path, "newer", 5), 0);
	assert_int_equal(read(fd, text, sizeof(text) - 1), 3);
	close(fd);
	assert_string_equal(text, "old");
	assert_file(path, "newer");
	assert_int_equal(file__replace(path, "", 0), 0);
	assert_file(path, "");
}

static int replace_for_ever(void *arg)
{
	static char text[2][200000];

	memset(text[0], 'a', sizeof(text[0]));
	memset(text[1], 'b', sizeof(text[1]));
	for (unsigned int i = 0;; i++)
		file__replace(arg, text[i % 2], sizeof(text[0]) - i % 2);
	return 0;
}

static void a_reader_never_sees_a_torn_file(void **state)
{
	char *path = strdup(in_folder(state, "file"));
	bool seen[2] = { false };
	struct child child;

	put_file(path, "", 0);
	child__start(&child, replace_for_ever, path);
	for (unsigned int reads = 0; reads < 100 || !(seen[0] && seen[1]); reads++) {
		size_t len;
		char *text = get_file(path, &len);
		int which = *text == 'b';

		for (size_t i = 0; i < len; i++)
			assert_int_equal(text[i], "ab"[which]);
		if (len) {
			assert_int_equal(len, 200000 - which);
			seen[which] = true;
		}
		free(text);
	}
	kill(child.pid, SIGKILL);
	child__wait(&child);
	free(path);
}

/* A mount namespace of our own; who is not root gets there as root of a user namespace. */
static bool enter_namespace(void)
{
	char uids[64], gids[64];

	if (unshare(CLONE_NEWNS) == 0)
		return true;
	snprintf(uids, sizeof(uids), "0 %u 1", getuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       file__write_setting("/proc/self/setgroups", "deny") == 0 &&
	       file__write_setting("/proc/self/uid_map", uids) == 0 &&
	       file__write_setting("/proc/self/gid_map", gids) == 0;
}

/* Mounts a tmpfs of one page over the folder, seen by this process only. False if not allowed. */
static bool mount_tiny_disk(const char *path)
{
	if (!enter_namespace())
		return false;
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return mount("tiny", path, "tmpfs", 0, "size=4096") == 0;
}

static bool holds_old_only(const char *path, const char *folder)
{
	size_t len;
	char *text = get_file(path, &len);
	bool same = len == 3 && memcmp(text, "old", 3) == 0;

	free(text);
	return same && count_files(folder) == 1;
}

static int replace_on_full_disk(void *arg)
{
	static const char large[65536];
	const char *folder = arg;
	char path[512];

	if (!mount_tiny_disk(folder))
		return 77;
	snprintf(path, sizeof(path), "%s/file", folder);
	diag__set_program("tool");
	put_file(path, "old", 3);
	if (file__replace(path, large, sizeof(large)) != -ENOSPC)
		return 1;
	return holds_old_only(path, folder) ? 0 : 2;
}

static void a_full_disk_leaves_the_old_file_and_nothing_else(void **state)
{
	struct child child;

	child__run(&child, replace_on_full_disk, *state);
	if (child__code(&child) == 77)
		skip();
	assert_int_equal(child__code(&child), 0);
	assert_contains(child.err, "No space left on device");
	assert_contains(child.err, "tool: hint: ");
}

static int replace_beyond_limit(void *arg)
{
	static const char large[65536];
	const char *folder = arg;
	char path[512];

	snprintf(path, sizeof(path), "%s/file", folder);
	put_file(path, "old", 3);
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10000, 10000 }))
		return 1;
	if (file__replace(path, large, sizeof(large)) != -EFBIG)
		return 2;
	return holds_old_only(path, folder) ? 0 : 3;
}

static void a_limit_on_file_size_leaves_the_old_file_and_nothing_else(void **state)
{
	struct child child;

	child__run(&child, replace_beyond_limit, *state);
	assert_int_equal(child__code(&child), 0);
	assert_contains(child.err, "File too large");
}

struct replace_case {
	const char *path;
	int err;
};

static int replace_x(void *arg)
{
	const struct replace_case *one = arg;

	diag__set_program("tool");
	return file__replace(one->path, "x", 1) == one->err ? 0 : 1;
}

static void a_path_that_cannot_be_written_is_named(void **state)
{
	struct replace_case cases[] = {
		{ in_folder(state, "missing/file"), -ENOENT },
		{ in_folder(state, "file/file"), -ENOTDIR },
		{ *state, -EISDIR },
	};

	put_file(in_folder(state, "file"), "old", 3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct child child;

		child__run(&child, replace_x, &cases[i]);
		assert_int_equal(child__code(&child), 0);
		assert_contains(child.err, cases[i].path);
		assert_contains(child.err, strerror(-cases[i].err));
	}
	assert_int_equal(count_files(*state), 1);
}

static void a_relative_path_is_replaced_in_its_folder(void **state)
{
	int top = open(".", O_RDONLY | O_DIRECTORY), err;

	assert_int_equal(chdir(*state), 0);
	err = file__replace("file", "x", 1);
	assert_int_equal(fchdir(top), 0);
	close(top);
	assert_int_equal(err, 0);
	assert_file(in_folder(state, "file"), "x");
}

static void a_symbolic_link_stays_a_link(void **state)
{
	const char *link = in_folder(state, "link"), *file = in_folder(state, "dir/file");
	struct stat st;

	assert_int_equal(mkdir(in_folder(state, "dir"), 0755), 0);
	put_file(file, "old", 3);
	assert_int_equal(symlink("dir/file", link), 0);
	assert_int_equal(file__replace(link, "new", 3), 0);
	assert_file(file, "new");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void a_pipe_is_written_to_and_stays(void **state)
{
	const char *path = in_folder(state, "pipe");
	char text[8] = "";
	struct stat st;
	int reader;

	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(file__replace(path, "text", 4), 0);
	assert_int_equal(read(reader, text, sizeof(text) - 1), 4);
	close(reader);
	assert_string_equal(text, "text");
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

#define LARGE 300000 /* several times what a pipe holds */

static void on_winch(int signum)
{
	(void)signum;
}

static char pattern(size_t at)
{
	return at % 251;
}

static int write_large(void *arg)
{
	struct sigaction winch = { .sa_handler = on_winch };
	static char data[LARGE];

	sigaction(SIGWINCH, &winch, NULL);
	for (size_t at = 0; at < LARGE; at++)
		data[at] = pattern(at);
	return -file__replace(arg, data, LARGE);
}

static void a_write_cut_short_by_a_signal_goes_on(void **state)
{
	const char *path = in_folder(state, "pipe");
	struct child child;
	size_t at = 0;
	char byte;
	FILE *reader;

	assert_int_equal(mkfifo(path, 0600), 0);
	child__start(&child, write_large, (void *)path);
	reader = fopen(path, "r");
	for (; fread(&byte, 1, 1, reader) == 1; at++) {
		assert_int_equal(byte, pattern(at));
		/* By now the writer waits for room, with a part written. */
		if (at == 0) {
			usleep(100000);
			kill(child.pid, SIGWINCH);
		}
	}
	assert_int_equal(at, LARGE);
	fclose(reader);
	child__wait(&child);
	assert_int_equal(child__code(&child), 0);
}

static int replace_stdout(void *arg)
{
	const char *device = arg;
	int err, fd = *device ? open(device, O_WRONLY) : -1;

	diag__set_program("tool");
	if (fd >= 0)
		dup2(fd, STDOUT_FILENO);
	err = file__replace("-", "text\n", 5);
	/* What was reported once is not reported again. */
	return diag__close_stdout() ? 255 : -err;
}

static void a_dash_is_stdout(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, replace_stdout, (char *)"");
	assert_int_equal(child__code(&child), 0);
	assert_string_equal(child.out, "text\n");
	child__run(&child, replace_stdout, (char *)"/dev/full");
	assert_int_equal(child__code(&child), ENOSPC);
	assert_string_equal(child.err, "tool: write to standard output: No space left on device\n");
}

static void a_setting_is_written_with_its_newline_and_nothing_of_the_old(void **state)
{
	const char *path = in_folder(state, "setting");

	put_file(path, "longer than the new\n", 20);
	assert_int_equal(file__write_setting(path, "1"), 0);
	assert_file(path, "1\n");
	assert_int_equal(file__write_setting(path, ""), 0);
	assert_file(path, "\n");
}

static void a_setting_is_never_created(void **state)
{
	assert_int_equal(file__write_setting(in_folder(state, "missing"), "1"), -ENOENT);
	assert_int_equal(count_files(*state), 0);
}

static void the_kernel_s_answer_to_a_setting_is_returned(void **state)
{
	char value[32];

	(void)state;
	assert_int_equal(file__read_setting("/proc/self/oom_score_adj", value, sizeof(value)), 0);
	assert_int_equal(file__write_setting("/proc/self/oom_score_adj", value), 0);
	assert_int_equal(file__write_setting("/proc/self/oom_score_adj", "many"), -EINVAL);
	assert_int_equal(file__write_setting("/proc/self/oom_score_adj", "5000"), -EINVAL);
}

static void the_first_line_of_a_setting_is_read(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *value;
	} cases[] = {
		{ "on\n", 0, "on" },
		{ "on", 0, "on" },
		{ "a b\nc\n", 0, "a b" },
		{ "", 0, "" },
		{ "\n", 0, "" },
		{ "1234567\n", 0, "1234567" },
		{ "1234567", 0, "1234567" },
		{ "12345678\n", -EOVERFLOW, NULL },
		{ "12345678", -EOVERFLOW, NULL },
		{ "123456789", -EOVERFLOW, NULL },
	};
	const char *path = in_folder(state, "setting");
	char value[8];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_file(path, cases[i].text, strlen(cases[i].text));
		assert_int_equal(file__read_setting(path, value, sizeof(value)), cases[i].err);
		if (cases[i].value)
			assert_string_equal(value, cases[i].value);
	}
	assert_int_equal(file__read_setting(in_folder(state, "missing"), value, sizeof(value)),
			 -ENOENT);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void folders_are_made_with_their_parents(void **state)
{
	static const char *const paths[] = { "a", "a", "a/b/c", "d//e", "f/g/", "a/b/../h/i" };
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(file__make_dirs(in_folder(state, paths[i])), 0);
		assert_true(is_folder(in_folder(state, paths[i])));
	}
	assert_int_equal(file__make_dirs("/"), 0);
	assert_int_equal(file__make_dirs("."), 0);
	assert_int_equal(file__make_dirs(""), -ENOENT);
	/* Not even root may: the answer is that of mkdir(), not of a look for the folder. */
	err = file__make_dirs("/sys/x/y");
	assert_true(err == -EPERM || err == -EACCES || err == -EROFS);
}

static void a_file_in_the_way_of_a_folder_is_refused(void **state)
{
	put_file(in_folder(state, "file"), "", 0);
	assert_int_equal(file__make_dirs(in_folder(state, "file")), -ENOTDIR);
	assert_int_equal(file__make_dirs(in_folder(state, "file/b")), -ENOTDIR);
}

static void a_place_that_cannot_be_written_is_known_beforehand(void **state)
{
	const char *path = in_folder(state, "new");

	assert_int_equal(file__check_replace(path), 0);
	assert_int_equal(count_files(*state), 0);
	assert_int_equal(file__check_replace("-"), 0);
	assert_int_equal(file__check_replace("/dev/null"), 0);
	assert_int_equal(file__check_replace(*state), -EISDIR);
	assert_int_equal(file__check_replace(in_folder(state, "no/folder")), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(replace_writes_a_new_file_readable_by_all),
		in_a_folder(replace_leaves_the_old_file_to_those_who_read_it),
		in_a_folder(a_reader_never_sees_a_torn_file),
		in_a_folder(a_full_disk_leaves_the_old_file_and_nothing_else),
		in_a_folder(a_limit_on_file_size_leaves_the_old_file_and_nothing_else),
		in_a_folder(a_path_that_cannot_be_written_is_named),
		in_a_folder(a_place_that_cannot_be_written_is_known_beforehand),
		in_a_folder(a_relative_path_is_replaced_in_its_folder),
		in_a_folder(a_symbolic_link_stays_a_link),
		in_a_folder(a_pipe_is_written_to_and_stays),
		in_a_folder(a_write_cut_short_by_a_signal_goes_on),
		cmocka_unit_test(a_dash_is_stdout),
		in_a_folder(a_setting_is_written_with_its_newline_and_nothing_of_the_old),
		in_a_folder(a_setting_is_never_created),
		cmocka_unit_test(the_kernel_s_answer_to_a_setting_is_returned),
		in_a_folder(the_first_line_of_a_setting_is_read),
		in_a_folder(folders_are_made_with_their_parents),
		in_a_folder(a_file_in_the_way_of_a_folder_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
