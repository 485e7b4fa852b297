/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/diag.h"
#include "hunt.h"
#include "pin.h"

const struct hunt_attack *const hunt_attacks[] = {
	&hunt_reclaim, &hunt_switch,	&hunt_duel, &hunt_many,	 &hunt_migrate, &hunt_demote,
	&hunt_protect, &hunt_lifecycle, &hunt_home, &hunt_leave, &hunt_birth,	&hunt_forks,
	NULL,
};

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

unsigned int hunt__any(const struct cpus *ids, struct hunt_random *random)
{
	uint32_t nth = hunt_random__below(random, cpus__count(ids));
	unsigned int id = cpus__next(ids, 0);

	while (nth--)
		id = cpus__next(ids, id + 1);
	return id;
}

void hunt__narrow_cpus(struct hunt *hunt, uint32_t count)
{
	while (cpus__count(&hunt->writer_cpus) > count)
		cpus__remove(&hunt->writer_cpus, hunt__any(&hunt->writer_cpus, &hunt->random));
}

struct hunt_victim *hunt__any_victim(struct hunt *hunt)
{
	return &hunt->victims[hunt_random__below(&hunt->random, hunt->count)];
}

enum hunt_manner hunt__any_manner(struct hunt *hunt, enum hunt_manner restless)
{
	return hunt_random__below(&hunt->random, 3) ? HUNT_DOZE : restless;
}

int hunt__share_pages(struct hunt *hunt)
{
	/* Not touched here: the pages are to belong to the victims' cgroup. */
	hunt->shared = mmap(NULL, HUNT_PAGES * page_size(), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (hunt->shared == MAP_FAILED) {
		hunt->shared = NULL;
		return diag__fail(errno, "map %zu bytes to share", HUNT_PAGES * page_size());
	}
	return 0;
}

/* Starts the process of a victim whose ids and CPUs are known. */
static int start_victim(struct hunt *hunt, struct hunt_victim *victim)
{
	uint64_t base;
	int err, err_back;

	victim->base = hunt->shared;
	victim->seed = hunt_random__next(&hunt->random);
	/* A child begins where it may run, which is where its parent may. */
	err = pin__to_cpu(victim->warden_cpu);
	if (err)
		return err;
	err = hunt_victim__start(victim);
	err_back = pin__to_cpu(hunt->initiator);
	err = err ? err : err_back;
	/* Before it touches anything, so that its pages are charged there. */
	if (!err && hunt->has_cgroup)
		err = cgroup__add_process(&hunt->reclaim.cgroup, victim->worker.pid);
	if (!err)
		err = hunt_victim__order(victim, HUNT_BEGIN, 0, &base);
	if (!err)
		victim->base = (unsigned char *)(uintptr_t)base;
	return err;
}

/* Gives the next victim its ids; its CPUs are still to be chosen. */
static struct hunt_victim *new_victim(struct hunt *hunt, uint32_t threads, enum hunt_manner manner)
{
	struct hunt_victim *victim = &hunt->victims[hunt->count++];

	memset(victim, 0, sizeof(*victim));
	victim->board = hunt->board;
	victim->writer = hunt->count > 1 ? victim[-1].spare + 1 : 0;
	victim->threads = threads;
	victim->first = threads;
	victim->spare = victim->writer + threads;
	victim->manner = manner;
	return victim;
}

int hunt__add_victim(struct hunt *hunt, uint32_t threads, enum hunt_manner manner)
{
	struct hunt_victim *victim = new_victim(hunt, threads, manner);

	for (uint32_t i = 0; i < threads; i++)
		victim->cpu[i] = hunt__any(&hunt->writer_cpus, &hunt->random);
	victim->warden_cpu = hunt->initiator;
	return start_victim(hunt, victim);
}

static void choose_home(struct hunt *hunt, struct hunt_victim *victim)
{
	struct cpus others = hunt->cpus;

	victim->warden_cpu = hunt__any(&hunt->cpus, &hunt->random);
	cpus__remove(&others, victim->warden_cpu);
	for (uint32_t i = 0; i < victim->threads; i++)
		victim->cpu[i] =
			i < victim->first ? victim->warden_cpu : hunt__any(&others, &hunt->random);
}

int hunt__add_victim_at_home(struct hunt *hunt, uint32_t threads, uint32_t there,
			     enum hunt_manner manner)
{
	struct hunt_victim *victim = new_victim(hunt, threads, manner);

	victim->first = there;
	choose_home(hunt, victim);
	return start_victim(hunt, victim);
}

int hunt__rehome_victim(struct hunt *hunt, struct hunt_victim *victim)
{
	choose_home(hunt, victim);
	return hunt__replace_victim(hunt, victim);
}

int hunt__replace_victim(struct hunt *hunt, struct hunt_victim *victim)
{
	hunt_victim__stop(victim);
	for (uint32_t writer = victim->writer; writer <= victim->spare; writer++)
		hunt_board__forget(hunt->board, writer);
	return start_victim(hunt, victim);
}

int hunt__check_all(struct hunt *hunt)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < hunt->count; i++)
		err = hunt_victim__order(&hunt->victims[i], HUNT_CHECK, 0, NULL);
	return err;
}

void hunt__begin_spell(struct hunt *hunt, uint64_t seed)
{
	hunt->random.state = seed;
	hunt->proven = 0;
	hunt->writer_cpus = hunt->cpus;
	cpus__remove(&hunt->writer_cpus, hunt->initiator);
}

void hunt__end_spell(struct hunt *hunt)
{
	while (hunt->count)
		hunt_victim__stop(&hunt->victims[--hunt->count]);
	if (hunt->shared)
		munmap(hunt->shared, HUNT_PAGES * page_size());
	hunt->shared = NULL;
	hunt_board__clear(hunt->board);
}

enum hunt_way hunt__choose_way(struct hunt *hunt)
{
	return hunt_random__below(&hunt->random, hunt->has_cgroup ? 3 : 2);
}

static int advise(struct hunt *hunt, const struct hunt_victim *victim)
{
	struct hunt_range range = hunt_range__any(&hunt->random);
	struct iovec pages = {
		.iov_base = victim->base + range.first * page_size(),
		.iov_len = range.count * page_size(),
	};
	int pidfd = syscall(SYS_pidfd_open, victim->worker.pid, 0);
	int err = 0;

	if (pidfd < 0)
		return diag__fail(errno, "open process %d", victim->worker.pid);
	if (syscall(SYS_process_madvise, pidfd, &pages, 1, MADV_PAGEOUT, 0) < 0)
		err = diag__fail(errno, "process_madvise(MADV_PAGEOUT) of process %d",
				 victim->worker.pid);
	close(pidfd);
	return err;
}

int hunt__take_pages(struct hunt *hunt, struct hunt_victim *victim, enum hunt_way way)
{
	switch (way) {
	case HUNT_BY_SELF:
		return hunt_victim__order(victim, HUNT_PAGEOUT, 0, NULL);
	case HUNT_BY_ADVICE:
		return advise(hunt, victim);
	case HUNT_BY_CGROUP:
		return reclaim__ask(&hunt->reclaim, HUNT_SOME * page_size());
	}
	return -EINVAL;
}

int hunt__move_pages(struct hunt *hunt, struct hunt_victim *victim, bool shared)
{
	struct hunt_range range = hunt_range__any(&hunt->random);

	return hunt_victim__move(victim->worker.pid, victim->base, range,
				 hunt__any(&hunt->nodes, &hunt->random), shared);
}

static void *take_pages_too(void *arg)
{
	struct hunt_second *second = arg;

	pin__thread(0, second->cpu);
	second->err = hunt__take_pages(second->hunt, second->victim, second->way);
	return NULL;
}

int hunt_second__start(struct hunt_second *second)
{
	int err = pthread_create(&second->thread, NULL, take_pages_too, second);

	return err ? diag__fail(err, "start a second thread that reclaims") : 0;
}

int hunt_second__join(struct hunt_second *second)
{
	pthread_join(second->thread, NULL);
	return second->err;
}

int hunt__needs_swap(const struct hunt *hunt, char *why, size_t size)
{
	if (hunt->has_swap)
		return 0;
	zram__available(why, size);
	return -ENOTSUP;
}

int hunt__needs_nodes(const struct hunt *hunt, char *why, size_t size)
{
	if (cpus__count(&hunt->nodes) > 1)
		return 0;
	snprintf(why, size, "there is one memory node only: pages can not move");
	return -ENOTSUP;
}
