/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <unistd.h>

#include "common/stop.h"
#include "progress.h"

void progress__start(struct progress *progress, const char *title, uint64_t steps, bool off)
{
	*progress = (struct progress){
		.off = off,
		.terminal = isatty(STDERR_FILENO),
		.title = title,
		.steps = steps,
		.start_ns = stop__now_ns(),
	};
}

/* By the steps that are done: they all do the same. */
static void put_time_left(const struct progress *progress)
{
	double spent = (stop__now_ns() - progress->start_ns) / 1e9;

	uint64_t done = progress->step - 1;

	if (done)
		fprintf(stderr, ", about %.0f s left", spent / done * (progress->steps - done));
}

void progress__show(struct progress *progress, uint64_t step, const char *stage)
{
	bool first = step != progress->step;

	progress->step = step;
	if (progress->off || (!progress->terminal && !first))
		return;
	fprintf(stderr, "%s%s: run %llu of %llu", progress->terminal ? "\r\033[K" : "",
		progress->title, (unsigned long long)step, (unsigned long long)progress->steps);
	if (progress->terminal)
		fprintf(stderr, ", %s", stage);
	put_time_left(progress);
	if (!progress->terminal)
		fputc('\n', stderr);
}

void progress__clear(const struct progress *progress)
{
	if (!progress->off && progress->terminal)
		fputs("\r\033[K", stderr);
}
