/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/file.h"
#include "tether.h"

static void close_others(int keep)
{
	unsigned int first = STDERR_FILENO + 1;

	if (keep < 0) {
		close_range(first, ~0u, 0);
		return;
	}
	if ((unsigned int)keep > first)
		close_range(first, keep - 1, 0);
	close_range(keep + 1, ~0u, 0);
}

/* Where memory gets short, the kernel is to end this process, and nobody else's. */
static void go_first(void)
{
	file__write_setting("/proc/self/oom_score_adj", "1000");
}

static void become_child(const char *name, int keep, pid_t parent)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have died before the line above. */
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, name);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	close_others(keep);
	go_first();
}

pid_t tether__fork(const char *name, int keep)
{
	pid_t parent = getpid(), pid;

	/* What is still in the buffer would be written twice. */
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		return diag__fail(errno, "start a process");
	if (pid == 0)
		become_child(name, keep, parent);
	return pid;
}

void tether__kill(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
