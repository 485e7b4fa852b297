/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "tether.h"
#include "worker.h"

struct reply {
	int result;
	uint64_t answer[WORKER_ANSWERS];
};

static _Noreturn void work(int link, worker_serve serve, void *state)
{
	struct reply reply;
	unsigned int command;

	while (read(link, &command, sizeof(command)) == sizeof(command)) {
		memset(&reply, 0, sizeof(reply));
		reply.result = serve(state, command, reply.answer);
		if (write(link, &reply, sizeof(reply)) != sizeof(reply))
			break;
	}
	_exit(0);
}

int worker__start(struct worker *out, worker_serve serve, void *state)
{
	int ends[2];

	memset(out, 0, sizeof(*out));
	/* Of packets, so that nothing is ever read in parts. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return diag__fail(errno, "start the worker");
	out->pid = tether__fork("tlbbench-work", ends[1]);
	if (out->pid == 0)
		work(ends[1], serve, state);
	close(ends[1]);
	if (out->pid < 0) {
		int err = out->pid;

		close(ends[0]);
		memset(out, 0, sizeof(*out));
		return err;
	}
	out->link = ends[0];
	return 0;
}

/* Says how the worker ended. */
static int say_dead(struct worker *worker)
{
	int status = 0;

	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(worker->link);
	memset(worker, 0, sizeof(*worker));
	if (WIFSIGNALED(status)) {
		diag__error("the worker was killed by signal %d (%s)", WTERMSIG(status),
			    strsignal(WTERMSIG(status)));
		if (WTERMSIG(status) == SIGKILL)
			diag__hint("out of memory? see the kernel's log, and try fewer --pages");
	} else {
		diag__error("the worker ended by itself, with exit code %d", WEXITSTATUS(status));
	}
	return -ECHILD;
}

int worker__call(struct worker *worker, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct pollfd link = { .fd = worker->link, .events = POLLIN };
	struct reply reply;
	ssize_t n;

	if (send(worker->link, &command, sizeof(command), MSG_NOSIGNAL) != sizeof(command))
		return say_dead(worker);
	for (;;) {
		if (stop__asked()) {
			worker__stop(worker);
			return -EINTR;
		}
		/* A stop that comes just before poll() is noticed a second later. */
		if (poll(&link, 1, 1000) > 0)
			break;
	}
	n = recv(worker->link, &reply, sizeof(reply), 0);
	if (n != sizeof(reply))
		return say_dead(worker);
	memcpy(answer, reply.answer, sizeof(reply.answer));
	return reply.result;
}

void worker__stop(struct worker *worker)
{
	if (!worker->pid)
		return;
	tether__kill(worker->pid);
	close(worker->link);
	memset(worker, 0, sizeof(*worker));
}
