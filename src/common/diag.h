/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the user: always on stderr, always with the program's name. */
#ifndef TLBSTAT_DIAG_H
#define TLBSTAT_DIAG_H

#include <stdbool.h>

/* The exit codes every program of the house uses. */
enum exit_code {
	EXIT_DONE = 0,	       /* done, or ended by a first SIGINT/SIGTERM */
	EXIT_FAILED = 1,       /* a run-time failure */
	EXIT_USAGE = 2,	       /* the command line cannot be understood */
	EXIT_UNSUPPORTED = 77, /* this machine or kernel cannot do it */
};

/* Sets the name that starts each message. The string is kept, not copied. */
void diag__set_program(const char *name);

/* Turns diag__verbose() lines on or off (-v). */
void diag__set_verbose(bool on);
bool diag__is_verbose(void);

/*
 * Prints "PROGRAM: WHAT WAS TRIED: SYSTEM'S ANSWER" and returns -err, so that a failing call can be
 * answered in one line: return diag__fail(errno, "open %s", path);
 * @err: a positive errno, or 0 when the system gave no errno (then -EINVAL is returned and no
 * answer is printed after the text).
 */
int diag__fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints "PROGRAM: text" with no errno; for usage errors and facts. */
void diag__error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints "PROGRAM: warning: text". */
void diag__warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints "PROGRAM: hint: text": what the user can do next. */
void diag__hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints "PROGRAM: text" only when -v was given. */
void diag__verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Flushes stdout and reports a write that failed (a full disk, a closed pipe). To be called as the
 * last thing before exit. EPIPE is silent and returns 0: "| head -1" ends quietly.
 * Returns 0 or a negative errno.
 */
int diag__close_stdout(void);

#endif
