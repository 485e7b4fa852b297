/* SPDX-License-Identifier: GPL-2.0-only */
#include "subject.h"

#include <errno.h>
#include <sys/mman.h>

#include "common/diag.h"
#include "pin.h"
#include "quiet.h"
#include "workload.h"

int subject__map(struct subject *subject, const struct workload_options *options, uint64_t pages,
		 bool lock)
{
	int err = pin__to_cpu(options->initiator);

	if (!err)
		err = quiet__process(options);
	if (!err)
		err = crew__start(&subject->crew, &options->cpus, options->initiator);
	if (err)
		return err;
	if (lock && mlockall(MCL_CURRENT))
		return diag__fail(errno, "lock the worker's own pages in memory");
	return memory__map(&subject->memory, pages, options->thp);
}

int subject__fill(struct subject *subject)
{
	memory__fill(&subject->memory);
	return memory__settle();
}

void subject__prime(struct subject *subject, const struct workload_options *options)
{
	crew__call(subject->crew, options->bystander == BYSTANDER_SPIN);
}
