/* SPDX-License-Identifier: GPL-2.0-only */
#include "accessors.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/diag.h"
#include "memory.h"
#include "pin.h"
#include "relax.h"

struct accessor {
	struct accessors *all;
	unsigned int cpu, number;
	sem_t go;
	/* Written by the thread, read by others when it sleeps. */
	uint64_t accesses, first_round, wrong;
	uint64_t round, page; /* where it stopped: the next page to be accessed in this round */
};

struct accessors {
	const struct memory *memory;
	enum access_kind kind;
	_Atomic bool stop, failed;
	sem_t arrived;
	unsigned int count;
	struct accessor members[];
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

/* After the word that belongs to the memory. */
static volatile uint64_t *word_of(const struct accessor *accessor, uint64_t page)
{
	const struct memory *memory = accessor->all->memory;

	return (volatile uint64_t *)(memory->base + page * memory->page_size) + 1 +
	       accessor->number;
}

static void access_page(struct accessor *accessor, uint64_t page)
{
	if (accessor->all->kind == ACCESS_WRITE)
		*word_of(accessor, page) = accessor->round;
	else
		accessor->wrong += !memory__holds(accessor->all->memory, page);
	accessor->accesses++;
	cpu_relax();
}

/* One round. False if it was told to stop. */
static bool access_all(struct accessor *accessor)
{
	struct accessors *all = accessor->all;

	for (accessor->page = 0; accessor->page < all->memory->pages; accessor->page++) {
		/* The first round is waited for. */
		if (all->stop && accessor->round > 1)
			return false;
		access_page(accessor, accessor->page);
	}
	return true;
}

static void *work(void *arg)
{
	struct accessor *accessor = arg;
	struct accessors *all = accessor->all;

	if (pin__to_cpu(accessor->cpu))
		all->failed = true;
	sem_post(&all->arrived);
	wait_for(&accessor->go);
	for (accessor->round = 1; access_all(accessor); accessor->round++) {
		if (accessor->round > 1)
			continue;
		accessor->first_round = accessor->accesses;
		sem_post(&all->arrived);
	}
	sem_post(&all->arrived);
	wait_for(&accessor->go);
	return NULL;
}

static int start_member(struct accessors *accessors, unsigned int cpu)
{
	struct accessor *member = &accessors->members[accessors->count];
	pthread_t thread;
	int err;

	member->all = accessors;
	member->cpu = cpu;
	member->number = accessors->count;
	sem_init(&member->go, 0, 0);
	err = pthread_create(&thread, NULL, work, member);
	if (err)
		return diag__fail(err, "start a thread for CPU %u", cpu);
	pthread_detach(thread);
	accessors->count++;
	wait_for(&accessors->arrived);
	return accessors->failed ? -EINVAL : 0;
}

int accessors__start(struct accessors **out, const struct cpus *cpus, const struct memory *memory,
		     enum access_kind kind)
{
	struct accessors *accessors =
		calloc(1, sizeof(*accessors) + cpus__count(cpus) * sizeof(accessors->members[0]));
	int err = 0;

	if (!accessors)
		return diag__fail(ENOMEM, "start threads that access the memory");
	accessors->memory = memory;
	accessors->kind = kind;
	sem_init(&accessors->arrived, 0, 0);
	cpus__for_each (cpu, cpus)
		if (!err)
			err = start_member(accessors, cpu);
	/* Threads that run already use it until the process ends: it is never freed. */
	*out = accessors;
	return err;
}

void accessors__go(struct accessors *accessors)
{
	for (unsigned int i = 0; i < accessors->count; i++)
		sem_post(&accessors->members[i].go);
	for (unsigned int i = 0; i < accessors->count; i++)
		wait_for(&accessors->arrived);
}

/* Pages before the one where it stopped were written in this round, the others in the last. */
static uint64_t lost_writes(const struct accessor *accessor)
{
	uint64_t lost = 0;

	for (uint64_t page = 0; page < accessor->all->memory->pages; page++)
		lost += *word_of(accessor, page) !=
			accessor->round - (page < accessor->page ? 0 : 1);
	return lost;
}

void accessors__stop(struct accessors *accessors, uint64_t *accesses)
{
	*accesses = 0;
	accessors->stop = true;
	for (unsigned int i = 0; i < accessors->count; i++)
		wait_for(&accessors->arrived);
	for (unsigned int i = 0; i < accessors->count; i++)
		*accesses += accessors->members[i].accesses - accessors->members[i].first_round;
}

uint64_t accessors__wrong(const struct accessors *accessors)
{
	uint64_t wrong = 0;

	for (unsigned int i = 0; i < accessors->count; i++) {
		const struct accessor *member = &accessors->members[i];

		wrong += accessors->kind == ACCESS_WRITE ? lost_writes(member) : member->wrong;
	}
	return wrong;
}
