/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bystander.h"
#include "common/diag.h"
#include "common/stop.h"
#include "pin.h"
#include "relax.h"
#include "tether.h"

/* Far longer than any start takes, under emulation too. */
#define START_MS 60000

static _Noreturn void be_busy(unsigned int cpu, int ready)
{
	if (pin__to_cpu(cpu) || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		cpu_relax();
}

/* Every process writes one byte when it runs on its CPU. */
static int wait_ready(int fd, unsigned int count)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	uint64_t deadline = stop__now_ns() + START_MS * 1000000ull;
	char byte;

	while (count && stop__now_ns() < deadline) {
		int n = poll(&end, 1, 1000);

		if (stop__asked())
			return -EINTR;
		if (n < 0 && errno != EINTR)
			return diag__fail(errno, "wait for the bystanders");
		if (n <= 0)
			continue;
		if (read(fd, &byte, 1) != 1)
			return diag__fail(ECHILD, "start the bystanders: %u of them died", count);
		count--;
	}
	return count ? diag__fail(ETIMEDOUT, "start the bystanders: %u do not run", count) : 0;
}

int bystanders__start(struct bystanders *out, const struct cpus *cpus, unsigned int except)
{
	int err = 0, ready[2];

	memset(out, 0, sizeof(*out));
	out->pids = calloc(cpus__count(cpus), sizeof(*out->pids));
	if (!out->pids)
		return diag__fail(ENOMEM, "start the bystanders");
	if (pipe2(ready, O_CLOEXEC)) {
		err = diag__fail(errno, "start the bystanders");
		goto out;
	}
	cpus__for_each (cpu, cpus) {
		pid_t pid;

		if (err || cpu == except)
			continue;
		pid = tether__fork("tlbbench-busy", ready[1]);
		if (pid == 0)
			be_busy(cpu, ready[1]);
		if (pid < 0)
			err = pid;
		else
			out->pids[out->count++] = pid;
	}
	close(ready[1]);
	if (!err)
		err = wait_ready(ready[0], out->count);
	close(ready[0]);
out:
	if (err)
		bystanders__stop(out);
	return err;
}

void bystanders__stop(struct bystanders *bystanders)
{
	for (unsigned int i = 0; i < bystanders->count; i++)
		tether__kill(bystanders->pids[i]);
	free(bystanders->pids);
	memset(bystanders, 0, sizeof(*bystanders));
}
