/* SPDX-License-Identifier: GPL-2.0-only */
/* Attacks by migration: pages move to another node while they are being written to. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hunt.h"
#include "settings.h"

#define DEMOTION "/sys/kernel/mm/numa/demotion_enabled"
#define TIERS	 "/sys/devices/virtual/memory_tiering"

/* --- migrate: between nodes, by the process itself and from outside */

static int begin_migrate(struct hunt *hunt)
{
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = hunt__add_victim(hunt, 2, hunt__any_manner(hunt, HUNT_BUSY));
	return err;
}

static int round_migrate(struct hunt *hunt)
{
	struct hunt_victim *victim = hunt__any_victim(hunt);
	int err;

	if (hunt_random__below(&hunt->random, 2))
		err = hunt_victim__order(victim, HUNT_MOVE, hunt__any(&hunt->nodes, &hunt->random),
					 NULL);
	else
		err = hunt__move_pages(hunt, victim, false);
	return err ? err : hunt__check_all(hunt);
}

static const char *const pages_moved[] = { "pgmigrate_success", NULL };

const struct hunt_attack hunt_migrate = {
	.name = "migrate",
	.summary = "pages move between memory nodes (move_pages) under their writers",
	.work = "pages moved",
	.counters = pages_moved,
	.check = hunt__needs_nodes,
	.begin = begin_migrate,
	.round = round_migrate,
};

/* --- demote: reclaim moves pages to a lower tier, and they are moved back */

static uint32_t count_tiers(void)
{
	DIR *dir = opendir(TIERS);
	struct dirent *entry;
	uint32_t count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		count += strncmp(entry->d_name, "memory_tier", strlen("memory_tier")) == 0 &&
			 entry->d_name[strlen("memory_tier")] != 'i';
	closedir(dir);
	return count;
}

static int check_demote(const struct hunt *hunt, char *why, size_t size)
{
	char value[16];

	if (hunt__needs_nodes(hunt, why, size))
		return -ENOTSUP;
	if (count_tiers() < 2 || settings__read(DEMOTION, value, sizeof(value))) {
		snprintf(why, size, "there is one tier of memory only: no page can be demoted");
		return -ENOTSUP;
	}
	if (!hunt->has_cgroup) {
		snprintf(why, size, "there is no cgroup whose memory could be reclaimed");
		return -ENOTSUP;
	}
	return 0;
}

static int begin_demote(struct hunt *hunt)
{
	int err = settings__set(hunt->journal, DEMOTION, "true");

	for (int i = 0; !err && i < 2; i++)
		err = hunt__add_victim(hunt, 2, HUNT_DOZE);
	return err;
}

static int round_demote(struct hunt *hunt)
{
	const struct hunt_range all = { 0, HUNT_PAGES };
	int err = hunt__take_pages(hunt, NULL, HUNT_BY_CGROUP);

	if (!err)
		err = hunt__check_all(hunt);
	for (uint32_t i = 0; !err && i < hunt->count; i++)
		err = hunt_victim__move(hunt->victims[i].worker.pid, hunt->victims[i].base, all,
					hunt->top_node, false);
	return err ? err : hunt__check_all(hunt);
}

static const char *const pages_demoted[] = { "pgdemote_kswapd", "pgdemote_direct",
					     "pgdemote_khugepaged", "pgdemote_proactive", NULL };

const struct hunt_attack hunt_demote = {
	.name = "demote",
	.summary = "reclaim moves pages to a lower memory tier under their writers",
	.work = "pages demoted",
	.counters = pages_demoted,
	.check = check_demote,
	.begin = begin_demote,
	.round = round_demote,
};
