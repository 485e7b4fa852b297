/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that tlbvm starts: none of them outlives it. */
#ifndef TLBVM_CHILD_H
#define TLBVM_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a child is given besides its arguments; zero is a good start. */
struct child_setup {
	const char *folder; /* working directory; NULL keeps ours */
	int out;	    /* descriptor for its stdout; 0 sends it to /dev/null */
	int err;	    /* descriptor for its stderr; 0 sends it to /dev/null */
	const int *keep;    /* further descriptors it inherits, ended by -1; NULL for none */
};

/*
 * Starts @argv (looked up in PATH) in a process group of its own, so that Ctrl-C reaches tlbvm
 * only, and killed by the kernel should tlbvm end in any way. Its stdin is /dev/null. Returns its
 * pid, or a negative errno when it could not be started: -ENOENT means not installed.
 */
pid_t child__start(const char *const *argv, const struct child_setup *setup);

/*
 * The same for a function of ours, with @out as its stdout and stderr: what @body returns is the
 * exit code. It can be asked to stop as a program can (common/stop.h).
 */
pid_t child__fork(int (*body)(void *context), void *context, int out);

/* Waits for the end. Returns the exit code, 128 + N for a signal, or a negative errno. */
int child__wait(pid_t pid);

/* Asks it to end, waits up to @grace_ms, then kills it. Returns as child__wait(). */
int child__stop(pid_t pid, unsigned int grace_ms);

/* Waits too, but when a stop is asked it passes that on, and waits @grace_ms more. */
int child__follow(pid_t pid, unsigned int grace_ms);

struct captured {
	char *out; /* stdout, NUL-terminated */
	size_t out_length;
	char *err; /* stderr, NUL-terminated */
};

void captured__free(struct captured *captured);

/*
 * Runs @argv to its end and keeps what it wrote; @tick (may be NULL) is called about five times a
 * second meanwhile. Ends early with -EINTR when a stop is asked, with -ETIMEDOUT when @tick says
 * that nothing moves. Returns as child__wait(); also after a failure @captured is to be freed.
 */
int child__capture(const char *const *argv, const char *folder, struct captured *captured,
		   bool (*tick)(void *context), void *context);

/*
 * The same for programs that must succeed: says on stderr what was tried, what the program answered
 * (its last lines), and which Debian @package to install if it is not there.
 * Returns 0 or a negative errno.
 */
int child__must_run(const char *const *argv, const char *folder, const char *package,
		    struct captured *captured, bool (*tick)(void *context), void *context);

#endif
