/* SPDX-License-Identifier: GPL-2.0-only */
/* Attack by numbers: a batch of flushes is for more address spaces than fit into a list of eight.
 */
#include <errno.h>
#include <stdio.h>

#include "hunt.h"

/* Around eight, of which a few run at any time. */
#define LEAST_VICTIMS 5
#define MOST_VICTIMS  14

static int check_many(const struct hunt *hunt, char *why, size_t size)
{
	/* MADV_PAGEOUT leaves pages alone that several processes map. */
	if ((hunt->has_swap && hunt->has_cgroup) || cpus__count(&hunt->nodes) > 1)
		return 0;
	snprintf(why, size, "pages of several processes need a cgroup and swap, or two nodes");
	return -ENOTSUP;
}

static int begin_many(struct hunt *hunt)
{
	uint32_t count =
		LEAST_VICTIMS + hunt_random__below(&hunt->random, MOST_VICTIMS - LEAST_VICTIMS + 1);
	int err = hunt__share_pages(hunt);

	while (!err && hunt->count < count)
		err = hunt__add_victim(hunt, 1, hunt__any_manner(hunt, HUNT_YIELD));
	return err;
}

static int round_many(struct hunt *hunt)
{
	bool reclaims = hunt->has_swap && hunt->has_cgroup;
	int err;

	if (reclaims && cpus__count(&hunt->nodes) > 1)
		reclaims = hunt_random__below(&hunt->random, 2);
	if (reclaims)
		err = hunt__take_pages(hunt, NULL, HUNT_BY_CGROUP);
	else
		err = hunt__move_pages(hunt, hunt__any_victim(hunt), true);
	/* Which also brings the pages back into the page tables of all. */
	return err ? err : hunt__check_all(hunt);
}

static const char *const pages_taken[] = { "pswpout", "pgmigrate_success", NULL };

const struct hunt_attack hunt_many = {
	.name = "many",
	.summary = "5 to 14 processes write to the same pages, which go to swap or move",
	.work = "pages out or moved",
	.counters = pages_taken,
	.check = check_many,
	.begin = begin_many,
	.round = round_many,
};
