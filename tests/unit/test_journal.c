/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <sys/resource.h>

#include "common/diag.h"
#include "journal.h"
#include "settings.h"

/* The journal's folder is below the test's own; settings are plain files beside it. */
static int make_state(void **state)
{
	return folder__make(state) || setenv("XDG_STATE_HOME", *state, 1) ? -1 : 0;
}

#define with_state(test) cmocka_unit_test_setup_teardown(test, make_state, folder__remove)

static const char *journal_file(void **state)
{
	return in_folder(state, "tlbbench/journal");
}

static void put_text(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

static void assert_setting(const char *path, const char *expected)
{
	char value[256];

	assert_int_equal(settings__read(path, value, sizeof(value)), 0);
	assert_string_equal(value, expected);
}

/* A journal as a process leaves it that is killed: recorded, not closed. */
static int leave(void *arg)
{
	const char *const *changes = arg;
	struct journal *journal;

	if (journal__open(&journal))
		return 1;
	for (; *changes; changes += 2)
		if (settings__set(journal, changes[0], changes[1]))
			return 1;
	raise(SIGKILL);
	return 1;
}

static void leave_behind(const char *const *changes)
{
	struct child child;

	child__run(&child, leave, (void *)changes);
	assert_int_equal(child__code(&child), 128 + SIGKILL);
}

static const struct journal_entry odd[] = {
	{ JOURNAL_SETTING, "/proc/with space", "a\nb\tc%20 d" },
	{ JOURNAL_SETTING, "/empty/value", "" },
	{ JOURNAL_ZRAM_ADD, "", "" },
	{ JOURNAL_ZRAM, "12", "" },
	{ JOURNAL_SWAP, "/dev/zram12", "" },
	{ JOURNAL_SUBTREE, "/sys/fs/cgroup/\xc3\xa4", "memory" },
	{ JOURNAL_CGROUP, "/sys/fs/cgroup/tlbbench-1", "" },
};

/* Never to be undone, so it is never closed. */
static int leave_odd_ones(void *arg)
{
	struct journal *journal;

	(void)arg;
	if (journal__open(&journal))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (journal__record(journal, odd[i].kind, odd[i].subject, odd[i].value))
			return 1;
	raise(SIGKILL);
	return 1;
}

static void what_is_written_is_read_back(void **state)
{
	struct journal_text text;
	struct child child;
	unsigned int line;
	size_t len;
	char *file;

	child__run(&child, leave_odd_ones, NULL);
	assert_int_equal(child__code(&child), 128 + SIGKILL);
	file = get_file(journal_file(state), &len);
	assert_int_equal(journal_text__parse(file, len, &text, &line), 0);
	assert_int_equal(text.pid, child.pid);
	assert_int_equal(text.count, ARRAY_SIZE(odd));
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		assert_int_equal(text.entries[i].kind, odd[i].kind);
		assert_string_equal(text.entries[i].subject, odd[i].subject);
		assert_string_equal(text.entries[i].value, odd[i].value);
	}
	journal_text__free(&text);
	free(file);
}

static void a_setting_is_put_back_and_the_journal_goes(void **state)
{
	const char *path = in_folder(state, "setting");
	struct journal *journal;

	put_text(path, "always [madvise] never\n");
	assert_int_equal(journal__open(&journal), 0);
	assert_int_equal(settings__set(journal, path, "never"), 0);
	assert_setting(path, "never");
	assert_int_equal(access(journal_file(state), F_OK), 0);
	assert_int_equal(journal__close(journal), 0);
	assert_setting(path, "madvise");
	assert_int_not_equal(access(journal_file(state), F_OK), 0);
}

static void a_setting_that_has_the_value_is_not_touched(void **state)
{
	const char *path = in_folder(state, "setting");
	struct journal *journal;

	put_text(path, "60\n");
	assert_int_equal(journal__open(&journal), 0);
	assert_int_equal(settings__set(journal, path, "60"), 0);
	assert_int_not_equal(access(journal_file(state), F_OK), 0);
	assert_int_equal(journal__close(journal), 0);
}

static void changes_are_undone_the_latest_first(void **state)
{
	const char *path = in_folder(state, "setting");
	struct journal *journal;

	put_text(path, "first\n");
	assert_int_equal(journal__open(&journal), 0);
	assert_int_equal(settings__set(journal, path, "second"), 0);
	assert_int_equal(settings__set(journal, path, "third"), 0);
	assert_int_equal(journal__close(journal), 0);
	assert_setting(path, "first");
}

static void undoing_to_a_mark_leaves_what_came_before(void **state)
{
	const char *a = in_folder(state, "a"), *b = in_folder(state, "b");
	struct journal *journal;
	size_t mark;

	put_text(a, "1\n");
	put_text(b, "1\n");
	assert_int_equal(journal__open(&journal), 0);
	assert_int_equal(settings__set(journal, a, "2"), 0);
	mark = journal__mark(journal);
	assert_int_equal(settings__set(journal, b, "2"), 0);
	assert_int_equal(journal__undo(journal, mark), 0);
	assert_setting(a, "2");
	assert_setting(b, "1");
	/* And what was undone is not undone again. */
	put_text(b, "3\n");
	assert_int_equal(journal__close(journal), 0);
	assert_setting(a, "1");
	assert_setting(b, "3");
}

static void restore_puts_back_what_a_killed_run_left(void **state)
{
	const char *a = in_folder(state, "a"), *b = in_folder(state, "b");
	const char *const changes[] = { a, "2", b, "2", a, "3", NULL };
	enum journal_found found;
	size_t undone;

	put_text(a, "1\n");
	put_text(b, "1\n");
	leave_behind(changes);
	assert_setting(a, "3");
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(found, JOURNAL_UNDONE);
	assert_int_equal(undone, 3);
	assert_setting(a, "1");
	assert_setting(b, "1");
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(found, JOURNAL_NOTHING);
}

static void opening_puts_back_what_a_killed_run_left(void **state)
{
	const char *path = in_folder(state, "setting");
	const char *const changes[] = { path, "2", NULL };
	struct journal *journal;

	put_text(path, "1\n");
	leave_behind(changes);
	assert_int_equal(journal__open(&journal), 0);
	assert_setting(path, "1");
	assert_int_equal(journal__close(journal), 0);
}

static void a_setting_that_has_gone_needs_no_undoing(void **state)
{
	const char *path = in_folder(state, "setting");
	const char *const changes[] = { path, "2", NULL };
	enum journal_found found;
	size_t undone;

	put_text(path, "1\n");
	leave_behind(changes);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(undone, 1);
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_line_that_was_being_written_does_not_count(void **state)
{
	const char *path = in_folder(state, "setting"), *file = journal_file(state);
	const char *const changes[] = { path, "2", NULL };
	enum journal_found found;
	size_t undone, len;
	char *text;

	put_text(path, "1\n");
	leave_behind(changes);
	text = get_file(file, &len);
	/* Whatever part of the last line was written: nothing had been changed yet. */
	for (size_t cut = len - 1; cut; cut--) {
		put_file(file, text, cut);
		assert_int_equal(journal__restore(&found, &undone), 0);
		assert_int_equal(undone, 0);
		assert_int_not_equal(access(file, F_OK), 0);
		assert_setting(path, "2");
	}
	free(text);
}

static void the_journal_of_an_earlier_boot_is_moot(void **state)
{
	const char *path = in_folder(state, "setting"), *file = journal_file(state);
	const char *const changes[] = { path, "2", NULL };
	enum journal_found found;
	size_t undone, len;
	char *text;

	put_text(path, "1\n");
	leave_behind(changes);
	text = get_file(file, &len);
	text[strcspn(text, "\n") + strlen("\nboot ")] ^= 1;
	put_file(file, text, len);
	free(text);
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(found, JOURNAL_MOOT);
	assert_setting(path, "2");
	assert_int_not_equal(access(file, F_OK), 0);
}

static int restore(void *arg)
{
	enum journal_found found;
	size_t undone;

	(void)arg;
	return -journal__restore(&found, &undone);
}

static void a_file_that_is_no_journal_is_left_alone(void **state)
{
	static const char *const bad[] = {
		"something else\n",
		"tlbbench-journal 2\n",
		"tlbbench-journal 1\nboot\n",
		"tlbbench-journal 1\nboot x\npid\n",
		"tlbbench-journal 1\nboot x\npid 0\n",
		"tlbbench-journal 1\nboot x\npid 1\nsetting /only/a/path\n",
		"tlbbench-journal 1\nboot x\npid 1\nsetting  value\n",
		"tlbbench-journal 1\nboot x\npid 1\nsetting /path %4\n",
		"tlbbench-journal 1\nboot x\npid 1\nsetting /path a%00b\n",
		"tlbbench-journal 1\nboot x\npid 1\nsetting /path a b\n",
		"tlbbench-journal 1\nboot x\npid 1\nformat /dev/sda\n",
		"tlbbench-journal 1\nboot x\npid 1\nzram 1\n\n",
	};
	struct child child;

	assert_int_equal(mkdir(in_folder(state, "tlbbench"), 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char line[32];
		size_t len, lines = 0;
		char *text;

		put_text(journal_file(state), bad[i]);
		child__run(&child, restore, NULL);
		assert_int_equal(child__code(&child), EBADMSG);
		for (const char *c = bad[i]; *c; c++)
			lines += *c == '\n';
		snprintf(line, sizeof(line), "line %zu ", lines);
		assert_contains(child.err, line);
		text = get_file(journal_file(state), &len);
		assert_string_equal(text, bad[i]);
		free(text);
	}
}

static void what_cannot_be_put_back_stays_and_the_rest_is_put_back(void **state)
{
	const char *a = in_folder(state, "a"), *b = in_folder(state, "b");
	const char *const changes[] = { a, "2", b, "2", NULL };
	enum journal_found found;
	struct child child;
	size_t undone;

	put_text(a, "1\n");
	put_text(b, "1\n");
	leave_behind(changes);
	assert_int_equal(unlink(b), 0);
	assert_int_equal(mkdir(b, 0755), 0);
	child__run(&child, restore, NULL);
	assert_int_equal(child__code(&child), EISDIR);
	assert_contains(child.err, b);
	assert_setting(a, "1");
	/* Once the cause is gone, the rest can be done. */
	assert_int_equal(rmdir(b), 0);
	put_text(b, "2\n");
	put_text(a, "5\n");
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(undone, 1);
	assert_setting(b, "1");
	assert_setting(a, "5");
}

static int open_second(void *arg)
{
	struct journal *journal;

	(void)arg;
	return -journal__open(&journal);
}

static void two_at_a_time_are_refused(void **state)
{
	struct journal *journal;
	struct child child;
	char pid[32];

	(void)state;
	snprintf(pid, sizeof(pid), "(process %d)", getpid());
	assert_int_equal(journal__open(&journal), 0);
	child__run(&child, open_second, NULL);
	assert_int_equal(child__code(&child), EBUSY);
	assert_contains(child.err, pid);
	child__run(&child, restore, NULL);
	assert_int_equal(child__code(&child), EBUSY);
	assert_contains(child.err, pid);
	assert_int_equal(journal__close(journal), 0);
	child__run(&child, restore, NULL);
	assert_int_equal(child__code(&child), 0);
}

/*
 * The disk has room for the first change in the journal, and for a part of the second. Once there
 * is more room the second is made, and the process killed.
 */
static int set_without_room(void *arg)
{
	const char *const *paths = arg;
	struct rlimit limit, before;
	struct journal *journal;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	if (journal__open(&journal) || settings__set(journal, paths[0], "2") || stat(paths[2], &st))
		return 1;
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = st.st_size + 5;
	if (setrlimit(RLIMIT_FSIZE, &limit) || settings__set(journal, paths[1], "2") != -ENOSPC)
		return 2;
	if (setrlimit(RLIMIT_FSIZE, &before) || journal__mark(journal) != 1)
		return 3;
	dprintf(STDOUT_FILENO, "%d", settings__set(journal, paths[3], "2"));
	raise(SIGKILL);
	return 4;
}

static void nothing_is_changed_that_cannot_be_written_down(void **state)
{
	const char *a = in_folder(state, "a"), *b = in_folder(state, "b"),
		   *c = in_folder(state, "c");
	const char *const paths[] = { a, b, journal_file(state), c };
	enum journal_found found;
	struct child child;
	size_t undone;

	put_text(a, "1\n");
	put_text(b, "1\n");
	put_text(c, "1\n");
	child__run(&child, set_without_room, (void *)paths);
	assert_int_equal(child__code(&child), 128 + SIGKILL);
	assert_contains(child.err, "tlbbench/journal: No space left");
	assert_string_equal(child.out, "0");
	assert_setting(b, "1");
	/* Half a line in the middle would make the file unreadable. */
	assert_int_equal(journal__restore(&found, &undone), 0);
	assert_int_equal(undone, 2);
	assert_setting(a, "1");
	assert_setting(c, "1");
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	struct child child;

	put_text(in_folder(state, "file"), "");
	setenv("XDG_STATE_HOME", in_folder(state, "file"), 1);
	child__run(&child, restore, NULL);
	assert_int_equal(child__code(&child), ENOTDIR);
	assert_contains(child.err, "file/tlbbench");
	assert_contains(child.err, "XDG_STATE_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_state(what_is_written_is_read_back),
		with_state(a_setting_is_put_back_and_the_journal_goes),
		with_state(a_setting_that_has_the_value_is_not_touched),
		with_state(changes_are_undone_the_latest_first),
		with_state(undoing_to_a_mark_leaves_what_came_before),
		with_state(restore_puts_back_what_a_killed_run_left),
		with_state(opening_puts_back_what_a_killed_run_left),
		with_state(a_setting_that_has_gone_needs_no_undoing),
		with_state(a_line_that_was_being_written_does_not_count),
		with_state(the_journal_of_an_earlier_boot_is_moot),
		with_state(a_file_that_is_no_journal_is_left_alone),
		with_state(what_cannot_be_put_back_stays_and_the_rest_is_put_back),
		with_state(two_at_a_time_are_refused),
		with_state(nothing_is_changed_that_cannot_be_written_down),
		with_state(a_folder_that_cannot_be_made_is_named),
	};

	diag__set_program("test");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
