/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "crew.h"
#include "pin.h"
#include "relax.h"

/* Enough for a loop; the least that the system allows can be more. */
#define STACK_SIZE (128 << 10)

struct member {
	struct crew *crew;
	unsigned int cpu;
	sem_t called;
};

struct crew {
	sem_t arrived;
	_Atomic bool stay, failed;
	crew_work work;
	void *arg;
	unsigned int count;
	struct member members[];
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void *serve(void *arg)
{
	struct member *member = arg;
	struct crew *crew = member->crew;

	if (pin__to_cpu(member->cpu))
		crew->failed = true;
	for (;;) {
		sem_post(&crew->arrived);
		while (crew->stay)
			cpu_relax();
		wait_for(&member->called);
		if (crew->work)
			crew->work(crew->arg, member - crew->members);
	}
	return NULL;
}

static int start_member(struct crew *crew, unsigned int cpu)
{
	struct member *member = &crew->members[crew->count];
	long least = sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	member->crew = crew;
	member->cpu = cpu;
	sem_init(&member->called, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, least > STACK_SIZE ? least : STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, serve, member);
	pthread_attr_destroy(&attr);
	if (err)
		return diag__fail(err, "start a thread for CPU %u", cpu);
	crew->count++;
	wait_for(&crew->arrived);
	return crew->failed ? -EINVAL : 0;
}

int crew__start(struct crew **out, const struct cpus *cpus, unsigned int except)
{
	struct crew *crew = calloc(1, sizeof(*crew) + cpus__count(cpus) * sizeof(crew->members[0]));
	int err = 0;

	if (!crew)
		return diag__fail(ENOMEM, "start a thread per CPU");
	sem_init(&crew->arrived, 0, 0);
	cpus__for_each (cpu, cpus)
		if (!err && cpu != except)
			err = start_member(crew, cpu);
	/* Threads that run already use it until the process ends: it is never freed. */
	*out = crew;
	return err;
}

/* What they are to do is set before. */
static void call_all(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->count; i++)
		sem_post(&crew->members[i].called);
	for (unsigned int i = 0; i < crew->count; i++)
		wait_for(&crew->arrived);
}

void crew__call(struct crew *crew, bool stay)
{
	crew->work = NULL;
	crew->stay = stay;
	call_all(crew);
}

void crew__do(struct crew *crew, crew_work work, void *arg)
{
	crew->work = work;
	crew->arg = arg;
	call_all(crew);
}

unsigned int crew__size(const struct crew *crew)
{
	return crew->count;
}
