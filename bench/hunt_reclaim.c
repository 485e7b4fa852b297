/* SPDX-License-Identifier: GPL-2.0-only */
/* Attacks by reclaim: pages go to swap while they are being written to. */
#include <unistd.h>

#include "hunt.h"

static const char *const pages_out[] = { "pswpout", NULL };

/* --- reclaim: one address space, a writer or more on CPUs of their own */

static int begin_reclaim(struct hunt *hunt)
{
	return hunt__add_victim(hunt, 1 + hunt_random__below(&hunt->random, 2),
				hunt__any_manner(hunt, HUNT_BUSY));
}

static int take_and_check(struct hunt *hunt)
{
	int err = hunt__take_pages(hunt, hunt__any_victim(hunt), hunt__choose_way(hunt));

	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_reclaim = {
	.name = "reclaim",
	.summary = "pages go to swap while threads on other CPUs write to them",
	.work = "pages out",
	.counters = pages_out,
	.check = hunt__needs_swap,
	.begin = begin_reclaim,
	.round = take_and_check,
};

/* --- switch: several address spaces take turns on the same CPUs, with lazy phases in between */

static int begin_switch(struct hunt *hunt)
{
	int err = 0;

	hunt__narrow_cpus(hunt, 1 + hunt_random__below(&hunt->random, 2));
	hunt__narrow_cpus(hunt, 1 + hunt_random__below(&hunt->random, 2));
	for (int i = 0; !err && i < 4; i++)
		err = hunt__add_victim(hunt, 1, hunt__any_manner(hunt, HUNT_YIELD));
	return err;
}

const struct hunt_attack hunt_switch = {
	.name = "switch",
	.summary = "the same, on CPUs that change between address spaces, idle and kernel threads",
	.work = "pages out",
	.counters = pages_out,
	.check = hunt__needs_swap,
	.begin = begin_switch,
	.round = take_and_check,
};

/* --- duel: two reclaim at once, one of them moved from CPU to CPU meanwhile */

static int begin_duel(struct hunt *hunt)
{
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = hunt__add_victim(hunt, 2, hunt__any_manner(hunt, HUNT_YIELD));
	return err;
}

static int round_duel(struct hunt *hunt)
{
	enum hunt_way way = hunt__choose_way(hunt);
	struct hunt_second second = {
		.hunt = hunt,
		.victim = &hunt->victims[1],
		.way = hunt__choose_way(hunt),
		.cpu = hunt__any(&hunt->writer_cpus, &hunt->random),
	};
	struct hunt_mover mover = {
		.tid = way == HUNT_BY_SELF ? hunt->victims[0].worker.pid : gettid(),
		.home = hunt->initiator,
	};
	int err = hunt_second__start(&second), err_second;

	if (err)
		return err;
	err = hunt_mover__start(&mover, hunt);
	if (!err) {
		err = hunt__take_pages(hunt, &hunt->victims[0], way);
		hunt_mover__stop(&mover);
	}
	err_second = hunt_second__join(&second);
	err = err ? err : err_second;
	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_duel = {
	.name = "duel",
	.summary = "two reclaim at once, one of them moved from CPU to CPU in the middle",
	.work = "pages out",
	.counters = pages_out,
	.check = hunt__needs_swap,
	.begin = begin_duel,
	.round = round_duel,
};
