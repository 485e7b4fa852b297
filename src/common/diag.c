/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"

static const char *program;
static bool verbose;

void diag__set_program(const char *name)
{
	program = name;
}

void diag__set_verbose(bool on)
{
	verbose = on;
}

bool diag__is_verbose(void)
{
	return verbose;
}

/*
 * One fprintf() for the whole line: stderr has no buffer, so that each call is a write of its own,
 * and lines of processes that share a log must not mix.
 */
static void print(const char *kind, int err, const char *fmt, va_list args)
{
	int saved = errno;
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	fprintf(stderr, "%s: %s%s%s%s\n", program ? program : program_invocation_short_name, kind,
		text ? text : fmt, err ? ": " : "", err ? strerror(err) : "");
	free(text);
	errno = saved;
}

int diag__fail(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("", err, fmt, args);
	va_end(args);
	return err ? -err : -EINVAL;
}

void diag__error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("", 0, fmt, args);
	va_end(args);
}

void diag__warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("warning: ", 0, fmt, args);
	va_end(args);
}

void diag__hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print("hint: ", 0, fmt, args);
	va_end(args);
}

void diag__verbose(const char *fmt, ...)
{
	va_list args;

	if (!verbose)
		return;
	va_start(args, fmt);
	print("", 0, fmt, args);
	va_end(args);
}

/* An earlier failed write leaves no errno behind, but a pipe still tells that its reader left. */
static bool reader_left(int fd)
{
	struct pollfd end = { .fd = fd, .events = POLLOUT };

	return poll(&end, 1, 0) == 1 && (end.revents & POLLERR);
}

int diag__close_stdout(void)
{
	bool lost = ferror(stdout);
	bool unread = reader_left(STDOUT_FILENO);
	bool pending = __fpending(stdout) > 0;
	int err = fclose(stdout) ? errno : 0;

	/* Started with stdout closed, and nothing to say: no failure. */
	if (err == EBADF && !pending && !lost)
		return 0;
	if (err == EPIPE || (lost && unread))
		return 0;
	if (err == ENOSPC || err == EDQUOT) {
		diag__fail(err, "write to standard output");
		diag__hint("free some space, or send the output somewhere else");
		return -err;
	}
	if (err)
		return diag__fail(err, "write to standard output");
	if (lost) {
		diag__error("write to standard output: a part could not be written");
		return -EIO;
	}
	return 0;
}
