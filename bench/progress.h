/* SPDX-License-Identifier: GPL-2.0-only */
/* What a long command is at: one line that is rewritten on a terminal, plain lines elsewhere. */
#ifndef TLBBENCH_PROGRESS_H
#define TLBBENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool off;
	bool terminal;	   /* stderr is one */
	const char *title; /* kept, not copied */
	uint64_t steps, step, start_ns;
};

void progress__start(struct progress *progress, const char *title, uint64_t steps, bool off);

/* @step (from 1) is at @stage. Elsewhere than on a terminal, only the first stage of a step shows.
 */
void progress__show(struct progress *progress, uint64_t step, const char *stage);

/* Clears the line, before anything else is printed. */
void progress__clear(const struct progress *progress);

#endif
