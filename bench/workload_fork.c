/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fork: a process with one thread forks a child, which reads the pages and ends, or becomes another
 * program first; then the process writes to its pages, each of which the fork had made read-only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storm.h"

#define PAGES_PER_CALL 256

/* How a child ends that found a page wrong; the program that it becomes never does so. */
#define LOST 77

static _Noreturn void be_child(const struct storm *storm)
{
	if (memory__wrong(&storm->memory))
		_exit(LOST);
	if (strcmp(storm->options.via, "exec"))
		_exit(EXIT_SUCCESS);
	if (freopen("/dev/null", "w", stdout))
		execl("/proc/self/exe", "tlbbench", "--version", NULL);
	_exit(EXIT_FAILURE);
}

static void fork_and_write(struct storm *storm, unsigned int member, struct storm_tally *tally)
{
	pid_t pid = fork();
	int code;

	(void)member;
	if (pid == 0)
		be_child(storm);
	code = storm__await(pid, tally);
	if (code == LOST)
		tally->lost++;
	else if (code > 0)
		storm_tally__fail(tally, ECHILD);
	memory__fill(&storm->memory);
	tally->lost += memory__wrong(&storm->memory);
}

static const struct storm_kind kind = {
	.name = "fork",
	.processes = true,
	.keeps_memory = true,
	.pages_per_call = PAGES_PER_CALL,
	.call = fork_and_write,
};

static int check(const struct workload_options *options, char *why, size_t size)
{
	return storm__check(&kind, options, why, size);
}

static int set_up(struct workload_run *run)
{
	return storm__set_up(&kind, run);
}

static const char *const vias[] = { "exit", "exec", NULL };

const struct workload workload_fork = {
	.name = "fork",
	.summary = "processes with one thread fork, and then write to their pages",
	.help = "Each process, on a CPU of its own, has 256 pages. It forks a child, which reads them "
		"and ends (--via exit), or becomes tlbbench anew and ends (--via exec), and writes to "
		"all of them afterwards. No address space is ever on a second CPU. --threads is the "
		"number of processes, --pages what all of them write.",
	.vias = vias,
	.default_pages = 32768,
	.default_threads = 1,
	.pages_per_thread = PAGES_PER_CALL,
	.check = check,
	.set_up = set_up,
	.prime = storm__prime,
	.run = storm__run,
	.verify = storm__verify,
	.tear_down = storm__tear_down,
	.parameters = workload_options__json,
};
