/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/stop.h"
#include "reclaim.h"
#include "settings.h"

#define SWAPPINESS "/proc/sys/vm/swappiness"

/* Reclaim gives up long before this: it stops as soon as a pass brings nothing. */
#define MAX_PASSES 64

int reclaim__create(struct journal *journal, struct reclaim *out)
{
	int err = cgroup__create(journal, &out->cgroup);

	if (err)
		return err;
	out->argument = cgroup__reclaim_argument(&out->cgroup);
	return *out->argument ? 0 : settings__set(journal, SWAPPINESS, "200");
}

int reclaim__open(struct reclaim *reclaim)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/memory.reclaim", reclaim->cgroup.path);
	reclaim->file = open(path, O_WRONLY | O_CLOEXEC);
	return reclaim->file < 0 ? diag__fail(errno, "open %s", path) : 0;
}

int reclaim__ask(const struct reclaim *reclaim, uint64_t bytes)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%llu%s", (unsigned long long)bytes,
			   reclaim->argument);

	/* EAGAIN: less than that was reclaimed. */
	if (write(reclaim->file, text, len) < 0 && errno != EAGAIN)
		return diag__fail(errno, "reclaim %llu bytes of %s", (unsigned long long)bytes,
				  reclaim->cgroup.path);
	return 0;
}

int reclaim__all(const struct reclaim *reclaim, reclaim_left left, void *state,
		 uint64_t *elapsed_ns, uint64_t *passes)
{
	uint64_t before, after, page = sysconf(_SC_PAGESIZE);
	int err = left(state, &before);

	*elapsed_ns = 0;
	for (*passes = 0; !err && before && *passes < MAX_PASSES; ++*passes) {
		uint64_t start = stop__now_ns(), end;

		err = reclaim__ask(reclaim, before * page);
		end = stop__now_ns();
		if (!err)
			err = left(state, &after);
		if (err || after >= before)
			break;
		*elapsed_ns += end - start;
		before = after;
	}
	return err;
}
