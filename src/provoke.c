/* SPDX-License-Identifier: GPL-2.0-only */
#include "provoke.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cpus.h"

struct partner {
	volatile char *page;
	atomic_bool running, stop;
};

/* Keeps the address space loaded on its CPU: a sleeping thread's CPU would be lazy, and not asked.
 */
static void *use_page(void *data)
{
	struct partner *partner = data;

	atomic_store(&partner->running, true);
	while (!atomic_load(&partner->stop))
		(void)*partner->page;
	return NULL;
}

static int start_on(unsigned int cpu, pthread_t *thread, struct partner *partner)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	pthread_attr_t attr;
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	pthread_attr_init(&attr);
	err = pthread_attr_setaffinity_np(&attr, size, set);
	if (!err)
		err = pthread_create(thread, &attr, use_page, partner);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -err;
}

int provoke__shootdown(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct partner partner = { 0 };
	int current = sched_getcpu();
	struct cpus allowed;
	unsigned int there;
	pthread_t thread;
	void *page;
	int err = cpus__allowed(&allowed);

	if (err)
		return err;
	if (current >= 0)
		cpus__remove(&allowed, current);
	there = cpus__next(&allowed, 0);
	if (there >= CPUS_MAX)
		return -ENODEV;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	memset(page, 1, size);
	partner.page = page;
	err = start_on(there, &thread, &partner);
	if (!err) {
		while (!atomic_load(&partner.running))
			sched_yield();
		mprotect(page, size, PROT_READ);
		atomic_store(&partner.stop, true);
		pthread_join(thread, NULL);
	}
	munmap(page, size);
	return err;
}
