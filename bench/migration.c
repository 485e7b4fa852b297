/* SPDX-License-Identifier: GPL-2.0-only */
#include "migration.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/procfs.h"
#include "journal.h"
#include "quiet.h"

#define BATCH 512

int migration__check(const struct workload_options *options, migration_route find, uint64_t pages,
		     char *why, size_t size)
{
	struct route route;

	if (cpus__count(&options->cpus) < 2) {
		snprintf(why, size, "only one CPU may be used, so no other can be interrupted");
		return -ENOTSUP;
	}
	if (!placement__permitted(why, size) || !find(options->initiator, &route, why, size) ||
	    !nodes__enough(&route, pages * sysconf(_SC_PAGESIZE), why, size))
		return -ENOTSUP;
	return 0;
}

json_t *migration__parameters(const struct workload_options *options, migration_route find)
{
	json_t *parameters = workload_options__json(options);
	struct route route;
	char why[256], to[64];

	if (parameters && find(options->initiator, &route, why, sizeof(why))) {
		cpus__format(&route.to, to, sizeof(to));
		json_object_set_new(parameters, "from_node", json_integer(route.from));
		json_object_set_new(parameters, "to_nodes", json_string(to));
	}
	return parameters;
}

int migration__begin(struct workload_run *run, struct migration *migration, migration_route find,
		     uint64_t pages)
{
	char why[256];

	run->state = migration;
	migration->options = *run->options;
	migration->pages = pages;
	migration->mark = journal__mark(run->journal);
	/* check() has found one; it can only have gone meanwhile. */
	if (!find(run->options->initiator, &migration->route, why, sizeof(why))) {
		diag__error("find nodes to move pages between: %s", why);
		return -ENODEV;
	}
	return quiet__machine(run->journal, run->options);
}

int migration__start(struct migration *migration, worker_serve serve)
{
	const struct workload_options *options = &migration->options;
	int err = 0;

	if (options->bystander == BYSTANDER_OTHER)
		err = bystanders__start(&migration->bystanders, &options->cpus, options->initiator);
	return err ? err : worker__start(&migration->worker, serve, migration);
}

int migration__fill(struct migration *migration)
{
	uint64_t answer[WORKER_ANSWERS];

	return worker__call(&migration->worker, MIGRATION_SET_UP, answer);
}

/* In the worker. */

/* Pages that are not where the run begins would look as if they had moved. */
static int check_start(const struct places *places, const struct route *route)
{
	uint64_t astray = places->to + places->other;

	if (!astray)
		return 0;
	diag__error("%llu pages did not come from node %u, although they were told to",
		    (unsigned long long)astray, route->from);
	return -ENOMEM;
}

static int set_up_worker(struct migration *migration)
{
	struct subject *subject = &migration->subject;
	struct places places;
	int err = subject__map(subject, &migration->options, migration->pages, migration->lock);

	if (!err)
		err = placement__bind(&subject->memory, migration->route.from);
	if (!err)
		err = subject__fill(subject);
	if (!err)
		err = placement__count(&subject->memory, &migration->route, &places);
	return err ? err : check_start(&places, &migration->route);
}

int migration__serve(struct migration *migration, unsigned int command,
		     uint64_t answer[WORKER_ANSWERS])
{
	struct subject *subject = &migration->subject;
	struct places places;
	int err;

	switch ((enum migration_command)command) {
	case MIGRATION_SET_UP:
		return set_up_worker(migration);
	case MIGRATION_PRIME:
		subject__prime(subject, &migration->options);
		return 0;
	case MIGRATION_COUNT:
		err = placement__count(&subject->memory, &migration->route, &places);
		answer[0] = places.from;
		answer[1] = places.to;
		answer[2] = places.other;
		return err;
	case MIGRATION_CHECK:
		answer[0] = memory__wrong(&subject->memory);
		return 0;
	case MIGRATION_OWN:
		break;
	}
	return -EINVAL;
}

/* In tlbbench. */

static int read_migrated(uint64_t *out)
{
	int err = procfs__vmstat("pgmigrate_success", out);

	return err ? diag__fail(-err, "read pgmigrate_success in /proc/vmstat") : 0;
}

int migration__prime(struct migration *migration)
{
	uint64_t answer[WORKER_ANSWERS];
	int err = read_migrated(&migration->migrated);

	return err ? err : worker__call(&migration->worker, MIGRATION_PRIME, answer);
}

int migration__count(struct migration *migration, struct places *out)
{
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&migration->worker, MIGRATION_COUNT, answer);

	*out = (struct places){ .from = answer[0], .to = answer[1], .other = answer[2] };
	return err;
}

static int check_words(struct migration *migration)
{
	uint64_t answer[WORKER_ANSWERS];
	int err = worker__call(&migration->worker, MIGRATION_CHECK, answer);

	if (err || !answer[0])
		return err;
	diag__error("%llu of %llu pages have the wrong contents after they moved",
		    (unsigned long long)answer[0], (unsigned long long)migration->pages);
	diag__hint("the kernel under test loses data: see its log");
	return -EIO;
}

/* What the kernel counted, of the whole machine. Pages of others may be among them. */
static int compare_migrated(struct workload_run *run, const struct migration *migration)
{
	uint64_t migrated;
	int err = read_migrated(&migrated);

	if (err)
		return err;
	migrated -= migration->migrated;
	json_object_set_new(run->values, "pages_migrated", json_integer(migrated));
	if (migrated < run->pages_done)
		workload_run__note(run,
				   "%llu pages are on another node, but the kernel says that it "
				   "migrated %llu only",
				   (unsigned long long)run->pages_done,
				   (unsigned long long)migrated);
	return 0;
}

/* Commit 7e12beb8ca2a ("migrate_pages: batch flushing TLB"). */
static bool migrates_in_batches(void)
{
	struct utsname name;
	unsigned int major, minor;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return true;
	return major > 6 || (major == 6 && minor >= 3);
}

uint64_t migration__flushes(uint64_t pages)
{
	return migrates_in_batches() ? (pages + BATCH - 1) / BATCH : pages;
}

void migration__expect(struct workload_run *run, uint64_t flushes)
{
	const struct workload_options *options = run->options;
	json_t *expected;

	if (options->thp)
		expected = json_string("huge pages move by one flush for many base pages");
	else if (options->bystander == BYSTANDER_IDLE)
		expected = json_string("it depends on when the idle CPUs went idle");
	else
		expected = json_integer(flushes * (cpus__count(&options->cpus) - 1));
	json_object_set_new(run->values, "expected_ipis", expected);
}

int migration__verify(struct workload_run *run, struct migration *migration)
{
	int err = compare_migrated(run, migration);

	return err ? err : check_words(migration);
}

void migration__stop(struct workload_run *run, struct migration *migration)
{
	worker__stop(&migration->worker);
	bystanders__stop(&migration->bystanders);
	journal__undo(run->journal, migration->mark);
}
