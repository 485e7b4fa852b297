/* SPDX-License-Identifier: GPL-2.0-only */
#include "vm/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"

/* How often a child that is followed is looked at. */
#define FOLLOW_NS UINT64_C(50000000)

static void __attribute__((noreturn)) give_up(int report, int err)
{
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static int redirect(int from, int to, int null)
{
	return dup2(from > 0 ? from : null, to) < 0 ? -errno : 0;
}

static int keep_open(const int *keep)
{
	for (; keep && *keep >= 0; keep++)
		if (fcntl(*keep, F_SETFD, 0) < 0)
			return -errno;
	return 0;
}

/* After fork: a process group of its own that ends with @parent. Returns 0 or a negative errno. */
static int settle(pid_t parent)
{
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -errno;
	/* The parent may have died before the kernel was asked to tell. */
	if (getppid() != parent)
		_exit(126);
	return 0;
}

/* Between fork and exec. */
static void __attribute__((noreturn))
become(const char *const *argv, const struct child_setup *setup, pid_t parent, int report)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	err = settle(parent);
	if (err)
		give_up(report, -err);
	if (null < 0 || redirect(null, STDIN_FILENO, null) ||
	    redirect(setup->out, STDOUT_FILENO, null) ||
	    redirect(setup->err, STDERR_FILENO, null) || keep_open(setup->keep))
		give_up(report, errno);
	if (setup->folder && chdir(setup->folder) < 0)
		give_up(report, errno);
	execvp(argv[0], (char *const *)argv);
	give_up(report, errno);
}

pid_t child__start(const char *const *argv, const struct child_setup *setup)
{
	pid_t parent = getpid(), pid;
	int report[2], err = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(argv, setup, parent, report[1]);
	if (pid < 0)
		err = -errno;
	close(report[1]);
	/* The pipe closes by itself when exec succeeds. */
	if (!err) {
		int child_errno;
		ssize_t got;

		do
			got = read(report[0], &child_errno, sizeof(child_errno));
		while (got < 0 && errno == EINTR);
		if (got == sizeof(child_errno)) {
			err = -child_errno;
			child__wait(pid);
		}
	}
	close(report[0]);
	return err ? err : pid;
}

pid_t child__fork(int (*body)(void *context), void *context, int out)
{
	pid_t parent = getpid(), pid;
	int code;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid < 0 ? -errno : pid;
	if (settle(parent) || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	code = body(context);
	fflush(NULL);
	_exit(code);
}

static int status_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int child__wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status_code(status);
}

int child__stop(pid_t pid, unsigned int grace_ms)
{
	int status;

	kill(pid, SIGTERM);
	for (unsigned int waited = 0; waited < grace_ms; waited += 10) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status_code(status);
		usleep(10000);
	}
	kill(pid, SIGKILL);
	return child__wait(pid);
}

int child__follow(pid_t pid, unsigned int grace_ms)
{
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid)
		if (!stop__sleep_until(stop__now_ns() + FOLLOW_NS))
			return child__stop(pid, grace_ms);
	return status_code(status);
}

void captured__free(struct captured *captured)
{
	free(captured->out);
	free(captured->err);
	memset(captured, 0, sizeof(*captured));
}

struct stream {
	int fd; /* -1 once it ended */
	FILE *to;
};

static void drain(struct stream *stream)
{
	char chunk[65536];
	ssize_t got = read(stream->fd, chunk, sizeof(chunk));

	if (got > 0) {
		fwrite(chunk, 1, (size_t)got, stream->to);
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		close(stream->fd);
		stream->fd = -1;
	}
}

static int collect(struct stream *out, struct stream *err, bool (*tick)(void *), void *context)
{
	while (out->fd >= 0 || err->fd >= 0) {
		struct pollfd fds[2] = { { .fd = out->fd, .events = POLLIN },
					 { .fd = err->fd, .events = POLLIN } };

		if (poll(fds, 2, 200) < 0 && errno != EINTR)
			return -errno;
		if (stop__asked())
			return -EINTR;
		if (fds[0].revents)
			drain(out);
		if (fds[1].revents)
			drain(err);
		if (tick && !tick(context))
			return -ETIMEDOUT;
	}
	return 0;
}

int child__capture(const char *const *argv, const char *folder, struct captured *captured,
		   bool (*tick)(void *context), void *context)
{
	int out[2] = { -1, -1 }, err_pipe[2] = { -1, -1 }, err;
	struct stream out_stream = { .fd = -1 }, err_stream = { .fd = -1 };
	size_t err_length;
	pid_t pid;

	memset(captured, 0, sizeof(*captured));
	out_stream.to = open_memstream(&captured->out, &captured->out_length);
	err_stream.to = open_memstream(&captured->err, &err_length);
	if (!out_stream.to || !err_stream.to || pipe2(out, O_CLOEXEC) < 0 ||
	    pipe2(err_pipe, O_CLOEXEC) < 0) {
		err = -errno;
		goto out;
	}
	pid = child__start(
		argv, &(struct child_setup){ .folder = folder, .out = out[1], .err = err_pipe[1] });
	close(out[1]);
	close(err_pipe[1]);
	out[1] = err_pipe[1] = -1;
	if (pid < 0) {
		err = pid;
		goto out;
	}
	out_stream.fd = out[0];
	err_stream.fd = err_pipe[0];
	err = collect(&out_stream, &err_stream, tick, context);
	if (err)
		child__stop(pid, 1000);
	else
		err = child__wait(pid);
	out[0] = out_stream.fd;
	err_pipe[0] = err_stream.fd;
out:
	for (int i = 0; i < 2; i++) {
		if (out[i] >= 0)
			close(out[i]);
		if (err_pipe[i] >= 0)
			close(err_pipe[i]);
	}
	if (out_stream.to)
		fclose(out_stream.to);
	if (err_stream.to)
		fclose(err_stream.to);
	return err;
}

/* The last @lines lines of a text. */
static const char *tail(const char *text, unsigned int lines)
{
	const char *at = text + strlen(text);

	while (at > text && at[-1] == '\n')
		at--;
	while (at > text && (at[-1] != '\n' || --lines))
		at--;
	return at;
}

static void relay(const char *program, const char *text)
{
	char *copy = strdup(tail(text, 5)), *save = NULL;

	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		diag__error("%s: %s", program, line);
	free(copy);
}

int child__must_run(const char *const *argv, const char *folder, const char *package,
		    struct captured *captured, bool (*tick)(void *context), void *context)
{
	int code = child__capture(argv, folder, captured, tick, context);

	if (!code || code == -EINTR)
		return code;
	if (code == -ENOENT) {
		diag__fail(ENOENT, "run %s", argv[0]);
		diag__hint("it comes with the package %s: apt install %s", package, package);
		return -ENOENT;
	}
	if (code < 0)
		return diag__fail(-code, "run %s", argv[0]);
	relay(argv[0], captured->err && *captured->err ? captured->err : "");
	if (captured->err && strstr(captured->err, strerror(ENOSPC))) {
		diag__fail(ENOSPC, "%s %s", argv[0], argv[1] ? argv[1] : "");
		return -ENOSPC;
	}
	diag__fail(0, "%s ended with code %d", argv[0], code);
	return -EIO;
}
