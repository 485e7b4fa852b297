/* SPDX-License-Identifier: GPL-2.0-only */
/* Attack on mappings: a process changes its own, while its threads write through them. */
#include "hunt.h"

static int begin_protect(struct hunt *hunt)
{
	/* One at a time: the pages of all that share a board are barred together. */
	return hunt__add_victim(hunt, 2, hunt__any_manner(hunt, HUNT_BUSY));
}

static int round_protect(struct hunt *hunt)
{
	static const enum hunt_order orders[] = { HUNT_PROTECT, HUNT_REMAP, HUNT_DISCARD,
						  HUNT_FORK };
	enum hunt_order order = orders[hunt_random__below(&hunt->random, 4)];
	uint64_t proven = 0;
	int err = hunt_victim__order(&hunt->victims[0], order, 0, &proven);

	hunt->proven += proven;
	return err ? err : hunt__check_all(hunt);
}

const struct hunt_attack hunt_protect = {
	.name = "protect",
	.summary = "mprotect, mremap, MADV_DONTNEED, MADV_FREE and fork under the writers",
	.work = "changes run into",
	.begin = begin_protect,
	.round = round_protect,
};
