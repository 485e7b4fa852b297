/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lifecycle: what a manager of very small virtual machines has the kernel do, without the machines.
 * A process is made, maps memory for a guest, writes to half of it, runs one thread (the virtual
 * CPU) that answers a token, changes what it mapped, and ends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storm.h"

/* As in tlb_flush. */
#define PAGES_PER_CALL 16

/* The exit codes of a machine's process. */
enum end {
	WELL = 3, /* not the zero of a process that ended otherwise */
	REFUSED,
	LOST,
	STALE
};

struct machine {
	struct memory ram; /* twice the pages that are written */
	uint64_t token;
	uint64_t lost;
};

/* The virtual CPU: reads what was written for it, and answers. */
static void *be_vcpu(void *arg)
{
	struct machine *machine = arg;

	for (uint64_t page = 0; page < PAGES_PER_CALL; page++)
		machine->lost += !memory__holds(&machine->ram, page);
	machine->token = ~machine->token;
	return NULL;
}

static int run_vcpu(struct machine *machine)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, be_vcpu, machine);

	return err ? err : pthread_join(thread, NULL);
}

static enum end live(uint64_t token, size_t page_size)
{
	struct machine machine = {
		.ram = { .pages = 2 * PAGES_PER_CALL, .page_size = page_size },
		.token = token,
	};
	struct memory *ram = &machine.ram;
	size_t half = PAGES_PER_CALL * page_size;
	uint64_t stale = 0;

	ram->base = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ram->base == MAP_FAILED)
		return REFUSED;
	for (uint64_t page = 0; page < PAGES_PER_CALL; page++)
		stale += memory__exchange(ram, page) != 0;
	if (run_vcpu(&machine) || mprotect(ram->base, half / 2, PROT_READ) ||
	    madvise(ram->base + half / 2, half / 2, MADV_DONTNEED))
		return REFUSED;
	for (uint64_t page = 0; page < PAGES_PER_CALL / 2; page++)
		machine.lost += !memory__holds(ram, page);
	/* What was discarded is gone. */
	for (uint64_t page = PAGES_PER_CALL / 2; page < PAGES_PER_CALL; page++)
		stale += memory__exchange(ram, page) != 0;
	if (machine.lost || machine.token != ~token)
		return LOST;
	return stale ? STALE : WELL;
}

static void run_machine(struct storm *storm, unsigned int member, struct storm_tally *tally)
{
	uint64_t token = (tally->calls << 16) + member;
	size_t page_size = sysconf(_SC_PAGESIZE);
	pid_t pid = fork();

	(void)storm;
	if (pid == 0)
		_exit(live(token, page_size));
	switch (storm__await(pid, tally)) {
	case -1: /* counted */
	case WELL:
		break;
	case LOST:
		tally->lost++;
		break;
	case STALE:
		tally->stale++;
		break;
	case REFUSED:
		storm_tally__fail(tally, ENOMEM);
		break;
	default:
		storm_tally__fail(tally, ECHILD);
	}
}

static const struct storm_kind kind = {
	.name = "lifecycle",
	.processes = true,
	.pages_per_call = PAGES_PER_CALL,
	.call = run_machine,
};

static int check(const struct workload_options *options, char *why, size_t size)
{
	return storm__check(&kind, options, why, size);
}

static int set_up(struct workload_run *run)
{
	return storm__set_up(&kind, run);
}

const struct workload workload_lifecycle = {
	.name = "lifecycle",
	.summary = "workers make, run and end processes that look like small virtual machines",
	.help = "Each worker, on a CPU of its own, makes a process that maps the memory of a guest, "
		"writes to half of it, runs a thread that answers a token, uses mprotect(2) and "
		"MADV_DONTNEED, and ends. No address space is ever on a second CPU. --threads is "
		"the number of workers, --pages what all guests write. No real machines are run.",
	.default_pages = 32768,
	.default_threads = ONE_PER_CPU,
	.pages_per_thread = PAGES_PER_CALL,
	.check = check,
	.set_up = set_up,
	.prime = storm__prime,
	.run = storm__run,
	.verify = storm__verify,
	.tear_down = storm__tear_down,
	.parameters = workload_options__json,
};
