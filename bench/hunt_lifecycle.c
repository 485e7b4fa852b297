/* SPDX-License-Identifier: GPL-2.0-only */
/* Attack on life and death: threads, processes and CPUs come and go while pages are reclaimed. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "hunt.h"
#include "journal.h"
#include "settings.h"

/* A CPU goes offline in one of so many rounds: it takes much longer than the rest. */
#define ROUNDS_PER_CPU 16

static int begin_lifecycle(struct hunt *hunt)
{
	int err = hunt__add_victim(hunt, 2, HUNT_DOZE);

	return err ? err : hunt__add_victim(hunt, 1, HUNT_YIELD);
}

/* Takes a CPU offline, and back by undoing what the journal has of it. */
static int cycle_cpu(struct hunt *hunt)
{
	size_t mark = journal__mark(hunt->journal);
	char path[64];
	int err, err_back;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 hunt__any(&hunt->writer_cpus, &hunt->random));
	if (access(path, W_OK))
		return 0;
	err = settings__set(hunt->journal, path, "0");
	if (!err)
		err = hunt__take_pages(hunt, &hunt->victims[0], HUNT_BY_ADVICE);
	err_back = journal__undo(hunt->journal, mark);
	return err ? err : err_back;
}

static int live_and_die(struct hunt *hunt)
{
	struct hunt_victim *victim = &hunt->victims[1];
	uint64_t ended = 1;
	int err;

	switch (hunt_random__below(&hunt->random, 3)) {
	case 0:
		err = hunt_victim__order(victim, HUNT_RESTART, 0, NULL);
		break;
	case 1:
		err = hunt_victim__order(victim, HUNT_SPAWN,
					 hunt__any(&hunt->writer_cpus, &hunt->random), NULL);
		if (!err)
			err = hunt_victim__order(victim, HUNT_REAP, 0, &ended);
		break;
	default:
		err = hunt__replace_victim(hunt, victim);
		break;
	}
	hunt->proven += !err && ended;
	return err;
}

static int round_lifecycle(struct hunt *hunt)
{
	struct hunt_second second = {
		.hunt = hunt,
		.victim = &hunt->victims[0],
		.way = hunt->has_cgroup && hunt_random__below(&hunt->random, 2) ? HUNT_BY_CGROUP
										: HUNT_BY_ADVICE,
		.cpu = hunt->initiator,
	};
	int err = 0, err_second;

	if (!hunt_random__below(&hunt->random, ROUNDS_PER_CPU))
		err = cycle_cpu(hunt);
	if (!err)
		err = hunt_second__start(&second);
	if (err)
		return err;
	err = live_and_die(hunt);
	err_second = hunt_second__join(&second);
	err = err ? err : err_second;
	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_lifecycle = {
	.name = "lifecycle",
	.summary =
		"threads and processes end, fork and exec, CPUs go offline and come back, meanwhile",
	.work = "ends",
	.check = hunt__needs_swap,
	.begin = begin_lifecycle,
	.round = round_lifecycle,
};
