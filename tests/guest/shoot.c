/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A known number of shootdowns, to compare counters with.
 *
 * shoot CPUS FLUSHES PAGES KIND
 *
 * The first CPU maps PAGES pages and takes them away FLUSHES times by MADV_DONTNEED: exactly that
 * many flushes of exactly that many pages. On each other of the first CPUS CPUs
 *	spin	a thread of the process spins: each flush asks it
 *	sleep	a thread of the process sleeps: its CPU is lazy; at the end page tables are freed
 *		once, for which lazy CPUs are asked too
 *	gone	a thread has run and ended, and a process of its own spins: its bit is stale
 *	alone	there is nothing: all flushes are local
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CPUS_LIMIT 256

static atomic_bool stop;
static sem_t here, leave;

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void *spin(void *cpu)
{
	pin((long)cpu);
	sem_post(&here);
	while (!atomic_load(&stop))
		__builtin_ia32_pause();
	return NULL;
}

static void *sleep_there(void *cpu)
{
	pin((long)cpu);
	sem_post(&here);
	sem_wait(&leave);
	return NULL;
}

static void *visit(void *cpu)
{
	pin((long)cpu);
	sem_post(&here);
	return NULL;
}

/* A process of its own that keeps a CPU busy until we end. */
static void occupy(long cpu)
{
	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	for (;;)
		__builtin_ia32_pause();
}

static void take_away(char *memory, size_t size)
{
	memset(memory, 1, size);
	if (madvise(memory, size, MADV_DONTNEED) != 0) {
		perror("madvise");
		exit(1);
	}
}

/* A mapping of its own page tables comes and goes. */
static void free_tables(void)
{
	size_t size = 8ul << 20; /* holds a whole table (2 MiB) wherever it begins */
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 1ul << 20)
		memory[at] = 1;
	munmap(memory, size);
}

static int usage(void)
{
	fprintf(stderr, "usage: shoot CPUS FLUSHES PAGES spin|sleep|gone|alone\n");
	return 2;
}

int main(int argc, char **argv)
{
	void *(*work)(void *) = NULL;
	pthread_t threads[CPUS_LIMIT];
	long cpus, flushes, pages, size;
	bool gone;
	char *memory;

	if (argc != 5)
		return usage();
	cpus = atol(argv[1]);
	flushes = atol(argv[2]);
	pages = atol(argv[3]);
	gone = strcmp(argv[4], "gone") == 0;
	if (strcmp(argv[4], "spin") == 0)
		work = spin;
	else if (strcmp(argv[4], "sleep") == 0)
		work = sleep_there;
	else if (gone)
		work = visit;
	else if (strcmp(argv[4], "alone") != 0)
		return usage();
	if (cpus < 1 || cpus > CPUS_LIMIT || pages < 1)
		return usage();
	/* A new address space that has run nowhere else. */
	pin(0);
	if (!getenv("SHOOT_PINNED")) {
		setenv("SHOOT_PINNED", "1", 1);
		execv("/proc/self/exe", argv);
		perror("exec");
		return 1;
	}
	if (gone)
		for (long cpu = 1; cpu < cpus; cpu++)
			occupy(cpu);
	size = pages * sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	madvise(memory, size, MADV_NOHUGEPAGE);
	sem_init(&here, 0, 0);
	sem_init(&leave, 0, 0);
	/*
	 * The first flush after a second without one clears stale bits: have it now, so that those
	 * that the visits are about to leave last for a second.
	 */
	if (gone)
		take_away(memory, size);
	for (long cpu = 1; work && cpu < cpus; cpu++)
		pthread_create(&threads[cpu], NULL, work, (void *)cpu);
	for (long cpu = 1; work && cpu < cpus; cpu++)
		sem_wait(&here);
	if (gone)
		for (long cpu = 1; cpu < cpus; cpu++)
			pthread_join(threads[cpu], NULL);
	else
		usleep(50000); /* the sleepers sleep */
	for (long i = 0; i < flushes; i++)
		take_away(memory, size);
	if (work == sleep_there)
		free_tables();
	atomic_store(&stop, true);
	for (long cpu = 1; cpu < cpus; cpu++)
		sem_post(&leave);
	for (long cpu = 1; work && !gone && cpu < cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	return 0;
}
