/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sched.h>

#include "common/cpus.h"
#include "common/diag.h"
#include "pin.h"

int pin__thread(pid_t tid, unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(tid, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

int pin__to_cpu(unsigned int cpu)
{
	int err = pin__thread(0, cpu);

	return err ? diag__fail(-err, "pin to CPU %u", cpu) : 0;
}
