/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sched.h>

#include "common/cpus.h"
#include "common/diag.h"
#include "pin.h"

int pin__to_cpu(unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int err = 0;

	if (!set)
		return diag__fail(ENOMEM, "pin to CPU %u", cpu);
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = diag__fail(errno, "pin to CPU %u", cpu);
	CPU_FREE(set);
	return err;
}
