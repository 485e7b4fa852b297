/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of "tlbbench run". */
#ifndef TLBBENCH_RUN_OPTIONS_H
#define TLBBENCH_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observer.h"
#include "workload.h"

#define RUN_MAX_WORKLOADS 16
#define RUN_MAX_CURVE	  16

struct run_options {
	const struct workload *workloads[RUN_MAX_WORKLOADS]; /* in the order given, each once */
	size_t workload_count;
	struct workload_options options; /* as given, without the workloads' defaults */
	/* Numbers of threads, ONE_PER_CPU among them: each workload that asks is run with each. */
	unsigned int threads[RUN_MAX_CURVE];
	size_t thread_count;
	struct observer_options observer;
	const char *cpus_text;	/* NULL: all */
	uint64_t runs;		/* of each workload */
	uint64_t time_limit_ns; /* of each workload; 0: none */
	const char *toggle;	/* the file of the switch, or NULL */
	const char *output;	/* with a switch, the start of two names */
	bool json, quiet, verbose;
};

/* Ends the process with EXIT_USAGE and a message where the command line cannot be understood. */
void run_options__parse(struct run_options *run, int argc, char **argv);

/*
 * The given options that are for @workload, completed with its defaults, with the number of threads
 * that is at @point in the list. False if there is no such point, or if an earlier one is the same.
 */
bool run_options__for(const struct run_options *run, const struct workload *workload, size_t point,
		      struct workload_options *out);

#endif
