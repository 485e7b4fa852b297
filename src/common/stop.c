/* SPDX-License-Identifier: GPL-2.0-only */
#include <poll.h>
#include <stddef.h>
#include <time.h>

#include "stop.h"

#define NS_PER_S 1000000000u

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };
#define STOP_SIGNALS (sizeof(stop_signals) / sizeof(*stop_signals))

static volatile sig_atomic_t asked_by;
static volatile sig_atomic_t reload_asked;
static volatile sig_atomic_t stops[STOP_SIGNALS]; /* those that ask() is the handler of */

/*
 * From here on each of these signals has its default effect, whichever comes second. One that was
 * ignored, or asks to reload, must not end a process that is about to clean up.
 */
static void ask(int signum)
{
	asked_by = signum;
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		if (stops[i])
			signal(stop_signals[i], SIG_DFL);
}

static bool is_ignored(int signum)
{
	struct sigaction now;

	return sigaction(signum, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void stop__install(void)
{
	struct sigaction on_stop = { .sa_handler = ask };

	/* Blocked while one of them is handled, so that a second one finds its default effect. */
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		sigaddset(&on_stop.sa_mask, stop_signals[i]);
	for (size_t i = 0; i < STOP_SIGNALS; i++) {
		stops[i] = stop_signals[i] != SIGHUP || !is_ignored(SIGHUP);
		if (stops[i])
			sigaction(stop_signals[i], &on_stop, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
}

static void ask_reload(int signum)
{
	(void)signum;
	reload_asked = true;
}

void stop__install_reload(void)
{
	struct sigaction on_reload = { .sa_handler = ask_reload };

	for (size_t i = 0; i < STOP_SIGNALS; i++)
		stops[i] &= stop_signals[i] != SIGHUP;
	sigaction(SIGHUP, &on_reload, NULL);
}

bool stop__reload_asked(void)
{
	bool asked = reload_asked;

	reload_asked = false;
	return asked;
}

bool stop__asked(void)
{
	return asked_by != 0;
}

int stop__signal(void)
{
	return asked_by;
}

/*
 * The signals are blocked but for the time in ppoll(): one that came between the look at asked_by
 * and the sleep would otherwise be slept over.
 */
bool stop__sleep_until(uint64_t deadline_ns)
{
	sigset_t blocked, before;
	uint64_t now;

	sigemptyset(&blocked);
	for (size_t i = 0; i < STOP_SIGNALS; i++)
		sigaddset(&blocked, stop_signals[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	while (!asked_by && !reload_asked && (now = stop__now_ns()) < deadline_ns) {
		struct timespec left = {
			.tv_sec = (deadline_ns - now) / NS_PER_S,
			.tv_nsec = (deadline_ns - now) % NS_PER_S,
		};

		ppoll(NULL, 0, &left, &before);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !asked_by;
}

uint64_t stop__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}
