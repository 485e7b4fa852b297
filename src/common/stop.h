/* SPDX-License-Identifier: GPL-2.0-only */
/* How every program of the house ends: the first signal asks, the second one ends at once. */
#ifndef TLBSTAT_STOP_H
#define TLBSTAT_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Catches SIGINT, SIGTERM and SIGHUP (a SIGINT that was inherited as ignored is caught too, a
 * SIGHUP is not: nohup) and ignores SIGPIPE, so that a write to a closed pipe returns EPIPE.
 * Handlers are installed without SA_RESTART: a blocking call returns EINTR. A second signal ends
 * the process by that signal. Threads other than the one that sleeps should block the three.
 */
void stop__install(void);

/*
 * After stop__install(), for daemons: SIGHUP does not end, but ends the sleep early and is told
 * once by stop__reload_asked().
 */
void stop__install_reload(void);

/* True once for each SIGHUP, or several that came together. */
bool stop__reload_asked(void);

/* True once a signal asked to end. */
bool stop__asked(void);

/* The signal that asked, or 0. */
int stop__signal(void);

/*
 * Sleeps until CLOCK_MONOTONIC reaches @deadline_ns, or a stop is asked. SIGWINCH, SIGCONT and the
 * like do not end the sleep. Returns false if a stop was asked.
 */
bool stop__sleep_until(uint64_t deadline_ns);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t stop__now_ns(void);

#endif
