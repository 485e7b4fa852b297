/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process does for which an arm64 kernel invalidates TLBs, in sections that tlbi.c counts:
 *
 * broadcasts TIMES
 *
 *	1 unmap		a page is mapped, written and unmapped
 *	2 protect	a page is made read-only and writable again
 *	3 fork		a child is forked, and ends at once
 *	4 unmap, twice	section 1, after a thread of the process has run on another CPU
 *
 * TIMES each. All of it happens on CPU 0, the thread of section 4 runs on CPU 1. Prints "done".
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEGIN_SECTION() __asm__ volatile("hint #80" ::: "memory")
#define END_SECTION()	__asm__ volatile("hint #81" ::: "memory")

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static char *map_page(void)
{
	char *page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (page == MAP_FAILED)
		fail("mmap");
	*page = 1;
	return page;
}

static void unmap_pages(long times)
{
	BEGIN_SECTION();
	while (times--)
		if (munmap(map_page(), getpagesize()))
			fail("munmap");
	END_SECTION();
}

static void protect_page(long times)
{
	char *page = map_page();

	BEGIN_SECTION();
	while (times--) {
		if (mprotect(page, getpagesize(), PROT_READ) ||
		    mprotect(page, getpagesize(), PROT_READ | PROT_WRITE))
			fail("mprotect");
		*page = 1;
	}
	END_SECTION();
}

static void fork_children(long times)
{
	BEGIN_SECTION();
	while (times--) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			fail("waitpid");
	}
	END_SECTION();
}

static void *run_elsewhere(void *unused)
{
	pin(1);
	return unused;
}

static void run_on_two_cpus(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_elsewhere, NULL) || pthread_join(thread, NULL))
		fail("a thread on CPU 1");
}

/* In a child, whose address space has never been on another CPU than 0. */
static void run_sections(long times)
{
	unmap_pages(times);
	protect_page(times);
	fork_children(times);
	run_on_two_cpus();
	unmap_pages(times);
	puts("done");
}

int main(int argc, char **argv)
{
	long times = argc == 2 ? atol(argv[1]) : 0;
	int status;
	pid_t pid;

	if (times <= 0) {
		fprintf(stderr, "usage: broadcasts TIMES\n");
		return 2;
	}
	pin(0);
	pid = fork();
	if (!pid) {
		run_sections(times);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("fork");
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
