/* SPDX-License-Identifier: GPL-2.0-only */
#include "support.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/stop.h"

#define MS	UINT64_C(1000000)
#define LONG_NS (60000 * MS) /* far beyond what any of these tests waits */

static void sleep_ms(unsigned int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

/* A child that waits in @run is told apart from one that has not come so far by this pipe. */
static int ready[2];

static void start_and_wait_until_ready(struct child *child, int (*run)(void *), void *arg)
{
	char byte;

	assert_int_equal(pipe(ready), 0);
	child__start(child, run, arg);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static void say_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(99);
}

/* Ends the child too if it slept over a signal. */
static void wait_at_most(struct child *child, uint64_t limit_ns)
{
	uint64_t end = stop__now_ns() + limit_ns;
	siginfo_t info = { 0 };

	while (!info.si_pid && stop__now_ns() < end) {
		waitid(P_PID, child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
		sleep_ms(1);
	}
	if (!info.si_pid)
		kill(child->pid, SIGKILL);
	child__wait(child);
}

static int raise_after_ignoring(void *arg)
{
	int signum = *(int *)arg;

	signal(signum, SIG_IGN);
	stop__install();
	if (stop__asked() || stop__signal())
		return 1;
	raise(signum);
	return stop__asked() && stop__signal() == signum ? 0 : 2;
}

static int raise_one(void *arg)
{
	int signum = *(int *)arg;

	signal(signum, SIG_DFL);
	stop__install();
	raise(signum);
	return stop__asked() && stop__signal() == signum ? 0 : 2;
}

static void the_first_signal_asks(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int signum = (int[]){ SIGINT, SIGTERM, SIGHUP }[i];
		struct child child;

		child__run(&child, raise_one, &signum);
		assert_int_equal(child__code(&child), 0);
	}
}

static void a_sigint_inherited_as_ignored_is_caught(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, raise_after_ignoring, &(int){ SIGINT });
	assert_int_equal(child__code(&child), 0);
}

static void a_sighup_inherited_as_ignored_stays_so(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, raise_after_ignoring, &(int){ SIGHUP });
	assert_int_equal(child__code(&child), 2);
}

static int raise_two(void *arg)
{
	const int *signum = arg;

	stop__install();
	raise(signum[0]);
	raise(signum[1]);
	return 0;
}

static void the_second_signal_ends_at_once_whichever_it_is(void **state)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP };

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		int pair[] = { all[i / 3], all[i % 3] };
		struct child child;

		child__run(&child, raise_two, pair);
		assert_true(WIFSIGNALED(child.status));
		assert_int_equal(WTERMSIG(child.status), pair[1]);
	}
}

static void on_winch(int signum)
{
	(void)signum;
}

static int sleep_to_the_end(void *arg)
{
	struct sigaction winch = { .sa_handler = on_winch };
	uint64_t end;

	(void)arg;
	sigaction(SIGWINCH, &winch, NULL);
	stop__install();
	say_ready();
	end = stop__now_ns() + 300 * MS;
	return stop__sleep_until(end) && stop__now_ns() >= end ? 0 : 1;
}

static void the_sleep_goes_on_after_sigwinch_and_sigcont(void **state)
{
	struct child child;

	(void)state;
	start_and_wait_until_ready(&child, sleep_to_the_end, NULL);
	for (unsigned int i = 0; i < 5; i++) {
		sleep_ms(20);
		kill(child.pid, SIGWINCH);
		kill(child.pid, SIGSTOP);
		sleep_ms(5);
		kill(child.pid, SIGCONT);
	}
	wait_at_most(&child, LONG_NS / 2);
	assert_int_equal(child__code(&child), 0);
}

static int sleep_until_asked(void *arg)
{
	uint64_t end;

	(void)arg;
	stop__install();
	say_ready();
	end = stop__now_ns() + LONG_NS;
	return !stop__sleep_until(end) && stop__now_ns() < end && stop__signal() == SIGTERM ? 0 : 1;
}

/*
 * Stands before the library's ppoll(), to let a signal come at the worst moment: after the look for
 * one and before the sleep.
 */
static int signal_before_sleep;

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec left = *timeout; /* the system call writes what is left of it */

	if (signal_before_sleep)
		raise(signal_before_sleep);
	signal_before_sleep = 0;
	return syscall(SYS_ppoll, fds, count, &left, mask, _NSIG / 8);
}

static int sleep_with_a_signal_before(void *arg)
{
	(void)arg;
	signal_before_sleep = SIGTERM;
	return sleep_until_asked(NULL);
}

static void a_sleep_ends_when_a_signal_asks(void **state)
{
	struct child child;

	(void)state;
	start_and_wait_until_ready(&child, sleep_until_asked, NULL);
	sleep_ms(50);
	kill(child.pid, SIGTERM);
	wait_at_most(&child, LONG_NS / 4);
	assert_int_equal(child__code(&child), 0);
}

static void a_signal_right_before_the_sleep_is_not_slept_over(void **state)
{
	struct child child;

	(void)state;
	start_and_wait_until_ready(&child, sleep_with_a_signal_before, NULL);
	wait_at_most(&child, LONG_NS / 4);
	assert_int_equal(child__code(&child), 0);
}

static int sleep_after_asked(void *arg)
{
	sigset_t before, after;

	(void)arg;
	stop__install();
	sigprocmask(SIG_SETMASK, NULL, &before);
	if (!stop__sleep_until(0) || !stop__sleep_until(stop__now_ns()))
		return 1;
	sigprocmask(SIG_SETMASK, NULL, &after);
	if (sigismember(&after, SIGTERM) != sigismember(&before, SIGTERM))
		return 2;
	raise(SIGTERM);
	return stop__sleep_until(stop__now_ns() + LONG_NS) || stop__sleep_until(0) ? 3 : 0;
}

static void there_is_no_sleep_past_the_deadline_or_once_asked(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, sleep_after_asked, NULL);
	assert_int_equal(child__code(&child), 0);
}

static int block_in_read(void *arg)
{
	int ends[2];
	char byte;

	(void)arg;
	stop__install();
	if (pipe(ends))
		return 1;
	say_ready();
	/* Each signal after the first would end us; the alarm is for a read() that is restarted. */
	alarm(20);
	return read(ends[0], &byte, 1) < 0 && errno == EINTR ? 0 : 2;
}

static void a_blocking_call_is_interrupted(void **state)
{
	struct child child;

	(void)state;
	start_and_wait_until_ready(&child, block_in_read, NULL);
	sleep_ms(50);
	kill(child.pid, SIGTERM);
	wait_at_most(&child, LONG_NS / 2);
	assert_int_equal(child__code(&child), 0);
}

static int write_to_nobody(void *arg)
{
	int ends[2];

	(void)arg;
	stop__install();
	if (pipe(ends) || close(ends[0]))
		return 1;
	return write(ends[1], "x", 1) < 0 && errno == EPIPE ? 0 : 2;
}

static void a_closed_pipe_is_an_error_and_no_death(void **state)
{
	struct child child;

	(void)state;
	child__run(&child, write_to_nobody, NULL);
	assert_int_equal(child__code(&child), 0);
}

static int hang_up_while_stopping(void *arg)
{
	bool reloads = *(bool *)arg;

	signal(SIGHUP, reloads ? SIG_DFL : SIG_IGN);
	stop__install();
	if (reloads)
		stop__install_reload();
	raise(SIGTERM);
	raise(SIGHUP);
	return stop__signal() == SIGTERM ? 0 : 2;
}

/* It must clean up; only a second of the signals that stop cuts that short. */
static void a_sighup_that_does_not_stop_does_not_end_what_is_stopping(void **state)
{
	(void)state;
	for (int reloads = 0; reloads < 2; reloads++) {
		bool arg = reloads;
		struct child child;

		child__run(&child, hang_up_while_stopping, &arg);
		assert_int_equal(child__code(&child), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_signal_asks),
		cmocka_unit_test(a_sigint_inherited_as_ignored_is_caught),
		cmocka_unit_test(a_sighup_inherited_as_ignored_stays_so),
		cmocka_unit_test(the_second_signal_ends_at_once_whichever_it_is),
		cmocka_unit_test(a_sighup_that_does_not_stop_does_not_end_what_is_stopping),
		cmocka_unit_test(the_sleep_goes_on_after_sigwinch_and_sigcont),
		cmocka_unit_test(a_sleep_ends_when_a_signal_asks),
		cmocka_unit_test(a_signal_right_before_the_sleep_is_not_slept_over),
		cmocka_unit_test(there_is_no_sleep_past_the_deadline_or_once_asked),
		cmocka_unit_test(a_blocking_call_is_interrupted),
		cmocka_unit_test(a_closed_pipe_is_an_error_and_no_death),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
