/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages that several processes share, for reclaim to take away from all of them at once.
 *
 * share MMS PAGES CPUS KIND
 *
 * A process fills PAGES pages of its own and forks MMS - 1 more, which have them too. Each of them
 * runs on each of the first CPUS CPUs once: an address space that has only been where its pages are
 * reclaimed is flushed at once, and is in no batch. The first process sleeps on CPU 0 then; child
 * number i (from 1) goes to CPU i, modulo CPUS, and there
 *	spin	runs until the end
 *	sleep	sleeps
 * Prints "ready", and stays until it is killed, which ends the children too.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("sched_setaffinity");
}

static void fill(long pages)
{
	size_t size = pages * sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
}

/* No write to memory comes after it: a flush of the address space would trim its mask again. */
static void visit(long cpus)
{
	for (long cpu = cpus - 1; cpu >= 0; cpu--)
		pin(cpu);
}

static void be_child(long cpu, long cpus, bool spin, int here)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	visit(cpus);
	pin(cpu);
	if (write(here, "", 1) != 1)
		fail("write");
	while (spin)
		__builtin_ia32_pause();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	long mms, pages, cpus;
	int here[2];
	char byte;

	if (argc != 5 || (strcmp(argv[4], "spin") != 0 && strcmp(argv[4], "sleep") != 0)) {
		fprintf(stderr, "usage: share MMS PAGES CPUS spin|sleep\n");
		return 2;
	}
	mms = atol(argv[1]);
	pages = atol(argv[2]);
	cpus = atol(argv[3]);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	fill(pages);
	if (pipe(here) != 0)
		fail("pipe");
	for (long i = 1; i < mms; i++)
		if (fork() == 0)
			be_child(i % cpus, cpus, strcmp(argv[4], "spin") == 0, here[1]);
	for (long i = 1; i < mms; i++)
		if (read(here[0], &byte, 1) != 1)
			fail("read");
	visit(cpus);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		fail("write");
	for (;;)
		pause();
}
