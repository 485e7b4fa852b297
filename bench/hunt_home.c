/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attacks on address spaces that have been on one CPU only, and as they leave it: a kernel may
 * flush these without a word to the other CPUs.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/diag.h"
#include "hunt.h"

/* Between two changes of home: children that do something, each with so many others that do not. */
#define CHILDREN_PER_HOME 4
#define STORM		  32

/* Something that a process does to its own pages. @proven: writers did run into it. */
static int change_own_pages(struct hunt *hunt, struct hunt_victim *victim, uint64_t *proven)
{
	static const enum hunt_order orders[] = { HUNT_PROTECT, HUNT_REMAP, HUNT_DISCARD, HUNT_FORK,
						  HUNT_PAGEOUT };
	size_t count = sizeof(orders) / sizeof(*orders) - !hunt->has_swap;

	*proven = 0;
	return hunt_victim__order(victim, orders[hunt_random__below(&hunt->random, count)], 0,
				  proven);
}

/* --- home: it stays there, and its pages are taken from there and from elsewhere */

static int begin_home(struct hunt *hunt)
{
	int err = 0;

	for (int i = 0; !err && i < 3; i++)
		err = hunt__add_victim_at_home(hunt, 2, 2, hunt__any_manner(hunt, HUNT_YIELD));
	return err;
}

static int round_home(struct hunt *hunt)
{
	struct hunt_victim *victim = hunt__any_victim(hunt);
	uint64_t proven;
	int err = hunt__take_pages(hunt, victim, hunt__choose_way(hunt));

	if (!err && cpus__count(&hunt->nodes) > 1)
		err = hunt__move_pages(hunt, victim, false);
	if (!err)
		err = change_own_pages(hunt, victim, &proven);
	return err ? err : hunt__check_all(hunt);
}

static const char *const pages_taken[] = { "pswpout", "pgmigrate_success", NULL };

const struct hunt_attack hunt_home = {
	.name = "home",
	.summary = "what is taken was on one CPU only, which may be this one or another",
	.work = "pages out or moved",
	.counters = pages_taken,
	.check = hunt__needs_swap,
	.begin = begin_home,
	.round = round_home,
};

/* --- leave: one of its threads is moved to another CPU in the middle */

static int begin_leave(struct hunt *hunt)
{
	return hunt__add_victim_at_home(hunt, 2, 2, hunt__any_manner(hunt, HUNT_YIELD));
}

/* Any thread of a process; 0 or a negative errno after a message. */
static int any_thread(struct hunt *hunt, pid_t pid, pid_t *tid)
{
	char path[64];
	struct dirent *entry;
	uint32_t seen = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return diag__fail(errno, "list the threads in %s", path);
	*tid = pid;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !hunt_random__below(&hunt->random, ++seen))
			*tid = atoi(entry->d_name);
	closedir(dir);
	return 0;
}

static int round_leave(struct hunt *hunt)
{
	struct hunt_victim *victim = &hunt->victims[0];
	struct hunt_mover mover = { 0 };
	uint64_t proven;
	int err = hunt__rehome_victim(hunt, victim);

	mover.home = victim->warden_cpu;
	if (!err)
		err = any_thread(hunt, victim->worker.pid, &mover.tid);
	if (!err)
		err = hunt_mover__start(&mover, hunt);
	if (err)
		return err;
	err = change_own_pages(hunt, victim, &proven);
	hunt_mover__stop(&mover);
	hunt->proven += mover.moves;
	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_leave = {
	.name = "leave",
	.summary = "the same, while one of its threads is moved to other CPUs for the first time",
	.work = "moves",
	.begin = begin_leave,
	.round = round_leave,
};

/* --- birth: threads are born on other CPUs in the middle */

static int begin_birth(struct hunt *hunt)
{
	return hunt__add_victim_at_home(hunt, 4, 1, hunt__any_manner(hunt, HUNT_YIELD));
}

static int round_birth(struct hunt *hunt)
{
	/*
	 * HUNT_DISCARD ends threads and starts them itself; while HUNT_REMAP has the pages
	 * elsewhere, a new thread's stack could take their place.
	 */
	static const enum hunt_order orders[] = { HUNT_PROTECT, HUNT_FORK, HUNT_PAGEOUT };
	size_t count = sizeof(orders) / sizeof(*orders) - !hunt->has_swap;
	struct hunt_victim *victim = &hunt->victims[0];
	uint64_t born = 0;
	int err = hunt__rehome_victim(hunt, victim);

	if (!err)
		err = hunt_victim__order(victim, HUNT_BIRTH,
					 orders[hunt_random__below(&hunt->random, count)], &born);
	hunt->proven += born;
	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_birth = {
	.name = "birth",
	.summary = "the same, while more of its threads are born on other CPUs",
	.work = "births",
	.begin = begin_birth,
	.round = round_birth,
};

/* --- forks: children write, exec and end on other CPUs, faster than there are ASIDs */

static int begin_forks(struct hunt *hunt)
{
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = hunt__add_victim_at_home(hunt, 1, 1, HUNT_DOZE);
	return err;
}

static int fork_children(struct hunt *hunt)
{
	int err = 0;

	for (int i = 0; !err && i < CHILDREN_PER_HOME; i++) {
		struct hunt_victim *victim = hunt__any_victim(hunt);
		uint64_t ended = 0;

		err = hunt_victim__order(victim, HUNT_SPAWN, hunt__any(&hunt->cpus, &hunt->random),
					 NULL);
		if (!err && hunt->has_swap)
			err = hunt__take_pages(hunt, victim, HUNT_BY_ADVICE);
		if (!err)
			err = hunt_victim__order(victim, HUNT_STORM, STORM, NULL);
		if (!err)
			err = hunt_victim__order(victim, HUNT_REAP, 0, &ended);
		hunt->proven += ended + (err ? 0 : STORM);
	}
	return err;
}

static int round_forks(struct hunt *hunt)
{
	struct hunt_victim *victim = hunt__any_victim(hunt);
	uint64_t proven;
	int err = fork_children(hunt);

	if (!err)
		err = hunt_victim__order(victim, HUNT_FORK, 0, &proven);
	if (!err)
		err = hunt__check_all(hunt);
	return err ? err : hunt__rehome_victim(hunt, victim);
}

const struct hunt_attack hunt_forks = {
	.name = "forks",
	.summary =
		"children write, exec and end on any CPU, one after the other; the parents stay home",
	.work = "ends",
	.begin = begin_forks,
	.round = round_forks,
};
