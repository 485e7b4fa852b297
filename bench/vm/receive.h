/* SPDX-License-Identifier: GPL-2.0-only */
/* What arrives on the results' port: passed on, and added up against what the agent says it sent.
 */
#ifndef TLBVM_RECEIVE_H
#define TLBVM_RECEIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vm/frames.h"

/* A file to be brought back: its path in the guest, and where to put it. */
struct get_file {
	const char *source;
	const char *target;
};

struct receiver {
	struct frame_decoder decoder;
	const struct get_file *gets;
	size_t get_count;
	int out, err; /* descriptors for the job's stdout and stderr */
	bool hello;   /* the agent is there */
	bool log_seen;
	uint64_t hello_uptime_ms;
	unsigned int hello_cpus;
	uint64_t frames, out_bytes, err_bytes, files;
	const struct get_file *file; /* that is being received */
	char *file_data;
	size_t file_size;
	FILE *file_stream;
	bool final;	    /* the final frame came */
	bool final_matches; /* and the sums in it are those received */
	bool signaled;	    /* the job was killed: code is the signal */
	unsigned int code;
	uint64_t missing; /* files that the guest could not send */
	int failure;	  /* negative errno of writing what was received */
};

void receiver__init(struct receiver *receiver, const struct get_file *gets, size_t get_count);
void receiver__free(struct receiver *receiver);

/*
 * Takes bytes of the port. Returns 0, or a negative errno when the output or a file cannot be
 * written (kept in ->failure; said on stderr except for -EPIPE, and -EINTR when a stop was asked).
 */
int receiver__feed(struct receiver *receiver, const void *data, size_t length);

/* Whether the job's end and all of its output are known for sure. */
bool receiver__complete(const struct receiver *receiver);

#endif
