/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demotion: memory of one process, which once ran on every CPU, goes to a lower tier of memory.
 *
 * MADV_PAGEOUT cannot demote (it asks for reclaim that does not: scan_control::no_demotion), so
 * memory.reclaim of a cgroup is written. The cgroup may not swap: pages that find no room in the
 * lower tier stay where they are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "common/diag.h"
#include "common/file.h"
#include "common/procfs.h"
#include "mask.h"
#include "migration.h"
#include "reclaim.h"
#include "settings.h"

#define DEMOTION "/sys/kernel/mm/numa/demotion_enabled"

/*
 * Each pass over the list of pages hands a part of it over, and takes one flush. How many pages
 * that are varies: the published runs had 44 on average.
 */
#define PAGES_PER_FLUSH 44

enum {
	DEMOTION_RUN = MIGRATION_OWN
};

enum run_answer {
	RUN_ELAPSED_NS,
	RUN_PASSES
};

struct demotion {
	struct migration migration;
	struct reclaim reclaim;
	uint64_t demoted; /* by the whole machine, when the run began */
	uint64_t passes;
};

/* In the worker. */

static int count_left(void *state, uint64_t *pages)
{
	const struct demotion *demotion = state;
	struct places places;
	int err = placement__count(&demotion->migration.subject.memory, &demotion->migration.route,
				   &places);

	*pages = places.from;
	return err;
}

static int serve(void *state, unsigned int command, uint64_t answer[WORKER_ANSWERS])
{
	struct demotion *demotion = state;
	int err = 0;

	if (command == DEMOTION_RUN)
		return reclaim__all(&demotion->reclaim, count_left, demotion,
				    &answer[RUN_ELAPSED_NS], &answer[RUN_PASSES]);
	if (command == MIGRATION_SET_UP)
		err = reclaim__open(&demotion->reclaim);
	return err ? err : migration__serve(&demotion->migration, command, answer);
}

/* In tlbbench. */

static int check(const struct workload_options *options, char *why, size_t size)
{
	if (access(DEMOTION, F_OK)) {
		snprintf(why, size, "this kernel demotes nothing: there is no " DEMOTION);
		return -ENOTSUP;
	}
	if (!cgroup__available(why, size))
		return -ENOTSUP;
	return migration__check(options, nodes__route_down, options->pages, why, size);
}

/* A kernel without swap has no such file. */
static int forbid_swap(const struct cgroup *cgroup)
{
	char path[PATH_MAX + 64];
	int err;

	snprintf(path, sizeof(path), "%s/memory.swap.max", cgroup->path);
	err = file__write_setting(path, "0");
	return err && err != -ENOENT ? diag__fail(-err, "write 0 to %s", path) : 0;
}

static int set_up(struct workload_run *run)
{
	struct demotion *demotion = calloc(1, sizeof(*demotion));
	struct migration *migration = &demotion->migration;
	int err;

	if (!demotion)
		return diag__fail(ENOMEM, "set up demotion");
	/* Reclaim is to find the workload's pages only. */
	migration->lock = true;
	err = migration__begin(run, migration, nodes__route_down, run->options->pages);
	if (!err)
		err = settings__set(run->journal, DEMOTION, "true");
	if (!err)
		err = reclaim__create(run->journal, &demotion->reclaim);
	if (!err)
		err = forbid_swap(&demotion->reclaim.cgroup);
	if (!err)
		err = migration__start(migration, serve);
	if (!err)
		err = cgroup__add_process(&demotion->reclaim.cgroup, migration->worker.pid);
	return err ? err : migration__fill(migration);
}

/* Which of them counts depends on who asked for the reclaim, and on the kernel. */
static int read_demoted(uint64_t *out)
{
	static const char *const names[] = { "pgdemote_kswapd", "pgdemote_direct",
					     "pgdemote_khugepaged", "pgdemote_proactive" };
	uint64_t value;

	/* Since 6.8 each CPU keeps some of the count to itself, until it is told to give it up. */
	file__write_setting("/proc/sys/vm/stat_refresh", "1");
	*out = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int err = procfs__vmstat(names[i], &value);

		if (err && err != -ENOENT)
			return diag__fail(-err, "read %s in /proc/vmstat", names[i]);
		*out += err ? 0 : value;
	}
	return 0;
}

static int prime(struct workload_run *run)
{
	struct demotion *demotion = run->state;
	int err = read_demoted(&demotion->demoted);

	return err ? err : migration__prime(&demotion->migration);
}

static int run_demotion(struct workload_run *run)
{
	struct demotion *demotion = run->state;
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&demotion->migration.worker, DEMOTION_RUN, answer);

	if (err)
		return err;
	run->elapsed_ns = answer[RUN_ELAPSED_NS];
	demotion->passes = answer[RUN_PASSES];
	return 0;
}

static int compare_demoted(struct workload_run *run, const struct demotion *demotion)
{
	uint64_t demoted;
	int err = read_demoted(&demoted);

	if (err)
		return err;
	demoted -= demotion->demoted;
	json_object_set_new(run->values, "pages_demoted", json_integer(demoted));
	if (demoted != run->pages_done)
		workload_run__note(run,
				   "the kernel demoted %llu pages, %llu of the worker's are in the "
				   "lower tier",
				   (unsigned long long)demoted,
				   (unsigned long long)run->pages_done);
	return 0;
}

static void explain_no_work(struct workload_run *run)
{
	run->no_work = true;
	snprintf(run->reason, sizeof(run->reason),
		 "no page is in the lower tier, although the kernel reported no error: may the "
		 "cgroup use that tier's nodes (cpuset.mems of an outer cgroup)?");
}

/*
 * How many flushes there should be is not known, only how many there were; of an empty mask the
 * kernel makes none of this kind, so that the least possible number is taken.
 */
static void check_mask(struct workload_run *run)
{
	uint64_t least = migration__flushes(run->pages_done), calls;

	if (!observer__has(run->report->observer, COUNTER_calls, NULL))
		return;
	calls = report__path(run->report, COUNTER_calls, PATH_BATCH);
	mask__check_flushes(run, calls > least ? calls : least, NULL);
}

static int verify(struct workload_run *run)
{
	struct demotion *demotion = run->state;
	struct places places;
	int err = migration__count(&demotion->migration, &places);

	if (err)
		return err;
	run->pages_done = places.to;
	diag__verbose("%llu pages demoted, %llu not, %llu elsewhere, in %llu passes",
		      (unsigned long long)places.to, (unsigned long long)places.from,
		      (unsigned long long)places.other, (unsigned long long)demotion->passes);
	if (!run->pages_done)
		explain_no_work(run);
	migration__expect(run, (places.to + PAGES_PER_FLUSH / 2) / PAGES_PER_FLUSH);
	check_mask(run);
	err = compare_demoted(run, demotion);
	return err ? err : migration__verify(run, &demotion->migration);
}

static void tear_down(struct workload_run *run)
{
	struct demotion *demotion = run->state;

	if (!demotion)
		return;
	migration__stop(run, &demotion->migration);
	free(demotion);
	run->state = NULL;
}

static json_t *parameters(const struct workload_options *options)
{
	return migration__parameters(options, nodes__route_down);
}

const struct workload workload_demotion = {
	.name = "demotion",
	.summary = "memory of a process that once ran on every CPU goes to a lower tier of memory",
	.help = "Reclaim of a cgroup of its own migrates pages to slower memory, a few dozen at a "
		"time, each time with a flush of every CPU of the mask. Baseline: about pages / 44 "
		"x (CPUs - 1) interrupts. Needs a node in a lower tier, as CXL memory is.",
	.default_pages = 81876,
	.check = check,
	.set_up = set_up,
	.prime = prime,
	.run = run_demotion,
	.verify = verify,
	.tear_down = tear_down,
	.parameters = parameters,
};
