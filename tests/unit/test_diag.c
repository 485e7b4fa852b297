/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <sys/socket.h>

#include "common/diag.h"

static int fail_with_errno(void *arg)
{
	(void)arg;
	diag__set_program("tool");
	return diag__fail(EACCES, "open %s", "/x/y") == -EACCES ? 0 : 1;
}

static void fail_names_the_try_and_the_answer_and_returns_the_error(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, fail_with_errno, NULL);
	assert_int_equal(child__code(&child), 0);
	assert_string_equal(child.err, "tool: open /x/y: Permission denied\n");
	assert_string_equal(child.out, "");
}

static int fail_without_errno(void *arg)
{
	(void)arg;
	diag__set_program("tool");
	return diag__fail(0, "no row %s", "TLB") == -EINVAL ? 0 : 1;
}

static void fail_without_an_errno_prints_no_answer(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, fail_without_errno, NULL);
	assert_int_equal(child__code(&child), 0);
	assert_string_equal(child.err, "tool: no row TLB\n");
}

static int print_each_kind(void *arg)
{
	(void)arg;
	diag__set_program("tool");
	errno = EXDEV;
	diag__error("a %d", 1);
	diag__warn("b %d", 2);
	diag__hint("c %d", 3);
	diag__verbose("not %s", "seen");
	diag__set_verbose(true);
	diag__verbose("d %d", 4);
	diag__set_verbose(false);
	diag__verbose("not %s", "seen");
	return errno == EXDEV ? 0 : 1;
}

static void each_kind_of_message_has_its_form_and_keeps_errno(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, print_each_kind, NULL);
	assert_int_equal(child__code(&child), 0);
	assert_string_equal(child.err,
			    "tool: a 1\ntool: warning: b 2\ntool: hint: c 3\ntool: d 4\n");
}

static int print_without_a_name(void *arg)
{
	(void)arg;
	diag__error("x");
	return 0;
}

static void without_a_name_messages_start_with_that_of_the_file(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, print_without_a_name, NULL);
	assert_string_equal(child.err, "test_diag: x\n");
}

/* A socket of packets keeps writes apart: lines of processes that share a log must not mix. */
static void a_message_is_one_write(void **state)
{
	int pair[2], kept = dup(STDERR_FILENO);
	char packet[512];
	ssize_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	dup2(pair[0], STDERR_FILENO);
	diag__fail(ENOENT, "open %s", "/x");
	dup2(kept, STDERR_FILENO);
	n = recv(pair[1], packet, sizeof(packet) - 1, MSG_DONTWAIT);
	close(pair[0]);
	close(pair[1]);
	close(kept);
	assert_true(n > 0);
	packet[n] = '\0';
	assert_string_equal(packet, "test_diag: open /x: No such file or directory\n");
}

/* How a child's stdout is to be, and what it prints there, before diag__close_stdout(). */
struct ending {
	const char *file; /* NULL: a pipe without a reader; "": closed */
	size_t len;
	bool unbuffered;
};

static int redirect_stdout(const char *file)
{
	int fd, ends[2];

	if (!file) {
		signal(SIGPIPE, SIG_IGN);
		if (pipe(ends))
			return -errno;
		close(ends[0]);
		fd = ends[1];
	} else if (*file) {
		fd = open(file, O_WRONLY);
	} else {
		return close(STDOUT_FILENO);
	}
	return dup2(fd, STDOUT_FILENO);
}

static int end_with(void *arg)
{
	const struct ending *ending = arg;

	diag__set_program("tool");
	redirect_stdout(ending->file);
	if (ending->unbuffered)
		setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; i < ending->len; i++)
		putchar('x');
	return -diag__close_stdout();
}

static void check_ending(struct ending ending, int err, const char *message)
{
	struct child child;

	child__run(&child, end_with, &ending);
	assert_int_equal(child__code(&child), err);
	assert_string_equal(child.err, message);
}

static void a_full_disk_on_stdout_is_a_failure(void **state)
{
	(void)state;
	check_ending((struct ending){ "/dev/full", 10, false }, ENOSPC,
		     "tool: write to standard output: No space left on device\n"
		     "tool: hint: free some space, or send the output somewhere else\n");
}

static void a_write_that_failed_earlier_is_a_failure(void **state)
{
	(void)state;
	check_ending((struct ending){ "/dev/full", 10, true }, EIO,
		     "tool: write to standard output: a part could not be written\n");
}

static void a_reader_that_left_is_none(void **state)
{
	(void)state;
	check_ending((struct ending){ NULL, 10, false }, 0, "");
	check_ending((struct ending){ NULL, 10, true }, 0, "");
	check_ending((struct ending){ NULL, 1000000, false }, 0, "");
}

static void a_closed_stdout_is_a_failure_only_if_something_was_printed(void **state)
{
	(void)state;
	check_ending((struct ending){ "", 0, false }, 0, "");
	check_ending((struct ending){ "", 1, false }, EBADF,
		     "tool: write to standard output: Bad file descriptor\n");
}

static int print_and_close(void *arg)
{
	(void)arg;
	printf("result\n");
	return -diag__close_stdout();
}

static void what_was_printed_is_written_out(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, print_and_close, NULL);
	assert_int_equal(child__code(&child), 0);
	assert_string_equal(child.out, "result\n");
	assert_string_equal(child.err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_names_the_try_and_the_answer_and_returns_the_error),
		cmocka_unit_test(fail_without_an_errno_prints_no_answer),
		cmocka_unit_test(each_kind_of_message_has_its_form_and_keeps_errno),
		cmocka_unit_test(without_a_name_messages_start_with_that_of_the_file),
		cmocka_unit_test(a_message_is_one_write),
		cmocka_unit_test(a_full_disk_on_stdout_is_a_failure),
		cmocka_unit_test(a_write_that_failed_earlier_is_a_failure),
		cmocka_unit_test(a_reader_that_left_is_none),
		cmocka_unit_test(a_closed_stdout_is_a_failure_only_if_something_was_printed),
		cmocka_unit_test(what_was_printed_is_written_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
